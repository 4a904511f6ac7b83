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
  answers: LessonAnswer[];
  /** Why it is so: said after the right answer. */
  why: string;
}

export interface LessonAnswer {
  words: string;
  holds: (before: Result[], after: Result[]) => boolean;
  /** What the runs say against it, and the mistake behind it; said where it does not hold. */
  against: (before: Result[], after: Result[]) => string;
}

/** Mean of a figure over the runs, of all controllers or one; NaN without any. */
export function mean(runs: Result[], key: string, controller?: string): number {
  const values = runs.filter((run) => controller === undefined || run.controller === controller).map(({ summary }) => {
    const found = key.split(".").reduce<unknown>((at, part) => (at as Record<string, unknown> | null)?.[part], summary);
    return typeof found === "number" ? found : NaN;
  }).filter((value) => !Number.isNaN(value));
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : NaN;
}

/** What became of a figure, in words. */
const became = (words: string, key: string, unit = "") => (before: Result[], after: Result[]) => {
  const [from, to] = [before, after].map((runs) => quantityOf(mean(runs, key), unit));
  return from === to ? `${words} stayed at ${to}` : `${words} went from ${from} to ${to}`;
};

/** What the runs say against an answer, and the mistake. */
const against = (said: (before: Result[], after: Result[]) => string, mistake: string) => (
  (before: Result[], after: Result[]) => `${said(before, after)}. ${mistake}`);

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

/** Figures of the questions, and what became of them. */
const [THROUGHPUT_BECAME, DELAY_BECAME] = [
  became("Throughput per flow", THROUGHPUT, "b/s"), became("p99 delay", DELAY, "s")];
const [QUERY, MEAN_FCT, LOSS, GOODPUT, PAUSES] = [
  "queries.p99_s", "fct.mean_s", "flows.loss_total_pct", "flows.goodput_total_bps", "queues.pauses"];

