/** A ladder of packets: the sender's line above, the receiver's below, time to the right, and a rung a packet. */

import { kindOf, type Packet } from "../data/packets";
import type { Span } from "../data/stretch";

export interface Rung {
  /** The packet's place among those of its flow. */
  at: number;
  x0: number;
  y0: number;
  x1: number;
  y1: number;
  kind: ReturnType<typeof kindOf>;
  /** Where it was marked, if it was. */
  mark: [number, number] | null;
  /** It does not arrive. */
  lost: boolean;
  /** An ACK that tells of a mark. */
  echo: boolean;
}

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** The shortest part of the way that is drawn of a packet which its first port dropped. */
const LEAST = 0.08;

/** Ports on the way from either end: most that a packet has passed. */
function ways(packets: Packet[]): [number, number] {
  const most: [number, number] = [1, 1];
  for (const { back, hops } of packets) most[back ? 1 : 0] = Math.max(most[back ? 1 : 0], hops);
  return most;
}

/**
 * The rungs that a stretch of time shows. Of rungs alike that begin and end at the same pixels one is drawn; those with
 * a mark or a loss all are.
 */
export function ladder(packets: Packet[], { from_s, to_s }: Span, box: Box): Rung[] {
  const scale = (box.right - box.left) / (to_s - from_s);
  const x = (time_s: number) => box.left + (time_s - from_s) * scale;
  const way = ways(packets);
  const drawn = new Set<string>();
  const rungs: Rung[] = [];
  packets.forEach((packet, at) => {
    const { sent_s, back, end, hops, marked } = packet;
    const lost = end === "dropped" || end === "lost";
    const end_s = end === "under way" ? Math.max(to_s, sent_s) : packet.end_s;
    if (sent_s > to_s || end_s < from_s) return;
    const part = end === "received" ? 1 : Math.min(1, Math.max(LEAST, hops / way[back ? 1 : 0]));
    const [from, to] = back ? [box.bottom, box.top] : [box.top, box.bottom];
    const kind = kindOf(packet);
    const [x0, x1, y1] = [x(sent_s), x(end_s), from + (to - from) * part];
    const echo = packet.payload_bytes === 0 && packet.flags.split("|").includes("ECE");
    if (!lost && !marked) {
      const key = `${kind}${back}${echo}/${Math.round(x0)}/${Math.round(x1)}`;
      if (drawn.has(key)) return;
      drawn.add(key);
    }
    const along = marked ? (packet.mark_s - sent_s) / (end_s - sent_s || 1) : 0;
    rungs.push({ at, x0, y0: from, x1, y1, kind, lost, echo,
      mark: marked ? [x0 + (x1 - x0) * along, from + (y1 - from) * along] : null });
  });
  return rungs;
}

/** The rung nearest to a place, within a reach. */
export function rungAt(rungs: Rung[], x: number, y: number, reach: number): Rung | null {
  let best = reach;
  let found: Rung | null = null;
  for (const rung of rungs) {
    const [dx, dy] = [rung.x1 - rung.x0, rung.y1 - rung.y0];
    const along = Math.min(1, Math.max(0, ((x - rung.x0) * dx + (y - rung.y0) * dy) / (dx * dx + dy * dy || 1)));
    const away = Math.hypot(x - rung.x0 - along * dx, y - rung.y0 - along * dy);
    if (away < best) [best, found] = [away, rung];
  }
  return found;
}

/** The next packet after a time or a packet (or before it), of all or of those with a loss or a mark. */
export function nextPacket(packets: Packet[], from: number, step: 1 | -1, special: boolean): number | null {
  for (let at = from + step; at >= 0 && at < packets.length; at += step) {
    const { end, marked } = packets[at]!;
    if (!special || end === "dropped" || end === "lost" || marked) return at;
  }
  return null;
}
