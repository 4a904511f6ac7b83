/** Pauses as the viewer explains them: the trees of tests/pauses.json, which Python explains too, and what is said. */

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { crosses, flowsOf, ofFlow, ofPort, victimOf, type Branch, type Explanation } from "../src/data/blame";
import { BLAMED, needsOf, PAUSED } from "../src/data/need";
import { pausesOf } from "../src/data/pauses";
import { beginnings, ringSaid, sentenceOf, waitsSaid, whySaid } from "../src/data/reasons";
import { columnsOf, type Run } from "../src/data/run";
import type { Column } from "../src/data/unpack";
import { arrowOf, placeOf } from "../src/panes/Ring";
import { Aggregates } from "../src/scene/aggregate";
import { along, nearest, place } from "../src/scene/draw";
import { layout } from "../src/scene/layout";
import { drawPaused, drawRing } from "../src/scene/paused";
import { asSvg } from "../src/scene/pen";
import { fatTree, made, watched } from "./made";

type Told = Record<string, unknown>;
interface Case {
  name: string;
  end_s: number;
  nodes: string[];
  links: [number, number][];
  about: { classes: Record<string, number | null>; most_pauses: number };
  tables: Record<"ports" | "flows" | "timeline_paths" | "pauses", Record<string, (number | string | boolean | null)[]>>;
  expected: { victim: Told; flows: Told[]; ports: Told[] };
}

const CASES = JSON.parse(readFileSync(new URL("../../tests/pauses.json", import.meta.url), "utf-8")) as Case[];

function columnOf(values: (number | string | boolean | null)[]): Column {
  if (!values.some((one) => typeof one === "string")) {
    return { values: Float64Array.from(values, (one) => (one === null ? NaN : Number(one))) };
  }
  const texts = [...new Set(values as string[])];
  return { values: Float64Array.from(values as string[], (one) => texts.indexOf(one)), texts };
}

const table = (own: Case["tables"]["ports"]) => (
  Object.fromEntries(Object.entries(own).map(([name, values]) => [name, columnOf(values)])));

function moreOf({ tables, about, nodes, links, end_s }: Case) {
  return {
    about, ports: table(tables.ports), flows: table(tables.flows), paths: table(tables.timeline_paths),
    pauses: table(tables.pauses),
    timeline: { frame_s: 1e-6, frames: Math.round(end_s * 1e6), start_s: 0, end_s,
      nodes: nodes.map((name) => ({ name, kind: /^[hr]\d|^s\d$/.test(name) ? "host" : "switch",
        tier: name.startsWith("h") ? 0 : 1, pod: null })),
      ports: links.map(([from, to]) => ({ from, to })) },
  };
}

const runOf = (name: string): Promise<Run> => made(moreOf(CASES.find((one) => one.name === name)!));

/** A branch and an explanation as Python writes them. */
function branchTold(run: Run, branch: Branch): Told {
  const known = branch.pauses > 0;
  return {
    port: run.names[branch.port], class: branch.class_, waited_s: branch.waited_s, share: branch.share,
    pauses: branch.pauses, paused_s: branch.paused_s, passed_s: branch.passed_s,
    first_s: known ? branch.first_s : null, last_s: known ? branch.last_s : null,
    paused_by: known ? run.timeline.nodes[run.timeline.ports[branch.port]!.to]!.name : null,
    held_bytes: known ? branch.held : null, threshold_bytes: known ? branch.threshold : null,
    root_s: branch.root_s, ring: branch.isRing, arrivals: arrivalsTold(branch.arrivals),
    causes: branch.branches.map((below) => branchTold(run, below)),
  };
}

const arrivalsTold = (own: Branch["arrivals"]) => own && {
  flows: own.flows, hosts: own.hosts, times_the_rate: own.times,
};

function told(run: Run, found: Explanation): Told {
  const pauses = pausesOf(run);
  return {
    flow: found.flow?.number ?? null, port: found.port === null ? null : run.names[found.port],
    paused_s: found.waited_s, of_s: found.of_s, tree: found.branches.map((branch) => branchTold(run, branch)),
    roots: found.roots.map(([port, waited_s]) => ({ port: run.names[port], waited_s })),
    arrivals: arrivalsTold(found.arrivals), crosses_root: crosses(found),
    deadlocks: pauses.rings.map((ring) => ring.map((port) => ({
      port: run.names[port], since_s: pauses.stuck.get(port) }))),
    recorded_pauses: pauses.asked, complete: !pauses.isCut,
  };
}

