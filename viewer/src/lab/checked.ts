/** What the engine says of an experiment: its text, keys and size, or what is wrong with it. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Pool } from "../engine/pool";
import { Refused, type Asked, type Checked, type Problem } from "../engine/wasm";
import type { Source } from "../engine/work";
import { AS_IT_IS, askedOf, MOST_TEXT, sizeOf, sourceOf, type Experiment } from "./experiment";
import { edited } from "./edited";
import type { Given } from "./Form";
import { mostBytes, recording } from "./runs";
import { quantityOf } from "./size";

/** `shown` is the text with comments, where its changes have places in it. */
export type Told = Checked & { written: string; given: Given[]; shown: string };

/** Whether a scenario has training jobs. */
export const hasJobs = ({ given }: Told) => given.some(({ path }) => path.startsWith("job."));

export interface Said {
  /** The experiment that this is said of. */
  of: Experiment;
  /** The last one that could be read: of another experiment where this one is wrong. */
  told: Told | null;
  /** Text without differences. */
  plain: string;
  /** Names of the files that the scenario names; null where its text cannot be read. */
  files: string[] | null;
  problems: Problem[];
  wrong: string;
  /** Why controllers are refused, by their texts. */
  refused: Map<string, string>;
}

/** Check an experiment whenever it changes. `own` are the classes that may run. */
export function useChecked(pool: Pool, experiment: Experiment, own: Source[], ready: boolean): Said | null {
  const [said, setSaid] = useState<Said | null>(null);
  const latest = useRef(0);
  const last = useRef<{ told: Told | null; plain: string }>({ told: null, plain: "" });
  useEffect(() => {
    if (!ready) return undefined;
    const mine = ++latest.current;
    const later = setTimeout(() => {
      void check(pool, experiment, own, last.current).then((found) => {
        if (mine !== latest.current) return;
        last.current = found;
        setSaid(found);
      });
    }, 60);
    return () => { clearTimeout(later); };
  }, [pool, experiment, own.length, ready]);
  return said;
}

/** The text with the changes in their places, if it is the same scenario; else the engine's, without comments. */
async function shownOf(
  pool: Pool, asked: Asked, text: string, before: Told | null, found: Told, own: Source[],
): Promise<string> {
  const made = before && edited(text, before.written, found.written);
  if (made === null || made === text) return made ?? found.written;
  try {
    const scenario = { ...asked, name: found.name, text: made, set: [] };
    const again = await pool.ask({ do: "check", scenario, sources: own });
    return again.hash === found.hash ? made : found.written;
  } catch {
    return found.written;
  }
}

/** Ask the engine of an experiment; `last` is what it said before. */
export async function check(
  pool: Pool, of: Experiment, own: Source[], last: { told: Told | null; plain: string },
): Promise<Said> {
  const most_bytes = mostBytes(pool.size);
  const { told, plain } = last;
  const said: Said = { of, told, plain: of.text ?? plain, files: null, problems: [], wrong: "", refused: new Map() };
  const asked = { ...askedOf(of, null, null), most_bytes };
  if (of.text !== null && sizeOf(of.text) > MOST_TEXT) {
    said.wrong = `The text has more than ${MOST_TEXT.toLocaleString("en-US")} bytes, which no address holds.`;
    return said;
  }
  said.files = await pool.ask({ do: "files", scenario: asked, sources: own }).catch(() => null);
  try {
    const [found, before, drawn] = await Promise.all([
      pool.ask({ do: "check", scenario: asked, sources: own }) as Promise<Told>,
      // without its differences it may lack a file
      (pool.ask({ do: "check", scenario: { ...asked, set: [] }, sources: own }) as Promise<Told>).catch(() => null),
      // seed 1 is recorded over time
      pool.ask({ do: "check", scenario: { ...asked, set: [...asked.set ?? [], ...recording(false)] }, sources: own }),
    ]);
    const large = [found, drawn].find(({ text }) => text === undefined);
    if (large) {
      said.wrong = `It takes more memory than this page allows: ${quantityOf(large.memory, "B")} of ${
        quantityOf(most_bytes, "B")}. Choose fewer hosts, or the installed program.`;
      return said;
    }
    const text = of.text ?? await pool.ask({ do: "text", name: of.scenario });
    said.told = { ...found, shown: await shownOf(pool, asked, text, before, found, own) };
    said.plain = text;
  } catch (error) {
    said.problems = error instanceof Refused ? error.problems : [];
    said.wrong = (error as Error).message;
    return said;
  }
  for (const controller of of.controllers.filter((one) => one !== AS_IT_IS)) {
    const theirs = sourceOf(controller, of.own);
    if (theirs && !own.includes(theirs)) continue;
    try {
      await pool.ask({ do: "check", scenario: { ...askedOf(of, controller, null), most_bytes }, sources: own });
    } catch (error) {
      said.refused.set(controller, (error as Error).message);
    }
  }
  return said;
}
