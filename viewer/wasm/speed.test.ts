/** CPU time of a run in Node, for bench/web.py. */

import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Asked } from "../src/engine/wasm";
import { engine } from "./engine";

const { INCAST_SPEED, INCAST_SPEED_OUT } = process.env;

it.skipIf(!INCAST_SPEED)("takes so long", () => {
  const own = engine();
  const asked = JSON.parse(INCAST_SPEED!) as Asked;
  own.run({ name: "dumbbell", set: [["run.duration", "5ms"], ["run.warmup", "0s"]] }); // compiled by then
  const before = process.cpuUsage();
  own.run(asked);
  const { user, system } = process.cpuUsage(before);
  writeFileSync(INCAST_SPEED_OUT!, JSON.stringify({ cpu_s: (user + system) / 1e6 }));
  expect(user).toBeGreaterThan(0);
}, 600_000);
