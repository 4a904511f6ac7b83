/** Who paused whom: a tree from a victim to the ports that began it, as python/incast/pauses/tree.py grows it. */

import {
  add, classOf, lastAt, listOf, pausedOf, pausesOf, portOf, type Pause, type Paused, type Pauses,
} from "./pauses";
import type { Run } from "./run";
import { text } from "./unpack";

/** Least part of the time at the top that a branch of a tree has. */
export const LEAST = 0.01;
/** Most flows whose waits are added up in search of a victim. */
const MOST = 50;

/** A flow, its path and its life. */
export interface Flow {
  number: number;
  entry: string;
  start_s: number;
  end_s: number;
  /** Ports that all its data passes, from the sender on, and those that a part of it passes. */
  path: number[];
  some: number[];
  /** Traffic class; null if its packets may have several. */
  class_: number | null;
}

/** Begin, end and weight of an interval. */
export type Window = [number, number, number];

/** Flows of a run that opened, and those that pass each port. */
export class Flows {
  readonly all: Flow[] = [];
  readonly through = new Map<number, Flow[]>();
  private readonly numbered: Map<number, Flow>;

  constructor(run: Run) {
    const { flows, paths } = run.tables;
    const ways = new Map<number, [number, number, boolean][]>();
    const [port, position, sprayed] = ["port", "position", "sprayed"].map((name) => paths?.values(name));
    paths?.values("flow").forEach((flow, row) => {
      listOf(ways, flow).push([position?.[row] ?? row, port![row]!, Boolean(sprayed?.[row])]);
    });
    const [start, finish, stopped] = ["start_s", "finish_s", "stopped_s"].map((name) => flows?.values(name));
    const classes = run.about.classes ?? {};
    flows?.values("flow").forEach((number, row) => {
      const ends = [finish?.[row], stopped?.[row], run.end_s].filter((at) => at !== undefined && !Number.isNaN(at));
      const end_s = Math.min(...ends as number[]);
      // one that never opened has no begin
      if (!(start![row]! < end_s)) return;
      const own = (ways.get(number) ?? []).sort((a, b) => a[0] - b[0]);
      const entry = text(flows.get("group"), row);
      const parts = [false, true].map((is) => own.filter(([, , spray]) => spray === is).map(([, at]) => at));
      const flow = { number, entry, start_s: start![row]!, end_s, path: parts[0]!, some: parts[1]!,
        class_: classes[entry] ?? null };
      this.all.push(flow);
      for (const at of [...flow.path, ...flow.some]) listOf(this.through, at).push(flow);
    });
    this.numbered = new Map(this.all.map((flow) => [flow.number, flow]));
  }

  get(number: number): Flow | null {
    return this.numbered.get(number) ?? null;
  }
}

const known = new WeakMap<Run, Flows>();

/** The flows of a run, once flows and paths are read. */
export function flowsOf(run: Run): Flows {
  let found = known.get(run);
  if (!found) known.set(run, found = new Flows(run));
  return found;
}

/** What arrives at a congested port: flows, their hosts, and what these can send in multiples of its rate. */
export interface Arrivals {
  flows: number;
  hosts: number;
  /** Null without a limit. */
  times: number | null;
}

/** A port for which another waited, and those for which it waited itself. */
export interface Branch {
  port: number;
  class_: number;
  /** Time that the branch above waited for this port; at the top the time in which this port was paused. */
  waited_s: number;
  /** Part of the bytes above that waited for this port. */
  share: number;
  pauses: number;
  /** Part of `waited_s` in which this port was paused itself, and that for which ports beyond it are at fault. */
  paused_s: number;
  passed_s: number;
  first_s: number;
  last_s: number;
  /** When its first pause begins and its last one ends, within that time or not. */
  begun_s: number;
  stops_s: number;
  held: number;
  threshold: number;
  /** Time for which it is the root. */
  root_s: number;
  arrivals: Arrivals | null;
  /** Whether it is further up already: the ports wait for one another. */
  isRing: boolean;
  branches: Branch[];
  /** Branches with less than a part in a hundred of the whole time. */
  leftOut: number;
}

