/** Figures as a person reads them: `short` by the rules of all reports, `exact` with all digits, for a hover. */

import type { Metric } from "./run";

/** Space between a number and its unit, and the sign of negative numbers. */
const SPACE = "\u00a0";
const MINUS = "\u2212";

/** Plain figures below this are told as `< 0.01`. */
const TINY = 0.01;

type Steps = [number, string][];
const LARGE: Steps = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];

/** Prefixes by unit; shares, slowdowns and packets are plain numbers. */
const STEPS: Record<string, Steps> = {
  s: [[1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]], B: LARGE, "b/s": LARGE, "B/s": LARGE,
};

/** A figure with its unit, as `tests/numbers.txt` has it: so many figures, an SI prefix, a no-break space. */
export function short(value: number, unit: string, figures = 3): string {
  if (!Number.isFinite(value)) return "–";
  const steps = value === 0 ? undefined : STEPS[unit];
  const shown = Number(Math.abs(value).toPrecision(figures)); // 999.96 kB is 1 MB
  const [step, prefix] = steps?.find(([from]) => shown >= from) ?? steps?.at(-1) ?? [1, ""];
  const name = `${prefix}${unit}`;
  return `${steps ? rounded(value / step, figures) : plain(value, figures)}${name && SPACE}${name}`;
}

const formats: Intl.NumberFormat[] = [];
/** Numbers with so many digits behind the point: a format takes long to make. */
const formatOf = (places: number) => (
  formats[places] ??= new Intl.NumberFormat("en-US", { minimumFractionDigits: places, maximumFractionDigits: places }));
/** Whole numbers. */
const WHOLE = new Intl.NumberFormat("en-US");

function plain(value: number, figures: number): string {
  if (value === 0 || Math.abs(value) >= TINY) return rounded(value, figures);
  return value > 0 ? `<${SPACE}${TINY}` : `>${SPACE}${MINUS}${TINY}`;
}

/** A number with so many figures; digits before the point stay, zeros behind it go where the value is exact. */
function rounded(value: number, figures: number): string {
  if (value === 0) return "0";
  const amount = Math.abs(value);
  const first = Math.floor(Math.log10(Number(amount.toPrecision(figures))) + 1e-12);
  const places = Math.min(Math.max(figures - 1 - first, 0), 20);
  const text = formatOf(places).format(amount);
  const exact = Math.abs(Number(amount.toFixed(places)) - amount) <= 1e-12 * amount;
  const cut = places && exact ? text.replace(/\.?0+$/, "") : text;
  return value < 0 ? `${MINUS}${cut}` : cut;
}

/** A time of a run's clock: with a figure more than a duration has, so that neighbouring frames tell apart. */
export function seconds(time_s: number): string {
  return short(time_s, "s", 4);
}

/** The unit that figures of a column share, and the column's figures in it. */
export interface Scaled {
  unit: string;
  say: (value: number) => string;
}

/** One unit for a column: that of its middle figure. */
export function scaled(values: ArrayLike<number>, unit: string): Scaled {
  const amounts = Array.from(values, Math.abs).filter((value) => value > 0 && Number.isFinite(value))
    .sort((a, b) => a - b);
  const middle = Number((amounts[amounts.length >> 1] ?? 0).toPrecision(3));
  const steps = STEPS[unit];
  const [step, prefix] = (middle ? steps?.find(([from]) => middle >= from) ?? steps?.at(-1) : undefined) ?? [1, ""];
  return { unit: `${prefix}${unit}`, say: (value) => short(value / step, "") };
}

/** A whole number with its digits in groups, any other with all its digits. */
export function exact(value: number): string {
  if (Number.isNaN(value)) return "–";
  return Number.isInteger(value) ? WHOLE.format(value) : String(value);
}

export const TITLES: Record<Metric, string> = {
  queue_max_bytes: "largest queue", queue_mean_bytes: "mean queue", busy: "utilisation", marks: "marks",
  drops: "drops", pauses: "pauses", paused: "share paused",
};
/** Units of figures as they are recorded, for `exact`: shares have none. */
const RECORDED: Record<Metric, string> = {
  queue_max_bytes: "B", queue_mean_bytes: "B", busy: "", marks: "packets", drops: "packets", pauses: "", paused: "",
};
export const UNITS: Record<Metric, string> = { ...RECORDED, busy: "%", paused: "%" };

/** A figure as it is told: shares are told as percentages. */
export function toldOf(metric: Metric, value: number): number {
  return UNITS[metric] === "%" ? 100 * value : value;
}

/** So much more of a metric, shortened: for a scale. */
export function more(metric: Metric, value: number): string {
  return `${figure(metric, value)} more`;
}

export function figure(metric: Metric, value: number): string {
  return short(toldOf(metric, value), UNITS[metric]);
}

/** A figure as it was recorded, with all of its digits. */
export function recorded(metric: Metric, value: number): string {
  return `${exact(value)}${SPACE}${RECORDED[metric]}`.trim();
}

/** A count with its noun, in one or several. */
export function counted(count: number, noun: string): string {
  return `${exact(count)}${SPACE}${noun}${count === 1 ? "" : "s"}`;
}

/** A port's name as a way: "h0>edge0" reads "h0 → edge0". */
export function way(name: string): string {
  return name.replace(/>(?=[^>]*$)/, `${SPACE}→${SPACE}`);
}
