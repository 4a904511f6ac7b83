/** Quantities in words of the lab. */

import { short } from "../data/format";

const STEPS: [number, string][] = [[1e12, " trillion"], [1e9, " billion"], [1e6, " million"], [1e3, ",000"]];

/** A quantity with three figures; a number without a unit in words. */
export function quantityOf(value: number, unit: string): string {
  if (unit) return short(value, unit, 3);
  const [step, word] = STEPS.find(([from]) => value >= from) ?? [1, ""];
  if (word === ",000") return Math.round(value).toLocaleString("en-US");
  return `${Number((value / step).toPrecision(3))}${word}`;
}

const WAITS: [number, string][] = [[86400, "day"], [3600, "hour"]];

/** A time to wait, in words. */
export function lasting(seconds: number): string {
  const [step, unit] = WAITS.find(([own]) => seconds >= 2 * own) ?? [60, "minute"];
  const count = Math.ceil(seconds / step);
  return `${count.toLocaleString("en-US")} ${unit}${count === 1 ? "" : "s"}`;
}
