/** What a run is, in a sentence, four figures and two lists. */

import { openingOf, type Opening } from "./opening";
import { counted, seconds, short } from "./format";
import type { Metric, Run } from "./run";
import { text } from "./unpack";

/** Rows of the lists. */
const ROWS = 5;

/** The controllers of a run's flows, in words: several are told by their number. */
export function controllerOf(run: Run): string {
  const own = run.flows?.has("controller") ? run.flows.get("controller") : undefined;
  if (!own?.texts) return "";
  const there = [...new Set(own.values)].map((at) => own.texts![at]!).filter(Boolean);
  return there.length <= 2 ? there.join(" and ") : `${there.length} controllers`;
}

/** What a run is called: its scenario and its controller, or its folder where it does not say them. */
export function titleOf(run: Run): string {
  const { scenario } = run.about;
  const controller = controllerOf(run);
  return scenario ? [scenario, controller].filter(Boolean).join(" · ") : run.label;
}

/** The title of two runs beside one another. */
export function titleOfTwo(first: Run, second: Run): string {
  const [one, two] = [controllerOf(first), controllerOf(second)];
  const { scenario } = first.about;
  return scenario && scenario === second.about.scenario && one && two && one !== two ? `${scenario} · ${one} and ${two}`
    : `${first.label} and ${second.label}`;
}

const links = new WeakMap<Run, number>();

/** The rate that most links have; NaN where it is not known. */
export function linkOf(run: Run): number {
  let found = links.get(run);
  if (found === undefined) links.set(run, found = mostFrequent(run));
  return found;
}

function mostFrequent(run: Run): number {
  const counts = new Map<number, number>();
  run.timeline.ports.forEach((_, port) => {
    const rate = run.rateOf(port);
    if (!Number.isNaN(rate)) counts.set(rate, (counts.get(rate) ?? 0) + 1);
  });
  return [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0]?.[0] ?? NaN;
}

/** Hosts, links and flows, in a line. */
export function lineOf(run: Run): string {
  const { nodes, ports } = run.timeline;
  const kinds = new Map<string, number>();
  for (const { kind } of nodes) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const plural = (kind: string, count: number) => (
    kind === "switch" && count !== 1 ? `${count.toLocaleString("en-US")}\u00a0switches` : counted(count, kind));
  const link = linkOf(run);
  return [
    ...[...kinds].filter(([kind]) => kind).map(([kind, count]) => plural(kind, count)),
    Number.isNaN(link) ? counted(ports.length, "port") : `links of ${short(link, "b/s")}`,
    run.flows ? counted(run.flowCount, "flow") : "",
  ].filter(Boolean).join(" · ");
}

/** Scenario, controller, seed and measured interval, as far as the run says them. */
export function sentenceOf(run: Run): string {
  const { scenario, seed, from_s, to_s } = run.about;
  const controller = controllerOf(run);
  const what = [scenario ?? run.label, controller && `with ${controller}`].filter(Boolean).join(" ");
  return [what, seed === undefined ? "" : `seed ${seed}`,
    from_s && to_s !== undefined ? `measured from ${seconds(from_s)} to ${seconds(to_s)}` : "",
  ].filter(Boolean).join(", ");
}

/** A figure with what it is. */
export interface Tile {
  value: string;
  /** The same with all digits. */
  exact: string;
  what: string;
  /** The metric that shows it port by port. */
  metric?: Metric;
}

/**
 * What may be told of a summary: the figure's name, its unit, what it is, and the metric that shows it. Counts with a
 * metric are told if they are not 0.
 */
const TOLD: [string, string, string, Metric?][] = [
  ["flows.goodput_total_bps", "b/s", "goodput of all flows"],
  ["fct.slowdown_p99_at_least", "", "slowdown, 99th percentile"],
  ["queues.pauses", "", "pauses of ports", "pauses"],
  ["queues.drops", "", "packets dropped", "drops"],
  ["fct.p99_at_least_s", "s", "completion time, 99th percentile"],
  ["flows.delay_p99_s", "s", "one-way delay, 99th percentile"],
  ["queues.marks", "", "packets marked", "marks"],
  ["flows.throughput_mean_bps", "b/s", "throughput per flow, mean"],
  ["flows.jain", "", "Jain's index of throughputs"],
];

/** At most so many figures of the summary. */
export function tilesOf(run: Run, most: number): Tile[] {
  const figures = run.about.figures ?? {};
  const unfinished = (figures["fct.finished"] ?? 0) < (figures["fct.count"] ?? 0);
  return TOLD.filter(([name, , , metric]) => name in figures && (!metric || figures[name]! > 0)).slice(0, most)
    .map(([name, unit, what, metric]) => {
      const value = figures[name]!;
      const bound = name.includes("at_least") && unfinished ? "≥\u00a0" : "";
      const exactly = `${bound}${value} ${unit}`.trim();
      return { value: `${bound}${short(value, unit)}`, exact: exactly, what, ...(metric ? { metric } : {}) };
    });
}

/** The largest queue of a run: port and frame at which its page opens; null where queues are not recorded, or empty. */
export function largestQueue(run: Run): Opening | null {
  if (!run.metrics.includes("queue_max_bytes") || !run.shows("queue_max_bytes")) return null;
  const { levels } = run;
  return levels?.isRead && levels.metric === "queue_max_bytes" ? levels.opening
    : openingOf(run, run.frames, "queue_max_bytes");
}

/** A flow that is slow, and how slow, in words. */
export interface Slow {
  flow: number;
  ends: string;
  value: string;
}

/** The slowest flows: by slowdown, those without an end first; without slowdowns by throughput. */
export function slowestOf(run: Run): { by: string; rows: Slow[] } | null {
  const { flows } = run;
  if (!flows) return null;
  const numbers = flows.values("flow");
  const values = (name: string) => (flows.has(name) ? flows.values(name) : new Float64Array(0));
  const some = (own: ArrayLike<number>) => Array.from(own).some((value) => !Number.isNaN(value));
  const [slowdown, rate] = [values("slowdown"), values("throughput_active_bps")];
  const by = some(slowdown) ? slowdown : some(rate) ? rate : null;
  if (!by) return null;
  const rows = Array.from(numbers, (_, row) => row).filter((row) => !Number.isNaN(by[row]!))
    .sort((a, b) => (by === slowdown ? by[b]! - by[a]! : by[a]! - by[b]!) || a - b).slice(0, ROWS);
  return {
    by: by === slowdown ? "slowdown" : "throughput",
    rows: rows.map((row) => ({ flow: numbers[row]!, ends: endsOf(run, row),
      value: short(by[row]!, by === slowdown ? "" : "b/s") })),
  };
}

/** Both ends of a flow, in words. */
export function endsOf(run: Run, row: number): string {
  const node = (side: string) => {
    const own = run.flows?.has(side) ? run.flows.get(side) : undefined;
    return run.timeline.nodes[own?.values[row] ?? -1]?.name ?? "";
  };
  return [node("src"), node("dst")].filter(Boolean).join("\u00a0→\u00a0") || text(run.flows?.get("group"), row);
}

export { ROWS };
