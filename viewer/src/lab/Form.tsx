/** The keys that the scenario gives, as a form. Words and conditions are the program's own. */

import { useState } from "preact/hooks";
import type { Key, Problem } from "../engine/wasm";

export interface Given {
  path: string;
  value: string;
  key: Key;
}

interface Props {
  given: Given[];
  /** Values as typed, by path: also those that are refused. */
  typed: Map<string, string>;
  changed: Set<string>;
  problems: Problem[];
  onChange: (path: string, value: string) => void;
  onReset: (path: string) => void;
}

/** Keys whose change makes another experiment, and which the page says elsewhere. */
const HIDDEN = /^(name|description|run\.seed|run\.threads)$/;

const GROUPS: [string, string][] = [
  ["run", "Run"], ["topology", "Network"], ["links", "Links"], ["queue", "Queues"], ["buffer", "Buffers"],
  ["transport", "Transport"], ["routing", "Routing"], ["traffic", "Traffic"], ["job", "Jobs"], ["hosts", "Hosts"],
];

/** A key's path in words, within its group. */
export function label(path: string, several: boolean): string {
  const parts = path.split(".");
  const own = ["traffic", "job"].includes(parts[0]!) && !several ? parts.slice(2) : parts.slice(1);
  return (own.length ? own : parts).join(" ").replaceAll("_", " ");
}

export function Form({ given, typed, changed, problems, onChange, onReset }: Props) {
  const shown = given.filter(({ path }) => !HIDDEN.test(path));
  const groups = new Map<string, Given[]>();
  for (const one of shown) {
    const group = one.path.split(".")[0]!;
    groups.set(group, [...groups.get(group) ?? [], one]);
  }
  const entries = (group: string) => new Set(groups.get(group)?.map(({ path }) => path.split(".")[1])).size;
  const order = [...groups.keys()].sort((a, b) => at(a) - at(b));
  return (
    <div class="form">
      {order.map((group) => (
        <fieldset>
          <legend>{GROUPS.find(([own]) => own === group)?.[1] ?? group}</legend>
          {groups.get(group)!.map((one) => (
            <Field key={one.path} given={{ ...one, value: typed.get(one.path) ?? one.value }}
              words={label(one.path, entries(group) > 1)} changed={changed.has(one.path)}
              problem={problems.find(({ key }) => key === one.path)} onChange={onChange} onReset={onReset} />
          ))}
        </fieldset>
      ))}
    </div>
  );
}

const at = (group: string) => {
  const found = GROUPS.findIndex(([own]) => own === group);
  return found < 0 ? GROUPS.length : found;
};

interface FieldProps {
  given: Given;
  words: string;
  changed: boolean;
  problem: Problem | undefined;
  onChange: (path: string, value: string) => void;
  onReset: (path: string) => void;
}

function Field({ given: { path, value, key }, words, changed, problem, onChange, onReset }: FieldProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const id = `field-${path}`;
  const given = (text: string) => {
    setDraft(null);
    if (text !== value) onChange(path, text);
  };
  const choice = key.words.some(([word]) => word === value);
  const yes = value === "true" || value === "false";
  return (
    <div class={changed ? "f ch" : "f"}>
      <label for={id} title={`${path}: ${key.doc}`}>{words}</label>
      {choice || yes ? (
        <select id={id} value={value} onChange={(event) => { given(event.currentTarget.value); }}>
          {(yes ? [["true", ""], ["false", ""]] : key.words).map(([word]) => <option value={word}>{word}</option>)}
        </select>
      ) : (
        <input id={id} value={draft ?? value} spellcheck={false} aria-invalid={problem !== undefined}
          aria-describedby={problem ? `${id}-wrong` : undefined} title={key.expected || undefined}
          onInput={(event) => { setDraft(event.currentTarget.value); }}
          onChange={(event) => { given(event.currentTarget.value.trim()); }} />
      )}
      {changed && (
        <button class="btn quiet icon" title={`Take back ${path}`} aria-label={`Take back ${path}`}
          onClick={() => { onReset(path); }}>↺</button>
      )}
      {problem && <p id={`${id}-wrong`} class="wrong">{problem.words}</p>}
    </div>
  );
}
