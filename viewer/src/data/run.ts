/** A run as the rooms above read it. Every figure is the one of the run folder. */

import { find, Framed, type InBlocks } from "./framed";
import { Levels } from "./levels";
import { Columns, Damaged, json, text, type Numbers, type Source } from "./unpack";

export interface Node {
  name: string;
  kind: string;
  tier: number;
  pod: number | null;
  x?: number | null;
  y?: number | null;
}

export interface Timeline {
  frame_s: number;
  frames: number;
  start_s: number;
  end_s?: number;
  nodes: Node[];
  ports: { from: number; to: number }[];
}

/** The tables of a run; a folder may lack those that are null. */
export interface Tables<Table, Rows> {
  ports: Table;
  /** Rows of ports, frame by frame, and where each frame's rows begin. */
  records: Rows;
  flows: Table | null;
  /** The same of flows. */
  by_flow: Rows | null;
  events: Table | null;
  paths: Table | null;
  /** Samples, series by series: whose and what each is, and where its samples begin. */
  series: Table | null;
  /** Packets of traced flows. */
  packets: Table | null;
  /** The figure with which a page opens, pooled; large runs alone have it. */
  levels?: Table | null;
  /** Pauses of flow control with their causes, where they are recorded. */
  pauses?: Table | null;
  /** Tasks of ranks of jobs, where they are recorded, and iterations of ranks. */
  tasks?: Table | null;
  ranks?: Table | null;
  /** Collectives of jobs. */
  collectives?: Table | null;
}

type Names = { readonly [Name in keyof Tables<Columns, Framed>]?: readonly string[] };

/** Names of columns, of some tables. */
export interface Need extends Names {
  /** The port or flow of which rows of frames are needed alone. */
  readonly whose?: number;
}

/** Names of columns by table. */
export const columnsOf = (need: Need) => (
  Object.entries(need).filter(([name]) => name !== "whose") as [keyof Names, readonly string[]][]);

/** A table as a page tells of it: how many rows it has, where that is known, and where its columns are. */
interface Listed {
  rows: number | null;
  columns: Record<string, number>;
}

export interface Described extends Tables<Listed, InBlocks> {
  timeline: number;
  levels?: (Listed & { metric: Metric }) | null;
  /** What it is called, and what its folder lacks. */
  told: number;
}

export interface Event {
  time_s: number;
  kind: string;
  what: string;
  subject: number;
}

export const METRICS = [
  "queue_max_bytes", "queue_mean_bytes", "busy", "marks", "drops", "pauses", "paused",
] as const;
export type Metric = (typeof METRICS)[number];

/** How the figures of frames become one of all of them together. */
export const TOGETHER: Record<Metric, "most" | "mean" | "sum"> = {
  queue_max_bytes: "most", queue_mean_bytes: "mean", busy: "mean", paused: "mean", marks: "sum", drops: "sum",
  pauses: "sum",
};

/** What a run is: of its scenario and its summary, as far as the folder has them. */
export interface About {
  scenario?: string;
  /** The scenario's own words. */
  description?: string;
  seed?: number;
  /** Payload of a full packet: windows are told in packets of this size. */
  packet_bytes?: number;
  /** The measured interval. */
  from_s?: number;
  to_s?: number;
  /** Traffic classes of entries where pauses are recorded (null: several), and the most pauses of a record. */
  classes?: Record<string, number | null>;
  most_pauses?: number;
  /** Figures of the summary by name, such as `flows.goodput_total_bps`; those that are missing are not there. */
  figures?: Record<string, number>;
}

const NO_KINDS: ReadonlySet<string> = new Set();

export class Run {
  private named: string[] | null = null;
  private numbered: Map<string, number> | null = null;
  private happened: Event[] | null = null;
  private readonly largest = new Map<Metric, number>();
  private readonly worst = new Map<Metric, Float64Array>();
  /** Bits a second that leave and enter each node. */
  private ends: [Float64Array, Float64Array] | null = null;
  private readonly summed = new Map<Metric, Float64Array>();
  private readonly whole = new Set<Metric>();
  /** What was asked for last: it is asked for in every frame. */
  private lastOn: { port: number; flows: number[] } = { port: -1, flows: [] };

  constructor(
    readonly timeline: Timeline,
    readonly label: string,
    readonly missing: string[],
    readonly tables: Tables<Columns, Framed>,
    readonly about: About = {},
    readonly levels: Levels | null = null,
  ) {}

  /** Whether all of the columns are read that are needed. */
  isRead(need: Need): boolean {
    return columnsOf(need).every(([name, columns]) => !this.tables[name]?.unread(columns, need.whose).length);
  }

