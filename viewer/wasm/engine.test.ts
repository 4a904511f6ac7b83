import { describe, expect, it } from "vitest";
import { collectivesOf } from "../src/data/collectives";
import { lanesOf } from "../src/data/lanes";
import { OF_JOBS, runOf, SHOWN } from "../src/engine/shown";
import { numbersOf, Refused, type Problem } from "../src/engine/wasm";
import { classOf, Work, type Ran } from "../src/engine/work";
import { STARTED } from "../src/lab/Own";
import { recording } from "../src/lab/runs";
import { compiled, engine } from "./engine";

const SHORT: [string, string][] = [["run.duration", "4ms"], ["run.warmup", "1ms"]];

const caught = (act: () => unknown): Refused => {
  try {
    act();
  } catch (error) {
    return error as Refused;
  }
  throw new Error("nothing was refused");
};

describe("the engine in a page", () => {
  const own = engine();

  it("lists and describes what there is", () => {
    expect(own.list("controllers").map(({ name }) => name)).toContain("swift");
    expect(own.describe("controllers", "dctcp").keys.map(({ name }) => name)).toContain("g");
    expect(own.text("dumbbell")).toContain("kind = \"dumbbell\"");
    expect(JSON.parse(own.schema())).toHaveProperty("properties.topology");
    expect(own.version).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it("says what a scenario is: size, text, keys", () => {
    const found = own.check({ name: "incast", set: [["traffic.flows", "20"], ["topology.sources", "20"]] });
    expect(found).toMatchObject({ name: "incast", hosts: 21, flows: 20, governing: ["dctcp"] });
    const given = (found as unknown as { given: { path: string; value: string }[] }).given;
    expect(given.find(({ path }) => path === "traffic.answers.flows")?.value).toBe("20");
    expect(given.find(({ path }) => path === "topology.source_link.rate")?.value).toBe("1Gbps");
    const again = given.filter(({ path }) => !/^(name|description)$/.test(path)).map(
      ({ path, value }): [string, string] => [path, value]);
    expect(own.check({ name: "incast", set: again })).toMatchObject({ hash: found.hash, hosts: 21 });
  });

  it("refuses wrong keys with the program's words, and goes on", () => {
    const wrong: Problem[] = caught(() => own.check({ name: "incast", set: [["traffic.flows", "many"]] })).problems;
    expect(wrong[0]!.key).toBe("traffic.flows");
    expect(caught(() => own.check({ name: "nothing" })).message).toContain("no built-in scenario");
    expect(caught(() => own.check({ name: "x", text: "[run" })).message).toContain("x");
    expect(caught(() => own.run({ name: "dumbbell", controller: "swift:target=7" })).problems[0]!.key)
      .toContain("controller");
    expect(own.check({ name: "incast", set: [["topology.sources", "100000"], ["traffic.flows", "100000"]],
      most_bytes: 1e8 }).text).toBeUndefined();
  });

  it("runs, tells progress, and stops", () => {
    const heard: number[] = [];
    const summary = JSON.parse(own.run({ name: "dumbbell", set: SHORT, seed: 2 }, ({ now_s }) => {
      heard.push(now_s);
      return true;
    }).summary) as { run: { hops: number; seed: number } };
    expect(summary.run).toMatchObject({ seed: 2 });
    expect(heard.length).toBeGreaterThan(5);
    const flows = own.table("flows");
    expect(flows.rows).toBe(2);
    const rate = flows.columns.find(({ name }) => name === "throughput_bps")!;
    expect(numbersOf(rate).every((value) => value > 1e9)).toBe(true);
    expect(caught(() => own.run({ name: "dumbbell" }, () => false)).message).toContain("stopped");
  });

  it("tells what has been delivered while a run with a timeline goes on", () => {
    const told = (set: [string, string][]) => {
      const heard: { at_s: number; bytes: number }[] = [];
      own.run({ name: "dumbbell", set: [["run.duration", "400ms"], ["run.warmup", "0s"], ...set] }, ({ delivered }) => {
        if (delivered) heard.push(delivered);
        return true;
      });
      return heard;
    };
    expect(told([])).toEqual([]);
    const heard = told([["measure.timeline", "1ms"]]);
    // two flows share 10 Gb/s
    const last = heard[heard.length - 1]!;
    expect(last.bytes / last.at_s).toBeGreaterThan(1.1e9);
    expect(last.bytes / last.at_s).toBeLessThan(1.25e9);
    expect(heard.every(({ at_s }, i) => !i || at_s >= heard[i - 1]!.at_s)).toBe(true);
  });

  it("has runs over time as the panes read them", async () => {
    const work = new Work();
    await work.done({ do: "begin", module: compiled() }, () => undefined);
    const ran = await work.done({ do: "run", scenario: { name: "dumbbell",
      set: [...SHORT, ["measure.timeline", "auto"]] }, sources: [], tables: SHOWN }, () => undefined) as Ran;
    const run = runOf(ran, "dumbbell")!;
    expect(run.flowCount).toBe(2);
    expect(run.largestOf("queue_max_bytes")).toBeGreaterThan(1500);
    expect(run.pathOf(0).length).toBe(3);
    expect(Math.max(...run.flowOver("cwnd_bytes", 0).filter((value) => !Number.isNaN(value)))).toBeGreaterThan(1500);
  });

  it("has ranks and collectives of training jobs as the panes read them", async () => {
    const work = new Work();
    await work.done({ do: "begin", module: compiled() }, () => undefined);
    const set: [string, string][] = [...recording(true), ...["train", "other"].map((job): [string, string] => (
      [`job.${job}.collective.size`, "100kB"]))];
    const of = async (name: string, set: [string, string][]) => runOf(await work.done({ do: "run", scenario: {
      name, set }, sources: [], tables: [...SHOWN, ...OF_JOBS] }, () => undefined) as Ran, name)!;
    const run = await of("two-jobs", set);
    expect(lanesOf(run).jobs.map(({ name, lanes, iterations }) => [name, lanes.length, iterations.length])).toEqual(
      [["train", 8, 3], ["other", 8, 3]]);
    const { all, kinds } = collectivesOf(run);
    expect(kinds.map(({ job, count, finished, bytes }) => [job, count, finished, bytes])).toEqual(
      [["train", 3, 3, 1e5], ["other", 3, 3, 1e5]]);
    expect(all.every(({ efficiency }) => efficiency > 0 && efficiency <= 1)).toBe(true);
    const plain = await of("dumbbell", [...SHORT, ...recording(false)]);
    expect([plain.tables.tasks, plain.tables.ranks, plain.tables.collectives]).toEqual([null, null, null]);
    expect(work.held).toBeGreaterThan(2 ** 20);
  });

  it("lists all lines of a text that are no TOML, and all wrong settings", () => {
    const text = "[run]\nduration = 5ms\n[queue\n";
    expect(caught(() => own.check({ name: "mine", text })).problems).toHaveLength(2);
    const set: [string, string][] = [["run.duration", "x"], ["queue.mark", "y"], ["run.warmup", "1ms"]];
    expect(caught(() => own.check({ name: "dumbbell", set })).problems.map(({ key }) => key)).toEqual(
      ["run.duration", "queue.mark"]);
  });

  it("runs a class of the user's, and says where it fails", async () => {
    const work = new Work();
    await work.done({ do: "begin", module: compiled() }, () => undefined);
    // long enough for windows to be cut
    const set: [string, string][] = [["run.duration", "30ms"], ["queue.limit", "70p"]];
    const run = (text: string, controller = STARTED.name) => work.done({ do: "run", tables: [], sources: [
      { ...STARTED, text }], scenario: { name: "two-senders", set, controller } }, () => undefined) as Promise<Ran>;
    const summary = JSON.parse((await run(STARTED.text)).summary) as { flows: { throughput_mean_bps: number } };
    expect(summary.flows.throughput_mean_bps).toBeGreaterThan(1e8);
    const other = JSON.parse((await run(STARTED.text, "lab:Mine:b=0.9")).summary) as typeof summary;
    expect(other).not.toEqual(summary);
    await expect(run(STARTED.text.replace("this.cwnd = this.mss", "this.cwnd = -1").replace("on_loss(event) {",
      "on_loss(event) { this.cwnd = -1; return;"))).rejects.toThrow(/cwnd is -1; expected a number of bytes/);
    await expect(run(STARTED.text.replace("this.mss = env.mss", "nothing.at.all"))).rejects.toThrow(
      /failed in flow 0 at .*nothing is not defined/);
    await expect(run(STARTED.text, "lab:Mine:c=1")).rejects.toThrow(/c is no parameter; it has a, b/);
    await expect(classOf({ name: "lab:X", text: "export default class { on_ack() {} }" })).rejects.toThrow(/on_loss/);
  }, 20_000);
});
