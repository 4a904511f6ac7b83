/** What is read for a choice is all that shows it: runs from a source, of which nothing else is read. */

import { describe, expect, it } from "vitest";
import { within } from "../src/app/within";
import { needsOf, ofPort, type Chosen } from "../src/data/need";
import { packetsOf } from "../src/data/packets";
import { Pair } from "../src/data/pair";
import { columnsOf, METRICS, type Need, type Run } from "../src/data/run";
import { stateAt, stretchesOf, timeoutsOf } from "../src/data/states";
import { figuresOf } from "../src/data/stretch";
import { lineOf } from "../src/data/summary";
import { chosen, SEARCHED, SHOWN } from "../src/data/table";
import { panesOfFlow, panesOfPort } from "../src/panes/curves";
import { PortFigures } from "../src/scene/Fabric";
import { differenceOf, fieldOf } from "../src/scene/field";
import { list, unread, watched } from "./made";

const texts = (...all: string[]) => ({ values: Uint8Array.from(all, (_, i) => i), texts: all });
const numbers = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, list(0, 1)]));

/** A run that has every column that a run may have; nothing is read. */
const whole = () => unread({
  ports: { port: texts("h0>s", "s>h0", "h1>s", "s>h1"), rate_bps: list(1, 1, 1, 1) },
  records: { starts: list(0, 1, 2, 2), port: list(1, 3), ...numbers(METRICS) },
  flows: { ...numbers(SHOWN), ...numbers(SEARCHED), finish_s: list(1e-5, 2e-5), group: texts("a", "b"),
    controller: texts("x", "y"), role: texts("p", "q") },
  byFlow: { starts: list(0, 1, 2, 2), ...numbers(["flow", "delivered_bytes", "cwnd_bytes", "state"]) },
  events: { time_s: list(0, 1e-5), kind: texts("timeout", "failure"), what: texts("flow", "port"),
    subject: list(1, 1) },
  paths: numbers(["flow", "port", "position", "sprayed"]),
  series: { entity: texts("flow 0", "flow 1"), name: texts("cwnd_bytes", "rtt_s"), starts: list(0, 1, 2),
    time_s: list(0, 0), value: list(1, 2) },
  packets: { ...numbers(["flow", "back", "sent_s", "end_s", "mark_s", "end", "hops", "seq", "ack", "payload_bytes"]),
    place: texts("", "s>h0"), marked: texts("", "s>h0"), flags: texts("", "ACK"), until_s: list(5) },
});

async function after(needs: Need[]): Promise<Run> {
  const run = whole();
  for (const need of needs) await run.read(need);
  return run;
}

/** What shows a run, by what is chosen of it. */
function show(run: Run, { metric, port, flow, span }: Chosen): unknown[] {
  const found: unknown[] = [run.names, lineOf(run), run.events, fieldOf(run, metric, 1).worst, run.busyUntil_s];
  for (const column of SHOWN) found.push(chosen(run, "a h0", { column, descending: true }));
  if (port !== null) {
    found.push(panesOfPort(run, port), run.flowsOn(port), METRICS.map((one) => run.figure(one, port, 0)));
  }
  if (flow !== null) {
    found.push(panesOfFlow(run, flow), packetsOf(run, flow), run.pathOf(flow), stretchesOf(run, flow),
      timeoutsOf(run, flow), stateAt(run, flow, 0), run.packetsUntil_s);
  }
  if (span) found.push(figuresOf(run, metric, span));
  return found;
}

const NOTHING: Chosen = { metric: "busy", port: null, flow: null, span: null };
const span = { from_s: 0, to_s: 1e-5 };
const CASES: [string, Chosen][] = [
  ["nothing", NOTHING], ["a port", { ...NOTHING, port: 1 }], ["a flow", { ...NOTHING, flow: 1 }],
  ["a stretch", { ...NOTHING, span }], ["all of it", { ...NOTHING, port: 1, flow: 1, span }],
  ...METRICS.map((metric): [string, Chosen] => [metric, { ...NOTHING, metric }]),
];

