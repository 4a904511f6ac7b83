/** The scenario as text, with the changed lines marked. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";

interface Props {
  text: string;
  /** The text without differences, of which changed lines are told. */
  before: string;
  wrong: string;
  onChange: (text: string) => void;
}

/** Longest text of which changed lines are marked. */
const MOST_LINES = 2000;

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
  /** What was handed over last: it comes back as the text. */
  const sent = useRef(text);
  /** What is typed and not handed over. */
  const later = useRef<(() => void) | null>(null);
  const forget = () => {
    if (timer.current) clearTimeout(timer.current);
    later.current = null;
  };
  useEffect(() => {
    if (text === sent.current) return;
    forget();
    sent.current = text;
    setDraft(text);
  }, [text]);
  useEffect(() => () => { later.current?.(); }, []);
  const lines = useMemo(() => draft.split("\n"), [draft]);
  const changed = useMemo(() => (
    lines.length > MOST_LINES ? new Set<number>() : changedLines(draft, before)), [draft, before]);
  const typed = (own: string) => {
    setDraft(own);
    forget();
    later.current = () => {
      forget();
      sent.current = own;
      onChange(own);
    };
    timer.current = setTimeout(later.current, 500);
  };
  return (
    <div class="toml">
      <div class="paper">
        <pre aria-hidden="true">
          {changed.size > 0 ? lines.map((line, i) => <i class={changed.has(i) ? "hl" : ""}>{line || " "}</i>) : draft}
        </pre>
        <textarea aria-label="Scenario as TOML" spellcheck={false} value={draft} wrap="off"
          rows={lines.length + 1} onInput={(event) => { typed(event.currentTarget.value); }} />
      </div>
      {wrong && (
        <ul class="wrong" role="alert">{wrong.split("\n").map((own) => <li>{own}</li>)}</ul>
      )}
    </div>
  );
}
