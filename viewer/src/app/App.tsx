/** The page: what is chosen, and what shows it. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { seconds, TITLES, way } from "../data/format";
import { Pair } from "../data/pair";
import type { Metric, Run } from "../data/run";
import { Details, type Latest } from "../panes/Details";
import { Summary } from "../panes/Summary";
import { Fabric, FabricLegend } from "../scene/Fabric";
import { differenceOf, fieldOf } from "../scene/field";
import { HeatMap } from "../scene/HeatMap";
import { readHash } from "../time/link";
import { hint, TimeBar } from "../time/TimeBar";
import { spanBetween, worst as worstOf, type Span } from "../data/stretch";
import { lineOf, titleOf, titleOfTwo } from "../data/summary";
import { Help } from "./Help";
import { Notes } from "./Notes";
import { Panes } from "./Panes";
import { Tour } from "./Tour";
import { useAddress, useDark, useKeys, useLetters, usePlaying } from "./hooks";
import { useShown, type Begun, type Change } from "./shown";
import { Waiting } from "./Waiting";
import { within } from "./within";

/** Ports of the list, the worst of all. */
const LISTED = 200;

interface Props {
  runs: Run[];
  /** What is shown first: it is read already. */
  begin: Begun & { tours: boolean };
  /** Why something cannot be read, in words. */
  say: (error: unknown) => string;
}

