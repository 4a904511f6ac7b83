import { describe, expect, it } from "vitest";
import { within } from "../src/app/within";
import { fileName } from "../src/scene/save";
import type { Pin } from "../src/data/need";
import { openingOf } from "../src/data/opening";
import { Pair } from "../src/data/pair";
import { rateOf, spanOf } from "../src/data/rates";
import { hasWindow, isEndless, stateAt, stretchesOf, timeoutsOf } from "../src/data/states";
import { figuresOf, framesOf, spanBetween, worst } from "../src/data/stretch";
import { chosen } from "../src/data/table";
import { beside, panesOf, panesOfFlow, panesOfPort } from "../src/panes/curves";
import { layout } from "../src/scene/layout";
import { diverging, scale, signed, step } from "../src/scene/palette";
import { asSvg } from "../src/scene/pen";
import { pooled, portOrder, rowsOf, rowsOfSome } from "../src/scene/raster";
import { MOST_LETTERS, MOST_NOTES, MOST_PINS, readHash, written, type Moment } from "../src/time/link";
import { list, made } from "./made";

describe("a run", () => {
  it("has the figures of a port in a frame, and nothing where nothing is recorded", async () => {
    const run = await made();
    expect([run.figure("queue_max_bytes", 3, 2), run.figure("busy", 3, 2), run.figure("drops", 3, 2)]).toEqual(
      [9000, 1, 0]);
    expect(run.figure("queue_max_bytes", 1, 1)).toBe(0);
    expect([...run.portOver("queue_max_bytes", 3)]).toEqual([400, 0, 9000]);
    expect([...run.worstOf("queue_max_bytes")]).toEqual([100, 1500, 0, 9000]);
    expect(run.names[1]).toBe("s>h0");
  });

  it("finds the frame of a time that is the frame's own", async () => {
    const run = await made();
    for (let frame = 0; frame < 3; frame++) expect(run.frameOf(run.timeOf(frame))).toBe(frame);
    expect([run.frameOf(-1), run.frameOf(9)]).toEqual([0, 2]);
  });

  it("goes from event to event", async () => {
    const names = { values: Uint8Array.from([0, 0]), texts: ["timeout"] };
    const run = await made({ events: { time_s: list(2e-5, 1e-5), kind: names, what: names, subject: list(4, 5) } });
    expect(run.eventFrom(0, 1)?.subject).toBe(5);
    expect(run.eventFrom(1e-5, 1)?.subject).toBe(4);
    expect(run.eventFrom(2e-5, 1)).toBeUndefined();
    expect(run.eventFrom(2e-5, -1)?.subject).toBe(5);
  });

  it("knows the path of a flow in its order and the flows of a port", async () => {
    const run = await made({ paths: { flow: list(0, 0, 1), port: list(3, 0, 3), position: list(1, 0, 0) } });
    expect(run.pathOf(0)).toEqual([0, 3]);
    expect(run.flowsOn(3)).toEqual([0, 1]);
  });
});

describe("the states of a flow", async () => {
  const names = { values: Uint8Array.from([0, 0]), texts: ["timeout"] };
  const what = { values: Uint8Array.from([0, 0]), texts: ["flow"] };
  const run = await made({
    timeline: { frames: 5, frame_s: 1, start_s: 0 },
    byFlow: { starts: list(0, 1, 2, 4, 4, 5), flow: list(7, 7, 3, 7, 7), state: list(0, 0, 1, 3, 3),
      delivered_bytes: list(5, 6, 7, 8, 9) },
    events: { time_s: list(1.5, 0.5), kind: names, what, subject: list(7, 3) },
  });

  it("are stretches of frames; one without a row is as the one before", () => {
    expect(stretchesOf(run, 7)).toEqual([{ state: 0, from_s: 0, to_s: 2 }, { state: 3, from_s: 2, to_s: 5 }]);
    expect(stretchesOf(run, 3)).toEqual([{ state: 1, from_s: 2, to_s: 5 }]);
    expect(stretchesOf(run, 9)).toEqual([]);
    expect([...run.flowOver("delivered_bytes", 7)]).toEqual([5, 6, 8, 0, 9]);
  });

  it("go on until the last frame in which anything is recorded", async () => {
    const [plain, short] = [await made(), await made({ timeline: { frames: 2 } })];
    expect([run.busyFrames, plain.busyFrames, short.busyFrames]).toEqual([5, 3, 1]);
  });

  it("have a window, unless it is huge and the same all of the time, until the flow is over", async () => {
    const rows = { starts: list(0, 2, 4, 6, 6, 6), flow: list(0, 1, 0, 1, 0, 1),
      cwnd_bytes: list(1e9, 3e3, 1e9, 4e3, 1e9, 5e3) };
    const own = await made({ timeline: { frames: 5, frame_s: 1, start_s: 0 }, byFlow: rows,
      flows: { flow: list(0, 1), finish_s: list(NaN, 2.5) } });
    expect([hasWindow(own, 0), hasWindow(own, 1), isEndless([]), isEndless([NaN, 1e9]), isEndless([1e9, 2e9])]).toEqual(
      [false, true, false, true, false]);
    expect(panesOfFlow(own, 0)).toEqual([]);
    expect(Array.from(panesOfFlow(own, 1)[0]!.curves[0]!.values)).toEqual([3e3, 4e3, 5e3, NaN, NaN]);
  });

  it("are told in words, and timeouts by their times", () => {
    expect([stateAt(run, 7, 1.5), stateAt(run, 3, 1.5), stateAt(run, 7, 3.5)]).toEqual(
      ["slow start", "", "after a timeout"]);
    expect(timeoutsOf(run, 7)).toEqual([1.5]);
  });
});

