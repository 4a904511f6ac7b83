/** What the page says beside pictures: axes, summaries, columns, sums. */

import { describe, expect, it } from "vitest";
import { figure, recorded, scaled, way } from "../src/data/format";
import { capacityOf, goodputOf, rateOf, spread } from "../src/data/rates";
import {
  controllerOf, largestQueue, lineOf, sentenceOf, slowestOf, tilesOf, titleOf, titleOfTwo,
} from "../src/data/summary";
import { panesOfFlow, panesOfPins, panesOfTotals, whyOf } from "../src/panes/curves";
import { isSpiky, marksOf, valueAt } from "../src/panes/Plot";
import { layout } from "../src/scene/layout";
import { peaksOf } from "../src/scene/raster";
import { tiersOf } from "../src/scene/tiers";
import { ticksOf } from "../src/time/ticks";
import { fatTree, list, made } from "./made";

const texts = (...all: string[]) => ({ values: Uint8Array.from(all, (_, i) => i), texts: all });
const plain = (words: string) => words.replaceAll("\u00a0", " ");

describe("axes", () => {
  it("have round times within what is seen", () => {
    expect(ticksOf(0, 0.2, 8)).toEqual([0, 0.025, 0.05, 0.075, 0.1, 0.125, 0.15, 0.175, 0.2]);
    expect(ticksOf(0.0011, 0.0029, 4)).toEqual([0.0015, 0.002, 0.0025]);
    expect([ticksOf(1, 1, 5), ticksOf(0, NaN, 5), ticksOf(0, 1, 0).length]).toEqual([[], [], 2]);
  });

  it("have powers of ten where a scale is by them, and finer values where there is room", () => {
    expect(marksOf(0.05, 12, true, 3)).toEqual([0.1, 1, 10]);
    expect(marksOf(40, 900, true, 6)).toEqual([50, 100, 200, 500]);
    expect(marksOf(190, 260, true, 4)).toEqual([200, 220, 240, 260]);
  });

  it("are by powers of ten where a peak would press the rest to the ground", () => {
    const curve = (...values: number[]) => [{ label: "", time_s: values, values, stepped: true }];
    const [high, low] = [curve(40, 1, 1, 1, 1, 1, 1, 1, 1, 1), curve(3, 1, 1, 1, 1, 1, 1, 1, 1, 1)];
    expect([isSpiky(high, "s"), isSpiky(low, "s"), isSpiky(high, "b/s")]).toEqual([true, false, false]);
  });

  it("have values at the cursor: the last one before it", () => {
    const curve = { label: "", time_s: [1, 2, 3], values: [10, 20, 30], stepped: true };
    expect([0.5, 1, 2.5, 9].map((at) => valueAt(curve, at))).toEqual([NaN, 10, 20, 30]);
  });
});

describe("figures", () => {
  it("are told in short, shares in percent, and kept with all of their digits", () => {
    expect([figure("queue_max_bytes", 104287.8651953125), figure("busy", 0.977421875), figure("marks", 12),
      recorded("queue_max_bytes", 104287.8651953125), recorded("busy", 0.977421875)].map(plain)).toEqual(
      ["104 kB", "97.7 %", "12 packets", "104287.8651953125 B", "0.977421875"]);
  });

  it("have one unit a column, that of its middle figure", () => {
    const { unit, say } = scaled([1.2e-3, 4.5e-4, 0.02, NaN], "s");
    expect([unit, say(1.2e-3), say(4.5e-4), say(0.02)]).toEqual(["ms", "1.2", "0.45", "20"]);
    expect([scaled([], "s").unit, scaled([3e9, 4e9], "b/s").unit]).toEqual(["s", "Gb/s"]);
  });

  it("are of ports whose names read as ways", () => {
    expect([way("h0>edge0"), way("<b>x</b>>e0")].map(plain)).toEqual(["h0 → edge0", "<b>x</b> → e0"]);
  });
});

