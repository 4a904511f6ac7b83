/** Two runs on one clock: what the second has more of than the first, or less. */

import { TOGETHER, type Metric, type Run } from "./run";

export class Pair {
  /** The first run's port for one of the second; -1 where it has none of that name. */
  private readonly ofFirst: Int32Array;
  /** Why nothing can be taken from one another; empty where it can. */
  readonly why: string;
  readonly frame_s: number;
  /** Frames of this length until both runs are over; a run that is over has nothing in its queues. */
  readonly frames: number;
  /** Ports that only one of both has: of these nothing is compared. */
  readonly alone: number;
  private readonly steps: [number, number];
  private readonly most = new Map<Metric, { worst: Float64Array; largest: number }>();

  constructor(readonly first: Run, readonly second: Run) {
    this.ofFirst = Int32Array.from(second.names, (name) => first.portNamed(name) ?? -1);
    const shared = this.ofFirst.reduce((sum, own) => sum + (own < 0 ? 0 : 1), 0);
    this.alone = first.names.length + second.names.length - 2 * shared;
    this.frame_s = Math.max(first.timeline.frame_s, second.timeline.frame_s);
    const ratios = [this.frame_s / first.timeline.frame_s, this.frame_s / second.timeline.frame_s] as const;
    this.steps = [Math.round(ratios[0]), Math.round(ratios[1])];
    const whole = ratios.every((ratio) => Math.abs(ratio - Math.round(ratio)) < 1e-6 * ratio);
    this.frames = Math.max(Math.ceil(first.frames / this.steps[0]), Math.ceil(second.frames / this.steps[1]));
    this.why = shared === 0 ? "they have no port of the same name"
      : first.timeline.start_s !== second.timeline.start_s ? "their timelines begin at different times"
        : whole ? "" : "their frame lengths do not match: give both the same measure.timeline";
  }

  /** The run whose end is later: its clock is that of both. */
  get longer(): Run {
    return this.second.end_s > this.first.end_s ? this.second : this.first;
  }

  /** The first run's port for one of the second. */
  firstOf(port: number | null): number | null {
    const own = port === null ? -1 : this.ofFirst[port] ?? -1;
    return own < 0 ? null : own;
  }

  /** The second run's port for one of the first. */
  secondOf(port: number | null): number | null {
    return port === null ? null : this.second.portNamed(this.first.names[port]!);
  }

  timeOf(frame: number): number {
    return this.first.timeline.start_s + frame * this.frame_s;
  }

  frameOf(time_s: number): number {
    const frame = Math.floor((time_s - this.first.timeline.start_s) / this.frame_s + 1e-9);
    return Math.min(this.frames - 1, Math.max(0, frame));
  }

  /**
   * The second run less the first in a frame, by the first's ports, added to a list that the caller keeps clear; a port
   * is told once or twice.
   */
  private gather(metric: Metric, frame: number, into: Float64Array, told: (port: number) => void): void {
    const way = TOGETHER[metric];
    for (const [side, run] of [this.first, this.second].entries()) {
      const step = this.steps[side]!;
      const sign = side ? 1 : -1;
      const own = new Map<number, number>();
      run.each(metric, frame * step, (frame + 1) * step, (there, _, value) => {
        const port = side ? this.ofFirst[there]! : there;
        if (port < 0) return;
        if (step === 1) {
          into[port]! += sign * value;
          told(port);
          return;
        }
        const before = own.get(port) ?? 0;
        own.set(port, way === "most" ? Math.max(before, value) : before + (way === "mean" ? value / step : value));
      });
      for (const [port, value] of own) {
        into[port]! += sign * value;
        told(port);
      }
    }
  }

  /** Every port and frame with a figure in one of both runs, and the second's less the first's. */
  each(
    metric: Metric, frame0: number, frame1: number, take: (port: number, frame: number, less: number) => void,
  ): void {
    const less = new Float64Array(this.first.names.length);
    for (let frame = Math.max(0, frame0); frame < Math.min(this.frames, frame1); frame++) {
      const touched: number[] = [];
      this.gather(metric, frame, less, (port) => { touched.push(port); });
      for (const port of touched) {
        if (less[port]) take(port, frame, less[port]);
        less[port] = 0;
      }
    }
  }

  /** The second's figure less the first's of one port in one frame. */
  at(metric: Metric, port: number, frame: number): number {
    let found = 0;
    this.each(metric, frame, frame + 1, (own, _, less) => { if (own === port) found = less; });
    return found;
  }

  private over(metric: Metric): { worst: Float64Array; largest: number } {
    let found = this.most.get(metric);
    if (!found) {
      const worst = new Float64Array(this.first.names.length);
      this.each(metric, 0, this.frames, (port, _, less) => { worst[port] = Math.max(worst[port]!, Math.abs(less)); });
      found = { worst, largest: worst.reduce((most, own) => Math.max(most, own), 0) };
      this.most.set(metric, found);
    }
    return found;
  }

  /** The largest difference of each port, either way. */
  worstOf(metric: Metric): Float64Array {
    return this.over(metric).worst;
  }

  largestOf(metric: Metric): number {
    return this.over(metric).largest;
  }
}
