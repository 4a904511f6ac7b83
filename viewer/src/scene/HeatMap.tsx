/**
 * Ports by time: a row a port, a column a frame. Drag moves, with Shift it selects a stretch of time, the wheel
 * zooms, a click goes to a frame and a port.
 */

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { seconds } from "../data/format";
import { framesOf, type Span } from "../data/stretch";
import type { Field } from "./field";
import { layout } from "./layout";
import { Legend } from "./Legend";
import { painter, type Painter } from "./paint";
import { portOrder, rowsOf, rowsOfSome, type Window } from "./raster";
import { savePng } from "./save";
import { groundOf, useSize } from "./size";

interface Props {
  field: Field;
  time_s: number;
  pinned: number | null;
  dark: boolean;
  /** The stretch of time that is shown alone; rows are those worst in it. */
  span: Span | null;
  onSeek: (time_s: number) => void;
  onSpan: (one_s: number, other_s: number) => void;
  onPin: (port: number) => void;
  /** What else stands in its line. */
  children?: ComponentChildren;
}

export function HeatMap({ field, time_s, pinned, dark, span, onSeek, onSpan, onPin, children }: Props) {
  const { run, frames: all } = field;
  const frame = field.frameOf(time_s);
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const words = useRef<HTMLSpanElement>(null);
  const paint = useRef<Painter | null>(null);
  const { width, height } = useSize(box);
  const [worst, setWorst] = useState(true);
  const [selects, setSelects] = useState(false);
  const ports = run.timeline.ports.length;
  // what its first rows have most of
  const ranks = useMemo(() => (
    worst ? (span ? field.worstIn(framesOf(field, span)) : field.worst) : null), [field, worst, span]);
  const whole = useMemo<Window>(() => ({ frame0: 0, frame1: all, row0: 0, row1: ports }), [all, ports]);
  const firstRows = useMemo(() => ({ row0: 0, row1: rowsOfSome(ranks, ports) }), [ranks, ports]);
  const firstFrames = useMemo(() => {
    if (span) {
      const [start_s, frame_s] = [field.timeOf(0), field.timeOf(1) - field.timeOf(0)];
      return { frame0: (span.from_s - start_s) / frame_s, frame1: (span.to_s - start_s) / frame_s };
    }
    // what comes after all is quiet would leave a stripe of the rest
    const busy = Math.max(10, Math.ceil(1.05 * field.busy));
    return { frame0: 0, frame1: busy > 0.8 * all ? all : busy };
  }, [all, field, span]);
  const [seen, setSeen] = useState<Window>({ ...firstRows, ...firstFrames });
  const [hover, setHover] = useState<{ port: number; frame: number; x: number; y: number } | null>(null);
  const drag = useRef<{ x: number; y: number; seen: Window; moved: boolean; selects: boolean } | null>(null);
  const [band, setBand] = useState<[number, number] | null>(null);
  // other rows, or rows in another order, leave the time that is seen
  useEffect(() => { setSeen((old) => ({ ...old, ...firstFrames })); }, [firstFrames]);
  useEffect(() => { setSeen((old) => ({ ...old, ...firstRows })); }, [firstRows]);
  const nodes = useMemo(() => layout(run.timeline).order, [run]);
  const order = useMemo(() => portOrder(run, nodes, ranks), [field, nodes, ranks]);
  const rowOf = useMemo(() => rowsOf(order), [order]);
  const colours = useMemo(() => field.colours(groundOf(dark)), [field, dark]);

  useEffect(() => {
    if (!canvas.current || !width) return;
    paint.current ??= painter(canvas.current);
    if (paint.current) canvas.current.dataset.painter = paint.current.kind;
    paint.current?.load(field.raster(rowOf, whole), colours);
    paint.current?.draw(seen);
  }, [field, rowOf, whole, colours, width > 0]);
  useLayoutEffect(() => { paint.current?.draw(seen); }, [seen, width, height]);
  // what is seen for a moment is made again as finely as it is recorded
  useEffect(() => {
    if (seen.row1 - seen.row0 === ports && seen.frame1 - seen.frame0 === all) return undefined;
    const later = setTimeout(() => {
      const part = {
        frame0: Math.floor(seen.frame0), frame1: Math.ceil(seen.frame1),
        row0: Math.floor(seen.row0), row1: Math.ceil(seen.row1),
      };
      paint.current?.load(field.raster(rowOf, part), colours);
      paint.current?.draw(seen);
    }, 150);
    return () => { clearTimeout(later); };
  }, [seen, field, rowOf, colours]);

  const at = (event: MouseEvent) => {
    const { left, top } = canvas.current!.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    const row = Math.floor(seen.row0 + (y / height) * (seen.row1 - seen.row0));
    return {
      x, y, port: order[Math.min(order.length - 1, Math.max(0, row))]!,
      frame: Math.min(all - 1, Math.max(0, Math.floor(seen.frame0 + (x / width) * (seen.frame1 - seen.frame0)))),
    };
  };
  const timeAt = (x: number) => {
    const part = seen.frame0 + (Math.min(width, Math.max(0, x)) / width) * (seen.frame1 - seen.frame0);
    return field.timeOf(Math.floor(part)) + (part - Math.floor(part)) * (field.timeOf(1) - field.timeOf(0));
  };
  /** Shows so many times as much around a part of what is seen. */
  const zoom = (by: number, x: number, y: number, rows: boolean) => {
    const part = (from: number, to: number, bound: number, share: number, least: number) => {
      const size = Math.min(bound, Math.max(Math.min(least, bound), (to - from) * by));
      const start = Math.min(bound - size, Math.max(0, from + share * (to - from - size)));
      return [start, start + size] as const;
    };
    setSeen((old) => {
      const { frame0: first, frame1: last, row0: above, row1: below } = old;
      const [frame0, frame1] = part(first, last, all, x, Math.min(10, last - first));
      const [row0, row1] = rows ? part(above, below, whole.row1, y, 4) : [above, below];
      return { frame0, frame1, row0, row1 };
    });
  };
  const cursor = ((frame + 0.5 - seen.frame0) / (seen.frame1 - seen.frame0)) * width;
  const row = pinned === null ? -1 : rowOf[pinned] ?? -1;
  const inSight = (part: number) => (part >= 0 && part <= 1 ? part : 0.5);
  const near = () => [inSight(cursor / width), inSight(row < 0 ? -1 : pinnedAt / height)] as const;
  const keyed = (event: KeyboardEvent) => {
    const rows = seen.row1 - seen.row0;
    const move = (by: number) => {
      const row0 = Math.min(whole.row1 - rows, Math.max(0, seen.row0 + by * rows));
      setSeen({ ...seen, row0, row1: row0 + rows });
    };
    const acts: Record<string, () => void> = {
      "+": () => { zoom(0.7, ...near(), true); }, "=": () => { zoom(0.7, ...near(), true); },
      "-": () => { zoom(1 / 0.7, ...near(), true); },
      ArrowUp: () => { move(-0.25); }, ArrowDown: () => { move(0.25); },
    };
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  const pinnedAt = ((row + 0.5 - seen.row0) / (seen.row1 - seen.row0)) * height;
  const inRows = pinnedAt >= 0 && pinnedAt <= height;
  const rows = Math.ceil(seen.row1) - Math.floor(seen.row0);
  return (
    <div class="heat" role="region" aria-label="Heat map">
      <div class="bar">
        {children}
        <span ref={words}>
          {field.title}, of{" "}
          {rows < ports && `${rows.toLocaleString("en-US")} of `}{ports.toLocaleString("en-US")} ports,{" "}
          {seconds(field.timeOf(Math.floor(seen.frame0)))} to{" "}
          {seconds(Math.min(field.end_s, field.timeOf(Math.ceil(seen.frame1))))} of {seconds(field.end_s)}
        </span>
        {row >= 0 && !inRows && <span class="beyond">pinned port {pinnedAt < 0 ? "above" : "below"}</span>}
        {field.legend && <Legend colours={colours} words={field.legend} />}
        <span class="tools">
        <label><input type="checkbox" checked={worst} onChange={() => { setWorst(!worst); }} /> sort by metric</label>
        <button aria-pressed={selects} onClick={() => { setSelects(!selects); }}
          title="Drag to select a time range (or drag with Shift); “set start” and “set end” select at the cursor">
          select
        </button>
        <button aria-label="Zoom out of the heat map" title="Zoom out around the cursor and the pinned port"
          onClick={() => { zoom(1 / 0.7, ...near(), true); }}>−</button>
        <button aria-label="Zoom into the heat map" title="Zoom in around the cursor and the pinned port"
          onClick={() => { zoom(0.7, ...near(), true); }}>+</button>
        <button title="Show all ports and the whole run" onClick={() => {
          setSeen(whole);
          paint.current?.load(field.raster(rowOf, whole), colours);
        }}>all</button>
        <button title="Save the visible heat map as PNG" onClick={() => {
          if (!canvas.current) return;
          const scaled = field.legend ? `${field.legend[0]} to ${field.legend[2]}` : "square-root colour scale";
          savePng(canvas.current, [`${run.label}: ${words.current?.textContent ?? ""}`, `One row per port; ${scaled}`],
            `${run.label}-heat-map`);
        }}>PNG</button>
        </span>
      </div>
      <div class="plane" ref={box}>
        <canvas
          ref={canvas} width={width * devicePixelRatio} height={height * devicePixelRatio} style={{ width, height }}
          role="application" id="heat" tabIndex={0} onKeyDown={keyed}
          aria-label={`Heat map of ${field.title}: ports by time; the list of ports and the figures of a time range `
            + "give the same as text. Plus and minus zoom around the pinned port and the cursor, up and down move"}
          onPointerDown={(event) => { event.currentTarget.setPointerCapture(event.pointerId); }}
          onMouseDown={(event) => {
            const [x, y] = [event.clientX, event.clientY];
            drag.current = { x, y, seen, moved: false, selects: selects || event.shiftKey };
          }}
          onMouseMove={(event) => {
            const held = drag.current;
            if (!held || !event.buttons) { setHover(at(event)); return; }
            const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
            if (Math.hypot(dx, dy) <= 3 && !held.moved) return;
            held.moved = true;
            if (held.selects) {
              const { x } = at(event);
              setBand([Math.min(x, x - dx), Math.max(x, x - dx)]);
              return;
            }
            const [frames, rows] = [held.seen.frame1 - held.seen.frame0, held.seen.row1 - held.seen.row0];
            const frame0 = Math.min(all - frames, Math.max(0, held.seen.frame0 - (dx / width) * frames));
            const row0 = Math.min(whole.row1 - rows, Math.max(0, held.seen.row0 - (dy / height) * rows));
            setSeen({ frame0, frame1: frame0 + frames, row0, row1: row0 + rows });
          }}
          onMouseUp={(event) => {
            const held = drag.current;
            if (!held?.selects || !held.moved) return;
            const { x } = at(event);
            setBand(null);
            onSpan(timeAt(x), timeAt(x - (event.clientX - held.x)));
          }}
          onMouseLeave={() => { setHover(null); }}
          onClick={(event) => {
            if (drag.current?.moved) return;
            const { frame: to, port } = at(event);
            onSeek(field.timeOf(to));
            onPin(port);
          }}
          onWheel={(event) => {
            event.preventDefault();
            const { x, y } = at(event);
            zoom(Math.exp(event.deltaY / 400), x / width, y / height, !event.shiftKey);
          }}
        />
        {cursor >= 0 && cursor <= width && <i class="cursor" style={{ left: cursor }} />}
        {row >= 0 && inRows && <i class="pinned" style={{ top: pinnedAt }} />}
        {band && <i class="band" style={{ left: band[0], width: band[1] - band[0] }} />}
        {hover && (
          <div class="tip" role="status"
            style={{ left: Math.min(hover.x + 14, width - 210), top: Math.max(0, hover.y - 56) }}>
            <strong>{run.names[hover.port]}</strong>
            <br />{seconds(field.timeOf(hover.frame))}, frame {hover.frame}
            <br />{field.told(hover.port, hover.frame)}
          </div>
        )}
      </div>
    </div>
  );
}