describe("a stretch of time", async () => {
  const what = { values: Uint8Array.from([0, 0]), texts: ["timeout"] };
  const run = await made({
    byFlow: { starts: list(0, 1, 2, 4), flow: list(7, 7, 7, 3), delivered_bytes: list(5, 6, 7, NaN) },
    events: { time_s: list(0.5e-5, 2e-5), kind: what, what, subject: list(7, 3) },
    records: { starts: list(0, 2, 2, 4), port: list(1, 3, 0, 3), queue_max_bytes: list(1500, 400, 100, 9000),
      busy: list(1, 0.5, 0, 1), marks: list(1, 2, 4, 8), drops: list(0, 1, 0, 3) },
  });

  it("lies within the run, either way round", () => {
    expect(spanBetween(run, 2e-5, -1)).toEqual({ from_s: 0, to_s: 2e-5 });
    expect(spanBetween(run, 1e-5, 9)).toEqual({ from_s: 1e-5, to_s: run.end_s });
    expect([spanBetween(run, 1e-5, 1e-5), spanBetween(run, 8, 9)]).toEqual([null, null]);
  });

  it("is of the frames that it touches", () => {
    const frames = (from_s: number, to_s: number) => framesOf(run, { from_s, to_s });
    expect([frames(0, 1e-5), frames(0.5e-5, 0.6e-5), frames(0.5e-5, 1.5e-5), frames(1e-5, 3e-5)]).toEqual(
      [[0, 1], [0, 1], [0, 2], [1, 3]]);
  });

  it("has sums of packets, the largest queue and means of shares", async () => {
    const whole = figuresOf(run, "busy", { from_s: 0, to_s: 3e-5 });
    expect(whole).toMatchObject({
      frames: [0, 3], marks: 15, drops: 4, pauses: 0, largest: { at: 3, value: 9000 }, delivered_bytes: 18,
      flows: [{ at: 7, value: 18 }], events: [["timeout", 2]],
    });
    expect(whole.ports).toEqual([{ at: 3, value: 0.5 }, { at: 1, value: 1 / 3 }]);
    const first = figuresOf(run, "marks", { from_s: 0, to_s: 1e-5 });
    expect(first).toMatchObject({ marks: 3, largest: { at: 1, value: 1500 }, delivered_bytes: 5, ports: [
      { at: 3, value: 2 }, { at: 1, value: 1 }], events: [["timeout", 1]] });
    expect(figuresOf(await made(), "busy", { from_s: 0, to_s: 1e-5 }).delivered_bytes).toBeNull();
  });

  it("has the worst first, and of equals the first", () => {
    expect(worst([1, 5, 0, 5, NaN, 3], 3)).toEqual([{ at: 1, value: 5 }, { at: 3, value: 5 }, { at: 5, value: 3 }]);
  });
});

