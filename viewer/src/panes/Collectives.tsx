/** Collectives of jobs in a table: by kind, or each of them; a row leads to its time. */

import { useMemo, useState } from "preact/hooks";
import { collectivesOf, ordered, type Collective, type Collectives, type Kind } from "../data/collectives";
import { counted, scaled, seconds, short, way } from "../data/format";
import { linkOfHost } from "../data/lanes";
import { OF_COLLECTIVES } from "../data/need";
import type { Run } from "../data/run";
import type { Sorting } from "../data/table";
import { readingSaid, useRead } from "../scene/read";
import { RowTable } from "./RowTable";

interface Props {
  run: Run;
  now_s: number;
  /** Its name, where another run is beside it. */
  name: string;
  onSpan: (one_s: number, other_s: number) => void;
  onPin: (port: number) => void;
}

/** A row of the table: a kind, or a collective. */
type Row = Kind | Collective;
type Name = "job" | "pattern" | "algorithm" | "bytes" | "members" | "count" | "iteration" | "from_s" | "time_s"
  | "longest_s" | "skew_s" | "busbw" | "efficiency" | "slowest" | "message";

const isKind = (own: Row): own is Kind => "all" in own;

/** Name, title, unit and definition of each column. */
const COLUMNS: [Name, string, string, string][] = [
  ["job", "job", "", ""], ["pattern", "collective", "", "Pattern of the data"],
  ["algorithm", "algorithm", "", "Algorithm that carries it out"],
  ["members", "ranks", "", "Members"],
  ["bytes", "size", "B", "Data of a member before a reduction, or after an all-gather"],
  ["iteration", "iteration", "", "Iteration of the job"], ["from_s", "start", "s", "Start of the first member"],
  ["time_s", "time", "s", "From the start of the first member to the end of the last"],
  ["longest_s", "longest", "s", "Longest collective time"],
  ["skew_s", "skew", "s", "From the start of the first member to that of the last: what the members owe"],
  ["slowest", "starts last", "", "Member that starts last, for which the others wait: its link is pinned by a click"],
  ["busbw", "bus", "B/s", "Bus bandwidth: the rate of the busiest link of a ring"],
  ["efficiency", "of bound", "%", "Lower bound of the time over the time"],
  ["count", "finished", "", "Collectives that all members have ended, of those begun; means are over these"],
  ["message", "longest message", "", "Sender and receiver of the message that takes longest, and its time"],
];
const OF_KINDS: Name[] = ["count", "longest_s"];
const OF_EACH: Name[] = ["iteration", "from_s", "message"];
const TEXTS: Name[] = ["job", "pattern", "algorithm", "message"];
/** What all rows have alike is said once, and has no column. */
const ALIKE: Name[] = ["job", "pattern", "algorithm", "members", "bytes"];

export function CollectivesTab(props: Props) {
  const read = useRead(props.run, OF_COLLECTIVES, props.run);
  if (read !== "ready") return <p class="told">{readingSaid(read)}</p>;
  return <Table {...props} />;
}

/** A figure of a row, by which it is sorted. */
export function valueOf(own: Row, name: Name): number | string {
  if (name === "message") return isKind(own) ? NaN : own.message.time_s;
  if (name === "count") return isKind(own) ? own.finished : NaN;
  const value = (own as unknown as Partial<Record<Name, number | string>>)[name];
  return value ?? NaN;
}

