/**
 * Completions of flows, queries and writes, as `python/incast/runs/completions.py` has them.
 *
 * A transfer still running when the run ends, or stopped before, takes longer than the time it has run so far.
 * Percentiles (nearest rank) and means are over all that began. If unfinished ones could change such a figure, it has
 * two bounds: the lower one counts them as finished at the end of the run, the upper one as never finished.
 */

import { numbersOf, type Table } from "../engine/wasm";
import { power } from "./numbers";
import { estimate, exactSum, rank, type Estimate } from "./statistics";

/** Share finished that a controller needs to be called best. */
export const ENOUGH = 0.99;

/** Parts of the summary about completions, with the nouns for their counts. */
export const COMPLETIONS = { fct: "flows", queries: "queries", writes: "writes" } as const;
export type Part = keyof typeof COMPLETIONS;
export const PARTS = Object.keys(COMPLETIONS) as Part[];

/** Statistics of completions: the mean, and percentiles with their fractions. */
export const STATISTICS = { mean: null, p50: [50, 100], p99: [99, 100], p999: [999, 1000] } as const;
export type Statistic = keyof typeof STATISTICS;

/** Names of the statistics in texts; a high percentile of few values is the maximum. */
export const NAMES: Record<Statistic, string> = { mean: "mean", p50: "p50", p99: "p99", p999: "p99.9" };
export const MAXIMUM = "maximum";

/** Completions of one run: finite flows, queries or writes. */
export interface Completions {
  /** Traffic entries. */
  entries: string[];
  /** Bytes. */
  sizes: number[];
  /** Completion time; for unfinished ones the time until they were stopped, or the run ended. */
  times: number[];
  finished: boolean[];
  /** Completion time of flows on the empty network; NaN without one. */
  ideals: number[];
}

export const NONE: Completions = { entries: [], sizes: [], times: [], finished: [], ideals: [] };

/** Names of a table's texts, one a row. */
export function textsOf(table: Table, name: string): string[] {
  const { values, names } = columnOf(table, name);
  return Array.from({ length: values.length }, (_, row) => names![Number(values[row])]!);
}

/** Numbers of a table, one a row; NaN where one is missing. */
export function valuesOf(table: Table, name: string): Float64Array {
  return numbersOf(columnOf(table, name));
}

function columnOf(table: Table, name: string) {
  const found = table.columns.find((column) => column.name === name);
  if (!found) throw new Error(`a table has no column ${name}`);
  return found;
}

/** Completions of a table of flows (`fct`), queries or writes of a run that ended at `end_s`. */
export function completionsOf(table: Table, part: Part, end_s: number): Completions {
  const isFlows = part === "fct";
  const [size, time] = isFlows ? ["size_bytes", "fct_s"] : ["bytes", "completion_s"];
  const names = textsOf(table, "group");
  const [sizes, starts, times] = [size!, "start_s", time!].map((name) => valuesOf(table, name));
  const [ideals, stops] = ["ideal_fct_s", "stopped_s"].map((name) => (isFlows ? valuesOf(table, name) : null));
  const found: Completions = { entries: [], sizes: [], times: [], finished: [], ideals: [] };
  for (let i = 0; i < table.rows; i++) {
    if (Number.isNaN(sizes![i])) continue;
    const stop = stops?.[i] ?? NaN;
    const isFinished = !Number.isNaN(times![i]);
    found.entries.push(names[i]!);
    found.sizes.push(sizes![i]!);
    found.times.push(isFinished ? times![i]! : Math.max((Number.isNaN(stop) ? end_s : stop) - starts![i]!, 0));
    found.finished.push(isFinished);
    found.ideals.push(ideals?.[i] ?? NaN);
  }
  return found;
}

/** The completions that fit. */
export function where(run: Completions, fits: (row: number) => boolean): Completions {
  const kept = run.sizes.flatMap((_, row) => (fits(row) ? [row] : []));
  const of = <One>(column: One[]) => kept.map((row) => column[row]!);
  return { entries: of(run.entries), sizes: of(run.sizes), times: of(run.times), finished: of(run.finished),
    ideals: of(run.ideals) };
}

