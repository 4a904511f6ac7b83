/** A run over time: curves of all controllers, and the fabric of one, on one clock. */

import { useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { TITLES } from "../data/format";
import type { Metric, Run } from "../data/run";
import { CollectivesTab } from "../panes/Collectives";
import { LanesTab } from "../panes/Lanes";
import { Names, NamedPlot as Plot } from "./Named";
import { Tabs } from "../panes/Tabs";
import { Fabric } from "../scene/Fabric";
import { fieldOf } from "../scene/field";
import { HeatMap } from "../scene/HeatMap";
import { letterSize } from "../scene/size";
import { usePlaying } from "../app/hooks";
import { TimeBar } from "../time/TimeBar";
import { spanBetween, type Span } from "../data/stretch";
import { busy, drawn, grownTo, seenOf } from "./curves";
import { openingOf } from "../data/opening";
import { nameOf } from "./experiment";
import type { Finished, Growing } from "./runs";

/** Height of curves beside the fabric, in letters: it leaves them room. */
const BESIDE = 17;

interface Props {
  finished: Finished[];
  growing: Map<string, Growing>;
  controllers: string[];
  dark: boolean;
}

/** Bytes delivered so far, until a run with a fabric to show has finished. */
function Grows({ growing, controllers, dark }: Omit<Props, "finished">) {
  const drawnNow = drawn([], (controller) => Math.max(0, controllers.indexOf(controller)), growing)[0];
  if (!drawnNow) return null;
  const to_s = grownTo(growing);
  return (
    <section class="seen card" aria-label="Over time">
      <div class="curves">
        <div class="line"><h2>Over time</h2><span class="soft">seed 1, under way</span></div>
        <Plot title={drawnNow.title} unit={drawnNow.unit} curves={drawnNow.curves} now_s={to_s} dark={dark}
          seen={{ from_s: 0, to_s }} onSeek={() => undefined} onSpan={() => undefined} />
      </div>
    </section>
  );
}

export function Seen({ finished, growing, controllers, dark }: Props) {
  const shown = finished.filter((own): own is Finished & { run: Run } => own.run !== null);
  const names = useContext(Names);
  const [whose, setWhose] = useState<string | null>(null);
  const [curve, setCurve] = useState<string | null>(null);
  const [metric, setMetric] = useState<Metric>("queue_max_bytes");
  const [pinned, setPinned] = useState<number | null>(null);
  const [span, setSpan] = useState<Span | null>(null);
  const [time_s, setTime] = useState<number | null>(null);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(30);
  const own = shown.find(({ controller }) => controller === whose) ?? shown[0];
  const curves = useMemo(() => drawn(finished, (controller) => Math.max(0, controllers.indexOf(controller)), growing),
    [finished, growing, controllers.join()]);
  const all = useMemo(() => (shown.length ? busy(shown.map(({ run }) => run)) : null), [finished]);
  const run = own?.run;
  const most = run?.metrics.includes(metric) ? metric : run?.metrics[0];
  const largest = most ? Math.max(...shown.map((one) => one.run.largestOf(most))) : 0;
  // the heat map draws another field anew
  const field = useMemo(() => (run && most ? fieldOf(run, most, largest) : null), [run, most, largest]);
  const opened = useMemo(() => (run && most ? openingOf(run, run.frames, most) : null), [run, most]);
  useEffect(() => { [setPinned, setSpan, setTime].forEach((set) => { set(null); }); }, [shown[0]?.run]);
  if (!own || !all || !run || !most || !field) {
    return <Grows growing={growing} controllers={controllers} dark={dark} />;
  }
  const now_s = time_s ?? (opened ? run.timeOf(opened.frame) : 0);
  const frame = run.frameOf(now_s);
  const seek = (to_s: number) => { setTime(Math.min(run.end_s, Math.max(0, to_s))); };
  const select = (one_s: number, other_s: number) => { setSpan(spanBetween(run, one_s, other_s)); };
  // what grows is shown until another curve is asked for
  const usual = growing.size > 0 ? curves.find(({ key }) => key === "delivered") : undefined;
  const chosen = curves.find(({ key }) => key === curve) ?? usual ?? curves[0];
  return (
    <section class="seen card" aria-label="Over time">
      <div class="panes">
        <div class="curves">
          <div class="line">
            <h2>Over time</h2><span class="soft">seed 1</span>
            <div class="seg" role="group" aria-label="Curves">
              {curves.map(({ key, title }) => (
                <button aria-pressed={key === chosen?.key} onClick={() => { setCurve(key); }}>{title}</button>
              ))}
            </div>
          </div>
          {chosen && (
            <Plot title={chosen.title} unit={chosen.unit} curves={chosen.curves} now_s={now_s}
              seen={seenOf(chosen, span ?? { ...all, to_s: Math.max(all.to_s, grownTo(growing)) })} dark={dark}
              {...(innerWidth > 1100 && { height: Math.round(BESIDE * letterSize()) })}
              onSeek={chosen.key === "fct" ? () => undefined : seek} onSpan={select} />
          )}
          {span && <button class="btn" onClick={() => { setSpan(null); }}>show all of the time</button>}
        </div>
        <div class="network">
          <div class="line">
            <h2>Fabric</h2>
            <label>shows <select value={most} onChange={(event) => { setMetric(event.currentTarget.value as Metric); }}>
              {run.metrics.map((name) => <option value={name}>{TITLES[name]}</option>)}
            </select></label>
            <div class="seg" role="group" aria-label="Controller of the fabric">
              {shown.map(({ controller }) => (
                <button aria-pressed={controller === own.controller} onClick={() => { setWhose(controller); }}>
                  {names.get(controller) ?? nameOf(controller)}
                </button>
              ))}
            </div>
          </div>
          <Fabric key={own.controller} run={run} frame={frame} metric={most} pinned={pinned} path={[]} dark={dark}
            largest={largest} onPin={setPinned} />
        </div>
      </div>
      <Player run={run} frame={frame} span={span} playing={playing} speed={speed} onSpeed={setSpeed}
        onSeek={(to) => { seek(run.timeOf(Math.min(run.frames - 1, Math.max(0, to)))); }}
        onPlaying={setPlaying} onSpan={select} />
      <div class="map">
        <HeatMap key={own.controller} field={field} time_s={now_s} pinned={pinned} dark={dark}
          span={span} onSeek={seek} onSpan={select} onPin={setPinned} />
      </div>
      <Jobs key={`j${own.controller}`} run={run} now_s={now_s} seen={span ?? all} pinned={pinned} dark={dark}
        onSeek={seek} onSpan={select} onPin={setPinned} />
    </section>
  );
}

interface JobsProps {
  run: Run;
  now_s: number;
  seen: Span;
  pinned: number | null;
  dark: boolean;
  onSeek: (time_s: number) => void;
  onSpan: (one_s: number, other_s: number) => void;
  onPin: (port: number) => void;
}

/** Lanes of the ranks of training jobs, and their collectives; nothing without jobs. */
function Jobs({ run, now_s, seen, pinned, dark, onSeek, onSpan, onPin }: JobsProps) {
  const [asked, setTab] = useState("ranks");
  const tabs: [string, string][] = [
    ...(run.tables.tasks ? [["ranks", "Ranks"] as [string, string]] : []),
    ...(run.tables.collectives ? [["collectives", "Collectives"] as [string, string]] : []),
  ];
  if (!tabs.length) return null;
  const tab = (tabs.find(([one]) => one === asked) ?? tabs[0]!)[0];
  const shared = { run, now_s, name: "", onSpan, onPin };
  return (
    <div class="jobs">
      <Tabs label="Jobs" tabs={tabs} shown={tab} onChoose={setTab} />
      <div class={`tab ${tab}`} role="tabpanel" aria-label={tab}>
        {tab === "ranks" ? <LanesTab {...shared} port={pinned} seen={seen} dark={dark} onSeek={onSeek} />
          : <CollectivesTab {...shared} />}
      </div>
    </div>
  );
}

interface PlayerProps {
  run: Run;
  frame: number;
  span: Span | null;
  playing: boolean;
  speed: number;
  onSpeed: (speed: number) => void;
  onSeek: (frame: number) => void;
  onPlaying: (on: boolean) => void;
  onSpan: (one_s: number, other_s: number) => void;
}

function Player({ run, frame, span, playing, speed, onSpeed, onSeek, onPlaying, onSpan }: PlayerProps) {
  // the clock goes on between two pictures: it asks for the frame of now
  const now = useRef({ frame, onSeek });
  now.current = { frame, onSeek };
  usePlaying(playing, speed, run, (to) => {
    const next = typeof to === "function" ? to({ time_s: run.timeOf(now.current.frame) } as never) : to;
    if (next.time_s !== undefined) now.current.onSeek(run.frameOf(next.time_s));
  }, () => { onPlaying(false); });
  return (
    <TimeBar run={run} frame={frame} span={span} playing={playing} speed={speed} onSpeed={onSpeed} onSeek={onSeek}
      letters={false} onPlay={() => {
        if (frame === run.frames - 1) onSeek(0);
        onPlaying(!playing);
      }}
      onEvent={(step) => {
        const from_s = step > 0 ? run.timeOf(frame + 1) - run.timeline.frame_s * 1e-5 : run.timeOf(frame);
        const event = run.eventFrom(from_s, step);
        if (event) onSeek(run.frameOf(event.time_s));
      }}
      onFrom={() => { onSpan(run.timeOf(frame), span?.to_s ?? run.end_s); }}
      onTo={() => { onSpan(span?.from_s ?? 0, run.timeOf(frame + 1)); }} />
  );
}
