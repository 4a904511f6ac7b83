import { describe, expect, it } from "vitest";
import { short } from "../src/data/format";
import { chosen } from "../src/data/table";
import { layout } from "../src/scene/layout";
import { scale, step } from "../src/scene/palette";
import { pooled, portOrder, rowsOf } from "../src/scene/raster";
import { readHash, written } from "../src/time/link";
import { list, made } from "./made";

describe("a run", () => {
  it("has the figures of a port in a frame, and nothing where nothing is recorded", () => {
    const run = made();
    expect(run.at(3, 2)).toMatchObject({ queue_max_bytes: 9000, busy: 1, drops: 0 });
    expect(run.at(1, 1).queue_max_bytes).toBe(0);
    expect([...run.portOver("queue_max_bytes", 3)]).toEqual([400, 0, 9000]);
    expect([...run.worstOf("queue_max_bytes")]).toEqual([100, 1500, 0, 9000]);
    expect(run.names[1]).toBe("s>h0");
  });

  it("finds the frame of a time that is the frame's own", () => {
    const run = made();
    for (let frame = 0; frame < 3; frame++) expect(run.frameOf(run.timeOf(frame))).toBe(frame);
    expect([run.frameOf(-1), run.frameOf(9)]).toEqual([0, 2]);
  });

  it("goes from event to event", () => {
    const names = { values: Uint8Array.from([0, 0]), texts: ["timeout"] };
    const run = made({ events: { time_s: list(2e-5, 1e-5), kind: names, what: names, subject: list(4, 5) } });
    expect(run.eventFrom(0, 1)?.subject).toBe(5);
    expect(run.eventFrom(1e-5, 1)?.subject).toBe(4);
    expect(run.eventFrom(2e-5, 1)).toBeUndefined();
    expect(run.eventFrom(2e-5, -1)?.subject).toBe(5);
  });

  it("knows the path of a flow in its order and the flows of a port", () => {
    const run = made({ paths: { flow: list(0, 0, 1), port: list(3, 0, 3), position: list(1, 0, 0) } });
    expect(run.pathOf(0)).toEqual([0, 3]);
    expect(run.flowsOn(3)).toEqual([0, 1]);
  });
});

describe("the table of flows", () => {
  const group = { values: Uint8Array.from([0, 1, 0]), texts: ["web", "bulk"] };
  const ends = { src: list(0, 1, 0), dst: list(1, 0, 1) };
  const run = made({ flows: { flow: list(0, 1, 2), group, slowdown: list(NaN, 2, 7), ...ends } });

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

describe("the heat map", () => {
  it("keeps the largest of what shares a cell", () => {
    const run = made();
    const order = portOrder(run, layout(run.timeline.nodes).order, "queue_max_bytes", true);
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

describe("the layout", () => {
  it("has hosts below and orders names as numbers", () => {
    const nodes = ["h10", "h9", "s0"].map((name) => ({ name, kind: "", tier: name === "s0" ? 1 : 0, pod: null }));
    const { x, y, order } = layout(nodes);
    expect(order).toEqual([1, 0, 2]);
    expect(y[0]).toBeGreaterThan(y[2]!);
    expect(x[1]).toBeLessThan(x[0]!);
  });
});

describe("the address", () => {
  it("says a moment and is read again", () => {
    const moment = { run: 1, time_s: 1.5e-4, port: 7, flow: null, metric: "busy" } as const;
    expect(readHash(written(moment))).toEqual({ run: 1, time_s: 1.5e-4, port: 7, metric: "busy" });
  });

  it("is ignored where it is wrong", () => {
    expect(readHash("#t=x&port=-1&flow=<b>&m=none")).toEqual({});
  });
});

it("writes figures with their unit", () => {
  const said = [short(1234567, "B"), short(0, "s"), short(2.5e-5, "s"), short(NaN, "s")];
  expect(said).toEqual(["1.235 MB", "0 s", "25 µs", "–"]);
  // a half is no 500 m, and packets are no kilopackets
  expect([short(0.5, ""), short(12345, "packets"), short(0.1234567, "")]).toEqual(["0.5", "12,345 packets", "0.1235"]);
});
