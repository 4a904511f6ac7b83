/**
 * Completions of flows, queries and writes, as `python/incast/runs/completions.py` has them.
 *
 * A transfer still running when the run ends, or stopped before, takes longer than the time it has run so far.
 * Percentiles (nearest rank) and means are over all that began. If unfinished ones could change such a figure, it has
 * two bounds: the lower one counts them as finished at the end of the run, the upper one as never finished.
 */

import { numbersOf, type Table, type TableColumn } from "../engine/wasm";
import { power } from "./numbers";
import { estimate, exactSum, rank, type Estimate } from "./statistics";

/** Share finished that a controller needs to be called best. */
export const ENOUGH = 0.99;

/** Parts of the summary about completions, with the nouns for their counts. */
export const COMPLETIONS = { fct: "flows", queries: "queries", writes: "writes" } as const;
export type Part = keyof typeof COMPLETIONS;
export const PARTS = Object.keys(COMPLETIONS) as Part[];

/** What ends, with the nouns for its counts: completions, and iterations of training jobs. */
export const ENDING = { ...COMPLETIONS, jobs: "iterations" } as const;
/** Numbers that finished and that began, or are to be; kinds without any are missing. */
export type Began = Partial<Record<keyof typeof ENDING, [number, number]>>;

/** Statistics of completions: the mean, and percentiles with their fractions. */
export const STATISTICS = { mean: null, p50: [50, 100], p99: [99, 100], p999: [999, 1000] } as const;
export type Statistic = keyof typeof STATISTICS;

/** Names of the statistics in texts; a high percentile of few values is the maximum. */
export const NAMES: Record<Statistic, string> = { mean: "mean", p50: "p50", p99: "p99", p999: "p99.9" };
export const MAXIMUM = "maximum";

/** Completions of one run: finite flows, queries or writes. */
export interface Completions {
  /** Traffic entries, and the place of each completion's entry among them. */
  names: string[];
  entries: Uint32Array;
  /** Bytes. */
  sizes: Float64Array;
  /** Completion time; for unfinished ones the time until they were stopped, or the run ended. */
  times: Float64Array;
  finished: Uint8Array;
  /** Completion time of flows on the empty network; NaN without one. */
  ideals: Float64Array;
}

/** Texts of a column, one a row. */
export function textsOf(table: Table, name: string): string[] {
  const { values, names } = columnOf(table, name);
  return Array.from({ length: values.length }, (_, row) => names![Number(values[row])]!);
}

/** Numbers of a column, one a row; NaN where one is missing. */
export function valuesOf(table: Table, name: string): Float64Array {
  return numbersOf(columnOf(table, name));
}

function columnOf(table: Table, name: string): TableColumn {
  const found = table.columns.find((column) => column.name === name);
  if (!found) throw new Error(`a table has no column ${name}`);
  return found;
}

/** Completions of a table of flows (`fct`), queries or writes of a run that ended at `end_s`. */
export function completionsOf(table: Table, part: Part, end_s: number): Completions {
  const isFlows = part === "fct";
  const sizes = valuesOf(table, isFlows ? "size_bytes" : "bytes");
  const times = valuesOf(table, isFlows ? "fct_s" : "completion_s");
  const starts = valuesOf(table, "start_s");
  const [ideals, stops] = ["ideal_fct_s", "stopped_s"].map((name) => (
    isFlows ? valuesOf(table, name) : new Float64Array(table.rows).fill(NaN)));
  const { values, names } = columnOf(table, "group");
  const found = emptyOf(names!, sizes.filter((size) => !Number.isNaN(size)));
  for (let row = 0, to = 0; row < table.rows; row++) {
    if (Number.isNaN(sizes[row])) continue;
    const isFinished = !Number.isNaN(times[row]);
    const end = Number.isNaN(stops![row]) ? end_s : stops![row]!;
    found.entries[to] = Number(values[row]);
    found.times[to] = isFinished ? times[row]! : Math.max(end - starts[row]!, 0);
    found.finished[to] = isFinished ? 1 : 0;
    found.ideals[to] = ideals![row]!;
    to += 1;
  }
  return found;
}

