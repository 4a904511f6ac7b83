/** How fast a flow gets on. */

import type { Run } from "./run";

/** So many means a rate has over the busy part of a run, at most. */
const MEANS = 200;

/**
 * Frames over which a rate is a mean. A frame may be shorter than a packet, and bytes in order come at once where a gap
 * is filled: by single frames a rate would seem to be above the link's.
 */
export function spanOf(run: Run): number {
  return Math.max(1, Math.ceil(run.busyFrames / MEANS));
}

/** Bits a second that a flow delivered, by frames: the mean over each `span` of them. */
export function rateOf(run: Run, flow: number, span = spanOf(run)): Float64Array {
  const rate = run.flowOver("delivered_bytes", flow);
  for (let from = 0; from < rate.length; from += span) {
    const part = rate.subarray(from, from + span);
    const known = part.filter((bytes) => !Number.isNaN(bytes));
    const sum = known.reduce((all, bytes) => all + bytes, 0);
    part.fill(known.length ? (sum * 8) / (part.length * run.timeline.frame_s) : NaN);
  }
  return rate;
}
