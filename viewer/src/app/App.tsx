/** The page: what is chosen, and what shows it. */

import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { METRICS, type Metric, type Run } from "../data/run";
import { TITLES } from "../data/format";
import { Details } from "../panes/Details";
import { FlowTable } from "../panes/FlowTable";
import { Fabric } from "../scene/Fabric";
import { HeatMap } from "../scene/HeatMap";
import { readHash, written, type Moment } from "../time/link";
import { TimeBar } from "../time/TimeBar";

/** Between two changes of the address. */
const ADDRESS_MS = 350;

/** What an address asks for, within what the runs have. */
function within(runs: Run[], asked: Partial<Moment>): Moment {
  const run = asked.run !== undefined && asked.run < runs.length ? asked.run : 0;
  const own = runs[run]!;
  return {
    run, metric: asked.metric ?? "queue_max_bytes",
    time_s: own.timeOf(own.frameOf(asked.time_s ?? own.timeline.start_s)),
    port: asked.port !== undefined && asked.port !== null && asked.port < own.names.length ? asked.port : null,
    flow: asked.flow !== undefined && asked.flow !== null && asked.flow < own.flowCount ? asked.flow : null,
  };
}

function useDark(): [boolean, () => void] {
  const [dark, setDark] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches);
  useEffect(() => { document.documentElement.dataset.theme = dark ? "dark" : "light"; }, [dark]);
  return [dark, () => { setDark((old) => !old); }];
}

export function App({ runs }: { runs: Run[] }) {
  const [moment, setMoment] = useState(() => within(runs, readHash(location.hash)));
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(30);
  const [dark, turn] = useDark();
  const run = runs[moment.run]!;
  const frame = run.frameOf(moment.time_s);
  const change = useCallback((part: Partial<Moment>) => { setMoment((old) => ({ ...old, ...part })); }, []);
  const seek = useCallback((to: number) => {
    change({ time_s: run.timeOf(Math.min(run.frames - 1, Math.max(0, to))) });
  }, [run]);
  const toEvent = useCallback((step: 1 | -1) => {
    // a frame shows its events from its beginning on
    const event = step > 0 ? run.eventFrom(run.timeOf(frame + 1) - run.timeline.frame_s * 1e-5, 1)
      : run.eventFrom(run.timeOf(frame), -1);
    if (!event) return;
    change({ time_s: run.timeOf(run.frameOf(event.time_s)) });
    if (event.what === "port" && event.subject < run.names.length) change({ port: event.subject });
    if (event.what === "flow" && event.subject < run.flowCount) change({ flow: event.subject });
  }, [run, frame]);

  const writtenAt = useRef(-Infinity);
  useEffect(() => {
    // browsers refuse an address that changes more often than some three times a second
    const later = setTimeout(() => {
      history.replaceState(null, "", written(moment));
      writtenAt.current = performance.now();
    }, writtenAt.current + ADDRESS_MS - performance.now());
    return () => { clearTimeout(later); };
  }, [moment]);
  useEffect(() => {
    const moved = () => { setMoment(within(runs, readHash(location.hash))); };
    addEventListener("hashchange", moved);
    return () => { removeEventListener("hashchange", moved); };
  }, [runs]);
  useEffect(() => { document.title = `${run.label} – Incast`; }, [run]);

  const clock = useRef({ speed, run });
  clock.current = { speed, run };
  useEffect(() => {
    if (!playing) return undefined;
    let before = performance.now();
    let due = 0;
    let next = requestAnimationFrame(function tick(at: number) {
      due += ((at - before) / 1000) * clock.current.speed;
      before = at;
      const steps = Math.floor(due);
      due -= steps;
      if (steps) {
        setMoment((old) => {
          const own = clock.current.run;
          const to = own.frameOf(old.time_s) + steps;
          if (to >= own.frames - 1) setPlaying(false);
          return { ...old, time_s: own.timeOf(Math.min(own.frames - 1, to)) };
        });
      }
      next = requestAnimationFrame(tick);
    });
    return () => { cancelAnimationFrame(next); };
  }, [playing]);

  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      // keys that the element itself takes are its own
      const { tagName } = target;
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(tagName) || (tagName === "BUTTON" && event.key === " ")) return;
      const far = event.shiftKey ? 10 : 1;
      const acts: Record<string, () => void> = {
        " ": () => { setPlaying((old) => !old); }, ArrowLeft: () => { seek(frame - far); },
        ArrowRight: () => { seek(frame + far); }, Home: () => { seek(0); }, End: () => { seek(run.frames - 1); },
        n: () => { toEvent(1); }, p: () => { toEvent(-1); }, d: turn,
        Escape: () => { change({ port: null, flow: null }); },
        "/": () => { document.getElementById("search")?.focus(); },
      };
      const act = acts[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", pressed);
    return () => { removeEventListener("keydown", pressed); };
  }, [frame, run, seek, toEvent]);

  const path = useMemo(() => (moment.flow === null ? [] : run.pathOf(moment.flow)), [run, moment.flow]);
  const worst = useMemo(() => {
    const over = run.worstOf(moment.metric);
    return [...over.keys()].sort((a, b) => over[b]! - over[a]! || a - b).slice(0, 200);
  }, [run, moment.metric]);
  const pin = (port: number | null) => { change({ port }); };
  return (
    <>
      <header>
        <h1>{run.label}</h1>
        {runs.length > 1 && (
          <label>run{" "}
            <select id="run" value={moment.run} onChange={(event) => {
              setMoment(within(runs, { ...moment, run: Number(event.currentTarget.value) }));
            }}>{runs.map((one, i) => <option value={i}>{one.label}</option>)}</select>
          </label>
        )}
        <label>colour{" "}
          <select id="metric" value={moment.metric}
            onChange={(event) => { change({ metric: event.currentTarget.value as Metric }); }}>
            {METRICS.map((name) => <option value={name}>{TITLES[name]}</option>)}
          </select>
        </label>
        <label>port{" "}
          <select id="port" value={moment.port ?? ""} onChange={(event) => {
            pin(event.currentTarget.value === "" ? null : Number(event.currentTarget.value));
          }}>
            <option value="">none (worst first)</option>
            {moment.port !== null && !worst.includes(moment.port)
              && <option value={moment.port}>{run.names[moment.port]}</option>}
            {worst.map((port) => <option value={port}>{run.names[port]}</option>)}
          </select>
        </label>
        <button onClick={turn} title="Dark or light (d)">{dark ? "light" : "dark"}</button>
        {run.missing.length > 0 && <span class="missing">not in this run: {run.missing.join(", ")}</span>}
      </header>
      <main>
        <Fabric key={`g${moment.run}`} run={run} frame={frame} metric={moment.metric} pinned={moment.port} path={path}
          dark={dark} onPin={pin} />
        <HeatMap key={moment.run} run={run} frame={frame} metric={moment.metric} pinned={moment.port} dark={dark}
          onSeek={seek} onPin={pin} />
        <FlowTable key={`f${moment.run}`} run={run} selected={moment.flow} onSelect={(flow) => { change({ flow }); }} />
        <Details run={run} frame={frame} port={moment.port} flow={moment.flow} dark={dark}
          onSeek={(time_s) => { change({ time_s: run.timeOf(run.frameOf(time_s)) }); }} />
      </main>
      <TimeBar run={run} frame={frame} playing={playing} speed={speed} onSeek={seek} onSpeed={setSpeed}
        onEvent={toEvent} onPlay={() => {
          if (frame === run.frames - 1) seek(0);
          setPlaying(!playing);
        }} />
    </>
  );
}
