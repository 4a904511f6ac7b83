/** Five steps through the page: they open with a person's first page, and by a button. */

import { useEffect, useRef, useState } from "preact/hooks";
import { remember, remembered } from "./memory";

/** What each step points at, and says. */
const STEPS: [string, string, string][] = [
  [".fabric", "Fabric", "The network at one moment. The half of a line near a node is the port at that node; its "
    + "colour is the size of its queue. Click one to pin it."],
  [".heat", "Heat map", "Every port over the whole run, the worst first: time runs to the right. Click a cell to go to "
    + "that moment and port."],
  [".time", "Time", "Play the run, or drag through it. Signs are events: failures, timeouts, starts and ends "
    + "of flows."],
  [".summary", "Summary", "What was simulated and how it went. Click a port or a flow to see why."],
  [".details", "Details", "Curves of what you chose: delay, window, rate or queue. “Add to plot” keeps several of them "
    + "in one plot; the address keeps all that you see."],
];

/** Whether the tour opens by itself: in a page of its own, at no moment that an address asks for, and once. */
export function isFirst(asked: string): boolean {
  const framed = window.top !== window || location.protocol === "about:";
  return !framed && asked.length < 2 && remembered("tour") === null;
}

interface Props {
  onClose: () => void;
}

export function Tour({ onClose }: Props) {
  const [at, setAt] = useState(0);
  const next = useRef<HTMLButtonElement>(null);
  const [part, title, words] = STEPS[at]!;
  const close = () => {
    remember("tour", "seen");
    onClose();
  };
  useEffect(() => {
    const pointed = document.querySelector(part);
    pointed?.classList.add("pointed");
    next.current?.focus();
    return () => { pointed?.classList.remove("pointed"); };
  }, [at]);
  const keyed = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key !== "Escape" && !step) return;
    event.preventDefault();
    event.stopPropagation();
    if (!step) close();
    else setAt(Math.min(STEPS.length - 1, Math.max(0, at + step)));
  };
  return (
    <aside class="tour" role="dialog" aria-label="Tour of the page" aria-describedby="tour-words" onKeyDown={keyed}>
      <p class="faint">{at + 1} of {STEPS.length}</p>
      <h2>{title}</h2>
      <p id="tour-words">{words}</p>
      <p class="buttons">
        {at > 0 && <button onClick={() => { setAt(at - 1); }}>Back</button>}
        {at < STEPS.length - 1 && <button class="quiet" onClick={close}>Skip</button>}
        <button ref={next} class="main" onClick={() => { if (at < STEPS.length - 1) setAt(at + 1); else close(); }}>
          {at < STEPS.length - 1 ? "Next" : "Done"}
        </button>
      </p>
    </aside>
  );
}
