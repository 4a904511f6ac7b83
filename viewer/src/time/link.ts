/** A moment as the part of an address after #, so that it can be sent. */

import { METRICS, type Metric } from "../data/run";
import type { Span } from "../data/stretch";

export interface Moment {
  run: number;
  /** The run that is compared with it. */
  beside: number | null;
  time_s: number;
  port: number | null;
  flow: number | null;
  metric: Metric;
  /** The stretch of time that all is about. */
  span: Span | null;
}

export function written(moment: Moment): string {
  const parts = [`t=${moment.time_s}`, `m=${moment.metric}`];
  if (moment.span) parts.push(`from=${moment.span.from_s}`, `to=${moment.span.to_s}`);
  if (moment.run) parts.push(`run=${moment.run}`);
  if (moment.beside !== null) parts.push(`beside=${moment.beside}`);
  if (moment.port !== null) parts.push(`port=${moment.port}`);
  if (moment.flow !== null) parts.push(`flow=${moment.flow}`);
  return `#${parts.join("&")}`;
}

/** What an address says; what it says wrongly is left out. */
export function readHash(hash: string): Partial<Moment> {
  const said = new URLSearchParams(hash.replace(/^#/, ""));
  const found: Partial<Moment> = {};
  const time = (name: string) => Number.parseFloat(said.get(name) ?? "");
  if (Number.isFinite(time("t"))) found.time_s = time("t");
  const [from_s, to_s] = [time("from"), time("to")];
  if (Number.isFinite(from_s) && Number.isFinite(to_s) && from_s < to_s) found.span = { from_s, to_s };
  for (const name of ["run", "beside", "port", "flow"] as const) {
    const value = said.get(name);
    if (value !== null && /^\d+$/.test(value)) found[name] = Number(value);
  }
  const metric = METRICS.find((one) => one === said.get("m"));
  if (metric) found.metric = metric;
  return found;
}
