/** The table of a comparison: the cells that `python/incast/report` writes for the same runs. */

import { Compared, type RunOf } from "./compared";
import {
  ENOUGH, isOneSize, MAXIMUM, NAMES, nameOf, PARTS, STATISTICS, type Part, type Reading, type Statistic,
} from "./completions";
import { ACTIVE, measuresOf, THROUGHPUT } from "./measures";
import { between, percent, tinyNumber } from "./numbers";
import { best, carrying, delivers, meansOf, undominated, type Better, type Objective, type Readings } from "./ranking";

/** Mark of an undominated controller. */
const UNDOMINATED = "◆";

export interface Column {
  /** Key of the summary, `share`, or entry, bin and statistic of a slowdown. */
  key: string;
  title: string;
  /** Unit of the cells. */
  unit: string;
  better: Better;
}

export interface Cell {
  /** Mean with half its interval, or bounds: 10.2 ± 0.8, ≥ 4.1, – without the figure. */
  text: string;
  /** Mean in the unit of the column, with all digits; of a bound the lower one; null without one. */
  exact: number | null;
  isBound: boolean;
  /** Share finished of the figure's transfers; empty if all did. */
  finished: string;
  isBest: boolean;
}

export interface Row {
  /** Controller in the notation of `--cc`, and its name. */
  controller: string;
  name: string;
  /** ◆ of an undominated controller, with its throughput where it carries little; empty of others. */
  mark: string;
  cells: Cell[];
}

export interface Comparison {
  columns: Column[];
  rows: Row[];
  /** Titles of the figures that are 0 everywhere. */
  zero: string[];
}

/** A figure of a report; `kind` decides its place. */
interface Figure extends Column {
  kind: string;
  /** Factor from the summary's unit to the one shown. */
  scale: number;
}

function figure(key: string, kind: string, title: string, unit: string, scale: number, better: Better): Figure {
  return { key, kind, title, unit, scale, better };
}

const OF_RATES = figure(THROUGHPUT, "throughput", "Throughput per flow", "Mb/s", 1e-6, "higher");
const OF_ACTIVE = figure(ACTIVE, "throughput", "Throughput per active flow", "Mb/s", 1e-6, "higher");
const FIGURES = [
  figure("flows.loss_total_pct", "loss", "Loss", "% of segments sent", 1, "lower"),
  figure("flows.delay_mean_s", "delay", "Mean one-way delay", "ms", 1e3, "lower"),
  figure("flows.delay_p99_s", "delay", "p99 one-way delay", "ms", 1e3, "lower"),
  figure("flows.timeouts", "timeouts", "Retransmission timeouts", "per run", 1, "lower"),
  figure("queues.busiest.mean_packets", "queue", "Mean queue at the busiest port", "packets", 1, "lower"),
  figure("flows.jain", "fairness", "Jain's fairness index", "", 1, "higher"),
];
const OF_PAUSES = [
  figure("queues.pauses", "paus", "Pauses by flow control", "per run", 1, "lower"),
  figure("queues.paused_s", "paus", "Time paused, all ports", "ms", 1e3, "lower"),
];
/** Figures of a training job. */
const jobFigures = (job: string): Figure[] => [
  figure(`jobs.${job}.iteration_mean_s`, "job", `Mean iteration time of ${job}`, "ms", 1e3, "lower"),
  figure(`jobs.${job}.exposed_mean_s`, "job", `Exposed communication of ${job}, mean over ranks`, "ms", 1e3, "lower"),
  figure(`jobs.${job}.idle_mean_s`, "job", `Idle time of ${job}, mean over ranks`, "ms", 1e3, "lower"),
];
const ONE: Record<Part, string> = { fct: "flow", queries: "query", writes: "write" };

function completionFigures(part: Part): Figure[] {
  const title = `${ONE[part]} completion time`;
  const found = [figure(`${part}.mean_s`, part, `Mean ${title}`, "ms", 1e3, "lower"),
    figure(`${part}.p99_s`, part, `p99 ${title}`, "ms", 1e3, "lower")];
  if (part === "fct") return found;
  const what = part.charAt(0).toUpperCase() + part.slice(1);
  return [...found, figure(`${part}.with_timeout`, part, `${what} with a timeout`, "per run", 1, "lower")];
}

