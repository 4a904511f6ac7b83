/** Draws a fabric with a pen, in layers: what does not change from frame to frame is drawn once. */

import type { Metric, Run } from "../data/run";
import { largestOf, type Picture } from "./aggregate";
import type { Layout } from "./layout";
import { css, INKS, scale, step } from "./palette";
import type { Pen } from "./pen";
import { groundOf } from "./size";
import type { Tier } from "./tiers";

/** A picture as it lies on the page. */
export interface Placed {
  picture: Picture;
  /** The middles of groups, in pixels. */
  x: Float64Array;
  y: Float64Array;
  /** Pixels by which the middle of a line lies below its ends: a line along a row would hide behind what is there. */
  bend: Float64Array;
  /** Lines of which something is in sight. */
  inSight: Uint32Array;
  width: number;
  height: number;
  /** Pixels that a tier takes, in sight or not. */
  across: number;
  /** Where a place of the layout lies. */
  at: (x: number, y: number) => [number, number];
}

export interface Colours {
  dark: boolean;
  metric: Metric;
  /** The end of the scale. */
  largest: number;
}

/** More lines than these are drawn thin. */
const MANY = 2000;
const SOME = 400;
const FEW = 48;

export function place(
  picture: Picture, at: (x: number, y: number) => [number, number], width: number, height: number, across: number,
): Placed {
  const { groups, lines } = picture;
  const x = new Float64Array(groups.length);
  const y = new Float64Array(groups.length);
  groups.forEach((group, i) => { [x[i], y[i]] = at(group.x, group.y) as [number, number]; });
  const bend = bends(picture, x, y, height);
  const inSight: number[] = [];
  lines.forEach(({ from, to }, i) => {
    // the half of a line near its beginning
    const [x0, y0] = [x[from]!, y[from]!];
    const [x1, y1] = [(x0 + x[to]!) / 2, (y0 + y[to]!) / 2];
    if (Math.max(x0, x1) < 0 || Math.min(x0, x1) > width || Math.max(y0, y1) < 0 || Math.min(y0, y1) > height) return;
    inSight.push(i);
  });
  return { picture, x, y, bend, inSight: Uint32Array.from(inSight), width, height, across, at };
}

/** Most pixels of a bend, and its part of the length. */
const [DEEP, STEEP] = [64, 0.16];

/** Bends of lines between nodes of one row that have others between them; towards the middle of the page. */
function bends({ groups, lines }: Picture, x: Float64Array, y: Float64Array, height: number): Float64Array {
  const rows = new Map<number, number[]>();
  groups.forEach((_, i) => {
    const row = rows.get(Math.round(y[i]!));
    if (row) row.push(x[i]!);
    else rows.set(Math.round(y[i]!), [x[i]!]);
  });
  return Float64Array.from(lines, ({ from, to }) => {
    if (Math.round(y[from]!) !== Math.round(y[to]!)) return 0;
    const [left, right] = [Math.min(x[from]!, x[to]!) + 1, Math.max(x[from]!, x[to]!) - 1];
    if (!rows.get(Math.round(y[from]!))!.some((one) => one > left && one < right)) return 0;
    return Math.min(DEEP, STEEP * (right - left)) * (y[from]! < height / 2 ? 1 : -1);
  });
}

/** Where a line is at a part of its way. */
export function along({ picture, x, y, bend }: Placed, line: number, part: number): [number, number] {
  const { from, to } = picture.lines[line]!;
  const deep = 4 * bend[line]! * part * (1 - part);
  return [x[from]! + part * (x[to]! - x[from]!), y[from]! + part * (y[to]! - y[from]!) + deep];
}

/** Straight pieces of a bent line. */
const PIECES = 12;

/** Puts a line up to a part of its way into a list of ends. */
export function piece(placed: Placed, line: number, part: number, into: number[]): void {
  const pieces = placed.bend[line] ? PIECES : 1;
  for (let i = 0; i < pieces; i++) {
    into.push(...along(placed, line, (part * i) / pieces), ...along(placed, line, (part * (i + 1)) / pieces));
  }
}

/** Puts the half of a line near its beginning into a list of ends. */
function half(placed: Placed, line: number, into: number[]): void {
  const { picture, x, y, bend } = placed;
  const { from, to } = picture.lines[line]!;
  if (bend[line]) piece(placed, line, 0.5, into);
  else into.push(x[from]!, y[from]!, (x[from]! + x[to]!) / 2, (y[from]! + y[to]!) / 2);
}

