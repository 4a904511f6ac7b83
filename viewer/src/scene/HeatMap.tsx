/** Ports by time: a row a port, a column a frame. Drag moves, the wheel zooms, a click goes to a frame and a port. */

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { seconds } from "../data/format";
import type { Field } from "./field";
import { layout } from "./layout";
import { Legend } from "./Legend";
import { painter, type Painter } from "./paint";
import { portOrder, rowsOf, type Window } from "./raster";
import { savePng } from "./save";
import { groundOf, useSize } from "./size";

interface Props {
  field: Field;
  time_s: number;
  pinned: number | null;
  dark: boolean;
  onSeek: (time_s: number) => void;
  onPin: (port: number) => void;
  /** What else stands in its line. */
  children?: ComponentChildren;
}

export function HeatMap({ field, time_s, pinned, dark, onSeek, onPin, children }: Props) {
  const { run, frames: all } = field;
  const frame = field.frameOf(time_s);
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const span = useRef<HTMLSpanElement>(null);
  const paint = useRef<Painter | null>(null);
  const { width, height } = useSize(box);
  const [worst, setWorst] = useState(true);
  const ports = run.timeline.ports.length;
  const whole = useMemo<Window>(() => ({ frame0: 0, frame1: all, row0: 0, row1: ports }), [all, ports]);
  // what comes after all is quiet would leave a stripe of the rest
  const begin = useMemo<Window>(() => {
    const busy = Math.max(10, Math.ceil(1.05 * field.busy));
    return { ...whole, frame1: busy > 0.8 * all ? all : busy };
  }, [whole, all, field.busy]);
  const [seen, setSeen] = useState(begin);
  const [hover, setHover] = useState<{ port: number; frame: number; x: number; y: number } | null>(null);
  const drag = useRef<{ x: number; y: number; seen: Window; moved: boolean } | null>(null);
  useEffect(() => { setSeen(begin); }, [begin]);
  const nodes = useMemo(() => layout(run.timeline.nodes).order, [run]);
  const order = useMemo(() => portOrder(run, nodes, worst ? field.worst : null), [field, nodes, worst]);
  const rowOf = useMemo(() => rowsOf(order), [order]);
  const colours = useMemo(() => field.colours(groundOf(dark)), [field, dark]);

  useEffect(() => {
    if (!canvas.current || !width) return;
    paint.current ??= painter(canvas.current);
    if (paint.current) canvas.current.dataset.painter = paint.current.kind;
    paint.current?.load(field.raster(rowOf, whole), colours);
    paint.current?.draw(seen);
  }, [field, rowOf, whole, colours, width > 0]);
  useEffect(() => { paint.current?.draw(seen); }, [seen, width, height]);
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
  const cursor = ((frame + 0.5 - seen.frame0) / (seen.frame1 - seen.frame0)) * width;
  const row = pinned === null ? -1 : rowOf[pinned] ?? -1;
  const pinnedAt = ((row + 0.5 - seen.row0) / (seen.row1 - seen.row0)) * height;
  return (
    <div class="heat">
      <div class="bar">
        {children}
        <span ref={span}>
          {field.title}, of {ports.toLocaleString("en-US")} ports,{" "}
          {seconds(field.timeOf(Math.floor(seen.frame0)))} to{" "}
          {seconds(Math.min(field.end_s, field.timeOf(Math.ceil(seen.frame1))))} of {seconds(field.end_s)}
        </span>
        {field.legend && <Legend colours={colours} words={field.legend} />}
        <label><input type="checkbox" checked={worst} onChange={() => { setWorst(!worst); }} /> worst first</label>
        <button onClick={() => {
          setSeen(whole);
          paint.current?.load(field.raster(rowOf, whole), colours);
        }}>all</button>
        <button title="Save the heat map as it is seen, as PNG" onClick={() => {
          if (!canvas.current) return;
          const words = field.legend ? `${field.legend[0]} to ${field.legend[2]}` : "the colour goes with its root";
          savePng(canvas.current, [`${run.label}: ${span.current?.textContent ?? ""}`, `A row a port; ${words}`],
            `${run.label}-heat-map`);
        }}>PNG</button>
      </div>
      <div class="plane" ref={box}>
        <canvas
          ref={canvas} width={width * devicePixelRatio} height={height * devicePixelRatio} style={{ width, height }}
          role="img" id="heat"
          aria-label={`Heat map of ${field.title}: ports by time; the list of ports says the same in words`}
          onMouseDown={(event) => { drag.current = { x: event.clientX, y: event.clientY, seen, moved: false }; }}
          onMouseMove={(event) => {
            const held = drag.current;
            if (!held || !event.buttons) { setHover(at(event)); return; }
            const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
            if (Math.hypot(dx, dy) <= 3 && !held.moved) return;
            held.moved = true;
            const [frames, rows] = [held.seen.frame1 - held.seen.frame0, held.seen.row1 - held.seen.row0];
            const frame0 = Math.min(all - frames, Math.max(0, held.seen.frame0 - (dx / width) * frames));
            const row0 = Math.min(whole.row1 - rows, Math.max(0, held.seen.row0 - (dy / height) * rows));
            setSeen({ frame0, frame1: frame0 + frames, row0, row1: row0 + rows });
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
            const by = Math.exp(event.deltaY / 400);
            const part = (from: number, to: number, bound: number, share: number, least: number) => {
              const size = Math.min(bound, Math.max(Math.min(least, bound), (to - from) * by));
              const start = Math.min(bound - size, Math.max(0, from + share * (to - from - size)));
              return [start, start + size] as const;
            };
            const [frame0, frame1] = part(seen.frame0, seen.frame1, all, x / width, 10);
            const [row0, row1] = event.shiftKey ? [seen.row0, seen.row1]
              : part(seen.row0, seen.row1, whole.row1, y / height, 4);
            setSeen({ frame0, frame1, row0, row1 });
          }}
        />
        {cursor >= 0 && cursor <= width && <i class="cursor" style={{ left: cursor }} />}
        {row >= 0 && pinnedAt >= 0 && pinnedAt <= height && <i class="pinned" style={{ top: pinnedAt }} />}
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
