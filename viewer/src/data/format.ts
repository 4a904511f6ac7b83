/** Figures as a person reads them. `exact` writes all of a figure, for hover and copies. */

import type { Metric } from "./run";

const STEPS: [number, string][] = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"],
  [1e-9, "n"]];

/** Units that take prefixes; shares, slowdowns and packets are plain numbers. */
const PREFIXED = new Set(["s", "B", "b/s"]);

export function short(value: number, unit: string): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return `0 ${unit}`.trim();
  if (!PREFIXED.has(unit)) {
    const shown = Number.isInteger(value) ? value : Number(value.toPrecision(4));
    return `${shown.toLocaleString("en-US", { maximumSignificantDigits: 15 })} ${unit}`.trim();
  }
  const [step, prefix] = STEPS.find(([from]) => Math.abs(value) >= from) ?? STEPS.at(-1)!;
  return `${Number((value / step).toPrecision(4))} ${prefix}${unit}`.trim();
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
