/** What stands around a heat map: times above, names of rows at the left, and all rows at the right in small. */

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { seconds, way } from "../data/format";
import { Icon } from "../time/Icon";
import type { Note } from "../time/link";
import { ticksOf } from "../time/ticks";
import type { Field } from "./field";
import type { Window } from "./raster";
import { letterSize } from "./size";

/** Pixels between times of a ruler, and between names of rows: as much more as letters are larger. */
const apart = () => 5.8 * letterSize();
export const rowHeight = () => 0.96 * letterSize();
/** Pixels of the picture of all rows, and its rows. */
export const SMALL = 40;
const SMALL_ROWS = 400;

interface RulerProps {
  /** What is seen. */
  from_s: number;
  to_s: number;
  width: number;
  notes?: Note[];
  onSeek?: (time_s: number) => void;
}

/** Round times, and notes at theirs. */
export function Ruler({ from_s, to_s, width, notes = [], onSeek }: RulerProps) {
  const place = (time_s: number) => ((time_s - from_s) / (to_s - from_s)) * width;
  const ticks = ticksOf(from_s, to_s, width / apart());
  return (
    <div class="ruler">
      {ticks.map((time_s) => {
        const x = place(time_s);
        const side = x < 16 ? "first" : x > width - 24 ? "last" : "";
        return <span class={side} style={{ left: x }}>{seconds(time_s)}</span>;
      })}
      {notes.map(({ time_s, text }) => time_s >= from_s && time_s <= to_s && (
        <button class="flag" style={{ left: place(time_s) }} title={`${seconds(time_s)}: ${text}`}
          aria-label={`Go to the note at ${seconds(time_s)}: ${text}`} onClick={() => { onSeek?.(time_s); }}>
          <Icon name="flag" />
        </button>
      ))}
    </div>
  );
}

interface RowsProps {
  field: Field;
  order: Uint32Array;
  seen: Window;
  height: number;
  pinned: number | null;
  onPin: (port: number) => void;
}

/** Names of rows: of all where they are high enough, else of every so many; the pinned one always. */
export function RowNames({ field, order, seen, height, pinned, onPin }: RowsProps) {
  const high = height / (seen.row1 - seen.row0);
  const ROW = rowHeight();
  const every = Math.max(1, Math.ceil(ROW / high - 0.05));
  const names = field.run.names;
  const middle = (row: number) => (row + 0.5 - seen.row0) * high;
  const shown: { port: number; y: number }[] = [];
  const own = pinned === null ? -1 : order.indexOf(pinned);
  const pinnedAt = own < 0 ? -Infinity : middle(own);
  for (let row = Math.ceil(seen.row0 / every) * every; row < seen.row1 && row < order.length; row += every) {
    const y = middle(row);
    if (y < 5 || y > height - 5 || Math.abs(y - pinnedAt) < ROW - 1) continue;
    shown.push({ port: order[row]!, y });
  }
  if (pinnedAt >= 0 && pinnedAt <= height) shown.push({ port: pinned!, y: pinnedAt });
  return (
    <div class="names" aria-hidden="true">
      {shown.map(({ port, y }) => (
        <span key={port} class={port === pinned ? "own" : ""} style={{ top: y }} title={names[port]}
          onClick={() => { onPin(port); }}>{way(names[port]!)}</span>
      ))}
    </div>
  );
}

interface MinimapProps {
  field: Field;
  rowOf: Uint32Array;
  colours: Uint8Array;
  whole: Window;
  seen: Window;
  height: number;
  /** Shows what lies around a part of all frames and of all rows. */
  onMove: (across: number, down: number) => void;
}

/** All rows and all frames; a click or a drag shows what is there. */
export function Minimap({ field, rowOf, colours, whole, seen, height, onMove }: MinimapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawn = useRef<HTMLCanvasElement | null>(null);
  const draw = () => {
    const context = canvas.current?.getContext("2d");
    if (!context || !drawn.current) return;
    context.imageSmoothingEnabled = false;
    // the height of now: the picture is made some moments after its page
    context.drawImage(drawn.current, 0, 0, SMALL, context.canvas.height);
  };
  useEffect(() => {
    if (field.first !== null) return undefined;
    // the page is drawn first
    const later = setTimeout(() => {
      const small = field.raster(rowOf, whole, [SMALL, SMALL_ROWS]);
      const image = new ImageData(small.width, small.height);
      small.steps.forEach((step, i) => { image.data.set(colours.subarray(step * 4, step * 4 + 4), i * 4); });
      const aside = document.createElement("canvas");
      [aside.width, aside.height] = [small.width, small.height];
      aside.getContext("2d")?.putImageData(image, 0, 0);
      drawn.current = aside;
      draw();
    }, 30);
    return () => { clearTimeout(later); };
  }, [field, rowOf, colours, whole]);
  // another height has the same picture: a pass over all rows takes long
  useLayoutEffect(draw, [height]);
  const part = (from: number, to: number, all: number) => ({
    from: `${(100 * from) / all}%`, size: `${(100 * (to - from)) / all}%` });
  const [across, down] = [part(seen.frame0, seen.frame1, whole.frame1), part(seen.row0, seen.row1, whole.row1)];
  const move = (event: PointerEvent) => {
    const { left, top, width, height: high } = canvas.current!.getBoundingClientRect();
    onMove((event.clientX - left) / width, (event.clientY - top) / high);
  };
  return (
    <div class="minimap" title="All ports over the whole run; click to show what is there"
      onPointerDown={(event) => { event.currentTarget.setPointerCapture(event.pointerId); move(event); }}
      onPointerMove={(event) => { if (event.buttons) move(event); }}>
      <canvas ref={canvas} width={SMALL} height={Math.max(1, height)} aria-hidden="true" />
      <i style={{ left: across.from, width: across.size, top: down.from, height: down.size }} />
    </div>
  );
}
