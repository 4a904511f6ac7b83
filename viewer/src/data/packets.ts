/** Packets of traced flows, from where their transport sends them to where they end. */

import type { Run } from "./run";
import { text } from "./unpack";

export const ENDS = ["received", "dropped", "lost", "under way"] as const;

export interface Packet {
  sent_s: number;
  /** When it ends; NaN of one under way at the end of the run. */
  end_s: number;
  end: (typeof ENDS)[number];
  /** Whether the receiver of the flow sends it. */
  back: boolean;
  /** Ports that have sent it on. */
  hops: number;
  /** The port that dropped or lost it; empty where none has. */
  place: string;
  /** The port that marked it, and when. */
  marked: string;
  mark_s: number;
  seq: number;
  ack: number;
  payload_bytes: number;
  flags: string;
  /** Bytes of it have been sent before. */
  again: boolean;
}

/** The packets of a flow in the order in which they were sent; none of a flow that is not traced. */
export function packetsOf(run: Run, flow: number): Packet[] {
  const columns = run.tables.packets;
  if (!columns) return [];
  const flows = columns.values("flow");
  const number = (name: string, row: number) => columns.get(name)?.values[row] ?? NaN;
  const found: Packet[] = [];
  // how far either end has sent
  const sent = [0, 0];
  const [place, marked, flags] = [columns.get("place"), columns.get("marked"), columns.get("flags")];
  for (let row = flows.indexOf(flow as never); row >= 0 && row < flows.length && flows[row] === flow; row++) {
    const [side, seq, payload_bytes] = [number("back", row), number("seq", row), number("payload_bytes", row)];
    found.push({
      sent_s: number("sent_s", row), end_s: number("end_s", row), end: ENDS[number("end", row)] ?? "under way",
      back: side === 1, hops: number("hops", row), place: text(place, row), marked: text(marked, row),
      mark_s: number("mark_s", row), seq, ack: number("ack", row), payload_bytes, flags: text(flags, row),
      again: payload_bytes > 0 && seq < sent[side]!,
    });
    const goes = isNumbered(found.at(-1)!) ? 1 : payload_bytes;
    if (payload_bytes > 0) sent[side] = Math.max(sent[side]!, seq + goes);
  }
  return found;
}

/** Whether its data goes by numbers of packets, as that of transports that receivers drive, and not by bytes. */
export function isNumbered({ flags }: Packet): boolean {
  return flags.split("|").includes("NUMBERED");
}

/** What a packet is, in a word. */
export function kindOf({ payload_bytes, flags, again }: Packet): "data" | "data again" | "ACK" | "no data" {
  if (payload_bytes > 0) return again ? "data again" : "data";
  return flags.split("|").includes("ACK") ? "ACK" : "no data";
}

export interface Marks {
  losses_s: number[];
  marks_s: number[];
}

/** When packets of a flow were dropped or lost, and when they were marked; null of a flow that is not traced. */
export function marksOf(packets: Packet[]): Marks | null {
  if (!packets.length) return null;
  return {
    losses_s: packets.filter(({ end }) => end === "dropped" || end === "lost").map(({ end_s }) => end_s),
    marks_s: packets.filter(({ marked }) => marked !== "").map(({ mark_s }) => mark_s),
  };
}
