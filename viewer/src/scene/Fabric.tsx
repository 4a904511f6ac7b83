/** The fabric on a canvas. The half of a line near a node is the port at that node. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ofPort, PAUSED } from "../data/need";
import { pausesOf } from "../data/pauses";
import { sinceOf } from "../data/reasons";
import type { Metric, Run } from "../data/run";
import { counted, figure, recorded, seconds, TITLES, way } from "../data/format";
import { Aggregates } from "./aggregate";
import { drawBusy, drawIdle, drawNodes, drawPods, drawTiers, middleOf, nearest, place, valuesOf } from "./draw";
import { layout } from "./layout";
import { Legend } from "./Legend";
import { scale } from "./palette";
import { drawPaused, drawRing } from "./paused";
import { useRead } from "./read";
import { asSvg, onCanvas, type Pen } from "./pen";
import { fileName, save, savePng } from "./save";
import { groundOf, letterSize, smallLetters, useSize } from "./size";
import { tiersOf } from "./tiers";

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
  /** Whether its scale stands here, and not beside several of them. */
  legend?: boolean;
  /** What else stands in its line. */
  children?: ComponentChildren;
}

const MARGIN = 26;
/** Room above, for names of nodes; below, for those of hosts and pods; at the left, for those of tiers. */
const [TOP, BELOW] = [32, 50];
const leftOf = () => 7.4 * letterSize();
/** Narrower than this there is no room at the left. */
const NARROW = 360;
const REACH = 9;

