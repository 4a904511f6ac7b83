/** The experiment to take along: as a command, as Python, as a link, as a file; and what came out as a picture. */

import { useState } from "preact/hooks";
import { fileName, save } from "../scene/save";
import { pngOf } from "./picture";
import { asCommand, asPython, tomlOf, type Experiment } from "./experiment";
import { baseOf } from "./Files";

const KINDS = ["a command", "Python", "a link", "a file", "a picture"] as const;

interface Props {
  experiment: Experiment;
  /** Those that its scenario names. */
  files: Experiment["files"];
  /** The address of the page. */
  link: string;
  /** The scenario as text; empty while it cannot be read. */
  text: string;
  /** What came out as SVG, and the name of its file; null before a run. */
  picture: { name: string; made: () => string | null } | null;
}

export function Take({ experiment, files, link, text, picture }: Props) {
  const [kind, setKind] = useState<typeof KINDS[number]>("a command");
  const [copied, setCopied] = useState("");
  const shown = { "a command": asCommand(experiment), Python: asPython(experiment), "a link": link,
    "a file": text || "The scenario cannot be read.", "a picture": picture
      ? "Answer, figures and curves of these runs in one picture, with the command that repeats them."
      : "Run it first: the picture holds answer, figures and curves." }[kind];
  const copy = () => {
    navigator.clipboard.writeText(shown).then(() => { setCopied("copied"); }, () => {
      setCopied("this browser lets no page copy: mark the text");
    });
    setTimeout(() => { setCopied(""); }, 3000);
  };
  const draw = async (type: "svg" | "png") => {
    const svg = picture?.made();
    if (!svg) {
      setCopied("no seed has finished under all controllers");
      return;
    }
    try {
      const blob = type === "svg" ? new Blob([svg], { type: "image/svg+xml" }) : await pngOf(svg);
      save(blob, fileName(picture!.name, type));
    } catch (error) {
      setCopied(`no picture: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const beside = [...experiment.text === null ? [] : [tomlOf(experiment)], ...files.map(([name]) => name)];
  const folders = files.map(([name]) => name).filter((name) => baseOf(name) !== name);
  const needs = (kind === "a command" || kind === "Python") && beside.length > 0;
  return (
    <section class="take card" aria-label="Take along">
      <div class="seg" role="group" aria-label="As what">
        {KINDS.map((one) => (
          <button aria-pressed={kind === one} onClick={() => { setKind(one); }}>As {one}</button>
        ))}
      </div>
      <pre tabIndex={0}>{shown}</pre>
      <span class={kind === "a file" && files.length ? "line many" : "line"}>
        <span role="status" class="faint">{copied}</span>
        {kind === "a file" && (
          <>
            {files.map(([name, own]) => (
              <button class="btn" onClick={() => { save(new Blob([own], { type: "text/plain" }), baseOf(name)); }}>
                Save {name}</button>
            ))}
            <button class="btn" onClick={() => {
              save(new Blob([text], { type: "application/toml" }), tomlOf(experiment));
            }} disabled={!text}>{files.length ? `Save ${tomlOf(experiment)}` : "Save"}</button>
          </>
        )}
        {kind === "a picture" ? (["svg", "png"] as const).map((type) => (
          <button class="btn" disabled={!picture} onClick={() => { void draw(type); }}>
            Save {type.toUpperCase()}
          </button>
        )) : <button class="btn" onClick={copy}>Copy</button>}
      </span>
      {kind === "a file" && folders.length > 0 && (
        <p class="soft">The scenario reads {folders.join(", ")}: put {folders.length > 1 ? "them" : "it"} there.</p>
      )}
      {needs && <p class="soft">It needs {beside.join(", ")}: save {beside.length > 1 ? "them" : "it"} under{" "}
        <button class="btn quiet" onClick={() => { setKind("a file"); }}>As a file</button></p>}
    </section>
  );
}
