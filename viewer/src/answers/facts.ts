/** Facts about runs: the readings from which answers are derived, as `python/incast/answers/facts.py` has them. */

import type { Compared, Run } from "./compared";
import { ENOUGH, valuesOf, type Began, type Reading } from "./completions";
import { ACTIVE, measuresOf, readingAt, throughputOf, type Measure } from "./measures";
import type { Waits } from "./resolved";
import type { Readings } from "./ranking";

/** Timers of a run that are as long as the run, and the flows that may wait for them. */
export interface Timers extends Waits {
  /** Flows that never opened, if a lost SYN is not sent again within the run. */
  unopened: number;
  /** Flows that lost packets and are silent until the end, if no timeout is within the run. */
  lossy: number;
  flows: number;
}

/** Share of the flows that may wait. */
export function waiting({ unopened, lossy, flows }: Timers): number {
  return (unopened + lossy) / flows;
}

export interface Facts {
  /** Names; if all have the same figures, the first. */
  controllers: string[];
  seeds: number;
  measures: Measure[];
  /** By the measure's key; a controller without the figure is missing. */
  readings: Map<string, Readings>;
  /** The throughput that says how much a controller carries. */
  throughput: Readings;
  /** Finished and begun flows, queries and writes, and iterations of jobs. */
  began: Map<string, Began>;
  /** Groups of controllers with the same figures in every run. */
  alike: string[][];
  /** Timers of the run with the largest share of waiting flows; null if no flow waits for so long. */
  timers: Timers | null;
}

/** Readings of a measure by controller, without those that lack it under a seed. */
export function readingsOf({ readings, controllers, seeds }: Facts, { key }: Measure): Map<string, Reading> {
  const found = readings.get(key);
  return new Map(controllers.flatMap((name) => {
    const reading = found?.get(name);
    return reading?.low.size === seeds ? [[name, reading] as const] : [];
  }));
}

export function factsOf(compared: Compared): Facts {
  const { names } = compared;
  const measures = measuresOf(compared);
  const byName = (of: (controller: string) => Reading | null): Readings => (
    new Map([...names].flatMap(([text, name]) => {
      const found = of(text);
      return found ? [[name, found] as const] : [];
    })));
  // rates of the flows that finished say little where others did not
  const isKnown = (text: string, key: string) => key !== ACTIVE || isAllButFew(compared.began(text));
  const alike = compared.alike().map((group) => group.map((text) => names.get(text)!));
  const all = [...names.values()];
  const kept = alike[0]?.length === all.length ? all.slice(0, 1) : all;
  const began = [...names].filter(([, name]) => kept.includes(name));
  return {
    controllers: kept,
    seeds: compared.seeds,
    measures,
    readings: new Map(measures.map((measure) => [measure.key, byName((text) => (
      isKnown(text, measure.key) ? readingAt(compared, measure, text) : null))])),
    throughput: byName((text) => (
      compared.isJudgedByJobs ? null : compared.reading(text, throughputOf(compared)))),
    began: new Map(began.map(([text, name]) => [name, compared.began(text)])),
    alike,
    timers: timersOf(compared.runs),
  };
}

function isAllButFew(began: Began): boolean {
  return Object.values(began).every(([finished, count]) => finished >= ENOUGH * count);
}

/** Timers of the run in which the largest share of flows may wait for longer than the run lasts. */
function timersOf(runs: readonly Run[]): Timers | null {
  const found = runs.filter((run) => run.figure("queues.drops") || run.figure("queues.losses")).map(timersOfRun);
  return found.filter(waiting).reduce<Timers | null>((most, one) => (
    most && waiting(most) >= waiting(one) ? most : one), null);
}

function timersOfRun(run: Run): Timers {
  const { waits } = run.resolved;
  const { run_s, rto_s, syn_s } = waits;
  const found: Timers = { ...waits, unopened: 0, lossy: 0, flows: Math.max(1, run.figure("flows.count") ?? 0) };
  const { flows } = run.of.tables;
  if (!flows || Math.max(rto_s, syn_s) < run_s) return found;
  const column = (name: string) => valuesOf(flows, name);
  const [rates, starts, dropped] = [column("throughput_bps"), column("start_s"), column("dropped_total")];
  const isSilent = silence(column, run_s);
  for (let row = 0; row < flows.rows; row++) {
    const isOpen = !Number.isNaN(rates[row]);
    if (syn_s >= run_s && !isOpen && starts[row]! < run_s) found.unopened += 1;
    if (rto_s >= run_s && isOpen && dropped[row]! > 0 && isSilent(row)) found.lossy += 1;
  }
  return found;
}

/** Whether a flow misses data at the end of a run, but received nothing for longer than a round trip. */
function silence(column: (name: string) => Float64Array, end_s: number): (row: number) => boolean {
  const [finishes, stops, starts, last] = ["finish_s", "stopped_s", "start_s", "fm_last_rx_s"].map(column);
  const [written, delivered, rtts, delays] =
    ["written_bytes", "delivered_bytes", "idle_rtt_s", "delay_max_s"].map(column);
  return (row) => {
    if (!Number.isNaN(finishes![row]) || !Number.isNaN(stops![row]) || written![row]! <= delivered![row]!) return false;
    const last_s = Number.isNaN(last![row]) ? starts![row]! : last![row]!;
    return end_s - last_s > rtts![row]! + (delays![row] || 0);
  };
}
