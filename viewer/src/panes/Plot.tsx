/** A pane of curves over time; panes of one page share their cursor. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { seconds, short } from "../data/format";
import type { Marks } from "../data/packets";
import type { Stretch } from "../data/states";
import type { Span } from "../data/stretch";
import { INKS } from "../scene/palette";
import { cross } from "../scene/pen";
import { letterSize, smallLetters, useSize } from "../scene/size";
import { ticksOf } from "../time/ticks";

export interface Curve {
  label: string;
  time_s: ArrayLike<number>;
  values: ArrayLike<number>;
  stepped: boolean;
  /** The colour's place, where it is not the curve's own. */
  colour?: number;
  dashed?: boolean;
}

/** A value with a name, drawn across: a link's rate, one packet. */
export interface Line {
  value: number;
  name: string;
}

/** What lies above the curves of a run: its flow's states as a strip, its timeouts, losses and marks as signs. */
export interface Strip {
  stretches: Stretch[];
  timeouts_s: number[];
  /** Of a flow that is traced: they have a row of their own. */
  traced: Marks | null;
}

interface Props {
  title: string;
  unit: string;
  curves: Curve[];
  lines?: Line[];
  /** What stands beside the title. */
  note?: string;
  now_s: number;
  /** What its axis of time shows. */
  seen: Span;
  dark: boolean;
  onSeek: (time_s: number) => void;
  /** A drag selects a stretch of time. */
  onSpan: (one_s: number, other_s: number) => void;
  strips?: Strip[];
  /** Height of the curves; without it they have one of their own. */
  height?: number;
  /** Whether the scale is logarithmic, where a person has said so. */
  log?: boolean | undefined;
  onLog?: (log: boolean) => void;
}

/** Height of curves, without what lies above and below: as much more as letters are larger. */
const plotHeight = () => Math.round(9 * letterSize());
/** Height of a strip, and of the row of losses and marks above it, in the page's pixels. */
const STRIP = 7;
const ROW = 9;

/** What strips take above the curves. */
const heightOf = (strips: Strip[]) => strips.reduce((sum, { traced }) => sum + STRIP + (traced ? ROW : 0), 0);
/** Colours of the states: after Okabe and Ito, in an order in which neighbours tell apart. */
const STATES_LIGHT = ["#2f8fc9", "#00855f", "#b37400", "#c44100", "#737d8f"];
const STATES_DARK = ["#56b4e9", "#009e73", "#e69f00", "#d55e00", "#9aa3b2"];

export function stateColours(dark: boolean): string[] {
  return dark ? STATES_DARK : STATES_LIGHT;
}

/** Colours of curves, which tell apart with colour blindness together with their dashes. */
const LIGHT = ["#0064a6", "#bc4506", "#1c8d72", "#9f1b74", "#bc8205", "#20262e", "#0099cb", "#3f4b44"] as const;
const DARK = ["#3f9be0", "#e6733a", "#6bc590", "#be6fa1", "#f5da5f", "#eef1f5", "#9bd6f9", "#7d7b6e"] as const;
/** Dashes of curves from the fifth on: the first ones are told apart by colour. */
const DASHES = [[], [], [], [], [10, 3, 2, 3], [12, 4], [4, 2], [1, 2]];

const NONE: Strip[] = [];
const NO_LINES: Line[] = [];

export function coloursOf(dark: boolean): typeof LIGHT | typeof DARK {
  return dark ? DARK : LIGHT;
}

/** The value of a curve at a time: the last one before it; NaN before the first. */
export function valueAt({ time_s, values }: Curve, at_s: number): number {
  let [low, high] = [0, time_s.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time_s[middle]! <= at_s * (1 + 1e-12)) low = middle + 1;
    else high = middle;
  }
  return low ? values[low - 1]! : NaN;
}

/** Values above nothing in ascending order. */
const positive = (curves: Curve[]) => curves.flatMap(({ values }) => Array.from(values).filter((own) => own > 0))
  .sort((a, b) => a - b);