describe("what a flow delivered", async () => {
  const byFlow = { starts: list(0, 2, 3, 5, 6), flow: list(0, 1, 0, 0, 1, 0),
    delivered_bytes: list(10, 3, 0, 40, 5, 30), cwnd_bytes: list(1, NaN, 2, 2, NaN, 2), state: list(0, 1, 1, 1, 1, 1) };
  const run = await made({ timeline: { frames: 4, frame_s: 8, start_s: 0 }, byFlow });

  it("is a rate over several frames, so that no frame is above its link", () => {
    expect([spanOf(run), ...rateOf(run, 0)]).toEqual([1, 10, 0, 40, 30]);
    expect([...rateOf(run, 0, 2)]).toEqual([5, 5, 35, 35]);
    expect([...rateOf(run, 0, 3)]).toEqual([50 / 3, 50 / 3, 50 / 3, 30]);
    expect([...rateOf(run, 9, 2)]).toEqual([NaN, NaN, NaN, NaN]);
  });

  it("of datagrams goes without a window and states", () => {
    expect([hasWindow(run, 0), hasWindow(run, 1), stretchesOf(run, 1).length]).toEqual([true, false, 0]);
    expect(panesOfFlow(run, 1).map((pane) => pane.title)).toEqual(["Rate"]);
    expect(panesOfFlow(run, 0).map((pane) => pane.title)).toEqual(["Window", "Rate"]);
  });
});

describe("a series of a flow", async () => {
  const name = (...texts: string[]) => ({ values: Uint8Array.from(texts, (_, i) => i), texts });
  const series = { entity: name("flow 0", "flow 1", "flow 2"), name: name("cwnd_bytes", "cwnd_bytes", "cwnd_bytes"),
    starts: list(0, 2, 3, 5), time_s: list(0, 1e-6, 0, 0, 4e-5), value: list(5, 7, 9, 4, 6) };
  const run = await made({ flows: { flow: list(0, 1, 2), finish_s: list(NaN, 2e-5, NaN) }, series });
  const curve = (flow: number) => panesOf(run, flow).flatMap(({ curves }) => (
    curves.map(({ time_s, values }) => [Array.from(time_s), Array.from(values)])));

  it("holds its last value until the flow ends, or the run", () => {
    expect(curve(0)).toEqual([[[0, 1e-6, run.end_s], [5, 7, 7]]]);
    expect(curve(1)).toEqual([[[0, 2e-5], [9, 9]]]);
    expect(curve(2)).toEqual([[[0, 4e-5], [4, 6]]]);
    expect(curve(3)).toEqual([]);
  });

  it("is among packets where bytes are told in packets", async () => {
    const both = { entity: { values: Uint8Array.of(0, 0), texts: ["flow 0"] },
      name: name("fcwnd_packets", "in_flight_bytes"),
      starts: list(0, 1, 2), time_s: list(0, 0), value: list(4, 3000) };
    const flight = await made({ flows: { flow: list(0), finish_s: list(NaN) }, series: both,
      about: { packet_bytes: 1000 } });
    const told = (measure: "packets" | "bytes") => panesOf(flight, 0, measure).map(({ title, unit, curves }) => (
      [title, unit, ...curves.map(({ label, values }) => `${label} ${values[0]!}`)]));
    expect(told("packets")).toEqual([["Packets", "packets", "fcwnd 4", "in flight 3"]]);
    expect(told("bytes")).toEqual([["Packets", "packets", "fcwnd 4"], ["Bytes", "B", "in flight 3000"]]);
  });
});

describe("the table of flows", async () => {
  const group = { values: Uint8Array.from([0, 1, 0]), texts: ["web", "bulk"] };
  const ends = { src: list(0, 1, 0), dst: list(1, 0, 1) };
  const run = await made({ flows: { flow: list(0, 1, 2), group, slowdown: list(NaN, 2, 7), ...ends } });

  it("is sorted either way, with what is missing last", () => {
    expect(chosen(run, "", { column: "slowdown", descending: true })).toEqual([2, 1, 0]);
    expect(chosen(run, "", { column: "slowdown", descending: false })).toEqual([1, 2, 0]);
    expect(chosen(run, "", { column: "group", descending: false })).toEqual([1, 0, 2]);
  });

  it("is searched by every word", () => {
    expect(chosen(run, "WEB", { column: "flow", descending: false })).toEqual([0, 2]);
    expect(chosen(run, "h1>h0", { column: "flow", descending: false })).toEqual([1]);
    expect(chosen(run, "web flow 2", { column: "flow", descending: false })).toEqual([2]);
    expect(chosen(run, "web nothing", { column: "flow", descending: false })).toEqual([]);
  });
});

