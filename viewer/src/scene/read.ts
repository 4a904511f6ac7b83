/** Reads columns for what is pointed at. */

import { useEffect, useState } from "preact/hooks";
import type { Need, Run } from "../data/run";

/** Whether what is needed is there; it is read where it is not. Null needs nothing. */
export function useRead(run: Run, need: Need | null): boolean {
  const [, again] = useState(0);
  const ready = !need || run.isRead(need);
  useEffect(() => {
    if (ready || !need) return undefined;
    let gone = false;
    // what stands in the way is told when it is chosen
    run.read(need).then(() => { if (!gone) again((count) => count + 1); }, () => undefined);
    return () => { gone = true; };
  }, [run, need, ready]);
  return ready;
}
