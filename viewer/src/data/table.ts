/** Rows of flows in the order and the selection that a person asks for. */

import type { Run } from "./run";
import { text } from "./unpack";

/** Columns that are shown. */
export const SHOWN = ["flow", "group", "src", "dst", "start_s", "fct_s", "slowdown", "throughput_active_bps",
  "retransmissions", "timeouts", "marked", "controller"] as const;
/** Columns that are searched. */
export const SEARCHED = ["flow", "group", "controller", "role", "src", "dst"] as const;

export interface Sorting {
  column: string;
  descending: boolean;
}

/** What a row says, for the search: group, controller, role, ends. */
export function wordsOf(run: Run, row: number): string {
  const { flows } = run;
  if (!flows) return "";
  const node = (name: string) => run.timeline.nodes[flows.get(name)?.values[row] ?? -1]?.name ?? "";
  return [`flow ${flows.values("flow")[row]!}`, text(flows.get("group"), row), text(flows.get("controller"), row),
    text(flows.get("role"), row), node("src"),
    node("dst"), `${node("src")}>${node("dst")}`].join(" ").toLowerCase();
}

/** The rows that have every word of the search (`flow 3` is that one flow), sorted; missing values come last. */
export function chosen(run: Run, search: string, { column, descending }: Sorting): number[] {
  let own: number | null = null;
  const words = search.toLowerCase().replace(/\bflow\s+(\d+)\b/, (_, number: string) => {
    own = Number(number);
    return "";
  }).split(/\s+/).filter(Boolean);
  let rows = Array.from({ length: run.flowCount }, (_, row) => row);
  if (own !== null) rows = rows.filter((row) => run.flows!.values("flow")[row] === own);
  if (words.length) {
    rows = rows.filter((row) => {
      const said = wordsOf(run, row);
      return words.every((word) => said.includes(word));
    });
  }
  const by = run.flows?.get(column);
  if (!by) return rows;
  const sign = descending ? -1 : 1;
  const { values, texts } = by;
  const compared = texts
    ? (a: number, b: number) => sign * texts[values[a]!]!.localeCompare(texts[values[b]!]!)
    : (a: number, b: number) => {
        const [x, y] = [values[a]!, values[b]!];
        if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
        return sign * (x - y);
      };
  return rows.sort((a, b) => compared(a, b) || a - b);
}
