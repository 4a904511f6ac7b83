/** The scenario as text, with the changed lines marked. */

import { useEffect, useRef, useState } from "preact/hooks";

interface Props {
  text: string;
  /** The text without differences, of which changed lines are told. */
  before: string;
  wrong: string;
  onChange: (text: string) => void;
}

/** Lines of a text that another one does not have in the same table. */
export function changedLines(text: string, before: string): Set<number> {
  const keyed = (own: string) => {
    let table = "";
    return own.split("\n").map((line) => {
      if (line.startsWith("[")) table = line;
      return `${table}\n${line}`;
    });
  };
  const known = new Set(keyed(before));
  return new Set(keyed(text).flatMap((line, i) => (known.has(line) || line.endsWith("\n") ? [] : [i])));
}

export function Toml({ text, before, wrong, onChange }: Props) {
  const [draft, setDraft] = useState(text);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const lines = useRef<HTMLPreElement>(null);
  useEffect(() => { setDraft(text); }, [text]);
  const changed = changedLines(draft, before);
  const typed = (own: string) => {
    setDraft(own);
    if (timer.current) clearTimeout(timer.current);
    timer.current = setTimeout(() => { onChange(own); }, 500);
  };
  return (
    <div class="toml">
      <div class="paper">
        <pre ref={lines} aria-hidden="true">
          {draft.split("\n").map((line, i) => <i class={changed.has(i) ? "hl" : ""}>{line || " "}</i>)}
        </pre>
        <textarea aria-label="Scenario as TOML" spellcheck={false} value={draft} wrap="off"
          rows={draft.split("\n").length + 1} onInput={(event) => { typed(event.currentTarget.value); }} />
      </div>
      {wrong && <p class="wrong" role="alert">{wrong}</p>}
    </div>
  );
}
