/** What ranks of jobs do over time: calculations, messages under way, waiting (python/incast/runs/lanes.py). */

import { seconds, short } from "./format";
import type { Run } from "./run";
import type { Span } from "./stretch";
import { text } from "./unpack";

/** A calculation; a message under way and no calculation; neither. */
export const DOINGS = ["calculation", "exposed communication", "waiting"] as const;
export type Doing = (typeof DOINGS)[number];

/** A stretch of time in which a rank does the same. */
export interface Stretch extends Span {
  doing: Doing;
  /** Whether a message from or to the rank is under way, beside a calculation or not. */
  under: boolean;
}

/** An iteration of a rank, or of all ranks of a job. */
export interface Iteration extends Span {
  number: number;
  /** Whether it ended in the run. */
  ended: boolean;
}

/** A rank. Its calculations and messages are rows of the table of tasks, in the order of their starts. */
export interface Lane {
  job: string;
  rank: number;
  host: number;
  iterations: Iteration[];
  calculations: number[];
  messages: number[];
  stretches: Stretch[];
}

/** A job: its iterations from the first start of a rank to the last end, and the rank that ends last. */
export interface Job {
  name: string;
  iterations: (Iteration & { last: number })[];
  lanes: Lane[];
}

const isKnown = (value: number) => !Number.isNaN(value);

/** Stretches of a rank within its iterations, in order; neighbours differ. */
export function stretchesOf(iterations: Span[], calculations: Span[], messages: Span[]): Stretch[] {
  const changes: [number, 0 | 1 | 2, 1 | -1][] = [];
  [iterations, calculations, messages].forEach((spans, what) => {
    for (const { from_s, to_s } of spans) {
      if (to_s > from_s) changes.push([from_s, what as 0 | 1 | 2, 1], [to_s, what as 0 | 1 | 2, -1]);
    }
  });
  changes.sort((a, b) => a[0] - b[0]);
  const found: Stretch[] = [];
  const open = [0, 0, 0];
  let before = -Infinity;
  for (const [at_s, what, step] of changes) {
    if (at_s > before && open[0]! > 0) {
      const doing = open[1]! > 0 ? DOINGS[0] : open[2]! > 0 ? DOINGS[1] : DOINGS[2];
      const under = open[2]! > 0;
      const last = found.at(-1);
      if (last?.doing === doing && last.under === under && last.to_s === before) last.to_s = at_s;
      else found.push({ from_s: before, to_s: at_s, doing, under });
    }
    before = at_s;
    open[what]! += step;
  }
  return found;
}

/** Lanes of all ranks whose tasks are recorded. */
export class Lanes {
  readonly jobs: Job[] = [];
  /** Starts and ends of all tasks' spans, by row; NaN before they are known. */
  private readonly from: Float64Array;
  private readonly to: Float64Array;

  constructor(readonly run: Run) {
    const { ranks, tasks } = run.tables;
    const count = ranks && tasks ? tasks.values("task").length : 0;
    [this.from, this.to] = [new Float64Array(count), new Float64Array(count)];
    if (!ranks || !tasks) return;
    const jobs = new Map<string, Job>();
    const lanes = new Map<string, Lane>();
    const [rank, host, iteration, start, finish] = ["rank", "host", "iteration", "start_s", "finish_s"].map(
      (name) => ranks.values(name));
    rank!.forEach((own, row) => {
      const name = text(ranks.get("job"), row);
      let job = jobs.get(name);
      if (!job) jobs.set(name, job = { name, iterations: [], lanes: [] });
      let lane = lanes.get(`${own} ${name}`);
      if (!lane) {
        lane = { job: name, rank: own, host: host![row]!, iterations: [], calculations: [], messages: [],
          stretches: [] };
        lanes.set(`${own} ${name}`, lane);
        job.lanes.push(lane);
      }
      const ended = isKnown(finish![row]!);
      const mine = { number: iteration![row]!, from_s: start![row]!, to_s: ended ? finish![row]! : run.end_s, ended };
      lane.iterations.push(mine);
      const all = job.iterations[mine.number];
      if (!all) job.iterations[mine.number] = { ...mine, last: own };
      else {
        if (mine.to_s > all.to_s || (all.ended && !ended)) all.last = own;
        all.from_s = Math.min(all.from_s, mine.from_s);
        all.to_s = Math.max(all.to_s, mine.to_s);
        all.ended &&= ended;
      }
    });
    this.take(lanes);
    for (const job of jobs.values()) {
      job.iterations = job.iterations.filter(Boolean);
      job.lanes = job.lanes.filter(({ calculations, messages }) => calculations.length + messages.length > 0);
      if (job.lanes.length) this.jobs.push(job);
    }
  }

