/** Flows in rows. */

import { useMemo, useState } from "preact/hooks";
import type { Run } from "../data/run";
import { text } from "../data/unpack";
import { exact, scaled, short } from "../data/format";
import { chosen, SHOWN, type Sorting } from "../data/table";
import { RowTable } from "./RowTable";

interface Props {
  run: Run;
  selected: number | null;
  /** The run's name, where there are two. */
  whose: string;
  onSelect: (flow: number) => void;
}

type Name = (typeof SHOWN)[number];
/** A column, its title, and its unit where it has one. */
type Shown = [Name, string, string?];
/** What tells flows apart first: in a narrow table the last ones are beyond its edge. */
const COLUMNS: Shown[] = [
  ["flow", "flow"], ["src", "from"], ["dst", "to"], ["fct_s", "completion", "s"], ["slowdown", "slowdown"],
  ["throughput_active_bps", "throughput", "b/s"], ["retransmissions", "retrans."], ["timeouts", "timeouts"],
  ["marked", "marked"], ["start_s", "start", "s"], ["group", "group"], ["controller", "controller"],
];
/** What all flows have alike is said once, and has no column. */
const ALIKE: Name[] = ["start_s", "group", "controller", "retransmissions", "timeouts", "marked"];

/** Whether any flow has a value in a column: what nobody has is not shown. */
function isThere(run: Run, name: Name): boolean {
  const column = run.flows?.get(name);
  return column !== undefined && (!!column.texts || Array.from(column.values).some((value) => !Number.isNaN(value)));
}

/** The slowest first: by slowdown, or where flows have none by throughput. */
function slowestFirst(run: Run): Sorting {
  return isThere(run, "slowdown") ? { column: "slowdown", descending: true }
    : { column: "throughput_active_bps", descending: false };
}

/** Columns of names. */
const NAMES: Name[] = ["group", "src", "dst", "controller"];

/** Whether several flows have one value in a column. */
function isAlike(run: Run, name: string): boolean {
  const values = run.flows?.get(name)?.values;
  return values !== undefined && values.length > 1 && values.every((value: number) => value === values[0]);
}

export function FlowTable({ run, selected, whose, onSelect }: Props) {
  const [search, setSearch] = useState("");
  const [sorting, setSorting] = useState<Sorting>(() => slowestFirst(run));
  const rows = useMemo(() => chosen(run, search, sorting), [run, search, sorting]);
  const alike = useMemo(() => ALIKE.filter((name) => isAlike(run, name)), [run]);
  // one unit a column, in its head
  const units = useMemo(() => new Map(COLUMNS.flatMap(([name, , unit]) => (
    unit && run.flows?.has(name) ? [[name, scaled(run.flows.values(name), unit)] as const] : []))), [run]);
  const columns = useMemo(() => COLUMNS.filter(([name]) => isThere(run, name) && !alike.includes(name)).map(
    ([name, title]) => ({ name, title, unit: units.get(name)?.unit, isNumber: !NAMES.includes(name) })),
  [run, alike, units]);
  const cell = (name: Name, row: number) => {
    const column = run.flows!.get(name)!;
    if (column.texts) return text(column, row);
    const value = column.values[row]!;
    if (name === "src" || name === "dst") return run.timeline.nodes[value]?.name ?? String(value);
    if (Number.isNaN(value)) return "–";
    return units.get(name)?.say(value) ?? (name === "slowdown" ? short(value, "") : exact(value));
  };
  const whole = (name: Name, row: number) => {
    const unit = COLUMNS.find(([own]) => own === name)?.[2];
    return unit || name === "slowdown" ? { title: `${run.flows!.values(name)[row]!} ${unit ?? ""}`.trim() } : {};
  };
  if (!run.flows) return <p class="told">This run folder has no flows.parquet.</p>;
  const flowOf = (row: number) => run.flows!.values("flow")[row]!;
  return (
    <div class="flows" role="region" aria-label="Flows">
      <div class="bar">
        <input id="search" type="search" placeholder="Search: web h3, flow 3" aria-label="Search flows"
          value={search} onInput={(event) => { setSearch(event.currentTarget.value); }} />
        <span id="count">{rows.length.toLocaleString("en-US")} of {run.flowCount.toLocaleString("en-US")} flows
          {whose && ` of ${whose}`}</span>
        {alike.length > 0 && (
          <span class="alike">Alike in all: {COLUMNS.filter(([name]) => alike.includes(name))
            .map(([name, title]) => (
              `${title} ${cell(name, 0)} ${units.get(name)?.unit ?? ""}`.trim())).join(", ")}</span>
        )}
      </div>
      <RowTable id="flows" key={search} columns={columns} rows={rows} sorting={sorting} of={[run, units]} cell={cell}
        attributes={whole} told={(row) => ({ "data-flow": flowOf(row) })}
        isChosen={(row) => flowOf(row) === selected} onChoose={(row) => { onSelect(flowOf(row)); }}
        onSort={(column) => {
          const first = column !== "throughput_active_bps";
          setSorting({ column, descending: sorting.column === column ? !sorting.descending : first });
        }} />
    </div>
  );
}
