/** Two panes and what moves between them: by a drag, by keys, or back by a double click. */

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { remember, remembered } from "./memory";

interface Props {
  /** Under this name their size is remembered. */
  name: string;
  /** What the line between them is called. */
  label: string;
  across?: boolean;
  /** The first one's part of both; without it, as much as it needs. */
  part?: number;
  children: [ComponentChildren, ComponentChildren];
}

/** Pixels of the line, of a step by a key, and that a pane keeps. */
const [LINE, STEP, LEAST] = [7, 16, 120];

function read(name: string): number | null {
  const part = Number(remembered(`size-${name}`) ?? NaN);
  return part > 0 && part < 1 ? part : null;
}

export function Panes({ name, label, across = false, part, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [own, setOwn] = useState(() => read(name));
  const share = own ?? part ?? null;
  const set = (to: number | null) => {
    setOwn(to);
    remember(`size-${name}`, to === null ? null : String(to));
  };
  /** The room of both, and the first one's now. */
  const sizes = () => {
    const { width, height } = box.current!.getBoundingClientRect();
    const first = box.current!.firstElementChild!.getBoundingClientRect();
    return across ? [width - LINE, first.width] as const : [height - LINE, first.height] as const;
  };
  const to = (pixels: number) => {
    const [room] = sizes();
    set(Math.min(room - LEAST, Math.max(LEAST, pixels)) / room);
  };
  const keyed = (event: KeyboardEvent) => {
    const [room, now] = sizes();
    const acts: Record<string, number> = {
      [across ? "ArrowLeft" : "ArrowUp"]: now - STEP, [across ? "ArrowRight" : "ArrowDown"]: now + STEP, Home: LEAST,
      End: room - LEAST,
    };
    const pixels = acts[event.key];
    if (pixels === undefined && event.key !== "Enter") return;
    event.preventDefault();
    // time does not go on with it
    event.stopPropagation();
    if (pixels === undefined) set(null);
    else to(pixels);
  };
  return (
    <div ref={box} class={`panes ${across ? "across" : "down"} ${share === null ? "fitted" : ""}`}
      style={share === null ? {} : { "--part": share }}>
      {children[0]}
      <div role="separator" class="split" tabIndex={0} aria-label={label} data-split={name}
        aria-orientation={across ? "vertical" : "horizontal"} aria-valuemin={0} aria-valuemax={100}
        aria-valuenow={Math.round(100 * (share ?? 0.3))}
        title="Drag, or move with the arrow keys; double click or Enter for the size at first"
        onKeyDown={keyed} onDblClick={() => { set(null); }}
        onPointerDown={(event) => { event.currentTarget.setPointerCapture(event.pointerId); }}
        onPointerMove={(event) => {
          if (!event.buttons || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
          const { left, top } = box.current!.getBoundingClientRect();
          to((across ? event.clientX - left : event.clientY - top) - LINE / 2);
        }} />
      {children[1]}
    </div>
  );
}