/** Why a flow or a port waited. */
export interface Explanation {
  flow: Flow | null;
  port: number | null;
  waited_s: number;
  of_s: number;
  branches: Branch[];
  /** Ports that began it, the one with the longest time first. */
  roots: [number, number][];
  arrivals: Arrivals | null;
}

const length = (windows: Iterable<Window>) => {
  let sum = 0;
  for (const [begin, end, weight] of windows) sum += (end - begin) * weight;
  return sum;
};

/** Calls with each pause and the part of the window that it covers. */
function covering(pauses: Pause[], window: Window, take: (pause: Pause, part: Window) => void): void {
  const [begin, end, weight] = window;
  for (let at = Math.max(lastAt(pauses, begin), 0); at < pauses.length && pauses[at]!.begin_s < end; at++) {
    const pause = pauses[at]!;
    const [low, high] = [Math.max(pause.begin_s, begin), Math.min(pause.end_s, end)];
    if (low < high) take(pause, [low, high, weight]);
  }
}

type Found = [Pause, Window][];

function overlaps(pauses: Pause[], windows: Window[]): Found {
  const found: Found = [];
  for (const window of windows) covering(pauses, window, (pause, part) => { found.push([pause, part]); });
  return found;
}

const lengthOf = (found: Found) => length(found.map(([, window]) => window));

/** The parts of windows in which no pause holds. */
function without(windows: Window[], pauses: Pause[]): Window[] {
  const left: Window[] = [];
  for (const window of windows) {
    let [begin] = window;
    const [, end, weight] = window;
    covering(pauses, window, (_, [low, high]) => {
      if (low > begin) left.push([begin, low, weight]);
      begin = Math.max(begin, high);
    });
    if (begin < end) left.push([begin, end, weight]);
  }
  return left;
}

/** The windows in which pauses are the fault of egress ports, weighted by their parts of the bytes. */
function beyondOf(found: Found, class_: number): Map<Paused, Window[]> {
  const beyond = new Map<Paused, Window[]>();
  for (const [{ waits }, [begin, end, weight]] of found) {
    let whole = 0;
    for (const held of waits.values()) whole += held;
    for (const [port, held] of waits) {
      listOf(beyond, pausedOf(port, class_)).push([begin, end, (weight * held) / whole]);
    }
  }
  return beyond;
}

const plain = (paused: Paused, waited_s: number, share: number): Branch => ({
  port: portOf(paused), class_: classOf(paused), waited_s, share, pauses: 0, paused_s: 0, passed_s: 0, first_s: 0,
  last_s: 0, begun_s: 0, stops_s: 0, held: 0, threshold: 0, root_s: 0, arrivals: null, isRing: false, branches: [],
  leftOut: 0,
});

/** Grows trees of pauses. */
class Grower {
  constructor(private readonly run: Run, private readonly pauses: Pauses, private readonly flows: Flows) {}

  branch(paused: Paused, windows: Window[]): Branch {
    const found = overlaps(this.pauses.of.get(paused) ?? [], windows);
    const top = lengthOf(found);
    const branch = { ...plain(paused, top, 1), paused_s: top };
    this.grow(branch, found, [paused], top * LEAST);
    return branch;
  }

  private grow(branch: Branch, found: Found, above: Paused[], least_s: number): void {
    if (!found.length) return;
    const pauses = new Set(found.map(([pause]) => pause));
    let most = found[0]![0];
    for (const pause of pauses) if (pause.held > most.held) most = pause;
    branch.pauses = pauses.size;
    branch.passed_s = lengthOf(found);
    branch.first_s = found[0]![1][0];
    branch.last_s = found.reduce((last, [, [, end]]) => Math.max(last, end), 0);
    branch.begun_s = found[0]![0].begin_s;
    branch.stops_s = found.reduce((last, [{ stop_s }]) => Math.max(last, stop_s), 0);
    [branch.held, branch.threshold] = [most.held, most.threshold];
    for (const [paused, windows] of beyondOf(found, branch.class_)) {
      const waited_s = length(windows);
      if (waited_s < least_s) {
        branch.leftOut++;
        continue;
      }
      const below = plain(paused, waited_s, waited_s / branch.passed_s);
      branch.branches.push(below);
      if (above.includes(paused)) {
        below.isRing = true;
        continue;
      }
      below.paused_s = lengthOf(overlaps(this.pauses.of.get(paused) ?? [], windows));
      this.grow(below, overlaps(this.pauses.lengthened.get(paused) ?? [], windows), [...above, paused], least_s);
      below.root_s = this.root(below, windows);
    }
    branch.branches.sort((a, b) => b.waited_s - a.waited_s || a.port - b.port);
  }

