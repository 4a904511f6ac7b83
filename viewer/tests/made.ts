/** A small run for tests: two hosts at a switch, four ports, three frames. */

import { Run } from "../src/data/run";
import type { Columns } from "../src/data/unpack";

export const list = (...values: number[]) => ({ values: Float64Array.from(values) });

interface More {
  flows?: Columns;
  byFlow?: Columns;
  paths?: Columns;
  events?: Columns;
  records?: Columns;
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
  return new Run(timeline, {}, more.records ?? records, more.flows ?? null, more.byFlow ?? null,
     more.events ?? null, more.paths ?? null, null, []);
}
