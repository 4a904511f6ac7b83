/** How fast flows get on. */

import type { Run } from "./run";

/** So many means a rate has over the busy part of a run, at most. */
const MEANS = 100;

/** Frames over which a rate is a mean: a frame may be shorter than a packet. */
export function spanOf(run: Run): number {
  return Math.max(1, Math.ceil(run.busyFrames / MEANS));
}

/**
 * Moves bytes to the frames in which they can have arrived. A receiver delivers what waits behind a gap at once when
 * the gap is filled, but the bytes came before, no faster than the link: what a frame has above `most` is of the frames
 * before it, down to the first.
 */
export function spread(delivered: Float64Array, most: number): Float64Array {
  if (!(most > 0)) return delivered;
  for (let frame = delivered.length - 1; frame > 0; frame--) {
    const over = delivered[frame]! - most;
    if (!(over > 0) || Number.isNaN(delivered[frame - 1]!)) continue;
    delivered[frame] = most;
    delivered[frame - 1]! += over;
  }
  return delivered;
}

/** Bytes of a frame at a rate. */
const bytesOf = (run: Run, rate_bps: number) => (rate_bps * run.timeline.frame_s) / 8;

/** The means of each `span` frames of bytes, as bits a second. */
function means(run: Run, bytes: Float64Array, span: number): Float64Array {
  for (let from = 0; from < bytes.length; from += span) {
    const part = bytes.subarray(from, from + span);
    const known = part.filter((own) => !Number.isNaN(own));
    const sum = known.reduce((all, own) => all + own, 0);
    part.fill(known.length ? (sum * 8) / (part.length * run.timeline.frame_s) : NaN);
  }
  return bytes;
}

/** Bits a second that arrived of a flow, by frames: the mean over each `span` of them, at most its link's. */
export function rateOf(run: Run, flow: number, span = spanOf(run)): Float64Array {
  return means(run, spread(run.flowOver("delivered_bytes", flow), bytesOf(run, run.linkOf(flow))), span);
}

/**
 * Bits a second that all flows together can have at most: those of links into hosts at which flows end. Receivers of
 * one radio channel share its rate. NaN where a rate is not known.
 */
export function capacityOf(run: Run): number {
  const { nodes, ports } = run.timeline;
  const ends = new Set(run.flows?.has("dst") ? run.flows.values("dst") : []);
  const channels = new Map<number, number>();
  let sum = 0;
  ports.forEach(({ from, to }, port) => {
    if (!ends.has(to)) return;
    if (nodes[from]?.kind === "channel") channels.set(from, 0);
    else sum += run.rateOf(port);
  });
  ports.forEach(({ to }, port) => {
    if (channels.has(to)) channels.set(to, Math.max(channels.get(to)!, run.rateOf(port)));
  });
  channels.forEach((rate) => { sum += rate; });
  return sum;
}

/** Bytes that the receivers of all flows have delivered, from 0 at the beginning: times and sums. */
export function deliveredOf(run: Run): [Float64Array, Float64Array] | null {
  const { byFlow } = run;
  if (!byFlow?.has("delivered_bytes")) return null;
  const sums = new Float64Array(run.frames + 1);
  for (const block of byFlow.blocks) {
    const [starts, bytes] = [block.values("starts"), block.values("delivered_bytes")];
    for (let frame = 0; frame < run.frames; frame++) {
      for (let row = starts[frame]!; row < starts[frame + 1]!; row++) sums[frame + 1]! += bytes[row]! || 0;
    }
  }
  for (let frame = 0; frame < run.frames; frame++) sums[frame + 1]! += sums[frame]!;
  return [Float64Array.from(sums, (_, frame) => Math.min(run.end_s, run.timeOf(frame))), sums];
}

/** The same of all flows: each has at most its link's, and together they have at most what their receivers have. */
export function goodputOf(run: Run, span = spanOf(run)): Float64Array | null {
  const { byFlow } = run;
  if (!byFlow?.has("delivered_bytes")) return null;
  const total = new Float64Array(run.frames);
  for (const block of byFlow.blocks) {
    const [starts, flows, bytes] = [block.values("starts"), block.values("flow"), block.values("delivered_bytes")];
    const most = new Map<number, number>();
    let waits = new Map<number, number>();
    for (let frame = run.frames - 1; frame >= 0; frame--) {
      const before = new Map<number, number>();
      const take = (flow: number, own: number) => {
        let link = most.get(flow);
        if (link === undefined) most.set(flow, link = bytesOf(run, run.linkOf(flow)) || Infinity);
        const here = frame > 0 ? Math.min(own, link) : own;
        if (own > here) before.set(flow, own - here);
        total[frame]! += here;
      };
      for (let row = starts[frame]!; row < starts[frame + 1]!; row++) {
        const flow = flows[row]!;
        const own = (Number.isNaN(bytes[row]!) ? 0 : bytes[row]!) + (waits.get(flow) ?? 0);
        waits.delete(flow);
        take(flow, own);
      }
      waits.forEach((own, flow) => { take(flow, own); });
      waits = before;
    }
  }
  return means(run, spread(total, bytesOf(run, capacityOf(run))), span);
}