export function Fabric(props: Props) {
  const { run, frame, metric, pinned, path, dark, largest, label, id, onPin, legend = true, children } = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width, height } = useSize(box);
  const [hover, setHover] = useState<{ line: number; x: number; y: number } | null>(null);
  const [view, setView] = useState({ zoom: 1, x: 0, y: 0 });
  const drag = useRef<{ x: number; y: number; moved: boolean } | null>(null);
  const values = useMemo(() => new Float64Array(run.timeline.ports.length), [run]);
  const aggregates = useMemo(() => new Aggregates(run.timeline, layout(run.timeline)), [run]);
  const tiers = useMemo(() => (width < NARROW ? [] : tiersOf(run.timeline)), [run, width < NARROW]);
  const { pods } = layout(run.timeline);
  const left = tiers.length ? leftOf() : MARGIN;
  const placed = useMemo(() => {
    const [w, h] = [Math.max(1, width - left - MARGIN), Math.max(1, height - (pods.length ? BELOW : MARGIN) - TOP)];
    const across = w * view.zoom;
    return place(aggregates.picture(aggregates.coarseness(across)), (x, y) => [
      left + (x * w + view.x) * view.zoom, TOP + (y * h + view.y) * view.zoom,
    ], width, height, across);
  }, [aggregates, width, height, view, left, pods]);
  // pauses come once the picture is there, of runs that recorded them
  const pauses = useRead(run, run.tables.pauses ? PAUSED : null, run) === "ready" && run.tables.pauses
    ? pausesOf(run) : null;
  const until_s = Math.min(run.end_s, run.timeOf(frame + 1));
  const paused = useMemo(() => pauses?.within(run.timeOf(frame), until_s) ?? [], [pauses, frame]);
  const rings = useMemo(() => pauses?.rings.filter((ring) => sinceOf(pauses, ring) < until_s) ?? [], [pauses, frame]);
  const overlay = (pen: Pen) => {
    for (const ring of rings) drawRing(pen, placed, ring, dark);
    drawPaused(pen, placed, paused, dark);
  };
  const layers = useRef<[HTMLCanvasElement, HTMLCanvasElement] | null>(null);

  // what stays from frame to frame is drawn once, on canvases of its own
  useLayoutEffect(() => {
    layers.current = null;
    if (!width) return;
    const layer = (draw: (pen: Pen) => void) => {
      const own = document.createElement("canvas");
      [own.width, own.height] = [width * devicePixelRatio, height * devicePixelRatio];
      const context = own.getContext("2d");
      context?.scale(devicePixelRatio, devicePixelRatio);
      if (context) draw(onCanvas(context, smallLetters()));
      return own;
    };
    layers.current = [
      layer((pen) => { drawPods(pen, placed, pods, dark, smallLetters()); drawIdle(pen, placed, dark); }),
      layer((pen) => {
        drawNodes(pen, placed, view.zoom, run.timeline.nodes, dark, smallLetters());
        drawTiers(pen, placed, tiers, dark, smallLetters());
      }),
    ];
  }, [placed, dark]);
  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context || !layers.current) return;
    const [idle, nodes] = layers.current;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, idle.width, idle.height);
    context.drawImage(idle, 0, 0);
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    const pen = onCanvas(context, smallLetters());
    drawBusy(pen, placed, valuesOf(run, placed, metric, frame, values), { dark, metric, largest }, path, pinned);
    overlay(pen);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(nodes, 0, 0);
    if (canvas.current) canvas.current.dataset.frame = String(frame);
  }, [run, frame, metric, pinned, path, dark, largest, placed, paused, rings]);
  const told = pauses && pausedTold(paused.length, rings.length > 0);
  const caption = () => [
    `${run.label} at ${seconds(run.timeOf(frame))}: ${TITLES[metric]} of ports, up to ${figure(metric, largest)}; `
      + "square-root colour scale", ...(told ? [`${told}: strokes across the lines of these ports`] : [])];
  const saveSvg = () => {
    const context = canvas.current?.getContext("2d");
    if (!context) return;
    const pen = asSvg(width, height, smallLetters(), (words) => context.measureText(words).width);
    const own = valuesOf(run, placed, metric, frame, values);
    drawPods(pen, placed, pods, dark, smallLetters());
    drawIdle(pen, placed, dark, (line) => own[line]! > 0);
    drawBusy(pen, placed, own, { dark, metric, largest }, path, pinned);
    overlay(pen);
    drawNodes(pen, placed, view.zoom, run.timeline.nodes, dark, smallLetters());
    drawTiers(pen, placed, tiers, dark, smallLetters());
    const { backgroundColor, color } = getComputedStyle(document.body);
    const file = pen.file(backgroundColor, color, caption());
    save(new Blob([file], { type: "image/svg+xml" }), fileName(`${run.label}-fabric`, "svg"));
  };

  /** Of the ports that a line stands for the worst in this frame. */
  const worstOf = (line: number): number => {
    run.frameInto(metric, frame, values);
    const { ports } = placed.picture.lines[line]!;
    return ports.reduce((most, port) => (values[port]! > values[most]! ? port : most));
  };
  /** What stands out most, in words. */
  const worstNow = () => {
    let [most, worst] = [0, -1];
    run.each(metric, frame, frame + 1, (port, _, value) => { if (value > most) [most, worst] = [value, port]; });
    return worst < 0 ? "nothing in this frame" : `largest at ${way(run.names[worst]!)}: ${figure(metric, most)}`;
  };
  /** What lies at a place stays there. */
  const zoomAt = (by: number, x: number, y: number) => {
    setView((old) => {
      const zoom = Math.min(200, Math.max(1, old.zoom * by));
      const shift = 1 / zoom - 1 / old.zoom;
      return zoom === 1 ? { zoom, x: 0, y: 0 }
        : { zoom, x: old.x + (x - left) * shift, y: old.y + (y - TOP) * shift };
    });
  };
  /** Around the pinned port, or the middle where it is out of sight. */
  const zoom = (by: number) => {
    zoomAt(by, ...(pinned === null ? null : middleOf(placed, pinned)) ?? [width / 2, (TOP + height - MARGIN) / 2]);
  };
  const keyed = (event: KeyboardEvent) => {
    const move = (by: number) => {
      setView((old) => {
        const step = by / old.zoom;
        return event.shiftKey ? { ...old, x: old.x + step * width } : { ...old, y: old.y + step * height };
      });
    };
    const acts: Record<string, () => void> = {
      "+": () => { zoom(1.5); }, "=": () => { zoom(1.5); }, "-": () => { zoom(1 / 1.5); },
      ArrowUp: () => { move(0.2); }, ArrowDown: () => { move(-0.2); },
    };
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : acts[event.key];
    if (!act) return;
    event.preventDefault();
    setHover(null);
    act();
  };
  const pointed = (event: MouseEvent): [number, number] => {
    const { left, top } = canvas.current!.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };

  const pointedAt = hover && placed.picture.lines[hover.line];
  const under = pointedAt ? worstOf(hover.line) : null;
  const need = useMemo(() => (under === null ? null : ofPort(under)), [under]);
  const rest = useRead(run, need, hover);
  return (
    <div class="fabric" role="region" aria-label={label ? `Fabric of ${label}` : "Fabric"}>
      <div class="bar corner">
        {label ? <strong title={label}>{label}</strong> : <h2>Fabric</h2>}
        {children}
        <span class="tools">
          {told && <span class={rings.length ? "halts dead" : "halts"}>{told}</span>}
          {legend && <FabricLegend metric={metric} largest={largest} dark={dark} />}
          <button class="icon" aria-label="Zoom out of the fabric" title="Zoom out around the pinned port"
            onClick={() => { zoom(1 / 1.5); }}>−</button>
          <button class="icon" aria-label="Zoom into the fabric" title="Zoom in around the pinned port"
            onClick={() => { zoom(1.5); }}>+</button>
          <button onClick={saveSvg} title="Save the visible fabric as SVG">SVG</button>
          <button title="Save the visible fabric as PNG" onClick={() => {
            if (canvas.current) savePng(canvas.current, caption(), `${run.label}-fabric`);
          }}>PNG</button>
        </span>
      </div>
      <div class="plane" ref={box}>
      <canvas
        ref={canvas} width={width * devicePixelRatio} height={height * devicePixelRatio} style={{ width, height }}
        role="application" id={id ?? "fabric"} tabIndex={0} onKeyDown={keyed}
        aria-label={`Fabric of ${run.timeline.nodes.length} nodes and ${run.timeline.ports.length} ports, `
          + `coloured by ${TITLES[metric]}; ${worstNow()}${told ? `; ${told}` : ""}. The list of ports gives the `
          + "same as text. Plus and minus zoom, up and down move, with Shift sideways"}
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
          const line = nearest(placed, x, y, REACH);
          setHover(line === null ? null : { line, x, y });
        }}
        onMouseLeave={() => { setHover(null); }}
        onClick={(event) => {
          if (drag.current?.moved) return;
          const line = nearest(placed, ...pointed(event), REACH);
          onPin(line === null ? null : worstOf(line));
        }}
        onDblClick={() => { setView({ zoom: 1, x: 0, y: 0 }); }}
        onWheel={(event) => {
          event.preventDefault();
          setHover(null);
          zoomAt(Math.exp(-event.deltaY / 400), ...pointed(event));
        }}
      />
      {pointedAt && under !== null && (
        <div class="tip" role="status" style={{ left: Math.min(hover.x + 14, width - 250), top: hover.y + 14 }}>
          {pointedAt.ports.length > 1 && (
            <p>
              {pointedAt.ports.length.toLocaleString("en-US")} ports from{" "}
              {placed.picture.groups[pointedAt.from]!.name} to {placed.picture.groups[pointedAt.to]!.name}, with the
              colour of the worst; zoom in to see each. The worst:
            </p>
          )}
          <PortFigures run={run} port={under} frame={frame}
            only={rest === "ready" ? undefined : metric} />
          {rest !== "ready" && <p>{rest === "reading" ? "reading the rest …" : "the rest cannot be read"}</p>}
        </div>
      )}
      </div>
    </div>
  );
}

