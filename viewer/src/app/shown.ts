/** A moment is shown once all that it shows is there. */

import { useEffect, useRef, useState } from "preact/hooks";
import { NAMES, needsOf, wholeOf } from "../data/need";
import { figure, seconds, TITLES, way } from "../data/format";
import { openingOf } from "../data/opening";
import { Pair } from "../data/pair";
import type { Metric, Need, Run } from "../data/run";
import type { Moment } from "../time/link";
import { useReading } from "../scene/read";
import { within } from "./within";

/** Whether a moment is the one that a run's levels show, and nothing else is chosen of it. */
function isPooled(run: Run, { beside, metric, port, flow, span, pins, time_s }: Moment): boolean {
  const { levels } = run;
  return levels?.metric === metric && levels.isRead && beside === null && port === null && flow === null && !span
    && !pins.length && run.frameOf(time_s) === levels.frame;
}

/** What of which runs a moment shows. Ports of two runs are matched by their names, which are read before the rest. */
function needs(runs: Run[], moment: Moment): [Run, Need][] {
  const first = runs[moment.run]!;
  const own = needsOf(moment, isPooled(first, moment)).map((need): [Run, Need] => [first, need]);
  if (moment.beside === null) return own;
  const second = runs[moment.beside]!;
  const matched = moment.port !== null && first.isRead(NAMES) && second.isRead(NAMES);
  const port = matched ? second.portNamed(first.names[moment.port!]!) : null;
  return [...own, ...needsOf({ ...moment, port, pins: [] }).map((need): [Run, Need] => [second, need])];
}

const isRead = (runs: Run[], moment: Moment) => needs(runs, moment).every(([run, need]) => run.isRead(need));

/** Read what a moment shows. */
async function readMoment(runs: Run[], moment: Moment): Promise<void> {
  while (!isRead(runs, moment)) await Promise.all(needs(runs, moment).map(([run, need]) => run.read(need)));
}

/** What could not be read, and why. */
interface Failed {
  asked: Moment;
  error: unknown;
}

export interface Begun {
  moment: Moment;
  /** What it opens at in words, where no time was asked for; empty otherwise. */
  opens: string;
  failed: Failed | null;
}

const SUPERLATIVES: Record<Metric, string> = {
  queue_max_bytes: "largest queue", queue_mean_bytes: "largest mean queue", busy: "highest utilisation",
  marks: "most marks", drops: "most drops", pauses: "most pauses", paused: "largest share paused",
};

/** Go to where most is to be seen of what a moment shows, which is read: of two runs the largest difference. */
function opening(runs: Run[], moment: Moment): Omit<Begun, "failed"> {
  const { metric, beside } = moment;
  const first = runs[moment.run]!;
  const pair = beside === null ? null : new Pair(first, runs[beside]!);
  const clock = pair && !pair.why ? pair : first;
  const levels = pair || !first.levels?.isRead || first.levels.metric !== metric ? null : first.levels;
  const found = levels ? levels.opening : openingOf(clock, clock.frames, metric);
  if (!found) return { moment, opens: "" };
  const what = clock === pair ? `largest difference in ${TITLES[metric]}` : SUPERLATIVES[metric];
  const time_s = clock.timeOf(found.frame);
  return {
    moment: within(runs, { ...moment, time_s }),
    opens: `Opened at ${seconds(time_s)}, the moment of the ${what}: `
      + `${figure(metric, found.value)} at ${way(first.names[found.port]!)}.`,
  };
}

/**
 * What a page shows at first: what is asked for, or as much of it as can be read. Raises where nothing can. With
 * `opens` no time is asked for.
 */
