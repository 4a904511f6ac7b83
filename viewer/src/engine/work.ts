/** What a worker is asked for, and what it answers: plain data that passes between threads. */

import { aboutOf, type Class, type Constructor } from "./classes";
import {
  Engine, Refused, type Asked, type Checked, type Description, type Item, type Problem, type Progress, type Table,
} from "./wasm";

/** Source of a class of the user's: a module whose default export it is. */
export interface Source {
  /** Name in scenarios. */
  name: string;
  text: string;
}

export type Task =
  | { do: "begin"; module: WebAssembly.Module }
  | { do: "list"; kind: string }
  | { do: "describe"; kind: string; name: string }
  | { do: "text"; name: string }
  | { do: "files"; scenario: Asked; sources: Source[] }
  | { do: "check"; scenario: Asked; sources: Source[] }
  | { do: "class"; source: Source }
  | { do: "run"; scenario: Asked; sources: Source[]; tables: string[] };

/** A finished run. */
export interface Ran {
  /** Content of `summary.json`. */
  summary: string;
  /** Scenario with every default written out. */
  text: string;
  /** Content of `timeline.json`; null without a timeline. */
  timeline: string | null;
  tables: Record<string, Table>;
}

export interface Answers {
  begin: { version: string };
  list: Item[];
  describe: Description;
  text: string;
  files: string[];
  check: Checked;
  class: { methods: string[]; params: string[]; defaults: Record<string, number>; state: string[] };
  run: Ran;
}

/** A worker's message; `held` is the memory of its engine, in bytes. */
export type Told =
  | { id: number; progress: Progress }
  | { id: number; answer: unknown; held?: number }
  | { id: number; error: string; problems: Problem[]; refused: boolean };

/** Time between two messages of progress, ms. */
const OFTEN = 50;

/** Fingerprint of a text, 16 digits: two lanes of FNV-1a. */
export function fingerprint(text: string): string {
  const lane = (seed: number) => {
    let hash = seed;
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    return (hash >>> 0).toString(16).padStart(8, "0");
  };
  return lane(0x811c9dc5) + lane(0x050c5d1f);
}

/** Loads a module from its text. */
async function loaded(text: string): Promise<Record<string, unknown>> {
  if (typeof process !== "undefined") { // Node loads no blob
    const place = `data:text/javascript,${encodeURIComponent(text)}`;
    return await import(/* @vite-ignore */ place) as Record<string, unknown>;
  }
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  try {
    return await import(/* @vite-ignore */ url) as Record<string, unknown>;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** The class of a source. The error says what is wrong with it. */
export async function classOf({ name, text }: Source): Promise<Class> {
  const make = (await loaded(text)).default;
  return { about: aboutOf(make, name, fingerprint(text)), make: make as Constructor };
}

/** Carries out tasks, one after the other. */
export class Work {
  private engine: Engine | null = null;

  /** Bytes of the engine's memory, which never shrinks. */
  get held(): number {
    return this.engine?.held ?? 0;
  }

  private known = "";

  async done(task: Task, heard: (progress: Progress) => void): Promise<unknown> {
    if (task.do === "begin") {
      this.engine = new Engine(task.module);
      return { version: this.engine.version };
    }
    const engine = this.engine!;
    switch (task.do) {
      case "list": return engine.list(task.kind);
      case "describe": return engine.describe(task.kind, task.name);
      case "text": return engine.text(task.name);
      case "class": {
        const { about, make } = await classOf(task.source);
        const { methods, params, state } = about;
        const defaults = (make as unknown as { params?: Record<string, number> }).params ?? {};
        return { methods, params, defaults, state } satisfies Answers["class"];
      }
      case "files":
        await this.register(task.sources);
        return engine.files(task.scenario);
      case "check":
        await this.register(task.sources);
        return engine.check(task.scenario);
      case "run": {
        await this.register(task.sources);
        let last = 0;
        const { summary, text } = engine.run(task.scenario, (progress) => {
          const now = performance.now();
          if (now - last >= OFTEN) heard(progress);
          if (now - last >= OFTEN) last = now;
          return true;
        });
        // making tables takes time too: the page hears that something goes on
        const tables = Object.fromEntries(task.tables.map((name) => {
          heard({ setUp: 1, now_s: 1, end_s: 1, hops: 0 });
          return [name, engine.table(name)];
        }));
        return { summary, text, timeline: engine.timeline(), tables } satisfies Ran;
      }
    }
  }

  private async register(sources: Source[]): Promise<void> {
    const wanted = JSON.stringify(sources);
    if (wanted === this.known) return;
    this.engine!.register(await Promise.all(sources.map(classOf)));
    this.known = wanted;
  }
}

/** Why a task failed. */
export function failureOf(id: number, error: unknown): Told {
  const trap = error instanceof WebAssembly.RuntimeError;
  const told = error instanceof Error ? error.message : String(error);
  const words = trap ? `the engine failed, perhaps for want of memory (${told})` : told;
  const refused = error instanceof Refused;
  return { id, error: words, problems: refused ? error.problems : [], refused };
}
