/** The runs of an experiment: one a controller and seed, in workers. */

import type { Pool } from "../engine/pool";
import { Stopped } from "../engine/pool";
import { OF_JOBS, runOf, SHOWN } from "../engine/shown";
import type { Table } from "../engine/wasm";
import type { Run } from "../data/run";
import { AS_IT_IS, askedOf, comparedOf, type Experiment } from "./experiment";

/** A finished run. */
export interface Finished {
  controller: string;
  seed: number;
  /** Content of `summary.json`. */
  summary: Record<string, unknown>;
  /** Scenario with every default written out. */
  text: string;
  /** Tables that answers are made of. */
  tables: Record<string, Table>;
  /** Over time, of the first seed. */
  run: Run | null;
}

/** Bytes delivered so far in a run that is under way. */
export interface Growing {
  time_s: number[];
  bytes: number[];
}

export interface State {
  /** The experiment that ran, or runs. */
  of: Experiment;
  finished: Finished[];
  total: number;
  /** Parts of the runs under way that are done, and their hops so far, by controller and seed. */
  parts: Map<string, { part: number; hops: number }>;
  /** What the runs of the first seed under way have delivered, by controller. */
  growing: Map<string, Growing>;
  /** Hops of the finished runs. */
  hops: number;
  /** Why runs failed, in words, by controller and seed. */
  failed: Map<string, { controller: string; words: string }>;
  /** Notes of the program on the scenario. */
  notes: string[];
  running: boolean;
  stopped: boolean;
  /** When it began and, over, how long it took, ms. */
  began: number;
  took: number;
  /** From the beginning to the first finished run, ms; null before. */
  first: number | null;
}

/** Tables of a run of which no curves are drawn. */
const ANSWERED = ["flows", "queries", "writes"];

/** Hops of all runs above which the page asks first. */
export const MOST_HOPS = 3e8;
/** Memory of all workers together, and the most of one run, in bytes. */
const [MOST_MEMORY, MOST_OF_RUN] = [4e9, 1.5e9];

/** Most bytes of a run, where so many workers run at once. */
export const mostBytes = (workers: number) => Math.min(MOST_OF_RUN, MOST_MEMORY / workers);

let latest = 0;

/** Lets the runs that are under way say nothing more. */
export function forget(pool: Pool): void {
  latest++;
  pool.stop();
}

const keyOf = (controller: string, seed: number) => `${controller} ${seed}`;

/** Share of all runs that is done. */
export function share({ finished, total, parts, failed }: State): number {
  const under = [...parts.values()].reduce((sum, { part }) => sum + part, 0);
  return total ? Math.min(1, (finished.length + under + failed.size) / total) : 0;
}

/** Hops of all runs so far. */
export const hopsOf = ({ hops, parts }: State) => [...parts.values()].reduce((sum, own) => sum + own.hops, hops);

/** Settings of a run whose tables panes show; with training jobs it records what their ranks do. */
export const recording = (hasJobs: boolean): [string, string][] => [
  ["measure.timeline", "auto"], ...(hasJobs ? [["measure.tasks", "all"] as [string, string]] : [])];

/** What the page knows of an experiment that runs. */
interface Known {
  /** Notes of the program on the scenario. */
  notes: string[];
  hasJobs: boolean;
}

/** Growing curves with one more point, if it is later than the last one. */
export function grown(
  growing: Map<string, Growing>, controller: string, { at_s, bytes }: { at_s: number; bytes: number },
): Map<string, Growing> {
  const old = growing.get(controller) ?? { time_s: [0], bytes: [0] };
  if (at_s <= old.time_s.at(-1)!) return growing;
  return new Map(growing).set(controller, { time_s: [...old.time_s, at_s], bytes: [...old.bytes, bytes] });
}

/** Runs an experiment. `changed` is called with what there is, at most once a frame, until another one starts. */
export function start(
  pool: Pool, of: Experiment, { notes, hasJobs }: Known, changed: (state: State) => void,
): State {
  forget(pool);
  const mine = latest;
  const controllers = comparedOf(of);
  const state: State = {
    notes,
    of, finished: [], total: controllers.length * of.seeds, parts: new Map(), growing: new Map(), hops: 0,
    failed: new Map(), running: true, stopped: false, began: performance.now(), took: 0, first: null,
  };
  let asked = false;
  const tell = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      if (mine === latest) changed({ ...state });
    });
  };
  const one = async (controller: string, seed: number) => {
    const key = keyOf(controller, seed);
    const scenario = askedOf(of, controller === AS_IT_IS ? null : controller, seed);
    const drawn = seed === 1;
    if (drawn) scenario.set = [...scenario.set ?? [], ...recording(hasJobs)];
    scenario.most_bytes = mostBytes(pool.size);
    try {
      const tables = drawn ? [...SHOWN, ...(hasJobs ? OF_JOBS : [])] : ANSWERED;
      const task = { do: "run" as const, scenario, sources: of.own, tables };
      const ran = await pool.ask(task, ({ now_s, end_s, hops, delivered }) => {
        const known = state.parts.get(key)?.hops ?? 0;
        state.parts.set(key, { part: end_s > 0 ? now_s / end_s : 0, hops: Math.max(known, hops) });
        if (drawn && delivered) state.growing = grown(state.growing, controller, delivered);
        tell();
      });
      const summary = JSON.parse(ran.summary) as Record<string, unknown>;
      const answered = Object.fromEntries(ANSWERED.map((name) => [name, ran.tables[name]!]));
      const run = drawn ? runOf(ran, controller) : null;
      state.finished = [...state.finished, { controller, seed, summary, text: ran.text, tables: answered, run }];
      state.hops += (summary.run as { hops: number }).hops;
      state.first ??= performance.now() - state.began;
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      if (error instanceof Stopped) state.stopped = true;
      else state.failed.set(key, { controller, words });
    }
    state.parts.delete(key);
    if (drawn) state.growing = new Map([...state.growing].filter(([other]) => other !== controller));
    tell();
  };
  const all: Promise<void>[] = [];
  for (let seed = 1; seed <= of.seeds; seed++) for (const controller of controllers) all.push(one(controller, seed));
  void Promise.all(all).then(() => {
    state.running = false;
    state.took = performance.now() - state.began;
    const at = ({ controller }: Finished) => controllers.indexOf(controller);
    state.finished = [...state.finished].sort((a, b) => a.seed - b.seed || at(a) - at(b));
    tell();
  });
  tell();
  return state;
}

/** Controllers of which no run failed. */
export function sound({ of, failed }: State): string[] {
  const wrong = new Set([...failed.values()].map(({ controller }) => controller));
  return comparedOf(of).filter((controller) => !wrong.has(controller));
}

/** Finished runs of seeds under which all of these controllers have finished: differences are paired by seed. */
export function complete(finished: Finished[], controllers: string[]): Finished[] {
  const own = finished.filter(({ controller }) => controllers.includes(controller));
  const count = new Map<number, number>();
  for (const { seed } of own) count.set(seed, (count.get(seed) ?? 0) + 1);
  return own.filter(({ seed }) => count.get(seed) === controllers.length);
}
