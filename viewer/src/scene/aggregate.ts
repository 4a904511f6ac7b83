/**
 * What is drawn at a distance: racks or pods in place of nodes too close to tell apart, and one line in place of all
 * ports between two of these. Zooming in takes them apart, tier by tier.
 */

import type { Node, Timeline } from "../data/run";
import type { Layout } from "./layout";

/** How coarse a tier is drawn: each node, those with the same neighbours above, whole pods. */
export type Coarseness = 0 | 1 | 2;

export interface Group {
  tier: number;
  /** Where its middle stands, as in the layout. */
  x: number;
  y: number;
  nodes: number[];
  /** What it is called: its node's name, or what it stands for. */
  name: string;
  /** The same in few signs. */
  brief: string;
}

export interface Line {
  from: number;
  to: number;
  /** The ports that it stands for. */
  ports: number[];
}

/** The fabric as it is drawn at some coarseness. */
export interface Picture {
  groups: Group[];
  lines: Line[];
  /** The line of each port. */
  lineOf: Uint32Array;
  /** How many groups each tier has. */
  perTier: number[];
}

/** Pixels between neighbours of a tier, below which it is drawn more coarsely. */
export const LEAST_APART = 4;
/** Groups of a tier without pods at a distance. */
const MOST_CHUNKS = 32;

export class Aggregates {
  /** Of each coarseness and node its group's number. */
  private readonly of: [Uint32Array, Uint32Array, Uint32Array];
  /** Of each tier and coarseness how many groups there are. */
  private readonly counts: [number, number, number][];
  private readonly made = new Map<string, Picture>();

  constructor(private readonly timeline: Timeline, private readonly layout: Layout) {
    const { nodes, ports } = timeline;
    const above = nodes.map((): number[] => []);
    const below = nodes.map((): number[] => []);
    const apart = new Set<number>();
    for (const { from, to } of ports) {
      const [one, two] = [nodes[from]!.tier, nodes[to]!.tier];
      if (one === two) apart.add(one);
      (two > one ? above : below)[from]!.push(to);
    }
    const single = Uint32Array.from(nodes, (_, i) => i);
    const placed = nodes.some((node) => typeof node.x === "number");
    // links within a tier would be hidden by its groups, and stations stand where they are
    const alone = (node: Node) => placed || apart.has(node.tier);
    const named = (key: (node: Node, i: number) => string) => {
      const numbers = new Map<string, number>();
      const groups = new Uint32Array(nodes.length);
      for (const i of layout.order) {
        const node = nodes[i]!;
        const name = `${node.tier}/${alone(node) ? `node ${i}` : key(node, i)}`;
        if (!numbers.has(name)) numbers.set(name, numbers.size);
        groups[i] = numbers.get(name)!;
      }
      return groups;
    };
    const racks = named((node, i) => {
      const around = above[i]!.length ? above[i]! : below[i]!;
      return `${node.pod ?? ""}/${[...around].sort((a, b) => a - b).join(",")}`;
    });
    const chunks = this.chunks(racks);
    const pods = named((node, i) => (node.pod === null ? `chunk ${chunks[i]!}` : `pod ${node.pod}`));
    this.of = [single, racks, pods];
    this.counts = Array.from({ length: layout.tiers }, (_, tier) => this.of.map((groups) => (
      new Set(nodes.flatMap((node, i) => (node.tier === tier ? [groups[i]!] : []))).size)) as [number, number, number]);
  }

  /** Racks of a tier, so many neighbouring ones together that few are left. */
  private chunks(racks: Uint32Array): Uint32Array {
    const { nodes } = this.timeline;
    const chunks = new Uint32Array(nodes.length);
    for (let tier = 0; tier < this.layout.tiers; tier++) {
      const own = this.layout.order.filter((i) => nodes[i]!.tier === tier);
      const rank = new Map([...new Set(own.map((i) => racks[i]!))].map((rack, place) => [rack, place]));
      const size = Math.ceil(rank.size / MOST_CHUNKS);
      for (const i of own) chunks[i] = Math.floor(rank.get(racks[i]!)! / size);
    }
    return chunks;
  }

  /** How coarsely each tier is drawn where all of it takes so many pixels. */
  coarseness(width: number): Coarseness[] {
    return this.counts.map((counts) => {
      const fits = counts.findIndex((count) => width / count >= LEAST_APART);
      return (fits < 0 ? 2 : fits) as Coarseness;
    });
  }

  /** The fabric at a coarseness of its tiers. */
  picture(coarseness: Coarseness[]): Picture {
    const key = coarseness.join();
    let found = this.made.get(key);
    if (!found) {
      found = this.make(coarseness);
      // a few are kept: a person zooms in and out
      if (this.made.size > 4) this.made.clear();
      this.made.set(key, found);
    }
    return found;
  }

  private make(coarseness: Coarseness[]): Picture {
    const { nodes, ports } = this.timeline;
    const groups: Group[] = [];
    const numbers = new Map<string, number>();
    const groupOf = new Uint32Array(nodes.length);
    for (const i of this.layout.order) {
      const { tier } = nodes[i]!;
      const how = coarseness[tier] ?? 0;
      const key = `${tier}/${this.of[how][i]!}`;
      let at = numbers.get(key);
      if (at === undefined) {
        at = groups.push({ tier, x: 0, y: 0, nodes: [], name: "", brief: "" }) - 1;
        numbers.set(key, at);
      }
      groupOf[i] = at;
      const group = groups[at]!;
      group.nodes.push(i);
      group.x += this.layout.x[i]!;
      group.y += this.layout.y[i]!;
    }
    const perTier = Array.from({ length: this.layout.tiers }, () => 0);
    for (const group of groups) {
      group.x /= group.nodes.length;
      group.y /= group.nodes.length;
      perTier[group.tier]!++;
      [group.name, group.brief] = this.called(group.nodes);
    }
    const lines: Line[] = [];
    const lineOf = new Uint32Array(ports.length);
    const between = new Map<number, number>();
    ports.forEach((port, i) => {
      const [from, to] = [groupOf[port.from]!, groupOf[port.to]!];
      const key = from * groups.length + to;
      // of single nodes each port has a line of its own, also where two are between them
      let at = groups[from]!.nodes.length === 1 && groups[to]!.nodes.length === 1 ? undefined : between.get(key);
      if (at === undefined) {
        at = lines.push({ from, to, ports: [] }) - 1;
        between.set(key, at);
      }
      lines[at]!.ports.push(i);
      lineOf[i] = at;
    });
    return { groups, lines, lineOf, perTier };
  }

  private called(own: number[]): [string, string] {
    const { nodes } = this.timeline;
    const [first, last] = [nodes[own[0]!]!, nodes[own.at(-1)!]!];
    if (own.length === 1) return [first.name, first.name];
    const count = `${own.length.toLocaleString("en-US")} ${first.kind === "switch" ? "switches" : `${first.kind}s`}`;
    return [`${count} ${first.name} to ${last.name}`, `×${own.length}`];
  }
}

/** A metric's largest value of the ports of each line, from those of ports. */
export function largestOf(picture: Picture, values: Float64Array, into: Float64Array): void {
  into.fill(0);
  const { lineOf } = picture;
  for (let port = 0; port < values.length; port++) {
    const line = lineOf[port]!;
    if (values[port]! > into[line]!) into[line] = values[port]!;
  }
}
