/** Play, pause, speed, steps, and an overview of the whole run with its events, in which a moment is chosen. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { exact, seconds, TITLES } from "../data/format";
import type { Event, Metric, Run } from "../data/run";
import type { Span } from "../data/stretch";
import { useSize } from "../scene/size";
import { Icon } from "./Icon";
import type { Note } from "./link";
import { ticksOf } from "./ticks";

interface Props {
  run: Run;
  frame: number;
  span: Span | null;
  playing: boolean;
  speed: number;
  onSeek: (frame: number) => void;
  onPlay: () => void;
  onSpeed: (speed: number) => void;
  onEvent: (step: 1 | -1) => void;
  /** The stretch begins, ends at the cursor. */
  onFrom: () => void;
  onTo: () => void;
  /** True if single-character shortcuts are enabled. */
  letters: boolean;
  /** The figure whose sum over all ports is drawn; it is read. */
  metric?: Metric;
  /** The run beside it, whose sum is a line. */
  beside?: Run | null;
  dark?: boolean;
  notes?: Note[];
  /** Opens the notes. */
  onNotes?: () => void;
  /** Kinds of events that are left out, and what changes them. */
  hidden?: ReadonlySet<string>;
  onHidden?: (hidden: ReadonlySet<string>) => void;
}

/** Words of a control with its shortcut; without it while single-character shortcuts are disabled. */
export function hint(words: string, key: string, letters: boolean): string {
  return letters ? `${words} (${key})` : words;
}

export const SPEEDS = [5, 15, 30, 60, 120];
/** More events than these are told by their density. */
const MANY = 200;
/** Pixels of the overview, and between its times. */
const [HIGH, APART] = [34, 90];

/** Signs of kinds of events; any other has a stroke. */
const SIGNS: Record<string, string> = { failure: "✕", repair: "✓", timeout: "▾", "flow-start": "▴", "flow-end": "▪" };
const NONE: ReadonlySet<string> = new Set();

export function TimeBar(props: Props) {
  const { run, frame, span, playing, speed, onSeek, onPlay, onSpeed, onEvent, letters, metric, dark, beside, notes = [],
    onNotes, hidden = NONE, onHidden } = props;
  const keyed = (words: string, key: string) => hint(words, key, letters);
  const kinds = useMemo(() => {
    const counts = new Map<string, number>();
    for (const { kind } of run.events) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return [...counts];
  }, [run]);
  const shown = useMemo(() => run.events.filter(({ kind }) => !hidden.has(kind)), [run, hidden]);
  const none = !shown.length;
  const part = (time_s: number) => `${(100 * (time_s - run.timeline.start_s)) / (run.end_s - run.timeline.start_s)}%`;
  return (
    <div class="time" role="group" aria-label="Time">
      <div class="play">
        <button class="icon" disabled={none} onClick={() => { onEvent(-1); }} aria-label="Previous event"
          title={keyed("Previous event", "p")}><Icon name="previous" /></button>
        <button class="icon" onClick={() => { onSeek(frame - 1); }} aria-label="Back one frame"
          title="Back one frame (←)"><Icon name="back" /></button>
        <button id="play" class="main" onClick={onPlay} aria-label={playing ? "Pause" : "Play"}
          title="Play or pause (space)"><Icon name={playing ? "pause" : "play"} /></button>
        <button class="icon" onClick={() => { onSeek(frame + 1); }} aria-label="Forward one frame"
          title="Forward one frame (→)"><Icon name="forward" /></button>
        <button class="icon" disabled={none} onClick={() => { onEvent(1); }} aria-label="Next event"
          title={keyed("Next event", "n")}><Icon name="next" /></button>
        <select aria-label="Speed" value={speed} onChange={(event) => { onSpeed(Number(event.currentTarget.value)); }}>
          {SPEEDS.map((one) => <option value={one}>{one} frames/s</option>)}
        </select>
      </div>
      <div class="over">
        <div class="scrub">
          {metric && <Overview run={run} metric={metric} dark={dark ?? false} beside={beside ?? null} />}
          {span && <i class="span" style={{
            left: part(span.from_s), width: `calc(${part(span.to_s)} - ${part(span.from_s)})`,
          }} />}
          <Ticks run={run} events={shown} part={part} />
          {notes.map(({ time_s, text }) => (
            <i class="note" title={`${seconds(time_s)}: ${text}`} style={{ left: part(time_s) }}>
              <Icon name="flag" />
            </i>
          ))}
          <input
            id="scrub" type="range" min={0} max={run.frames - 1} value={frame} aria-label="Frame"
            aria-valuetext={seconds(run.timeOf(frame))}
            onInput={(event) => { onSeek(Number(event.currentTarget.value)); }}
          />
        </div>
        <div class="events">
          {metric && <span class="faint">Sum of {TITLES[metric]} over all ports, log scale{beside
            ? `; line: ${beside.label}` : ""}</span>}
          {kinds.map(([kind, count]) => {
            const words = `${SIGNS[kind] ?? "❘"} ${kind.replaceAll("-", " ")}: ${count.toLocaleString("en-US")}`;
            return onHidden ? (
              <button class={`quiet ${kind}`} aria-pressed={!hidden.has(kind)}
                title={`Show or hide events of this kind; steps leave out what is hidden`} onClick={() => {
                  const next = new Set(hidden);
                  if (!next.delete(kind)) next.add(kind);
                  onHidden(next);
                }}>{words}</button>
            ) : <span class={kind}>{words}</span>;
          })}
          {shown.length > MANY && <span class="faint">shown by density</span>}
        </div>
      </div>
      <div class="clock">
        <div class="now">
          <output id="now" aria-live="off"><b>{seconds(run.timeOf(frame))}</b>{" "}
            <span>frame {exact(frame)} of {exact(run.frames)}</span></output>
          <Widest frames={run.frames} />
        </div>
        <span class="buttons">
          <button id="from" onClick={props.onFrom} title={keyed("Start the time range at the cursor", "[")}>
            Set start
          </button>
          <button id="to" onClick={props.onTo} title={keyed("End the time range at the cursor", "]")}>Set end</button>
          {onNotes && <button id="notes" onClick={onNotes} title="Notes at moments, kept in the address">
            {notes.length ? `Notes (${notes.length})` : "Note"}
          </button>}
        </span>
      </div>
    </div>
  );
}