/** How many times the middle value a peak is that presses it to the ground; others are looked at as they are. */
const PEAK: Record<string, number> = { s: 4, packets: 4, "b/s": 50 };

/** Whether a scale by powers of ten shows more: of delays, windows and rates with peaks. */
export function isSpiky(curves: Curve[], unit: string): boolean {
  const all = positive(curves);
  return all.length > 8 && all.at(-1)! > (PEAK[unit] ?? Infinity) * all[all.length >> 1]!;
}

/** Round values of an axis; of one by powers of ten 1, 2 and 5 of each, or powers alone where they are many. */
export function marksOf(least: number, most: number, log: boolean, room: number): number[] {
  if (!log || most < 5 * least) return ticksOf(least, most, room);
  const powers = Array.from({ length: Math.ceil(Math.log10(most / least)) + 2 }, (_, i) => (
    10 ** (Math.floor(Math.log10(least)) + i)));
  const within = (all: number[]) => all.filter((own) => own >= least * (1 - 1e-9) && own <= most * (1 + 1e-9));
  const fine = within(powers.flatMap((own) => [own, 2 * own, 5 * own]));
  const coarse = within(powers);
  const all = fine.length <= room + 2 ? fine : coarse;
  const every = Math.max(1, Math.ceil(all.length / (room + 2)));
  return all.filter((_, i) => i % every === 0).map((own) => Number(own.toPrecision(6)));
}

interface Scale {
  log: boolean;
  least: number;
  most: number;
}

/** The axis of values; a named line far above all curves is left out of one that is linear. */
function scaleOf(curves: Curve[], lines: Line[], log: boolean): Scale {
  const all = positive(curves);
  const [least, most] = [all[0] ?? 0, all.at(-1) ?? 0];
  if (!log || !(least > 0)) {
    const reached = lines.filter(({ value }) => value <= 2.5 * most).map(({ value }) => value);
    return { log: false, least: 0, most: Math.max(most, ...reached) * 1.06 || 1 };
  }
  const top = Math.max(most, ...lines.filter(({ value }) => value >= least / 3).map(({ value }) => value));
  // a value that is rare and next to nothing would take most of the room
  const low = Math.max(least, top * 1e-5);
  return { log: true, least: low / 1.25, most: top * 1.25 };
}

/** Marks as strokes and losses as crosses; one of those that share a pixel. */
function drawMarks(drawn: uPlot, { losses_s, marks_s }: Marks, top: number, dark: boolean): void {
  const { ctx, bbox } = drawn;
  const ratio = devicePixelRatio;
  const places = (times: number[]) => new Set(times.map((time_s) => Math.round(drawn.valToPos(time_s, "x", true)))
    .filter((x) => x >= bbox.left && x <= bbox.left + bbox.width));
  ctx.fillStyle = coloursOf(dark)[1];
  for (const x of places(marks_s)) ctx.fillRect(x - ratio / 2, top, ratio, (ROW - 2) * ratio);
  for (const x of places(losses_s)) cross(ctx, x, top + 3.5 * ratio, INKS[dark ? "dark" : "light"].most, 3.5 * ratio);
}

/** Strips above the curves, one a run, and timeouts as marks in them. */
function drawStrips(drawn: uPlot, strips: Strip[], dark: boolean): void {
  const { ctx, bbox } = drawn;
  const ratio = devicePixelRatio;
  const right = bbox.left + bbox.width;
  strips.forEach(({ stretches, timeouts_s, traced }, i) => {
    const above = bbox.top - heightOf(strips.slice(i)) * ratio;
    if (traced) drawMarks(drawn, traced, above, dark);
    const top = above + (traced ? ROW * ratio : 0);
    for (const { state, from_s, to_s } of stretches) {
      const x0 = Math.max(bbox.left, drawn.valToPos(from_s, "x", true));
      const x1 = Math.min(right, drawn.valToPos(to_s, "x", true));
      if (x1 < bbox.left || x0 > right) continue;
      ctx.fillStyle = stateColours(dark)[state] ?? "#000";
      ctx.fillRect(x0, top, Math.max(ratio, x1 - x0), (STRIP - 1.5) * ratio);
    }
    ctx.fillStyle = INKS[dark ? "dark" : "light"].most;
    for (const time_s of timeouts_s) {
      const x = drawn.valToPos(time_s, "x", true);
      if (x < bbox.left || x > right) continue;
      ctx.beginPath();
      ctx.moveTo(x - 3.5 * ratio, top - ratio);
      ctx.lineTo(x + 3.5 * ratio, top - ratio);
      ctx.lineTo(x, top + STRIP * ratio);
      ctx.fill();
    }
  });
}

