/** What is known of the chosen flow, of the pinned port, of a stretch of time, and of all flows; a tab for each. */

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { exact, short, way } from "../data/format";
import { TOTALS, type Pin } from "../data/need";
import { marksOf, packetsOf } from "../data/packets";
import type { Metric, Run } from "../data/run";
import { stateAt, STATES, stretchesOf, timeoutsOf } from "../data/states";
import type { Span } from "../data/stretch";
import { endsOf } from "../data/summary";
import { PortFigures } from "../scene/Fabric";
import { readingSaid, useRead } from "../scene/read";
import { useSize } from "../scene/size";
import { MOST_PINS, type Tab } from "../time/link";
import { beside, panesOfFlow, panesOfPins, panesOfPort, panesOfTotals, whyOf, whySaid, type Measure,
  type Pane } from "./curves";
import { CollectivesTab } from "./Collectives";
import { FlowTable } from "./FlowTable";
import { Ladder } from "./Ladder";
import { LanesTab } from "./Lanes";
import { PausesTab } from "./Pauses";
import { Plot, stateColours, type Strip } from "./Plot";
import { StretchFigures } from "./Stretch";
import { Tabs } from "./Tabs";

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
  /** Ports and flows that are plotted together. */
  pins?: Pin[];
  onPins?: (pins: Pin[]) => void;
  /** The tab that is asked for, and what is told of another one. */
  tab?: Tab | null;
  onTab?: (tab: Tab) => void;
}

/** A path of more ports than this is several paths. */
const MANY_PORTS = 12;
/** Curves that are in sight at once, and pixels of one: what stands above them, their heads and axes left out. */
const IN_SIGHT = 3;
const [LEAST, MOST, HEAD, HEAD_OF_TWO, ABOVE] = [60, 190, 48, 82, 88];

/** Tabs that stay as a stretch of time is chosen. */
const STAYING: ReadonlySet<Tab> = new Set(["flow", "packets", "port", "plot", "pauses", "ranks",
  "collectives"]);
const NO_PINS: Pin[] = [];
const NONE: Pane[] = [];

