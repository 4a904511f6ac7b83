/**
 * Paired differences of readings, as `python/incast/answers/paired.py` has them: better, worse, alike or undecided, and
 * the seeds that would decide.
 */

import { difference, ratioLessOne, Reading } from "./completions";
import { larger, MATTERS, toldApart, type Better, type Readings } from "./ranking";
import { quantile, type Estimate } from "./statistics";

/** Seeds within reason: a difference that needs more of them is not worth their runs. */
export const MOST_SEEDS = 100;

/** Judgement of one reading against another; `open`: a longer run may decide. */
export type Verdict = "better" | "worse" | "alike" | "undecided" | "open";

/** Difference of one reading from another, seed by seed. */
export interface Apart {
  one: string;
  other: string;
  verdict: Verdict;
  /** Relative difference in percent of the other, or the difference itself. */
  by: Reading;
  isRelative: boolean;
  /** Further seeds that would decide an undecided difference of this size; null beyond `MOST_SEEDS`. */
  seeds: number | null;
}

/** The bound nearer to zero of a difference that is told apart. */
export function surely({ by: { least, most } }: Apart): Estimate | null {
  return least && (least.mean > 0 || !most) ? least : most;
}

/** Compares two readings that share a seed; `isAbsolute` forbids a relative difference, as for percentages. */
export function apartOf(
  one: string, other: string, readings: Readings, better: Better, isAbsolute: boolean,
): Apart {
  const [mine, their] = [readings.get(one)!, readings.get(other)!];
  const verdict = verdictOf(mine, their, better);
  const found = difference(mine, their)!;
  const relative = isAbsolute ? null : inPercent(mine, their);
  const isRelative = relative !== null && agrees(relative, found, verdict) && !isWild(relative);
  const near = nearBound(found);
  const isWorth = verdict === "undecided" && near && Math.abs(near.mean) >= MATTERS * larger(mine, their);
  return { one, other, verdict, by: isRelative ? relative : found, isRelative,
    seeds: isWorth ? furtherSeeds(near) : null };
}

/** Number of further seeds after which the interval of a difference would exclude zero, all else as it is. */
function furtherSeeds({ mean, halfWidth, count }: Estimate): number | null {
  if (halfWidth === null || count < 2) return null;
  const deviation = halfWidth * Math.sqrt(count) / quantile(count - 1);
  for (let more = count + 1; more <= MOST_SEEDS; more++) {
    if (quantile(more - 1) * deviation / Math.sqrt(more) < Math.abs(mean)) return more - count;
  }
  return null;
}

/** Order of readings at a figure, as far as the runs show one. */
export interface Ranking {
  /** The best mean. */
  first: string;
  /** The readings that no other is told apart from as better, with the first one. */
  level: string[];
  /** Every other reading, against the first, or against one that is told apart from it. */
  behind: Apart[];
  /** The other level readings against the first. */
  among: Apart[];
}

/** Ranks readings, in their order; at least one. */
export function ranked(readings: Readings, better: Better, isAbsolute: boolean): Ranking {
  const names = [...readings.keys()];
  const beaten = new Map(names.map((name) => [name, names.filter((one) => (
    one !== name && toldApart(readings.get(one)!, readings.get(name)!, better)))]));
  const level = names.filter((name) => !beaten.get(name)!.length);
  const first = least(level, (name) => worst(readings.get(name)!, better));
  const against = (name: string, other: string) => apartOf(name, other, readings, better, isAbsolute);
  return {
    first,
    level,
    behind: [...beaten].flatMap(([name, by]) => (
      name !== first && by.length ? [against(name, by.includes(first) ? first : by[0]!)] : [])),
    among: level.filter((name) => name !== first).map((name) => against(name, first)),
  };
}

/** The first of the items with the smallest number; there is an item. */
export function least<Item>(items: readonly Item[], of: (item: Item) => number): Item {
  return items.reduce((found, item) => (of(item) < of(found) ? item : found));
}

/** The mean at the worse bound, so that lower is better; infinity without one. */
function worst({ least: low, most }: Reading, better: Better): number {
  return better === "lower" ? most?.mean ?? Infinity : low ? -low.mean : Infinity;
}

function verdictOf(one: Reading, other: Reading, better: Better): Verdict {
  if (toldApart(one, other, better)) return "better";
  if (toldApart(other, one, better)) return "worse";
  const found = difference(one, other)!;
  if (!(one.isExact && other.isExact)) return nearBound(found) ? "undecided" : "open";
  const { mean, halfWidth, low, high } = found.least!;
  const most = MATTERS * larger(one, other);
  if (Math.abs(mean) < most && (low > 0 || high < 0)) return "alike";
  return halfWidth !== null && Math.abs(mean) + halfWidth <= most ? "alike" : "undecided";
}

/** The bound nearer to zero of a difference whose bounds have one sign; null if they allow both. */
function nearBound(found: Reading): Estimate | null {
  const { least: low, most } = found;
  if (found.isExact || (low && low.mean > 0)) return low;
  return most && most.mean < 0 ? most : null;
}

/** The difference in percent of the other, seed by seed; null unless all values are above zero. */
function inPercent(one: Reading, other: Reading): Reading | null {
  const found = ratioLessOne(one, other);
  if (!found) return null;
  const [low, high] = [found.low, found.high].map((end) => (
    new Map([...end].map(([seed, ratio]) => [seed, 100 * ratio]))));
  return new Reading(low!, high!);
}

/**
 * Whether a relative difference shows what the difference itself shows. Ratios have another spread than differences:
 * near zero one interval may include it, and the other not.
 */
function agrees(relative: Reading, found: Reading, verdict: Verdict): boolean {
  if (verdict === "better" || verdict === "worse") return sign(found) !== 0 && sign(relative) === sign(found);
  return verdict !== "undecided" || sign(relative) === 0;
}

/** Whether an interval of a relative difference goes below -100 %, where no ratio is. */
function isWild({ least: low, most }: Reading): boolean {
  return [low, most].some((end) => end && end.halfWidth !== null && end.low < -100);
}

/** Sign of a difference whose interval excludes zero; 0 if it does not. */
function sign({ least: low, most }: Reading): number {
  if (low && low.halfWidth !== null && low.low > 0) return 1;
  return most && most.halfWidth !== null && most.high < 0 ? -1 : 0;
}
