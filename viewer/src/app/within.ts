/** What a page shows when it is opened at an address. */

import type { Pin } from "../data/need";
import type { Run } from "../data/run";
import { spanBetween, type Span } from "../data/stretch";
import type { Moment } from "../time/link";

/** A stretch within a run; itself where all of it is. */
function spanWithin(run: Run, span: Span): Span | null {
  const found = spanBetween(run, span.from_s, span.to_s);
  return found?.from_s === span.from_s && found.to_s === span.to_s ? span : found;
}

const NO_PINS: Pin[] = [];

/** Those that a run has; themselves where it has all. */
function pinsWithin(run: Run, pins: Pin[] = NO_PINS): Pin[] {
  const there = pins.filter(({ what, at }) => at < (what === "port" ? run.timeline.ports.length : run.flowCount));
  return there.length === pins.length ? pins : there;
}

/** What is asked for, within what the runs have. */
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
    run, beside: other ? beside : null,
    metric: own.metrics.find((one) => one === asked.metric && (!other || other.metrics.includes(one)))
      ?? own.metrics.find((one) => !other || other.metrics.includes(one)) ?? own.metrics[0]!,
    time_s: clock.timeOf(clock.frameOf(asked.time_s ?? clock.timeline.start_s)),
    port: asked.port !== undefined && asked.port !== null && asked.port < own.timeline.ports.length ? asked.port : null,
    flow: asked.flow !== undefined && asked.flow !== null && asked.flow < own.flowCount ? asked.flow : null,
    span: span ? spanWithin(clock, span) : null,
    pins: pinsWithin(own, asked.pins), notes: asked.notes ?? [], tab: asked.tab ?? null,
  };
}
