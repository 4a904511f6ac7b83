/** A run as the rooms above read it. Every figure is the one of the run folder. */

import { columns, json, text, type Columns, type Numbers, type Packed, type Source } from "./unpack";

export interface Node {
  name: string;
  kind: string;
  tier: number;
  pod: number | null;
  x?: number | null;
  y?: number | null;
}

export interface Timeline {
  label: string;
  frame_s: number;
  frames: number;
  start_s: number;
  end_s?: number;
  nodes: Node[];
  ports: { from: number; to: number }[];
}

export interface Described {
  timeline: number;
  ports: Record<string, Packed>;
  records: Record<string, Packed>;
  flows: Record<string, Packed> | null;
  by_flow: Record<string, Packed> | null;
  events: Record<string, Packed> | null;
  paths: Record<string, Packed> | null;
  /** Those of traced flows; absent of a run without. */
  packets?: { until_s: number | null; columns: Record<string, Packed> } | null;
  series: { names: number; starts: Packed; time_s: Packed; value: Packed } | null;
  missing: number;
}

export interface Series {
  names: [string, string][];
  starts: Numbers;
  time_s: Numbers;
  value: Numbers;
}

export interface Event {
  time_s: number;
  kind: string;
  what: string;
  subject: number;
}

/** What is recorded of a port in a frame; `undefined` for a port of which nothing was: all of it is 0. */
export type PortFigures = Record<Metric, number>;

export const METRICS = [
  "queue_max_bytes", "queue_mean_bytes", "busy", "marks", "drops", "pauses", "paused",
] as const;
export type Metric = (typeof METRICS)[number];

/** How the figures of frames become one of all of them together. */
export const TOGETHER: Record<Metric, "most" | "mean" | "sum"> = {
  queue_max_bytes: "most", queue_mean_bytes: "mean", busy: "mean", paused: "mean", marks: "sum", drops: "sum",
  pauses: "sum",
};

const NOTHING: PortFigures = {
  queue_max_bytes: 0, queue_mean_bytes: 0, busy: 0, marks: 0, drops: 0, pauses: 0, paused: 0,
};

export class Run {
  readonly names: string[];
  /** Events in the order of their times. */
  readonly events: Event[];
  private readonly largest = new Map<Metric, number>();
  private readonly worst = new Map<Metric, Float64Array>();
  /** What was asked for last: it is asked for in every frame. */
  private lastOn: { port: number; flows: number[] } = { port: -1, flows: [] };

  constructor(
    readonly timeline: Timeline,
    readonly ports: Columns,
    readonly records: Columns,
    readonly flows: Columns | null,
    readonly byFlow: Columns | null,
    events: Columns | null,
    readonly paths: Columns | null,
    readonly series: Series | null,
    readonly missing: string[],
    /** Packets of traced flows, and from when on they are left out. */
    readonly packets: { until_s: number | null; columns: Columns } | null = null,
  ) {
    const port = ports.port;
    const { nodes } = timeline;
    this.names = timeline.ports.map((link, i) =>
      port?.texts ? port.texts[port.values[i]!]! : `${nodes[link.from]!.name}>${nodes[link.to]!.name}`);
    this.events = [];
    const time = events?.time_s;
    if (events && time) {
      for (let i = 0; i < time.values.length; i++) {
        this.events.push({
          time_s: time.values[i]!, kind: text(events.kind, i), what: text(events.what, i),
          subject: events.subject?.values[i] ?? 0,
        });
      }
      this.events.sort((a, b) => a.time_s - b.time_s);
    }
  }

  get label(): string {
    return this.timeline.label;
  }

  get frames(): number {
    return this.timeline.frames;
  }

  get end_s(): number {
    return this.timeline.end_s ?? this.timeline.start_s + this.frames * this.timeline.frame_s;
  }

  /** The time at which a frame begins. */
  timeOf(frame: number): number {
    return this.timeline.start_s + frame * this.timeline.frame_s;
  }

  /** The frame that a time lies in; the first or last for a time outside. */
  frameOf(time_s: number): number {
    const frame = Math.floor((time_s - this.timeline.start_s) / this.timeline.frame_s + 1e-9);
    return Math.min(this.frames - 1, Math.max(0, frame));
  }

  /** The rows of records that belong to a frame. */
  rows(frame: number): [number, number] {
    const starts = this.records.starts!.values;
    return [starts[frame]!, starts[frame + 1]!];
  }

  metric(metric: Metric): Numbers {
    return this.records[metric]?.values ?? new Uint8Array(this.records.port!.values.length);
  }

  /** The figures of a port in a frame, exactly those recorded. */
  at(port: number, frame: number): PortFigures {
    const row = find(this.records.port!.values, ...this.rows(frame), port);
    if (row < 0) return NOTHING;
    return Object.fromEntries(METRICS.map((name) => [name, this.metric(name)[row]!])) as PortFigures;
  }

  /** Every record of the frames from one to before another. */
  each(
    metric: Metric, frame0: number, frame1: number, take: (port: number, frame: number, value: number) => void,
  ): void {
    const values = this.metric(metric);
    const ports = this.records.port!.values;
    for (let frame = Math.max(0, frame0); frame < Math.min(this.frames, frame1); frame++) {
      const [from, to] = this.rows(frame);
      for (let row = from; row < to; row++) take(ports[row]!, frame, values[row]!);
    }
  }

  /** A metric of every port in a frame, into a list that the caller keeps. */
  frameInto(metric: Metric, frame: number, into: Float64Array): void {
    into.fill(0);
    const [from, to] = this.rows(frame);
    const ports = this.records.port!.values;
    const values = this.metric(metric);
    for (let row = from; row < to; row++) into[ports[row]!] = values[row]!;
  }

