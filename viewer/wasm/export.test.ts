/** The Python file of the editor's class, and what a run under the class in JavaScript gives, for test_web.py. */

import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { Work, type Ran } from "../src/engine/work";
import { STARTED } from "../src/lab/Own";
import { asPythonClass } from "../src/lab/python";
import { compiled } from "./engine";

const { INCAST_EXPORT } = process.env;

it.skipIf(!INCAST_EXPORT)("gives a class in both languages", async () => {
  const work = new Work();
  await work.done({ do: "begin", module: compiled() }, () => undefined);
  const set: [string, string][] = [["run.duration", "30ms"], ["queue.limit", "70p"]];
  const { summary } = await work.done({ do: "run", tables: [], sources: [STARTED],
    scenario: { name: "two-senders", set, controller: STARTED.name } }, () => undefined) as Ran;
  writeFileSync(INCAST_EXPORT!, JSON.stringify({ python: asPythonClass(STARTED.text), summary, set }));
  expect(summary).toContain("throughput");
}, 60_000);