export const LESSONS: Lesson[] = [
  {
    key: "buffers", about: "slow start and buffers",
    question: "What does a buffer 50 times smaller cost a controller that waits for losses?",
    setting: "Two NewReno flows share a link of 10 Gb/s, whose buffer holds 2,666 packets.",
    see: "Slow start doubles the windows until the buffer overflows. Half of what was in flight then still waits "
      + "there:",
    task: "Make the buffer small: queue limit 50p.",
    begins: { scenario: "dumbbell", controllers: ["newreno"], seeds: 3,
      set: [["run.duration", "400ms"], ["run.warmup", "100ms"], ["queue.kind", "drop-tail"]] },
    change: { set: [["queue.limit", "50p"]] },
    figures: told(["throughput per flow", THROUGHPUT, "b/s"], ["p99 delay", DELAY, "s"], ["mean queue in packets",
      "queues.busiest.mean_packets", ""]),
    answers: [
      { words: "Delay falls to less than a tenth, and throughput stays.", holds: (a, b) => (
        ratio(a, b, DELAY) < 0.1 && ratio(a, b, THROUGHPUT) >= LESS),
      against: against(THROUGHPUT_BECAME, "The halved window no longer filled the path.") },
      { words: "Delay falls to less than a tenth, and throughput falls too.", holds: (a, b) => (
        ratio(a, b, DELAY) < 0.1 && ratio(a, b, THROUGHPUT) < LESS),
      against: against(THROUGHPUT_BECAME, "A halved window loses throughput only where it no longer fills the path: "
        + "half of path and buffer, 50 packets each, is still the path.") },
      { words: "Delay stays: it comes from the distance.", holds: (a, b) => within(ratio(a, b, DELAY), LESS, MORE),
        against: against(DELAY_BECAME, "The distance makes 30 µs of it one way; the rest is waiting in the buffer.") },
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
        ratio(a, b, DELAY) < 0.5 && within(ratio(a, b, THROUGHPUT), 0.8, 0.98)),
      against: against(THROUGHPUT_BECAME, "The queue did not run empty long enough for that.") },
      { words: "Delay falls to less than half at no cost.", holds: (a, b) => (
        ratio(a, b, DELAY) < 0.5 && ratio(a, b, THROUGHPUT) > 0.98),
      against: against(THROUGHPUT_BECAME, "With K below a seventh of what the path holds, 50 packets, a cut leaves too "
        + "little in flight: the queue runs empty, and the link idles.") },
      { words: "Throughput falls to less than half.", holds: (a, b) => ratio(a, b, THROUGHPUT) < 0.5,
        against: against(THROUGHPUT_BECAME, "DCTCP cuts by half the share of marked packets, which is rarely all of "
          + "them: its cuts are smaller than those of loss.") },
    ],
    why: "Right: below about a seventh of the bandwidth-delay product the queue runs empty after each cut. What is "
      + "lost is a few percent, and what is won is most of the delay.",
  },
  {
    key: "min-rtt", about: "min-RTT freezing",
    question: "Can Swift aim at the smallest RTT that it has seen?",
    setting: "Two Swift flows take the smallest RTT as target, without any margin above it.",
    see: "Windows freeze. The queue is empty, and so is most of the link, which has 4.7 Gb/s for each:",
    task: "Give the target a margin of ten packet times: swift:target=min-rtt,epsilon=12us.",
    begins: { scenario: "dumbbell", controllers: ["swift:target=min-rtt,epsilon=0us"], seeds: 3, set: DUMBBELL },
    change: { controllers: ["swift:target=min-rtt,epsilon=12us"] },
    figures: told(["throughput per flow", THROUGHPUT, "b/s"], ["p99 delay", DELAY, "s"]),
    answers: [
      { words: "With the margin throughput more than doubles, and so does delay.", holds: (a, b) => (
        ratio(a, b, THROUGHPUT) > 2 && ratio(a, b, DELAY) > 2),
      against: against(DELAY_BECAME, "The margin bounds the queue: it may add 12 µs to the 34 µs of the path.") },
      { words: "With the margin throughput more than doubles, and delay grows by less than half.", holds: (a, b) => (
        ratio(a, b, THROUGHPUT) > 2 && ratio(a, b, DELAY) < 1.5),
      against: against(DELAY_BECAME, "The queue took more than the margin allows.") },
      { words: "With the margin throughput stays, and delay rises.", holds: (a, b) => (
        within(ratio(a, b, THROUGHPUT), LESS, MORE) && ratio(a, b, DELAY) > MORE),
      against: against(THROUGHPUT_BECAME, "Swift adds to its window only while the delay is below the target: the "
        + "margin makes that possible.") },
    ],
    why: "Right: no RTT is below the smallest one, and Swift adds to its window only while the delay is below its "
      + "target. Without a margin the window stays where it fell as the flows began.",
  },
  {
    key: "sccp", about: "incast and SCCP",
    question: "Can a switch prevent incast by setting windows?",
    setting: "A root asks 100 workers at once, five times. All answer through one port of 128 kB.",
    see: "Answers meet at the port, are lost, and wait for timeouts of 10 ms:",
    task: "Let the switch run SCCP, which sets the windows of the senders: program = [{ kind = \"sccp\" }].",
    begins: { scenario: "sccp-incast", controllers: [], seeds: 3, set: [["program", "[]"]] },
    change: { set: [["program", "[{ kind = \"sccp\" }]"]] },
    figures: told(["slowest answer", QUERY, "s"], ["loss in %", LOSS, ""], ["timeouts", "flows.timeouts", ""]),
    answers: [
      { words: "Nothing is lost any more, and answers come in less than half the time.", holds: (a, b) => (
        mean(b, LOSS) === 0 && ratio(a, b, QUERY) < 0.5),
      against: against(became("The slowest answer", QUERY, "s"), "Most of the time was not spent on timeouts.") },
      { words: "Nothing is lost any more, but answers take longer: windows are small.", holds: (a, b) => (
        mean(b, LOSS) === 0 && ratio(a, b, QUERY) > 1),
      against: against(became("The slowest answer", QUERY, "s"), "Small windows of 100 senders together still fill the "
        + "link: 1 MB takes 8 ms at 1 Gb/s, and no timeout is waited for.") },
      { words: "Losses stay: windows cannot be small enough.", holds: (_, b) => mean(b, LOSS) > 0,
        against: against(became("Loss in %", LOSS), "A window may be a part of a segment: senders then take turns.") },
    ],
    why: "Right: the switch knows how many flows share the port, and gives each its part of what port and path hold.",
  },
  {
    key: "spraying", about: "spraying and MSwift",
    question: "Which delay should a controller heed when packets take all paths in turn?",
    setting: "Sixteen hosts of a fat tree send 2 MB each. Packets take the paths in turn; those by one core switch of "
      + "four are 9 µs longer. LSwift is Swift that takes no overtaken packet for a loss.",
    see: "LSwift heeds the delay of the latest packet, whichever path it took:",
    task: "Heed the median of the last delays, as MSwift does: replace lswift by mswift.",
    begins: { scenario: "permutation", controllers: ["lswift"], seeds: 3,
      set: [["run.duration", "6ms"], ["topology.k", "4"], ["routing.kind", "round-robin"],
        ["links", "[{ link = \"core0>*\", delay = \"10us\" }]"]] },
    change: { controllers: ["mswift"] },
    figures: told(["mean completion time", MEAN_FCT, "s"], ["p99", "fct.p99_s", "s"], ["p99 delay", DELAY, "s"]),
    answers: [
      { words: "Flows take longer: the median reacts late.", holds: (a, b) => ratio(a, b, MEAN_FCT) > MORE,
        against: against(became("The mean completion time", MEAN_FCT, "s"), "A late reaction costs where queues grow. "
          + "Here the long path is no queue, and nothing should react to it.") },
      { words: "Nothing changes: as many packets take the long path.", holds: (a, b) => (
        within(ratio(a, b, MEAN_FCT), LESS, MORE)),
      against: against(became("The mean completion time", MEAN_FCT, "s"), "As many packets take it, but a quarter of "
        + "the delays does not move their median.") },
      { words: "Flows finish in less than half the time.", holds: (a, b) => ratio(a, b, MEAN_FCT) < 0.5,
        against: against(became("The mean completion time", MEAN_FCT, "s"), "The long path held flows up less.") },
    ],
    why: "Right: the long path's delay is always above the target, so LSwift cuts its window for all paths. The median "
      + "of the last delays is that of the other three.",
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
    figures: told(["Jain's index", "flows.jain", ""], ["goodput of both", GOODPUT, "b/s"]),
    answers: [
      { words: "Shares stay equal: both see the same queue.", holds: (_, b) => mean(b, "flows.jain") > 0.95,
        against: against(became("Jain's index", "flows.jain"), "Both see the same marks, and each cuts by the same "
          + "share. The near flow has more round trips, and adds a segment in each.") },
      { words: "The link stays full, and shares become unequal.", holds: (a, b) => (
        mean(b, "flows.jain") < 0.95 && ratio(a, b, GOODPUT) >= LESS),
      against: against(became("Jain's index", "flows.jain"), "The difference of the round trips was too small.") },
      { words: "The link is no longer full.", holds: (a, b) => ratio(a, b, GOODPUT) < LESS,
        against: against(became("The goodput of both", GOODPUT, "b/s"), "The near flow takes what the far one "
          + "leaves.") },
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
    figures: told(["pauses", PAUSES, ""], ["p99 delay of the victim", VICTIM, "s"],
      ["mean completion of the eight", MEAN_FCT, "s"]),
    answers: [
      { words: "Pauses fall to less than a tenth, and the victim's delay too.", holds: (a, b) => (
        ratio(a, b, PAUSES) < 0.1 && ratio(a, b, VICTIM) < 0.1),
      against: against(became("The victim's p99 delay", VICTIM, "s"), "Something else than pauses held it up.") },
      { words: "Pauses fall to less than a tenth, but the victim's delay stays.", holds: (a, b) => (
        ratio(a, b, PAUSES) < 0.1 && ratio(a, b, VICTIM) >= LESS),
      against: against(became("The victim's p99 delay", VICTIM, "s"), "Its own port was free all the time: only the "
        + "pauses of the link that it shares held it up.") },
      { words: "Pauses stay: the port is too small for eight flows.", holds: (a, b) => (
        ratio(a, b, PAUSES) >= LESS),
      against: against(became("Pauses", PAUSES), "A port carries any number of flows whose windows together are small "
        + "enough; the queue grows only until they have reacted.") },
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
    figures: told(["goodput of all", GOODPUT, "b/s"], ["loss in %", LOSS, ""], ["timeouts", "flows.timeouts", ""]),
    answers: [
      { words: "All together carry less than half: there are fewer senders.", holds: (a, b) => (
        ratio(a, b, GOODPUT) < 0.5),
      against: against(became("The goodput of all", GOODPUT, "b/s"), "One station alone can fill the channel: stations "
        + "share it, and bring none of their own.") },
      { words: "All together carry as much: the channel is the limit.", holds: (a, b) => (
        within(ratio(a, b, GOODPUT), LESS, MORE)),
      against: against(became("The goodput of all", GOODPUT, "b/s"), "The channel is the limit, but collisions take a "
        + "part of it: loss fell as stations left.") },
      { words: "All together carry more, with fewer losses.", holds: (a, b) => (
        ratio(a, b, GOODPUT) > MORE && ratio(a, b, LOSS) < LESS),
      against: against(became("Loss in %", LOSS), "Collisions did not become fewer.") },
    ],
    why: "Right: what collides is sent again, and fills the channel once more. Fewer stations collide less.",
  },
];