export function App({ runs, begin, say }: Props) {
  const { asked, moment, waits, failed, change, again, whole } = useShown(runs, begin);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(30);
  const [dark, turn] = useDark();
  const [letters, setLetters] = useLetters();
  const [helps, setHelps] = useState(false);
  const [notes, setNotes] = useState(false);
  const [tours, setTours] = useState(begin.tours);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [latest, setLatest] = useState<Latest | null>(null);
  const [shown, setShown] = useState<"difference" | "first" | "second">("difference");
  const first = runs[moment.run]!;
  const second = moment.beside === null ? null : runs[moment.beside]!;
  const pair = useMemo(() => (second ? new Pair(first, second) : null), [first, second]);
  // of two runs the one that ends later has the clock, its frames and its events
  const run = pair ? pair.longer : first;
  const frame = run.frameOf(moment.time_s);
  /** What panes choose is of the runs that they show: of others that are asked for meanwhile it says nothing. */
  const choose = (to: Change) => {
    change((now) => {
      const chosen = typeof to === "function" ? to(now) : to;
      if (now.run === moment.run && now.beside === moment.beside) return chosen;
      return chosen.time_s === undefined ? {} : { time_s: chosen.time_s };
    });
  };
  const seek = (to: number) => { change({ time_s: run.timeOf(Math.min(run.frames - 1, Math.max(0, to))) }); };
  const select = (one_s: number, other_s: number) => { choose({ span: spanBetween(run, one_s, other_s) }); };
  const toEvent = (step: 1 | -1) => {
    // a frame shows its events from its beginning on
    const event = step > 0 ? run.eventFrom(run.timeOf(frame + 1) - run.timeline.frame_s * 1e-5, 1, hidden)
      : run.eventFrom(run.timeOf(frame), -1, hidden);
    if (!event) return;
    choose({ time_s: run.timeOf(run.frameOf(event.time_s)) });
    if (event.what === "port" && event.subject < run.names.length) {
      choose({ port: run === first ? event.subject : pair!.firstOf(event.subject) });
    }
    if (event.what === "flow" && event.subject < first.flowCount) choose({ flow: event.subject });
  };

  useAddress(moment);
  useEffect(() => {
    const moved = () => { change(() => within(runs, readHash(location.hash))); };
    addEventListener("hashchange", moved);
    return () => { removeEventListener("hashchange", moved); };
  }, [runs]);
  const title = useMemo(() => (second ? titleOfTwo(first, second) : titleOf(first)), [first, second]);
  useEffect(() => { document.title = `${title} – Incast`; }, [title]);

  /** One end of a stretch is at the cursor, the other where it was asked for last, or at that of the run. */
  const end = (at_s: number, other_s: (span: Span | null) => number) => {
    choose(({ span }) => ({ span: spanBetween(run, at_s, other_s(span)) }));
  };
  const fromHere = () => {
    const from_s = run.timeOf(frame);
    end(from_s, (span) => (span && span.to_s > from_s ? span.to_s : run.end_s));
  };
  const toHere = () => {
    const to_s = run.timeOf(frame + 1);
    end(to_s, (span) => (span && span.from_s < to_s ? span.from_s : run.timeline.start_s));
  };
  usePlaying(playing, speed, run, change, () => { setPlaying(false); });
  useKeys((far) => ({
    " ": () => { setPlaying((old) => !old); }, ArrowLeft: () => { seek(frame - far); },
    ArrowRight: () => { seek(frame + far); }, Home: () => { seek(0); }, End: () => { seek(run.frames - 1); },
    n: () => { toEvent(1); }, p: () => { toEvent(-1); }, d: turn,
    ...Object.fromEntries(Array.from("123456789", (digit, i) => [digit, () => {
      document.querySelectorAll<HTMLElement>(".details [role=tab]")[i]?.click();
    }])),
    "[": fromHere, "]": toHere, "?": () => { setHelps(true); },
    Escape: () => { change(({ span }) => (span ? { span: null } : { port: null, flow: null })); },
    "/": () => { document.getElementById("search")?.focus(); },
  }), letters);

  const path = useMemo(() => (moment.flow === null ? [] : first.pathOf(moment.flow)), [first, moment.flow]);
  const otherPath = useMemo(() => (
    moment.flow === null || !second ? [] : second.pathOf(moment.flow)), [second, moment.flow]);
  const worst = useMemo(() => {
    const most = Math.min(LISTED, first.names.length);
    const found = new Set(worstOf(first.worstOf(moment.metric), most).map(({ at }) => at));
    for (let port = 0; found.size < most; port++) found.add(port);
    return [...found];
  }, [first, moment.metric]);
  const options = useMemo(() => worst.map((port) => <option value={port}>{way(first.names[port]!)}</option>), [worst]);
  const { metric } = moment;
  const largest = Math.max(first.largestOf(metric), second?.largestOf(metric) ?? 0);
  const names = useMemo<[string, string]>(() => (
    first.label === second?.label ? ["the first run", "the second run"] : [first.label, second?.label ?? ""]
  ), [first, second]);
  const field = useMemo(() => {
    if (!second || !pair || shown === "first") return fieldOf(first, metric, largest);
    if (shown === "second") return fieldOf(second, metric, largest);
    return pair.why ? null : differenceOf(pair, metric, names);
  }, [first, second, pair, shown, metric, largest, names, whole]);
  const otherPort = pair ? pair.secondOf(moment.port) : null;
  const said = (own: Run, label: string) =>
    (moment.time_s > own.end_s ? `${label}: ended at ${seconds(own.end_s)}` : label);
  const seekTime = (time_s: number) => { change({ time_s: run.timeOf(run.frameOf(time_s)) }); };
  const pin = (port: number | null) => {
    choose({ port });
    setLatest({ what: "port" });
  };
  const follow = (flow: number) => {
    choose({ flow });
    setLatest({ what: "flow" });
  };
  // with all ports of the list it is the same from moment to moment
  const chooser = useMemo(() => (
    <>
      <select id="metric" aria-label="Metric" value={asked.metric}
        onChange={(event) => { change({ metric: event.currentTarget.value as Metric }); }}>
        {first.metrics.filter((name) => !second || second.metrics.includes(name)).map((name) => (
          <option value={name}>{TITLES[name]}</option>
        ))}
      </select>
      <label>Port{" "}
        <select id="port" value={asked.port ?? ""} onChange={(event) => {
          pin(event.currentTarget.value === "" ? null : Number(event.currentTarget.value));
        }}>
          <option value="">none</option>
          {asked.port !== null && !worst.includes(asked.port)
            && <option value={asked.port}>{way(first.names[asked.port]!)}</option>}
          {options}
        </select>
      </label>
    </>
  ), [first, second, asked.metric, asked.port, options]);
  const fabrics = (
    <div class={second ? "fabrics two" : "fabrics"}>
      {second && (
        <div class="bar"><h2>Fabrics</h2>{chooser}
          <span class="tools"><FabricLegend metric={metric} largest={largest} dark={dark} /></span>
        </div>
      )}
      <Fabric key={`g${moment.run}`} run={first} frame={first.frameOf(moment.time_s)} metric={metric}
        pinned={moment.port} path={path} dark={dark} largest={largest} onPin={pin}
        {...(second ? { label: said(first, names[0]), legend: false } : {})}>{!second && chooser}</Fabric>
      {second && (
        <Fabric key={`h${moment.beside}`} id="other" run={second} frame={second.frameOf(moment.time_s)}
          metric={metric} pinned={otherPort} path={otherPath} dark={dark} largest={largest}
          label={said(second, names[1])} legend={false}
          onPin={(port) => { pin(pair!.firstOf(port)); }} />
      )}
    </div>
  );
  const heat = field ? (
    <HeatMap key={`${moment.run}/${moment.beside}/${shown}`} field={field} time_s={moment.time_s}
      pinned={field.run === second ? otherPort : moment.port} dark={dark} span={moment.span} notes={moment.notes}
      onSeek={seekTime} onSpan={select}
      onPin={(port) => { pin(field.run === second ? pair!.firstOf(port) : port); }}>
      {second && <Shown shown={shown} names={names} onChange={setShown} />}
    </HeatMap>
  ) : (
    <div class="heat">
      <div class="bar"><Shown shown={shown} names={names} onChange={setShown} /></div>
      <p class="told">No difference to show: {pair?.why}.</p>
    </div>
  );
  const brief = moment.port !== null || moment.flow !== null || second !== null;
  // the same from moment to moment
  const summaries = useMemo(() => (
    <div class={`summaries ${second ? "two" : ""} ${moment.port !== null || moment.flow !== null ? "chosen" : ""}`}>
      <Summary run={first} metric={metric} name={second ? names[0] : ""} brief={brief} onPin={pin} onFlow={follow}
        onSeek={seekTime} onMetric={(to) => { change({ metric: to }); }} />
      {second && <Summary run={second} metric={metric} name={names[1]} brief={brief} onFlow={follow} onSeek={seekTime}
        onMetric={(to) => { change({ metric: to }); }}
        onPin={(port) => { pin(pair!.firstOf(port)); }} />}
    </div>
  ), [first, second, metric, names, brief, moment.port, moment.flow, whole]);
  const details = (
    <Details key={`d${moment.run}`} run={first} port={moment.port} flow={moment.flow} time_s={moment.time_s} dark={dark}
      metric={metric} span={moment.span} latest={latest} opens={begin.opens} onSeek={seekTime} onSpan={select}
      onAll={() => { change({ span: null }); }} pins={moment.pins} onPins={(pins) => { choose({ pins }); }}
      onPin={pin} onFlow={follow} tab={moment.tab} onTab={(to) => { change({ tab: to }); }}
      other={second && {
        run: second, port: otherPort, names, onPin: (port) => { pin(pair!.firstOf(port)); },
      }} />
  );
  return (
    <>
      <header>
        <h1 title={title}>{title}</h1>
        <span class="meta">{lineOf(first)}</span>
        {runs.length > 1 && (
          <label>Run{" "}
            <select id="run" value={asked.run} onChange={(event) => {
              change({ run: Number(event.currentTarget.value) });
            }}>{runs.map((one, i) => <option value={i}>{one.label}</option>)}</select>
          </label>
        )}
        {runs.length > 1 && (
          <label>Compare with{" "}
            <select id="beside" value={asked.beside ?? ""} onChange={(event) => {
              const { value } = event.currentTarget;
              change({ beside: value === "" ? null : Number(value) });
            }}>
              <option value="">none</option>
              {runs.map((one, i) => i !== asked.run && <option value={i}>{one.label}</option>)}
            </select>
          </label>
        )}
        <button onClick={() => { setTours(true); }}>Tour</button>
        <button class="icon" onClick={turn} title={hint("Dark or light", "d", letters)}
          aria-label={dark ? "Use the light theme" : "Use the dark theme"}>◐</button>
        <button class="icon" id="help-button" onClick={() => { setHelps(true); }} aria-label="Help"
          title={hint("Keys and pointer", "?", letters)}>?</button>
        {[first, second].map((own, i) => own && own.missing.length > 0 && (
          <span class="missing">not in {second ? names[i] : "this run"}: {own.missing.join(", ")}</span>
        ))}
        {pair && !pair.why && pair.alone > 0 && (
          <span class="missing">{pair.alone.toLocaleString("en-US")} ports exist in one run only: not compared</span>
        )}
        {failed !== null && (
          <p class="failed">
            <span role="alert">{say(failed)}</span> <button id="again" onClick={again}>Try again</button>
          </p>
        )}
      </header>
      <main aria-busy={waits}>
        <Panes name="columns" label="Width of fabric and heat map" across part={0.55}>
          <Panes name={second ? "left-two" : "left"} label="Height of the fabric" part={0.46}>{fabrics}{heat}</Panes>
          <Panes name="right" label="Height of the summary">{summaries}{details}</Panes>
        </Panes>
      </main>
      <Waiting waits={waits} />
      <TimeBar run={run} frame={frame} span={moment.span} playing={playing} speed={speed} onSeek={seek}
        onSpeed={setSpeed} onEvent={toEvent} onFrom={fromHere} onTo={toHere} letters={letters} onPlay={() => {
          if (frame === run.frames - 1) seek(0);
          setPlaying(!playing);
        }} metric={metric} dark={dark} beside={second && (run === first ? second : first)} notes={moment.notes}
        onNotes={() => { setNotes(true); }}
        hidden={hidden} onHidden={setHidden} />
      <Help open={helps} letters={letters} onLetters={setLetters} onClose={() => { setHelps(false); }} />
      <Notes open={notes} time_s={moment.time_s} notes={moment.notes} onSeek={seekTime}
        onNotes={(to) => { change({ notes: to }); }} onClose={() => { setNotes(false); }} />
      {tours && <Tour onClose={() => { setTours(false); }} />}
    </>
  );
}

interface ShownProps {
  shown: "difference" | "first" | "second";
  names: [string, string];
  onChange: (shown: "difference" | "first" | "second") => void;
}

/** Choice of the heat map of two runs. */
function Shown({ shown, names, onChange }: ShownProps) {
  return (
    <select id="shown" aria-label="What the heat map shows" value={shown} onChange={(event) => {
      onChange(event.currentTarget.value as ShownProps["shown"]);
    }}>
      <option value="difference">difference</option>
      <option value="first">{names[0]}</option>
      <option value="second">{names[1]}</option>
    </select>
  );
}
