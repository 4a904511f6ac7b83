/** The lessons. Which answer is right is computed from the figures of the runs: nothing is known beforehand. */

import { quantityOf } from "./size";
import type { Experiment } from "./experiment";

/** What a lesson reads of a finished run. */
export interface Result {
  controller: string;
  seed: number;
  summary: Record<string, unknown>;
}

type Begin = Pick<Experiment, "scenario" | "set" | "controllers" | "seeds">;

export interface Lesson {
  key: string;
  about: string;
  question: string;
  /** What is simulated. */
  setting: string;
  /** What to look at. */
  see: string;
  task: string;
  begins: Begin;
  change: Partial<Begin>;
  /** The figures of the question, in words. */
  figures: (runs: Result[]) => string;
  answers: { words: string; holds: (before: Result[], after: Result[]) => boolean }[];
  /** Why it is so: said after the right answer. */
  why: string;
}

/** Mean of a figure over the runs, of all controllers or one; NaN without any. */
export function mean(runs: Result[], key: string, controller?: string): number {
  const values = runs.filter((run) => controller === undefined || run.controller === controller).map(({ summary }) => {
    const found = key.split(".").reduce<unknown>((at, part) => (at as Record<string, unknown> | null)?.[part], summary);
    return typeof found === "number" ? found : NaN;
  }).filter((value) => !Number.isNaN(value));
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : NaN;
}

/** Figures in words: their names and units by key. */
const told = (...figures: [string, string, string][]) => (runs: Result[]) => (
  figures.map(([words, key, unit]) => `${words} ${quantityOf(mean(runs, key), unit)}`).join(", ") + ".");

/** The only answer that the runs carry; null if none does, or several. */
export function rightOf(lesson: Lesson, before: Result[], after: Result[]): number | null {
  const right = lesson.answers.flatMap(({ holds }, i) => (holds(before, after) ? [i] : []));
  return right.length === 1 ? right[0]! : null;
}

/** The figure after a change as a share of that before. */
const ratio = (before: Result[], after: Result[], key: string) => mean(after, key) / mean(before, key);
const within = (value: number, from: number, to: number) => value >= from && value <= to;

const THROUGHPUT = "flows.throughput_mean_bps";
const DELAY = "flows.delay_p99_s";
const VICTIM = "groups.victim.flows.delay_p99_s";
const DUMBBELL: [string, string][] = [["run.duration", "40ms"], ["run.warmup", "10ms"]];
/** So near that nobody would see a difference. */
const [LESS, MORE] = [0.95, 1.05];