describe("the moment that a page opens at", () => {
  it("is the frame with the largest figure, of several the one with most in all, and the first of these", async () => {
    const run = await made();
    expect(openingOf(run, run.frames, "queue_max_bytes")).toEqual({ frame: 2, port: 3, value: 9000 });
    // 1 in the first frame beside 0.5, and in the last beside 0
    expect(openingOf(run, run.frames, "busy")).toEqual({ frame: 0, port: 1, value: 1 });
    const alike = await made({ records: { starts: list(0, 1, 2, 3), port: list(0, 1, 2), busy: list(0.5, 1, 1) } });
    expect(openingOf(alike, 3, "busy")).toEqual({ frame: 1, port: 1, value: 1 });
    expect(openingOf(run, run.frames, "drops")).toBeNull();
  });

  it("is that of the largest difference of two runs, either way", async () => {
    const pair = new Pair(await made(), await made({ records: {
      starts: list(0, 2, 2, 4), port: list(1, 3, 0, 3), queue_max_bytes: list(1500, 400, 100, 50) } }));
    expect(openingOf(pair, pair.frames, "queue_max_bytes")).toEqual({ frame: 2, port: 3, value: 8950 });
  });

  it("is of a figure that both runs have", async () => {
    const run = await made();
    const less = await made({ records: { starts: list(0, 1, 1, 1), port: list(1), busy: list(1) } });
    expect([run.metrics, less.metrics]).toEqual([["queue_max_bytes", "busy"], ["busy"]]);
    expect([within([run, less], {}).metric, within([run], {}).metric, within([less], { metric: "drops" }).metric,
      within([run, less], { metric: "queue_max_bytes", beside: 1 }).metric]).toEqual(
      ["busy", "queue_max_bytes", "busy", "busy"]);
  });

  it("has curves of what is recorded alone", async () => {
    const panes = panesOfPort(await made(), 1);
    expect(panes.map(({ title, curves }) => [title, ...curves.map(({ label }) => label)])).toEqual(
      [["Queue", "largest"], ["Utilisation", "busy"]]);
  });
});

describe("the heat map", () => {
  it("begins with the rows of ports that have something, unless they are most of all", () => {
    const worst = (some: number, ports: number) => Float64Array.from({ length: ports }, (_, i) => (i < some ? 1 : 0));
    expect([rowsOfSome(worst(50, 900), 900), rowsOfSome(worst(2, 900), 900), rowsOfSome(worst(2, 4), 4),
      rowsOfSome(worst(90, 100), 100), rowsOfSome(worst(0, 100), 100), rowsOfSome(null, 100)]).toEqual(
      [50, 8, 4, 100, 100, 100]);
  });

  it("keeps the largest of what shares a cell", async () => {
    const run = await made();
    const order = portOrder(run, layout(run.timeline).order, run.worstOf("queue_max_bytes"));
    expect([...order]).toEqual([3, 1, 0, 2]);
    const whole = { frame0: 0, frame1: 3, row0: 0, row1: 4 };
    expect([...pooled(run, "queue_max_bytes", rowsOf(order), whole, 1, 2)]).toEqual([9000, 100]);
    const first = { ...whole, frame1: 1 };
    expect([...pooled(run, "queue_max_bytes", rowsOf(order), first, 1, 4)]).toEqual([400, 1500, 0, 0]);
  });

  it("shows nothing as the ground, and the most as standing out most", () => {
    expect([step(0, 9), step(1e-9, 9), step(9, 9), step(1, 0)]).toEqual([0, 1, 255, 0]);
    const grey = (colours: Uint8Array, at: number) => colours[4 * at]! + colours[4 * at + 1]! + colours[4 * at + 2]!;
    const [light, dark] = [scale([250, 250, 250]), scale([20, 20, 20])];
    expect(grey(light, 255)).toBeLessThan(grey(light, 1));
    expect(grey(dark, 255)).toBeGreaterThan(grey(dark, 1));
  });
});

