/** Help on keys and pointer, with the switch of single-character shortcuts. */

import { useEffect, useRef } from "preact/hooks";

interface Props {
  open: boolean;
  /** True if single-character shortcuts are enabled. */
  letters: boolean;
  onLetters: (on: boolean) => void;
  onClose: () => void;
}

const KEYS: [string, string][] = [
  ["Space", "play, pause"], ["← →", "one frame back, forward; ten with Shift"], ["Home, End", "first, last frame"],
  ["Escape", "clear the time range, then the pinned port"], ["Tab", "next part of the page"],
];
/** Single-character shortcuts, which users of speech input must be able to disable (WCAG 2.1.4). */
const LETTERS: [string, string][] = [
  ["n, p", "next event, previous event"], ["[ ]", "start, end the time range at the cursor"],
  ["1 to 9", "tabs of the details"], ["/", "search the flows"], ["d", "dark or light"], ["?", "this help"],
];
const POINTER: [string, string][] = [
  ["Click a link", "pin its port; click elsewhere to unpin"],
  ["Click the heat map", "go to that frame and port"],
  ["Click a curve", "go to that time"],
  ["Set start, Set end", "select a time range at the cursor; or drag over curves, or with Shift over the heat map"],
  ["+ −", "zoom around the pinned port; the wheel zooms around the pointer"],
  ["Drag", "move the fabric or the heat map; a line between panes changes their sizes"],
  ["Double click", "show the whole fabric; on a line between panes, their sizes at first"],
];

export function Help({ open, letters, onLetters, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  const rows = (all: [string, string][]) => all.map(([key, words]) => (
    <>
      <dt>{key}</dt>
      <dd>{words}</dd>
    </>
  ));
  return (
    <dialog ref={dialog} aria-labelledby="help" onClose={onClose}>
      {open && <>
        <h2 id="help">Help</h2>
        <h3>Keys</h3>
        <dl>{rows(KEYS)}</dl>
        <h3>Single-character shortcuts</h3>
        <label>
          <input type="checkbox" id="letters" checked={letters}
            onChange={(event) => { onLetters(event.currentTarget.checked); }} /> Enable single-character shortcuts
        </label>
        <dl class={letters ? "" : "off"}>{rows(LETTERS)}</dl>
        <h3>Pointer</h3>
        <dl>{rows(POINTER)}</dl>
        <p>With the focus on fabric or heat map: + and − zoom, up and down move; with Shift the fabric moves
          sideways.</p>
        <button onClick={onClose}>Close</button>
      </>}
    </dialog>
  );
}
