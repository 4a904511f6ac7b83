/** What a heat map shows: a metric of one run, or what a second run has more of. */

import type { Pair } from "../data/pair";
import type { Metric, Run } from "../data/run";
import { figure, more, TITLES } from "../data/format";
import { diverging, scale, signed, step, type Colour } from "./palette";
import { peaksOf, raster, type Most, type Peak, type Raster, type Source, type Window } from "./raster";

export interface Field {
  /** The run that has its ports, in their order. */
  run: Run;
  title: string;
  /** The metric alone, in words. */
  what: string;
  frames: number;
  /** Those of them until nothing more is recorded. */
  busy: number;
  end_s: number;
  /** So many of its ports have all their rows read, the worst first; null: all. */
  first: number | null;
  /** What the worst port has most of. */
  worst: Float64Array;
  /** The same within frames, the last not included. */
  worstIn(frames: [number, number]): Float64Array;
  colours(ground: Colour): Uint8Array;
  timeOf(frame: number): number;
  frameOf(time_s: number): number;
  raster(rowOf: Uint32Array, seen: Window, most?: Most): Raster;
  /** Peaks of ports in frames, the last not included, the largest first. */
  peaks(ports: Set<number>, frames: [number, number]): Peak[];
  /** The port with the largest figure of a frame, either way; null where nothing is recorded. */
  worstAt(frame: number): number | null;
  /** The figure of a port in a frame, in words. */
  told(port: number, frame: number): string;
  /** Words at both ends and in the middle of the scale. */
  legend: [string, string, string];
}

/** The largest value of each port in frames, either way. */
function worstIn(source: Source, metric: Metric, ports: number, frames: [number, number]): Float64Array {
  const worst = new Float64Array(ports);
  source.each(metric, ...frames, (port, _, value) => { worst[port] = Math.max(worst[port]!, Math.abs(value)); });
  return worst;
}

function worstAt(source: Source, metric: Metric, frame: number): number | null {
  let [most, worst]: [number, number | null] = [0, null];
  source.each(metric, frame, frame + 1, (port, _, value) => {
    if (Math.abs(value) > most) [most, worst] = [Math.abs(value), port];
  });
  return worst;
}

/** A metric of a run; `largest` is the end of its scale. */
export function fieldOf(run: Run, metric: Metric, largest: number): Field {
  return {
    run, title: TITLES[metric], what: TITLES[metric], frames: run.frames, busy: run.busyFrames, end_s: run.end_s,
    worst: run.worstOf(metric), first: run.isWhole(metric) ? null : run.levels?.first ?? null,
    worstIn: (frames) => worstIn(run, metric, run.names.length, frames), colours: scale,
    timeOf: (frame) => run.timeOf(frame), frameOf: (time_s) => run.frameOf(time_s),
    legend: [figure(metric, 0), figure(metric, largest / 4), figure(metric, largest)],
    raster: (rowOf, seen, most) => raster(run, metric, rowOf, seen, (value) => step(value, largest), most),
    peaks: (ports, frames) => peaksOf(run, metric, ports, frames),
    worstAt: (frame) => worstAt(run, metric, frame),
    told: (port, frame) => figure(metric, run.figure(metric, port, frame)),
  };
}

/** A metric of the second run less the first's. */
export function differenceOf(pair: Pair, metric: Metric, names: [string, string]): Field {
  const largest = pair.largestOf(metric);
  return {
    run: pair.first, what: TITLES[metric], title: `${TITLES[metric]}, ${names[1]} minus ${names[0]}`,
    frames: pair.frames,
    busy: pair.frameOf(Math.max(pair.first.busyUntil_s, pair.second.busyUntil_s) - pair.frame_s / 2) + 1,
    end_s: pair.longer.end_s, worst: pair.worstOf(metric), first: null,
    worstIn: (frames) => worstIn(pair, metric, pair.first.names.length, frames), colours: diverging,
    timeOf: (frame) => pair.timeOf(frame), frameOf: (time_s) => pair.frameOf(time_s),
    legend: [`${names[0]}: ${more(metric, largest)}`, "equal", `${names[1]}: ${more(metric, largest)}`],
    raster: (rowOf, seen, most) => raster(pair, metric, rowOf, seen, (less) => signed(less, largest), most),
    peaks: (ports, frames) => peaksOf(pair, metric, ports, frames),
    worstAt: (frame) => worstAt(pair, metric, frame),
    told(port, frame) {
      const less = pair.at(metric, port, frame);
      return less ? `${figure(metric, Math.abs(less))} more in ${names[less > 0 ? 1 : 0]}` : "equal in both runs";
    },
  };
}
