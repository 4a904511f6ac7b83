/** An editor for a controller of one's own: checked as one types, run beside the others, taken along as a file. */

import { useEffect, useState } from "preact/hooks";
import type { Source } from "../engine/work";
import { asPythonClass, classNamed } from "./python";
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
  ["ack.rtt_ps", "round-trip time of the packet, ps; null without a sample, which counts as 0: test for it"],
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
  draft: string;
  /** Classes that a link brought and that may not run yet. */
  others: Source[];
  /** How a run of it failed; empty if none did. */
  failed: string;
  /** Whether this very text is compared. */
  isCompared: boolean;
  /** Why it cannot be added; empty if it can. */
  full: string;
  /** Whether it may be loaded: what a link brought is only parsed before. */
  allowed: boolean;
  check: (source: Source) => Promise<{ methods: string[]; params: string[]; state: string[] }>;
  onDraft: (text: string) => void;
  onCompare: (source: Source) => void;
}

export function Own(props: Props) {
  const { draft, others, failed, isCompared, full, allowed, check, onDraft, onCompare } = props;
  /** What was checked last: its text, and what is wrong with it or what it has. */
  const [checked, setChecked] = useState({ text: "", wrong: "", about: "" });
  useEffect(() => {
    let gone = false;
    const told = (wrong: string, about = "") => { if (!gone) setChecked({ text: draft, wrong, about }); };
    const later = setTimeout(() => {
      let name = "";
      try {
        name = classNamed(draft);
      } catch (error) {
        told(`line ${(error as { loc?: { line: number } }).loc?.line ?? "?"}: ${(error as Error).message}`);
        return;
      }
      if (!allowed) return;
      check({ name, text: draft }).then(({ methods, params }) => {
        told("", `${name.replace("lab:", "")}: ${methods.join(", ")}${
          params.length ? `; parameters ${params.join(", ")}` : ""}`);
      }, (error: unknown) => { told(error instanceof Error ? error.message : String(error)); });
    }, 400);
    return () => {
      gone = true;
      clearTimeout(later);
    };
  }, [draft, allowed]);
  const about = checked.about ? `✓ ${checked.about}` : "…";
  const sound = checked.text === draft && !checked.wrong;
  const [translated, setTranslated] = useState("");
  const download = () => {
    try {
      const name = classNamed(draft);
      save(new Blob([asPythonClass(draft)], { type: "text/x-python" }), fileOf(name));
      setTranslated(`Saved as ${fileOf(name)}. Compared, it stands in the command below: --cc ${fileOf(name)}:${
        name.split(":")[1]!}`);
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
        rows={Math.max(24, draft.split("\n").length + 1)} aria-invalid={checked.wrong !== ""}
        onInput={(event) => { onDraft(event.currentTarget.value); }}
        onKeyDown={(event) => {
          // Escape leaves: otherwise the tabulator would hold a keyboard here
          if (event.key !== "Tab" || event.shiftKey || event.currentTarget.dataset.leaves) return;
          event.preventDefault();
          const { selectionStart: at, selectionEnd: to, value } = event.currentTarget;
          onDraft(`${value.slice(0, at)}  ${value.slice(to)}`);
          const area = event.currentTarget;
          requestAnimationFrame(() => { area.selectionStart = area.selectionEnd = at + 2; });
        }}
        onKeyUp={(event) => {
          if (event.key === "Escape") event.currentTarget.dataset.leaves = "yes";
        }}
        onFocus={(event) => { delete event.currentTarget.dataset.leaves; }} />
      <div class="acts">
        <p role="status" class={checked.wrong || failed ? "wrong" : "right"}>
          {checked.wrong || failed || (allowed ? about : "It is not allowed to run.")}
        </p>
        <div class="line">
          <button class="btn main" disabled={!sound || !allowed || isCompared || full !== ""}
            onClick={() => { onCompare({ name: classNamed(draft), text: draft }); }}>
            {isCompared ? "Is compared" : "Compare it"}
          </button>
          <button class="btn" disabled={checked.wrong !== ""} onClick={download}>Save as Python</button>
          {full && <span class="soft">{full}</span>}
          <span class="faint">Tab indents; Escape, then Tab leaves.</span>
        </div>
      </div>
      {translated && <p class="soft" role="status">{translated}</p>}
      <p class="faint">In Python a division by zero and the logarithm of 0 are errors, and the last digit of exp and log
        may differ.</p>
      {others.map(({ name, text }) => (
        <details open>
          <summary>{name.replace("lab:", "")}, from the link</summary><pre class="theirs">{text}</pre>
        </details>
      ))}
      <details class="sees">
        <summary>What it sees</summary>
        <dl>{SEES.map(([name, words]) => <><dt>{name}</dt><dd>{words}</dd></>)}</dl>
      </details>
    </div>
  );
}
