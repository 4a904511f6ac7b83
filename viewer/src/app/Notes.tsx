/** Notes at moments: written, shown and removed. They are text alone. */

import { useEffect, useRef, useState } from "preact/hooks";
import { seconds } from "../data/format";
import { inOrder, MOST_LETTERS, MOST_NOTES, type Note } from "../time/link";

interface Props {
  open: boolean;
  /** The moment of a new one. */
  time_s: number;
  notes: Note[];
  onNotes: (notes: Note[]) => void;
  onSeek: (time_s: number) => void;
  onClose: () => void;
}

export function Notes({ open, time_s, notes, onNotes, onSeek, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  const words = text.replace(/\s+/g, " ").trim();
  return (
    <dialog ref={dialog} aria-labelledby="notes-title" onClose={onClose}>
      {open && <>
        <h2 id="notes-title">Notes</h2>
        <form method="dialog" onSubmit={(event) => {
          event.preventDefault();
          if (!words) return;
          onNotes(inOrder([...notes, { time_s, text: words }]));
          setText("");
        }}>
          <label>At {seconds(time_s)}{" "}
            <input id="note" value={text} maxLength={MOST_LETTERS} size={40}
              onInput={(event) => { setText(event.currentTarget.value); }} /></label>{" "}
          <button class="main" disabled={!words || notes.length >= MOST_NOTES}>Add</button>
        </form>
        {notes.length >= MOST_NOTES && <p class="hint">There are {MOST_NOTES}: an address has no room for more.</p>}
        <ul class="notes">
          {notes.map((own) => (
            <li>
              <button class="link" onClick={() => { onSeek(own.time_s); onClose(); }}>
                {seconds(own.time_s)}
              </button>{" "}
              {own.text}{" "}
              <button class="icon" aria-label={`Remove the note at ${seconds(own.time_s)}`}
                onClick={() => { onNotes(notes.filter((one) => one !== own)); }}>✕</button>
            </li>
          ))}
        </ul>
        <p class="hint">The address of the page holds its notes: send it with the file.</p>
        <button onClick={onClose}>Close</button>
      </>}
    </dialog>
  );
}
