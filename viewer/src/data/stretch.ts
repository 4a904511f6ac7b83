/** A stretch of time that a person has chosen, and what a run did in it. */

import { TOGETHER, type Metric, type Run } from "./run";

export interface Span {
  from_s: number;
  to_s: number;
}

/** What has frames: a run, or two on one clock. */
export interface Clock {
  frames: number;
  timeOf(frame: number): number;
  frameOf(time_s: number): number;
}

/** The frames that a stretch touches: the first, and the one after the last. */
export function framesOf(clock: Clock, { from_s, to_s }: Span): [number, number] {
  const first = clock.frameOf(from_s);
  const last = clock.frameOf(to_s);
  // a stretch that ends with a frame does not touch the next
  const touched = to_s - clock.timeOf(last) > 1e-6 * (clock.timeOf(last + 1) - clock.timeOf(last));
  return [first, Math.min(clock.frames, Math.max(first + 1, last + (touched ? 1 : 0)))];
}

/** A stretch with its ends in order and within a run; null where nothing of it is. */
export function spanBetween(run: Run, one_s: number, other_s: number): Span | null {
  const from_s = Math.max(run.timeline.start_s, Math.min(one_s, other_s));
  const to_s = Math.min(run.end_s, Math.max(one_s, other_s));
  return to_s > from_s ? { from_s, to_s } : null;
}

/** A metric of each port over frames: the largest of largest queues, means of shares, sums of packets. */
export function portsOver(run: Run, metric: Metric, [first, last]: [number, number]): Float64Array {
  const over = new Float64Array(run.timeline.ports.length);
  const way = TOGETHER[metric];
  run.each(metric, first, last, (port, _, value) => {
    if (way !== "most") over[port]! += value;
    else if (value > over[port]!) over[port] = value;
  });
  if (way === "mean") for (let port = 0; port < over.length; port++) over[port]! /= last - first;
  return over;
}

/** Those with the largest values, the largest first; those with none are left out. */
export function worst(values: ArrayLike<number>, most: number): { at: number; value: number }[] {
  const found: { at: number; value: number }[] = [];
  for (let at = 0; at < values.length; at++) {
    const value = values[at]!;
    if (!(value > 0) || (found.length === most && value <= found.at(-1)!.value)) continue;
    let place = found.length;
    while (place > 0 && found[place - 1]!.value < value) place--;
    found.splice(place, 0, { at, value });
    if (found.length > most) found.pop();
  }
  return found;
}

export interface Figures {
  /** Frames that it touches, over which all is taken. */
  frames: [number, number];
  marks: number;
  drops: number;
  pauses: number;
  /** The largest queue, and the port that has it; null where all queues are empty. */
  largest: { at: number; value: number } | null;
  /** What flows delivered together and which of them most; null where it is not recorded. */
  delivered_bytes: number | null;
  flows: { at: number; value: number }[];
  /** Ports with most of the metric. */
  ports: { at: number; value: number }[];
  /** How many events of each kind begin in it. */
  events: [string, number][];
}

/** Rows of a list of the worst. */
const ROWS = 8;

/** What happened in a stretch, over all of the frames that it touches. */
export function figuresOf(run: Run, metric: Metric, span: Span): Figures {
  const frames = framesOf(run, span);
  const sum = (name: Metric) => {
    let all = 0;
    run.each(name, ...frames, (_, __, value) => { all += value; });
    return all;
  };
  const delivered = deliveredOver(run, frames);
  const [from_s, to_s] = [run.timeOf(frames[0]), run.timeOf(frames[1])];
  const events = new Map<string, number>();
  for (const event of run.events) {
    if (event.time_s >= from_s && event.time_s < to_s) events.set(event.kind, (events.get(event.kind) ?? 0) + 1);
  }
  return {
    frames, marks: sum("marks"), drops: sum("drops"), pauses: sum("pauses"),
    largest: worst(portsOver(run, "queue_max_bytes", frames), 1)[0] ?? null,
    delivered_bytes: delivered?.reduce((all, own) => all + own, 0) ?? null, flows: worst(delivered ?? [], ROWS),
    ports: worst(portsOver(run, metric, frames), ROWS), events: [...events].sort(([a], [b]) => a.localeCompare(b)),
  };
}

/** What each flow delivered in frames; null where it is not recorded. */
function deliveredOver(run: Run, [first, last]: [number, number]): Float64Array | null {
  const { byFlow } = run;
  if (!byFlow?.has("delivered_bytes")) return null;
  let flows = run.flowCount;
  for (const own of byFlow.blocks.at(-1)!.values("flow")) if (own >= flows) flows = own + 1;
  const over = new Float64Array(flows);
  for (const block of byFlow.blocks) {
    const [starts, flow, bytes] = [block.values("starts"), block.values("flow"), block.values("delivered_bytes")];
    for (let row = starts[first]!; row < starts[last]!; row++) {
      const own = bytes[row]!;
      if (!Number.isNaN(own)) over[flow[row]!]! += own;
    }
  }
  return over;
}
