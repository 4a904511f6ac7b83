/** Runs of several controllers on one scenario, and their figures, as `python/incast/comparisons/comparison.py` has. */

import type { Table } from "../engine/wasm";
import {
  completionsOf, edgesOf, isOneSize, labelsOf, PARTS, Reading, readingOf, Sample, sizesOf, slowdownsOf, STATISTICS,
  textsOf, timesOf, valuesOf, type Began, type Completions, type Part, type Sizes, type Statistic,
} from "./completions";
import { resolvedOf, type Resolved } from "./resolved";
import { exactSum, jain } from "./statistics";

/** A finished run. */
export interface RunOf {
  /** Controller in the notation of `--cc`. */
  controller: string;
  seed: number;
  /** Content of `summary.json`. */
  summary: Record<string, unknown>;
  /** `flows`; `queries` and `writes` where there are any. */
  tables: Record<string, Table>;
  /** Resolved scenario as TOML. */
  text: string;
}

const TABLES: Record<Part, string> = { fct: "flows", queries: "queries", writes: "writes" };

/** A run, with what is computed of it once. */
export class Run {
  readonly sizes: Sizes | null;
  readonly resolved: Resolved;
  private readonly flows: Completions | null;
  private readonly times = new Map<Part, Sample>();
  private slowdowns: Map<string, Sample[]> | null = null;

  constructor(readonly of: RunOf) {
    this.resolved = resolvedOf(of.text);
    this.flows = this.completions("fct");
    this.sizes = this.flows && sizesOf(this.flows);
  }

  /** Completions of finite flows (`fct`), queries or writes; null without any. */
  private completions(part: Part): Completions | null {
    const table = this.of.tables[TABLES[part]];
    return table && this.figure(`${part}.count`) ? completionsOf(table, part, this.figure("run.sim_s")!) : null;
  }

  /** Completion times. */
  time(part: Part): Sample {
    let found = this.times.get(part);
    if (!found) {
      const own = part === "fct" ? this.flows : this.completions(part);
      found = own ? timesOf(own) : new Sample();
      this.times.set(part, found);
    }
    return found;
  }

  /** Slowdowns of the flows of a band; all calls have the same edges of bins. */
  slowdown({ entry, number }: Band, edges: readonly number[]): Sample {
    this.slowdowns ??= this.flows ? slowdownsOf(this.flows, edges) : new Map<string, Sample[]>();
    return this.slowdowns.get(entry)?.[number] ?? new Sample();
  }

  /** A figure by its dotted key; null where it does not exist. */
  figure(key: string): number | null {
    const [part, ...names] = key.split(".") as [string, ...string[]];
    const name = names.join(".");
    // timeouts are counted at finished queries: without any the number is unknown
    const isOfFinished = part in TABLES && name !== "count" && name !== "finished";
    if (isOfFinished && !this.figure(`${part}.finished`)) return null;
    if (part === "flows" && this.resolved.datagrams.length) return this.governed(name);
    return numberAt(this.of.summary, [part, ...names]);
  }

  /** Names of the training jobs. */
  get jobs(): string[] {
    return Object.keys((this.of.summary.jobs ?? {}) as Record<string, unknown>);
  }

  /** Numbers of iterations of training jobs that finished and that there are to be. */
  get iterations(): [number, number] {
    const of = (name: string) => this.jobs.reduce((sum, job) => sum + (this.figure(`jobs.${job}.${name}`) ?? 0), 0);
    return [of("finished"), of("iterations")];
  }

  /** Number of transfers that did not finish. */
  late(part: Part): number {
    return (this.figure(`${part}.count`) ?? 0) - (this.figure(`${part}.finished`) ?? 0);
  }

  /** A figure of the flows that a controller governs; null if it cannot be combined over entries. */
  private governed(name: string): number | null {
    const groups = Object.entries((this.of.summary.groups ?? {}) as Record<string, unknown>);
    const own = groups.filter(([entry]) => !this.resolved.datagrams.includes(entry)).map(([, group]) => group);
    const parts = own.filter((group) => numberAt(group, ["flows", "count"]));
    if (parts.length < 2) return parts.length ? numberAt(parts[0], ["flows", name]) : null;
    if (name === "timeouts") return parts.reduce<number>((sum, one) => sum + numberAt(one, ["flows", name])!, 0);
    if (name === "jain") return jain(this.rates("throughput_bps"));
    const column = { throughput_mean_bps: "throughput_bps", throughput_active_mean_bps: "throughput_active_bps" }[name];
    const rates = column ? this.rates(column) : [];
    return rates.length ? exactSum(rates) / rates.length : null;
  }

