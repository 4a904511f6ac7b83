/** The fabric on a canvas. The half of a line near a node is the port at that node. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Metric, Run } from "../data/run";
import { METRICS } from "../data/run";
import { figure, seconds, short, TITLES, UNITS } from "../data/format";
import { layout } from "./layout";
import { Legend } from "./Legend";
import { css, scale, step } from "./palette";
import { asSvg, onCanvas, type Pen } from "./pen";
import { fileName, save, savePng } from "./save";
import { groundOf, smallLetters, useSize } from "./size";

interface Props {
  run: Run;
  frame: number;
  metric: Metric;
  pinned: number | null;
  path: number[];
  dark: boolean;
  /** The end of the scale: two runs beside one another have one scale. */
  largest: number;
  /** Which run it is, where there are two. */
  label?: string;
  id?: string;
  onPin: (port: number | null) => void;
}

const MARGIN = 34;
/** Room above, for the legend. */
const TOP = 62;
const REACH = 9;

export function Fabric({ run, frame, metric, pinned, path, dark, largest, label, id, onPin }: Props) {
  const unit = UNITS[metric] === "B" ? "B" : "";
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width, height } = useSize(box);
  const [hover, setHover] = useState<{ port: number; x: number; y: number } | null>(null);
  const [view, setView] = useState({ zoom: 1, x: 0, y: 0 });
  const drag = useRef<{ x: number; y: number; moved: boolean } | null>(null);
  const placed = useMemo(() => layout(run.timeline.nodes), [run]);
  const values = useMemo(() => new Float64Array(run.timeline.ports.length), [run]);
  const place = useMemo(() => {
    const [w, h] = [width - 2 * MARGIN, height - MARGIN - TOP];
    return (node: number): [number, number] => [
      MARGIN + (placed.x[node]! * w + view.x) * view.zoom, TOP + (placed.y[node]! * h + view.y) * view.zoom,
    ];
  }, [placed, width, height, view]);

  /** Draws what is seen, whatever the pen makes of it. */
  const draw = (pen: Pen, letters: number) => {
    run.frameInto(metric, frame, values);
    const colours = scale(groundOf(dark));
    const lit = new Set(path);
    const { ports, nodes } = run.timeline;
    // those with the largest figures are drawn last, above the others
    const order = Uint32Array.from(ports, (_, i) => i).sort((a, b) => values[a]! - values[b]!);
    const line = (port: number, colour: string, wide: number) => {
      const [x0, y0] = place(ports[port]!.from);
      const [x1, y1] = place(ports[port]!.to);
      const [xm, ym] = [(x0 + x1) / 2, (y0 + y1) / 2];
      if (Math.max(x0, xm) < 0 || Math.min(x0, xm) > width || Math.max(y0, ym) < 0 || Math.min(y0, ym) > height) return;
      pen.line(x0, y0, xm, ym, colour, wide);
    };
    const thin = ports.length > 2000;
    const idle = dark ? "#3a4354" : "#c3cad6";
    for (const port of lit) line(port, dark ? "#ff79c6" : "#c2185b", 9);
    for (const port of order) {
      const at = step(values[port]!, largest);
      line(port, at ? css(colours, at) : idle, at ? (thin ? 1.5 : 2.5 + (3 * at) / 255) : thin ? 0.4 : 1.5);
    }
    if (pinned !== null && pinned < ports.length) line(pinned, dark ? "#ffffff" : "#000000", 1);
    const size = Math.max(1.5, Math.min(7, (5 * view.zoom * width) / (8 * nodes.length ** 0.9 + 300)));
    const rows = new Map<number, number>();
    for (const node of nodes) rows.set(node.tier, (rows.get(node.tier) ?? 0) + 1);
    const ink = dark ? "#dbe2ee" : "#2b3444";
    nodes.forEach((node, i) => {
      const [x, y] = place(i);
      if (x < -20 || x > width + 20 || y < -20 || y > height + 20) return;
      if (node.kind === "switch") pen.box(x, y, size, ink);
      else pen.dot(x, y, size, ink);
      const room = (width * view.zoom) / rows.get(node.tier)!;
      if (pen.width(node.name) < room - 4) {
        pen.text(x, node.tier === 0 ? y + size + letters + 2 : y - size - 5, node.name, ink);
      }
    });
  };
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context || !width) return;
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.clearRect(0, 0, width, height);
    draw(onCanvas(context, smallLetters()), smallLetters());
  }, [run, frame, metric, pinned, path, dark, largest, width, height, place, values]);
  const caption = () => [
    `${run.label} at ${seconds(run.timeOf(frame))}: ${TITLES[metric]} of ports, up to ${short(largest, unit)}; `
      + "the colour goes with its root"];
  const saveSvg = () => {
    const context = canvas.current?.getContext("2d");
    if (!context) return;
    const pen = asSvg(width, height, smallLetters(), (words) => context.measureText(words).width);
    draw(pen, smallLetters());
    const { backgroundColor, color } = getComputedStyle(document.body);
    const file = pen.file(backgroundColor, color, caption());
    save(new Blob([file], { type: "image/svg+xml" }), fileName(`${run.label}-fabric`, "svg"));
  };

  /** The port whose half of a line is nearest. */
  const nearest = (x: number, y: number): number | null => {
    let best = REACH;
    let found: number | null = null;
    run.timeline.ports.forEach((link, port) => {
      const [x0, y0] = place(link.from);
      const [x1, y1] = place(link.to);
      const [dx, dy] = [(x1 - x0) / 2, (y1 - y0) / 2];
      const along = Math.min(1, Math.max(0, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1)));
      const away = Math.hypot(x - x0 - along * dx, y - y0 - along * dy);
      if (away < best) [best, found] = [away, port];
    });
    return found;
  };
  const pointed = (event: MouseEvent): [number, number] => {
    const { left, top } = canvas.current!.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };

  const told = hover?.port ?? null;
  return (
    <div class="fabric" ref={box}>
      <canvas
        ref={canvas} width={width * devicePixelRatio} height={height * devicePixelRatio} style={{ width, height }}
        role="img" id={id ?? "fabric"}
        aria-label={`Fabric of ${run.timeline.nodes.length} nodes and ${run.timeline.ports.length} ports, `
          + `coloured by ${TITLES[metric]}; the list of ports says the same in words`}
        onMouseDown={(event) => { drag.current = { x: event.clientX, y: event.clientY, moved: false }; }}
        onMouseMove={(event) => {
          const held = drag.current;
          if (held && event.buttons) {
            const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
            if (held.moved || Math.hypot(dx, dy) > 3) {
              drag.current = { x: event.clientX, y: event.clientY, moved: true };
              setView((old) => ({ ...old, x: old.x + dx / old.zoom, y: old.y + dy / old.zoom }));
            }
            return;
          }
          const [x, y] = pointed(event);
          const port = nearest(x, y);
          setHover(port === null ? null : { port, x, y });
        }}
        onMouseLeave={() => { setHover(null); }}
        onClick={(event) => { if (!drag.current?.moved) onPin(nearest(...pointed(event))); }}
        onDblClick={() => { setView({ zoom: 1, x: 0, y: 0 }); }}
        onWheel={(event) => {
          event.preventDefault();
          const [x, y] = pointed(event);
          setView((old) => {
            const zoom = Math.min(200, Math.max(1, old.zoom * Math.exp(-event.deltaY / 400)));
            if (zoom === 1) return { zoom, x: 0, y: 0 };
            // what lies under the pointer stays there
            return { zoom, x: old.x + (x - MARGIN) * (1 / zoom - 1 / old.zoom),
              y: old.y + (y - TOP) * (1 / zoom - 1 / old.zoom) };
          });
        }}
      />
      {told !== null && hover && (
        <div class="tip" role="status" style={{ left: Math.min(hover.x + 14, width - 250), top: hover.y + 14 }}>
          <PortFigures run={run} port={told} frame={frame} />
        </div>
      )}
      <div class="corner">
        {label && <strong>{label}</strong>}
        <Legend colours={scale(groundOf(dark))} words={[
          `${TITLES[metric]}: 0`, `${short(largest / 4, unit)} (middle)`, short(largest, unit)]} />
        <button onClick={saveSvg} title="Save the fabric as it is seen, as SVG">SVG</button>
        <button title="Save the fabric as it is seen, as PNG" onClick={() => {
          if (canvas.current) savePng(canvas.current, caption(), `${run.label}-fabric`);
        }}>PNG</button>
      </div>
    </div>
  );
}

export function PortFigures({ run, port, frame }: { run: Run; port: number; frame: number }) {
  const figures = run.at(port, frame);
  const flows = run.flowsOn(port);
  return (
    <>
      <strong>{run.names[port]}</strong>
      <dl data-port={port}>
        {METRICS.map((name) => (
          <>
            <dt>{TITLES[name]}</dt>
            <dd data-figure={name}>{figure(name, figures[name])}</dd>
          </>
        ))}
        {flows.length > 0 && (
          <>
            <dt>flows over it</dt>
            <dd>{flows.slice(0, 8).join(", ")}{flows.length > 8 ? ` and ${flows.length - 8} more` : ""}</dd>
          </>
        )}
      </dl>
    </>
  );
}
