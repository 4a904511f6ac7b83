/** Lanes of ranks: a bar for what a rank does, and a strip below calculations for overlapped communication. */

import { DOINGS, type Doing, type Lane } from "../data/lanes";
import type { Span } from "../data/stretch";
import { INKS, LANES } from "./palette";

/** A message under way beside a calculation. */
export const OVERLAPPED = "overlapped communication";

/** A rectangle of a lane, across. */
export interface Bar {
  x: number;
  wide: number;
  what: Doing | typeof OVERLAPPED;
}

/** Parts of a row's height: the bar, the line of waiting in its middle, the strip below it. */
const [TOP, BAR, LINE, GAP, STRIP] = [0.12, 0.52, 0.12, 0.06, 0.16];
/** Pixels of the narrowest bar. */
const LEAST = 0.7;

/** Bars of a lane in a stretch of time over so many pixels. What ends at the same pixel as its like is not drawn. */
export function barsOf(lane: Lane, { from_s, to_s }: Span, width: number): Bar[] {
  const scale = width / (to_s - from_s);
  const bars: Bar[] = [];
  const ends = new Map<Bar["what"], number>();
  const put = (what: Bar["what"], own: Span) => {
    const [x0, x1] = [own.from_s, own.to_s].map((at) => Math.min(width, Math.max(0, (at - from_s) * scale)));
    const end = Math.min(width, Math.max(x1!, x0! + LEAST));
    const before = ends.get(what) ?? -1;
    if (end <= before + LEAST / 2) return;
    ends.set(what, end);
    const x = Math.max(x0!, Math.min(before, x1!));
    bars.push({ x, wide: end - x, what });
  };
  for (const own of lane.stretches) {
    if (own.to_s <= from_s || own.from_s >= to_s) continue;
    put(own.doing, own);
    if (own.under && own.doing === DOINGS[0]) put(OVERLAPPED, own);
  }
  return bars;
}

/** Colours of what is drawn. */
export function laneColours(dark: boolean): Record<Bar["what"], string> {
  const { calculation, message, waiting } = LANES[dark ? "dark" : "light"];
  return { calculation, "exposed communication": message, [OVERLAPPED]: message, waiting };
}

/** Draw a lane in a row from `top` on; `left` is where the time begins. */
export function drawLane(
  context: CanvasRenderingContext2D, lane: Lane, seen: Span, dark: boolean,
  { left, top, width, height }: { left: number; top: number; width: number; height: number },
): void {
  const colours = laneColours(dark);
  for (const { x, wide, what } of barsOf(lane, seen, width)) {
    context.fillStyle = colours[what];
    const [down, high] = what === OVERLAPPED ? [TOP + BAR + GAP, STRIP]
      : what === "waiting" ? [TOP + (BAR - LINE) / 2, LINE] : [TOP, BAR];
    context.fillRect(left + x, top + down * height, wide, high * height);
  }
  context.fillStyle = INKS[dark ? "dark" : "light"].most;
  for (const { from_s, to_s } of lane.iterations) {
    for (const at_s of [from_s, to_s]) {
      const x = ((at_s - seen.from_s) / (seen.to_s - seen.from_s)) * width;
      if (x >= 0 && x <= width) context.fillRect(left + x - 0.5, top, 1, height);
    }
  }
}