/** Python sums in another order: numbers agree but for their last digits. */
function rounded(value: unknown): unknown {
  if (typeof value === "number") return Number(value.toPrecision(9)) + 0;
  if (Array.isArray(value)) return value.map(rounded);
  if (value === null || typeof value !== "object") return value;
  // the sum of rates is told in multiples alone
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== "bring_bps")
    .map(([key, own]) => [key, rounded(own)]));
}

describe.each(CASES.map((one) => [one.name, one] as const))("pauses of %s", (_, one) => {
  it("have the trees that Python grows: of the victim, each flow and each port", async () => {
    const run = await made(moreOf(one));
    expect(rounded(told(run, victimOf(run)!))).toEqual(rounded(one.expected.victim));
    expect(rounded(flowsOf(run).all.map((flow) => told(run, ofFlow(run, flow))))).toEqual(rounded(one.expected.flows));
    expect(rounded(run.names.map((__, port) => told(run, ofPort(run, port))))).toEqual(rounded(one.expected.ports));
  });

  it("hold in the frames that they touch", async () => {
    const run = await made(moreOf(one));
    const pauses = pausesOf(run);
    for (let frame = 0; frame < run.frames; frame += 7) {
      const [from_s, to_s] = [run.timeOf(frame), run.timeOf(frame + 1)];
      const inFrame = run.names.map((__, port) => port).filter((port) => (
        ofPort(run, port, { from_s, to_s }).waited_s > 0));
      expect(pauses.within(from_s, to_s)).toEqual(inFrame);
    }
  });
});

describe("what is said of pauses", () => {
  const plain = (words: string) => words.replaceAll("\u00a0", " ");

  it("names victim and root, of all of the time and of a moment", async () => {
    const run = await runOf("three switches");
    const victim = victimOf(run)!;
    const all = plain(sentenceOf(run, victim, ""));
    expect(all).toMatch(/^The path of flow 3 \(flows, h4 to h5\) is paused for [\d.]+ µs of 120 µs; /);
    expect(all).toContain("begin at c → h3, which it does not cross: 3 flows from 3 hosts, whose links bring up to ");
    const early = ofFlow(run, victim.flow!, { from_s: 0, to_s: 1e-6 });
    expect(plain(sentenceOf(run, early, "at first"))).toBe(
      "The path of flow 3 (flows, h4 to h5) is not paused at first.");
    const never = ofFlow(run, victim.flow!, { from_s: 1, to_s: 2 });
    expect(plain(sentenceOf(run, never, ""))).toContain("is not there: it has not begun yet, or is over");
    // the whole of a pause, also where the frame has a part of it
    const [branch] = victim.branches;
    const moment = ofFlow(run, victim.flow!, { from_s: branch!.begun_s, to_s: branch!.begun_s + 1e-7 }).branches[0]!;
    expect([moment.waited_s, moment.begun_s]).toEqual([expect.closeTo(1e-7, 12), branch!.begun_s]);
    expect(moment.stops_s - moment.begun_s).toBeGreaterThan(2e-7);
    expect(plain(whySaid(branch!.branches[0]!))).toMatch(/^paused for .* times between .* and /);
  });

  it("names the ports of a deadlock, and says what they wait for", async () => {
    const run = await runOf("ring");
    const pauses = pausesOf(run);
    expect(pauses.rings).toHaveLength(1);
    const [ring] = pauses.rings as [number[]];
    expect(plain(ringSaid(run, pauses, ring))).toMatch(
      /^Deadlock since 37\.\d+ µs: s0 → s1, s1 → s2, s2 → s3, s3 → s4 and s4 → s0 wait for one another in a ring/);
    expect(plain(waitsSaid(run, pauses, ring[4]!, ring[0]!))).toMatch(
      /^paused since .* 12 kB from it wait for s0 → s1$/);
    const found = ofPort(run, ring[0]!);
    expect(beginnings(found).rings).toBeGreaterThan(0.5);
    expect(sentenceOf(run, found, "")).toContain("wait for one another in a ring");
  });
});