export function Details(props: Props) {
  const { run, port, flow, time_s, metric, span, latest, opens, dark, onSeek, onSpan, other, pins = NO_PINS,
    onPins, onTab } = props;
  const [tab, setTab] = useState<Tab>(
    props.tab ?? (flow !== null ? "flow" : port !== null ? "port" : span ? "range" : "flows"));
  const [measure, setMeasure] = useState<Measure>("packets");
  const tabs = useRef<HTMLDivElement>(null);
  const [logs, setLogs] = useState<Record<string, boolean>>({});
  // a port that the tree of pauses or a lane pins: these stay in sight
  const stays = useRef<number | null>(null);
  // what was chosen last is in sight; an address may choose several
  const before = useRef({ port, flow, span, latest });
  useEffect(() => {
    const last = before.current;
    const chose = flow !== last.flow ? flow !== null && "flow" : port !== last.port ? port !== null && "port"
      : latest !== last.latest && latest ? latest.what : null;
    // a port is told of as it is chosen, and there once it is read
    const isOwn = chose === "port" && stays.current !== null && (port === last.port || port === stays.current);
    if (!isOwn || port === stays.current) stays.current = null;
    if (chose && !isOwn) setTab(chose);
    // of a stretch that is chosen in curves the curves stay
    else if (!chose && span && !last.span) setTab((now) => (STAYING.has(now) ? now : "range"));
    before.current = { port, flow, span, latest };
  }, [port, flow, span, latest]);
  useEffect(() => { if (props.tab) setTab(props.tab); }, [props.tab]);
  const toldTab = useRef(tab);
  useEffect(() => {
    if (tab !== toldTab.current) onTab?.(tab);
    toldTab.current = tab;
  }, [tab]);
  const packets = useMemo(() => (
    [run, other?.run].map((own) => (flow === null || !own ? [] : packetsOf(own, flow)))
  ), [run, flow, other?.run]);
  const hasPackets = packets.some((own) => own.length > 0);
  const all: [Tab, ComponentChildren, boolean][] = [
    ["flow", `Flow ${flow ?? ""}`, flow !== null], ["packets", "Packets", hasPackets],
    ["port", `Port ${port === null ? "" : way(run.names[port]!)}`, port !== null],
    ["range", "Time range", span !== null],
    ["plot", `Plot of ${pins.length}`, pins.length > 0], ["flows", "All flows", true], ["totals", "Totals", true],
    ["pauses", "Pauses", Boolean(run.tables.pauses)], ["ranks", "Ranks", Boolean(run.tables.tasks)],
    ["collectives", "Collectives", Boolean(run.tables.collectives)],
  ];
  const there = all.filter(([, , has]) => has);
  const shown = there.some(([own]) => own === tab) ? tab : there[0]![0];
  const box = useRef<HTMLDivElement>(null);
  // what is chosen by a key in a tab leads to another, and the focus goes along
  const byKey = useRef(false);
  useEffect(() => {
    if (byKey.current) tabs.current?.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
    byKey.current = false;
  }, [shown]);
  const { height } = useSize(box);
  const seen = span ?? { from_s: 0, to_s: Math.max(run.busyUntil_s, other?.run.busyUntil_s ?? 0) };
  const shared = { now_s: time_s, seen, dark, onSeek, onSpan };
  const head = other ? HEAD_OF_TWO : HEAD;
  const highOf = (count: number) => (
    Math.round(Math.min(MOST, Math.max(LEAST, (height - ABOVE) / Math.min(IN_SIGHT, count) - head))));
  const plots = (panes: Pane[], key: string, strips?: Strip[]) => panes.map((pane, i) => (
    <Plot key={`${key}/${pane.title}/${pane.unit}`} {...pane} {...shared} height={highOf(panes.length)}
      {...(strips && i === 0 ? { strips } : {})} log={logs[pane.title]}
      onLog={(log) => { setLogs((old) => ({ ...old, [pane.title]: log })); }} />
  ));
  /** Pins a port of one of the runs and stays in the tab. */
  const pinOf = (at: number) => (to: number) => {
    stays.current = at ? null : to;
    if (at) other!.onPin(to);
    else props.onPin(to);
  };
  const hasMeasure = run.about.packet_bytes !== undefined;
  const kept = (what: Pin["what"], at: number) => onPins && (
    <Keep pins={pins} pin={{ what, at }} onPins={onPins} />
  );
  return (
    <div class="details" role="region" aria-label="Details" ref={tabs}>
      <Tabs label="Details" tabs={there.map(([own, words]) => [own, words])} shown={shown}
        onChoose={(own) => { setTab(own as Tab); }}>
        {hasMeasure && ["flow", "plot"].includes(shown) && (
          <span class="seg" role="group" aria-label="Unit of windows">
            {(["packets", "bytes"] as const).map((own) => (
              <button aria-pressed={measure === own} onClick={() => { setMeasure(own); }}>{own}</button>
            ))}
          </span>
        )}
        {shown === "flow" && flow !== null && kept("flow", flow)}
        {shown === "port" && port !== null && kept("port", port)}
      </Tabs>
      <div class={`tab ${shown}`} role="tabpanel" ref={box}
        onKeyDown={(event) => { byKey.current = event.key === "Enter"; }}
        aria-label={String(there.find(([own]) => own === shown)![1])}>
        {shown === "flow" && flow !== null && (
          <OfFlow run={run} flow={flow} other={other} measure={measure} time_s={time_s} dark={dark} packets={packets}
            plots={plots} />
        )}
        {shown === "packets" && packets.map((own, i) => own.length > 0 && (
          <Ladder key={`${flow ?? ""}/${i}`} run={i ? other!.run : run} flow={flow!} packets={own}
            name={other?.names[i] ?? ""} {...shared} />
        ))}
        {shown === "port" && port !== null && (
          <OfPort run={run} port={port} other={other} time_s={time_s} plots={plots} />
        )}
        {shown === "range" && span && (
          <section aria-label="Selected time range">
            <button id="all" onClick={props.onAll} title="Clear the time range (Escape)">Clear the time range</button>
            <StretchFigures run={run} name={other?.names[0] ?? ""} metric={metric} span={span} onPin={props.onPin}
              onFlow={props.onFlow} />
            {other && <StretchFigures run={other.run} name={other.names[1]} metric={metric} span={span}
              onPin={other.onPin} onFlow={props.onFlow} />}
          </section>
        )}
        {shown === "plot" && (
          <OfPins run={run} pins={pins} other={other?.run ?? null} names={other?.names ?? null} measure={measure}
            onPins={onPins} plots={plots} />
        )}
        {shown === "flows" && (
          <>
            {port === null && flow === null && !span && (
              <p class="told">{opens} Click a link, a row or a flow to see it over time.</p>
            )}
            <FlowTable run={run} selected={flow} whose={other?.names[0] ?? ""} onSelect={props.onFlow} />
          </>
        )}
        {shown === "pauses" && (
          <PausesTab run={run} port={port} flow={flow} time_s={time_s} span={span} name={other?.names[0] ?? ""}
            onPin={(own) => {
              stays.current = own;
              props.onPin(own);
            }} />
        )}
        {shown === "ranks" && [run, ...(other?.run.tables.tasks ? [other.run] : [])].map((own, i) => (
          <LanesTab key={i} run={own} port={i ? other!.port : port} name={other?.names[i] ?? ""} {...shared}
            onPin={pinOf(i)} />
        ))}
        {shown === "collectives" && [run, ...(other?.run.tables.collectives ? [other.run] : [])].map((own, i) => (
          <CollectivesTab key={i} run={own} name={other?.names[i] ?? ""} now_s={time_s} onSpan={onSpan}
            onPin={pinOf(i)} />
        ))}
        {shown === "totals" && <OfAll run={run} other={other} plots={plots} />}
      </div>
    </div>
  );
}

