/** What is known of the pinned port and of the selected flow over time. */

import { useEffect, useMemo, useRef } from "preact/hooks";
import { exact, seconds } from "../data/format";
import type { Metric, Run } from "../data/run";
import { marksOf, packetsOf } from "../data/packets";
import { rateOf, spanOf } from "../data/rates";
import { endOf, hasWindow, stateAt, STATES, stretchesOf, timeoutsOf } from "../data/states";
import type { Span } from "../data/stretch";
import { PortFigures } from "../scene/Fabric";
import { Ladder } from "./Ladder";
import { Plot, stateColours, type Curve, type Strip } from "./Plot";
import { StretchFigures } from "./Stretch";

/** What was chosen last, the same as before or another: a new object each time. */
export interface Latest {
  what: "port" | "flow";
}

interface Props {
  run: Run;
  port: number | null;
  flow: number | null;
  time_s: number;
  metric: Metric;
  /** The stretch of time that is selected. */
  span: Span | null;
  latest: Latest | null;
  /** What the page opened at, in words. */
  opens: string;
  dark: boolean;
  onSeek: (time_s: number) => void;
  onSpan: (one_s: number, other_s: number) => void;
  /** Clear it. */
  onAll: () => void;
  onPin: (port: number | null) => void;
  onFlow: (flow: number) => void;
  /** The run beside it, its number of the same port, and what to call the two. */
  other: { run: Run; port: number | null; names: [string, string]; onPin: (port: number) => void } | null;
}

/** A path of more ports than this is several paths. */
const MANY_PORTS = 12;

interface Pane {
  title: string;
  unit: string;
  curves: Curve[];
}

/** The samples of a flow, those of one unit in one pane. A value holds until the next, the last one until the end. */
export function panesOf(run: Run, flow: number): Pane[] {
  const units: [string, string, string][] = [["_bytes", "B", "Windows and bytes"], ["_s", "s", "Times"],
    ["_bps", "b/s", "Rates"], ["_packets", "packets", "Packets"]];
  const panes = new Map<string, Pane>();
  const end_s = endOf(run, flow);
  for (const { name, time_s, value } of run.samplesOf(`flow ${flow}`)) {
    if (name === "acked_bytes" || name === "offered_bytes") continue; // sums, which dwarf a window
    const [ending, unit, title] = units.find(([own]) => name.endsWith(own)) ?? ["", "", name];
    const pane = panes.get(title) ?? { title, unit, curves: [] };
    panes.set(title, pane);
    const label = ending ? name.slice(0, -ending.length).replaceAll("_", " ") : name;
    const holds = time_s.length > 0 && time_s.at(-1)! < end_s;
    pane.curves.push({ label, stepped: true, time_s: holds ? [...time_s, end_s] : time_s,
      values: holds ? [...value, value.at(-1)!] : value });
  }
  return [...panes.values()];
}

/** The frames of a run as times. */
const timesOf = (run: Run) => Float64Array.from({ length: run.frames }, (_, i) => run.timeOf(i));

/** What is recorded of a port over time. */
export function panesOfPort(run: Run, port: number): Pane[] {
  const times = timesOf(run);
  const curves = (...all: [string, Metric][]): Curve[] => (
    all.filter(([, metric]) => run.metrics.includes(metric)).map(([label, metric]) => (
      { label, time_s: times, values: run.portOver(metric, port), stepped: true })));
  const panes: Pane[] = [
    { title: "Queue", unit: "B", curves: curves(["largest", "queue_max_bytes"], ["mean", "queue_mean_bytes"]) },
    { title: "Utilisation", unit: "", curves: curves(["busy", "busy"], ["paused", "paused"]) },
    { title: "Marks and drops", unit: "", curves: curves(["marks", "marks"], ["drops", "drops"]) },
  ];
  return panes.filter((pane) => pane.curves.length > 0);
}

