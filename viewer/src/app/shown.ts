/** A moment is shown once all that it shows is there. */

import { useEffect, useRef, useState } from "preact/hooks";
import { needsOf } from "../data/need";
import type { Need, Run } from "../data/run";
import type { Moment } from "../time/link";

/** What of which runs a moment shows. */
function needs(runs: Run[], moment: Moment): [Run, Need][] {
  return [moment.run, moment.beside].flatMap((at, side) => (
    at === null ? [] : needsOf(moment, side === 0).map((need): [Run, Need] => [runs[at]!, need])));
}

/** Read what a moment shows. */
export async function readMoment(runs: Run[], moment: Moment): Promise<void> {
  await Promise.all(needs(runs, moment).map(([run, need]) => run.read(need)));
}

interface Shown {
  moment: Moment;
  /** Whether what was asked for is still being read; until then the moment before it stays. */
  waits: boolean;
  /** Why it could not be read. */
  failed: unknown;
}

/** What is shown of what was asked for last. */
export function useShown(runs: Run[], asked: Moment): Shown {
  const last = useRef(asked);
  const [, again] = useState(0);
  const [failed, setFailed] = useState<unknown>(null);
  const waits = !needs(runs, asked).every(([run, need]) => run.isRead(need));
  // time goes on meanwhile
  last.current = waits ? { ...last.current, time_s: asked.time_s } : asked;
  useEffect(() => {
    setFailed(null);
    if (!waits) return undefined;
    let gone = false;
    readMoment(runs, asked).then(() => { if (!gone) again((count) => count + 1); },
      (error: unknown) => { if (!gone) setFailed(error); });
    return () => { gone = true; };
  }, [waits, asked.run, asked.beside, asked.metric, asked.port, asked.flow, asked.span]);
  return { moment: last.current, waits, failed };
}