/** What the strokes on a fabric say, in words. */
export function pausedTold(count: number, isDead: boolean): string {
  return `${isDead ? "deadlock, " : ""}${count ? counted(count, "port") : "no port"} paused`;
}

/** The scale of fabrics that have one together. */
export function FabricLegend({ metric, largest, dark }: { metric: Metric; largest: number; dark: boolean }) {
  return <Legend colours={scale(groundOf(dark))} words={[
    figure(metric, 0), figure(metric, largest / 4), figure(metric, largest)]} />;
}

interface FiguresProps {
  run: Run;
  port: number;
  frame: number;
  /** The one figure that has been read, where the others and the flows have not. */
  only?: Metric | undefined;
}

export function PortFigures({ run, port, frame, only }: FiguresProps) {
  const metrics = only ? [only] : run.metrics;
  const flows = only ? [] : run.flowsOn(port);
  return (
    <>
      <strong>{way(run.names[port]!)}</strong>
      <dl data-port={port}>
        {metrics.map((name) => (
          <>
            <dt>{TITLES[name]}</dt>
            <dd data-figure={name} title={recorded(name, run.figure(name, port, frame))}>
              {figure(name, run.figure(name, port, frame))}
            </dd>
          </>
        ))}
        {flows.length > 0 && (
          <>
            <dt>flows through it</dt>
            <dd>{flows.slice(0, 8).join(", ")}{flows.length > 8 ? ` and ${flows.length - 8} more` : ""}</dd>
          </>
        )}
      </dl>
    </>
  );
}