/** Named values across the curves. */
function drawLines(drawn: uPlot, lines: Line[], dark: boolean, letters: number): void {
  const { ctx, bbox } = drawn;
  const inks = INKS[dark ? "dark" : "light"];
  for (const { value, name } of lines) {
    const y = drawn.valToPos(value, "y", true);
    if (y < bbox.top - 1 || y > bbox.top + bbox.height) continue;
    ctx.save();
    ctx.strokeStyle = inks.soft;
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.fillStyle = inks.soft;
    ctx.font = `${letters * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "right";
    const below = y - bbox.top < 1.4 * letters * devicePixelRatio;
    ctx.fillText(name, bbox.left + bbox.width - 2, y + (below ? 1.1 * letters : -3) * devicePixelRatio);
    ctx.restore();
  }
}

function data(curves: Curve[], { log, least }: Scale): uPlot.AlignedData {
  const drawnAs = (value: number) => (Number.isNaN(value) ? null : log && value < least ? least : value);
  const tables = curves.map((curve): uPlot.AlignedData => (
    [Array.from(curve.time_s), Array.from(curve.values, drawnAs)]));
  return tables.length === 1 ? tables[0]! : uPlot.join(tables, tables.map(() => [2]));
}

const dashOf = (curve: Curve, i: number) => (curve.dashed ? [5, 4] : DASHES[(curve.colour ?? i) % DASHES.length]!);
const colourOf = (curve: Curve, i: number, dark: boolean) => coloursOf(dark)[(curve.colour ?? i) % LIGHT.length]!;

export function Plot(props: Props) {
  const { title, unit, curves, lines = NO_LINES, note, now_s, seen, dark, onSeek, onSpan, onLog } = props;
  const { strips = NONE } = props;
  const box = useRef<HTMLDivElement>(null);
  const cursor = useRef<((time_s: number) => void) | null>(null);
  const now = useRef(now_s);
  now.current = now_s;
  const act = useRef({ onSeek, onSpan });
  act.current = { onSeek, onSpan };
  const [hover_s, setHover] = useState<number | null>(null);
  const { width } = useSize(box);
  const spiky = useMemo(() => isSpiky(curves, unit), [curves, unit]);
  const log = props.log ?? spiky;
  const scale = useMemo(() => scaleOf(curves, lines, log), [curves, lines, log]);
  const high = props.height ?? plotHeight();
  useEffect(() => {
    if (!box.current || !width || !curves.length) return undefined;
    const { soft: ink, grid: gridInk } = INKS[dark ? "dark" : "light"];
    const grid = { stroke: gridInk, width: 1 };
    const letters = smallLetters();
    const font = `${letters}px system-ui, sans-serif`;
    const stepped = uPlot.paths.stepped?.({ align: 1 });
    const room = Math.max(2, Math.floor(high / (3 * letters)));
    const own = new uPlot({
      width, height: high + heightOf(strips), padding: [6 + heightOf(strips), 24, 0, 0],
      legend: { show: false },
      cursor: {
        // a drag in one pane is not one in the others
        sync: { key: "time", filters: { pub: (type) => type === "mousemove" || type === "mouseleave" } },
        drag: { x: true, y: false, setScale: false, dist: 4 },
      },
      scales: {
        x: { time: false, range: [seen.from_s, seen.to_s] },
        y: { range: [scale.least, scale.most], ...(scale.log ? { distr: 3, log: 10 } : {}) },
      },
      axes: [
        { stroke: ink, grid, font, size: 1.7 * letters, gap: 2, ticks: { size: 3, stroke: gridInk },
          splits: (drawn, _, from, to) => ticksOf(from, to, drawn.width / (7 * letters)),
          values: (_, ticks) => ticks.map((tick) => seconds(tick)) },
        { stroke: ink, grid, font, size: 6.2 * letters, gap: 3, ticks: { size: 3, stroke: gridInk },
          splits: (_, __, from, to) => marksOf(from, to, scale.log, room), filter: (_, ticks) => ticks,
          values: (_, ticks) => ticks.map((tick) => short(tick, unit === "packets" ? "" : unit)) },
      ],
      series: [
        {},
        ...curves.map((curve, i): uPlot.Series => ({
          label: curve.label, stroke: colourOf(curve, i, dark), width: 1.5, dash: dashOf(curve, i),
          points: { show: false }, ...(curve.stepped && stepped ? { paths: stepped } : {}),
        })),
      ],
      hooks: {
        // its scales are there once it is ready
        ready: [() => { cursor.current?.(now.current); }],
        setCursor: [(drawn) => {
          const { left } = drawn.cursor;
          setHover(left === undefined || left < 0 ? null : drawn.posToVal(left, "x"));
        }],
        setSelect: [(drawn) => {
          const { left, width: wide } = drawn.select;
          if (wide < 4) return;
          drawn.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          act.current.onSpan(drawn.posToVal(left, "x"), drawn.posToVal(left + wide, "x"));
        }],
        draw: [(drawn) => {
          drawLines(drawn, lines, dark, letters);
          drawStrips(drawn, strips, dark);
        }],
      },
    }, data(curves, scale), box.current);
    own.over.addEventListener("click", () => {
      if (own.cursor.left !== undefined && own.cursor.left >= 0) act.current.onSeek(own.posToVal(own.cursor.left, "x"));
    });
    // the cursor of time moves without drawing the curves again
    const line = document.createElement("i");
    line.className = "cursor";
    own.over.append(line);
    const point = (time_s: number) => {
      line.style.left = `${own.valToPos(time_s, "x")}px`;
      // asking the page for a width would lay all of it out
      line.hidden = !(time_s >= seen.from_s && time_s <= seen.to_s);
    };
    cursor.current = point;
    return () => { own.destroy(); cursor.current = null; };
  }, [curves, lines, width, high, dark, unit, scale, seen.from_s, seen.to_s, strips]);
  useEffect(() => { cursor.current?.(now_s); }, [now_s]);
  const at_s = hover_s ?? now_s;
  return (
    <section class="pane">
      <div class="head">
        <h3>{title}</h3>
        {note && <span class="faint">{note}</span>}
        {onLog && <button class="quiet" aria-pressed={log} onClick={() => { onLog(!log); }}
          title="A scale by powers of ten">log</button>}
        <span class="keys">
          {curves.map((curve, i) => <Key curve={curve} unit={unit} colour={colourOf(curve, i, dark)}
            dash={dashOf(curve, i)} at_s={at_s} />)}
        </span>
      </div>
      <div ref={box} style={{ minHeight: high + heightOf(strips) }} role="img"
        aria-label={`${title}: ${curves.map((curve) => curve.label).join(", ")} over time`} />
    </section>
  );
}

/** A curve's sign and name, and its value at the cursor; before its first value it has none. */
function Key({ curve, unit, colour, dash, at_s }: {
  curve: Curve; unit: string; colour: string; dash: number[]; at_s: number;
}) {
  const value = valueAt(curve, at_s);
  return (
    <span class="key">
      <svg width="20" height="8" aria-hidden="true">
        <path d="M0 4H20" stroke={colour} stroke-width="2" stroke-dasharray={dash.join(" ")} />
      </svg>
      {curve.label}
      {!Number.isNaN(value) && <b title={`${value} ${unit} at ${seconds(at_s)}`}>{short(value, unit)}</b>}
    </span>
  );
}
