/** Ranks of jobs over time: a lane a rank with calculations, messages and waiting, job by job. */

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { counted, seconds, short, way } from "../data/format";
import { DOINGS, doingAt, lanesOf, linkOfHost, sharesOf, type Doing, type Job, type Lane,
  type Lanes } from "../data/lanes";
import { OF_RANKS } from "../data/need";
import type { Run } from "../data/run";
import type { Span } from "../data/stretch";
import { Ruler } from "../scene/Axes";
import { drawLane, laneColours, OVERLAPPED } from "../scene/lanes";
import { readingSaid, useRead } from "../scene/read";
import { letterSize, smallLetters, useSize } from "../scene/size";

interface Props {
  run: Run;
  port: number | null;
  now_s: number;
  /** What is seen of the time. */
  seen: Span;
  /** Its name, where another run is beside it. */
  name: string;
  dark: boolean;
  onSeek: (time_s: number) => void;
  onSpan: (one_s: number, other_s: number) => void;
  onPin: (port: number) => void;
}

type Order = "rank" | Doing;

/** A row: the head of a job, or a lane. */
type Row = { job: Job; lane: null } | { job: Job; lane: Lane };

/** Tasks that a tip names. */
const NAMED = 4;
/** Rows that are drawn beyond those in sight. */
const BEYOND = 2;

export function LanesTab(props: Props) {
  const read = useRead(props.run, OF_RANKS, props.run);
  if (read !== "ready") return <p class="told">{readingSaid(read)}</p>;
  return <Ranks {...props} />;
}

/** Rows of all jobs: lanes by number, or those first that have most of something in what is seen. */
export function rowsOf(lanes: Lanes, order: Order, seen: Span): Row[] {
  return lanes.jobs.flatMap((job): Row[] => {
    const own = [...job.lanes];
    if (order === "rank") own.sort((a, b) => a.rank - b.rank);
    else {
      const shares = new Map(own.map((lane) => [lane, sharesOf(lane, seen)[order]]));
      own.sort((a, b) => shares.get(b)! - shares.get(a)! || a.rank - b.rank);
    }
    return [{ job, lane: null }, ...own.map((lane) => ({ job, lane }))];
  });
}

/** What a lane does at a time, in lines. */
export function linesOf(lanes: Lanes, lane: Lane, time_s: number): string[] {
  const stretch = doingAt(lane, time_s);
  if (!stretch) return ["in no iteration"];
  const { calculations, messages } = lanes.at(lane, time_s);
  const own = [...calculations, ...messages];
  const { doing, from_s, to_s } = stretch;
  return [
    `${doing} for ${short(to_s - from_s, "s")}, ${seconds(from_s)} to ${seconds(to_s)}`,
    ...own.slice(0, NAMED).map((row) => lanes.said(row)),
    ...(own.length > NAMED ? [`and ${counted(own.length - NAMED, "message")} more`] : []),
  ];
}

