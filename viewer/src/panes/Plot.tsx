/** A pane of curves over time; panes of one page share their cursor. */

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { short } from "../data/format";
import { useSize } from "../scene/size";

export interface Curve {
  label: string;
  time_s: ArrayLike<number>;
  values: ArrayLike<number>;
  stepped: boolean;
  /** The colour's place, where it is not the curve's own. */
  colour?: number;
  dashed?: boolean;
}

interface Props {
  title: string;
  unit: string;
  curves: Curve[];
  now_s: number;
  end_s: number;
  dark: boolean;
  onSeek: (time_s: number) => void;
}

/** Colours of Okabe and Ito, which tell apart with colour blindness, each dark enough on its ground. */
const LIGHT = ["#0072b2", "#c14a00", "#007a5a", "#a0508a"];
const DARK = ["#56b4e9", "#e69f00", "#3fc79a", "#e08fc4"];

function data(curves: Curve[]): uPlot.AlignedData {
  const tables = curves.map((curve): uPlot.AlignedData => [
    Array.from(curve.time_s), Array.from(curve.values, (value) => (Number.isNaN(value) ? null : value)),
  ]);
  return tables.length === 1 ? tables[0]! : uPlot.join(tables, tables.map(() => [2]));
}

export function Plot({ title, unit, curves, now_s, end_s, dark, onSeek }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const now = useRef(now_s);
  const { width } = useSize(box);
  useEffect(() => {
    if (!box.current || !width || !curves.length) return undefined;
    const ink = dark ? "#c6cfdd" : "#3a4456";
    const grid = { stroke: dark ? "#2c3545" : "#e2e6ee", width: 1 };
    const stepped = uPlot.paths.stepped?.({ align: 1 });
    const own = new uPlot({
      width, height: 150, padding: [6, 22, 0, 0],
      cursor: { sync: { key: "time" }, drag: { x: false, y: false } },
      scales: { x: { time: false, range: [0, end_s] }, y: { range: (_, __, most) => [0, most > 0 ? most * 1.05 : 1] } },
      axes: [
        { stroke: ink, grid, values: (_, ticks) => ticks.map((tick) => short(tick, "s")), size: 28 },
        { stroke: ink, grid, values: (_, ticks) => ticks.map((tick) => short(tick, unit)), size: 74 },
      ],
      series: [
        { label: "time", value: (_, value) => short(value ?? NaN, "s") },
        ...curves.map((curve, i): uPlot.Series => ({
          label: curve.label, stroke: (dark ? DARK : LIGHT)[(curve.colour ?? i) % 4]!, width: 1.5,
          points: { show: false }, ...(curve.dashed ? { dash: [5, 4] } : {}),
          ...(curve.stepped && stepped ? { paths: stepped } : {}), value: (_, value) => short(value ?? NaN, unit),
        })),
      ],
      hooks: {
        draw: [(drawn) => {
          const x = drawn.valToPos(now.current, "x", true);
          drawn.ctx.fillStyle = dark ? "#ff79c6" : "#c2185b";
          drawn.ctx.fillRect(x - 1, drawn.bbox.top, 2, drawn.bbox.height);
        }],
      },
    }, data(curves), box.current);
    own.over.addEventListener("click", () => {
      if (own.cursor.left !== undefined && own.cursor.left >= 0) onSeek(own.posToVal(own.cursor.left, "x"));
    });
    plot.current = own;
    return () => { own.destroy(); plot.current = null; };
  }, [curves, width, dark, unit, end_s]);
  useEffect(() => {
    now.current = now_s;
    plot.current?.redraw(false);
  }, [now_s]);
  return (
    <section class="pane">
      <h3>{title}</h3>
      <div ref={box} role="img" aria-label={`${title}: ${curves.map((curve) => curve.label).join(", ")} over time`} />
    </section>
  );
}