  /** Read those of them that are not. */
  async read(need: Need): Promise<void> {
    await Promise.all(columnsOf(need).map(([name, columns]) => this.tables[name]?.read(columns, need.whose)));
  }

  /** Those that are recorded: a folder may lack some. */
  get metrics(): Metric[] {
    return METRICS.filter((metric) => this.records.has(metric));
  }

  get records(): Framed {
    return this.tables.records;
  }

  get flows(): Columns | null {
    return this.tables.flows;
  }

  /** Whether a metric of all ports is read; until then levels may show it. */
  isWhole(metric: Metric): boolean {
    if (this.whole.has(metric)) return true;
    const whole = this.isRead({ records: ["starts", "port", metric] });
    if (whole) this.whole.add(metric);
    return whole;
  }

  /** Whether levels have a metric whose rows are not all read. */
  private pooled(metric: Metric): Levels | null {
    return this.levels?.metric === metric && this.levels.isRead && !this.isWhole(metric) ? this.levels : null;
  }

  /** Whether a metric is read: of all ports, or the levels. */
  shows(metric: Metric): boolean {
    return this.isWhole(metric) || this.pooled(metric) !== null;
  }

  /** Blocks of rows with a metric: all of them, or those of levels. */
  private blocksOf(metric: Metric): Columns[] {
    const levels = this.pooled(metric);
    return levels ? [levels.block] : this.records.blocks;
  }

  get byFlow(): Framed | null {
    return this.tables.by_flow;
  }

  /** Names of ports. */
  get names(): string[] {
    if (!this.named) {
      const port = this.tables.ports.get("port");
      const { nodes, ports } = this.timeline;
      this.named = ports.map((link, i) => (
        port ? text(port, i) : `${nodes[link.from]!.name}>${nodes[link.to]!.name}`));
    }
    return this.named;
  }

  /** The port of a name; null without. */
  portNamed(name: string): number | null {
    this.numbered ??= new Map(this.names.map((own, port) => [own, port]));
    return this.numbered.get(name) ?? null;
  }

  /** Events in the order of their times. */
  get events(): Event[] {
    if (!this.happened) {
      const { events } = this.tables;
      const subject = events?.values("subject");
      this.happened = Array.from(events?.values("time_s") ?? [], (time_s, i) => ({
        time_s, kind: text(events!.get("kind"), i), what: text(events!.get("what"), i), subject: subject?.[i] ?? 0,
      })).sort((a, b) => a.time_s - b.time_s);
    }
    return this.happened;
  }