describe("what is read", () => {
  it.each(CASES)("shows a run, and one beside another: %s", async (_, asked) => {
    const run = await after(needsOf(asked));
    expect(show(run, asked)).not.toContain(undefined);
    const other = await after(needsOf(asked));
    show(other, asked);
    expect(differenceOf(new Pair(run, other), asked.metric, ["A", "B"]).worst).toHaveLength(4);
  });

  it("shows a port under the pointer", async () => {
    const run = await after([...needsOf(NOTHING), ofPort(1)]);
    show(run, { ...NOTHING, port: 1 });
  });

  it("says the one figure of a port that is read, nothing of its flows, also where the run has no other", async () => {
    const figuresOf = (run: Run, only?: "busy") => JSON.stringify(PortFigures({ run, port: 1, frame: 0, only }));
    for (const others of [{}, numbers(["marks"])]) {
      const run = unread({ ports: { port: texts("h0>s", "s>h0", "h1>s", "s>h1") }, paths: numbers(["flow", "port"]),
        records: { starts: list(0, 1, 2, 2), port: list(1, 3), ...numbers(["busy"]), ...others } });
      for (const need of needsOf(NOTHING)) await run.read(need);
      expect(figuresOf(run, "busy")).toContain('"data-figure":"busy"');
      expect(figuresOf(run, "busy")).not.toContain("flows through it");
      expect(() => figuresOf(run)).toThrow("was not read");
      await run.read(ofPort(1));
      expect(figuresOf(run)).toContain("flows through it");
    }
  });

  it("is no more than what shows it: without any of it there is a fault", async () => {
    const asked: Chosen = { ...NOTHING, port: 1, flow: 1, span };
    const needs = needsOf(asked);
    const columns = needs.flatMap((need) => columnsOf(need).flatMap(([table, names]) => (
      names.map((name) => `${table}.${name}`))));
    const idle = [];
    for (const left of new Set(columns)) {
      const run = await after(needs.map((need) => ({ ...need, ...Object.fromEntries(columnsOf(need).map((
        [table, names]) => [table, names.filter((name) => `${table}.${name}` !== left)])) })));
      try {
        show(run, asked);
        idle.push(left);
      } catch (error) {
        expect(String(error)).toContain("was not read");
      }
    }
    expect(idle).toEqual([]);
  }, 30_000); // a run for each column
});

describe("rows of frames", () => {
  // ports 0 and 1 in the first block, 3 in the second
  const metrics = METRICS.map((name, i) => [name, list(1 + i, 2 + i, 3 + i, 4 + i, 5 + i)] as const);
  const records = { starts: list(0, 2, 3, 5), port: list(0, 3, 1, 0, 3), ...Object.fromEntries(metrics) };
  const byFlow = { starts: list(0, 1, 3, 3), flow: list(4, 1, 4), delivered_bytes: list(7, 8, 9) };

  it("are read of a port or flow by its block alone, and once", async () => {
    const { run, asked } = watched({ records, byFlow, size: 2 });
    await run.read({ records: ["starts", "port"], by_flow: ["starts"] });
    expect(asked).toHaveLength(4 + 3);
    asked.length = 0;
    await run.read(ofPort(3));
    expect([asked.length, run.isRead(ofPort(3)), run.isRead(ofPort(2)), run.isRead(ofPort(1)),
      run.isRead({ records: METRICS })]).toEqual([METRICS.length, true, true, false, false]);
    expect([[...run.portOver("busy", 3)], run.figure("paused", 3, 2), run.figure("paused", 2, 2)]).toEqual(
      [[4, 0, 7], 11, 0]);
    expect(() => run.figure("paused", 1, 1)).toThrow("was not read");
    await run.read({ by_flow: ["flow", "delivered_bytes"], whose: 4 });
    expect([...run.flowOver("delivered_bytes", 4)]).toEqual([7, 9, 0]);
    expect(() => run.flowOver("delivered_bytes", 1)).toThrow("was not read");
    asked.length = 0;
    await run.read({ records: ["busy"] });
    expect(asked).toHaveLength(1);
    const found: number[][] = [];
    run.each("busy", 0, 9, (...row) => found.push(row));
    expect(found).toEqual([[0, 0, 3], [1, 1, 5], [0, 2, 6], [3, 0, 4], [3, 2, 7]]);
    // beyond the last block
    expect([run.figure("busy", 99, 0), run.busyFrames]).toEqual([0, 3]);
  });
});

describe("a moment", () => {
  it("is within what its run has, and a stretch within it stays the same", () => {
    const runs = [whole(), whole()];
    const asked = { run: 1, beside: null, metric: "busy", time_s: 1e-5, port: 3, flow: 1, span } as const;
    expect(within(runs, asked).span).toBe(span);
    expect(within(runs, { ...asked, port: 4, flow: 2, span: { from_s: 2e-5, to_s: 9 } })).toMatchObject(
      { run: 1, port: null, flow: null, span: { from_s: 2e-5, to_s: runs[1]!.end_s } });
  });
});
