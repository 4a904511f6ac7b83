/** Figures as a person reads them: `short` by the rules of all reports, `exact` with all digits. */

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
  s: [[1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]], B: LARGE, "b/s": LARGE,
};

/** A figure with its unit, as `tests/numbers.txt` has it: so many figures, an SI prefix, a no-break space. */
export function short(value: number, unit: string, figures = 4): string {
  if (!Number.isFinite(value)) return "–";
  const steps = value === 0 ? undefined : STEPS[unit];
  const shown = Number(Math.abs(value).toPrecision(figures)); // 999.96 kB is 1 MB
  const [step, prefix] = steps?.find(([from]) => shown >= from) ?? steps?.at(-1) ?? [1, ""];
  const name = `${prefix}${unit}`;
  return `${steps ? rounded(value / step, figures) : plain(value, figures)}${name && SPACE}${name}`;
}

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
  const text = amount.toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places });
  const exact = Math.abs(Number(amount.toFixed(places)) - amount) <= 1e-12 * amount;
  const cut = places && exact ? text.replace(/\.?0+$/, "") : text;
  return value < 0 ? `${MINUS}${cut}` : cut;
}

export function seconds(time_s: number): string {
  return short(time_s, "s");
}

/** A whole number with its digits in groups, any other with all its digits. */
export function exact(value: number): string {
  if (Number.isNaN(value)) return "–";
  return Number.isInteger(value) ? value.toLocaleString("en-US") : String(value);
}

export const TITLES: Record<Metric, string> = {
  queue_max_bytes: "largest queue", queue_mean_bytes: "mean queue", busy: "utilisation", marks: "marks",
  drops: "drops", pauses: "pauses", paused: "share paused",
};
export const UNITS: Record<Metric, string> = {
  queue_max_bytes: "B", queue_mean_bytes: "B", busy: "", marks: "packets", drops: "packets", pauses: "", paused: "",
};

/** So much more of a metric, shortened: for a scale. */
export function more(metric: Metric, value: number): string {
  return `${short(value, UNITS[metric])} more`;
}

export function figure(metric: Metric, value: number): string {
  return `${exact(value)} ${UNITS[metric]}`.trim();
}
