/** A table of many rows of one height, of which only those in sight are made; heads sort, arrow keys move. */

import type { ComponentChildren, TdHTMLAttributes } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Sorting } from "../data/table";
import { letterSize, useSize } from "../scene/size";

/** A column: its unit stands in its head. Numbers stand under one another's ends, names under their beginnings. */
export interface RowColumn<Name extends string> {
  name: Name;
  title: string;
  unit?: string | undefined;
  isNumber: boolean;
  /** Definition, for a hover. */
  help?: string;
}

interface Props<Name extends string> {
  id: string;
  columns: RowColumn<Name>[];
  /** Numbers of rows, in the order in which they are shown. */
  rows: number[];
  sorting: Sorting;
  /** What the cells are of, beside their rows. */
  of: unknown[];
  cell: (name: Name, row: number) => ComponentChildren;
  /** Attributes of a cell, such as all digits for a hover. */
  attributes?: (name: Name, row: number) => TdHTMLAttributes<HTMLTableCellElement>;
  /** Attributes of a row. */
  told: (row: number) => Record<`data-${string}`, string | number>;
  isChosen: (row: number) => boolean;
  onSort: (name: Name) => void;
  onChoose: (row: number) => void;
}

/** Rows beyond those in sight. */
const BEYOND = 5;

export function RowTable<Name extends string>(props: Props<Name>) {
  const { id, columns, rows, sorting, of, cell, attributes, told, isChosen, onSort, onChoose } = props;
  const [top, setTop] = useState(0);
  // one row takes the key Tab, the arrows go from row to row
  const [active, setActive] = useState(0);
  const moved = useRef(false);
  const box = useRef<HTMLDivElement>(null);
  const { height } = useSize(box);
  useEffect(() => { setActive(0); }, [rows]);
  const high = Math.round(1.85 * letterSize());
  const first = Math.max(0, Math.min(Math.floor(top / high) - BEYOND, rows.length - 1));
  const last = Math.min(rows.length, first + Math.ceil(height / high) + 2 * BEYOND);
  const entry = active >= first && active < last ? active : first;
  const classOf = ({ isNumber }: RowColumn<Name>) => (isNumber ? "number" : "");
  // the same from moment to moment
  const cells = useMemo(() => rows.slice(first, last).map((row) => columns.map((own) => (
    <td data-column={own.name} class={classOf(own)} {...attributes?.(own.name, row)}>{cell(own.name, row)}</td>
  ))), [rows, first, last, columns, ...of]);
  const keyed = (event: KeyboardEvent) => {
    const to = { ArrowDown: active + 1, ArrowUp: active - 1 }[event.key];
    if (to === undefined || to < 0 || to >= rows.length) return;
    event.preventDefault();
    setActive(to);
    moved.current = true;
    const scroll = box.current;
    // below the head, which stays
    if (!scroll) return;
    if (scroll.scrollTop > to * high) scroll.scrollTop = to * high;
    const below = (to + 2) * high - scroll.clientHeight;
    if (scroll.scrollTop < below) scroll.scrollTop = below;
    setTop(scroll.scrollTop);
  };
  return (
    <div class="scroll" ref={box} onScroll={(event) => { setTop(event.currentTarget.scrollTop); }}>
      <table id={id} class="rowed" aria-rowcount={rows.length + 1} onKeyDown={keyed}>
        <thead>
          <tr>
            {columns.map((own) => {
              const sorts = sorting.column === own.name;
              return (
                <th scope="col" class={classOf(own)} {...(own.help ? { title: own.help } : {})}
                  aria-sort={sorts ? (sorting.descending ? "descending" : "ascending") : "none"}>
                  <button data-column={own.name} onClick={() => { onSort(own.name); }}>
                    {own.title}{sorts ? (sorting.descending ? " ▾" : " ▴") : ""}
                    {own.unit && <small>{own.unit}</small>}</button>
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <tr style={{ height: first * high }} />}
          {rows.slice(first, last).map((row, i) => {
            const own = first + i;
            const chosen = isChosen(row);
            return (
              <tr key={row} {...told(row)} tabIndex={own === entry ? 0 : -1} aria-rowindex={own + 2}
                {...(chosen ? { "aria-current": "true" as const } : {})}
                ref={(element) => {
                  if (own !== active || !moved.current || !element) return;
                  moved.current = false;
                  element.focus({ preventScroll: true });
                }}
                onFocus={() => { setActive(own); }} class={chosen ? "selected" : ""}
                style={{ height: high }} onClick={() => { onChoose(row); }}
                onKeyDown={(event) => { if (event.key === "Enter") onChoose(row); }}>
                {cells[i]}
              </tr>
            );
          })}
          {last < rows.length && <tr style={{ height: (rows.length - last) * high }} />}
        </tbody>
      </table>
    </div>
  );
}
