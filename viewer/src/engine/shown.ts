/** A run of the engine in this page, as the viewer's panes read runs. */

import { Framed } from "../data/framed";
import { Run, type Timeline } from "../data/run";
import { Columns, type Column } from "../data/unpack";
import { numbersOf, type Table, type TableColumn } from "./wasm";
import type { Ran } from "./work";

/** Tables that panes show. */
export const SHOWN = [
  "flows", "ports", "queries", "writes", "samples", "timeline_ports", "timeline_flows", "timeline_events",
  "timeline_paths",
];
/** Those that panes of training jobs show. */
export const OF_JOBS = ["ranks", "tasks", "collectives"];

/** A column as panes read it. */
function columnOf(column: TableColumn): Column {
  const { values, names, valid } = column;
  if (names) return { values: values as Uint32Array, texts: names };
  if (values instanceof BigUint64Array || valid) return { values: numbersOf(column) };
  return { values };
}

function columnsOf(table: Table): Columns {
  return Columns.of(Object.fromEntries(table.columns.map((own) => [own.name, columnOf(own)])), table.rows);
}

/** Rows by frame: where each frame's rows begin, and the rows in the order of frames. They are in that order. */
function framedOf(table: Table, frames: number): Framed {
  const columns = Object.fromEntries(table.columns.map((own) => [own.name, columnOf(own)]));
  const starts = new Uint32Array(frames + 1);
  const frame = columns.frame!.values;
  for (let row = 0; row < frame.length; row++) starts[frame[row]! + 1]!++;
  for (let i = 0; i < frames; i++) starts[i + 1]! += starts[i]!;
  return Framed.of(Columns.of({ ...columns, starts: { values: starts } }, table.rows));
}

/** Samples, series by series, as `python/incast/view/reading.py` packs them. */
export function seriesOf(samples: Table): Columns | null {
  const named = Object.fromEntries(samples.columns.map((own) => [own.name, own]));
  const { entity, name, time_s, value } = named;
  if (!samples.rows || !entity || !name || !time_s || !value) return null;
  const series = new Map<string, { entity: string; name: string; rows: number[] }>();
  for (let row = 0; row < samples.rows; row++) {
    const [whose, what] = [entity, name].map((own) => own.names![Number(own.values[row])]!);
    const key = `${whose}\n${what}`;
    if (!series.has(key)) series.set(key, { entity: whose!, name: what!, rows: [] });
    series.get(key)!.rows.push(row);
  }
  const all = [...series.values()];
  const rows = all.flatMap((own) => own.rows);
  const [times, values] = [numbersOf(time_s), numbersOf(value)];
  const starts = new Uint32Array(all.length + 1);
  all.forEach((own, i) => { starts[i + 1] = starts[i]! + own.rows.length; });
  const texts = (own: string[]): Column => ({ values: Uint32Array.from(own, (_, i) => i), texts: own });
  return Columns.of({
    entity: texts(all.map((own) => own.entity)), name: texts(all.map((own) => own.name)), starts: { values: starts },
    time_s: { values: Float64Array.from(rows, (row) => times[row]!) },
    value: { values: Float64Array.from(rows, (row) => values[row]!) },
  });
}

/** The run for the panes; null without a timeline. */
export function runOf({ timeline, tables }: Ran, label: string): Run | null {
  if (timeline === null || !tables.ports || !tables.timeline_ports) return null;
  const told = JSON.parse(timeline) as Timeline;
  const maybe = (table: Table | undefined) => (table ? columnsOf(table) : null);
  const some = (table: Table | undefined) => (table?.rows && tables.ranks ? columnsOf(table) : null);
  return new Run(told, label, [], {
    ports: columnsOf(tables.ports), records: framedOf(tables.timeline_ports, told.frames), flows: maybe(tables.flows),
    by_flow: tables.timeline_flows ? framedOf(tables.timeline_flows, told.frames) : null,
    events: maybe(tables.timeline_events), paths: maybe(tables.timeline_paths),
    series: tables.samples ? seriesOf(tables.samples) : null, packets: null,
    ranks: some(tables.ranks), tasks: some(tables.tasks), collectives: some(tables.collectives),
  });
}
