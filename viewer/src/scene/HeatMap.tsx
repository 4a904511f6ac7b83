/**
 * Ports by time: a row a port, a column a frame. Drag moves, with Shift it selects a stretch of time, the wheel
 * zooms, a click goes to a frame and a port.
 */

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { seconds, way } from "../data/format";
import { framesOf, type Span } from "../data/stretch";
import type { Note } from "../time/link";
import { Minimap, rowHeight, RowNames, Ruler } from "./Axes";
import type { Field } from "./field";
import { layout } from "./layout";
import { Legend } from "./Legend";
import { painter, type Painter } from "./paint";
import { portOrder, rowsOf, rowsOfSome, type Peak, type Window } from "./raster";
import { savePng } from "./save";
import { groundOf, letterSize, useSize } from "./size";

/** A place in the heat map, and the frames and rows that share its pixel, the last ones not included. */
interface Pixel {
  x: number;
  y: number;
  frames: [number, number];
  rows: [number, number];
}

/** Ports that a tip lists. */
const LISTED = 3;

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
  /** What is noted at moments. */
  notes?: Note[];
  /** What else stands in its line. */
  children?: ComponentChildren;
}

export function HeatMap({ field, time_s, pinned, dark, span, onSeek, onSpan, onPin, notes, children }: Props) {
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
  // as many rows as have room for their names; the picture of all rows shows the rest
  const fit = Math.min(field.first ?? Infinity, Math.max(LEAST, Math.floor(height / rowHeight())));
  const firstRows = useMemo(() => (
    { row0: 0, row1: ranks ? Math.min(fit, rowsOfSome(ranks, ports)) : ports }), [ranks, ports, fit]);
  const firstFrames = useMemo(() => {
    if (span) {
      const [start_s, frame_s] = [field.timeOf(0), field.timeOf(1) - field.timeOf(0)];
      return { frame0: (span.from_s - start_s) / frame_s, frame1: (span.to_s - start_s) / frame_s };
    }
    // what comes after all is quiet would leave a stripe of the rest
    const busy = Math.max(10, Math.ceil(1.05 * field.busy));
    return { frame0: 0, frame1: busy > 0.8 * all ? all : busy };
  }, [all, field, span]);
  const [seen, show] = useState<Window>({ ...firstRows, ...firstFrames });
  const touched = useRef(false);
  // until all rows are read no others are shown
  const setSeen: typeof show = (to) => {
    if (field.first !== null) return;
    touched.current = true;
    show(to);
  };
  const [hover, setHover] = useState<Pixel | null>(null);
  const drag = useRef<{ x: number; y: number; seen: Window; moved: boolean; selects: boolean } | null>(null);
  const [band, setBand] = useState<[number, number] | null>(null);
  // other rows, or rows in another order, leave the time that is seen
  useEffect(() => { show((old) => ({ ...old, ...firstFrames })); }, [firstFrames]);
  useEffect(() => {
    // another height leaves rows that a person has chosen
    const isOwn = rowsBefore.current !== null && rowsBefore.current !== seen.row1 - seen.row0;
    if (rankedBefore.current === ranks && isOwn) return;
    [rowsBefore.current, rankedBefore.current] = [firstRows.row1, ranks];
    show((old) => ({ ...old, ...firstRows }));
  }, [firstRows]);
  const rowsBefore = useRef<number | null>(null);
  const rankedBefore = useRef<Float64Array | null | undefined>(undefined);
  const nodes = useMemo(() => layout(run.timeline).order, [run]);
  const order = useMemo(() => portOrder(run, nodes, ranks), [field, nodes, ranks]);
  const rowOf = useMemo(() => rowsOf(order), [order]);
  const colours = useMemo(() => field.colours(groundOf(dark)), [field, dark]);

  const held = useRef<Window | null>(null);
  /** Draws a window as finely as it is recorded. */
  const load = (seen: Window) => {
    const { frame0, frame1, row0, row1 } = seen;
    held.current = { frame0: Math.floor(frame0), frame1: Math.ceil(frame1), row0: Math.floor(row0),
      row1: Math.ceil(row1) };
    paint.current?.load(field.raster(rowOf, held.current), colours);
    paint.current?.draw(seen);
  };
  useEffect(() => {
    if (!canvas.current || !width) return;
    paint.current ??= painter(canvas.current);
    if (paint.current) canvas.current.dataset.painter = paint.current.kind;
    load(seen);
  }, [field, rowOf, whole, colours, width > 0]);
  useLayoutEffect(() => {
    // before a person moves it rows are seen as there is room
    if (held.current && !touched.current && !covers(held.current, seen)) load(seen);
    else paint.current?.draw(seen);
  }, [seen, width, height]);
  // what a person moves to follows in a moment
  useEffect(() => {
    if (!held.current || covers(held.current, seen, 1)) return undefined;
    const later = setTimeout(() => { load(seen); }, 150);
    return () => { clearTimeout(later); };
  }, [seen, field, rowOf, colours]);

  const at = (event: MouseEvent): Pixel => {
    const { left, top } = canvas.current!.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    const [across, down] = [(seen.frame1 - seen.frame0) / width, (seen.row1 - seen.row0) / height];
    const part = (from: number, by: number, place: number, bound: number): [number, number] => {
      const first = Math.min(bound - 1, Math.max(0, Math.floor(from + place * by)));
      // what begins within the pixel shares it
      return [first, Math.min(bound, Math.max(first + 1, Math.ceil(from + (Math.floor(place) + 1) * by - 1e-9)))];
    };
    return { x, y, frames: part(seen.frame0, across, x, all), rows: part(seen.row0, down, y, order.length) };
  };
  /** The worst of the ports that share a pixel, and what the others have. */
  const peaksAt = ({ rows, frames }: Pixel) => field.peaks(new Set(order.subarray(...rows)), frames);
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
  const high = height / (seen.row1 - seen.row0);
  // names of rows have the room that the longest takes, within bounds
  const wide = useMemo(() => {
    let longest = 0;
    for (const name of run.names) longest = Math.max(longest, name.length);
    return Math.min(WIDEST, 0.5 * (longest + 2) + 1);
  }, [run]);
  const [from_s, frame_s] = [field.timeOf(0), field.timeOf(1) - field.timeOf(0)];
  const ends_s = [seen.frame0, seen.frame1].map((at_frame) => from_s + at_frame * frame_s) as [number, number];
  const count = (own: number) => own.toLocaleString("en-US");
  // what calls these later is not of the moment in which they were made
  const act = useRef({ onSeek, onPin });
  act.current = { onSeek, onPin };
  const ruler = useMemo(() => (
    <Ruler from_s={ends_s[0]} to_s={ends_s[1]} width={width} {...(notes ? { notes } : {})}
      onSeek={(to_s) => { act.current.onSeek(to_s); }} />
  ), [...ends_s, width, notes]);
  const rowNames = useMemo(() => (
    <RowNames field={field} order={order} seen={seen} height={height} pinned={pinned}
      onPin={(port) => { act.current.onPin(port); }} />
  ), [field, order, seen, height, pinned]);
  const flag = useMemo(() => {
    const port = pinned ?? field.worstAt(frame);
    return `${seconds(field.timeOf(frame))}${port === null ? "" : ` · ${way(run.names[port]!)}: ${
      field.told(port, frame)}`}`;
  }, [field, pinned, frame]);
  return (
    <div class="heat" role="region" aria-label="Heat map">
      <div class="bar">
        <h2>{field.what} over time</h2>
        {children}
        <span ref={words} class="told-rows">
          {rows < ports ? `${worst && seen.row0 < 1 ? "worst " : ""}${count(rows)} of ` : ""}{count(ports)} ports,{" "}
          {seconds(Math.max(field.timeOf(0), ends_s[0]))} to{" "}
          {seconds(Math.min(field.end_s, ends_s[1]))} of {seconds(field.end_s)}
        </span>
        {row >= 0 && !inRows && <span class="beyond">pinned port {pinnedAt < 0 ? "above" : "below"}</span>}
        <span class="tools">
        <Legend colours={colours} words={field.legend} />
        <span class="seg" role="group" aria-label="Order of ports">
          <button id="worst" aria-pressed={worst} onClick={() => { setWorst(true); }}>Worst first</button>
          <button id="by-tier" aria-pressed={!worst} disabled={field.first !== null}
            onClick={() => { setWorst(false); }}>By tier</button>
        </span>
        <button aria-pressed={selects} onClick={() => { setSelects(!selects); }}
          title="Drag to select a time range (or drag with Shift); “Set start” and “Set end” select at the cursor">
          Select
        </button>
        <button class="icon" aria-label="Zoom out of the heat map" title="Zoom out around cursor and pinned port"
          onClick={() => { zoom(1 / 0.7, ...near(), true); }}>−</button>
        <button class="icon" aria-label="Zoom into the heat map" title="Zoom in around cursor and pinned port"
          onClick={() => { zoom(0.7, ...near(), true); }}>+</button>
        <button title="Show all ports and the whole run" onClick={() => {
          setSeen(whole);
          paint.current?.load(field.raster(rowOf, whole), colours);
        }}>Show all</button>
        <button title="Save the visible heat map as PNG" onClick={() => {
          if (!canvas.current) return;
          const scaled = `${field.legend[0]} to ${field.legend[2]}, square-root colour scale`;
          savePng(canvas.current, [`${run.label}: ${field.title}, ${words.current?.textContent ?? ""}`,
            `One row per port; ${scaled}`], `${run.label}-heat-map`);
        }}>PNG</button>
        </span>
      </div>
      <div class={ports > LEAST_SMALL ? "chart small" : "chart"} style={{ "--names": `${wide}em` }}>
      {ruler}
      {rowNames}
      <div class="plane" ref={box}>
        <canvas
          ref={canvas} width={width * devicePixelRatio} height={height * devicePixelRatio} style={{ width, height }}
          role="application" id="heat" tabIndex={0} onKeyDown={keyed}
          aria-label={`Heat map of ${field.title}: ports by time; at the cursor ${flag}. The list of ports and the `
            + "figures of a time range give the same as text. Plus and minus zoom around the pinned port and the "
            + "cursor, up and down move"}
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
            setHover(null);
            if (held.selects) {
              const { x } = at(event);
              setBand([Math.min(x, x - dx), Math.max(x, x - dx)]);
              return;
            }
            const [frames, down] = [held.seen.frame1 - held.seen.frame0, held.seen.row1 - held.seen.row0];
            const frame0 = Math.min(all - frames, Math.max(0, held.seen.frame0 - (dx / width) * frames));
            const row0 = Math.min(whole.row1 - down, Math.max(0, held.seen.row0 - (dy / height) * down));
            setSeen({ frame0, frame1: frame0 + frames, row0, row1: row0 + down });
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
            const pixel = at(event);
            const [peak] = peaksAt(pixel);
            onSeek(field.timeOf(peak?.frame ?? pixel.frames[0]));
            onPin(peak?.port ?? order[pixel.rows[0]]!);
          }}
          onWheel={(event) => {
            event.preventDefault();
            const { x, y } = at(event);
            zoom(Math.exp(event.deltaY / 400), x / width, y / height, !event.shiftKey);
          }}
        />
        {high >= 7 && <i class="stripes" style={{
          backgroundSize: `100% ${high}px`, backgroundPositionY: -(seen.row0 - Math.floor(seen.row0)) * high }} />}
        {row >= 0 && inRows && <i class="pinned" style={{ top: pinnedAt - Math.max(high, 4) / 2,
          height: Math.max(high, 4) }} />}
        {cursor >= 0 && cursor <= width && (
          <i class="cursor" style={{ left: cursor }}>
            <b style={{ left: Math.min(5, width - cursor - 0.52 * letterSize() * flag.length) }}>{flag}</b>
          </i>
        )}
        {band && <i class="band" style={{ left: band[0], width: band[1] - band[0] }} />}
        {hover && <HeatTip field={field} pixel={hover} order={order} peaks={peaksAt(hover)} width={width} />}
      </div>
      {ports > LEAST_SMALL && <Minimap field={field} rowOf={rowOf} colours={colours} whole={whole} seen={seen}
        height={height} onMove={(across, down) => {
          setSeen((old) => {
            const [frames, high_rows] = [old.frame1 - old.frame0, old.row1 - old.row0];
            const frame0 = Math.min(all - frames, Math.max(0, across * all - frames / 2));
            const row0 = Math.min(ports - high_rows, Math.max(0, down * ports - high_rows / 2));
            return { frame0, frame1: frame0 + frames, row0, row1: row0 + high_rows };
          });
        }} />}
      </div>
    </div>
  );
}