function Ranks({ run, port, now_s, seen, name, dark, onSeek, onSpan, onPin }: Props) {
  const lanes = lanesOf(run);
  const [order, setOrder] = useState<Order>("rank");
  const rows = useMemo(() => rowsOf(lanes, order, seen), [lanes, order, order === "rank" ? 0 : seen.from_s,
    order === "rank" ? 0 : seen.to_s]);
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width, height } = useSize(box);
  const [down, setDown] = useState(0);
  const [hover, setHover] = useState<{ row: number; x: number; y: number } | null>(null);
  const [band, setBand] = useState<[number, number] | null>(null);
  const held = useRef<number | null>(null);
  const high = Math.round(1.5 * letterSize());
  const left = Math.round(Math.min(0.34 * width, 8.5 * letterSize()));
  const across = Math.max(0, width - left);
  const first = Math.max(0, Math.floor(down / high) - BEYOND);
  const until = Math.min(rows.length, Math.ceil((down + height) / high) + BEYOND);
  const shown = rows.slice(first, until);
  const placeOf = (at_s: number) => left + ((at_s - seen.from_s) / (seen.to_s - seen.from_s)) * across;
  const timeAt = (x: number) => (
    seen.from_s + Math.min(1, Math.max(0, (x - left) / across)) * (seen.to_s - seen.from_s));
  // another order begins with its first row
  useEffect(() => { if (box.current) box.current.scrollTop = 0; }, [order]);

  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context || !across) return;
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.clearRect(0, 0, width, height);
    shown.forEach(({ job, lane }, i) => {
      const top = (first + i) * high - down;
      if (lane) drawLane(context, lane, seen, dark, { left, top, width: across, height: high });
      else drawHead(context, job, seen, { left, top, width: across, height: high });
    });
  }, [rows, first, until, down, seen.from_s, seen.to_s, dark, width, height, left]);

  const pointed = (event: MouseEvent): [number, number] => {
    const bounds = canvas.current!.getBoundingClientRect();
    return [event.clientX - bounds.left, event.clientY - bounds.top];
  };
  const own = hover && rows[hover.row];
  const cursor = placeOf(now_s);
  const count = lanes.count;
  const said = !own ? [] : own.lane ? linesOf(lanes, own.lane, timeAt(hover.x))
    : iterationsSaid(own.job, timeAt(hover.x));
  return (
    <section class="ranks" aria-label={`Ranks over time${name && ` of ${name}`}`}>
      <div class="choices">
        <h2>{counted(count, "rank")}{lanes.jobs.length > 1 && ` of ${lanes.jobs.length} jobs`}{name && `: ${name}`}</h2>
        <label>Order{" "}
          <select aria-label="Order of ranks" value={order}
            onChange={(event) => { setOrder(event.currentTarget.value as Order); }}>
            <option value="rank">by rank</option>
            {DOINGS.map((doing) => <option value={doing}>most {doing} first</option>)}
          </select>
        </label>
        <Keys lanes={lanes} dark={dark} />
      </div>
      <div class="clock" style={{ marginLeft: left }}>
        <Ruler from_s={seen.from_s} to_s={seen.to_s} width={across} />
      </div>
      <div class="rows" ref={box} onScroll={(event) => { setDown(event.currentTarget.scrollTop); }}>
        <div class="all" style={{ height: rows.length * high }}>
          <canvas
            ref={canvas} width={width * devicePixelRatio} height={height * devicePixelRatio}
            style={{ width, height }} role="img" data-lanes={shown.filter(({ lane }) => lane).length}
            aria-label={describe(lanes)}
            onPointerDown={(event) => { event.currentTarget.setPointerCapture(event.pointerId); }}
            onMouseDown={(event) => { held.current = pointed(event)[0]; }}
            onMouseMove={(event) => {
              const [x, y] = pointed(event);
              if (held.current !== null && event.buttons) {
                if (Math.abs(x - held.current) > 3) setBand([Math.min(x, held.current), Math.max(x, held.current)]);
                return;
              }
              setHover(x < left ? null : { row: Math.floor((y + down) / high), x, y });
            }}
            onMouseUp={(event) => {
              const [x] = pointed(event);
              if (band) onSpan(timeAt(band[0]), timeAt(band[1]));
              else if (x >= left) onSeek(timeAt(x));
              setBand(null);
              held.current = null;
            }}
            onMouseLeave={() => { setHover(null); }}
          />
          {shown.map((row, i) => (
            <div class="name" style={{ top: (first + i) * high, height: high, width: left - 6 }}>
              {row.lane ? <Name run={run} lane={row.lane} port={port} onPin={onPin} />
                : <b title={row.job.name}>{row.job.name}</b>}
            </div>
          ))}
        </div>
        {cursor >= left && cursor <= width && <i class="cursor" style={{ left: cursor, height: rows.length * high }} />}
        {band && <i class="band" style={{ left: band[0], width: band[1] - band[0], height: rows.length * high }} />}
      </div>
      {own && said.length > 0 && <Tip hover={hover} box={box.current} title={own.lane
        ? `${own.job.name}, rank ${own.lane.rank} on ${hostOf(run, own.lane)}` : `Job ${own.job.name}`} lines={said} />}
      <output>{atCursor(lanes, now_s)}</output>
    </section>
  );
}

const hostOf = (run: Run, { host }: Lane) => run.timeline.nodes[host]?.name ?? `host ${host}`;

/** What all lanes do at the cursor. */
function atCursor(lanes: Lanes, time_s: number): string {
  const counts = new Map<Doing, number>();
  for (const { lanes: own } of lanes.jobs) {
    for (const lane of own) {
      const doing = doingAt(lane, time_s)?.doing;
      if (doing) counts.set(doing, (counts.get(doing) ?? 0) + 1);
    }
  }
  const said = DOINGS.flatMap((doing) => (counts.has(doing) ? [`${counts.get(doing)!} in ${doing}`] : []));
  return `At ${seconds(time_s)}: ${said.join(", ").replace("in waiting", "waiting") || "no iteration is under way"}.`;
}

