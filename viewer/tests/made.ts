/** A small run for tests: two hosts at a switch, four ports, three frames. */

import { Run } from "../src/data/run";
import { Columns, type Column } from "../src/data/unpack";

export const list = (...values: number[]) => ({ values: Float64Array.from(values) });

type Table = Record<string, Column>;

interface More {
  flows?: Table;
  byFlow?: Table;
  paths?: Table;
  events?: Table;
  records?: Table;
  packets?: Table;
  series?: Table;
  timeline?: { frame_s?: number; frames?: number; start_s?: number };
}

export function made(more: More = {}): Run {
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
  const maybe = (columns?: Table) => (columns ? Columns.of(columns) : null);
  return new Run(timeline, [], {
    ports: Columns.of({}), records: Columns.of(more.records ?? records), flows: maybe(more.flows),
    by_flow: maybe(more.byFlow), events: maybe(more.events), paths: maybe(more.paths), series: maybe(more.series),
    packets: maybe(more.packets),
  });
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
