/** A pane of curves over time; panes of one page share their cursor. */

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { short } from "../data/format";
import type { Marks } from "../data/packets";
import type { Stretch } from "../data/states";
import type { Span } from "../data/stretch";
import { INKS } from "../scene/palette";
import { cross } from "../scene/pen";
import { letterSize, smallLetters, useSize } from "../scene/size";

export interface Curve {
  label: string;
  time_s: ArrayLike<number>;
  values: ArrayLike<number>;
  stepped: boolean;
  /** The colour's place, where it is not the curve's own. */
  colour?: number;
  dashed?: boolean;
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
  now_s: number;
  /** What its axis of time shows. */
  seen: Span;
  dark: boolean;
  onSeek: (time_s: number) => void;
  /** A drag selects a stretch of time. */
  onSpan: (one_s: number, other_s: number) => void;
  strips?: Strip[];
}

/** Height of curves, without what lies above and below: as much more as letters are larger. */
const plotHeight = () => Math.round(11.5 * letterSize());
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

/** Colours of Okabe and Ito, which tell apart with colour blindness, each dark enough on its ground. */
const LIGHT: [string, string, string, string] = ["#0072b2", "#c14a00", "#007a5a", "#a0508a"];
const DARK: [string, string, string, string] = ["#56b4e9", "#e69f00", "#3fc79a", "#e08fc4"];

const NONE: Strip[] = [];

export function coloursOf(dark: boolean): [string, string, string, string] {
  return dark ? DARK : LIGHT;
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

function data(curves: Curve[]): uPlot.AlignedData {
  const tables = curves.map((curve): uPlot.AlignedData => [
    Array.from(curve.time_s), Array.from(curve.values, (value) => (Number.isNaN(value) ? null : value)),
  ]);
  return tables.length === 1 ? tables[0]! : uPlot.join(tables, tables.map(() => [2]));
}

export function Plot({ title, unit, curves, now_s, seen, dark, onSeek, onSpan, strips = NONE }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const cursor = useRef<((time_s: number) => void) | null>(null);
  const now = useRef(now_s);
  now.current = now_s;
  const act = useRef({ onSeek, onSpan });
  act.current = { onSeek, onSpan };
  const { width } = useSize(box);
  useEffect(() => {
    if (!box.current || !width || !curves.length) return undefined;
    const { soft: ink, grid: lines } = INKS[dark ? "dark" : "light"];
    const grid = { stroke: lines, width: 1 };
    const letters = smallLetters();
    const font = `${letters}px system-ui, sans-serif`;
    const stepped = uPlot.paths.stepped?.({ align: 1 });
    const own = new uPlot({
      width, height: plotHeight() + heightOf(strips), padding: [6 + heightOf(strips), 22, 0, 0],
      cursor: {
        // a drag in one pane is not one in the others
        sync: { key: "time", filters: { pub: (type) => type === "mousemove" || type === "mouseleave" } },
        drag: { x: true, y: false, setScale: false, dist: 4 },
      },
      scales: {
        x: { time: false, range: [seen.from_s, seen.to_s] },
        y: { range: (_, __, most) => [0, most > 0 ? most * 1.05 : 1] },
      },
      axes: [
        { stroke: ink, grid, font, space: 6 * letters,
          values: (_, ticks) => ticks.map((tick) => short(tick, "s")), size: 2.5 * letters },
        { stroke: ink, grid, font, size: 6.7 * letters,
          // the title is "Packets": its numbers need no unit
          values: (_, ticks) => ticks.map((tick) => short(tick, unit === "packets" ? "" : unit)) },
      ],
      series: [
        { label: "time", value: (_, value) => short(value ?? NaN, "s") },
        ...curves.map((curve, i): uPlot.Series => ({
          label: curve.label, stroke: coloursOf(dark)[(curve.colour ?? i) % 4]!, width: 1.5,
          points: { show: false }, ...(curve.dashed ? { dash: [5, 4] } : {}),
          ...(curve.stepped && stepped ? { paths: stepped } : {}), value: (_, value) => short(value ?? NaN, unit),
        })),
      ],
      hooks: {
        // its scales are there once it is ready
        ready: [() => { cursor.current?.(now.current); }],
        setSelect: [(drawn) => {
          const { left, width: wide } = drawn.select;
          if (wide < 4) return;
          drawn.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          act.current.onSpan(drawn.posToVal(left, "x"), drawn.posToVal(left + wide, "x"));
        }],
        draw: [(drawn) => { drawStrips(drawn, strips, dark); }],
      },
    }, data(curves), box.current);
    own.over.addEventListener("click", () => {
      if (own.cursor.left !== undefined && own.cursor.left >= 0) act.current.onSeek(own.posToVal(own.cursor.left, "x"));
    });
    // the cursor of time moves without drawing the curves again
    const line = document.createElement("i");
    line.className = "cursor";
    own.over.append(line);
    const point = (time_s: number) => {
      const x = own.valToPos(time_s, "x");
      line.style.left = `${x}px`;
      line.hidden = !(x >= 0 && x <= own.over.clientWidth);
    };
    cursor.current = point;
    return () => { own.destroy(); cursor.current = null; };
  }, [curves, width, dark, unit, seen.from_s, seen.to_s, strips]);
  useEffect(() => { cursor.current?.(now_s); }, [now_s]);
  return (
    <section class="pane">
      <h3>{title}</h3>
      <div ref={box} style={{ minHeight: plotHeight() + heightOf(strips) }} role="img"
        aria-label={`${title}: ${curves.map((curve) => curve.label).join(", ")} over time`} />
    </section>
  );
}
