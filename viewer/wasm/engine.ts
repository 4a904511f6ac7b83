/** The engine of `make lab`, for tests in Node. */

import { readFileSync } from "node:fs";
import { Engine } from "../src/engine/wasm";

export const PLACE = process.env.INCAST_ENGINE ?? "../target/wasm32-unknown-unknown/web/incast_web.wasm";

let module: WebAssembly.Module | null = null;

export function compiled(): WebAssembly.Module {
  module ??= new WebAssembly.Module(readFileSync(PLACE));
  return module;
}

export const engine = () => new Engine(compiled());