/** Adds what is shown to the plot of several, or takes it out. */
function Keep({ pins, pin, onPins }: { pins: Pin[]; pin: Pin; onPins: (pins: Pin[]) => void }) {
  const same = ({ what, at }: Pin) => what === pin.what && at === pin.at;
  const has = pins.some(same);
  return (
    <button id="keep" aria-pressed={has} disabled={!has && pins.length >= MOST_PINS}
      title={`Plot up to ${MOST_PINS} flows and ports together; the address keeps them`}
      onClick={() => { onPins(has ? pins.filter((own) => !same(own)) : [...pins, pin]); }}>
      {has ? "In the plot" : "Add to plot"}
    </button>
  );
}

type Plots = (panes: Pane[], key: string, strips?: Strip[]) => ComponentChildren;
type Other = Props["other"];

/** Figures of a flow beside its path, with their units and what is said before them. */
const FIGURES = [["throughput_active_bps", "b/s", ""], ["fct_s", "s", "completed in "],
  ["slowdown", "", "slowdown "]] as const;

/** A flow: its path, why it does what it does, and its curves. */
function OfFlow({ run, flow, other, measure, time_s, dark, packets, plots }: {
  run: Run; flow: number; other: Other; measure: Measure; time_s: number; dark: boolean;
  packets: ReturnType<typeof packetsOf>[]; plots: Plots;
}) {
  const own = useMemo(() => panesOfFlow(run, flow, measure), [run, flow, measure]);
  const second = useMemo(() => (
    other && flow < other.run.flowCount ? panesOfFlow(other.run, flow, measure) : NONE), [flow, measure, other?.run]);
  const panes = useMemo(() => (other ? beside(own, second, other.names) : own), [own, second]);
  const strips = useMemo<Strip[]>(() => {
    const runs = [run, ...(other && flow < other.run.flowCount ? [other.run] : [])];
    const all = runs.map((one, i) => ({
      stretches: stretchesOf(one, flow), timeouts_s: timeoutsOf(one, flow), traced: marksOf(packets[i]!) }));
    return all.some((one) => one.stretches.length || one.timeouts_s.length || one.traced) ? all : [];
  }, [packets]);
  const more = [
    ...(panes.some(({ title }) => title.startsWith("Delay")) ? [] : [["measure.series.flows", "delays, targets"]]),
    ...(packets.some((one) => one.length) ? [] : [["measure.trace", "packets, losses, marks"]]),
  ];
  const path = run.pathOf(flow);
  const whys = [own, second].map(whyOf);
  const row = run.rowOf(flow);
  const figures = FIGURES.flatMap(([name, unit, words]) => {
    const value = run.flows?.has(name) ? run.flows.values(name)[row] ?? NaN : NaN;
    return Number.isNaN(value) ? [] : [`${words}${short(value, unit)}`];
  });
  return (
    <section aria-label="Selected flow">
      <h2 class="hidden">Flow {flow}</h2>
      <Path run={run} ports={path} words={[endsOf(run, row), ...figures].filter(Boolean).join(" · ")} />
      {whys.map((why, i) => why && (
        <p class="why">{other && <b>{other.names[i]}: </b>}{whySaid(why)}</p>
      ))}
      {strips.length > 0 && <States strips={strips} dark={dark} names={other?.names ?? null}
        now={[run, ...(other ? [other.run] : [])].map((one) => stateAt(one, flow, time_s))} />}
      {plots(panes, String(flow), strips)}
      {more.length > 0 && <p class="hint">More is recorded with {more.map(([setting, what], i) => (
        <>{i > 0 && ", and with "}<code>--set {setting}=[{flow}]</code> ({what})</>
      ))}.</p>}
      {panes.some(({ title }) => title === "Rate") && (
        <p class="hint">Rate: bytes behind a gap count where they can have arrived, not at the repair, when all of
          them are delivered in order at once.</p>
      )}
    </section>
  );
}

