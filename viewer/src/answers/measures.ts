/** Figures that answers compare, by the kind of traffic, as `python/incast/answers/measures.py` has them. */

import type { Band, Compared } from "./compared";
import { COMPLETIONS, NAMES, nameOf, PARTS, Reading, type Part } from "./completions";
import { SPACE } from "./numbers";
import { apartOf, ranked, type Apart, type Ranking } from "./paired";
import { delivers, MATTERS, type Better, type Readings } from "./ranking";

/** Key of the share that finished. */
const SHARE = "share";
export const ACTIVE = "flows.throughput_active_mean_bps";
export const THROUGHPUT = "flows.throughput_mean_bps";
const JAIN = "flows.jain";
const PAUSES = "queues.pauses";

const ONE: Record<Part, string> = { fct: "flow", queries: "query", writes: "write" };

/** A figure of answers. */
export interface Measure {
  /** Key of the summary, `share`, or entry, bin and statistic of a slowdown. */
  key: string;
  /** Name in a sentence: `p99 slowdown below 10 kB`. */
  title: string;
  /** SI unit without a prefix; percent for shares. */
  unit: string;
  better: Better;
  band: Band | null;
  /** Statistic of completions; empty of other figures. */
  statistic: "" | "mean" | "p99";
}

/** Whether nothing could be better than a reading by a difference that matters. */
export function isIdeal({ key, unit, better, band }: Measure, { least }: Reading): boolean {
  const ideal = better === "higher" ? (key === JAIN ? 1 : unit === "%" ? 100 : Infinity) : band ? 1 : 0;
  return least !== null && ideal !== Infinity && Math.abs(least.mean - ideal) <= MATTERS * ideal;
}

/** Whether a figure is bad for a controller that sends nothing. */
export function isDelivery({ key }: Measure): boolean {
  return delivers(key);
}

/** Reads a figure of one controller. */
export function readingAt(compared: Compared, { key, band, statistic }: Measure, controller: string): Reading | null {
  if (band) return compared.slowdown(controller, band, statistic || "mean");
  if (key !== SHARE) return compared.reading(controller, key);
  const share = compared.share(controller);
  if (!share) return null;
  const percent = new Map([...share.low].map(([seed, one]) => [seed, 100 * one]));
  return new Reading(percent, percent);
}

export function rankedAt({ better, unit }: Measure, readings: Readings): Ranking {
  return ranked(readings, better, unit === "%");
}

/** Compares two readings of a figure; percentages differ by points. */
export function apartAt({ better, unit }: Measure, one: string, other: string, readings: Readings): Apart {
  return apartOf(one, other, readings, better, unit === "%");
}

function plain(key: string, title: string, unit: string, better: Better): Measure {
  return { key, title, unit, better, band: null, statistic: "" };
}

const OF_RATES = plain(THROUGHPUT, "throughput per flow", "b/s", "higher");
const OF_ACTIVE = plain(ACTIVE, "throughput per active flow", "b/s", "higher");
const ENDLESS = [
  OF_RATES,
  plain("flows.delay_p99_s", "p99 delay", "s", "lower"),
  plain("flows.loss_total_pct", "loss", "%", "lower"),
  plain("queues.busiest.mean_packets", "mean queue at the busiest port", "packets", "lower"),
  plain(JAIN, "Jain's index", "", "higher"),
];

/** The figures in the order of their importance; a p99 of few values is named the maximum. */
export function measuresOf(compared: Compared): Measure[] {
  return measuresUnder(compared).map((measure) => {
    if (measure.statistic !== "p99") return measure;
    const name = nameOf("p99", compared.controllers.map((one) => readingAt(compared, measure, one)));
    return { ...measure, title: measure.title.replace(NAMES.p99, name) };
  });
}

function measuresUnder(compared: Compared): Measure[] {
  const { runs } = compared;
  const parts = PARTS.filter((part) => runs.some((run) => run.figure(`${part}.count`)));
  const ofJobs = jobMeasures(compared.jobs);
  if (!parts.length) return ofJobs.length ? ofJobs : ENDLESS;
  const bySize = sizeMeasures(compared.bands);
  const isTold = ofJobs.length + bySize.length > 0;
  const times = parts.filter((part) => part !== "fct" || !isTold).flatMap(completionMeasures);
  const nouns = parts.map((part) => COMPLETIONS[part]).join(" and ");
  const found = [...ofJobs, ...bySize, ...times, plain(SHARE, `share of ${nouns} finished`, "%", "higher")];
  if (parts.includes("fct")) found.push(runs.some((run) => run.figure(ACTIVE) !== null) ? OF_ACTIVE : OF_RATES);
  if (runs.some((run) => run.figure(PAUSES))) found.push(plain(PAUSES, "pauses by flow control", "", "lower"));
  return found;
}

/** Key of the throughput that says how much controllers carry. */
export function throughputOf({ runs, sizes }: Compared): string {
  return sizes.length && runs.some((run) => run.figure(ACTIVE) !== null) ? ACTIVE : THROUGHPUT;
}

/** Figures of training jobs: iteration time, then exposed communication. */
function jobMeasures(jobs: readonly string[]): Measure[] {
  return [
    ...jobs.map((job) => plain(`jobs.${job}.iteration_mean_s`, `iteration time of ${job}`, "s", "lower")),
    ...jobs.map((job) => plain(`jobs.${job}.exposed_mean_s`, `exposed communication of ${job}`, "s", "lower")),
  ];
}

const STATISTICS = ["p99", "mean"] as const;

function completionMeasures(part: Part): Measure[] {
  return STATISTICS.map((statistic) => ({
    ...plain(`${part}.${statistic}_s`, `${NAMES[statistic]} completion time of a ${ONE[part]}`, "s", "lower"),
    statistic,
  }));
}

function sizeMeasures(bands: readonly Band[]): Measure[] {
  const isSeveral = new Set(bands.map(({ entry }) => entry)).size > 1;
  return bands.flatMap((band) => STATISTICS.map((statistic) => {
    const where = /^(below|from|above|all)/.test(band.label) ? band.label : `of ${band.label}`;
    const sizes = where.replace(/(?<=[0-9]) (?=[kMGT]?B)/g, SPACE);
    const title = `${NAMES[statistic]} slowdown ${sizes}${isSeveral ? ` (${band.entry})` : ""}`;
    return { ...plain(`slowdown.${band.entry}.${band.number}.${statistic}`, title, "", "lower"), band, statistic };
  }));
}