/** Kinds of figures in their order, by whether all flows have a size. */
const SIZED = ["job", "fct", "queries", "writes", "throughput", "loss", "queue", "delay", "timeouts", "paus"];
const ENDLESS = ["job", "fct", "queries", "writes", "throughput", "delay", "loss", "queue", "fairness", "timeouts",
  "paus"];

/** Units of a figure by its usual one, each with its smallest largest value in SI units, and the factor to it. */
const UNITS: Record<string, [number, string, number][]> = {
  ms: [[1e-3, "ms", 1e3], [0, "µs", 1e6]],
  "Mb/s": [[1e9, "Gb/s", 1e-9], [1e6, "Mb/s", 1e-6], [0, "kb/s", 1e-3]],
};

/** The table of the runs of some controllers on one scenario: slowdowns by size, the share finished, figures. */
export function tableOf(runs: readonly RunOf[], controllers: readonly string[]): Comparison {
  return tableIn(new Compared(runs, controllers));
}

/** The table of runs that answers have as well. */
export function tableIn(compared: Compared): Comparison {
  const { names } = compared;
  const standing = standingOf(compared);
  const figures = figuresOf(compared);
  const shown = figures.filter(({ key }) => isAboveZero(compared, key));
  const columns = [...slowdownColumns(compared), ...finishedColumn(compared), ...shown];
  const readings = columns.map((column) => byController(compared, (name) => readingIn(compared, column, name)));
  const bests = columns.map((column, i) => bestOf(standing, column, readings[i]!));
  return {
    columns: columns.map(({ key, title, unit, better }) => ({ key, title, unit, better })),
    rows: compared.controllers.map((controller) => ({
      controller,
      name: names.get(controller)!,
      mark: markOf(compared, standing, controller),
      cells: columns.map(({ scale }, i) => (
        cellOf(readings[i]!.get(controller), scale, bests[i] === controller))),
    })),
    zero: figures.filter((one) => !shown.includes(one)).map(({ title }) => title),
  };
}

function byController(compared: Compared, of: (controller: string) => Reading | null): Readings {
  return new Map(compared.controllers.flatMap((name) => {
    const found = of(name);
    return found ? [[name, found] as const] : [];
  }));
}

function readingIn(compared: Compared, { key, kind }: Figure, controller: string): Reading | null {
  if (kind === "share") return compared.share(controller);
  const band = compared.bands.find(({ entry, number }) => key === `slowdown.${entry}.${number}.p99`);
  return band ? compared.slowdown(controller, band, "p99") : compared.reading(controller, key);
}

function cellOf(reading: Reading | undefined, scale: number, isBest: boolean): Cell {
  if (!reading) return { text: "–", exact: null, isBound: false, finished: "", isBest: false };
  const { isExact, least, most, share } = reading;
  const [low, high] = [least && least.mean * scale, most && most.mean * scale];
  const text = isExact && least ? tinyNumber(least, scale) : between(low ?? -Infinity, high ?? Infinity);
  const finished = share === 1 ? "" : percent(share);
  return { text, exact: low, isBound: !isExact, finished, isBest };
}

/** p99 slowdowns by size; a p99 of few values is named the maximum. */
function slowdownColumns(compared: Compared): Figure[] {
  return measuresOf(compared).filter(({ band, statistic }) => band && statistic === "p99").map(({ key, title }) => (
    figure(key, "slowdown", title, "", 1, "lower")));
}

/** The share that finished, if not all did. */
function finishedColumn(compared: Compared): Figure[] {
  const shares = [...byController(compared, (name) => compared.share(name)).values()];
  const isLess = shares.some(({ low }) => Math.min(...low.values()) < 1);
  return isLess ? [figure("share", "share", "Finished", "%", 100, "higher")] : [];
}

