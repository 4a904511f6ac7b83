/** Collectives of jobs: kinds, means, order, words. */

import { describe, expect, it } from "vitest";
import { collectivesOf, ordered } from "../src/data/collectives";
import { needsOf, OF_COLLECTIVES } from "../src/data/need";
import { columnsOf } from "../src/data/run";
import { messageSaid, underWaySaid, valueOf } from "../src/panes/Collectives";
import { readHash } from "../src/time/link";
import { list, made, watched } from "./made";

const texts = (...all: string[]) => {
  const own = [...new Set(all)];
  return { values: Uint8Array.from(all, (one) => own.indexOf(one)), texts: own };
};

/** Three all-reduces of 4 MB and one of 1 kB of a job, of which the last did not end; an all-to-all of another job. */
const MORE = {
  timeline: { frame_s: 1e-5, frames: 20, start_s: 0, end_s: 2e-4 },
  ranks: { job: texts("train", "train", "other"), rank: list(0, 1, 1), host: list(0, 1, 0) },
  collectives: {
    job: texts("train", "train", "train", "train", "other"), iteration: list(0, 1, 1, 2, 0),
    collective: list(0, 0, 1, 0, 0),
    pattern: texts("all-reduce", "all-reduce", "all-reduce", "all-reduce", "all-to-all"),
    algorithm: texts("ring", "ring", "tree", "ring", "at-once"), members: list(2, 2, 2, 2, 2),
    bytes: list(4e6, 4e6, 1e3, 4e6, 5e5), first_start_s: list(0, 5e-5, 9e-5, 1.5e-4, 0),
    last_finish_s: list(4e-5, 1.1e-4, 1e-4, NaN, 2e-5), time_s: list(4e-5, 6e-5, 1e-5, NaN, 2e-5),
    skew_s: list(0, 2e-6, 0, NaN, 1e-6), busbw_Bps: list(1e11, 6e10, 1e8, NaN, 1.25e10),
    efficiency: list(0.9, 0.6, 0.1, NaN, 0.5), slowest_rank: list(0, 1, 0, 0, 1), slowest_from: list(0, 1, 0, NaN, 1),
    slowest_to: list(1, 0, 1, NaN, 0), slowest_message_s: list(1e-5, 2e-5, 1e-6, NaN, 1.5e-5),
  },
};
const plain = (words: string) => words.replaceAll("\u00a0", " ");

describe("kinds of collectives", () => {
  it("are a job's pattern, members and bytes, with means over those that ended", async () => {
    const { kinds } = collectivesOf(await made(MORE));
    expect(kinds.map(({ job, pattern, bytes, count, finished }) => [job, pattern, bytes, count, finished])).toEqual([
      ["train", "all-reduce", 4e6, 3, 2], ["train", "all-reduce", 1e3, 1, 1], ["other", "all-to-all", 5e5, 1, 1]]);
    expect(kinds[0]).toMatchObject({
      time_s: expect.closeTo(5e-5, 12), longest_s: 6e-5, skew_s: expect.closeTo(1e-6, 12), busbw: 8e10,
      efficiency: 0.75, algorithm: "ring",
    });
    // of those in which any member waits
    expect(kinds.map(({ slowest, share }) => [slowest, share])).toEqual([[1, 1], [NaN, NaN], [1, 1]]);
  });

  it("have no figures where none ended", async () => {
    const more = { ...MORE, collectives: { ...MORE.collectives, last_finish_s: list(NaN, NaN, NaN, NaN, NaN) } };
    const [kind] = collectivesOf(await made(more)).kinds;
    expect([kind!.finished, kind!.time_s, kind!.longest_s, kind!.slowest]).toEqual([0, NaN, NaN, NaN]);
  });
});

describe("collectives", () => {
  it("are ordered by a figure, those without it last", async () => {
    const { all } = collectivesOf(await made(MORE));
    const order = (name: Parameters<typeof valueOf>[1], descending: boolean) => (
      ordered(all, (own) => valueOf(own, name), descending));
    expect(order("time_s", true)).toEqual([1, 0, 4, 2, 3]);
    expect(order("time_s", false)).toEqual([2, 4, 0, 1, 3]);
    expect(order("job", false)).toEqual([4, 0, 1, 2, 3]);
    expect(order("message", true)[0]).toBe(1);
  });

  it("last to the end of the run where they did not end, and name their longest message", async () => {
    const found = collectivesOf(await made(MORE));
    expect([found.all[3]!.ended, found.all[3]!.to_s, found.all[3]!.slowest]).toEqual([false, 2e-4, NaN]);
    expect([found.all[1]!, found.all[3]!].map(messageSaid).map(plain)).toEqual(["1 → 0, 20 µs", "–"]);
    expect([1e-5, 9.5e-5, 1.2e-4, 1.9e-4].map((at_s) => plain(underWaySaid(found, at_s)))).toEqual([
      "At 10 µs: all-reduce of train, all-to-all of other.", "At 95 µs: 2 × all-reduce of train.",
      "At 120 µs: no collective is under way.", "At 190 µs: all-reduce of train."]);
    expect([found.hostOf("train", 1), found.hostOf("other", 1), found.hostOf("other", 0)]).toEqual([1, 0, null]);
  });

  it("are read for their table alone, and each of their columns is needed", async () => {
    const { run, asked } = watched(MORE);
    for (const need of needsOf({ metric: "busy", port: null, flow: null, span: null })) await run.read(need);
    const before = asked.length;
    await run.read(OF_COLLECTIVES);
    expect(asked.length - before).toBe(OF_COLLECTIVES.collectives!.length + OF_COLLECTIVES.ranks!.length);
    for (const [name, columns] of columnsOf(OF_COLLECTIVES)) {
      for (const left of columns) {
        const own = watched(MORE).run;
        await own.read({ ...OF_COLLECTIVES, [name]: columns.filter((column) => column !== left) });
        expect(() => collectivesOf(own), `${name}.${left}`).toThrow("was not read");
      }
    }
  });

  it("are in a tab that an address names, and runs without them have none", async () => {
    expect(readHash("#tab=collectives").tab).toBe("collectives");
    expect(collectivesOf(await made()).all).toEqual([]);
  });
});
