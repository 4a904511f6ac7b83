import { describe, expect, it } from "vitest";
import { opened, type Described } from "../src/data/run";
import { Damaged } from "../src/data/unpack";
import { deflateSync } from "node:zlib";

const node = (tier: unknown) => ({ name: "n", kind: "host", tier, pod: null });

/** A run that says such things of its frames, nodes and ports. */
function run(said: object) {
  const network = { nodes: [node(0), node(1)], ports: [{ from: 0, to: 1 }] };
  const timeline = { frame_s: 1, frames: 3, start_s: 0, ...network, ...said };
  const parts = [timeline, { label: "one", missing: [] }];
  const rows = { size: 1, blocks: 1, columns: {} };
  const table = { rows: 0, columns: {} };
  const described: Described = {
    timeline: 0, told: 1, ports: table, records: rows, flows: null, by_flow: null, events: null, paths: null,
    series: null, packets: null,
  };
  return opened((at) => deflateSync(JSON.stringify(parts[at])).toString("base64"), described);
}

describe("a timeline", () => {
  it("is taken as a run writes it", async () => {
    expect((await run({})).frames).toBe(3);
    // a node that no host reaches stands one above all others
    expect((await run({ nodes: [node(0), node(2)] })).timeline.nodes[1]!.tier).toBe(2);
  });

  it.each([
    [{ nodes: [node(0), node(1e9)] }, "nodes.1.tier = 1000000000; expected a whole number from 0 to 2"],
    [{ nodes: [node(-1), node(1)] }, "nodes.0.tier = -1; expected a whole number from 0 to 2"],
    [{ nodes: [node("0"), node(1)] }, 'nodes.0.tier = "0"; expected a whole number from 0 to 2'],
    [{ frames: 1e12 }, "frames = 1000000000000; expected a whole number from 1 to 1048576"],
    [{ frames: 0 }, "frames = 0; expected"],
    [{ ports: [{ from: 0, to: 2 }] }, "ports.0.to = 2; expected a whole number from 0 to 1"],
    [{ nodes: [] }, "ports.0.from = 0; there are no nodes"],
  ])("is refused where it cannot be: %j", async (said, told) => {
    await expect(run(said)).rejects.toThrow(Damaged);
    await expect(run(said)).rejects.toThrow(`timeline.json of one: ${told}`);
  });
});
