/** Draws paused ports: strokes across their halves of lines with a sign, and the ring of a deadlock as arrows. */

import { along, head, piece, type Placed } from "./draw";
import { INKS } from "./palette";
import type { Pen } from "./pen";

/** Pixels between strokes, half of a stroke, and the size of the sign. */
const [APART, HALF, SIGN] = [9, 4.5, 7];
/** More lines in sight than these have thin strokes and no sign. */
const CROWDED = 400;
/** Part of a line at which the sign stands. */
const AT = 0.28;

/** Strokes across the half of a line near its beginning, away from the node there and from the sign. */
function strokes(placed: Placed, line: number, half: number, signed: boolean): number[] {
  const [[x0, y0], [x1, y1]] = [along(placed, line, 0), along(placed, line, 1)];
  const long = Math.hypot(x1 - x0, y1 - y0) / 2;
  // the node at the beginning has some pixels
  const clear = long > 24 ? 10 : 0;
  const count = Math.max(1, Math.floor((long - clear) / APART));
  return Array.from({ length: count }, (_, i) => {
    const part = (clear + ((i + 0.5) / count) * (long - clear)) / long / 2;
    if (!long || (signed && Math.abs(part - AT) * 2 * long < SIGN + 3)) return [];
    const [[x, y], [ax, ay], [bx, by]] = [along(placed, line, part), along(placed, line, part - 0.01),
      along(placed, line, part + 0.01)];
    const [dx, dy] = [bx - ax, by - ay];
    const step = half / Math.hypot(dx, dy);
    return [x + dy * step, y - dx * step, x - dy * step, y + dx * step];
  }).flat();
}

/** Lines in sight, from frame to frame. */
const seen = new WeakMap<Placed, Set<number>>();

/** Lines of ports: each once, those in sight. */
function linesOf(placed: Placed, ports: number[]): number[] {
  let inSight = seen.get(placed);
  if (!inSight) seen.set(placed, inSight = new Set(placed.inSight));
  return [...new Set(ports.map((port) => placed.picture.lineOf[port]!))].filter((line) => inSight.has(line));
}

/** Paused ports: strokes across the port's half of its line, and the sign of a pause where there is room. */
export function drawPaused(pen: Pen, placed: Placed, ports: number[], dark: boolean): void {
  const { paused, ground } = INKS[dark ? "dark" : "light"];
  const lines = linesOf(placed, ports);
  if (!lines.length) return;
  const crowded = placed.inSight.length > CROWDED;
  const signs = new Map<number, [number, number]>();
  for (const line of crowded ? [] : lines) {
    const [x, y] = along(placed, line, AT);
    const isFree = [...signs.values()].every(([other, own]) => Math.hypot(x - other, y - own) > 2 * SIGN + 3);
    if (isFree) signs.set(line, [x, y]);
  }
  const across = lines.flatMap((line) => strokes(placed, line, crowded ? 2.5 : HALF, signs.has(line)));
  if (crowded) {
    // short strokes alone would not tell whose they are
    const halves: number[] = [];
    for (const line of lines) piece(placed, line, 0.5, halves);
    pen.lines(halves, paused, 1);
  }
  pen.lines(across, paused, crowded ? 1 : 1.8);
  for (const [x, y] of signs.values()) {
    pen.dot(x, y, SIGN + 1.5, ground);
    pen.dot(x, y, SIGN, paused);
    pen.lines([x - 2.2, y - 3.4, x - 2.2, y + 3.4, x + 2.2, y - 3.4, x + 2.2, y + 3.4], ground, 2);
  }
}

/** A ring of ports that wait for one another: each line as an arrow to the next. */
export function drawRing(pen: Pen, placed: Placed, ring: number[], dark: boolean): void {
  const { dead, ground } = INKS[dark ? "dark" : "light"];
  const ends: number[] = [];
  const lines = linesOf(placed, ring);
  if (!lines.length) return;
  for (const line of lines) piece(placed, line, 1, ends);
  const heads = lines.flatMap((line) => head(placed, line));
  pen.lines(ends, ground, 6);
  pen.lines(ends, dead, 3);
  pen.arrows(heads, 8, ground);
  pen.arrows(heads, 6, dead);
}
