/** Controllers that are compared, as chips; a click edits parameters. */

import { useEffect, useState } from "preact/hooks";
import type { Description, Item, Key } from "../engine/wasm";
import type { Source } from "../engine/work";
import { MOST_CONTROLLERS, nameOf, sourceOf } from "./experiment";
import { Marker } from "./Marker";

/** Name and parameters of a controller as `--cc` takes them. */
export function partsOf(controller: string, own: Source[]): { name: string; params: [string, string][] } {
  const source = sourceOf(controller, own);
  const name = source ? source.name : controller.split(":")[0]!;
  const rest = controller.slice(name.length + 1);
  const params = rest ? rest.split(",").map((one): [string, string] => {
    const at = one.indexOf("=");
    return at < 0 ? [one, ""] : [one.slice(0, at), one.slice(at + 1)];
  }) : [];
  return { name, params };
}

export function joined(name: string, params: [string, string][]): string {
  return params.length ? `${name}:${params.map(([key, value]) => `${key}=${value}`).join(",")}` : name;
}

/** What a chip says of a controller and its parameters. */
export interface About extends Pick<Description, "title" | "what"> {
  keys: Pick<Key, "name" | "default" | "doc" | "source" | "expected" | "unit">[];
}

interface Props {
  controllers: string[];
  own: Source[];
  known: Item[];
  /** Why a controller is refused, by its text. */
  wrong: Map<string, string>;
  describe: (name: string) => Promise<About>;
  onChange: (controllers: string[]) => void;
  onOwn: () => void;
}

export function Chips({ controllers, own, known, wrong, describe, onChange, onOwn }: Props) {
  const [edited, setEdited] = useState<number | null>(null);
  const full = controllers.length >= MOST_CONTROLLERS;
  const offered = [...own.map(({ name }) => ({ name, what: "of your own" })), ...known];
  const replace = (at: number, controller: string) => {
    onChange(controllers.map((one, i) => (i === at ? controller : one)));
  };
  return (
    <>
      <div class="chips">
        {controllers.map((controller, i) => {
          const { name, params } = partsOf(controller, own);
          return (
            <span class={wrong.has(controller) ? "chip bad" : "chip"} title={wrong.get(controller)}>
              <button class="name" aria-expanded={edited === i} onClick={() => { setEdited(edited === i ? null : i); }}>
                <Marker at={i} /> {nameOf(name)}
                {params.length > 0 && (
                  <span class="par">{params.map(([key, value]) => `${key}=${value}`).join(" ")}</span>
                )}
              </button>
              <button aria-label={`Remove ${controller}`} onClick={() => {
                onChange(controllers.filter((_, at) => at !== i));
                setEdited(null);
              }}>✕</button>
            </span>
          );
        })}
        <label class="chip ghost">
          <span aria-hidden="true">+</span>
          <select aria-label="Add a controller" value="" disabled={full} onChange={(event) => {
            const { value } = event.currentTarget;
            event.currentTarget.value = "";
            if (value) onChange([...controllers, value]);
          }}>
            <option value="">{full ? `at most ${MOST_CONTROLLERS}` : "add a controller"}</option>
            {offered.filter(({ name }) => !controllers.includes(name)).map(({ name, what }) => (
              <option value={name} title={what}>{`${name.replace(/^lab:/, "")} – ${what.slice(0, 70)}`}</option>
            ))}
          </select>
        </label>
        <button class="chip ghost" onClick={onOwn}>write your own</button>
      </div>
      {[...wrong].filter(([controller]) => controllers.includes(controller)).map(([, words]) => (
        <p class="wrong" role="alert">{words}</p>))}
      {edited !== null && controllers[edited] !== undefined && (
        <Parameters key={edited} controller={controllers[edited]} own={own} describe={describe}
          onChange={(controller) => { replace(edited, controller); }} onClose={() => { setEdited(null); }} />
      )}
    </>
  );
}

interface ParametersProps {
  controller: string;
  own: Source[];
  describe: (name: string) => Promise<About>;
  onChange: (controller: string) => void;
  onClose: () => void;
}

/** Parameters of a controller, with what `describe` says of them. */
function Parameters({ controller, own, describe, onChange, onClose }: ParametersProps) {
  const { name, params } = partsOf(controller, own);
  const [about, setAbout] = useState<About | null>(null);
  useEffect(() => {
    let gone = false;
    setAbout(null);
    void describe(name).then((found) => { if (!gone) setAbout(found); }, () => undefined);
    return () => { gone = true; };
  }, [name]);
  const given = new Map(params);
  const set = (key: string, value: string) => {
    const next = params.filter(([one]) => one !== key);
    onChange(joined(name, value === "" ? next : [...next, [key, value]]));
  };
  return (
    <section class="params" aria-label={`Parameters of ${name}`}>
      <p><b>{about?.title ?? name}</b> {about?.what}</p>
      {about?.keys.map((key) => (
        <div class={given.has(key.name) ? "f ch" : "f"}>
          <label for={`par-${key.name}`} title={`${key.doc} ${key.source}`}>{key.name}</label>
          <input id={`par-${key.name}`} placeholder={key.default ?? ""} value={given.get(key.name) ?? ""}
            title={`${key.expected} ${key.unit}`.trim()} spellcheck={false}
            onChange={(event) => { set(key.name, event.currentTarget.value.trim()); }} />
          <p class="doc">{key.doc}</p>
        </div>
      ))}
      {about && !about.keys.length && <p>It has no parameters.</p>}
      <button class="btn" onClick={onClose}>Done</button>
    </section>
  );
}