function emptyOf(names: string[], sizes: Float64Array): Completions {
  const count = sizes.length;
  return { names, sizes, entries: new Uint32Array(count), times: new Float64Array(count),
    finished: new Uint8Array(count), ideals: new Float64Array(count) };
}

/** Values of some completions, of which unfinished ones are lower bounds. */
export class Sample {
  /** Completions, also those without a value, and how many of them finished. */
  count = 0;
  finished = 0;
  private readonly all: number[] = [];
  private readonly done: number[] = [];
  private sorted: [Float64Array, Float64Array] | null = null;

  add(value: number, isFinished: boolean): void {
    this.count += 1;
    if (isFinished) this.finished += 1;
    if (Number.isNaN(value)) return;
    this.all.push(value);
    if (isFinished) this.done.push(value);
  }

  /** A statistic; null without values. */
  figure(statistic: Statistic): Bound | null {
    const { all, done } = this;
    if (!all.length) return null;
    const part = STATISTICS[statistic];
    if (!part) {
      const mean = exactSum(all) / all.length;
      return { low: mean, high: done.length === all.length ? mean : Infinity };
    }
    const place = rank(part, all.length) - 1;
    this.sorted ??= [Float64Array.from(all).sort(), Float64Array.from(done).sort()];
    return { low: this.sorted[0][place]!, high: this.sorted[1][place] ?? Infinity };
  }
}

/** Completion times. */
export function timesOf({ times, finished }: Completions): Sample {
  const sample = new Sample();
  times.forEach((time, row) => { sample.add(time, finished[row] === 1); });
  return sample;
}

/** Completion times divided by ideal ones, at least 1 for unfinished flows: by entry, then by bin. */
export function slowdownsOf(run: Completions, edges: readonly number[]): Map<string, Sample[]> {
  const samples = run.names.map(() => Array.from({ length: edges.length + 1 }, () => new Sample()));
  run.times.forEach((time, row) => {
    const ratio = time / run.ideals[row]!;
    const isFinished = run.finished[row] === 1;
    const sample = samples[run.entries[row]!]![binOf(edges, run.sizes[row]!)]!;
    sample.add(isFinished ? ratio : Math.max(ratio, 1), isFinished);
  });
  return new Map(run.names.map((name, i) => [name, samples[i]!]));
}

/** Traffic entries with finite flows in a run, and the smallest and largest size. */
export interface Sizes {
  entries: string[];
  smallest: number;
  largest: number;
}

/** Sizes of a run's flows; null without finite flows. */
export function sizesOf({ names, entries, sizes }: Completions): Sizes | null {
  if (!sizes.length) return null;
  let [smallest, largest] = [Infinity, -Infinity];
  for (const size of sizes) {
    smallest = Math.min(smallest, size);
    largest = Math.max(largest, size);
  }
  return { entries: [...new Set(entries)].map((place) => names[place]!), smallest, largest };
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
function binOf(edges: readonly number[], size: number): number {
  const bin = edges.findIndex((edge) => size < edge);
  return bin < 0 ? edges.length : bin;
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

/** A statistic of samples by seed; null without values. */
export function readingOf(samples: ReadonlyMap<number, Sample>, statistic: Statistic): Reading | null {
  const found = [...samples].flatMap(([seed, sample]) => {
    const bound = sample.figure(statistic);
    return bound ? [[seed, bound] as const] : [];
  });
  if (!found.length) return null;
  const all = [...samples.values()];
  return new Reading(
    new Map(found.map(([seed, { low }]) => [seed, low])), new Map(found.map(([seed, { high }]) => [seed, high])),
    all.reduce((sum, one) => sum + one.finished, 0), all.reduce((sum, one) => sum + one.count, 0),
    Math.max(...all.map(({ count }) => count)));
}

/** Name of a statistic in some readings; a high percentile that is the largest value of every run is the maximum. */
export function nameOf(statistic: Statistic, readings: readonly (Reading | null)[]): string {
  const part = STATISTICS[statistic];
  const most = Math.max(0, ...readings.map((one) => one?.largest ?? 0));
  const isMaximum = part && 2 * part[0] > part[1] && most > 0 && rank(part, most) === most;
  return isMaximum ? MAXIMUM : NAMES[statistic];
}