describe("a rate", async () => {
  const rows = { starts: list(0, 2, 3, 4, 6), flow: list(0, 1, 1, 1, 0, 1),
    delivered_bytes: list(1000, 500, 500, 500, 3200, 500) };
  const more = { timeline: { frames: 4, frame_s: 8e-6, start_s: 0 }, byFlow: rows,
    ports: { port: texts("a", "b", "c", "d"), rate_bps: list(1e9, 1e9, 1e9, 1e9) },
    flows: { flow: list(0, 1), src: list(0, 1), dst: list(1, 0) } };
  const run = await made(more);

  it("has bytes that a repair delivers at once where they can have arrived", () => {
    expect([...spread(Float64Array.of(1000, 0, 0, 3200), 1000)]).toEqual([1200, 1000, 1000, 1000]);
    expect([...spread(Float64Array.of(NaN, 0, 2500), 1000)]).toEqual([NaN, 1500, 1000]);
    expect([...spread(Float64Array.of(0, 2500), NaN)]).toEqual([0, 2500]);
    expect([run.linkOf(0), run.linkOf(9)]).toEqual([1e9, NaN]);
    expect(rateOf(run, 0, 4)[0]).toBeCloseTo(1.05e9, 0);
  });

  it("is at most the link's in the sum of all flows too", () => {
    expect([...goodputOf(run, 1)!].map((own) => own / 1e9)).toEqual([1.7, 1.5, 1.5, 1.5]);
    expect(goodputOf({ ...run, byFlow: null } as never)).toBeNull();
  });

  it("is at most what the receivers of all flows have together, whose radio channel is one", async () => {
    // two stations send to a third over a channel of 1 Gb/s, and a repair delivers at once
    const nodes = ["a", "b", "sink", "air"].map((name, i) => ({ name, kind: i < 3 ? "station" : "channel", tier: 0,
      pod: null }));
    const radio = await made({ ...more, timeline: { ...more.timeline, nodes, ports: [{ from: 0, to: 3 },
      { from: 1, to: 3 }, { from: 3, to: 2 }, { from: 3, to: 0 }] },
    ports: { port: texts("a", "b", "c", "d"), rate_bps: list(1e9, 1e9, NaN, NaN) },
    flows: { flow: list(0, 1), src: list(0, 1), dst: list(2, 2) } });
    expect(capacityOf(radio)).toBe(1e9);
    expect([...goodputOf(radio, 1)!].map((own) => own / 1e9)).toEqual([3.2, 1, 1, 1]);
    expect(capacityOf(run)).toBe(2e9);
  });
});

describe("a summary", async () => {
  const about = { scenario: "incast", description: "Many to one.", seed: 3, packet_bytes: 1000, from_s: 0.1, to_s: 2,
    figures: { "flows.goodput_total_bps": 9.8e9, "fct.slowdown_p99_at_least": 3.291, "fct.count": 4, "fct.finished": 3,
      "queues.drops": 0, "flows.jain": 0.5 } };
  const flows = { flow: list(0, 1, 2), src: list(0, 1, 0), dst: list(1, 0, 1), controller: {
    values: Uint8Array.of(0, 1, 0), texts: ["dctcp", "swift"] }, slowdown: list(2, NaN, 7),
  throughput_active_bps: list(5e6, 1e6, 2e6) };
  const run = await made({ about, flows });

  it("is titled by scenario and controller, or by its folder", async () => {
    expect([titleOf(run), titleOf(await made())]).toEqual(["incast · dctcp and swift", "made"]);
    const one = (name: string) => made({ about, flows: { ...flows,
      controller: { values: new Uint8Array(3), texts: [name] } } });
    expect([titleOfTwo(await one("dctcp"), await one("swift")), titleOfTwo(run, run)]).toEqual(
      ["incast · dctcp and swift", "made and made"]);
    expect(controllerOf(await made())).toBe("");
  });

  it("tells hosts, flows, controller, seed and interval", () => {
    expect(plain(lineOf(run))).toBe("2 hosts · 1 switch · 4 ports · 3 flows");
    expect(plain(sentenceOf(run))).toBe("incast with dctcp and swift, seed 3, measured from 100 ms to 2 s");
  });

  it("has figures that matter, bounds as bounds, and leaves out what nobody has", () => {
    expect(tilesOf(run, 3).map(({ value, what }) => plain(`${what}: ${value}`))).toEqual(
      ["goodput of all flows: 9.8 Gb/s", "slowdown, 99th percentile: ≥ 3.29", "Jain's index of throughputs: 0.5"]);
    expect(largestQueue(run)).toEqual({ port: 3, value: 9000, frame: 2 });
  });

  it("lists the slowest flows by slowdown, or by throughput where there is none", async () => {
    expect(slowestOf(run)).toMatchObject({ by: "slowdown", rows: [{ flow: 2, value: "7" }, { flow: 0, value: "2" }] });
    const endless = await made({ flows: { ...flows, slowdown: list(NaN, NaN, NaN) } });
    expect(slowestOf(endless)!.rows.map(({ flow }) => flow)).toEqual([1, 2, 0]);
    expect([slowestOf(endless)!.by, slowestOf(await made())]).toEqual(["throughput", null]);
  });
});