/** What is recorded of a flow over time. */
export function panesOfFlow(run: Run, flow: number): Pane[] {
  const times = timesOf(run);
  const panes: Pane[] = [];
  if (run.byFlow?.has("delivered_bytes")) {
    const label = `delivered in order, mean over ${seconds(spanOf(run) * run.timeline.frame_s)}`;
    panes.push({ title: "Rate", unit: "b/s",
      curves: [{ label, time_s: times, values: rateOf(run, flow), stepped: true }] });
  }
  const sampled = panesOf(run, flow);
  if (run.byFlow?.has("cwnd_bytes") && hasWindow(run, flow)
    && !sampled.some((pane) => pane.curves.some((curve) => curve.label === "cwnd"))) {
    panes.push({ title: "Window", unit: "B",
      curves: [{ label: "cwnd", time_s: times, values: run.flowOver("cwnd_bytes", flow), stepped: true }] });
  }
  return [...panes, ...sampled];
}

/** Panes of two runs in one: the second's curves are dashed, in the colours of the first's. */
export function beside(first: Pane[], second: Pane[], names: [string, string]): Pane[] {
  const named = (panes: Pane[], side: 0 | 1) => panes.map((pane) => ({
    ...pane, curves: pane.curves.map((curve, colour) => ({
      ...curve, colour, dashed: side === 1, label: `${curve.label}, ${names[side]}` })),
  }));
  const both = new Map(named(first, 0).map((pane) => [pane.title, pane]));
  for (const pane of named(second, 1)) {
    const own = both.get(pane.title);
    if (own) own.curves.push(...pane.curves);
    else both.set(pane.title, pane);
  }
  return [...both.values()];
}

export function Details(props: Props) {
  const { run, port, flow, time_s, metric, span, latest, opens, dark, onSeek, onSpan, other } = props;
  const ofPort = useMemo<Pane[]>(() => {
    const own = port === null ? [] : panesOfPort(run, port);
    if (!other) return own;
    return beside(own, other.port === null ? [] : panesOfPort(other.run, other.port), other.names);
  }, [run, port, other?.run, other?.port]);
  const ofFlow = useMemo<Pane[]>(() => {
    if (flow === null) return [];
    const own = panesOfFlow(run, flow);
    if (!other) return own;
    return beside(own, flow < other.run.flowCount ? panesOfFlow(other.run, flow) : [], other.names);
  }, [run, flow, other?.run]);
  const packets = useMemo(() => (
    [run, other?.run].map((own) => (flow === null || !own ? [] : packetsOf(own, flow)))
  ), [run, flow, other?.run]);
  const strips = useMemo<Strip[]>(() => {
    if (flow === null) return [];
    const runs = [run, ...(other && flow < other.run.flowCount ? [other.run] : [])];
    const all = runs.map((own, i) => ({
      stretches: stretchesOf(own, flow), timeouts_s: timeoutsOf(own, flow), traced: marksOf(packets[i]!) }));
    return all.some((one) => one.stretches.length || one.timeouts_s.length || one.traced) ? all : [];
  }, [packets]);
  const box = useRef<HTMLDivElement>(null);
  const ofChosen = useRef<HTMLElement>(null);
  // what was chosen last is in sight; an address may choose both
  const before = useRef({ port, flow });
  useEffect(() => {
    const what = flow !== before.current.flow ? "flow" : port !== before.current.port ? "port" : latest?.what;
    if (what === "flow") ofChosen.current?.scrollIntoView({ block: "start" });
    else if (what === "port" && port !== null && box.current) box.current.scrollTop = 0;
    before.current = { port, flow };
  }, [port, flow, latest]);
  const path = flow === null ? [] : run.pathOf(flow);
  const seen = span ?? { from_s: 0, to_s: Math.max(run.busyUntil_s, other?.run.busyUntil_s ?? 0) };
  const shared = { now_s: time_s, seen, dark, onSeek, onSpan };
  const of = (own: Run, port: number, name: string) => (
    <div class="figures">
      {name && <h2>{name}</h2>}
      <PortFigures run={own} port={port} frame={own.frameOf(time_s)} />
    </div>
  );
  return (
    <div class="details" ref={box} role="region" aria-label="Details">
      {span && (
        <section aria-label="Selected time range">
          <h2>
            Time range <button id="all" onClick={props.onAll} title="Clear the time range (Escape)">clear</button>
          </h2>
          <StretchFigures run={run} name={other?.names[0] ?? ""} metric={metric} span={span} onPin={props.onPin}
            onFlow={props.onFlow} />
          {other && <StretchFigures run={other.run} name={other.names[1]} metric={metric} span={span}
            onPin={other.onPin} onFlow={props.onFlow} />}
        </section>
      )}
      {port !== null && (
        <section aria-label="Pinned port">
          {of(run, port, other?.names[0] ?? "")}
          {other && other.port !== null && of(other.run, other.port, other.names[1])}
          {ofPort.map((pane) => <Plot key={`${port}/${pane.title}`} {...pane} {...shared} />)}
        </section>
      )}
      {flow !== null && (
        <section aria-label="Selected flow" ref={ofChosen}>
          <h2>Flow {flow}</h2>
          {path.length > 0 && <Path names={path.map((one) => run.names[one]!)} />}
          {strips.length > 0 && <States strips={strips} dark={dark} names={other?.names ?? null}
            now={[run, ...(other ? [other.run] : [])].map((own) => stateAt(own, flow, time_s))} />}
          {packets.map((own, i) => own.length > 0 && (
            <Ladder key={`${flow}/${i}`} run={i ? other!.run : run} flow={flow} packets={own}
              name={other?.names[i] ?? ""} {...shared} />
          ))}
          {ofFlow.map((pane) => <Plot key={`${flow}/${pane.title}`} {...pane} {...shared} strips={strips} />)}
          {packets.every((own) => !own.length) && (
            <p class="hint">With --set measure.trace=[{flow}] its packets, losses and marks show too.</p>
          )}
          {!ofFlow.length && (
            <p class="told">
              Nothing is recorded of this flow over time: run it with --set measure.series.flows=[{flow}]
            </p>
          )}
        </section>
      )}
      {port === null && flow === null && !span && (
        <p class="told">
          {opens} Click a link or a flow to see it over time. To select a stretch of time drag with Shift in the heat
          map, or go to its ends and press “from here” and “to here”.
        </p>
      )}
    </div>
  );
}

