/** Curves of an experiment: one a controller, of its first seed. */

import { lanesOf, type Job } from "../data/lanes";
import type { Run } from "../data/run";
import type { Span } from "../data/stretch";
import { deliveredOf, goodputOf } from "../data/rates";
import type { Curve } from "../panes/Plot";
import { numbersOf, type Table } from "../engine/wasm";
import { nameOf } from "./experiment";
import type { Finished, Growing } from "./runs";

export interface Drawn {
  key: string;
  title: string;
  unit: string;
  curves: Curve[];
}

function columnOf(table: Table | undefined, name: string): Float64Array {
  const column = table?.columns.find((own) => own.name === name);
  return column ? numbersOf(column) : new Float64Array();
}

/** Number of finished transfers over time. */
function completed(table: Table | undefined, ends: string, end_s: number): [Float64Array, Float64Array] | null {
  const finish = columnOf(table, ends).filter((time) => !Number.isNaN(time)).sort();
  if (!finish.length) return null;
  const times = Float64Array.from([0, ...finish, end_s]);
  return [times, Float64Array.from(times, (_, i) => Math.min(i, finish.length))];
}

/** Sum of a figure over all ports in each frame, or its largest value. */
function overPorts(run: Run, metric: "queue_max_bytes" | "marks" | "drops", together: "most" | "sum"): Float64Array {
  const over = new Float64Array(run.frames);
  run.each(metric, 0, run.frames, (_, frame, value) => {
    over[frame] = together === "sum" ? over[frame]! + value : Math.max(over[frame]!, value);
  });
  return over;
}

/** Distribution of completion times: the share that finished within a time. */
function distribution(table: Table | undefined, name: string): [Float64Array, Float64Array] | null {
  const all = columnOf(table, name);
  const times = all.filter((time) => !Number.isNaN(time)).sort();
  if (times.length < 5) return null;
  return [times, Float64Array.from(times, (_, i) => (100 * (i + 1)) / all.length)];
}

/** Iteration times of a job, each at the end of its iteration. */
function iterations({ iterations: all }: Job): [Float64Array, Float64Array] {
  const ended = all.filter((own) => own.ended);
  return [Float64Array.from(ended, (own) => own.to_s), Float64Array.from(ended, (own) => own.to_s - own.from_s)];
}

/** Iteration times of the jobs of all runs; the second job of a run is dashed. */
function overIterations(runs: (Finished & { run: Run })[], place: (controller: string) => number): Drawn | null {
  const curves = runs.flatMap(({ controller, run }) => {
    const { jobs } = lanesOf(run);
    return jobs.map((job, at): Curve => {
      const [time_s, values] = iterations(job);
      const label = jobs.length > 1 ? `${nameOf(controller)}, ${job.name}` : nameOf(controller);
      return { label, time_s, values, stepped: false, colour: place(controller), dashed: at > 0 };
    });
  });
  return curves.length ? { key: "iterations", title: "Iteration time", unit: "s", curves } : null;
}

/** Bytes delivered over time, also of runs that are under way. */
function delivered(
  runs: (Finished & { run: Run })[], growing: Map<string, Growing>, place: (controller: string) => number,
): Drawn | null {
  const curve = (controller: string, time_s: ArrayLike<number>, values: ArrayLike<number>): Curve => ({
    label: nameOf(controller), time_s: Float64Array.from(time_s), values: Float64Array.from(values), stepped: false,
    colour: place(controller) });
  const done = runs.flatMap(({ controller, run }) => {
    const found = deliveredOf(run);
    return found ? [curve(controller, ...found)] : [];
  });
  const under = [...growing].sort(([one], [other]) => place(one) - place(other));
  const curves = [...done, ...under.map(([controller, own]) => curve(controller, own.time_s, own.bytes))];
  return curves.length ? { key: "delivered", title: "Delivered", unit: "B", curves } : null;
}

/**
 * Curves that the finished runs carry, and those that are under way. `place` is that of each controller among the
 * chips.
 */
export function drawn(
  finished: Finished[], place: (controller: string) => number, growing = new Map<string, Growing>(),
): Drawn[] {
  const first = finished.filter((own): own is Finished & { run: Run } => own.run !== null);
  const made = (
    key: string, title: string, unit: string, of: (own: Finished & { run: Run }) => [Float64Array, Float64Array] | null,
  ): Drawn | null => {
    const curves = first.flatMap((own): Curve[] => {
      const found = of(own);
      return found ? [{ label: nameOf(own.controller), time_s: found[0], values: found[1], stepped: true,
        colour: place(own.controller) }] : [];
    });
    return curves.length ? { key, title, unit, curves } : null;
  };
  const times = (run: Run) => Float64Array.from({ length: run.frames }, (_, frame) => run.timeOf(frame));
  const over = (values: (run: Run) => Float64Array | null) => ({ run }: { run: Run }) => {
    const found = values(run);
    return found && [times(run), found] as [Float64Array, Float64Array];
  };
  const queries = first.some(({ tables }) => tables.queries?.rows);
  return [
    overIterations(first, place),
    queries ? made("queries", "Complete answers", "", ({ run, tables }) => (
      completed(tables.queries, "finish_s", run.end_s)))
      : made("flows", "Complete flows", "", ({ run, tables }) => completed(tables.flows, "finish_s", run.end_s)),
    made("queue", "Largest queue", "B", over((run) => overPorts(run, "queue_max_bytes", "most"))),
    delivered(first, growing, place),
    made("goodput", "Goodput of all flows", "b/s", over((run) => goodputOf(run))),
    made("marks", "Marks", "packets", over((run) => (
      run.metrics.includes("marks") && run.largestOf("marks") ? overPorts(run, "marks", "sum") : null))),
    made("drops", "Drops", "packets", over((run) => (
      run.metrics.includes("drops") && run.largestOf("drops") ? overPorts(run, "drops", "sum") : null))),
    made("fct", "Finished within a time", "%", ({ tables }) => distribution(tables.flows, "fct_s")),
  ].filter((own) => own !== null);
}

/** The stretch in which something happens, of all runs. */
export function busy(runs: Run[]): Span {
  const end = Math.max(...runs.map((run) => run.end_s));
  const until = Math.max(...runs.map((run) => run.busyUntil_s));
  return { from_s: 0, to_s: until > 0.8 * end ? end : until * 1.05 };
}

/** The latest time of growing curves, s; 0 without any. */
export const grownTo = (growing: Map<string, Growing>) => (
  Math.max(0, ...[...growing.values()].map(({ time_s }) => time_s.at(-1)!)));

/** What the axis of a plot shows: the stretch, or all times that transfers took. */
export function seenOf({ key, curves }: Drawn, stretch: Span): Span {
  if (key !== "fct") return stretch;
  return { from_s: 0, to_s: Math.max(...curves.map(({ time_s }) => time_s[time_s.length - 1] ?? 0)) * 1.02 };
}
