/** Ranking of controllers at a figure, as `python/incast/comparisons/ranking.py` has it. */

import { difference, ENOUGH, type Reading } from "./completions";

export type Better = "higher" | "lower";

/** Readings by controller. */
export type Readings = ReadonlyMap<string, Reading>;

/** Fraction of the highest throughput that a controller needs to be best at delay, loss or queue. */
export const CARRIES = 0.9;

/** Least difference that is marked or told, as a fraction of the larger mean. */
export const MATTERS = 0.01;

const DELIVERS = ["flows.throughput", "fct.", "queries.", "writes.", "jobs.", "sizes.", "slowdown.", "share"];

/** Whether a figure is bad for a controller that sends nothing; delay, loss and queue are good for it. */
export function delivers(key: string): boolean {
  return DELIVERS.some((beginning) => key.startsWith(beginning));
}

/** A figure that decides dominance. */
export interface Objective {
  readings: Readings;
  better: Better;
}

function gain(one: Reading, other: Reading, better: Better) {
  return (better === "lower" ? difference(other, one) : difference(one, other))?.least ?? null;
}

/** Whether the paired interval excludes zero for every value that the bounds allow. */
export function clearlyBetter(one: Reading, other: Reading, better: Better): boolean {
  const found = gain(one, other, better);
  return found !== null && found.halfWidth !== null && found.low > 0;
}

/** Whether a reading is clearly better than another, by a difference that matters. */
export function toldApart(one: Reading, other: Reading, better: Better): boolean {
  return clearlyBetter(one, other, better) && gain(one, other, better)!.mean >= MATTERS * larger(one, other);
}

/** The larger mean of two readings; of bounds the lower one. */
export function larger(one: Reading, other: Reading): number {
  return Math.max(...[one.least, other.least].flatMap((found) => (found ? [Math.abs(found.mean)] : [])));
}

/** The mean with a sign so that higher is better; a missing figure is the worst. */
function merit(reading: Reading | undefined, better: Better): number {
  const found = reading?.least;
  if (!found) return -Infinity;
  return better === "higher" ? found.mean : -found.mean;
}

/** Whether a controller is at least as good as another in all objectives, and clearly better in one. */
export function dominates(one: string, other: string, objectives: readonly Objective[]): boolean {
  let isClear = false;
  for (const { readings, better } of objectives) {
    const [mine, their] = [readings.get(one), readings.get(other)];
    const [ahead, behind] = [merit(mine, better), merit(their, better)];
    if (ahead < behind) return false;
    if (ahead > behind) isClear ||= !their || (mine !== undefined && clearlyBetter(mine, their, better));
  }
  return isClear;
}

/** The controllers that no other dominates. */
export function undominated(names: readonly string[], objectives: readonly Objective[]): Set<string> {
  return new Set(names.filter((one) => !names.some((other) => dominates(other, one, objectives))));
}

/** Means by controller, where there is one. */
export function meansOf(readings: Readings): Map<string, number> {
  return new Map([...readings].flatMap(([name, { least }]) => (least ? [[name, least.mean] as const] : [])));
}

/** The controllers whose throughput is near the highest. */
export function carrying(throughput: Readings): Set<string> {
  const means = meansOf(throughput);
  const most = Math.max(0, ...means.values());
  return new Set([...means].flatMap(([name, mean]) => (mean >= CARRIES * most && mean > 0 ? [name] : [])));
}

/** The allowed controller that is told apart from every other as better, if enough of its transfers finished. */
export function best(readings: Readings, better: Better, allowed: ReadonlySet<string>): string | null {
  for (const [name, mine] of readings) {
    const others = [...readings].flatMap(([rival, other]) => (rival === name ? [] : [other]));
    const isEnough = allowed.has(name) && mine.share >= ENOUGH && others.length > 0;
    if (isEnough && others.every((other) => toldApart(mine, other, better))) return name;
  }
  return null;
}
