/** What keys and pointer do, and whether keys of one character do anything. */

import { useEffect, useRef } from "preact/hooks";

interface Props {
  open: boolean;
  /** Whether keys of one character act. */
  letters: boolean;
  onLetters: (on: boolean) => void;
  onClose: () => void;
}

const KEYS: [string, string][] = [
  ["space", "play, pause"], ["← →", "one frame back, on; ten with Shift"], ["Home, End", "first, last frame"],
  ["Escape", "all of the time again; then pin nothing"], ["Tab", "from part to part"],
];
/** Letters and signs: a word that is spoken, or a key that is hit by mistake, must not act where that is not wanted. */
const LETTERS: [string, string][] = [
  ["n, p", "next event, event before"], ["[ ]", "the stretch begins, ends at the cursor"],
  ["/", "search the flows"], ["d", "dark or light"], ["?", "this help"],
];
const POINTER: [string, string][] = [
  ["click a link", "pin its port; a click beside all links pins nothing"],
  ["click the heat map", "go to that frame and port"],
  ["click a curve", "go to that time"],
  ["from here, to here", "a stretch of time begins, ends at the cursor; so does a drag over curves, or with Shift over "
    + "the heat map"],
  ["+ −", "zoom around the pinned port, as the wheel does under the pointer"],
  ["drag", "move the fabric or the heat map"],
  ["double click", "all of the fabric"],
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
      <h2 id="help">Help</h2>
      <h3>Keys</h3>
      <dl>{rows(KEYS)}</dl>
      <h3>Keys of one character</h3>
      <label>
        <input type="checkbox" id="letters" checked={letters}
          onChange={(event) => { onLetters(event.currentTarget.checked); }} /> keys of one character act
      </label>
      <dl class={letters ? "" : "off"}>{rows(LETTERS)}</dl>
      <h3>Pointer</h3>
      <dl>{rows(POINTER)}</dl>
      <p>Where fabric or heat map has the focus: + and − zoom, up and down move, with Shift the fabric to the sides.</p>
      <button onClick={onClose}>close</button>
    </dialog>
  );
}
