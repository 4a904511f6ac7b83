/** Collectives of jobs: times, bandwidths, and the members that the others wait for, one by one and by kind. */

import type { Run } from "./run";
import type { Span } from "./stretch";
import { text } from "./unpack";

/** A collective. Figures are NaN where its members have not all ended it. */
export interface Collective extends Span {
  job: string;
  iteration: number;
  /** Number of the collective in its job. */
  number: number;
  pattern: string;
  algorithm: string;
  members: number;
  bytes: number;
  ended: boolean;
  time_s: number;
  skew_s: number;
  busbw: number;
  efficiency: number;
  /** Member that starts last, for which the others wait; NaN if none waits, or if one has not started. */
  slowest: number;
  /** Sender and receiver of the message that takes longest, and its time; NaN before the first message. */
  message: { from: number; to: number; time_s: number };
}

/** Collectives of a job with the same pattern, members and bytes; figures are means over those that ended. */
export interface Kind {
  job: string;
  pattern: string;
  algorithm: string;
  members: number;
  bytes: number;
  count: number;
  finished: number;
  time_s: number;
  longest_s: number;
  skew_s: number;
  busbw: number;
  efficiency: number;
  /** Member that starts last most often, and its share of those in which any waits; NaN without one. */
  slowest: number;
  share: number;
  all: Collective[];
}

/** All collectives of a run in the order of its table. */
export class Collectives {
  readonly all: Collective[] = [];
  readonly kinds: Kind[] = [];
  /** Hosts of ranks, by job and rank. */
  private readonly hosts = new Map<string, number>();

  constructor(run: Run) {
    const { collectives: table, ranks } = run.tables;
    if (!table) return;
    const [iteration, number, members, bytes, from, to, time, skew, busbw, efficiency, slowest, sender, receiver,
      message] = ["iteration", "collective", "members", "bytes", "first_start_s", "last_finish_s", "time_s", "skew_s",
      "busbw_Bps", "efficiency", "slowest_rank", "slowest_from", "slowest_to", "slowest_message_s",
    ].map((name) => table.values(name));
    const [jobs, patterns, algorithms] = ["job", "pattern", "algorithm"].map((name) => table.get(name));
    const kinds = new Map<string, Collective[]>();
    for (let row = 0; row < from!.length; row++) {
      const ended = !Number.isNaN(to![row]!);
      const own: Collective = {
        job: text(jobs, row), iteration: iteration![row]!, number: number![row]!, pattern: text(patterns, row),
        algorithm: text(algorithms, row), members: members![row]!, bytes: bytes![row]!, from_s: from![row]!,
        to_s: ended ? to![row]! : run.end_s, ended, time_s: time![row]!, skew_s: skew![row]!, busbw: busbw![row]!,
        efficiency: efficiency![row]!, slowest: skew![row]! > 0 ? slowest![row]! : NaN,
        message: { from: sender![row]!, to: receiver![row]!, time_s: message![row]! },
      };
      this.all.push(own);
      const kind = [own.job, own.pattern, own.members, own.bytes].join("\n");
      const same = kinds.get(kind);
      if (same) same.push(own);
      else kinds.set(kind, [own]);
    }
    this.kinds = Array.from(kinds.values(), kindOf);
    const [rank, host] = [ranks?.values("rank"), ranks?.values("host")];
    rank?.forEach((own, row) => { this.hosts.set(`${own}/${text(ranks!.get("job"), row)}`, host![row]!); });
  }

  /** Host of a rank; null where it is not known. */
  hostOf(job: string, rank: number): number | null {
    return this.hosts.get(`${rank}/${job}`) ?? null;
  }
}

/** Mean of the values that are there; NaN without any. */
function mean(values: number[]): number {
  const there = values.filter((value) => !Number.isNaN(value));
  return there.length ? there.reduce((sum, value) => sum + value, 0) / there.length : NaN;
}

function kindOf(all: Collective[]): Kind {
  const { job, pattern, members, bytes } = all[0]!;
  const ended = all.filter((own) => own.ended);
  const counts = new Map<number, number>();
  for (const { slowest } of ended) if (!Number.isNaN(slowest)) counts.set(slowest, (counts.get(slowest) ?? 0) + 1);
  const [slowest, times] = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0] ?? [NaN, NaN];
  const of = (figure: (own: Collective) => number) => mean(ended.map(figure));
  return {
    job, pattern, algorithm: [...new Set(all.map((own) => own.algorithm))].join(", "), members, bytes,
    count: all.length, finished: ended.length, time_s: of(({ time_s }) => time_s),
    longest_s: ended.reduce((most, { time_s }) => Math.max(most, time_s), ended.length ? 0 : NaN),
    skew_s: of(({ skew_s }) => skew_s), busbw: of(({ busbw }) => busbw), efficiency: of((own) => own.efficiency),
    slowest, share: times / [...counts.values()].reduce((sum, count) => sum + count, 0), all,
  };
}

const kept = new WeakMap<Run, Collectives>();

/** The collectives of a run, once they are read. */
export function collectivesOf(run: Run): Collectives {
  let found = kept.get(run);
  if (!found) kept.set(run, found = new Collectives(run));
  return found;
}

/** Places of a list in the order of a figure or of a text; missing figures come last. */
export function ordered<Own>(all: Own[], by: (own: Own) => number | string, descending: boolean): number[] {
  const keys = all.map(by);
  const sign = descending ? -1 : 1;
  return [...all.keys()].sort((a, b) => {
    const [x, y] = [keys[a]!, keys[b]!];
    if (typeof x === "string" || typeof y === "string") return sign * String(x).localeCompare(String(y)) || a - b;
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || a - b;
    return sign * (x - y) || a - b;
  });
}
