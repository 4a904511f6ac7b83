/** An experiment: everything that the address of the page holds, and the ways to take it elsewhere. */

import { fileName } from "../scene/save";
import { inflate, deflate } from "./packed";
import type { Asked } from "../engine/wasm";
import type { Source } from "../engine/work";

export interface Experiment {
  /** Built-in scenario; the name of `text`, if there is one. */
  scenario: string;
  /** Text of the user's own. */
  text: string | null;
  /** Names and texts of files that the scenario names. */
  files: [string, string][];
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
/** Longest text in an address, in bytes when unpacked: a longer one is refused. Files may have as much together. */
export const MOST_TEXT = 200_000;
export const MOST_FILES = 32;
/** Characters that no name of a file may have: controls, and what turns the direction of letters around. */
const HIDDEN = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

/** Whether an address may have a file of this name. */
export const isFile = (name: string) => /[^/]$/.test(name) && name.length <= MOST_WORD && !HIDDEN.test(name);
/** The scenario's own controller, as `--cc` names it. */
export const AS_IT_IS = ".";
/** Name of a class in scenarios. */
const CLASS = /^lab:[A-Za-z_]\w*$/;
const MOST_KEYS = 64;
const MOST_WORD = 400;

export const FIRST: Experiment = {
  scenario: "incast", text: null, files: [], set: [["run.duration", "100ms"]], controllers: ["dctcp", "swift"],
  seeds: 5, own: [],
};

/** Bytes of a text. */
export const sizeOf = (text: string) => new TextEncoder().encode(text).length;

/** The scenario of a run, as the engine takes it. */
export function askedOf(experiment: Experiment, controller: string | null, seed: number | null): Asked {
  const { scenario, text, files, set } = experiment;
  return {
    name: scenario, set, ...(text === null ? {} : { text }), ...(controller === null ? {} : { controller }),
    ...(files.length ? { files: Object.fromEntries(files) } : {}), ...(seed === null ? {} : { seed }),
  };
}

/** What is compared: the scenario as it is, where no controller is chosen. */
export const comparedOf = ({ controllers }: Experiment) => (controllers.length ? controllers : [AS_IT_IS]);

/** Name of a controller on the page. */
export const nameOf = (controller: string) => (
  controller === AS_IT_IS ? "as it is" : controller.replace(/^lab:/, ""));

/** The class of the user's that a controller names. */
export function sourceOf(controller: string, own: Source[]): Source | undefined {
  return own.find(({ name }) => controller === name || controller.startsWith(`${name}:`));
}

/** Classes that controllers name: others stay with the user. */
export const namedBy = ({ controllers, own }: Experiment) => (
  own.filter((source) => controllers.some((controller) => sourceOf(controller, [source]))));

/** The experiment with a key set to a value; `null` takes the difference back. */
export function withKey(experiment: Experiment, key: string, value: string | null): Experiment {
  const others = experiment.set.filter(([own]) => own !== key);
  return { ...experiment, set: value === null ? others : [...others, [key, value]] };
}

/** Parts that an address may have. */
const PARTS = ["s", "set", "cc", "seeds", "text", "file", "own", "lesson"];

/** The address after `#`: of an experiment, and of the lesson that it is in. */
export async function written(experiment: Experiment, lesson: string | null = null): Promise<string> {
  const parts = new URLSearchParams();
  parts.set("s", experiment.scenario);
  experiment.set.forEach(([key, value]) => { parts.append("set", `${key}=${value}`); });
  experiment.controllers.forEach((controller) => { parts.append("cc", controller); });
  parts.set("seeds", String(experiment.seeds));
  if (experiment.text !== null) parts.set("text", await deflate(experiment.text));
  for (const [name, text] of experiment.files) parts.append("file", `${name} ${await deflate(text)}`);
  for (const { name, text } of namedBy(experiment)) parts.append("own", `${name} ${await deflate(text)}`);
  if (lesson !== null) parts.set("lesson", lesson);
  return parts.toString();
}

const partsOf = (hash: string) => new URLSearchParams(hash.replace(/^#/, ""));

/** The lesson that an address names; null if none. */
export const lessonIn = (hash: string) => partsOf(hash).get("lesson");

/** What an address holds. Raises an error that says what is wrong with it. */
export async function read(hash: string): Promise<Experiment> {
  const parts = partsOf(hash);
  const word = (text: string) => {
    if (text.length > MOST_WORD) throw new Error(`the address has a value of ${text.length} characters`);
    return text;
  };
  if (!PARTS.some((part) => parts.has(part))) {
    throw new Error(`the address has none of the parts ${PARTS.join(", ")}`);
  }
  const set = parts.getAll("set").map((one): [string, string] => {
    const at = one.indexOf("=");
    if (at < 1) throw new Error(`the address has set=${word(one)}; expected KEY=VALUE`);
    return [word(one.slice(0, at)), word(one.slice(at + 1))];
  });
  if (set.length > MOST_KEYS) throw new Error(`the address has ${set.length} keys; at most ${MOST_KEYS} are read`);
  const controllers = parts.getAll("cc").map(word);
  if (new Set(controllers).size < controllers.length) throw new Error("the address has a controller twice");
  if (controllers.length > MOST_CONTROLLERS) {
    throw new Error(`the address has ${controllers.length} controllers; at most ${MOST_CONTROLLERS} are compared`);
  }
  const seeds = Number(parts.get("seeds") ?? "5");
  if (!Number.isInteger(seeds) || seeds < 1 || seeds > MOST_SEEDS) {
    throw new Error(`the address has seeds=${word(parts.get("seeds") ?? "")}; expected 1 to ${MOST_SEEDS}`);
  }
  const packed = parts.get("text");
  const own: Source[] = [];
  const classes = parts.getAll("own");
  if (classes.length > MOST_CONTROLLERS) throw new Error(`the address has ${classes.length} classes`);
  for (const one of classes) {
    const [name = "", text = ""] = one.split(" ");
    if (!CLASS.test(name)) throw new Error(`the address has a class ${word(name)}; expected lab:NAME`);
    if (own.some((other) => other.name === name)) throw new Error(`the address has the class ${name} twice`);
    own.push({ name, text: await inflate(text, MOST_TEXT) });
  }
  const files: [string, string][] = [];
  const packedFiles = parts.getAll("file");
  if (packedFiles.length > MOST_FILES) {
    throw new Error(`the address has ${packedFiles.length} files; at most ${MOST_FILES} are read`);
  }
  let room = MOST_TEXT;
  for (const one of packedFiles) {
    const at = one.lastIndexOf(" ");
    const name = word(one.slice(0, Math.max(0, at)));
    if (!isFile(name)) {
      throw new Error(`the address has file=${word(one)}; expected the name of a file, a space and its packed text`);
    }
    if (files.some(([other]) => other === name)) throw new Error(`the address has the file ${name} twice`);
    const text = await inflate(one.slice(at + 1), MOST_TEXT);
    room -= sizeOf(text);
    if (room < 0) throw new Error(`the address holds files of more than ${MOST_TEXT} bytes together`);
    files.push([name, text]);
  }
  return {
    scenario: word(parts.get("s") ?? FIRST.scenario), files, set, controllers, seeds, own,
    text: packed === null ? null : await inflate(packed, MOST_TEXT),
  };
}

const quoted = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** File of a user's class, as `--cc` names it. */
export const fileOf = (name: string) => `${name.split(":")[1]!.toLowerCase()}.py`;

/** A controller as the installed program takes it: classes of the page by the file that the page exports. */
export function outside(controller: string, own: Source[]): string {
  const found = sourceOf(controller, own);
  if (!found) return controller;
  return `${fileOf(found.name)}:${found.name.split(":")[1]!}${controller.slice(found.name.length)}`;
}

/** File of the scenario's text: of none of its files' names. */
export function tomlOf({ scenario, files }: Experiment): string {
  const name = fileName(scenario, "toml");
  return files.some(([other]) => other === name) ? fileName(`${scenario} scenario`, "toml") : name;
}

const place = (experiment: Experiment) => {
  const name = experiment.text === null ? experiment.scenario : tomlOf(experiment);
  return name.startsWith("-") ? `./${name}` : name;
};

/** The command that repeats the experiment. */
export function asCommand(experiment: Experiment): string {
  const { seeds, set, own } = experiment;
  const sets = set.map(([key, value]) => `--set ${quoted(`${key}=${value}`)}`);
  const cc = comparedOf(experiment).map((controller) => `--cc ${quoted(outside(controller, own))}`);
  return ["incast compare", quoted(place(experiment)), ...cc, `--seeds ${seeds}`, ...sets].join(" ");
}

/** The same in Python. */
export function asPython(experiment: Experiment): string {
  const { seeds, set, own } = experiment;
  const text = JSON.stringify;
  const sets = set.map(([key, value]) => `${text(key)}: ${text(value)}`).join(", ");
  const scenario = `incast.Scenario.load(${text(place(experiment))})${sets ? `.with_({${sets}})` : ""}`;
  const cc = comparedOf(experiment).map((controller) => text(outside(controller, own))).join(", ");
  return `import incast\n\nscenario = ${scenario}\ncompared = incast.compare(scenario, [${cc}], seeds=${seeds})`
    + "\ncompared.answer()";
}