describe("two runs", async () => {
  // frames half as long, and a frame more than the first run has
  const finer = await made({
    timeline: { frame_s: 5e-6, frames: 8 },
    records: {
      starts: list(0, 1, 2, 2, 2, 3, 3, 3, 4), port: list(3, 3, 0, 3), queue_max_bytes: list(900, 300, 100, 50),
      busy: list(1, 0.5, 0.5, 1), drops: list(2, 3, 0, 0),
    },
  });
  const pair = new Pair(await made(), finer);
  const told = (metric: "queue_max_bytes" | "busy" | "drops") => {
    const found: [number, number, number][] = [];
    pair.each(metric, 0, 9, (port, frame, less) => { found.push([port, frame, less]); });
    return found.sort((a, b) => a[1] - b[1] || a[0] - b[0]);
  };

  it("are compared in the longer of their frames: the largest queue, mean shares, sums of packets", () => {
    expect([pair.why, pair.frames, pair.frame_s]).toEqual(["", 4, 1e-5]);
    expect(told("queue_max_bytes")).toEqual([[1, 0, -1500], [3, 0, 500], [3, 2, -9000], [3, 3, 50]]);
    expect(told("busy")).toEqual([[1, 0, -1], [3, 0, 0.25], [0, 2, 0.25], [3, 2, -1], [3, 3, 0.5]]);
    expect(told("drops")).toEqual([[3, 0, 5]]);
    expect([pair.at("queue_max_bytes", 3, 0), pair.largestOf("queue_max_bytes")]).toEqual([500, 9000]);
    expect([...pair.worstOf("drops")]).toEqual([0, 0, 0, 5]);
  });

  it("share the clock of the one that ends later", () => {
    expect(pair.longer).toBe(finer);
    expect([pair.frameOf(3.2e-5), pair.frameOf(9), pair.frameOf(-1)]).toEqual([3, 3, 0]);
  });

  it("have a heat map that keeps the largest difference either way", () => {
    const rows = rowsOf(Uint32Array.from([0, 1, 2, 3]));
    const whole = { frame0: 0, frame1: 4, row0: 0, row1: 4 };
    expect([...pooled(pair, "queue_max_bytes", rows, whole, 2, 2)]).toEqual([-1500, 0, 500, -9000]);
    expect([signed(-9, 9), signed(0, 9), signed(9, 9), signed(1e-9, 9), signed(1, 0)]).toEqual([1, 128, 255, 129, 128]);
    const ground = [10, 20, 30] as [number, number, number];
    expect([...diverging(ground).slice(4 * 128, 4 * 128 + 3)]).toEqual(ground);
  });

  it("are matched by names of ports, and say why they cannot be compared", async () => {
    expect([pair.firstOf(3), pair.secondOf(2), pair.firstOf(null), pair.alone]).toEqual([3, 2, null, 0]);
    const other = await made();
    other.names[3] = "s>h9";
    const some = new Pair(await made(), other);
    expect([some.why, some.alone, some.firstOf(3), some.secondOf(3)]).toEqual(["", 2, null, null]);
    const third = new Pair(await made(), await made({ timeline: { frame_s: 7e-6 } }));
    expect(third.why).toContain("do not match");
    expect(new Pair(await made(), await made({ timeline: { start_s: 1e-3 } })).why).toContain("begin");
  });

  it("have their curves in one pane, the second's dashed in the first's colours", () => {
    const pane = (title: string, label: string) => ({ title, unit: "B", curves: [
      { label, time_s: [0], values: [1], stepped: true }] });
    const panes = beside([pane("Queue", "largest")], [pane("Queue", "largest"), pane("Rate", "delivered")], ["A", "B"]);
    expect(panes.map((one) => one.title)).toEqual(["Queue", "Rate"]);
    expect(panes[0]!.curves.map(({ label, dashed, colour }) => [label, dashed, colour])).toEqual(
      [["largest, A", false, 0], ["largest, B", true, 0]]);
  });
});

describe("the layout", () => {
  it("has hosts below and orders names as numbers", () => {
    const nodes = ["h10", "h9", "s0"].map((name) => ({ name, kind: "", tier: name === "s0" ? 1 : 0, pod: null }));
    const { x, y, order } = layout({ nodes, ports: [] });
    expect(order).toEqual([1, 0, 2]);
    expect(y[0]).toBeGreaterThan(y[2]!);
    expect(x[1]).toBeLessThan(x[0]!);
  });

  it("has cells beside one another, each below its channel and with its gateway", () => {
    const node = (name: string, kind: string, tier: number, pod: number | null, x?: number, y?: number) => (
      { name, kind, tier, pod, ...(x === undefined ? {} : { x, y: y! }) });
    const nodes = [node("a", "station", 0, 0, 10, 0), node("b", "station", 0, 0, -10, 5),
      node("c", "station", 0, 1, 5, 0), node("air0", "channel", 1, 0), node("air1", "channel", 1, 1),
      node("gateway0", "gateway", 2, null, 0, 0),
      node("gateway1", "gateway", 2, null, 0, 0), node("server", "host", 0, 2)];
    const ports = [[0, 3], [1, 3], [2, 4], [5, 3], [6, 4], [6, 7], [5, 7]].map(([from, to]) => (
      { from: from!, to: to! }));
    const { x, y } = layout({ nodes, ports });
    const column = (i: number) => Math.floor(3 * x[i]!);
    expect(nodes.map((_, i) => column(i))).toEqual([0, 0, 1, 0, 1, 0, 1, 2]);
    // one scale: the second cell is a quarter as wide as the first
    expect((x[2]! - x[6]!) / (x[0]! - x[1]!)).toBeCloseTo(0.25);
    for (const i of [0, 1, 2, 5, 6]) expect(y[i]!).toBeGreaterThan(y[3]! + 0.1);
  });

  it("has hosts without a pod under the switch that they hang on", () => {
    const node = (name: string, tier: number) => ({ name, kind: "", tier, pod: null });
    const nodes = [node("left", 1), node("right", 1), node("r0", 0), node("s0", 0), node("s1", 0)];
    const ports = [{ from: 0, to: 1 }, { from: 2, to: 1 }, { from: 1, to: 2 }, { from: 3, to: 0 }, { from: 4, to: 0 }];
    expect(layout({ nodes, ports }).order).toEqual([3, 4, 2, 0, 1]);
  });
});