  /** From when on packets are left out; null where all are there. */
  get packetsUntil_s(): number | null {
    return this.tables.packets?.values("until_s")[0] ?? null;
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

  /** A figure of a port in a frame, exactly as it was recorded; 0 where nothing was. */
  figure(metric: Metric, port: number, frame: number): number {
    const own = this.records.of(port);
    const levels = this.pooled(metric);
    const block = levels && own.unread(["starts", "port", metric]).length ? levels.block : own;
    const starts = block.values("starts");
    const row = find(block.values("port"), starts[frame]!, starts[frame + 1]!, port);
    return row < 0 ? 0 : metricOf(block, metric)[row]!;
  }

  /** Every record of the frames from one to before another; those of a frame in the order of their ports. */
  each(
    metric: Metric, frame0: number, frame1: number, take: (port: number, frame: number, value: number) => void,
  ): void {
    const [first, last] = [Math.max(0, frame0), Math.min(this.frames, frame1)];
    for (const block of this.blocksOf(metric)) {
      const [starts, ports, values] = [block.values("starts"), block.values("port"), metricOf(block, metric)];
      for (let frame = first, row = starts[first]!; frame < last; frame++) {
        for (const to = starts[frame + 1]!; row < to; row++) take(ports[row]!, frame, values[row]!);
      }
    }
  }

  /** A metric of every port in a frame, into a list that the caller keeps. */
  frameInto(metric: Metric, frame: number, into: Float64Array): void {
    into.fill(0);
    for (const block of this.blocksOf(metric)) {
      const [starts, ports, values] = [block.values("starts"), block.values("port"), metricOf(block, metric)];
      for (let row = starts[frame]!, to = starts[frame + 1]!; row < to; row++) into[ports[row]!] = values[row]!;
    }
  }

  /** A metric of one port over all frames. */
  portOver(metric: Metric, port: number): Float64Array {
    return Float64Array.from({ length: this.frames }, (_, frame) => this.figure(metric, port, frame));
  }

  largestOf(metric: Metric): number {
    let largest = this.largest.get(metric);
    if (largest === undefined) {
      largest = this.worstOf(metric).reduce((most, own) => Math.max(most, own), 0);
      this.largest.set(metric, largest);
    }
    return largest;
  }

  /** The largest value of a metric at each port, over all frames. */
  worstOf(metric: Metric): Float64Array {
    let worst = this.worst.get(metric);
    if (!worst) {
      const levels = this.pooled(metric);
      worst = levels ? Float64Array.from(levels.worst) : new Float64Array(this.timeline.ports.length);
      for (const block of levels ? [] : this.records.blocks) {
        const [ports, values] = [block.values("port"), metricOf(block, metric)];
        for (let row = 0; row < ports.length; row++) {
          const port = ports[row]!;
          if (values[row]! > worst[port]!) worst[port] = values[row]!;
        }
      }
      this.worst.set(metric, worst);
    }
    return worst;
  }

  /** A metric of all ports together, frame by frame. */
  totalOf(metric: Metric): Float64Array {
    let total = this.summed.get(metric);
    if (!total) {
      const levels = this.pooled(metric);
      const sums = levels ? Float64Array.from(levels.sums) : new Float64Array(this.frames);
      if (!levels) this.each(metric, 0, this.frames, (_, frame, value) => { sums[frame]! += value; });
      this.summed.set(metric, total = sums);
    }
    return total;
  }

  /** Bits a second of a port's link; NaN where it is not known, or has no limit. */
  rateOf(port: number): number {
    const rates = this.tables.ports;
    const rate = rates.has("rate_bps") ? rates.values("rate_bps")[port]! : NaN;
    return rate > 0 ? rate : NaN;
  }

  /** Bits a second that a flow's data can have at most: those of the links of its two ends; NaN where not known. */
  linkOf(flow: number): number {
    if (!this.ends) {
      const { nodes, ports } = this.timeline;
      const [out, into] = [new Float64Array(nodes.length), new Float64Array(nodes.length)];
      ports.forEach(({ from, to }, port) => {
        const rate = this.rateOf(port);
        out[from]! += rate;
        into[to]! += rate;
      });
      this.ends = [out, into];
    }
    const row = this.rowOf(flow);
    const rates = ["src", "dst"].map((side, i) => this.ends![i]![this.flows?.get(side)?.values[row] ?? -1] ?? NaN);
    const known = rates.filter((rate) => rate > 0);
    return known.length ? Math.min(...known) : NaN;
  }

  /** The row of a flow in its table; -1 where it has none. */
  rowOf(flow: number): number {
    const { flows } = this;
    if (!flows) return -1;
    const numbers = flows.values("flow");
    return numbers[flow] === flow ? flow : numbers.indexOf(flow as never);
  }

  get flowCount(): number {
    return this.flows?.rows ?? 0;
  }

  /** The ports of a flow's path, in order. */
  pathOf(flow: number): number[] {
    const { paths } = this.tables;
    if (!paths) return [];
    const [ports, position] = [paths.values("port"), paths.get("position")];
    const path: [number, number][] = [];
    paths.values("flow").forEach((own, row) => {
      if (own === flow) path.push([position?.values[row] ?? row, ports[row]!]);
    });
    return path.sort((a, b) => a[0] - b[0]).map(([, port]) => port);
  }

  /** The flows whose paths lead over a port. */
  flowsOn(port: number): number[] {
    const { paths } = this.tables;
    if (!paths) return [];
    if (this.lastOn.port === port) return this.lastOn.flows;
    const own = paths.values("flow");
    const flows = new Set<number>();
    paths.values("port").forEach((one, row) => { if (one === port) flows.add(own[row]!); });
    this.lastOn = { port, flows: [...flows].sort((a, b) => a - b) };
    return this.lastOn.flows;
  }

  /**
   * A column of a flow over the frames; NaN before it opens. Frames in which nothing of it changed have no row: nothing
   * was delivered in them, and the rest is as it was.
   */
  flowOver(name: string, flow: number): Float64Array {
    const over = new Float64Array(this.frames).fill(NaN);
    const block = this.byFlow?.of(flow);
    const column = block?.get(name);
    if (!block || !column) return over;
    let last = NaN;
    const [starts, flows] = [block.values("starts"), block.values("flow")];
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
    const ended = (rows: Framed | null) => {
      let frame = rows ? this.frames : 0;
      while (rows && frame > 0 && !rows.hasRows(frame - 1)) frame--;
      return frame;
    };
    const event = this.events.at(-1);
    const isThere = !this.levels?.isRead || this.isRead({ records: ["starts"], by_flow: ["starts"] });
    const busy = isThere ? Math.max(ended(this.records), ended(this.byFlow)) : this.levels!.busy;
    return Math.max(1, busy, event ? this.frameOf(event.time_s) + 1 : 0);
  }

  /** When the last of these frames ends. */
  get busyUntil_s(): number {
    return Math.min(this.end_s, this.timeOf(this.busyFrames));
  }

  /** The samples of an entity: name, times, values. */
  samplesOf(entity: string): { name: string; time_s: Numbers; value: Numbers }[] {
    const { series } = this.tables;
    if (!series) return [];
    const [starts, time_s, value] = [series.values("starts"), series.values("time_s"), series.values("value")];
    return Array.from({ length: series.values("entity").length }, (_, i) => i).flatMap((i) => {
      if (text(series.get("entity"), i) !== entity) return [];
      const [from, to] = [starts[i]!, starts[i + 1]!];
      const name = text(series.get("name"), i);
      return [{ name, time_s: time_s.subarray(from, to), value: value.subarray(from, to) }];
    });
  }

  /** The next event after a time (or before it, backwards), of kinds that are not hidden. */
  eventFrom(time_s: number, step: 1 | -1, hidden: ReadonlySet<string> = NO_KINDS): Event | undefined {
    const apart = this.timeline.frame_s * 1e-6;
    const shown = ({ kind }: Event) => !hidden.has(kind);
    return step > 0 ? this.events.find((event) => event.time_s > time_s + apart && shown(event))
      : this.events.findLast((event) => event.time_s < time_s - apart && shown(event));
  }
}

/** A metric of a block's rows. */
export function metricOf(block: Columns, metric: Metric): Numbers {
  return block.get(metric)?.values ?? new Uint8Array(block.values("port").length);
}

/** As python/incast/view/reading.py. */
const MOST_FRAMES = 2 ** 20;

/** Refuses what no run says of its frames and nodes, and what would be drawn without an end. */
function checked(timeline: Timeline, label: string): Timeline {
  const whole = (name: string, value: number, least: number, most: number) => {
    if (Number.isInteger(value) && value >= least && value <= most) return;
    const expected = most < least ? "there are no nodes" : `expected a whole number from ${least} to ${most}`;
    throw new Damaged(`timeline.json of ${label}: ${name} = ${JSON.stringify(value)}; ${expected}`);
  };
  const { frames, nodes, ports } = timeline;
  whole("frames", frames, 1, MOST_FRAMES);
  nodes.forEach(({ tier }, i) => { whole(`nodes.${i}.tier`, tier, 0, nodes.length); });
  ports.forEach(({ from, to }, i) => {
    whole(`ports.${i}.from`, from, 0, nodes.length - 1);
    whole(`ports.${i}.to`, to, 0, nodes.length - 1);
  });
  return timeline;
}

/** Tables of a run folder whose rows the page has under another name. */
const FILES: Partial<Record<keyof Described, string>> = {
  records: "timeline_ports", by_flow: "timeline_flows", events: "timeline_events", paths: "timeline_paths",
  series: "samples", packets: "trace",
};

/** A run whose columns are read when they are needed: its timeline, of which all is shown, is read at once. */
export async function opened(source: Source, run: Described): Promise<Run> {
  const [timeline, told] = await Promise.all([json(source, run.timeline), json(source, run.told)]);
  const { label, missing, about } = told as { label: string; missing: string[]; about?: About };
  const table = (own: Listed, name: string) => new Columns(own.columns, source, own.rows, `${name} of ${label}`);
  const maybe = (name: keyof Described) => {
    const own = run[name] as Listed | null | undefined;
    return own ? table(own, FILES[name] ?? name) : null;
  };
  const framed = (name: "records" | "by_flow") => {
    const own = run[name];
    return own && Framed.told(own, source, `${FILES[name]!} of ${label}`);
  };
  const levels = maybe("levels");
  return new Run(checked(timeline as Timeline, label), label, missing, {
    ports: table(run.ports, "ports"), records: framed("records")!, flows: maybe("flows"),
    by_flow: framed("by_flow"), events: maybe("events"), paths: maybe("paths"),
    series: maybe("series"), packets: maybe("packets"), levels,
    pauses: maybe("pauses"), tasks: maybe("tasks"), ranks: maybe("ranks"), collectives: maybe("collectives"),
  }, about, levels && new Levels(run.levels!.metric, levels));
}
