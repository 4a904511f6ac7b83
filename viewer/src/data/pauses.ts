/** Pauses of a run, with the bytes that waited, and the rings of a deadlock (python/incast/pauses/record.py). */

import type { Run } from "./run";
import { text } from "./unpack";

/** Traffic classes of a port. */
const CLASSES = 256;

/** One pause: when the port stood still, and where the bytes waited that caused it. */
export interface Pause {
  begin_s: number;
  /** When the port goes on; the end of the run where it does not. */
  end_s: number;
  /** The same, also where the time in which it sends what had waited is added to it. */
  stop_s: number;
  /** Bytes from the port that the switch held, and those from which it asks. */
  held: number;
  threshold: number;
  /** Bytes of these at each egress port of the switch. */
  waits: Map<number, number>;
}

/** A port and a class of it, as one number. */
export type Paused = number;
export const pausedOf = (port: number, class_: number): Paused => port * CLASSES + class_;
export const portOf = (paused: Paused) => Math.floor(paused / CLASSES);
export const classOf = (paused: Paused) => paused % CLASSES;

/** Adds to a sum of a key. */
export const add = <Key>(sums: Map<Key, number>, key: Key, value: number) => {
  sums.set(key, (sums.get(key) ?? 0) + value);
};

/** The list of a key, made where there is none. */
export function listOf<Key, Value>(lists: Map<Key, Value[]>, key: Key): Value[] {
  let found = lists.get(key);
  if (!found) lists.set(key, found = []);
  return found;
}

/** The place of the last number that is at most another; -1 where none is. */
export function lastAt(numbers: { begin_s: number }[], at_s: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]!.begin_s <= at_s) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Pauses, and the ports in a deadlock. */
export class Pauses {
  readonly end_s: number;
  /** Pauses by port and class, in the order of their begins. */
  readonly of = new Map<Paused, Pause[]>();
  /** Paused classes of every paused port. */
  readonly classes = new Map<number, number[]>();
  /** Pauses that are recorded, with those that never took effect. */
  readonly asked: number;
  /** Ports in a deadlock at the end, and since when. */
  readonly stuck = new Map<number, number>();
  /** Rings of ports that wait for one another at the end, each from its first paused port on. */
  readonly rings: number[][];
  /** Bytes at egress ports for which a pause stands at the end. */
  private readonly standing = new Map<Paused, Map<number, number>>();
  private longer: Map<Paused, Pause[]> | null = null;

  constructor(readonly run: Run) {
    this.end_s = run.end_s;
    const table = run.tables.pauses!;
    const [number, port, class_, through, bytes] = ["pause", "port", "class", "through", "through_bytes"].map(
      (name) => table.values(name)) as [Uint32Array, Uint32Array, Uint32Array, Uint32Array, Float64Array];
    const [begin, end, held, threshold] = ["begin_s", "end_s", "account_bytes", "threshold_bytes"].map(
      (name) => table.values(name)) as [Float64Array, Float64Array, Float64Array, Float64Array];
    const found = new Map<number, Pause>();
    number.forEach((own, row) => {
      const paused = pausedOf(port[row]!, class_[row]!);
      if (text(table.get("moment"), row) === "end") {
        let waits = this.standing.get(paused);
        if (!waits) this.standing.set(paused, waits = new Map());
        waits.set(through[row]!, bytes[row]!);
        return;
      }
      let pause = found.get(own);
      if (!pause) {
        const stop_s = Number.isNaN(end[row]!) ? this.end_s : end[row]!;
        pause = { begin_s: begin[row]!, end_s: stop_s, stop_s, held: held[row]!, threshold: threshold[row]!,
          waits: new Map() };
        found.set(own, pause);
        // one that never took effect begins never
        if (!Number.isNaN(pause.begin_s)) listOf(this.of, paused).push(pause);
      }
      pause.waits.set(through[row]!, bytes[row]!);
    });
    this.asked = found.size;
    for (const [paused, pauses] of this.of) {
      pauses.sort((a, b) => a.begin_s - b.begin_s);
      listOf(this.classes, portOf(paused)).push(classOf(paused));
    }
    const since = run.tables.ports;
    if (since.has("deadlocked_s")) {
      since.values("deadlocked_s").forEach((at, own) => { if (!Number.isNaN(at)) this.stuck.set(own, at); });
    }
    this.rings = this.found();
  }

