/** An answer, and the words for readings and differences, as `python/incast/answers/answer.py` has them. */

import type { Reading } from "./completions";
import type { Measure } from "./measures";
import { between, measured, prefixed, rounded, SPACE, withInterval } from "./numbers";
import { surely, type Apart } from "./paired";

/** Kinds of answers in their order: limits that could mislead, controllers against each other, what is open. */
export const KINDS = ["lead-warning", "trade-off", "undecided", "bound", "no-effect"] as const;
export type Kind = (typeof KINDS)[number];

/** Sentences: the beginning, which is shown in bold, and the rest. */
export interface Answer {
  kind: Kind;
  lead: string;
  rest: string;
}

/** Differences in percent from which on a ratio is told instead: of a known difference, and of bounds. */
const [DOUBLE, TENFOLD] = [100, 900];

/** Beginning of a ratio without a direction. */
const FACTOR = "a factor of ";

/** A reading with its unit: 10.2 ± 0.5 ms, or bounds. */
export function valueText({ isExact, least, most }: Reading, unit: string): string {
  if (isExact && least) return measured(least, unit);
  const [low, high] = [least?.mean ?? -Infinity, most?.mean ?? Infinity];
  const [step, shown] = prefixed(Number.isFinite(low) ? low : high, unit);
  return `${between(low / step, high / step)}${SPACE}${shown}`.trimEnd();
}

/** A difference: 29 % lower [24, 33], 3.4 times as high [2.9, 3.9], at least 12 % higher [≥ 9]. */
export function differenceText(apart: Apart, measure: Measure): string {
  const found = surely(apart);
  const isDecided = apart.verdict === "better" || apart.verdict === "worse";
  const { isExact } = apart.by;
  if (!found || apart.verdict === "open" || !(isDecided || isExact)) return openText(apart, measure);
  const sign = isDecided && found.mean < 0 ? -1 : 1;
  const way = isDecided ? (sign > 0 ? "higher" : "lower") : "";
  const [unit, least, most] = ofDifference(apart, measure);
  const ends = [sign * Math.max(found.low, least), sign * Math.min(found.high, most)].sort((a, b) => a - b);
  const [low, high] = ends as [number, number];
  if (apart.isRelative && sign > 0 && found.mean >= DOUBLE) {
    const [ending, beginning] = isDecided ? ["times as high", ""] : ["", FACTOR];
    return beginning + told(times(found.mean), times(low), times(high), ending!, isExact);
  }
  const [step, shown] = prefixed(found.mean || found.high, unit);
  return told(sign * found.mean / step, low / step, high / step, `${shown} ${way}`, isExact);
}

/** Ratio of a difference in percent. */
function times(percent: number): number {
  return 1 + percent / 100;
}

/** Unit of a difference, and the least and the largest that is possible. */
function ofDifference({ isRelative }: Apart, { unit }: Measure): [string, number, number] {
  if (isRelative) return ["%", -100, Infinity];
  return unit === "%" ? ["points", -100, 100] : [unit, -Infinity, Infinity];
}

/** Bounds of a difference that unfinished transfers leave open; a bound that nothing exceeds is none. */
function openText(apart: Apart, measure: Measure): string {
  const [unit, least, most] = ofDifference(apart, measure);
  const { by } = apart;
  const low = !by.least || by.least.mean <= least ? -Infinity : by.least.mean;
  const high = !by.most || by.most.mean >= most ? Infinity : by.most.mean;
  const largest = Math.max(0, ...[low, high].filter(Number.isFinite).map(Math.abs));
  if (apart.isRelative && largest >= TENFOLD) return FACTOR + between(times(low), times(high));
  const [step, shown] = prefixed(largest, unit);
  const text = between(low / step, high / step);
  return text === "open" ? text : `${text}${SPACE}${shown}`.trim();
}

function told(mean: number, low: number, high: number, ending: string, isExact: boolean): string {
  let [amount, interval] = withInterval(mean, low, high);
  if (!isExact) { // a bound is never rounded inwards
    amount = `at least ${rounded(mean, 3, "floor")}`;
    interval = low < mean ? `[≥${SPACE}${rounded(low, 3, "floor")}]` : "";
  }
  return `${amount}${SPACE}${ending.trim()}`.trim() + (interval && ` ${interval}`);
}

/** Adjective of the best reading. */
export function superlative({ better }: Measure): string {
  return better === "higher" ? "highest" : "lowest";
}