  /** Number of lanes. */
  get count(): number {
    return this.jobs.reduce((sum, { lanes }) => sum + lanes.length, 0);
  }

  /** Start and end of a calculation, or of the time in which the message of a task is under way. */
  spanOf(row: number): Span {
    return { from_s: this.from[row]!, to_s: this.to[row]! };
  }

  private take(lanes: Map<string, Lane>): void {
    const tasks = this.run.tables.tasks!;
    const [names, kinds] = [tasks.get("job")!, tasks.get("kind")!];
    const times = ["", "message_"].map((what) => (
      [tasks.values(`${what}start_s`), tasks.values(`${what}finish_s`)] as const));
    tasks.values("rank").forEach((rank, row) => {
      const lane = lanes.get(`${rank} ${text(names, row)}`);
      const kind = text(kinds, row);
      const [starts, ends] = times[kind === "calc" ? 0 : 1]!;
      this.from[row] = starts[row]!;
      this.to[row] = isKnown(ends[row]!) ? ends[row]! : this.run.end_s;
      if (!lane || !isKnown(starts[row]!)) return;
      if (kind === "calc") lane.calculations.push(row);
      else if (kind === "send" || kind === "recv") lane.messages.push(row);
    });
    for (const lane of lanes.values()) {
      for (const rows of [lane.calculations, lane.messages]) {
        rows.sort((a, b) => this.from[a]! - this.from[b]! || a - b);
      }
      const spans = (rows: number[]) => rows.map((row) => this.spanOf(row));
      lane.stretches = stretchesOf(lane.iterations, spans(lane.calculations), spans(lane.messages));
    }
  }

  /** Rows of the calculations and messages of a lane that are under way at a time. */
  at(lane: Lane, time_s: number): { calculations: number[]; messages: number[] } {
    const own = (rows: number[]) => rows.filter((row) => this.from[row]! <= time_s && time_s < this.to[row]!);
    return { calculations: own(lane.calculations), messages: own(lane.messages) };
  }

  /** A task in words: what it is, its bytes and its times. */
  said(row: number): string {
    const tasks = this.run.tables.tasks!;
    const value = (name: string) => tasks.values(name)[row]!;
    const kind = text(tasks.get("kind"), row);
    const { from_s, to_s } = this.spanOf(row);
    const peer = isKnown(value("peer")) ? `rank ${value("peer")}` : "any rank";
    const what = kind === "calc" ? `calculation on stream ${value("stream")}`
      : `${short(value("bytes"), "B")} ${kind === "send" ? "to" : "from"} ${peer}, tag ${value("tag")}`;
    const ends = isKnown(value(kind === "calc" ? "finish_s" : "message_finish_s"));
    const until = ends ? `to ${seconds(to_s)} (${short(to_s - from_s, "s")})` : "to the end of the run";
    return `${what}: task ${value("task")} of iteration ${value("iteration")}, ${seconds(from_s)} ${until}`;
  }
}

/** What a rank does at a time; null outside its iterations. */
export function doingAt({ stretches }: Lane, time_s: number): Stretch | null {
  let [low, high] = [0, stretches.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (stretches[middle]!.from_s <= time_s) low = middle + 1;
    else high = middle;
  }
  const found = stretches[low - 1];
  return found && time_s < found.to_s ? found : null;
}

/** Time of a lane by what it does, within a stretch of time. */
export function sharesOf({ stretches }: Lane, { from_s, to_s }: Span): Record<Doing, number> {
  const shares: Record<Doing, number> = { calculation: 0, "exposed communication": 0, waiting: 0 };
  for (const own of stretches) {
    shares[own.doing] += Math.max(0, Math.min(to_s, own.to_s) - Math.max(from_s, own.from_s));
  }
  return shares;
}

/** The port of a host to its first neighbour; null without one. */
export function linkOfHost(run: Run, host: number): number | null {
  const port = run.timeline.ports.findIndex(({ from }) => from === host);
  return port < 0 ? null : port;
}

const kept = new WeakMap<Run, Lanes>();

/** The lanes of a run, once its tasks are read. */
export function lanesOf(run: Run): Lanes {
  let found = kept.get(run);
  if (!found) kept.set(run, found = new Lanes(run));
  return found;
}
