/** Lanes of ranks: what a rank does when, in words and as bars. */

import { describe, expect, it } from "vitest";
import { doingAt, lanesOf, linkOfHost, sharesOf, stretchesOf, type Lane } from "../src/data/lanes";
import { needsOf, OF_RANKS } from "../src/data/need";
import { columnsOf } from "../src/data/run";
import { linesOf, rowsOf } from "../src/panes/Lanes";
import { barsOf, drawLane, laneColours } from "../src/scene/lanes";
import { readHash } from "../src/time/link";
import { list, made, watched } from "./made";

const texts = (...all: string[]) => {
  const own = [...new Set(all)];
  return { values: Uint8Array.from(all, (one) => own.indexOf(one)), texts: own };
};

/** Two ranks that calculate, exchange 1 MB and calculate again; the second iteration of rank 1 does not end. */
const MORE = {
  timeline: { frame_s: 1e-5, frames: 20, start_s: 0, end_s: 2e-4 },
  ranks: {
    job: texts("train", "train", "train", "train"), rank: list(0, 1, 0, 1), host: list(0, 1, 0, 1),
    iteration: list(0, 0, 1, 1), start_s: list(0, 0, 1e-4, 1e-4), finish_s: list(1e-4, 1e-4, 1.5e-4, NaN),
  },
  tasks: {
    job: texts("train", "train", "train", "train", "train"), rank: list(0, 0, 0, 1, 1), iteration: list(0, 0, 0, 0, 0),
    task: list(0, 1, 2, 0, 1), kind: texts("calc", "send", "calc", "recv", "recv"), stream: list(0, 0, 1, 0, 0),
    peer: list(NaN, 1, NaN, 0, NaN), tag: list(NaN, 7, NaN, 7, NaN), bytes: list(NaN, 1e6, NaN, 1e6, 5),
    start_s: list(0, 2e-5, 8e-5, 0, 1e-4), finish_s: list(2e-5, 9e-5, 1e-4, 8e-5, NaN),
    message_start_s: list(NaN, 2e-5, NaN, 3e-5, NaN), message_finish_s: list(NaN, 9e-5, NaN, 8e-5, NaN),
  },
};
const WHOLE = { from_s: 0, to_s: 2e-4 };
const lanes = async () => lanesOf(await made(MORE));
const plain = (words: string) => words.replaceAll("\u00a0", " ");

describe("a lane", () => {
  it("has a calculation before communication, and waits with neither", async () => {
    const [job] = (await lanes()).jobs;
    const [first, second] = job!.lanes as [Lane, Lane];
    expect(first.stretches).toEqual([
      { from_s: 0, to_s: 2e-5, doing: "calculation", under: false },
      { from_s: 2e-5, to_s: 8e-5, doing: "exposed communication", under: true },
      { from_s: 8e-5, to_s: 9e-5, doing: "calculation", under: true },
      { from_s: 9e-5, to_s: 1e-4, doing: "calculation", under: false },
      { from_s: 1e-4, to_s: 1.5e-4, doing: "waiting", under: false },
    ]);
    expect(second.stretches.map(({ doing }) => doing)).toEqual(["waiting", "exposed communication", "waiting"]);
    // an iteration that does not end lasts until the run does
    expect(second.stretches.at(-1)!.to_s).toBe(2e-4);
    expect(sharesOf(second, WHOLE).waiting).toBeCloseTo(1.5e-4, 12);
    expect(sharesOf(first, { from_s: 1e-5, to_s: 3e-5 })).toEqual({
      calculation: expect.closeTo(1e-5, 12), "exposed communication": expect.closeTo(1e-5, 12), waiting: 0 });
  });

  it("joins messages that overlap, and is nothing outside iterations", () => {
    const at = (from_s: number, to_s: number) => ({ from_s, to_s });
    expect(stretchesOf([at(1, 5), at(7, 9)], [], [at(0, 2), at(1.5, 3), at(3, 4), at(6, 6.5)])).toEqual([
      { from_s: 1, to_s: 4, doing: "exposed communication", under: true },
      { from_s: 4, to_s: 5, doing: "waiting", under: false }, { from_s: 7, to_s: 9, doing: "waiting", under: false },
    ]);
    expect(stretchesOf([], [at(0, 1)], [])).toEqual([]);
  });

  it("says task, peer, bytes and times at a moment", async () => {
    const found = await lanes();
    const [first, second] = found.jobs[0]!.lanes as [Lane, Lane];
    expect(linesOf(found, first, 5e-5).map(plain)).toEqual(["exposed communication for 60 µs, 20 µs to 80 µs",
      "1 MB to rank 1, tag 7: task 1 of iteration 0, 20 µs to 90 µs (70 µs)"]);
    expect(linesOf(found, first, 8.5e-5).map(plain)[1]).toBe(
      "calculation on stream 1: task 2 of iteration 0, 80 µs to 100 µs (20 µs)");
    expect(linesOf(found, first, 1.8e-4)).toEqual(["in no iteration"]);
    expect(plain(linesOf(found, second, 4e-5)[1]!)).toBe(
      "1 MB from rank 0, tag 7: task 0 of iteration 0, 30 µs to 80 µs (50 µs)");
    expect(doingAt(second, 2.1e-4)).toBeNull();
  });
});