function describe(lanes: Lanes): string {
  const jobs = lanes.jobs.map(({ name, lanes: own, iterations }) => (
    `${name}: ${counted(own.length, "rank")}, ${counted(iterations.length, "iteration")}`));
  return `Lanes of ranks over time. ${jobs.join("; ")}`;
}

/** The iterations of a job at a time. */
function iterationsSaid({ iterations }: Job, time_s: number): string[] {
  return iterations.filter(({ from_s, to_s }) => from_s <= time_s && time_s < to_s).map((own) => (
    `iteration ${own.number}: ${short(own.to_s - own.from_s, "s")}, ${own.ended ? `rank ${own.last} ends last`
      : "unfinished"}`));
}

/** Iterations of a job, with their times as far as there is room. */
function drawHead(
  context: CanvasRenderingContext2D, { iterations }: Job, seen: Span,
  { left, top, width, height }: { left: number; top: number; width: number; height: number },
): void {
  const style = getComputedStyle(document.documentElement);
  const [raised, soft, edge] = ["--raised", "--soft", "--edge"].map((name) => style.getPropertyValue(name));
  const letters = smallLetters();
  context.font = `${letters}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  iterations.forEach((own, i) => {
    // ranks begin the next one while others end this one
    const until_s = Math.min(own.to_s, iterations[i + 1]?.from_s ?? Infinity);
    const [x0, x1] = [own.from_s, until_s].map((at_s) => (
      Math.min(width, Math.max(0, ((at_s - seen.from_s) / (seen.to_s - seen.from_s)) * width))));
    if (x1! - x0! < 0.5) return;
    context.fillStyle = raised!;
    context.fillRect(left + x0!, top + 2, x1! - x0!, height - 4);
    context.fillStyle = edge!;
    context.fillRect(left + x0!, top + 2, 1, height - 4);
    context.fillStyle = soft!;
    const time = short(own.to_s - own.from_s, "s");
    const words = [`iteration ${own.number}: ${time}`, `${own.number}: ${time}`, String(own.number)];
    const fits = words.find((one) => context.measureText(one).width < x1! - x0! - 8);
    if (fits) context.fillText(fits, left + x0! + 5, top + height / 2);
  });
}

/** A rank, which pins the link of its host. */
function Name({ run, lane, port, onPin }: {
  run: Run; lane: Lane; port: number | null; onPin: (port: number) => void;
}) {
  const link = linkOfHost(run, lane.host);
  const { ports } = run.timeline;
  const isPinned = port !== null && [ports[port]?.from, ports[port]?.to].includes(lane.host);
  const words = `${lane.rank} · ${hostOf(run, lane)}`;
  if (link === null) return <span>{words}</span>;
  return (
    <button class="link" aria-pressed={isPinned} data-rank={lane.rank}
      title={`Rank ${lane.rank}: pin ${way(run.names[link]!)}`} onClick={() => { onPin(link); }}>{words}</button>
  );
}

/** What colours mean, of what is drawn in some lane. */
function Keys({ lanes, dark }: { lanes: Lanes; dark: boolean }) {
  const there = useMemo(() => {
    const all = lanes.jobs.flatMap((job) => job.lanes.flatMap((lane) => lane.stretches));
    return new Set<string>(all.flatMap(({ doing, under }) => (
      under && doing === DOINGS[0] ? [doing, OVERLAPPED] : [doing])));
  }, [lanes]);
  const colours = laneColours(dark);
  return (
    <span class="keys">
      {([...DOINGS, OVERLAPPED] as const).map((what) => there.has(what) && (
        <span class="key">
          <i class={what === "waiting" ? "thin" : what === OVERLAPPED ? "strip" : ""}
            style={{ background: colours[what] }} />{what}
        </span>
      ))}
    </span>
  );
}

function Tip({ hover, box, title, lines }: {
  hover: { x: number; y: number }; box: HTMLElement | null; title: string; lines: string[];
}) {
  if (!box) return null;
  const wide = Math.min(300, box.clientWidth - 8);
  return (
    <div class="tip" style={{ left: Math.max(0, Math.min(hover.x + 14, box.clientWidth - wide)),
      top: box.offsetTop + hover.y + 14, maxWidth: wide }}>
      <b>{title}</b>
      {lines.map((line, i) => <p class={i ? "" : "value"}>{line}</p>)}
    </div>
  );
}
