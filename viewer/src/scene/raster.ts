/** The heat map as steps of a scale: a row a port, a column a frame; where several share a cell the largest counts. */

import type { Pair } from "../data/pair";
import type { Metric, Run } from "../data/run";

export interface Window {
  /** Frames and rows that are seen, the ends not included. */
  frame0: number;
  frame1: number;
  row0: number;
  row1: number;
}

export interface Raster extends Window {
  width: number;
  height: number;
  steps: Uint8Array;
}

export const MOST_COLUMNS = 2048;
export const MOST_ROWS = 4096;
const LEAST_ROWS = 8;

/** What has figures of ports in frames: a run, or two and their difference. */
export type Source = Pick<Run | Pair, "each">;

/** Values of the cells of a window, of those that share a cell the largest either way. */
export function pooled(
  source: Source, metric: Metric, rowOf: Uint32Array, seen: Window, width: number, height: number,
): Float64Array {
  const cells = new Float64Array(width * height);
  const { frame0, row0 } = seen;
  const [across, down] = [width / (seen.frame1 - frame0), height / (seen.row1 - row0)];
  // where each port's cells begin; past the end for one out of sight
  const begins = Uint32Array.from(rowOf, (row) => (
    row < row0 || row >= seen.row1 ? cells.length : Math.floor((row - row0) * down) * width));
  source.each(metric, frame0, seen.frame1, (port, frame, value) => {
    const cell = begins[port]! + Math.floor((frame - frame0) * across);
    if (cell < cells.length && Math.abs(value) > Math.abs(cells[cell]!)) cells[cell] = value;
  });
  return cells;
}

/** How many columns and rows a raster has at most. */
export type Most = [number, number];

/** A window of it as steps of a scale. */
export function raster(
  source: Source, metric: Metric, rowOf: Uint32Array, seen: Window, toStep: (value: number) => number,
  [columns, rows]: Most = [MOST_COLUMNS, MOST_ROWS],
): Raster {
  const width = Math.max(1, Math.min(columns, seen.frame1 - seen.frame0));
  const height = Math.max(1, Math.min(rows, seen.row1 - seen.row0));
  const cells = pooled(source, metric, rowOf, seen, width, height);
  const steps = new Uint8Array(cells.length);
  const nothing = toStep(0);
  for (let i = 0; i < cells.length; i++) steps[i] = cells[i] === 0 ? nothing : toStep(cells[i]!);
  return { ...seen, width, height, steps };
}

/** The largest figure of a port, either way, and its frame. */
export interface Peak {
  port: number;
  frame: number;
  value: number;
}

/** Peaks of ports in frames, the last not included, the largest first; ports with nothing have none. */
export function peaksOf(source: Source, metric: Metric, ports: Set<number>, frames: [number, number]): Peak[] {
  const found = new Map<number, Peak>();
  source.each(metric, ...frames, (port, frame, value) => {
    if (!value || !ports.has(port)) return;
    const own = found.get(port);
    if (!own) found.set(port, { port, frame, value });
    else if (Math.abs(value) > Math.abs(own.value)) [own.frame, own.value] = [frame, value];
  });
  return [...found.values()].sort((a, b) => Math.abs(b.value) - Math.abs(a.value) || a.port - b.port);
}

/** How many rows are seen first: those of ports with something, the first ones, unless they are most of all. */
export function rowsOfSome(worst: Float64Array | null, ports: number): number {
  const some = worst?.reduce((count, own) => count + (own > 0 ? 1 : 0), 0) ?? ports;
  return some === 0 || some > 0.8 * ports ? ports : Math.min(ports, Math.max(LEAST_ROWS, some));
}

/** In which row each port stands. */
export function rowsOf(order: Uint32Array): Uint32Array {
  const rows = new Uint32Array(order.length);
  order.forEach((port, row) => { rows[port] = row; });
  return rows;
}

/** The order of ports as the fabric has it, or those first that have most of what is given, equal ones by number. */
export function portOrder(run: Run, nodes: number[], worst: Float64Array | null): Uint32Array {
  const rank = new Uint32Array(nodes.length);
  nodes.forEach((node, i) => { rank[node] = i; });
  const { ports } = run.timeline;
  const order = Uint32Array.from(ports, (_, port) => port);
  if (worst) return order.sort((a, b) => worst[b]! - worst[a]! || a - b);
  const placed = (a: number, b: number) =>
    rank[ports[a]!.from]! - rank[ports[b]!.from]! || rank[ports[a]!.to]! - rank[ports[b]!.to]! || a - b;
  return order.sort(placed);
}
