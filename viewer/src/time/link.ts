/** A moment as the part of an address after #, so that it can be sent. */

import type { Pin } from "../data/need";
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
  /** Ports and flows that are plotted together. */
  pins: Pin[];
  /** What a person has noted at moments, in their order. */
  notes: Note[];
  /** The tab of the details that a person has chosen. */
  tab: Tab | null;
}

/** Tabs of the details. */
export const TABS = ["flow", "packets", "port", "range", "plot", "flows", "totals", "pauses", "ranks",
  "collectives"] as const;
export type Tab = (typeof TABS)[number];

export interface Note {
  time_s: number;
  text: string;
}

/** Most that are plotted together: so many curves tell apart. */
export const MOST_PINS = 8;
/** Most notes, and letters of one: an address has its length. */
export const MOST_NOTES = 12;
export const MOST_LETTERS = 80;

export function written(moment: Moment): string {
  const parts = [`t=${moment.time_s}`, `m=${moment.metric}`];
  if (moment.span) parts.push(`from=${moment.span.from_s}`, `to=${moment.span.to_s}`);
  if (moment.run) parts.push(`run=${moment.run}`);
  if (moment.beside !== null) parts.push(`beside=${moment.beside}`);
  if (moment.port !== null) parts.push(`port=${moment.port}`);
  if (moment.flow !== null) parts.push(`flow=${moment.flow}`);
  if (moment.pins.length) parts.push(`pins=${moment.pins.map(({ what, at }) => `${what[0]!}${at}`).join(".")}`);
  if (moment.tab) parts.push(`tab=${moment.tab}`);
  for (const { time_s, text } of moment.notes) parts.push(`note=${encodeURIComponent(`${time_s}~${text}`)}`);
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
  const pins = pinsOf(said.get("pins") ?? "");
  if (pins.length) found.pins = pins;
  const notes = said.getAll("note").flatMap((own) => noteOf(own) ?? []);
  if (notes.length) found.notes = inOrder(notes);
  const tab = TABS.find((one) => one === said.get("tab"));
  if (tab) found.tab = tab;
  const metric = METRICS.find((one) => one === said.get("m"));
  if (metric) found.metric = metric;
  return found;
}

/** Ports and flows that are written as p7.f3; others are left out. */
function pinsOf(words: string): Pin[] {
  const found = new Map<string, Pin>();
  for (const word of words.split(".").slice(0, 4 * MOST_PINS)) {
    const [, what, at] = /^([pf])(\d{1,9})$/.exec(word) ?? [];
    if (what) found.set(word, { what: what === "p" ? "port" : "flow", at: Number(at) });
  }
  return [...found.values()].slice(0, MOST_PINS);
}

function noteOf(words: string): Note | null {
  const cut = words.indexOf("~");
  const time_s = Number(words.slice(0, Math.max(0, cut)) || NaN);
  const text = words.slice(cut + 1).replace(/\s+/g, " ").trim().slice(0, MOST_LETTERS);
  return Number.isFinite(time_s) && text ? { time_s, text } : null;
}

/** Notes in the order of their times, as many as an address has. */
export function inOrder(notes: Note[]): Note[] {
  return [...notes].sort((a, b) => a.time_s - b.time_s).slice(0, MOST_NOTES);
}