  /** Time for which a port is congested by its own arrivals. */
  private root(branch: Branch, windows: Window[]): number {
    const rest_s = Math.max(branch.waited_s - branch.passed_s, 0);
    const last_s = windows.reduce((last, [, end]) => Math.max(last, end), 0);
    branch.arrivals = this.arrivals(branch.port, windows[0]![0], last_s);
    const { times } = branch.arrivals;
    // what waits at a port that its flows cannot fill is left from its pauses
    if (branch.passed_s > 0 && times !== null && times <= 1) {
      lengthen(branch, branch.waited_s / branch.passed_s);
      branch.passed_s = branch.waited_s;
      return 0;
    }
    return rest_s;
  }

  private arrivals(port: number, begin_s: number, end_s: number): Arrivals {
    const flows = (this.flows.through.get(port) ?? []).filter((one) => one.start_s < end_s && one.end_s > begin_s);
    const hosts = new Set(flows.flatMap(({ path }) => path.slice(0, 1)));
    const before = new Set(flows.flatMap((flow) => this.before(flow, port)));
    const sums = [hosts, before].filter((links) => links.size).map((links) => {
      let sum = 0;
      // a port without a limit has no rate
      for (const link of links) sum += this.run.rateOf(link);
      return sum;
    }).filter((sum) => !Number.isNaN(sum));
    const times = Math.min(...sums) / this.run.rateOf(port);
    return { flows: flows.length, hosts: hosts.size, times: Number.isFinite(times) ? times : null };
  }

  /** The ports from which data of a flow comes to a port. */
  private before({ path, some }: Flow, port: number): number[] {
    if (!some.length) {
      const at = path.indexOf(port);
      return at > 0 ? [path[at - 1]!] : [];
    }
    const { ports } = this.run.timeline;
    return [...path, ...some].filter((own) => ports[own]!.to === ports[port]!.from);
  }
}

/** Lengthens the times below a branch. */
function lengthen(branch: Branch, scale: number): void {
  for (const below of branch.branches) {
    below.waited_s *= scale;
    below.passed_s *= scale;
    below.root_s *= scale;
    lengthen(below, scale);
  }
}

/** A branch and those below it. */
export function allOf(branches: Branch[]): Branch[] {
  return branches.flatMap((branch) => [branch, ...allOf(branch.branches)]);
}

/** Ports that are roots in trees, with the times for which they are, the longest first. */
function rootsOf(branches: Branch[]): [number, number][] {
  const found = new Map<number, number>();
  for (const { port, root_s } of allOf(branches)) if (root_s > 0) add(found, port, root_s);
  return [...found].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
}

/** The part of an interval that lies in another; the whole of it without one. */
function cut(from_s: number, to_s: number, span: { from_s: number; to_s: number } | null): Window[] {
  const [begin, end] = span ? [Math.max(from_s, span.from_s), Math.min(to_s, span.to_s)] : [from_s, to_s];
  return begin < end ? [[begin, end, 1]] : [];
}

/** Paused ports and classes on the path of a flow, from the sender on. */
function onPath(pauses: Pauses, { path, class_ }: Flow): Paused[] {
  return path.flatMap((port) => (pauses.classes.get(port) ?? []).filter((own) => class_ === null || class_ === own)
    .map((own) => pausedOf(port, own)));
}

/** How long the path of a flow was paused, and for each paused port the windows left by those before it. */
function flowWaited(pauses: Pauses, flow: Flow, whole: Window[]): [number, [Paused, Window[]][]] {
  const parts: [Paused, Window[]][] = [];
  let windows = whole;
  for (const paused of onPath(pauses, flow)) {
    parts.push([paused, windows]);
    windows = without(windows, pauses.of.get(paused)!);
  }
  return [length(whole) - length(windows), parts];
}

