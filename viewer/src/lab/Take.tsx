/** The experiment to take along: as a command, as Python, as a link, as a file. */

import { useState } from "preact/hooks";
import { save } from "../scene/save";
import { asCommand, asPython, tomlOf, type Experiment } from "./experiment";

const KINDS = ["a command", "Python", "a link", "a file"] as const;

interface Props {
  experiment: Experiment;
  /** The address of the page. */
  link: string;
  /** The scenario as text; empty while it cannot be read. */
  text: string;
}

export function Take({ experiment, link, text }: Props) {
  const [kind, setKind] = useState<typeof KINDS[number]>("a command");
  const [copied, setCopied] = useState("");
  const shown = { "a command": asCommand(experiment), Python: asPython(experiment), "a link": link,
    "a file": text || "The scenario cannot be read." }[kind];
  const copy = () => {
    navigator.clipboard.writeText(shown).then(() => { setCopied("copied"); }, () => {
      setCopied("this browser lets no page copy: mark the text");
    });
    setTimeout(() => { setCopied(""); }, 3000);
  };
  return (
    <section class="take card" aria-label="Take along">
      <div class="seg" role="group" aria-label="As what">
        {KINDS.map((one) => (
          <button aria-pressed={kind === one} onClick={() => { setKind(one); }}>As {one}</button>
        ))}
      </div>
      <pre tabIndex={0}>{shown}</pre>
      <span class="line">
        <span role="status" class="faint">{copied}</span>
        {kind === "a file" && (
          <button class="btn" onClick={() => {
            save(new Blob([text], { type: "application/toml" }), tomlOf(experiment));
          }} disabled={!text}>Save</button>
        )}
        <button class="btn" onClick={copy}>Copy</button>
      </span>
    </section>
  );
}
