/** What a page shows when it is opened at an address. */

import type { Pin } from "../data/need";
import type { Run } from "../data/run";
import { spanBetween, type Span } from "../data/stretch";
import type { Moment, Note } from "../time/link";

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

const NO_NOTES: Note[] = [];

/** Those at times of a run; themselves where all are. */
function notesWithin(run: Run, notes: Note[] = NO_NOTES): Note[] {
  const there = notes.filter(({ time_s }) => time_s >= run.timeline.start_s && time_s <= run.end_s);
  return there.length === notes.length ? notes : there;
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
    pins: pinsWithin(own, asked.pins), notes: notesWithin(clock, asked.notes), tab: asked.tab ?? null,
  };
}
