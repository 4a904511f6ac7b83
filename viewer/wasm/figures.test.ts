import { expect, it } from "vitest";
import type { Pool } from "../src/engine/pool";
import { Work, type Task } from "../src/engine/work";
import { check } from "../src/lab/checked";
import { FIRST } from "../src/lab/experiment";
import { experimentOf, PAPERS } from "../src/lab/figures";
import { compiled } from "./engine";

it("can run every figure that the page offers, under each of its controllers", async () => {
  const work = new Work();
  await work.done({ do: "begin", module: compiled() }, () => undefined);
  const pool = { size: 2, ask: (task: Task) => work.done(task, () => undefined) } as unknown as Pool;
  for (const paper of PAPERS) {
    for (const figure of paper.figures) {
      const experiment = { ...FIRST, ...experimentOf(paper, figure) };
      const said = await check(pool, experiment, [], { told: null, plain: "" });
      const name = `${paper.name}/${figure.name}`;
      expect([name, said.wrong, ...said.refused.values()]).toEqual([name, ""]);
      expect(said.files!.toSorted()).toEqual(experiment.files.map(([one]) => one).toSorted());
    }
  }
}, 600_000);