type Span = { from_s: number; to_s: number } | null;

function ended(found: Omit<Explanation, "roots" | "arrivals">): Explanation {
  const roots = rootsOf(found.branches);
  const held = allOf(found.branches).find(({ port, arrivals }) => port === roots[0]?.[0] && arrivals);
  return { ...found, roots, arrivals: held?.arrivals ?? null };
}

/** Why the path of a flow was paused, in an interval or at all. */
export function ofFlow(run: Run, flow: Flow, span: Span = null): Explanation {
  const pauses = pausesOf(run);
  const whole = cut(flow.start_s, flow.end_s, span);
  const [waited_s, parts] = flowWaited(pauses, flow, whole);
  const grower = new Grower(run, pauses, flowsOf(run));
  const branches = parts.map((part) => grower.branch(...part)).filter((one) => one.waited_s > LEAST * waited_s);
  return ended({ flow, port: null, waited_s, of_s: length(whole), branches });
}

/** Why a port was paused, in any of its classes. */
export function ofPort(run: Run, port: number, span: Span = null): Explanation {
  const pauses = pausesOf(run);
  const whole = cut(0, pauses.end_s, span);
  const grower = new Grower(run, pauses, flowsOf(run));
  const branches = (pauses.classes.get(port) ?? []).map((own) => grower.branch(pausedOf(port, own), whole));
  const waited_s = branches.reduce((most, branch) => Math.max(most, branch.waited_s), 0);
  return ended({ flow: null, port, waited_s, of_s: length(whole), branches });
}

/** The port that began most: the one for which others waited longest by its own fault. */
function worstOf(pauses: Pauses): number | null {
  const found = new Map<number, number>();
  for (const [paused, own] of pauses.of) {
    const all = own.map((pause): [Pause, Window] => [pause, [pause.begin_s, pause.end_s, 1]]);
    for (const [beyond, windows] of beyondOf(all, classOf(paused))) {
      add(found, portOf(beyond), length(without(windows, pauses.lengthened.get(beyond) ?? [])));
    }
  }
  return [...found].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0]?.[0] ?? null;
}

const passes = ({ path, some }: Flow, port: number | null) => (
  port !== null && (path.includes(port) || some.includes(port)));

/** Whether the flow passes the port that began most of it. */
export const crosses = ({ flow, roots }: Explanation) => flow !== null && passes(flow, roots[0]?.[0] ?? null);

/**
 * The flow that waited longest for a port that it does not pass, or if there is none, the longest at all. Without paths
 * the port that was paused longest takes its place; null if no pause took effect.
 */
export function victimOf(run: Run): Explanation | null {
  const pauses = pausesOf(run);
  if (!pauses.of.size) return null;
  const worst = worstOf(pauses);
  const longest = flowsOf(run).all.map((flow): [number, Flow] => {
    const whole = cut(flow.start_s, flow.end_s, null);
    return [onPath(pauses, flow).reduce((sum, paused) => sum + lengthOf(overlaps(pauses.of.get(paused)!, whole)), 0),
      flow];
  }).sort((a, b) => b[0] - a[0] || a[1].number - b[1].number);
  const waited: [number, Flow][] = [];
  for (const [most_s, flow] of longest.filter(([s, one]) => s > 0 && !passes(one, worst)).slice(0, MOST)) {
    if (waited.length && most_s <= Math.max(...waited.map(([s]) => s))) break;
    waited.push([flowWaited(pauses, flow, cut(flow.start_s, flow.end_s, null))[0], flow]);
  }
  for (const [, flow] of waited.sort((a, b) => b[0] - a[0] || a[1].number - b[1].number)) {
    const found = ofFlow(run, flow);
    if (found.roots.length && !crosses(found)) return found;
  }
  if (longest[0] && longest[0][0] > 0) return ofFlow(run, longest[0][1]);
  const paused_s = (paused: Paused) => lengthOf(overlaps(pauses.of.get(paused)!, [[0, pauses.end_s, 1]]));
  const [first] = [...pauses.of.keys()].sort((a, b) => paused_s(b) - paused_s(a) || portOf(a) - portOf(b));
  return ofPort(run, portOf(first!));
}