/** The figures in their order, each in its unit and under the name of its statistic. */
function figuresOf(compared: Compared): Figure[] {
  const { runs, sizes } = compared;
  const parts = PARTS.filter((part) => runs.some((run) => run.figure(`${part}.count`)));
  const there = parts.filter((part) => part !== "fct" || isOneSize(sizes)); // else slowdowns by size say more
  const isActive = sizes.length > 0 && runs.some((run) => run.figure(ACTIVE) !== null);
  const all = [...compared.jobs.flatMap(jobFigures),
    isActive ? OF_ACTIVE : OF_RATES, ...FIGURES, ...there.flatMap(completionFigures)];
  if (runs.some((run) => run.figure("queues.pauses"))) all.push(...OF_PAUSES);
  const isSized = runs.every((run) => {
    const sized = run.figure("fct.count") ?? 0;
    return sized > 0 && (run.figure("flows.count") ?? 0) <= sized;
  });
  return (isSized ? SIZED : ENDLESS).flatMap((kind) => all.filter((one) => one.kind === kind)).map((one) => (
    inItsUnit(compared, named(compared, one))));
}

/** A figure under the name of its statistic: a p99 of few completions is their maximum. */
function named(compared: Compared, one: Figure): Figure {
  const statistic = (one.key.split(".").at(-1)!).replace(/_s$/, "");
  if (!(statistic in STATISTICS)) return one;
  const readings = compared.controllers.map((name) => compared.reading(name, one.key));
  if (nameOf(statistic as Statistic, readings) !== MAXIMUM) return one;
  return { ...one, title: one.title.replace(NAMES[statistic as Statistic], "Maximum") };
}

/** The unit of a time or a rate by its largest value. */
function inItsUnit(compared: Compared, one: Figure): Figure {
  const values = compared.runs.flatMap((run) => run.figure(one.key) ?? []);
  const found = values.length ? UNITS[one.unit]?.find(([least]) => Math.max(...values) >= least) : undefined;
  return found ? { ...one, unit: found[1], scale: found[2] } : one;
}

/** Whether a figure is other than 0 for a controller, or unknown. */
function isAboveZero(compared: Compared, key: string): boolean {
  return compared.controllers.some((name) => {
    const found = compared.reading(name, key);
    return !found?.isExact || [...found.low.values()].some(Boolean);
  });
}

/** What decides which controllers are marked. */
interface Standing {
  front: Set<string>;
  carries: Set<string>;
  /** Share of the highest throughput of controllers that do not carry traffic. */
  little: Map<string, number>;
  finished: Set<string>;
}

function standingOf(compared: Compared): Standing {
  const of = (key: string) => byController(compared, (name) => compared.reading(name, key));
  const active = of(ACTIVE);
  const throughput = active.size ? active : of(THROUGHPUT);
  const shares = byController(compared, (name) => compared.share(name));
  const { isJudgedByJobs: isOfJobs, jobs } = compared;
  const front = undominated(compared.controllers, isOfJobs ? jobs.map((job): Objective => (
    { readings: of(`jobs.${job}.iteration_mean_s`), better: "lower" })) : [
    { readings: throughput, better: "higher" },
    { readings: of("flows.delay_p99_s"), better: "lower" },
    { readings: shares, better: "higher" },
  ]);
  const rates = isOfJobs ? new Map<string, number>() : meansOf(throughput);
  const carries = isOfJobs ? new Set(compared.controllers) : carrying(throughput);
  const most = Math.max(0, ...rates.values());
  const little = new Map([...rates].flatMap(([name, rate]) => (
    most > 0 && !carries.has(name) ? [[name, rate / most] as const] : [])));
  const isFinished = (name: string) => Math.min(1, ...shares.get(name)?.low.values() ?? []) >= ENOUGH;
  return { front, carries, little, finished: new Set(compared.controllers.filter(isFinished)) };
}

function bestOf({ front, carries, finished }: Standing, { key, kind, better }: Figure, readings: Readings) {
  const isAllowed = (name: string) => finished.has(name) && (delivers(key) || carries.has(name));
  return kind === "share" ? null : best(readings, better, new Set([...front].filter(isAllowed)));
}

function markOf({ controllers, seeds }: Compared, { front, little }: Standing, controller: string): string {
  if (controllers.length < 2 || seeds < 2 || !front.has(controller)) return "";
  const share = little.get(controller);
  return UNDOMINATED + (share === undefined ? "" : ` ${percent(share)}`);
}