/** Where a port's half of a line has its middle; null where that is out of sight. */
export function middleOf(placed: Placed, port: number): [number, number] | null {
  const { picture, width, height } = placed;
  const line = picture.lineOf[port] ?? -1;
  if (!picture.lines[line]) return null;
  const at = along(placed, line, 0.25);
  return at[0] >= 0 && at[0] <= width && at[1] >= 0 && at[1] <= height ? at : null;
}

/** Pods as boxes with their names, where these have room. */
export function drawPods(pen: Pen, placed: Placed, pods: Layout["pods"], dark: boolean, letters: number): void {
  const { pod: fill, grid, soft } = INKS[dark ? "dark" : "light"];
  for (const { pod, left, right, top, bottom } of pods) {
    const [[x0, y0], [x1, y1]] = [placed.at(left, top), placed.at(right, bottom)];
    if (x1 < 0 || x0 > placed.width) continue;
    pen.field(x0, y0 - 20, x1 - x0, y1 - y0 + 44, fill, grid);
    const words = [`pod ${pod}`, String(pod)].find((one) => pen.width(one) < x1 - x0 - 4);
    if (words) pen.text((x0 + x1) / 2, y1 + 24 + letters, words, soft, fill);
  }
}

/** Names of tiers at the left edge, each with its number of nodes. */
export function drawTiers(pen: Pen, placed: Placed, tiers: Tier[], dark: boolean, letters: number): void {
  const { ink, soft, ground } = INKS[dark ? "dark" : "light"];
  for (const { name, count, y } of tiers) {
    const [, at] = placed.at(0, y);
    if (at < 0 || at > placed.height) continue;
    pen.text(8, at - 1, name, ink, ground, "start");
    pen.text(8, at + letters + 1, count, soft, ground, "start");
  }
}

/** Lines in which nothing is; `skip` leaves some out. */
export function drawIdle(pen: Pen, placed: Placed, dark: boolean, skip: (line: number) => boolean = () => false): void {
  const ends: number[] = [];
  for (const line of placed.inSight) if (!skip(line)) half(placed, line, ends);
  const { length } = placed.inSight;
  const wide = length > MANY ? 0.5 : length > SOME ? 0.8 : length > FEW ? 1 : 1.5;
  pen.lines(ends, INKS[dark ? "dark" : "light"].idle, wide);
}

/** Values of lines in a frame. */
export function valuesOf(run: Run, placed: Placed, metric: Metric, frame: number, ports: Float64Array): Float64Array {
  const values = new Float64Array(placed.picture.lines.length);
  run.frameInto(metric, frame, ports);
  largestOf(placed.picture, ports, values);
  return values;
}

/** Lines with a figure in their colours, the path of a flow as one line with arrows, and the pinned port. */
export function drawBusy(
  pen: Pen, placed: Placed, values: Float64Array, colours: Colours, path: number[], pinned: number | null,
): void {
  const { lineOf } = placed.picture;
  const inks = INKS[colours.dark ? "dark" : "light"];
  const onPath = [...new Set(path.map((port) => lineOf[port]!))];
  const lit = onPath.flatMap((line) => whole(placed, line));
  if (lit.length) pen.lines(lit, inks.glow, onPath.length > SPRAYED ? 5 : 10);
  const [thin, some] = [placed.inSight.length > MANY, placed.inSight.length > SOME];
  const steps = Array.from({ length: 256 }, (): number[] | null => null);
  const edges: number[] = [];
  for (const line of placed.inSight) {
    const at = step(values[line]!, colours.largest);
    if (!at) continue;
    half(placed, line, (steps[at] ??= []));
    // of few lines even the palest has an edge, and does not seem to break
    if (!some) half(placed, line, edges);
  }
  const shades = scale(groundOf(colours.dark));
  if (edges.length) pen.lines(edges, inks.edge, 3);
  steps.forEach((ends, at) => {
    if (!ends) return;
    const part = at / 255;
    pen.lines(ends, css(shades, at), thin ? 0.4 + 1.8 * part : some ? 0.7 + 2.6 * part : 1.6 + 4.4 * part);
  });
  if (lit.length) {
    pen.lines(lit, inks.lit, onPath.length > SPRAYED ? 1 : 2);
    pen.arrows(onPath.flatMap((line) => head(placed, line)), onPath.length > SPRAYED ? 3 : 4.5, inks.lit);
  }
  if (pinned !== null && pinned < lineOf.length) {
    const ends: number[] = [];
    const line = lineOf[pinned]!;
    half(placed, line, ends);
    const at = step(values[line]!, colours.largest);
    // with an edge on both sides of its colour
    pen.lines(ends, inks.lit, 9);
    pen.lines(ends, at ? css(shades, at) : inks.ground, 5);
  }
}