describe("the address", async () => {
  const run = await made();

  it("says a moment and is read again", () => {
    const moment = { run: 1, beside: 0, time_s: 1.5e-4, port: 7, flow: null, metric: "busy",
      span: { from_s: 1e-4, to_s: 2.5e-4 }, pins: [], notes: [], tab: "packets" } satisfies Moment;
    expect(readHash(written(moment))).toEqual(
      { run: 1, beside: 0, time_s: 1.5e-4, port: 7, metric: "busy", span: { from_s: 1e-4, to_s: 2.5e-4 },
        tab: "packets" });
    expect(written({ ...moment, span: null })).not.toContain("from");
  });

  it("keeps what is plotted together and what is noted, as text", () => {
    const pins: Pin[] = [{ what: "port", at: 7 }, { what: "flow", at: 3 }];
    const notes = [{ time_s: 1e-4, text: "<img src=x onerror=hurt()> & 50 % ~ #1" }, { time_s: 2e-4, text: "é ↑" }];
    const hash = written({ ...within([run], {}), pins, notes });
    expect(readHash(hash)).toMatchObject({ pins, notes });
    expect(hash.slice(1)).not.toMatch(/[<>"# ]/);
  });

  it("has so many pins and notes, of so many letters, and those that a run has", () => {
    const many = Array.from({ length: 99 }, (_, i) => `p${i}`).join(".");
    expect(readHash(`#pins=${many}`).pins).toHaveLength(MOST_PINS);
    expect(readHash(`#pins=p1.p1.x9.f.p-1.f2&note=1~a&note=x~b&note=2~%20&note=~c`)).toEqual(
      { pins: [{ what: "port", at: 1 }, { what: "flow", at: 2 }], notes: [{ time_s: 1, text: "a" }] });
    const { notes } = readHash(`#${"note=1~abc&".repeat(50)}note=0~${"x".repeat(5000)}`);
    expect(notes!.length).toBe(MOST_NOTES);
    expect(readHash(`#note=0~${"x".repeat(5000)}`).notes![0]!.text).toHaveLength(MOST_LETTERS);
    expect(within([run], readHash("#pins=p3.p4.f9")).pins).toEqual([{ what: "port", at: 3 }]);
    expect(within([run], readHash("#note=1e300~a&note=-1~b&note=1e-5~c")).notes).toEqual([{ time_s: 1e-5, text: "c" }]);
  });

  it("is ignored where it is wrong", () => {
    expect(readHash("#t=x&port=-1&flow=<b>&m=none&tab=x")).toEqual({});
    for (const part of ["from=1&to=1", "from=2&to=1", "from=1", "to=1", "from=x&to=1"]) {
      expect(readHash(`#${part}`)).toEqual({});
    }
  });
});

it("draws a fabric as SVG with names as text alone", () => {
  const pen = asSvg(100, 50, 10, (words) => words.length);
  pen.lines([1, 2.345, 3, 4, 5, 6, 7, 8], "#c00", 2);
  pen.text(5, 6, `<img src="x">&`, "#000", "#fff");
  const file = pen.file("#fff", "#000", ["one < two"]);
  expect(file).toContain('<path d="M1 2.35L3 4M5 6L7 8" stroke="#c00" stroke-width="2"/>');
  expect(file).toContain("&lt;img src=&quot;x&quot;&gt;&amp;</text>");
  expect(file).toContain('height="73"');
  expect(fileName("../a b<c>", "svg")).toBe("a-b-c.svg");
});
