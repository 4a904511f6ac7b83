/** Where nodes stand: tiers as rows with the hosts below, pods beside one another; nodes with a place stand there. */

import type { Node } from "../data/run";

export interface Layout {
  /** Places in a square of 0 to 1. */
  x: Float64Array;
  y: Float64Array;
  /** Nodes in the order in which they stand, tier by tier: the order of rows of the heat map. */
  order: number[];
  tiers: number;
  /** Where pods have their boxes, where there are several. */
  pods: { pod: number; left: number; right: number; top: number; bottom: number }[];
}

const natural = new Intl.Collator("en", { numeric: true });

const made = new WeakMap<Node[], Layout>();

interface Network {
  nodes: Node[];
  ports: { from: number; to: number }[];
}

/** Where nodes stand; what is made of a list of nodes is kept. */
export function layout({ nodes, ports }: Network): Layout {
  let found = made.get(nodes);
  if (!found) made.set(nodes, found = laidOut(nodes, ports));
  return found;
}

/** The places of nodes in the order of their names, those of nodes without a pod in the order of what is above them. */
function ranks(nodes: Node[], ports: Network["ports"]): Float64Array {
  const rank = new Float64Array(nodes.length);
  nodes.map((_, i) => i).sort((a, b) => natural.compare(nodes[a]!.name, nodes[b]!.name) || a - b)
    .forEach((i, place) => { rank[i] = place; });
  const above = new Float64Array(nodes.length).fill(Infinity);
  for (const { from, to } of ports) {
    if (nodes[from]!.pod === null && nodes[to]!.tier > nodes[from]!.tier) {
      above[from] = Math.min(above[from]!, rank[to]!);
    }
  }
  return rank.map((own, i) => (Number.isFinite(above[i]!) ? above[i]! * nodes.length : 0) + own);
}

function laidOut(nodes: Node[], ports: Network["ports"]): Layout {
  const x = new Float64Array(nodes.length);
  const y = new Float64Array(nodes.length);
  const tiers = Math.max(0, ...nodes.map((node) => node.tier)) + 1;
  const pod = (node: Node) => node.pod ?? -1;
  const rank = ranks(nodes, ports);
  const order = nodes.map((_, i) => i).sort((a, b) => {
    const [one, two] = [nodes[a]!, nodes[b]!];
    return one.tier - two.tier || pod(one) - pod(two) || rank[a]! - rank[b]!;
  });
  const pods = [...new Set(nodes.map(pod).filter((own) => own >= 0))].sort((a, b) => a - b);
  const column = new Map(pods.map((own, i) => [own, i]));
  const groups = new Map<string, number[]>();
  for (const i of order) {
    const key = `${nodes[i]!.tier}/${pod(nodes[i]!)}`;
    const group = groups.get(key);
    if (group) group.push(i);
    else groups.set(key, [i]);
  }
  const part = (own: number): [number, number] => (
    own < 0 ? [0, 1] : [(column.get(own)! + 0.04) / pods.length, 0.92 / pods.length]);
  for (const group of groups.values()) {
    const [left, width] = part(pod(nodes[group[0]!]!));
    group.forEach((i, k) => {
      x[i] = left + (width * (k + 0.5)) / group.length;
      y[i] = tiers === 1 ? 0.5 : 1 - nodes[i]!.tier / (tiers - 1);
    });
  }
  const boxes = pods.length < 2 || nodes.some((node) => typeof node.x === "number") ? [] : pods.map((own) => {
    const heights = nodes.flatMap((node, i) => (node.pod === own ? [y[i]!] : []));
    const at = column.get(own)!;
    return { pod: own, left: (at + 0.015) / pods.length, right: (at + 0.985) / pods.length,
      top: Math.min(...heights), bottom: Math.max(...heights) };
  });
  placed(nodes, ports, part, x, y);
  return { x, y, order, tiers, pods: boxes };
}

/** Part of the height that is left above a plane for its channel. */
const ABOVE = 0.18;

/**
 * Stations of a radio cell stand on the plane of their cell, below its channel. Each cell has coordinates of its own:
 * cells stand beside one another, in one scale. A gateway is of the cell whose channel it is linked to.
 */
function placed(
  nodes: Node[], ports: Network["ports"], part: (pod: number) => [number, number], x: Float64Array, y: Float64Array,
): void {
  const cellOf = nodes.map((node) => node.pod ?? -1);
  for (const { from, to } of ports) {
    if (nodes[from]!.pod === null && nodes[to]!.kind === "channel") cellOf[from] = nodes[to]!.pod ?? -1;
  }
  const cells = new Map<number, number[]>();
  nodes.forEach((node, i) => {
    if (typeof node.x === "number" && typeof node.y === "number") {
      cells.set(cellOf[i]!, [...(cells.get(cellOf[i]!) ?? []), i]);
    }
  });
  const edges = (own: number[]) => {
    const [xs, ys] = [own.map((i) => nodes[i]!.x!), own.map((i) => nodes[i]!.y!)];
    const [left, top] = [Math.min(...xs), Math.min(...ys)];
    return { left, top, span: Math.max(Math.max(...xs) - left, Math.max(...ys) - top) };
  };
  const span = Math.max(0, ...[...cells.values()].map((own) => edges(own).span)) || 1;
  for (const [cell, own] of cells) {
    const [from, width] = part(cell);
    const { left, top } = edges(own);
    for (const i of own) {
      x[i] = from + width * (0.02 + (0.96 * (nodes[i]!.x! - left)) / span);
      y[i] = ABOVE + ((0.98 - ABOVE) * (nodes[i]!.y! - top)) / span;
    }
  }
  nodes.forEach(({ kind }, i) => {
    if (kind !== "channel") return;
    const [from, width] = part(cellOf[i]!);
    [x[i], y[i]] = [from + width / 2, 0];
  });
}
