/** What a page shows when it is opened at an address. */

import type { Run } from "../data/run";
import { spanBetween } from "../data/stretch";
import type { Moment } from "../time/link";

/** What an address asks for, within what the runs have. */
export function within(runs: Run[], asked: Partial<Moment>): Moment {
  const run = asked.run !== undefined && asked.run < runs.length ? asked.run : 0;
  const own = runs[run]!;
  // who gives two runs and no moment wants to see both
  const beside = asked.beside ?? (runs.length === 2 && !Object.keys(asked).length ? 1 : run);
  const other = beside === run ? undefined : runs[beside];
  // of two runs the one that ends later has the clock
  const clock = other && other.end_s > own.end_s ? other : own;
  const { span } = asked;
  return {
    run, beside: other ? beside : null, metric: asked.metric ?? "queue_max_bytes",
    time_s: clock.timeOf(clock.frameOf(asked.time_s ?? clock.timeline.start_s)),
    port: asked.port !== undefined && asked.port !== null && asked.port < own.timeline.ports.length ? asked.port : null,
    flow: asked.flow !== undefined && asked.flow !== null && asked.flow < own.flowCount ? asked.flow : null,
    span: span ? spanBetween(clock, span.from_s, span.to_s) : null,
  };
}
