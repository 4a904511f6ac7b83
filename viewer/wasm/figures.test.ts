import { expect, it } from "vitest";
import type { Pool } from "../src/engine/pool";
import { Work, type Task } from "../src/engine/work";
import { check } from "../src/lab/checked";
import { FIRST } from "../src/lab/experiment";
import { experimentOf, PAPERS } from "../src/lab/figures";
import { EXAMPLES } from "../src/lab/Files";
import { compiled, engine } from "./engine";

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

it("reads the examples of files that the page shows", () => {
  const files = Object.fromEntries(EXAMPLES);
  const text = `controller = "dctcp"
[run]
duration = "1ms"
[queue]
kind = "drop-tail"
limit = "100p"
`;
  const star = `[topology]
kind = "star"
sources = 4
source_link = { rate = "1Gbps", delay = "10us" }
sink_link = { rate = "1Gbps", delay = "10us" }
`;
  const graph = '[topology]\nkind = "graph"\nfile = "a network"\n';
  const flows = '[[traffic]]\nname = "listed"\npattern = "file"\nfile = "flows"\n';
  const drawn = '[[traffic]]\nname = "drawn"\npattern = "poisson"\narrivals = { load = 0.1, sizes = "sizes" }\n';
  const job = '[[job]]\nname = "job"\nworkload = "a job"\n';
  const own = engine();
  const used = [star + flows, graph + drawn, graph + job].flatMap((more) => {
    const scenario = { name: "example", text: text + more, files };
    expect(own.check(scenario).flows, more).toBeGreaterThan(0);
    return own.files(scenario);
  });
  expect(new Set(used)).toEqual(new Set(Object.keys(files)));
});