/** A port: its figures at the cursor, and its curves. */
function OfPort({ run, port, other, time_s, plots }: {
  run: Run; port: number; other: Other; time_s: number; plots: Plots;
}) {
  const panes = useMemo(() => {
    const own = panesOfPort(run, port);
    if (!other) return own;
    return beside(own, other.port === null ? [] : panesOfPort(other.run, other.port), other.names);
  }, [run, port, other?.run, other?.port]);
  const of = (own: Run, at: number, name: string) => (
    <div class="figures">
      {name && <h2>{name}</h2>}
      <PortFigures run={own} port={at} frame={own.frameOf(time_s)} />
    </div>
  );
  return (
    <section aria-label="Pinned port">
      {of(run, port, other?.names[0] ?? "")}
      {other && other.port !== null && of(other.run, other.port, other.names[1])}
      {plots(panes, String(port))}
    </section>
  );
}

/** Several ports and flows in one plot of each kind. */
function OfPins({ run, pins, other, names, measure, onPins, plots }: {
  run: Run; pins: Pin[]; other: Run | null; names: [string, string] | null; measure: Measure;
  onPins: ((pins: Pin[]) => void) | undefined; plots: Plots;
}) {
  const panes = useMemo(() => panesOfPins(run, pins, measure), [run, pins, measure]);
  return (
    <section aria-label="Plot of several">
      <ul class="pins">
        {pins.map((pin) => {
          const words = pin.what === "port" ? way(run.names[pin.at]!) : `flow ${pin.at}`;
          return (
            <li>{words}{" "}
              {onPins && <button class="icon" aria-label={`Take ${words} out of the plot`}
                onClick={() => { onPins(pins.filter((own) => own !== pin)); }}>✕</button>}
            </li>
          );
        })}
      </ul>
      {other && names && <p class="hint">Of {names[0]} alone.</p>}
      {plots(panes, pins.map(({ what, at }) => `${what}${at}`).join())}
    </section>
  );
}

/** Sums over all flows and all ports, read once they are looked at. */
function OfAll({ run, other, plots }: { run: Run; other: Other; plots: Plots }) {
  const first = useRead(run, TOTALS, run);
  const second = useRead(other?.run ?? run, other ? TOTALS : null, other?.run);
  const ready = first === "ready" && second === "ready";
  const panes = useMemo(() => {
    if (!ready) return NONE;
    const own = panesOfTotals(run);
    return other ? beside(own, panesOfTotals(other.run), other.names) : own;
  }, [run, other?.run, ready]);
  if (!ready) return <p class="told">{readingSaid(first, second)}</p>;
  return (
    <section aria-label="Totals">
      {panes.length ? plots(panes, "all") : <p class="told">Nothing is recorded.</p>}
    </section>
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

/** The nodes that a flow passes; of a sprayed one, which has several paths, the number of ports, the rest on demand. */
function Path({ run, ports, words }: { run: Run; ports: number[]; words: string }) {
  const { nodes, ports: links } = run.timeline;
  if (!ports.length) return <p class="path">{words}</p>;
  if (ports.length > MANY_PORTS) {
    return (
      <details class="path">
        <summary>{words} · {ports.length} ports, over several paths</summary>
        {ports.map((port) => way(run.names[port]!)).join(", ")}
      </details>
    );
  }
  const follows = ports.every((port, i) => i === 0 || links[ports[i - 1]!]!.to === links[port]!.from);
  const passed = follows ? [links[ports[0]!]!.from, ...ports.map((port) => links[port]!.to)]
    .map((node) => nodes[node]!.name).join("\u00a0→ ") : ports.map((port) => way(run.names[port]!)).join(", ");
  const rest = words.split(" · ").slice(1);
  return <p class="path">{[passed, ...rest].join(" · ")}</p>;
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