  /** Rates of the flows that opened, carry no requests, and are no datagrams. */
  private rates(column: string): number[] {
    const { flows } = this.of.tables;
    if (!flows) return [];
    const [groups, roles] = [textsOf(flows, "group"), textsOf(flows, "role")];
    return Array.from(valuesOf(flows, column)).filter((rate, row) => (
      !Number.isNaN(rate) && roles[row] !== "request" && !this.resolved.datagrams.includes(groups[row]!)));
  }
}

function numberAt(of: unknown, names: readonly string[]): number | null {
  const found = names.reduce<unknown>((at, name) => (
    typeof at === "object" && at !== null ? (at as Record<string, unknown>)[name] : null), of);
  return typeof found === "number" ? found : null;
}

/** Flows of one traffic entry in one size bin. */
export interface Band {
  entry: string;
  /** Of the bin. */
  number: number;
  label: string;
}

/** Runs by controller; all controllers have the same seeds. */
export class Compared {
  /** In the order of the controllers, then of the seeds. */
  readonly runs: Run[];
  readonly seeds: number;
  /** Flows with slowdowns by size; none if flows have fewer than two sizes. */
  readonly bands: Band[];
  private readonly edges: number[];
  private readonly known = new Map<string, Reading | null>();

  /** Controllers that have runs. */
  readonly controllers: string[];
  /** Their names in tables and sentences. */
  readonly names: ReadonlyMap<string, string>;

  /** `called` has names of some of the controllers. */
  constructor(runs: readonly RunOf[], asked: readonly string[], called: ReadonlyMap<string, string> = new Map()) {
    const controllers = asked.filter((name) => runs.some(({ controller }) => controller === name));
    this.controllers = controllers;
    this.names = namesOf(controllers, called);
    this.runs = controllers.flatMap((name) => (
      runs.filter(({ controller }) => controller === name).sort((a, b) => a.seed - b.seed).map((one) => new Run(one))));
    this.seeds = new Set(this.runs.map(({ of }) => of.seed)).size;
    const sizes = this.sizes;
    this.edges = edgesOf(sizes);
    const entries = isOneSize(sizes) ? [] : [...new Set(sizes.flatMap((run) => run.entries))];
    const all = entries.flatMap((entry) => labelsOf(this.edges).map((label, number) => ({ entry, number, label })));
    this.bands = all.filter((band) => controllers.some((name) => this.slowdown(name, band, "mean")));
  }

  /** Sizes of the runs that have finite flows. */
  get sizes(): Sizes[] {
    return this.runs.flatMap((run) => run.sizes ?? []);
  }

  /** Names of the training jobs of the runs. */
  get jobs(): string[] {
    return [...new Set(this.runs.flatMap((run) => run.jobs))];
  }

  /** Whether training jobs are all that ends: their connections have rates that say little. */
  get isJudgedByJobs(): boolean {
    return this.jobs.length > 0 && !this.runs.some((run) => run.figure("fct.count"));
  }

  point(controller: string): Run[] {
    return this.runs.filter(({ of }) => of.controller === controller);
  }

  /** A figure by seed; a completion figure has the bounds that unfinished transfers leave. */
  reading(controller: string, key: string): Reading | null {
    return this.once(`${controller}\n${key}`, () => {
      const [part, ...names] = key.split(".") as [Part, ...string[]];
      const statistic = names.join(".").replace(/_s$/, "");
      const isPart = PARTS.includes(part);
      if (isPart && statistic in STATISTICS) return this.time(controller, part, statistic as Statistic);
      const runs = this.point(controller).filter((run) => run.figure(key) !== null);
      if (!runs.length) return null;
      const by = (of: (run: Run) => number) => new Map(runs.map((run) => [run.of.seed, of(run)] as const));
      const values = by((run) => run.figure(key)!);
      // a count among finished ones: each unfinished one may add one
      const most = isPart ? by((run) => run.figure(key)! + run.late(part)) : values;
      return new Reading(values, most, ...(this.began(controller)[part] ?? [0, 0]));
    });
  }