export async function beginning(runs: Run[], asked: Moment, opens: boolean): Promise<Begun> {
  const unpinned = { ...asked, port: null, flow: null, span: null, pins: [] };
  let failed: Failed | null = null;
  const first = runs[asked.run]!;
  if (opens && first.levels?.metric === asked.metric) {
    // where they cannot be read all rows are
    await Promise.all(needsOf(asked, true).map((need) => first.read(need))).catch(() => undefined);
    const moment = { ...asked, time_s: first.timeOf(first.levels.isRead ? first.levels.frame : 0) };
    if (isPooled(first, moment)) asked = moment;
  }
  for (const moment of [asked, unpinned, { ...unpinned, beside: null, metric: runs[asked.run]!.metrics[0]! }]) {
    try {
      await readMoment(runs, moment);
      return { ...(opens ? opening(runs, moment) : { moment, opens: "" }), failed };
    } catch (error) {
      failed ??= { asked, error };
    }
  }
  throw failed!.error;
}

/** What changes of a moment, or how it follows from what is asked for now. */
export type Change = Partial<Moment> | ((asked: Moment) => Partial<Moment>);

interface Shown {
  asked: Moment;
  moment: Moment;
  /** Whether what was asked for is still being read; until then the moment before it stays. */
  waits: boolean;
  /** Why what was asked for could not be read: the moment before it is asked for again. */
  failed: unknown;
  /** Ask for something else, within what the runs have. */
  change: (to: Change) => void;
  /** Ask once more for what could not be read. */
  again: () => void;
  /** Whether the metric of all ports is read: until then levels show it. */
  whole: boolean;
}

const ofChoice = ({ run, beside, metric, port, flow, span, pins }: Moment) => (
  [run, beside, metric, port, flow, span, pins]);
/** Whether two moments differ in time alone. */
const alike = (one: Moment, other: Moment) => {
  const choice = ofChoice(other);
  return ofChoice(one).every((part, i) => part === choice[i]);
};

/** Longest wait for a browser that has nothing else to do. */
const IDLE_MS = 500;

/** Acts once what is rendered has been shown and the browser has nothing else to do. */
function afterPicture(act: () => void): void {
  const { requestIdleCallback: idle } = window as { requestIdleCallback?: typeof window.requestIdleCallback };
  if (idle) idle(act, { timeout: IDLE_MS });
  else setTimeout(act, IDLE_MS / 2);
}

/** What is asked for, and what is shown of it. */
export function useShown(runs: Run[], begin: Begun): Shown {
  const [asked, setAsked] = useState(begin.moment);
  const [failed, setFailed] = useState(begin.failed);
  const last = useRef(asked);
  const back = useRef(asked);
  const waits = !isRead(runs, asked);
  // time goes on meanwhile, unless levels have no other moment
  const before = last.current;
  const stands = isPooled(runs[before.run]!, before) && !runs[before.run]!.isWhole(before.metric);
  last.current = waits ? { ...before, time_s: (stands ? before : asked).time_s, notes: asked.notes, tab: asked.tab }
    : asked;
  const refuse = (error: unknown) => {
    back.current = last.current;
    setFailed({ asked, error });
    setAsked((now) => within(runs, { ...back.current, time_s: now.time_s }));
  };
  useReading(!waits, () => readMoment(runs, asked), refuse, ofChoice(asked), 0);
  useEffect(() => { if (!alike(asked, back.current)) setFailed(null); }, ofChoice(asked));
  // what levels do not have is read once the page is drawn
  const { metric } = last.current;
  const run = runs[last.current.run]!;
  const whole = run.isWhole(metric);
  const [, setRead] = useState(0);
  useEffect(() => {
    if (whole || failed) return undefined;
    let gone = false;
    const tell = (act: () => void) => () => { if (!gone) act(); };
    afterPicture(tell(() => {
      Promise.all(wholeOf(metric).map((need) => run.read(need))).then(
        tell(() => { setRead((count) => count + 1); }),
        (error: unknown) => { tell(() => { setFailed({ asked, error }); })(); });
    }));
    return () => { gone = true; };
  }, [run, metric, whole, failed]);
  const change = (to: Change) => {
    setAsked((now) => within(runs, { ...now, ...(typeof to === "function" ? to(now) : to) }));
  };
  const again = () => {
    if (failed) change(({ time_s }) => ({ ...failed.asked, time_s }));
    setFailed(null);
  };
  return { asked, moment: last.current, waits, failed: failed?.error ?? null, change, again, whole };
}