describe("pictures of pauses", () => {
  const placed = (run: Run) => {
    const all = new Aggregates(run.timeline, layout(run.timeline));
    return place(all.picture(all.coarseness(560)), (x, y) => [20 + x * 560, 20 + y * 260], 600, 300, 560);
  };
  const svg = (draw: (pen: ReturnType<typeof asSvg>) => void) => {
    const pen = asSvg(600, 300, 11, () => 10);
    draw(pen);
    return pen.file("#fff", "#000", []);
  };

  it("have strokes across paused ports and a sign, in the colours of the theme", async () => {
    const run = await runOf("three switches");
    const drawn = svg((pen) => { drawPaused(pen, placed(run), [0], false); });
    expect([drawn.match(/<circle/g)?.length, drawn.includes("#0064a6")]).toEqual([2, true]);
    expect(svg((pen) => { drawPaused(pen, placed(run), [0], true); })).toContain("#6cb8ff");
    expect(svg((pen) => { drawPaused(pen, placed(run), [], false); })).not.toContain("<path");
  });

  it("have the lines of paused ports in their colour where many lines are in sight, and no signs", () => {
    const tree = fatTree(8);
    const all = new Aggregates(tree, layout(tree));
    const own = place(all.picture(all.coarseness(9000)), (x, y) => [x * 9000, 20 + y * 260], 9000, 300, 9000);
    expect(own.inSight.length).toBeGreaterThan(400);
    const drawn = svg((pen) => { drawPaused(pen, own, [0, 5, 5], false); });
    expect([drawn.includes("<circle"), drawn.match(/<path/g)?.length]).toEqual([false, 2]);
    const [halves] = drawn.match(/<path d="[^"]*"/)!;
    expect(halves.match(/M/g)).toHaveLength(2);
  });

  it("have an arrow for each port of a ring; a line along others of its row is bent around them", async () => {
    const run = await runOf("ring");
    const own = placed(run);
    const [ring] = pausesOf(run).rings as [number[]];
    const drawn = svg((pen) => { drawRing(pen, own, ring, false); });
    expect(drawn.match(/Z"/g)).toHaveLength(2);
    expect(drawn.match(/Z/g)).toHaveLength(2 * ring.length);
    const line = own.picture.lineOf[ring[4]!]!;
    expect(own.bend[line]).not.toBe(0);
    expect(own.bend[own.picture.lineOf[ring[0]!]!]).toBe(0);
    // its own port is found where it is drawn
    expect(nearest(own, ...along(own, line, 0.3), 3)).toBe(line);
  });

  it("go round a circle from the top", () => {
    const [x, y] = placeOf(0, 50);
    expect([Math.round(x - placeOf(180, 50)[0]), Math.round(placeOf(180, 50)[1] - y)]).toEqual([0, 100]);
    expect(arrowOf(10, 350, 9).line).toContain(" 0 1 1 ");
    expect(arrowOf(10, 100, 9).line).toContain(" 0 0 1 ");
  });
});

describe("a record of pauses", () => {
  it("is read for pauses alone, and each of its columns is needed", async () => {
    const { run, asked } = watched(moreOf(CASES[0]!));
    for (const need of needsOf({ metric: "busy", port: null, flow: null, span: null })) await run.read(need);
    const before = asked.length;
    expect(run.isRead(PAUSED)).toBe(false);
    await run.read(PAUSED);
    expect(asked.length - before).toBe(PAUSED.pauses!.length + 1);
    expect(run.isRead(BLAMED)).toBe(false);
    await run.read(BLAMED);
    expect(victimOf(run)).not.toBeNull();
    for (const [name, columns] of columnsOf(BLAMED)) {
      for (const left of columns) {
        const own = watched(moreOf(CASES[0]!)).run;
        await own.read({ ...BLAMED, [name]: columns.filter((column) => column !== left) });
        expect(() => [victimOf(own), own.names], `${name}.${left}`).toThrow("was not read");
      }
    }
  });

  it("is not there in other runs, which need nothing of it", async () => {
    const run = await made();
    expect([run.tables.pauses ?? null, run.isRead(PAUSED)]).toEqual([null, true]);
  });
});
