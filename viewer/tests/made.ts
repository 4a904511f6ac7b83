/** A small run for tests: two hosts at a switch, four ports, three frames. */

import { deflateSync } from "node:zlib";
import { Run, type Need, type Tables } from "../src/data/run";
import { Columns, type Column, type Packed, type Source } from "../src/data/unpack";

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
  timeline?: { frame_s?: number; frames?: number; start_s?: number };
}

/** Columns as packing.py packs them, all of them as f64. */
class Pack {
  private readonly texts: string[] = [];
  readonly source: Source = (at) => this.texts[at]!;

  private put(bytes: Uint8Array): number {
    return this.texts.push(deflateSync(bytes).toString("base64")) - 1;
  }

  columns(table: Table): Columns {
    const packed = Object.entries(table).map(([name, { values, texts }]): [string, Packed] => {
      const bytes = new Uint8Array(Float64Array.from(values).buffer);
      const planes = bytes.map((_, i) => bytes[(i % values.length) * 8 + Math.floor(i / values.length)]!);
      const told = texts && { texts: this.put(new TextEncoder().encode(JSON.stringify(texts))) };
      return [name, { at: this.put(planes), kind: "f64", length: values.length, differences: false, ...told }];
    });
    return new Columns(Object.fromEntries(packed), this.source);
  }
}

/** The run with nothing read of it, and what reads all that it has. */
function packed(more: More): [Run, Need] {
  const nodes = [
    { name: "h0", kind: "host", tier: 0, pod: null }, { name: "h1", kind: "host", tier: 0, pod: null },
    { name: "s", kind: "switch", tier: 1, pod: null },
  ];
  const ports = [{ from: 0, to: 2 }, { from: 2, to: 0 }, { from: 1, to: 2 }, { from: 2, to: 1 }];
  const records = {
    starts: list(0, 2, 2, 4), port: list(1, 3, 0, 3), queue_max_bytes: list(1500, 400, 100, 9000),
    busy: list(1, 0.5, 0, 1),
  };
  const timeline = { label: "made", frame_s: 1e-5, frames: 3, start_s: 0, nodes, ports, ...more.timeline };
  const tables: Tables<Table> = {
    ports: more.ports ?? {}, records: more.records ?? records, flows: more.flows ?? null, by_flow: more.byFlow ?? null,
    events: more.events ?? null, paths: more.paths ?? null, series: more.series ?? null, packets: more.packets ?? null,
  };
  const pack = new Pack();
  const there = Object.entries(tables).filter((table): table is [keyof Tables<Table>, Table] => table[1] !== null);
  const columns = Object.fromEntries(Object.keys(tables).map((name) => [name, null])) as unknown as Tables<Columns>;
  for (const [name, table] of there) columns[name] = pack.columns(table);
  return [new Run(timeline, [], columns), Object.fromEntries(there.map(([name, table]) => [name, Object.keys(table)]))];
}

/** A run of which nothing is read yet. */
export function unread(more: More = {}): Run {
  return packed(more)[0];
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