/** What signs there are in all, in words. */
function counted(strip: Strip | undefined): string {
  const counts: [number, string][] = [[strip?.timeouts_s.length ?? 0, "timeout"],
    [strip?.traced?.losses_s.length ?? 0, "packet"], [strip?.traced?.marks_s.length ?? 0, "packet"]];
  const said = counts.flatMap(([count, what], i) => (
    count ? [`${exact(count)} ${what}${count === 1 ? "" : "s"}${["", " lost", " marked"][i]!}`] : []));
  return said.length ? `, ${said.join(", ")} in total` : "";
}

/** The ports that a flow passes; of the many of a sprayed one their number, the rest when asked for. */
function Path({ names }: { names: string[] }) {
  const all = names.join("  ");
  if (names.length <= MANY_PORTS) return <p class="path">{all}</p>;
  return (
    <details class="path">
      <summary>{names[0]} … {names.at(-1)}: {names.length} ports, over several paths</summary>
      {all}
    </details>
  );
}

interface StatesProps {
  strips: Strip[];
  dark: boolean;
  names: [string, string] | null;
  now: string[];
}

/** What the colours of the strips mean, and the states at the cursor in words. */
function States({ strips, dark, names, now }: StatesProps) {
  const there = new Set(strips.flatMap(({ stretches }) => stretches.map(({ state }) => state)));
  const timeouts = strips.map(({ timeouts_s }) => timeouts_s.length);
  return (
    <p class="states">
      {STATES.map((state, i) => there.has(i) && (
        <span><i style={{ background: stateColours(dark)[i] }} />{state}</span>
      ))}
      {timeouts.some((count) => count > 0) && <span>▾ timeout</span>}
      {strips.some(({ traced }) => traced) && <span>× loss</span>}
      {strips.some(({ traced }) => traced) && <span>❘ ECN mark</span>}
      <output>
        {now.map((state, i) => (
          `${names ? `${names[i]}: ` : "now: "}${state || "not open"}`
            + counted(strips[i])
        )).join("; ")}
      </output>
    </p>
  );
}
