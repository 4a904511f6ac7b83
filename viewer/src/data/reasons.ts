/** Why something was paused, in words, as python/incast/pauses/telling.py says it. */

import { allOf, crosses, LEAST, type Arrivals, type Branch, type Explanation, type Flow } from "./blame";
import { counted, seconds, short, way } from "./format";
import type { Pauses } from "./pauses";
import type { Run } from "./run";

const s = (time_s: number) => short(time_s, "s");
const b = (bytes: number) => short(bytes, "B");

/** Hosts at the ends of a flow, or its ports where names do not tell them. */
function endsOf(run: Run, { path }: Flow): string {
  const { nodes, ports } = run.timeline;
  const [first, last] = [ports[path[0] ?? -1], ports[path.at(-1) ?? -1]];
  return first && last ? `, ${nodes[first.from]!.name} to ${nodes[last.to]!.name}` : "";
}

/** A flow with its entry and its hosts, or a port. */
export function subjectOf(run: Run, { flow, port }: Explanation): string {
  return flow ? `flow ${flow.number} (${flow.entry}${endsOf(run, flow)})` : way(run.names[port!]!);
}

/** What arrives at a port. */
export function arrivalsSaid(arrivals: Arrivals | null): string {
  if (!arrivals?.flows) return "no known flow passes it";
  const who = `${counted(arrivals.flows, "flow")} from ${counted(arrivals.hosts, "host")}`;
  if (arrivals.times === null) return `${who} ${arrivals.flows > 1 ? "meet" : "goes"} there`;
  return `${who}, whose links bring up to ${short(arrivals.times, "", 2)} times its rate`;
}

/** Ports of a ring, one after the other. */
export function ringSaid(run: Run, pauses: Pauses, ring: number[]): string {
  const names = ring.map((port) => way(run.names[port]!));
  const listed = names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)!}` : names[0]!;
  return `Deadlock since ${seconds(sinceOf(pauses, ring))}: ${listed} wait for one another in a ring, and never send `
    + "again.";
}

/** Since when all ports of a ring stand still. */
export const sinceOf = (pauses: Pauses, ring: number[]) => Math.max(...ring.map((port) => pauses.stuck.get(port)!));

/** What follows: who waited how long, and where it began; `when` says of which time, empty of all. */
export function sentenceOf(run: Run, found: Explanation, when: string): string {
  const who = `${found.flow ? "The path of " : "The port "}${subjectOf(run, found)}`;
  const then = when && ` ${when}`;
  if (found.of_s <= 0) return `${who} is not there${then}: it has not begun yet, or is over.`;
  if (found.waited_s <= 0) return `${who} is not paused${then}.`;
  const text = `${who} is paused for ${s(found.waited_s)} of ${s(found.of_s)}${then}`;
  const root = found.roots[0]?.[0];
  if (root === undefined || beginnings(found).rings > 0.5) {
    return `${text}; its ports wait for others that wait for one another in a ring.`;
  }
  const passes = found.flow ? `, which it ${crosses(found) ? "crosses itself" : "does not cross"}` : "";
  return `${text}; the pauses begin at ${way(run.names[root]!)}${passes}: ${arrivalsSaid(found.arrivals)}.`;
}

/** Why a branch below another waited; `moment` is true of a frame alone. */
export function whySaid(branch: Branch, moment = false): string {
  if (branch.isRing) return "a ring: it stands further up in this tree";
  const exceeds = branch.arrivals?.times == null || branch.arrivals.times > 1;
  const own = exceeds ? "congested by its own arrivals" : "busy with its own arrivals";
  if (!branch.pauses) return `not paused itself, ${own}`;
  const after_s = branch.passed_s - branch.paused_s;
  return [branch.paused_s > 0 ? pausedSaid(branch, branch.paused_s, moment) : "",
    after_s >= LEAST * branch.waited_s ? `sends what had waited for ${s(after_s)}` : "",
    branch.root_s >= LEAST * branch.waited_s ? `${own} for ${s(branch.root_s)}` : "",
  ].filter(Boolean).join("; ");
}

/** How long and how often a port was paused; of a moment the whole of its pause. */
export function pausedSaid(branch: Branch, paused_s: number, moment = false): string {
  const { pauses, first_s, last_s, begun_s, stops_s } = branch;
  if (moment && pauses === 1) {
    return `paused for ${s(stops_s - begun_s)}, from ${seconds(begun_s)} to ${seconds(stops_s)}`;
  }
  const times = pauses === 1 ? `once, from ${seconds(first_s)} to ${seconds(last_s)}`
    : `${pauses.toLocaleString("en-US")} times between ${seconds(first_s)} and ${seconds(last_s)}`;
  return `paused for ${s(paused_s)}, ${times}`;
}

/** What the switch held that asked for the pauses of a branch. */
export function heldSaid(run: Run, { port, held, threshold }: Branch): string {
  const { nodes, ports } = run.timeline;
  return `${nodes[ports[port]!.to]!.name} held up to ${b(held)} from it, where it allows ${b(threshold)}, for`;
}

/** Whether a branch is one of those at which it began. */
export const isRoot = (branch: Branch) => !branch.isRing && branch.root_s >= LEAST * branch.waited_s;

/** Ports that began it with their parts of the whole, and that of rings. */
export function beginnings({ branches, roots }: Explanation): { roots: [number, number][]; rings: number } {
  const rings_s = allOf(branches).reduce((sum, { isRing, waited_s }) => sum + (isRing ? waited_s : 0), 0);
  const whole = roots.reduce((sum, [, root_s]) => sum + root_s, rings_s);
  const large = roots.map(([port, root_s]): [number, number] => [port, root_s / whole]);
  return { roots: large.filter(([, part]) => part >= LEAST), rings: whole > 0 ? rings_s / whole : 0 };
}

/** What a port in a ring waits for. */
export function waitsSaid(run: Run, pauses: Pauses, port: number, beyond: number): string {
  return `paused since ${seconds(pauses.stuck.get(port)!)}; ${b(pauses.heldFor(port, beyond))} from it wait for `
    + way(run.names[beyond]!);
}