/** Room for the longest time and frame: a clock that grew would move all panes. */
function Widest({ frames }: { frames: number }) {
  return useMemo(() => (
    <div class="widest" aria-hidden="true"><b>{seconds(0.8888)}</b>{" "}
      <span>frame {exact(frames)} of {exact(frames)}</span></div>
  ), [frames]);
}

/** Events as ticks; of many the number in each of equal parts of the run. */
function Ticks({ run, events, part }: { run: Run; events: Event[]; part: (time_s: number) => string }) {
  return useMemo(() => {
    if (events.length <= MANY) {
      return (
        <div class="ticks" aria-hidden="true">
          {events.map(({ kind, what, subject, time_s }) => (
            <i class={kind} title={`${kind.replaceAll("-", " ")} of ${what} ${subject}, ${seconds(time_s)}`}
              style={{ left: part(time_s) }} />
          ))}
        </div>
      );
    }
    const counts = new Float64Array(MANY);
    const long_s = run.end_s - run.timeline.start_s;
    for (const { time_s } of events) {
      counts[Math.min(MANY - 1, Math.max(0, Math.floor((MANY * (time_s - run.timeline.start_s)) / long_s)))]!++;
    }
    const most = Math.max(...counts);
    return (
      <div class="ticks dense" aria-hidden="true">
        {Array.from(counts, (count, i) => count > 0 && (
          <i title={`${count.toLocaleString("en-US")} events`} style={{ left: `${(100 * i) / MANY}%`,
            width: `${100 / MANY}%`, opacity: 0.15 + 0.85 * Math.sqrt(count / most) }} />
        ))}
      </div>
    );
  }, [run, events]);
}

/** A figure of all ports together over the whole run, by powers of ten, and times. */
function Overview({ run, metric, dark, beside }: {
  run: Run; metric: Metric; dark: boolean; beside: Run | null;
}) {
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const [ready, setReady] = useState(false);
  // the page is drawn first
  useEffect(() => {
    const later = setTimeout(() => { setReady(true); }, 20);
    return () => { clearTimeout(later); };
  }, []);
  const [from_s, to_s] = [run.timeline.start_s, run.end_s];
  const paths = useMemo(() => {
    if (!ready || !width) return [];
    const totals = [run, ...(beside ? [beside] : [])].map((own) => own.totalOf(metric));
    const most = totals.reduce((all, own) => own.reduce((more, value) => Math.max(more, value), all), 0);
    return totals.map((own, i) => {
      const part = i ? (beside!.end_s - from_s) / (to_s - from_s) : 1;
      return outline(own, Math.round(part * width), HIGH, most);
    });
  }, [run, beside, metric, width, ready]);
  return (
    <div class="overview" ref={box} aria-hidden="true">
      <svg width={width} height={HIGH}>
        <path d={paths[0] ?? ""} fill={dark ? "#ec8636" : "#da6f34"} opacity="0.7" />
        {paths[1] && <path d={paths[1]} fill="none" stroke={dark ? "#4a97d9" : "#2f7dbe"} stroke-width="1.5" />}
      </svg>
      {ticksOf(from_s, to_s, width / APART).map((time_s) => time_s > from_s && time_s < to_s && (
        <span style={{ left: `${(100 * (time_s - from_s)) / (to_s - from_s)}%` }}>{seconds(time_s)}</span>
      ))}
    </div>
  );
}

/** The outline of values by powers of ten up to `most`: of those that share a pixel the largest counts. */
function outline(values: Float64Array, width: number, high: number, most: number): string {
  if (!most) return "";
  // four powers of ten have room
  const low = most * 1e-4;
  const columns = Math.min(width, values.length);
  let path = `M0 ${high}`;
  for (let column = 0; column < columns; column++) {
    let value = 0;
    const to = Math.ceil(((column + 1) * values.length) / columns);
    for (let i = Math.floor((column * values.length) / columns); i < to; i++) value = Math.max(value, values[i]!);
    const y = value > low ? high - (Math.log(value / low) / Math.log(most / low)) * (high - 4) : high;
    const [x0, x1] = [(column * width) / columns, ((column + 1) * width) / columns];
    path += `L${x0.toFixed(1)} ${y.toFixed(1)}H${x1.toFixed(1)}`;
  }
  return `${path}V${high}Z`;
}
