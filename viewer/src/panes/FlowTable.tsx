/** Flows in rows, of which only those in sight are made. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Run } from "../data/run";
import { text } from "../data/unpack";
import { seconds, short } from "../data/format";
import { chosen, SHOWN, type Sorting } from "../data/table";
import { letterSize, useSize } from "../scene/size";

interface Props {
  run: Run;
  selected: number | null;
  /** The run's name, where there are two. */
  whose: string;
  onSelect: (flow: number) => void;
}

type Shown = [(typeof SHOWN)[number], string, (value: number) => string];
const COUNT = (value: number) => (Number.isNaN(value) ? "–" : String(value));
/** What tells flows apart first: in a narrow table the last ones are beyond its edge. */
const COLUMNS: Shown[] = [
  ["flow", "flow", COUNT], ["src", "from", COUNT], ["dst", "to", COUNT], ["fct_s", "FCT", seconds],
  ["slowdown", "slowdown", (value) => short(value, "")],
  ["throughput_active_bps", "throughput", (value) => short(value, "b/s")], ["retransmissions", "retrans.", COUNT],
  ["timeouts", "timeouts", COUNT], ["marked", "marked", COUNT], ["start_s", "start", seconds],
  ["group", "group", COUNT], ["controller", "controller", COUNT],
];
/** What all flows have alike is said once, and has no column. */
const ALIKE: Shown[0][] = ["start_s", "group", "controller"];

/** Numbers stand under one another's ends, names under their beginnings. */
const classOf = (name: Shown[0]) => (["group", "src", "dst", "controller"].includes(name) ? "" : "number");

/** Whether several flows have one value in a column. */
function isAlike(run: Run, name: string): boolean {
  const values = run.flows?.get(name)?.values;
  return values !== undefined && values.length > 1 && values.every((value: number) => value === values[0]);
}

/** Rows of one height, so that only those in sight need to be made. */
const rowHeight = () => Math.round(1.85 * letterSize());

export function FlowTable({ run, selected, whose, onSelect }: Props) {
  const [search, setSearch] = useState("");
  const [sorting, setSorting] = useState<Sorting>({ column: "slowdown", descending: true });
  const [top, setTop] = useState(0);
  // one row takes the key Tab, the arrows go from row to row
  const [active, setActive] = useState(0);
  const moved = useRef(false);
  const box = useRef<HTMLDivElement>(null);
  const { height } = useSize(box);
  const rows = useMemo(() => chosen(run, search, sorting), [run, search, sorting]);
  useEffect(() => { setActive(0); }, [rows]);
  const alike = useMemo(() => ALIKE.filter((name) => isAlike(run, name)), [run]);
  const shown = COLUMNS.filter(([name]) => run.flows?.has(name) && !alike.includes(name));
  if (!run.flows) return <p class="told">This run folder has no flows.parquet.</p>;
  const ROW = rowHeight();
  const first = Math.max(0, Math.floor(top / ROW) - 5);
  const last = Math.min(rows.length, first + Math.ceil(height / ROW) + 10);
  const entry = active >= first && active < last ? active : first;
  const cell = (name: string, row: number, say: (value: number) => string) => {
    const column = run.flows!.get(name)!;
    if (column.texts) return text(column, row);
    const value = column.values[row]!;
    if (name === "src" || name === "dst") return run.timeline.nodes[value]?.name ?? String(value);
    return say(value);
  };
  return (
    <div class="flows" role="region" aria-label="Flows">
      <div class="bar">
        <input id="search" type="search" placeholder="search: web h3, flow 3" aria-label="Search flows"
          value={search}
          onInput={(event) => { setSearch(event.currentTarget.value); setTop(0); box.current?.scrollTo(0, 0); }} />
        <span id="count">{rows.length.toLocaleString("en-US")} of {run.flowCount.toLocaleString("en-US")} flows
          {whose && ` of ${whose}`}</span>
        {alike.length > 0 && (
          <span class="alike">all: {COLUMNS.filter(([name]) => alike.includes(name))
            .map(([name, title, say]) => `${title} ${cell(name, 0, say)}`).join(", ")}</span>
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
                      setSorting({ column: name, descending: own ? !sorting.descending : true });
                    }}>{title}{own ? (sorting.descending ? " ▾" : " ▴") : ""}</button>
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
                  {shown.map(([name, , say]) => (
                    <td data-column={name} class={classOf(name)}>{cell(name, row, say)}</td>
                  ))}
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
