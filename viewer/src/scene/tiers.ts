/** Names of tiers and of pods, where nodes stand in tiers. */

import type { Node } from "../data/run";
import { layout } from "./layout";

export interface Tier {
  name: string;
  /** How many nodes it has, in words. */
  count: string;
  /** Where it stands, as in the layout. */
  y: number;
}

/** What the letters of nodes' names stand for. */
const NAMES: Record<string, string> = {
  h: "Hosts", host: "Hosts", edge: "Edge", e: "Edge", tor: "Top of rack", agg: "Aggregation", a: "Aggregation",
  core: "Core", c: "Core", leaf: "Leaves", spine: "Spines", s: "Senders", r: "Receivers",
};

/** Those that no switch has. */
const ENDS = new Set(["Hosts", "Senders", "Receivers"]);

/** The name of a tier: of hosts their kind, of switches what their names begin with. */
function nameOf(nodes: Node[]): string {
  const kinds = new Set(nodes.map(({ kind }) => kind));
  const letters = new Set(nodes.map(({ name }) => /^[A-Za-z]*/.exec(name)![0].toLowerCase()));
  const [kind] = [...kinds];
  if (kinds.size === 1 && kind === "host") return "Hosts";
  const [own] = [...letters];
  const switches = kinds.size === 1 && kind === "switch";
  // switches that are called s0 send nothing of their own
  if (letters.size === 1 && own && NAMES[own] && !(switches && ENDS.has(NAMES[own]))) return NAMES[own];
  return switches ? "Switches" : "Nodes";
}

const made = new WeakMap<Node[], Tier[]>();

/** The tiers of a network from the hosts on; none where nodes stand on a plane, or all in one row. */
export function tiersOf(network: { nodes: Node[]; ports: { from: number; to: number }[] }): Tier[] {
  const { nodes } = network;
  let found = made.get(nodes);
  if (!found) made.set(nodes, found = tiers(network));
  return found;
}

function tiers(network: { nodes: Node[]; ports: { from: number; to: number }[] }): Tier[] {
  const { nodes } = network;
  const places = layout(network);
  if (places.tiers < 2 || nodes.some(({ x }) => typeof x === "number")) return [];
  return Array.from({ length: places.tiers }, (_, tier) => {
    const own = nodes.filter((node) => node.tier === tier);
    const name = nameOf(own);
    const switches = own.every(({ kind }) => kind === "switch");
    const noun = !switches ? "" : own.length === 1 ? "\u00a0switch" : "\u00a0switches";
    return { name, count: `${own.length.toLocaleString("en-US")}${noun}`, y: 1 - tier / (places.tiers - 1) };
  }).filter(({ count }) => !count.startsWith("0"));
}