  /** Whether the run may have had more pauses than it recorded. */
  get isCut(): boolean {
    return this.asked >= (this.run.about.most_pauses ?? Infinity);
  }

  /** When the last recorded pause begins. */
  get last_s(): number {
    let last = 0;
    for (const pauses of this.of.values()) last = Math.max(last, pauses.at(-1)!.begin_s);
    return last;
  }

  /** Ports that stand still at some time of an interval, in the order of their numbers. */
  within(from_s: number, to_s: number): number[] {
    const ports = new Set<number>();
    for (const [paused, pauses] of this.of) {
      let at = lastAt(pauses, to_s);
      if (pauses[at]?.begin_s === to_s) at--;
      // of pauses that begin before the end of it the last one ends last
      if (at >= 0 && pauses[at]!.end_s > from_s) ports.add(portOf(paused));
    }
    return [...ports].sort((a, b) => a - b);
  }

  /** Bytes of a port in a ring that wait for another, at the end of the run. */
  heldFor(port: number, beyond: number): number {
    let held = 0;
    for (const [paused, waits] of this.standing) if (portOf(paused) === port) held += waits.get(beyond) ?? 0;
    return held;
  }

  /** Pauses with the time after each in which the port sends what had waited meanwhile. */
  get lengthened(): Map<Paused, Pause[]> {
    if (this.longer) return this.longer;
    const backlog = new Map<Paused, number>();
    for (const [paused, pauses] of this.of) {
      const most = new Map<number, number>();
      for (const { waits } of pauses) {
        for (const [port, held] of waits) most.set(port, Math.max(most.get(port) ?? 0, held));
      }
      for (const [port, held] of most) add(backlog, pausedOf(port, classOf(paused)), held);
    }
    this.longer = new Map([...this.of].map(([paused, pauses]) => {
      const rate = this.run.rateOf(portOf(paused));
      const rest_s = rate > 0 ? (8 * (backlog.get(paused) ?? 0)) / rate : 0;
      return [paused, pauses.map((pause, i) => ({ ...pause, end_s: Math.max(
        pause.end_s, Math.min(pause.end_s + rest_s, pauses[i + 1]?.begin_s ?? this.end_s)) }))];
    }));
    return this.longer;
  }

  private found(): number[][] {
    const beyond = new Map<number, number[]>();
    for (const [paused, waits] of [...this.standing].sort(([a], [b]) => a - b)) {
      if (this.stuck.has(portOf(paused))) {
        beyond.set(portOf(paused), [...waits.keys()].filter((through) => this.stuck.has(through)));
      }
    }
    const first = (a: number, b: number) => this.stuck.get(a)! - this.stuck.get(b)! || a - b;
    const [rings, seen] = [[] as number[][], new Set<number>()];
    for (const start of [...beyond.keys()].sort(first)) {
      const walk: number[] = [];
      let port: number | undefined = start;
      while (port !== undefined && !walk.includes(port) && !seen.has(port)) {
        walk.push(port);
        const next: number[] = beyond.get(port) ?? [];
        port = next.length ? Math.min(...next) : undefined;
      }
      if (port !== undefined && walk.includes(port)) {
        const ring = walk.slice(walk.indexOf(port));
        const at = ring.indexOf([...ring].sort(first)[0]!);
        rings.push([...ring.slice(at), ...ring.slice(0, at)]);
      }
      for (const own of walk) seen.add(own);
    }
    return rings;
  }
}

const kept = new WeakMap<Run, Pauses>();

/** The pauses of a run, once they are read. */
export function pausesOf(run: Run): Pauses {
  let found = kept.get(run);
  if (!found) kept.set(run, found = new Pauses(run));
  return found;
}