describe("rows of lanes", () => {
  it("begin with the head of their job, in the order that is asked for", async () => {
    const found = await lanes();
    const order = (by: Parameters<typeof rowsOf>[1], seen = WHOLE) => (
      rowsOf(found, by, seen).map(({ lane }) => lane?.rank ?? null));
    expect([order("rank"), order("calculation"), order("waiting")]).toEqual([[null, 0, 1], [null, 0, 1], [null, 1, 0]]);
    // of what is seen alone
    expect(order("waiting", { from_s: 1e-4, to_s: 1.2e-4 })).toEqual([null, 0, 1]);
    expect(found.jobs[0]!.iterations).toEqual([
      { number: 0, from_s: 0, to_s: 1e-4, ended: true, last: 0 },
      { number: 1, from_s: 1e-4, to_s: 2e-4, ended: false, last: 1 },
    ]);
  });

  it("lead to the link of their host", async () => {
    const run = await made(MORE);
    expect([linkOfHost(run, 1), linkOfHost(run, 9)]).toEqual([2, null]);
    expect(run.timeline.ports[2]!.from).toBe(1);
  });

  it("are drawn in the colours of the theme, a strip for messages beside calculations", async () => {
    const [lane] = (await lanes()).jobs[0]!.lanes as [Lane];
    const bars = barsOf(lane, WHOLE, 200);
    expect(bars.map(({ what, x, wide }) => [what, Math.round(x), Math.round(wide)])).toEqual([
      ["calculation", 0, 20], ["exposed communication", 20, 60], ["calculation", 80, 10],
      ["overlapped communication", 80, 10], ["calculation", 90, 10], ["waiting", 100, 50]]);
    const drawn: [string, number, number][] = [];
    const context = { fillStyle: "", fillRect(x: number, _: number, wide: number) {
      drawn.push([this.fillStyle, x, wide]);
    } };
    drawLane(context as unknown as CanvasRenderingContext2D, lane, WHOLE, true,
      { left: 10, top: 0, width: 200, height: 20 });
    expect(drawn[0]).toEqual([laneColours(true).calculation, 10, 20]);
    // lines at the ends of both iterations
    expect(drawn.filter(([, , wide]) => wide === 1).map(([, x]) => Math.round(x + 0.5))).toEqual([10, 110, 110, 160]);
  });

  it("draw no more bars than there are pixels", () => {
    const many = Array.from({ length: 5_000 }, (_, i) => ({ from_s: i, to_s: i + 0.5 }));
    const lane = { stretches: stretchesOf([{ from_s: 0, to_s: 5_000 }], many, []) } as unknown as Lane;
    const bars = barsOf(lane, { from_s: 0, to_s: 5_000 }, 100);
    expect(bars.length).toBeLessThan(600);
    const end = Math.max(...bars.map(({ x, wide }) => x + wide));
    expect([end <= 100, end > 99]).toEqual([true, true]);
  });
});

describe("a record of tasks", () => {
  it("is read for ranks alone, and each of its columns is needed", async () => {
    const { run, asked } = watched(MORE);
    for (const need of needsOf({ metric: "busy", port: null, flow: null, span: null })) await run.read(need);
    const before = asked.length;
    expect(run.isRead(OF_RANKS)).toBe(false);
    await run.read(OF_RANKS);
    expect(asked.length - before).toBe(OF_RANKS.tasks!.length + OF_RANKS.ranks!.length);
    for (const [name, columns] of columnsOf(OF_RANKS)) {
      for (const left of columns) {
        const own = watched(MORE).run;
        await own.read({ ...OF_RANKS, [name]: columns.filter((column) => column !== left) });
        const show = () => {
          const found = lanesOf(own);
          for (const lane of found.jobs.flatMap((job) => job.lanes)) {
            for (const row of [...lane.calculations, ...lane.messages]) found.said(row);
          }
        };
        expect(show, `${name}.${left}`).toThrow("was not read");
      }
    }
  });

  it("is not there in runs without jobs, which need nothing of it", async () => {
    const run = await made();
    expect([run.tables.tasks ?? null, run.isRead(OF_RANKS), lanesOf(run).count]).toEqual([null, true, 0]);
  });

  it("has a tab that an address names", () => {
    expect(readHash("#tab=ranks").tab).toBe("ranks");
  });
});
