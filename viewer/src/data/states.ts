/** What a flow's sender was doing, frame by frame. */

import type { Run } from "./run";

/** By the numbers of `state` in timeline_flows.parquet. */
export const STATES = ["slow start", "congestion avoidance", "fast recovery", "after a timeout", "done"] as const;

export interface Stretch {
  state: number;
  from_s: number;
  to_s: number;
}

/** When a flow ends, or the run in which it does not. */
export function endOf(run: Run, flow: number): number {
  const row = run.flows?.values("flow").indexOf(flow as never) ?? -1;
  const finish_s = run.flows?.get("finish_s")?.values[row];
  return finish_s === undefined || Number.isNaN(finish_s) ? run.end_s : finish_s;
}

/** Whether a flow has a sender with states: those of datagrams have neither a window nor what goes with it. */
function hasStates(run: Run, flow: number): boolean {
  return !run.byFlow?.has("cwnd_bytes") || run.flowOver("cwnd_bytes", flow).some((bytes) => bytes > 0);
}

/** Bytes of a window that limits nothing, as in python/incast/pictures/recorded.py. */
const ENDLESS = 1e8;

/** Whether windows stand for none: senders by rate have one and the same of this size all of the time. */
export function isEndless(windows: ArrayLike<number>): boolean {
  const known = Array.from(windows).filter((bytes) => !Number.isNaN(bytes));
  return known.length > 0 && known[0]! >= ENDLESS && known.every((bytes) => bytes === known[0]);
}

/** Whether a flow has a congestion window. */
export function hasWindow(run: Run, flow: number): boolean {
  return hasStates(run, flow) && !(run.byFlow?.has("cwnd_bytes") && isEndless(run.flowOver("cwnd_bytes", flow)));
}

/** The states of a flow, those of neighbouring frames together. */
export function stretchesOf(run: Run, flow: number): Stretch[] {
  if (!hasStates(run, flow)) return [];
  const over = run.flowOver("state", flow);
  const found: Stretch[] = [];
  over.forEach((state, frame) => {
    if (Number.isNaN(state)) return;
    const [from_s, to_s] = [run.timeOf(frame), Math.min(run.end_s, run.timeOf(frame + 1))];
    const last = found.at(-1);
    if (last && last.state === state && over[frame - 1] === state) last.to_s = to_s;
    else found.push({ state, from_s, to_s });
  });
  return found;
}

/** The state at a time, in words; empty where none is recorded. */
export function stateAt(run: Run, flow: number, time_s: number): string {
  const state = run.flowOver("state", flow)[run.frameOf(time_s)]!;
  return Number.isNaN(state) ? "" : STATES[state] ?? `state ${state}`;
}

/** Times of a flow's retransmission timeouts. */
export function timeoutsOf(run: Run, flow: number): number[] {
  return run.events.filter((event) => event.what === "flow" && event.kind === "timeout" && event.subject === flow)
    .map((event) => event.time_s);
}