  private time(controller: string, part: Part, statistic: Statistic): Reading | null {
    return readingOf(new Map(this.point(controller).map((run) => [run.of.seed, run.time(part)])), statistic);
  }

  /** A statistic of the slowdowns of a band's flows. */
  slowdown(controller: string, band: Band, statistic: Statistic): Reading | null {
    return this.once(`${controller}\n${statistic}\n${band.number}\n${band.entry}`, () => readingOf(
      new Map(this.point(controller).map((run) => [run.of.seed, run.slowdown(band, this.edges)])), statistic));
  }

  /** The share that finished of all finite flows, queries, writes and iterations, by seed; null without any. */
  share(controller: string): Reading | null {
    const shares = new Map<number, number>();
    for (const run of this.point(controller)) {
      const [ended, began] = run.iterations;
      const total = (name: string) => PARTS.reduce((sum, part) => sum + (run.figure(`${part}.${name}`) ?? 0), 0);
      const count = total("count") + began;
      if (count) shares.set(run.of.seed, (total("finished") + ended) / count);
    }
    return shares.size ? new Reading(shares, shares) : null;
  }

  /** Numbers that finished and that began, by kind of transfer; of iterations of jobs, those that are to be. */
  began(controller: string): Began {
    const total = (key: string) => this.point(controller).reduce((sum, run) => sum + (run.figure(key) ?? 0), 0);
    const counts = PARTS.map((part) => [part, [total(`${part}.finished`), total(`${part}.count`)]] as const);
    const iterations = this.point(controller).map((run) => run.iterations);
    const ofJobs = [0, 1].map((at) => iterations.reduce((sum, own) => sum + own[at]!, 0)) as [number, number];
    return Object.fromEntries([...counts, ["jobs", ofJobs] as const].filter(([, [, count]]) => count));
  }

  /** Groups of controllers that have the same figures in every run. */
  alike(): string[][] {
    const groups = new Map<string, string[]>();
    for (const name of this.controllers) {
      const figures = JSON.stringify(this.point(name).map(({ of }) => of.summary));
      groups.set(figures, [...groups.get(figures) ?? [], name]);
    }
    return [...groups.values()].filter((group) => group.length > 1);
  }

  private once(key: string, make: () => Reading | null): Reading | null {
    if (!this.known.has(key)) this.known.set(key, make());
    return this.known.get(key)!;
  }
}

/** Words in the notation of `--cc` that are shown as values: `swift:target=min-rtt` is `swift min-rtt`. */
const WORD = /^(?!auto$|true$|false$)[a-z][a-z-]*$/;

/** Names of controllers, as tables and sentences have them, by their texts. */
export function namesOf(
  texts: readonly string[], called: ReadonlyMap<string, string> = new Map(),
): Map<string, string> {
  const found = new Map<string, string>();
  for (const text of texts) {
    const taken = [...found.values()];
    const numbered = texts.map((_, i) => `${text}-${i + 2}`);
    const names = [called.get(text) ?? shortName(text), shortName(text), text, ...numbered];
    found.set(text, names.find((name) => !taken.includes(name))!);
  }
  return found;
}

/** Short name: a parameter whose value is a word is shown by that word, unless a later parameter begins with it. */
function shortName(text: string): string {
  const kind = /^[^:=,]+:[A-Za-z_][A-Za-z0-9_]*(?=:|$)/.exec(text)?.[0] ?? text.split(":")[0]!;
  const written = text.slice(kind.length + 1);
  const pairs = written ? written.split(",").map((pair) => /^([^=]*)=?(.*)$/.exec(pair)!.slice(1)) : [];
  const words = pairs.flatMap(([key, value]) => {
    if (pairs.some(([other]) => other!.startsWith(`${value!}_`))) return [];
    return [WORD.test(value!) ? value! : `${key!}=${value!}`];
  });
  const own = text.split(":")[0]!.trim() === ".";
  return [own ? "own" : kind.split(":").at(-1)!, ...words].join(" ");
}