/** Completion times divided by ideal ones; at least 1 for unfinished flows. */
export function slowdownsOf({ times, finished, ideals }: Completions): number[] {
  return times.map((time, row) => (finished[row] ? time / ideals[row]! : Math.max(time / ideals[row]!, 1)));
}

/** Traffic entries with finite flows in a run, and the smallest and largest size. */
export interface Sizes {
  entries: string[];
  smallest: number;
  largest: number;
}

/** Sizes of a run's flows; null without finite flows. */
export function sizesOf({ entries, sizes }: Completions): Sizes | null {
  if (!sizes.length) return null;
  const [smallest, largest] = sizes.reduce(([low, high], one) => [Math.min(low, one), Math.max(high, one)],
    [Infinity, -Infinity]);
  return { entries: [...new Set(entries)], smallest, largest };
}

/** Whether every run has flows of a single size: only then a completion time over all flows is meaningful. */
export function isOneSize(runs: readonly Sizes[]): boolean {
  return runs.every(({ smallest, largest }) => smallest === largest);
}

/** Edges of the default bins, in bytes: from mice that fit a few packets to elephants. */
const USUAL = [1e4, 1e5, 1e6, 1e7];

/** Edges of the default bins for the sizes of all runs: the usual ones, or decades if all sizes are in one bin. */
export function edgesOf(runs: readonly Sizes[]): number[] {
  if (!runs.length) return [];
  const smallest = Math.min(...runs.map((run) => run.smallest));
  const largest = Math.max(...runs.map((run) => run.largest));
  if (binOf(USUAL, smallest) !== binOf(USUAL, largest)) return USUAL;
  const first = Math.ceil(Math.log10(Math.max(smallest, 1)));
  const last = Math.floor(Math.log10(Math.max(largest, 1)));
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, i) => power(first + i)).filter((edge) => (
    smallest < edge && edge <= largest));
}

/** Bin number of a size: n edges make n + 1 bins, each including its lower edge. */
export function binOf(edges: readonly number[], size: number): number {
  return edges.filter((edge) => edge <= size).length;
}

/** Names of the bins. */
export function labelsOf(edges: readonly number[]): string[] {
  if (!edges.length) return ["all sizes"];
  const inner = edges.slice(1).map((high, i) => {
    const [[least, unit], [most, other]] = [sizeText(edges[i]!).split(" "), sizeText(high).split(" ")];
    return unit === other ? `${least!} to ${most!} ${unit!}` : `${least!} ${unit!} to ${most!} ${other!}`;
  });
  return [`below ${sizeText(edges[0]!)}`, ...inner, `from ${sizeText(edges.at(-1)!)}`];
}

/** Bytes with the decimal prefix that fits, exactly; edges are powers of ten. */
function sizeText(bytes: number): string {
  const [unit, exponent] = ([["GB", 9], ["MB", 6], ["kB", 3]] as const).find(([, one]) => bytes >= power(one))
    ?? ["B", 0];
  return `${bytes / power(exponent)} ${unit}`;
}

interface Bound {
  low: number;
  high: number;
}

/** A statistic of values, of which unfinished ones are lower bounds; null without values. */
export function figureOf(values: readonly number[], finished: readonly boolean[], statistic: Statistic): Bound | null {
  if (!values.length) return null;
  const part = STATISTICS[statistic];
  if (!part) {
    const mean = exactSum(values) / values.length;
    return { low: mean, high: finished.every(Boolean) ? mean : Infinity };
  }
  const place = rank(part, values.length) - 1;
  const at = (some: Float64Array) => some.sort()[place]!;
  return { low: at(Float64Array.from(values)),
    high: at(Float64Array.from(values, (value, row) => (finished[row] ? value : Infinity))) };
}

/** Bounds under every seed. */
export type BySeed = ReadonlyMap<number, number>;

