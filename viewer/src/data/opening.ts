/** The moment at which a page opens that is not asked for another: where most is to be seen. */

import type { Metric, Run } from "./run";
import type { Pair } from "./pair";

export interface Opening {
  frame: number;
  /** The port with the largest figure, or difference, either way. */
  port: number;
  value: number;
}

/**
 * The frame with the largest figure of a port, either way; of several such frames that with most of all ports together,
 * and of these the first. Null where nothing is recorded.
 */
export function openingOf(source: Pick<Run | Pair, "each">, frames: number, metric: Metric): Opening | null {
  const known = found.get(source) ?? new Map<Metric, Opening | null>();
  found.set(source, known);
  if (!known.has(metric)) known.set(metric, sought(source, frames, metric));
  return known.get(metric)!;
}

/** What was found: all panes of a page ask. */
const found = new WeakMap<object, Map<Metric, Opening | null>>();

function sought(source: Pick<Run | Pair, "each">, frames: number, metric: Metric): Opening | null {
  const [most, ports, sums] = [new Float64Array(frames), new Uint32Array(frames), new Float64Array(frames)];
  source.each(metric, 0, frames, (port, frame, figure) => {
    const value = Math.abs(figure);
    sums[frame]! += value;
    if (value > most[frame]!) [most[frame], ports[frame]] = [value, port];
  });
  let best = 0;
  for (let frame = 1; frame < frames; frame++) {
    const more = most[frame]! - most[best]!;
    if (more > 0 || (more === 0 && sums[frame]! > sums[best]!)) best = frame;
  }
  return most[best]! > 0 ? { frame: best, port: ports[best]!, value: most[best]! } : null;
}
