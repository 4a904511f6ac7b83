/** A moment is shown once all that it shows is there. */

import { useEffect, useRef, useState } from "preact/hooks";
import { NAMES, needsOf } from "../data/need";
import { METRICS, type Need, type Run } from "../data/run";
import type { Moment } from "../time/link";
import { useReading } from "../scene/read";
import { within } from "./within";

/** What of which runs a moment shows. Ports of two runs are matched by their names, which are read before the rest. */
function needs(runs: Run[], moment: Moment): [Run, Need][] {
  const first = runs[moment.run]!;
  const own = needsOf(moment, true).map((need): [Run, Need] => [first, need]);
  if (moment.beside === null) return own;
  const second = runs[moment.beside]!;
  const matched = moment.port !== null && first.isRead(NAMES) && second.isRead(NAMES);
  const port = matched ? second.portNamed(first.names[moment.port!]!) : null;
  return [...own, ...needsOf({ ...moment, port }, false).map((need): [Run, Need] => [second, need])];
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
  failed: Failed | null;
}

/** What a page shows at first: what is asked for, or as much of it as can be read. Raises where nothing can. */
export async function beginning(runs: Run[], asked: Moment): Promise<Begun> {
  const unpinned = { ...asked, port: null, flow: null, span: null };
  let failed: Failed | null = null;
  for (const moment of [asked, unpinned, { ...unpinned, beside: null, metric: METRICS[0] }]) {
    try {
      await readMoment(runs, moment);
      return { moment, failed };
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
}

const ofChoice = ({ run, beside, metric, port, flow, span }: Moment) => [run, beside, metric, port, flow, span];
/** Whether two moments differ in time alone. */
const alike = (one: Moment, other: Moment) => {
  const choice = ofChoice(other);
  return ofChoice(one).every((part, i) => part === choice[i]);
};

/** What is asked for, and what is shown of it. */
export function useShown(runs: Run[], begin: Begun): Shown {
  const [asked, setAsked] = useState(begin.moment);
  const [failed, setFailed] = useState(begin.failed);
  const last = useRef(asked);
  const back = useRef(asked);
  const waits = !isRead(runs, asked);
  // time goes on meanwhile
  last.current = waits ? { ...last.current, time_s: asked.time_s } : asked;
  const refuse = (error: unknown) => {
    back.current = last.current;
    setFailed({ asked, error });
    setAsked((now) => within(runs, { ...back.current, time_s: now.time_s }));
  };
  useReading(!waits, () => readMoment(runs, asked), refuse, ofChoice(asked), 0);
  useEffect(() => { if (!alike(asked, back.current)) setFailed(null); }, ofChoice(asked));
  const change = (to: Change) => {
    setAsked((now) => within(runs, { ...now, ...(typeof to === "function" ? to(now) : to) }));
  };
  const again = () => { if (failed) change(({ time_s }) => ({ ...failed.asked, time_s })); };
  return { asked, moment: last.current, waits, failed: failed?.error ?? null, change, again };
}