/** A figure of one controller: its bounds under every seed, and the share of its transfers that finished. */
export class Reading {
  /** Mean of the lower bounds over the seeds, which is that of an exact figure; null if a bound is missing. */
  readonly least: Estimate | null;
  /** Mean of the upper bounds over the seeds; null if one is missing. */
  readonly most: Estimate | null;

  constructor(
    readonly low: BySeed, readonly high: BySeed, readonly finished = 0,
    /** Number of flows, queries or writes in all runs; 0 if the figure is not about completions. */
    readonly count = 0,
    /** Largest number of them in one run. */
    readonly largest = 0,
  ) {
    [this.least, this.most] = [estimated(low), estimated(high)];
  }

  /** Share finished; 1 if nothing began. */
  get share(): number {
    return this.count ? this.finished / this.count : 1;
  }

  /** Whether the bounds are equal under every seed. */
  get isExact(): boolean {
    return [...this.low].every(([seed, value]) => value === this.high.get(seed));
  }
}

function estimated(bounds: BySeed): Estimate | null {
  const values = seedsOf(bounds).map((seed) => bounds.get(seed)!);
  return values.every(Number.isFinite) ? estimate(values) : null;
}

function seedsOf(bounds: BySeed): number[] {
  return [...bounds.keys()].sort((a, b) => a - b);
}

/** A figure minus another one, seed by seed, with the bounds that both allow; null if they share no seed. */
export function difference(one: Reading, other: Reading): Reading | null {
  return combined(one, other, (mine, their) => mine - their);
}

/** `one / other - 1` seed by seed; null if they share no seed, or a lower bound is not above 0. */
export function ratioLessOne(one: Reading, other: Reading): Reading | null {
  const isAbove = shared(one, other).every((seed) => one.low.get(seed)! > 0 && other.low.get(seed)! > 0);
  return isAbove ? combined(one, other, (mine, their) => mine / their - 1) : null;
}

function shared(one: Reading, other: Reading): number[] {
  return seedsOf(one.low).filter((seed) => other.low.has(seed));
}

function combined(one: Reading, other: Reading, of: (mine: number, their: number) => number): Reading | null {
  const seeds = shared(one, other);
  if (!seeds.length) return null;
  const by = (mine: BySeed, their: BySeed) => new Map(seeds.map((seed) => (
    [seed, of(mine.get(seed)!, their.get(seed)!)] as const)));
  return new Reading(by(one.low, other.high), by(one.high, other.low));
}

/** A statistic of slowdowns or times by seed; null without completions. */
export function readingOf(
  runs: ReadonlyMap<number, Completions>, statistic: Statistic, quantity: "slowdown" | "time",
): Reading | null {
  const [low, high] = [new Map<number, number>(), new Map<number, number>()];
  for (const [seed, run] of runs) {
    const values = quantity === "slowdown" ? slowdownsOf(run) : run.times;
    const known = (_: unknown, row: number) => !Number.isNaN(values[row]);
    const found = figureOf(values.filter(known), run.finished.filter(known), statistic);
    if (!found) continue;
    low.set(seed, found.low);
    high.set(seed, found.high);
  }
  if (!low.size) return null;
  const all = [...runs.values()];
  const total = (of: (run: Completions) => number) => all.reduce((sum, run) => sum + of(run), 0);
  return new Reading(low, high, total((run) => run.finished.filter(Boolean).length), total((run) => run.sizes.length),
    Math.max(...all.map((run) => run.sizes.length)));
}

/** Name of a statistic in some readings; a high percentile that is the largest value of every run is the maximum. */
export function nameOf(statistic: Statistic, readings: readonly (Reading | null)[]): string {
  const part = STATISTICS[statistic];
  const most = Math.max(0, ...readings.map((one) => one?.largest ?? 0));
  const isMaximum = part && 2 * part[0] > part[1] && most > 0 && rank(part, most) === most;
  return isMaximum ? MAXIMUM : NAMES[statistic];
}
