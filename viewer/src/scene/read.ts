/** Reads columns, and shows again once they are there. */

import { useEffect, useState } from "preact/hooks";
import type { Need, Run } from "../data/run";

/** Reads what is not there once the same is asked for during `rest_ms`; `failed` is told why it cannot be read. */
export function useReading(
  there: boolean, read: () => Promise<void>, failed: (error: unknown) => void, asked: unknown[], rest_ms: number,
): void {
  const [, again] = useState(0);
  useEffect(() => {
    if (there) return undefined;
    let gone = false;
    const later = setTimeout(() => {
      read().then(() => { if (!gone) again((count) => count + 1); }, (error: unknown) => { if (!gone) failed(error); });
    }, rest_ms);
    return () => {
      gone = true;
      clearTimeout(later);
    };
  }, [there, ...asked]);
}

/** Between the pointer's last move and what is read for where it is: it crosses much on its way. */
const REST_MS = 200;

/** Whether what is needed is there, or why it cannot be read. */
export type Reading = "ready" | "reading" | Error;

/** Whether what is needed of what is pointed at is there; it is read where the pointer rests. Null needs nothing. */
export function useRead(run: Run, need: Need | null, pointed: unknown): Reading {
  const [failed, setFailed] = useState<Error | null>(null);
  const ready = !need || run.isRead(need);
  useReading(ready, () => run.read(need!), (error) => {
    setFailed(error instanceof Error ? error : new Error(String(error)));
  }, [run, need, pointed], REST_MS);
  return ready ? "ready" : failed ?? "reading";
}

/** What is said in place of a pane that is not there yet, or cannot be. */
export function readingSaid(...all: Reading[]): string {
  const failed = all.find((one): one is Error => one instanceof Error);
  return failed ? `This cannot be read: ${failed.message}.` : "reading …";
}