describe("why a flow does what it does", async () => {
  const series = { entity: { values: Uint8Array.of(0, 0, 0), texts: ["flow 0"] },
    name: texts("cwnd_bytes", "fabric_delay_s", "target_delay_s"), starts: list(0, 2, 5, 8),
    time_s: list(0, 1e-5, 0, 1e-5, 2e-5, 0, 1e-5, 2e-5),
    value: list(500, 2000, 5e-5, 3e-5, 6e-5, 4e-5, 4e-5, 4.1e-5) };
  const run = await made({ series, flows: { flow: list(0), finish_s: list(NaN) }, about: { packet_bytes: 1000 } });

  it("has delay and target in one pane first, and the window in packets or bytes", () => {
    const panes = panesOfFlow(run, 0, "packets");
    expect(panes.map(({ title, unit, curves }) => [title, unit, ...curves.map(({ label }) => label)])).toEqual(
      [["Delay against target", "s", "fabric delay", "target delay"], ["Window", "packets", "cwnd"]]);
    expect([...Array.from(panes[1]!.curves[0]!.values)]).toEqual([0.5, 2, 2]);
    expect(panesOfFlow(run, 0, "bytes")[1]).toMatchObject({ unit: "B" });
    expect(whyOf(panes)).toMatchObject({ below: 1, samples: 3 });
    expect(whyOf([])).toBeNull();
  });

  it("is plotted beside other flows and ports, each in the colour of its place", () => {
    const panes = panesOfPins(run, [{ what: "port", at: 3 }, { what: "flow", at: 0 }], "bytes");
    const told = panes.map(({ title, curves }) => (
      [title, ...curves.map(({ label, colour }) => `${plain(label)} ${colour!}`)]));
    expect(told).toEqual([
      ["Queue", "s → h1 0"], ["Utilisation", "s → h1 0"], ["Delay", "flow 0 1"], ["Window", "flow 0 1"]]);
  });

  it("adds up over all ports", () => {
    const [queues] = panesOfTotals(run);
    expect([queues!.title, ...Array.from(queues!.curves[0]!.values)]).toEqual(["Queues of all ports", 1900, 0, 9100]);
  });
});

describe("what stands around pictures", () => {
  it("are names of tiers, with how many nodes each has, and boxes of pods", () => {
    const tree = fatTree(4);
    expect(tiersOf(tree).map(({ name, count }) => plain(`${name}: ${count}`))).toEqual(
      ["Hosts: 16", "Edge: 8 switches", "Aggregation: 8 switches", "Core: 4 switches"]);
    expect(layout(tree).pods.map(({ pod, left, right }) => [pod, Math.round(4 * left), Math.round(4 * right)])).toEqual(
      [[0, 0, 1], [1, 1, 2], [2, 2, 3], [3, 3, 4]]);
    const radio = { nodes: [{ name: "a", kind: "station", tier: 0, pod: null, x: 1, y: 2 },
      { name: "air", kind: "channel", tier: 1, pod: null }], ports: [{ from: 0, to: 1 }] };
    expect([tiersOf(radio), layout(radio).pods]).toEqual([[], []]);
  });

  it("are the worst of the ports that share a pixel", async () => {
    const run = await made();
    expect(peaksOf(run, "queue_max_bytes", new Set([0, 1, 2, 3]), [0, 3])).toEqual(
      [{ port: 3, frame: 2, value: 9000 }, { port: 1, frame: 0, value: 1500 }, { port: 0, frame: 2, value: 100 }]);
    expect(peaksOf(run, "queue_max_bytes", new Set([0, 3]), [0, 2])).toEqual([{ port: 3, frame: 0, value: 400 }]);
  });

  it("steps over events of kinds that are hidden", async () => {
    const run = await made({ events: { time_s: list(1e-5, 2e-5), kind: texts("timeout", "failure"),
      what: texts("flow", "port"), subject: list(0, 1) } });
    expect([run.eventFrom(0, 1)?.kind, run.eventFrom(0, 1, new Set(["timeout"]))?.kind,
      run.eventFrom(3e-5, -1, new Set(["failure"]))?.kind]).toEqual(["timeout", "failure", "timeout"]);
  });
});