/** Lines of one path; those of a sprayed flow are more, and thinner. */
const SPRAYED = 12;

/** A line with both of its halves. */
function whole(placed: Placed, line: number): number[] {
  const ends: number[] = [];
  piece(placed, line, 1, ends);
  return ends;
}

/** The head of an arrow on a line: its tip and its direction; none on a short one. */
export function head(placed: Placed, line: number): number[] {
  const [[x0, y0], [x1, y1]] = [along(placed, line, 0), along(placed, line, 1)];
  if (Math.hypot(x1 - x0, y1 - y0) < 22) return [];
  const [tip, back] = [along(placed, line, 0.64), along(placed, line, 0.6)];
  return [...tip, Math.atan2(tip[1] - back[1], tip[0] - back[0])];
}

/** More stations than these are not looked at one by one. */
const STATIONS = 500;

/** The pixels that stations on a plane have for their names, up to the nearest other one in their row; null without. */
function roomAlone({ picture: { groups }, x, y }: Placed, nodes: Run["timeline"]["nodes"]): number[] | null {
  if (groups.length > STATIONS || !nodes.some((node) => typeof node.x === "number")) return null;
  return groups.map((_, i) => groups.reduce((least, __, k) => (
    k === i || Math.abs(y[k]! - y[i]!) > NAME ? least : Math.min(least, Math.abs(x[k]! - x[i]!))), Infinity));
}

/** Height of a name, with the dot above it. */
const NAME = 24;

/** Nodes with their names, and groups of nodes as boxes behind one another. */
export function drawNodes(
  pen: Pen, placed: Placed, zoom: number, nodes: Run["timeline"]["nodes"], dark: boolean, letters: number,
): void {
  const { picture: { groups, perTier }, x: xs, y: ys, width, height, across } = placed;
  const { ink, ground: edge } = INKS[dark ? "dark" : "light"];
  const ground = `rgb(${groundOf(dark).join()})`;
  const alone = roomAlone(placed, nodes);
  const size = Math.max(1.5, Math.min(5.5, (5 * zoom * width) / (8 * groups.length ** 0.9 + 300)));
  groups.forEach((group, i) => {
    const [x, y] = [xs[i]!, ys[i]!];
    if (x < -20 || x > width + 20 || y < -20 || y > height + 20) return;
    const room = alone?.[i] ?? across / perTier[group.tier]!;
    const { kind, tier } = nodes[group.nodes[0]!]!;
    let own = size;
    if (group.nodes.length > 1) {
      own = Math.max(2, Math.min(8, room / 2 - 2));
      pen.box(x + own / 3, y - own / 3, own, ink);
      pen.box(x, y, own + 1, ground);
      pen.box(x, y, own, ink);
    } else if (kind === "switch") pen.box(x, y, size, ink);
    else pen.dot(x, y, size, ink);
    const words = [group.name, group.brief].find((one) => pen.width(one) < room - letters / 2);
    if (words) pen.text(x, tier === 0 ? y + own + letters + 2 : y - own - 5, words, ink, edge);
  });
}

/** The line in sight whose half near its beginning is nearest to a place, within a reach. */
export function nearest(placed: Placed, x: number, y: number, reach: number): number | null {
  let best = reach;
  let found: number | null = null;
  const ends: number[] = [];
  for (const line of placed.inSight) {
    ends.length = 0;
    half(placed, line, ends);
    for (let i = 0; i < ends.length; i += 4) {
      const [x0, y0] = [ends[i]!, ends[i + 1]!];
      const [dx, dy] = [ends[i + 2]! - x0, ends[i + 3]! - y0];
      const part = Math.min(1, Math.max(0, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1)));
      const away = Math.hypot(x - x0 - part * dx, y - y0 - part * dy);
      if (away < best) [best, found] = [away, line];
    }
  }
  return found;
}