/** Whether a window has all of another, and, with `more`, less than so many frames and rows beside it. */
function covers(held: Window, seen: Window, more = Infinity): boolean {
  const beside = [seen.frame0 - held.frame0, held.frame1 - seen.frame1, seen.row0 - held.row0, held.row1 - seen.row1];
  return beside.every((one) => one >= 0 && one < more);
}

/** Letters of names of rows, at most. */
const WIDEST = 12;
/** Fewest rows that are seen first, and most ports that need no picture of all rows. */
const [LEAST, LEAST_SMALL] = [8, 16];

interface TipProps {
  field: Field;
  pixel: Pixel;
  order: Uint32Array;
  peaks: Peak[];
  width: number;
}

/** What a pixel stands for: of several rows the worst, and how many others there are. */
function HeatTip({ field, pixel: { x, y, frames: [first, last], rows }, order, peaks, width }: TipProps) {
  const { names } = field.run;
  const several = rows[1] - rows[0];
  const shown = peaks.length ? peaks.slice(0, several > 1 ? LISTED : 1)
    : [{ port: order[rows[0]]!, frame: first, value: 0 }];
  const rest = several - shown.length;
  return (
    <div class="tip" role="status"
      style={{ left: Math.max(0, Math.min(x + 14, width - 240)), top: Math.max(0, y - 56) }}>
      {several > 1 ? (
        <>
          <strong>{several} ports share this pixel</strong>
          <table>
            {shown.map(({ port, frame }) => (
              <tr><td>{way(names[port]!)}</td><td>{field.told(port, frame)}</td></tr>
            ))}
          </table>
          {rest > 0 && <p>{`+ ${rest.toLocaleString("en-US")} more`}</p>}
        </>
      ) : (
        <>
          <strong>{way(names[shown[0]!.port]!)}</strong>
          <p class="value">{field.told(shown[0]!.port, shown[0]!.frame)}</p>
        </>
      )}
      <p>{last - first > 1 ? `${seconds(field.timeOf(first))} to ${seconds(field.timeOf(last))}, the largest`
        : `${seconds(field.timeOf(first))}, frame ${first}`}</p>
    </div>
  );
}
