/** An experiment: everything that the address of the page holds, and the ways to take it elsewhere. */

import { inflate, deflate } from "./packed";
import type { Asked } from "../engine/wasm";
import type { Source } from "../engine/work";

export interface Experiment {
  /** Built-in scenario; the name of `text`, if there is one. */
  scenario: string;
  /** Text of the user's own. */
  text: string | null;
  /** Keys and values that differ. */
  set: [string, string][];
  /** As `--cc` takes them. */
  controllers: string[];
  seeds: number;
  /** The user's controllers. */
  own: Source[];
}

export const MOST_CONTROLLERS = 6;
export const MOST_SEEDS = 50;
/** Longest text in an address, in characters when unpacked: a longer one is refused. */
export const MOST_TEXT = 200_000;
const MOST_KEYS = 64;
const MOST_WORD = 400;

export const FIRST: Experiment = {
  scenario: "incast", text: null, set: [["run.duration", "100ms"]], controllers: ["dctcp", "swift"], seeds: 5, own: [],
};

/** The scenario of a run, as the engine takes it. */
export function askedOf(experiment: Experiment, controller: string | null, seed: number | null): Asked {
  const { scenario, text, set } = experiment;
  return {
    name: scenario, set, ...(text === null ? {} : { text }), ...(controller === null ? {} : { controller }),
    ...(seed === null ? {} : { seed }),
  };
}

/** The experiment with a key set to a value; `null` takes the difference back. */
export function withKey(experiment: Experiment, key: string, value: string | null): Experiment {
  const others = experiment.set.filter(([own]) => own !== key);
  return { ...experiment, set: value === null ? others : [...others, [key, value]] };
}

/** The address after `#`. */
export async function written(experiment: Experiment): Promise<string> {
  const parts = new URLSearchParams();
  parts.set("s", experiment.scenario);
  experiment.set.forEach(([key, value]) => { parts.append("set", `${key}=${value}`); });
  experiment.controllers.forEach((controller) => { parts.append("cc", controller); });
  parts.set("seeds", String(experiment.seeds));
  if (experiment.text !== null) parts.set("text", await deflate(experiment.text));
  for (const { name, text } of experiment.own) parts.append("own", `${name} ${await deflate(text)}`);
  return parts.toString();
}

/** What an address holds. Raises an error that says what is wrong with it. */
export async function read(hash: string): Promise<Experiment> {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const word = (text: string) => {
    if (text.length > MOST_WORD) throw new Error(`the address has a value of ${text.length} characters`);
    return text;
  };
  const set = parts.getAll("set").map((one): [string, string] => {
    const at = one.indexOf("=");
    if (at < 1) throw new Error(`the address has set=${word(one)}; expected KEY=VALUE`);
    return [word(one.slice(0, at)), word(one.slice(at + 1))];
  });
  if (set.length > MOST_KEYS) throw new Error(`the address has ${set.length} keys; at most ${MOST_KEYS} are read`);
  const controllers = parts.getAll("cc").map(word);
  if (controllers.length > MOST_CONTROLLERS) {
    throw new Error(`the address has ${controllers.length} controllers; at most ${MOST_CONTROLLERS} are compared`);
  }
  const seeds = Number(parts.get("seeds") ?? "5");
  if (!Number.isInteger(seeds) || seeds < 1 || seeds > MOST_SEEDS) {
    throw new Error(`the address has seeds=${word(parts.get("seeds") ?? "")}; expected 1 to ${MOST_SEEDS}`);
  }
  const packed = parts.get("text");
  const own: Source[] = [];
  for (const one of parts.getAll("own").slice(0, MOST_CONTROLLERS)) {
    const [name = "", text = ""] = one.split(" ");
    own.push({ name: word(name), text: await inflate(text, MOST_TEXT) });
  }
  return {
    scenario: word(parts.get("s") ?? FIRST.scenario), set, controllers, seeds, own,
    text: packed === null ? null : await inflate(packed, MOST_TEXT),
  };
}

const quoted = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** File of a user's class, as `--cc` names it. */
export const fileOf = (name: string) => `${name.split(":")[1]!.toLowerCase()}.py`;

/** A controller as the installed program takes it: classes of the page by the file that the page exports. */
export function outside(controller: string, own: Source[]): string {
  const found = own.find(({ name }) => controller === name || controller.startsWith(`${name}:`));
  if (!found) return controller;
  return `${fileOf(found.name)}:${found.name.split(":")[1]!}${controller.slice(found.name.length)}`;
}

const place = ({ scenario, text }: Experiment) => (text === null ? scenario : `${scenario}.toml`);

/** The command that repeats the experiment. */
export function asCommand(experiment: Experiment): string {
  const { controllers, seeds, set, own } = experiment;
  const sets = set.map(([key, value]) => `--set ${quoted(`${key}=${value}`)}`);
  if (!controllers.length) return ["incast run", quoted(place(experiment)), ...sets].join(" ");
  const cc = controllers.map((controller) => `--cc ${quoted(outside(controller, own))}`);
  return ["incast compare", quoted(place(experiment)), ...cc, `--seeds ${seeds}`, ...sets].join(" ");
}

/** The same in Python. */
export function asPython(experiment: Experiment): string {
  const { controllers, seeds, set, own } = experiment;
  const text = JSON.stringify;
  const sets = set.map(([key, value]) => `${text(key)}: ${text(value)}`).join(", ");
  const scenario = `incast.Scenario.load(${text(place(experiment))})${sets ? `.with_({${sets}})` : ""}`;
  if (!controllers.length) return `import incast\n\nresult = ${scenario}.run()`;
  const cc = controllers.map((controller) => text(outside(controller, own))).join(", ");
  return `import incast\n\nscenario = ${scenario}\ncompared = incast.compare(scenario, [${cc}], seeds=${seeds})`
    + "\nprint(compared.answer())";
}
