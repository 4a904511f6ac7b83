/** Play, pause, speed, steps, the scrubber and its events. */

import { useMemo } from "preact/hooks";
import type { Run } from "../data/run";
import type { Span } from "../data/stretch";
import { seconds } from "../data/format";

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
}

/** Words of a control with its shortcut; without it while single-character shortcuts are disabled. */
export function hint(words: string, key: string, letters: boolean): string {
  return letters ? `${words} (${key})` : words;
}

export const SPEEDS = [5, 15, 30, 60, 120];
/** Most event marks on the bar: more would overlap. */
const MOST = 400;

export function TimeBar(props: Props) {
  const { run, frame, span, playing, speed, onSeek, onPlay, onSpeed, onEvent, letters } = props;
  const keyed = (words: string, key: string) => hint(words, key, letters);
  const none = !run.events.length;
  const part = (time_s: number) => `${(100 * time_s) / run.end_s}%`;
  const marks = useMemo(() => {
    const told = run.events.filter((event) => event.kind !== "flow-start" && event.kind !== "flow-end").slice(0, MOST);
    return told.map((event) => (
      <i class={event.kind} title={`${event.kind} of ${event.what} ${event.subject}, ${seconds(event.time_s)}`}
        style={{ left: part(event.time_s) }} />
    ));
  }, [run]);
  return (
    <div class="time" role="group" aria-label="Time">
      <button onClick={() => { onSeek(frame - 1); }} aria-label="Back one frame" title="Back one frame (←)">◂</button>
      <button id="play" onClick={onPlay} title="Play or pause (space)">{playing ? "Pause" : "Play"}</button>
      <button onClick={() => { onSeek(frame + 1); }} aria-label="Forward one frame" title="Forward one frame (→)">
        ▸
      </button>
      <button disabled={none} onClick={() => { onEvent(-1); }} title={keyed("Previous event", "p")}>
        previous event
      </button>
      <button disabled={none} onClick={() => { onEvent(1); }} title={keyed("Next event", "n")}>next event</button>
      <button id="from" onClick={props.onFrom} title={keyed("Start the time range at the cursor", "[")}>
        set start
      </button>
      <button id="to" onClick={props.onTo} title={keyed("End the time range at the cursor", "]")}>set end</button>
      <label>
        speed{" "}
        <select value={speed} onChange={(event) => { onSpeed(Number(event.currentTarget.value)); }}>
          {SPEEDS.map((one) => <option value={one}>{one} frames/s</option>)}
        </select>
      </label>
      <div class="scrub">
        <input
          id="scrub" type="range" min={0} max={run.frames - 1} value={frame} aria-label="Frame"
          aria-valuetext={seconds(run.timeOf(frame))}
          onInput={(event) => { onSeek(Number(event.currentTarget.value)); }}
        />
        <div class="events" aria-hidden="true">
          {span && <i class="span" style={{
            left: part(span.from_s), width: `calc(${part(span.to_s)} - ${part(span.from_s)})`,
          }} />}
          {marks}
        </div>
      </div>
      <output id="now" aria-live="off">{seconds(run.timeOf(frame))} · frame {frame} of {run.frames}</output>
    </div>
  );
}
