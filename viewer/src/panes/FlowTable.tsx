/** Flows in rows, of which only those in sight are made. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Run } from "../data/run";
import { text } from "../data/unpack";
import { exact, scaled, short } from "../data/format";
import { chosen, SHOWN, type Sorting } from "../data/table";
import { letterSize, useSize } from "../scene/size";

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

/** Numbers stand under one another's ends, names under their beginnings. */
const classOf = (name: Name) => (["group", "src", "dst", "controller"].includes(name) ? "" : "number");

/** Whether several flows have one value in a column. */
function isAlike(run: Run, name: string): boolean {
  const values = run.flows?.get(name)?.values;
  return values !== undefined && values.length > 1 && values.every((value: number) => value === values[0]);
}

/** Rows of one height, so that only those in sight need to be made. */
const rowHeight = () => Math.round(1.85 * letterSize());

export function FlowTable({ run, selected, whose, onSelect }: Props) {
  const [search, setSearch] = useState("");
  const [sorting, setSorting] = useState<Sorting>(() => slowestFirst(run));
  const [top, setTop] = useState(0);
  // one row takes the key Tab, the arrows go from row to row
  const [active, setActive] = useState(0);
  const moved = useRef(false);
  const box = useRef<HTMLDivElement>(null);
  const { height } = useSize(box);
  const rows = useMemo(() => chosen(run, search, sorting), [run, search, sorting]);
  useEffect(() => { setActive(0); }, [rows]);
  const alike = useMemo(() => ALIKE.filter((name) => isAlike(run, name)), [run]);
  const shown = useMemo(() => (
    COLUMNS.filter(([name]) => isThere(run, name) && !alike.includes(name))), [run, alike]);
  // one unit a column, in its head
  const units = useMemo(() => new Map(COLUMNS.flatMap(([name, , unit]) => (
    unit && run.flows?.has(name) ? [[name, scaled(run.flows.values(name), unit)] as const] : []))), [run]);
  const ROW = rowHeight();
  const first = Math.max(0, Math.floor(top / ROW) - 5);
  const last = Math.min(rows.length, first + Math.ceil(height / ROW) + 10);
  const entry = active >= first && active < last ? active : first;
  const cell = (name: Name, row: number) => {
    const column = run.flows!.get(name)!;
    if (column.texts) return text(column, row);
    const value = column.values[row]!;
    if (name === "src" || name === "dst") return run.timeline.nodes[value]?.name ?? String(value);
    if (Number.isNaN(value)) return "–";
    return units.get(name)?.say(value) ?? (name === "slowdown" ? short(value, "") : exact(value));
  };
  const unitOf = (name: Name) => units.get(name)?.unit;
  const whole = (name: Name, row: number) => {
    const unit = COLUMNS.find(([own]) => own === name)?.[2];
    return unit || name === "slowdown" ? { title: `${run.flows!.values(name)[row]!} ${unit ?? ""}`.trim() } : {};
  };
  // the same from moment to moment
  const cells = useMemo(() => (run.flows ? rows.slice(first, last).map((row) => shown.map(([name]) => (
    <td data-column={name} class={classOf(name)} {...whole(name, row)}>{cell(name, row)}</td>
  ))) : []), [run, rows, first, last, shown, units]);
  if (!run.flows) return <p class="told">This run folder has no flows.parquet.</p>;
  return (
    <div class="flows" role="region" aria-label="Flows">
      <div class="bar">
        <input id="search" type="search" placeholder="Search: web h3, flow 3" aria-label="Search flows"
          value={search}
          onInput={(event) => { setSearch(event.currentTarget.value); setTop(0); box.current?.scrollTo(0, 0); }} />
        <span id="count">{rows.length.toLocaleString("en-US")} of {run.flowCount.toLocaleString("en-US")} flows
          {whose && ` of ${whose}`}</span>
        {alike.length > 0 && (
          <span class="alike">all: {COLUMNS.filter(([name]) => alike.includes(name))
            .map(([name, title]) => (
              `${title} ${cell(name, 0)} ${unitOf(name) ?? ""}`.trim())).join(", ")}</span>
        )}
      </div>
      <div class="scroll" ref={box}
        onScroll={(event) => { setTop(event.currentTarget.scrollTop); }}>
        <table id="flows" aria-rowcount={rows.length + 1} onKeyDown={(event) => {
          const to = { ArrowDown: active + 1, ArrowUp: active - 1 }[event.key];
          if (to === undefined || to < 0 || to >= rows.length) return;
          event.preventDefault();
          setActive(to);
          moved.current = true;
          const scroll = box.current;
          // below the head, which stays
          if (!scroll) return;
          if (scroll.scrollTop > to * ROW) scroll.scrollTop = to * ROW;
          const below = (to + 2) * ROW - scroll.clientHeight;
          if (scroll.scrollTop < below) scroll.scrollTop = below;
          setTop(scroll.scrollTop);
        }}>
          <thead>
            <tr>
              {shown.map(([name, title]) => {
                const own = sorting.column === name;
                return (
                  <th scope="col" class={classOf(name)}
                    aria-sort={own ? (sorting.descending ? "descending" : "ascending") : "none"}>
                    <button data-column={name} onClick={() => {
                      const first = name !== "throughput_active_bps";
                      setSorting({ column: name, descending: own ? !sorting.descending : first });
                    }}>{title}{own ? (sorting.descending ? " ▾" : " ▴") : ""}
                      {unitOf(name) && <small>{unitOf(name)}</small>}</button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {first > 0 && <tr style={{ height: first * ROW }} />}
            {rows.slice(first, last).map((row, i) => {
              const flow = run.flows!.values("flow")[row]!;
              const own = first + i;
              return (
                <tr key={row} data-flow={flow} tabIndex={own === entry ? 0 : -1} aria-rowindex={own + 2}
                  {...(flow === selected ? { "aria-current": "true" as const } : {})}
                  ref={(element) => {
                    if (own !== active || !moved.current || !element) return;
                    moved.current = false;
                    element.focus({ preventScroll: true });
                  }}
                  onFocus={() => { setActive(own); }} class={flow === selected ? "selected" : ""}
                  style={{ height: ROW }} onClick={() => { onSelect(flow); }}
                  onKeyDown={(event) => { if (event.key === "Enter") onSelect(flow); }}>
                  {cells[i]}
                </tr>
              );
            })}
            {last < rows.length && <tr style={{ height: (rows.length - last) * ROW }} />}
          </tbody>
        </table>
      </div>
    </div>
  );
}
