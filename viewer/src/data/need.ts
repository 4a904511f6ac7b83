/** Which columns show something. What shows nothing is not read. */

import { LEVELS } from "./levels";
import { METRICS, type Metric, type Need } from "./run";
import type { Span } from "./stretch";
import { SEARCHED, SHOWN } from "./table";

export interface Chosen {
  metric: Metric;
  port: number | null;
  flow: number | null;
  span: Span | null;
  /** What is plotted together. */
  pins?: Pin[];
}

/** A port or a flow that is plotted with others. */
export interface Pin {
  what: "port" | "flow";
  at: number;
}

/** Names and rates of ports. */
export const NAMES: Need = { ports: ["port", "rate_bps"] };
/** Names and events: whatever is chosen, they are seen. */
const ALWAYS: Need = { ...NAMES, events: ["time_s", "kind", "what", "subject"] };
/** Frames: in place of those of a metric a large run has levels to begin with. */
const FRAMES: Need = { records: ["starts", "port"], by_flow: ["starts"] };
/** What a page opens with. */
export const POOLED: Need = { levels: LEVELS };
/** A metric of all ports. */
export const wholeOf = (metric: Metric): Need[] => [FRAMES, { records: [metric] }];
const TABLE: Need = { flows: [...SHOWN, ...SEARCHED] };
/** Of a port that is pinned or pointed at. */
export const ofPort = (port: number): Need => ({ records: METRICS, whose: port, paths: ["flow", "port"] });
const ofFlow = (flow: number): Need => ({
  flows: ["flow", "src", "dst", "finish_s"], paths: ["flow", "port", "position"], whose: flow,
  by_flow: ["flow", "delivered_bytes", "cwnd_bytes", "state"], series: ["entity", "name", "starts", "time_s", "value"],
  packets: ["flow", "back", "sent_s", "end_s", "mark_s", "end", "hops", "place", "marked", "seq", "ack",
    "payload_bytes", "flags", "until_s"],
});
/** What all ports and flows add up to. */
export const TOTALS: Need = { records: ["queue_mean_bytes", "queue_max_bytes", "drops", "marks"],
  by_flow: ["flow", "delivered_bytes"], flows: ["flow", "src", "dst"], paths: ["flow", "port", "position"] };
/** Which ports are paused when; and whose paths lead over them. Runs without a record of pauses need none of it. */
export const PAUSED: Need = { ports: ["port", "rate_bps", "deadlocked_s"], pauses: ["pause", "begin_s", "end_s", "port",
  "class", "account_bytes", "threshold_bytes", "moment", "through", "through_bytes"] };
export const BLAMED: Need = { ...PAUSED, paths: ["flow", "port", "position", "sprayed"],
  flows: ["flow", "group", "start_s", "finish_s", "stopped_s"] };
/** What ranks of jobs do. Runs without a record of tasks need none of it. */
export const OF_RANKS: Need = {
  ranks: ["job", "rank", "host", "iteration", "start_s", "finish_s"],
  tasks: ["job", "rank", "iteration", "task", "kind", "stream", "peer", "tag", "bytes", "start_s", "finish_s",
    "message_start_s", "message_finish_s"],
};
/** Collectives of jobs, and where their members are. */
export const OF_COLLECTIVES: Need = {
  ranks: ["job", "rank", "host"],
  collectives: ["job", "iteration", "collective", "pattern", "algorithm", "members", "bytes", "first_start_s",
    "last_finish_s", "time_s", "skew_s", "busbw_Bps", "efficiency", "slowest_rank", "slowest_from", "slowest_to",
    "slowest_message_s"],
};
const OF_STRETCH: Need = {
  records: ["marks", "drops", "pauses", "queue_max_bytes"], by_flow: ["flow", "delivered_bytes"],
};

/** What is needed to show a run; `pooled` by its levels. */
export function needsOf({ metric, port, flow, span, pins = [] }: Chosen, pooled = false): Need[] {
  const needs: Need[] = [ALWAYS, ...(pooled ? [POOLED] : wholeOf(metric)), TABLE];
  if (port !== null) needs.push(ofPort(port));
  if (flow !== null) needs.push(ofFlow(flow));
  if (span) needs.push(OF_STRETCH);
  for (const { what, at } of pins) needs.push(what === "port" ? ofPort(at) : ofFlow(at));
  return needs;
}
