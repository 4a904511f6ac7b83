/** Levels of a large run: what they say, until all rows are read. */

import { describe, expect, it } from "vitest";
import { Levels, LEVELS } from "../src/data/levels";
import { needsOf, wholeOf } from "../src/data/need";
import { Run } from "../src/data/run";
import { largestQueue } from "../src/data/summary";
import { Columns } from "../src/data/unpack";
import { fieldOf } from "../src/scene/field";
import { portOrder } from "../src/scene/raster";
import { list, unread } from "./made";

// of ports 0 to 3 in three frames, as levels.py makes them with the worst port alone: the page opens at the last frame
const levels = () => Columns.of({
  worst: list(100, 1500, 0, 9000), most: list(1500, 0, 9000), most_port: list(1, 0, 3), sum: list(1900, 0, 9100),
  opens: list(2), busy: list(3), first: list(1), starts: list(0, 1, 1, 3), port: list(3, 0, 3),
  value: list(400, 100, 9000),
});

/** The run of `made` with levels, of which nothing else is read. */
function pooled(columns = levels()): Run {
  const { timeline, label, missing, tables, about } = unread();
  return new Run(timeline, label, missing, { ...tables, levels: columns }, about,
    new Levels("queue_max_bytes", columns));
}

/** What is seen of a run that opens at its last frame. */
function seen(run: Run): unknown[] {
  const ports = [0, 1, 2, 3];
  const into = new Float64Array(4);
  run.frameInto("queue_max_bytes", 2, into);
  const field = fieldOf(run, "queue_max_bytes", run.largestOf("queue_max_bytes"));
  return [[...into], ports.map((port) => run.figure("queue_max_bytes", port, 2)), [...run.worstOf("queue_max_bytes")],
    [...run.totalOf("queue_max_bytes")], [...run.portOver("queue_max_bytes", 3)], field.worstAt(2), run.busyFrames,
    largestQueue(run), [...portOrder(run, ports, field.worst)]];
}

describe("levels", () => {
  it("say the same of a moment as all rows", async () => {
    const whole = unread();
    await Promise.all(needsOf({ metric: "queue_max_bytes", port: null, flow: null, span: null })
      .map((need) => whole.read(need)));
    const run = pooled();
    expect(seen(run)).toEqual(seen(whole));
    expect([run.isWhole("queue_max_bytes"), run.shows("queue_max_bytes"), run.levels!.opening]).toEqual(
      [false, true, { frame: 2, port: 3, value: 9000 }]);
    expect([fieldOf(run, "queue_max_bytes", 1).first, fieldOf(whole, "queue_max_bytes", 1).first]).toEqual([1, null]);
  });

  it("give way to all rows, and say nothing of another metric", async () => {
    const run = pooled();
    expect([run.shows("busy"), run.figure("queue_max_bytes", 1, 0)]).toEqual([false, 0]);
    expect(() => run.figure("busy", 1, 0)).toThrow("was not read");
    for (const need of wholeOf("queue_max_bytes")) await run.read(need);
    expect([run.isWhole("queue_max_bytes"), run.figure("queue_max_bytes", 1, 0)]).toEqual([true, 1500]);
    expect(fieldOf(run, "queue_max_bytes", 1).first).toBeNull();
  });

  it("are none until they are read, and open nowhere where nothing is recorded", () => {
    const unreadLevels = new Columns(Object.fromEntries(LEVELS.map((name) => [name, 0])), () => "");
    const run = pooled(unreadLevels);
    expect([run.levels!.isRead, run.shows("queue_max_bytes")]).toEqual([false, false]);
    expect(() => run.worstOf("queue_max_bytes")).toThrow("was not read");
    expect(new Levels("busy", Columns.of({ ...Object.fromEntries(LEVELS.map((name) => [name, list(0)])) })).opening)
      .toBeNull();
  });
});