  /** A metric of one port over all frames. */
  portOver(metric: Metric, port: number): Float64Array {
    const over = new Float64Array(this.frames);
    const values = this.metric(metric);
    const ports = this.records.port!.values;
    for (let frame = 0; frame < this.frames; frame++) {
      const row = find(ports, ...this.rows(frame), port);
      if (row >= 0) over[frame] = values[row]!;
    }
    return over;
  }

  largestOf(metric: Metric): number {
    let largest = this.largest.get(metric);
    if (largest === undefined) {
      largest = 0;
      for (const value of this.metric(metric)) if (value > largest) largest = value;
      this.largest.set(metric, largest);
    }
    return largest;
  }

  /** The largest value of a metric at each port, over all frames. */
  worstOf(metric: Metric): Float64Array {
    let worst = this.worst.get(metric);
    if (!worst) {
      worst = new Float64Array(this.timeline.ports.length);
      const values = this.metric(metric);
      const ports = this.records.port!.values;
      for (let row = 0; row < ports.length; row++) {
        const port = ports[row]!;
        if (values[row]! > worst[port]!) worst[port] = values[row]!;
      }
      this.worst.set(metric, worst);
    }
    return worst;
  }

  get flowCount(): number {
    return this.flows?.flow?.values.length ?? 0;
  }

  /** The ports of a flow's path, in order. */
  pathOf(flow: number): number[] {
    const { paths } = this;
    if (!paths?.flow || !paths.port) return [];
    const path: [number, number][] = [];
    paths.flow.values.forEach((own, row) => {
      if (own === flow) path.push([paths.position?.values[row] ?? row, paths.port!.values[row]!]);
    });
    return path.sort((a, b) => a[0] - b[0]).map(([, port]) => port);
  }

  /** The flows whose paths lead over a port. */
  flowsOn(port: number): number[] {
    const { paths } = this;
    if (!paths?.flow || !paths.port) return [];
    if (this.lastOn.port === port) return this.lastOn.flows;
    const flows = new Set<number>();
    paths.port.values.forEach((own, row) => { if (own === port) flows.add(paths.flow!.values[row]!); });
    this.lastOn = { port, flows: [...flows].sort((a, b) => a - b) };
    return this.lastOn.flows;
  }

  /**
   * A column of a flow over the frames; NaN before it opens. Frames in which nothing of it changed have no row: nothing
   * was delivered in them, and the rest is as it was.
   */
  flowOver(name: string, flow: number): Float64Array {
    const over = new Float64Array(this.frames).fill(NaN);
    const column = this.byFlow?.[name];
    if (!this.byFlow || !column) return over;
    let last = NaN;
    const starts = this.byFlow.starts!.values;
    const flows = this.byFlow.flow!.values;
    for (let frame = 0; frame < this.frames; frame++) {
      const row = find(flows, starts[frame]!, starts[frame + 1]!, flow);
      if (row >= 0) last = column.values[row]!;
      else if (name === "delivered_bytes" && !Number.isNaN(last)) last = 0;
      over[frame] = last;
    }
    return over;
  }

  /** The last frame in which anything is recorded: a run may be quiet long before its end. */
  get busyFrames(): number {
    const ended = (starts: Numbers | undefined) => {
      let frame = this.frames;
      while (starts && frame > 0 && starts[frame] === starts[frame - 1]) frame--;
      return starts ? frame : 0;
    };
    const event = this.events.at(-1);
    return Math.max(1, ended(this.records.starts?.values), ended(this.byFlow?.starts?.values),
      event ? this.frameOf(event.time_s) + 1 : 0);
  }

  /** When the last of these frames ends. */
  get busyUntil_s(): number {
    return Math.min(this.end_s, this.timeOf(this.busyFrames));
  }

  /** The samples of an entity: name, times, values. */
  samplesOf(entity: string): { name: string; time_s: Numbers; value: Numbers }[] {
    const { series } = this;
    if (!series) return [];
    return series.names.flatMap(([whose, name], i) => {
      const from = series.starts[i]!;
      const to = series.starts[i + 1]!;
      return whose === entity
        ? [{ name, time_s: series.time_s.subarray(from, to), value: series.value.subarray(from, to) }] : [];
    });
  }

  /** The next event after a time (or before it, backwards). */
  eventFrom(time_s: number, step: 1 | -1): Event | undefined {
    const apart = this.timeline.frame_s * 1e-6;
    return step > 0 ? this.events.find((event) => event.time_s > time_s + apart)
      : this.events.findLast((event) => event.time_s < time_s - apart);
  }
}

/** The row between `from` and `to` in which an ascending list has a value; -1 where it has none. */
export function find(list: Numbers, from: number, to: number, value: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low < to && list[low] === value ? low : -1;
}

export async function read(source: Source, run: Described): Promise<Run> {
  const maybe = (packed: Record<string, Packed> | null) => (packed ? columns(source, packed) : null);
  const [timeline, ports, records, flows, byFlow, events, paths, missing] = await Promise.all([
    json(source, run.timeline), columns(source, run.ports), columns(source, run.records), maybe(run.flows),
    maybe(run.by_flow), maybe(run.events), maybe(run.paths), json(source, run.missing),
  ]);
  const packets = run.packets
    ? { until_s: run.packets.until_s, columns: await columns(source, run.packets.columns) } : null;
  let series: Series | null = null;
  if (run.series) {
    const { names, starts, time_s, value } = run.series;
    const parts = await columns(source, { starts, time_s, value });
    series = {
      names: (await json(source, names)) as [string, string][],
      starts: parts.starts!.values, time_s: parts.time_s!.values, value: parts.value!.values,
    };
  }
  return new Run(timeline as Timeline, ports, records, flows, byFlow, events, paths, series, missing as string[],
    packets);
}