function Table({ run, now_s, name, onSpan, onPin }: Props) {
  const found = collectivesOf(run);
  const [kind, setKind] = useState<Kind | null>(null);
  const [each, setEach] = useState(found.kinds.length === 1);
  const [sorting, setSorting] = useState<Sorting>({ column: "time_s", descending: true });
  const all = useMemo<Row[]>(() => (each ? kind?.all ?? found.all : found.kinds), [found, each, kind]);
  const rows = useMemo(() => ordered(all, (own) => valueOf(own, sorting.column as Name), sorting.descending),
    [all, sorting]);
  const alike = useMemo(() => ALIKE.filter((own) => new Set(all.map((row) => valueOf(row, own))).size === 1), [all]);
  const units = useMemo(() => new Map(COLUMNS.flatMap(([own, , unit]) => (unit && unit !== "%"
    ? [[own, scaled(all.map((row) => Number(valueOf(row, own))), unit)] as const] : []))), [all]);
  const columns = useMemo(() => COLUMNS.filter(([own]) => !alike.includes(own)
    && !(each ? OF_KINDS : OF_EACH).includes(own) && all.some((row) => !Number.isNaN(valueOf(row, own))))
    .map(([own, title, unit, help]) => ({
      name: own, title, unit: units.get(own)?.unit ?? unit, isNumber: !TEXTS.includes(own), help,
    })), [all, alike, units]);
  const cell = (own: Name, at: number) => {
    const row = all[at]!;
    const value = valueOf(row, own);
    if (own === "slowest") return <Rank run={run} of={found} own={row} onPin={onPin} />;
    if (own === "message") return messageSaid(row as Collective);
    if (own === "count" && isKind(row)) return row.finished === row.count ? String(row.count)
      : `${row.finished} of ${row.count}`;
    if (typeof value === "string") return value;
    if (Number.isNaN(value)) return own === "time_s" ? "unfinished" : "–";
    if (own === "efficiency") return short(100 * value, "");
    return units.get(own)?.say(value) ?? String(value);
  };
  const whole = (own: Name, at: number) => {
    const value = valueOf(all[at]!, own);
    const unit = COLUMNS.find(([one]) => one === own)![2];
    if (!unit || typeof value === "string" || Number.isNaN(value)) return {};
    return { title: unit === "%" ? String(value) : `${value} ${unit}` };
  };
  const isUnderWay = (own: Row) => !isKind(own) && own.from_s <= now_s && now_s < own.to_s;
  const show = (own: Kind | null, isEach: boolean) => {
    setKind(own);
    setEach(isEach);
  };
  return (
    <section class="collectives" aria-label={`Collectives${name && ` of ${name}`}`}>
      <div class="choices">
        <h2>{counted(found.all.length, "collective")}{name && `: ${name}`}</h2>
        {found.kinds.length > 1 && (
          <span class="seg" role="group" aria-label="Rows of collectives">
            <button aria-pressed={!each} onClick={() => { show(null, false); }}>By kind</button>
            <button aria-pressed={each && !kind} onClick={() => { show(null, true); }}>Each</button>
            {kind && (
              <button aria-pressed="true">{kind.pattern} of {kind.job}, {short(kind.bytes, "B")}</button>
            )}
          </span>
        )}
        <span class="alike">{alikeSaid(all[0], alike)}</span>
      </div>
      <RowTable id="collectives" columns={columns} rows={rows} sorting={sorting} of={[run, units, all]} cell={cell}
        attributes={whole} told={(at) => ({ "data-collective": at })}
        isChosen={(at) => isUnderWay(all[at]!)}
        onSort={(column) => {
          setSorting({ column, descending: sorting.column === column ? !sorting.descending : !TEXTS.includes(column) });
        }}
        onChoose={(at) => {
          const own = all[at]!;
          if (isKind(own)) show(own, true);
          else onSpan(own.from_s, own.to_s);
        }} />
      <output>{underWaySaid(found, now_s)}</output>
    </section>
  );
}

/** Pattern, size and members that all rows have. */
function alikeSaid(row: Row | undefined, alike: Name[]): string {
  if (!row || !alike.length) return "";
  const words: Partial<Record<Name, string>> = {
    job: `job ${row.job}`, pattern: row.pattern, algorithm: row.algorithm, members: counted(row.members, "rank"),
    bytes: short(row.bytes, "B"),
  };
  return `Alike in all: ${alike.map((own) => words[own]!).join(", ")}`;
}

/** The longest message of a collective in words. */
export function messageSaid({ message: { from, to, time_s } }: Collective): string {
  return Number.isNaN(time_s) ? "–" : `${from}\u00a0→\u00a0${to}, ${short(time_s, "s")}`;
}

/** What is under way at a time. */
export function underWaySaid({ all }: Collectives, time_s: number): string {
  const own = all.filter(({ from_s, to_s }) => from_s <= time_s && time_s < to_s);
  const jobs = new Map<string, number>();
  for (const { job, pattern } of own) jobs.set(`${pattern} of ${job}`, (jobs.get(`${pattern} of ${job}`) ?? 0) + 1);
  const said = Array.from(jobs, ([what, times]) => (times === 1 ? what : `${times} × ${what}`));
  return `At ${seconds(time_s)}: ${said.slice(0, 6).join(", ") || "no collective is under way"}${
    said.length > 6 ? ` and ${said.length - 6} more` : ""}.`;
}

/** The member for which the others wait; a click pins the link of its host. */
function Rank({ run, of, own, onPin }: { run: Run; of: Collectives; own: Row; onPin: (port: number) => void }) {
  const { slowest, job } = own;
  if (Number.isNaN(slowest)) return <>–</>;
  const host = of.hostOf(job, slowest);
  const link = host === null ? null : linkOfHost(run, host);
  const words = `rank ${slowest}`;
  const share = isKind(own) && own.finished > 1 && ` (${short(100 * own.share, "%")})`;
  if (link === null) return <>{words}{share}</>;
  return (
    <>
      <button class="link" title={`Rank ${slowest}: pin ${way(run.names[link]!)}`} onClick={(event) => {
        event.stopPropagation();
        onPin(link);
      }} onKeyDown={(event) => { event.stopPropagation(); }}>{words}</button>{share}
    </>
  );
}
