/** Digests of all tables of runs, for tests/python/test_web.py, which has those of the installed engine. */

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Asked, Table } from "../src/engine/wasm";
import { engine } from "./engine";

const { INCAST_CASES, INCAST_DIGESTS } = process.env;

function digest(table: Table): string {
  const hash = createHash("sha256");
  for (const { name, unit, doc, kind, values, valid, names } of table.columns) {
    hash.update(`${name}\n${unit}\n${doc}\n${kind}\n${values.length}\n`);
    if (names) hash.update(Array.from(values as Uint32Array, (at) => names[at]!).join("\n"));
    else hash.update(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    if (valid?.some((one) => !one)) hash.update(valid);
  }
  return hash.digest("hex");
}

it.skipIf(!INCAST_CASES)("gives the tables of scenarios", () => {
  const own = engine();
  const cases = JSON.parse(readFileSync(INCAST_CASES!, "utf8")) as Asked[];
  const found = cases.map((asked) => {
    try {
      const { summary } = own.run(asked);
      const timeline = own.timeline();
      const tables = Object.fromEntries(own.tables.map((name) => [name, digest(own.table(name))]));
      return { summary, timeline, tables };
    } catch (error) {
      return { refused: (error as Error).message };
    }
  });
  writeFileSync(INCAST_DIGESTS!, JSON.stringify(found));
  expect(found.length).toBe(cases.length);
}, 3_600_000);