export const LESSONS: Lesson[] = [
  {
    key: "buffers", about: "slow start and buffers",
    question: "What does a buffer 50 times smaller cost a controller that waits for losses?",
    setting: "Two NewReno flows share a link of 10 Gb/s, whose buffer holds 2,666 packets.",
    see: "NewReno fills whatever buffer there is:",
    task: "Make the buffer small: queue limit 50p.",
    begins: { scenario: "dumbbell", controllers: ["newreno"], seeds: 3,
      set: [["run.duration", "400ms"], ["run.warmup", "100ms"], ["queue.kind", "drop-tail"]] },
    change: { set: [["queue.limit", "50p"]] },
    figures: told(["throughput per flow", THROUGHPUT, "b/s"], ["p99 delay", DELAY, "s"], ["loss in %",
      "flows.loss_total_pct", ""]),
    answers: [
      { words: "Delay falls to less than a tenth, and throughput stays.", holds: (a, b) => (
        ratio(a, b, DELAY) < 0.1 && ratio(a, b, THROUGHPUT) >= LESS) },
      { words: "Delay falls to less than a tenth, and throughput falls too.", holds: (a, b) => (
        ratio(a, b, DELAY) < 0.1 && ratio(a, b, THROUGHPUT) < LESS) },
      { words: "Delay stays: it comes from the distance.", holds: (a, b) => within(ratio(a, b, DELAY), LESS, MORE) },
    ],
    why: "Right: half a window still fills the path where the buffer holds about one bandwidth-delay product, here 50 "
      + "packets. What lies above it only adds delay.",
  },
  {
    key: "threshold", about: "ECN threshold and K",
    question: "How low may the marking threshold K be?",
    setting: "Two DCTCP flows share a link of 10 Gb/s. The switch marks above K = 65 packets.",
    see: "DCTCP holds the queue near K:",
    task: "Set K to 2 packets: queue mark 2p.",
    begins: { scenario: "dumbbell", controllers: ["dctcp"], seeds: 3, set: DUMBBELL },
    change: { set: [["queue.mark", "2p"]] },
    figures: told(["throughput per flow", THROUGHPUT, "b/s"], ["p99 delay", DELAY, "s"], ["mean queue in packets",
      "queues.busiest.mean_packets", ""]),
    answers: [
      { words: "Delay falls to less than half, and throughput loses 2 to 20 %.", holds: (a, b) => (
        ratio(a, b, DELAY) < 0.5 && within(ratio(a, b, THROUGHPUT), 0.8, 0.98)) },
      { words: "Delay falls to less than half at no cost.", holds: (a, b) => (
        ratio(a, b, DELAY) < 0.5 && ratio(a, b, THROUGHPUT) > 0.98) },
      { words: "Throughput falls to less than half.", holds: (a, b) => ratio(a, b, THROUGHPUT) < 0.5 },
    ],
    why: "Right: below about a seventh of the bandwidth-delay product the queue runs empty after each cut. What is "
      + "lost "
      + "is a few percent, and what is won is most of the delay.",
  },
  {
    key: "min-rtt", about: "min-RTT freezing",
    question: "Why does Swift freeze when its target is the smallest RTT it has seen?",
    setting: "Two Swift flows take the smallest RTT as target, without any margin above it.",
    see: "Each has a third of what it could have, and the queue is empty:",
    task: "Give the target a margin of ten packet times: swift:target=min-rtt,epsilon=12us.",
    begins: { scenario: "dumbbell", controllers: ["swift:target=min-rtt,epsilon=0us"], seeds: 3, set: DUMBBELL },
    change: { controllers: ["swift:target=min-rtt,epsilon=12us"] },
    figures: told(["throughput per flow", THROUGHPUT, "b/s"], ["p99 delay", DELAY, "s"]),
    answers: [
      { words: "Throughput more than doubles, and so does delay.", holds: (a, b) => (
        ratio(a, b, THROUGHPUT) > 2 && ratio(a, b, DELAY) > 2) },
      { words: "Throughput more than doubles, for less than half as much delay again.", holds: (a, b) => (
        ratio(a, b, THROUGHPUT) > 2 && ratio(a, b, DELAY) < 1.5) },
      { words: "Throughput stays, and delay rises.", holds: (a, b) => (
        within(ratio(a, b, THROUGHPUT), LESS, MORE) && ratio(a, b, DELAY) > MORE) },
    ],
    why: "Right: any packet in front makes an RTT longer than the smallest one, so without a margin every ACK asks "
      + "for a "
      + "smaller window.",
  },
  {
    key: "sccp", about: "incast and SCCP",
    question: "Can a switch prevent incast by setting windows?",
    setting: "A root asks 100 workers at once, five times. All answer through one port of 128 kB.",
    see: "Answers meet at the port, are lost, and wait for timeouts of 10 ms:",
    task: "Let the switch run SCCP, which sets the windows of the senders: program = [{ kind = \"sccp\" }].",
    begins: { scenario: "sccp-incast", controllers: [], seeds: 3, set: [["program", "[]"]] },
    change: { set: [["program", "[{ kind = \"sccp\" }]"]] },
    figures: told(["slowest answer", "queries.p99_s", "s"], ["loss in %", "flows.loss_total_pct", ""],
      ["timeouts", "flows.timeouts", ""]),
    answers: [
      { words: "Nothing is lost any more, and answers come in less than half the time.", holds: (a, b) => (
        mean(b, "flows.loss_total_pct") === 0 && ratio(a, b, "queries.p99_s") < 0.5) },
      { words: "Nothing is lost any more, but answers take longer: windows are small.", holds: (a, b) => (
        mean(b, "flows.loss_total_pct") === 0 && ratio(a, b, "queries.p99_s") > 1) },
      { words: "Losses stay: windows cannot be small enough.", holds: (_, b) => mean(b, "flows.loss_total_pct") > 0 },
    ],
    why: "Right: the switch knows how many flows share the port, and gives each its part of what port and path hold.",
  },
  {
    key: "spraying", about: "spraying and MSwift",
    question: "What does per-packet spraying need from a delay-based controller?",
    setting: "Sixteen hosts of a fat tree send 2 MB each to another host. Packets are sprayed over all paths; Swift "
      + "decides.",
    see: "A flow sees the delays of many paths at once:",
    task: "Compare MSwift, which takes the median of the delays: replace swift by mswift.",
    begins: { scenario: "permutation", controllers: ["swift"], seeds: 3,
      set: [["run.duration", "3ms"], ["topology.k", "4"], ["routing.kind", "spray"]] },
    change: { controllers: ["mswift"] },
    figures: told(["mean completion time", "fct.mean_s", "s"], ["p99", "fct.p99_s", "s"],
      ["p99 delay", DELAY, "s"]),
    answers: [
      { words: "Flows take longer: the median reacts late.", holds: (a, b) => ratio(a, b, "fct.mean_s") > MORE },
      { words: "Nothing changes: all paths are alike.", holds: (a, b) => (
        within(ratio(a, b, "fct.mean_s"), LESS, MORE)) },
      { words: "Flows finish more than a tenth earlier.", holds: (a, b) => ratio(a, b, "fct.mean_s") < 0.9 },
    ],
    why: "Right: a single slow path makes Swift cut the window for all paths; the median of the last delays does not "
      + "follow "
      + "one of them.",
  },
  {
    key: "rtts", about: "fairness of RTTs",
    question: "Do two DCTCP flows share a link equally when one comes from farther away?",
    setting: "Two DCTCP flows share a link of 10 Gb/s; both senders are equally near.",
    see: "Jain's index is 1 where shares are equal, and 0.5 where one of two has all:",
    task: "Move the first sender away: its link gets a delay of 100 µs, "
      + "links = [{ link = \"s0>left\", delay = \"100us\" }].",
    begins: { scenario: "dumbbell", controllers: ["dctcp"], seeds: 3, set: DUMBBELL },
    change: { set: [["links", "[{ link = \"s0>left\", delay = \"100us\" }]"]] },
    figures: told(["Jain's index", "flows.jain", ""], ["throughput per flow", THROUGHPUT, "b/s"]),
    answers: [
      { words: "Shares stay equal: both see the same queue.", holds: (_, b) => mean(b, "flows.jain") > 0.95 },
      { words: "The link stays full, and shares become unequal.", holds: (a, b) => (
        mean(b, "flows.jain") < 0.95 && ratio(a, b, THROUGHPUT) >= LESS) },
      { words: "The link is no longer full.", holds: (a, b) => ratio(a, b, THROUGHPUT) < LESS },
    ],
    why: "Right: a window is sent once a round trip, and grows by a segment a round trip. The nearer flow has more of "
      + "both.",
  },
  {
    key: "pfc", about: "PFC's victims",
    question: "Who pays when a switch pauses its neighbours instead of dropping?",
    setting: "Eight DCQCN flows fill one port. A ninth host sends to another port, which is free, through the same "
      + "switches. Switches pause (PFC).",
    see: "The ninth flow, the victim, waits although its own port is free:",
    task: "Let the eight react within a round trip: replace dcqcn by dctcp.",
    begins: { scenario: "pfc-incast", controllers: ["dcqcn"], seeds: 3, set: [] },
    change: { controllers: ["dctcp"] },
    figures: told(["pauses", "queues.pauses", ""], ["p99 delay of the victim", VICTIM, "s"],
      ["mean completion of the eight", "fct.mean_s", "s"]),
    answers: [
      { words: "Pauses fall to less than a tenth, and the victim's delay too.", holds: (a, b) => (
        ratio(a, b, "queues.pauses") < 0.1 && ratio(a, b, VICTIM) < 0.1) },
      { words: "Pauses fall to less than a tenth, but the victim's delay stays.", holds: (a, b) => (
        ratio(a, b, "queues.pauses") < 0.1 && ratio(a, b, VICTIM) >= LESS) },
      { words: "Pauses stay: the port is too small for eight flows.", holds: (a, b) => (
        ratio(a, b, "queues.pauses") >= LESS) },
    ],
    why: "Right: a pause stops a whole link, with all that crosses it. Senders that react before buffers fill need "
      + "none.",
  },
  {
    key: "radio", about: "the radio cell",
    question: "Does a radio cell carry more with more stations?",
    setting: "Twenty stations of IEEE 802.15.4 send by TCP to a sink, over one channel of 250 kb/s.",
    see: "Stations that do not wait long enough collide:",
    task: "Take 15 of the stations away: topology sources 5.",
    begins: { scenario: "wireless-cell", controllers: ["newreno"], seeds: 3, set: [] },
    change: { set: [["topology.sources", "5"]] },
    figures: told(["goodput of all", "flows.goodput_total_bps", "b/s"], ["loss in %", "flows.loss_total_pct", ""],
      ["timeouts", "flows.timeouts", ""]),
    answers: [
      { words: "All together carry less than half: there are fewer senders.", holds: (a, b) => (
        ratio(a, b, "flows.goodput_total_bps") < 0.5) },
      { words: "All together carry as much: the channel is the limit.", holds: (a, b) => (
        within(ratio(a, b, "flows.goodput_total_bps"), LESS, MORE)) },
      { words: "All together carry more, with fewer losses.", holds: (a, b) => (
        ratio(a, b, "flows.goodput_total_bps") > MORE && ratio(a, b, "flows.loss_total_pct") < LESS) },
    ],
    why: "Right: what collides is sent again, and fills the channel once more. Fewer stations collide less.",
  },
];
