/** A small run for tests: two hosts at a switch, four ports, three frames. */

import { deflateSync } from "node:zlib";
import { Framed } from "../src/data/framed";
import { Run, type About, type Need, type Tables, type Timeline } from "../src/data/run";
import { Columns, type Column, type Source } from "../src/data/unpack";

export const list = (...values: number[]) => ({ values: Float64Array.from(values) });

type Table = Record<string, Column>;

interface More {
  ports?: Table;
  flows?: Table;
  byFlow?: Table;
  paths?: Table;
  events?: Table;
  records?: Table;
  packets?: Table;
  series?: Table;
  pauses?: Table;
  tasks?: Table;
  ranks?: Table;
  collectives?: Table;
  /** Ports of a block of records, and flows of one of theirs. */
  size?: number;
  timeline?: Partial<Timeline>;
  about?: About;
}

/** A part as packing.py makes it: a head, and what it tells of. */
export function part(head: object, ...data: Uint8Array[]): string {
  const told = new TextEncoder().encode(JSON.stringify(head));
  const length = new Uint8Array(Uint32Array.of(told.length).buffer);
  return deflateSync(Buffer.concat([length, told, ...data])).toString("base64");
}

/** Bytes of one significance together. */
export function planes(values: Float64Array): Uint8Array {
  const bytes = new Uint8Array(values.buffer);
  return bytes.map((_, i) => bytes[(i % values.length) * 8 + Math.floor(i / values.length)]!);
}

/** Columns as packing.py packs them, all of them as f64. */
class Pack {
  private readonly parts: string[] = [];
  readonly asked: number[] = [];
  readonly source: Source = (at) => {
    this.asked.push(at);
    return this.parts[at]!;
  };

  private columns(table: Table): Record<string, number> {
    return Object.fromEntries(Object.entries(table).map(([name, { values, texts }]) => {
      const list = texts && new TextEncoder().encode(JSON.stringify(texts));
      const head = { kind: "f64", length: values.length, ...(list && { texts: list.length }) };
      return [name, this.parts.push(part(head, planes(Float64Array.from(values)), ...(list ? [list] : []))) - 1];
    }));
  }

  table(table: Table): Columns {
    return new Columns(this.columns(table), this.source, Object.values(table)[0]?.values.length ?? 0);
  }

  /** A table whose columns are of several lengths. */
  apart(table: Table): Columns {
    return new Columns(this.columns(table), this.source);
  }

  /** Rows of frames, in blocks of so many ports or flows. */
  framed(table: Table, key: "port" | "flow", size: number): Framed {
    const { starts, ...rows } = table;
    const blockOf = Array.from(rows[key]!.values, (own) => Math.floor(own / size));
    const blocks = Math.max(0, ...blockOf) + 1;
    const made = Array.from({ length: blocks }, (_, block): Table => {
      const own = [...blockOf.keys()].filter((row) => blockOf[row] === block);
      const at = Array.from(starts!.values, (start) => own.filter((row) => row < start).length);
      return { starts: list(...at), ...Object.fromEntries(Object.entries(rows).map(([name, { values }]) => (
        [name, list(...own.map((row) => values[row]!))]))) };
    });
    const columns = Object.fromEntries(Object.keys(table).map((name) => (
      [name, made.map((one) => this.columns({ [name]: one[name]! })[name]!)[0]!])));
    return Framed.told({ size, blocks, columns }, this.source);
  }
}

/** The run with nothing read of it, and what reads all that it has. */
function packed(more: More): [Run, Need, Pack] {
  const nodes = [
    { name: "h0", kind: "host", tier: 0, pod: null }, { name: "h1", kind: "host", tier: 0, pod: null },
    { name: "s", kind: "switch", tier: 1, pod: null },
  ];
  const ports = [{ from: 0, to: 2 }, { from: 2, to: 0 }, { from: 1, to: 2 }, { from: 2, to: 1 }];
  const records = {
    starts: list(0, 2, 2, 4), port: list(1, 3, 0, 3), queue_max_bytes: list(1500, 400, 100, 9000),
    busy: list(1, 0.5, 0, 1),
  };
  const timeline = { frame_s: 1e-5, frames: 3, start_s: 0, nodes, ports, ...more.timeline };
  const pack = new Pack();
  const { size = 99 } = more;
  const maybe = (table: Table | undefined) => (table ? pack.table(table) : null);
  const own = more.records ?? records;
  const tables: Tables<Columns, Framed> = {
    ports: pack.table(more.ports ?? {}), records: pack.framed(own, "port", size), flows: maybe(more.flows),
    by_flow: more.byFlow ? pack.framed(more.byFlow, "flow", size) : null, events: maybe(more.events),
    paths: maybe(more.paths), series: more.series ? pack.apart(more.series) : null,
    packets: more.packets ? pack.apart(more.packets) : null,
    ...(more.pauses ? { pauses: pack.table(more.pauses) } : {}),
    ...(more.tasks ? { tasks: pack.table(more.tasks) } : {}), ...(more.ranks ? { ranks: pack.table(more.ranks) } : {}),
    ...(more.collectives ? { collectives: pack.table(more.collectives) } : {}),
  };
  const named = { ...more, records: own, by_flow: more.byFlow };
  const all = Object.keys(tables).map((name) => [name, Object.keys(named[name as keyof typeof named] ?? {})]);
  return [new Run(timeline, "made", [], tables, more.about), Object.fromEntries(all) as Need, pack];
}

/** A run of which nothing is read yet. */
export function unread(more: More = {}): Run {
  return packed(more)[0];
}

/** The same, and the parts that were asked for. */
export function watched(more: More = {}): { run: Run; asked: number[] } {
  const [run, , { asked }] = packed(more);
  return { run, asked };
}

/** A run of which all is read. */
export async function made(more: More = {}): Promise<Run> {
  const [run, all] = packed(more);
  await run.read(all);
  return run;
}

/** Nodes and ports of a fat tree. */
export function fatTree(k: number) {
  const half = k / 2;
  const nodes: { name: string; kind: string; tier: number; pod: number | null }[] = [];
  const tier = (tier: number, count: number, inPod: number | null, letter: string) => {
    for (let i = 0; i < count; i++) {
      nodes.push({ name: `${letter}${i}`, kind: tier ? "switch" : "host", tier,
        pod: inPod === null ? null : Math.floor(i / inPod) });
    }
    return nodes.length;
  };
  const edge = tier(0, k * half * half, half * half, "h");
  const above = tier(1, k * half, half, "e");
  const core = tier(2, k * half, half, "a");
  tier(3, half * half, null, "c");
  const links: [number, number][] = [];
  for (let host = 0; host < edge; host++) links.push([host, edge + Math.floor(host / half)]);
  for (let at = 0; at < k * half; at++) {
    for (let i = 0; i < half; i++) links.push([edge + at, above + Math.floor(at / half) * half + i]);
    for (let i = 0; i < half; i++) links.push([above + at, core + (at % half) * half + i]);
  }
  const ports = links.flatMap(([from, to]) => [{ from, to }, { from: to, to: from }]);
  return { label: "fat tree", frame_s: 1e-5, frames: 3, start_s: 0, nodes, ports };
}
