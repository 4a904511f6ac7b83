/** An editor for a controller of one's own: checked as one types, run beside the others, taken along as a file. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Source } from "../engine/work";
import { asPythonClass, parsed } from "./python";
import { fileOf } from "./experiment";
import { save } from "../scene/save";

export const STARTED: Source = {
  name: "lab:Mine",
  text: `// Adds \`a\` segments a round trip; keeps the share \`b\` of its window on congestion.
export default class Mine {
  static ecn = "classic";
  static state = ["cuts"];
  static params = { a: 1.0, b: 0.5 };

  constructor({ a, b }) {
    this.a = a;
    this.b = b;
    this.cuts = 0;
  }

  init(env) {
    this.mss = env.mss;
  }

  on_ack(ack) {
    if (ack.phase === "open" && ack.cwnd_limited && !ack.ece) {
      this.cwnd += this.a * this.mss * ack.acked / this.cwnd;
    }
  }

  on_loss(event) {
    this.cwnd = Math.max(this.b * this.cwnd, this.mss);
    this.cuts += 1;
  }

  on_timeout(event) {
    this.cwnd = this.mss;
  }
}
`,
};

/** What an object sees, in the words of docs/controllers/python.md. */
const SEES: [string, string][] = [
  ["ack.now_ps", "simulated time, ps"],
  ["ack.acked", "bytes newly acknowledged"],
  ["ack.rtt_ps", "round-trip time of the packet, ps, or null"],
  ["ack.srtt_ps", "smoothed round-trip time, ps"],
  ["ack.fabric_delay_ps", "its part in links and queues, or null"],
  ["ack.ece", "true if the receiver echoes a mark"],
  ["ack.in_flight", "bytes in flight before this ACK"],
  ["ack.round_acked, round_sent", "bytes acknowledged, sent: a round trip ends when acked passes the old sent"],
  ["ack.phase", "open, cwr, recovery or loss"],
  ["event.window, rtt_ps", "window in force, latest round-trip time"],
  ["env.mss, base_rtt_ps, line_rate_bps", "segment, idle round-trip time, rate of the sender's link"],
  ["this.cwnd", "congestion window, bytes: what you set"],
  ["this.pacing_rate_bps", "bit/s, or null for no pacing"],
];

interface Props {
  source: Source;
  /** Why the engine refuses it, or how a run of it failed; empty if not. */
  failed: string;
  added: boolean;
  check: (source: Source) => Promise<{ methods: string[]; params: string[]; state: string[] }>;
  onChange: (source: Source) => void;
  onAdd: () => void;
}

export function Own({ source, failed, added, check, onChange, onAdd }: Props) {
  const [draft, setDraft] = useState(source.text);
  const [wrong, setWrong] = useState("");
  const [about, setAbout] = useState("");
  const latest = useRef(0);
  useEffect(() => {
    const own = ++latest.current;
    const later = setTimeout(() => {
      try {
        parsed(draft);
      } catch (error) {
        setWrong(`line ${(error as { loc?: { line: number } }).loc?.line ?? "?"}: ${(error as Error).message}`);
        return;
      }
      check({ ...source, text: draft }).then(({ methods, params }) => {
        if (own !== latest.current) return;
        setWrong("");
        setAbout(`${methods.join(", ")}${params.length ? `; parameters ${params.join(", ")}` : ""}`);
        if (draft !== source.text) onChange({ ...source, text: draft });
      }, (error: unknown) => {
        if (own === latest.current) setWrong(error instanceof Error ? error.message : String(error));
      });
    }, 400);
    return () => { clearTimeout(later); };
  }, [draft]);
  useEffect(() => { setDraft(source.text); }, [source.text]);
  const [translated, setTranslated] = useState("");
  const download = () => {
    try {
      save(new Blob([asPythonClass(draft)], { type: "text/x-python" }), fileOf(source.name));
      setTranslated(`Saved as ${fileOf(source.name)}: incast run dumbbell --set controller=${fileOf(source.name)}:${
        source.name.split(":")[1]!}`);
    } catch (error) {
      setTranslated(`No Python file: ${(error as Error).message}`);
    }
  };
  return (
    <div class="own">
      <p class="soft">
        A class with one object a flow, as <b>the installed program</b> takes it from a Python file. Its code runs in
        this tab alone, without network.
      </p>
      <textarea class="code" aria-label="Controller in JavaScript" spellcheck={false} value={draft} wrap="off"
        rows={Math.max(24, draft.split("\n").length + 1)} aria-invalid={wrong !== ""}
        onInput={(event) => { setDraft(event.currentTarget.value); }}
        onKeyDown={(event) => {
          // Escape leaves: otherwise the tabulator would hold a keyboard here
          if (event.key !== "Tab" || event.shiftKey || event.currentTarget.dataset.leaves) return;
          event.preventDefault();
          const { selectionStart: at, selectionEnd: to, value } = event.currentTarget;
          setDraft(`${value.slice(0, at)}  ${value.slice(to)}`);
          const area = event.currentTarget;
          requestAnimationFrame(() => { area.selectionStart = area.selectionEnd = at + 2; });
        }}
        onKeyUp={(event) => {
          if (event.key === "Escape") event.currentTarget.dataset.leaves = "yes";
        }}
        onFocus={(event) => { delete event.currentTarget.dataset.leaves; }} />
      <p role="status" class={wrong || failed ? "wrong" : "right"}>
        {wrong || failed || (about ? `✓ ${about}` : "…")}
      </p>
      <div class="line">
        <button class="btn main" disabled={wrong !== "" || added} onClick={onAdd}>
          {added ? "Is compared" : "Compare it"}
        </button>
        <button class="btn" disabled={wrong !== ""} onClick={download}>Save as Python</button>
        <span class="faint">Tab indents; Escape, then Tab leaves.</span>
      </div>
      {translated && <p class="soft" role="status">{translated}</p>}
      <details class="sees">
        <summary>What it sees</summary>
        <dl>{SEES.map(([name, words]) => <><dt>{name}</dt><dd>{words}</dd></>)}</dl>
      </details>
    </div>
  );
}
