/** What is plotted of ports, of flows, and of all of them. */

import { exact, seconds, way } from "../data/format";
import type { Pin } from "../data/need";
import { goodputOf, rateOf, spanOf } from "../data/rates";
import type { Metric, Run } from "../data/run";
import { endOf, hasWindow, isEndless } from "../data/states";
import type { Curve, Line } from "./Plot";

export interface Pane {
  title: string;
  unit: string;
  curves: Curve[];
  lines?: Line[];
  /** What stands beside the title. */
  note?: string;
}

/** Windows are told in packets, where a run says how large they are, or in bytes. */
export type Measure = "packets" | "bytes";

/** Endings of names of series, their units and the panes that they are in. */
const UNITS: [string, string, string][] = [["_bytes", "B", "Window"], ["_s", "s", "Times"], ["_bps", "b/s", "Rates"],
  ["_packets", "packets", "Packets"]];

/** Curves of windows: what else counts bytes would hide them. */
const isWindow = (name: string) => /^(cwnd|ssthresh)/.test(name);
const isDelay = (name: string) => /delay|rtt|target/.test(name);

/**
 * The samples of a flow, those of one unit in one pane; a delay stands with the target that it is compared with, and
 * other delays apart. A value holds until the next, the last one until the end.
 */
export function panesOf(run: Run, flow: number, measure: Measure = "bytes"): Pane[] {
  const panes = new Map<string, Pane>();
  const end_s = endOf(run, flow);
  const { packet_bytes } = run.about;
  const samples = run.samplesOf(`flow ${flow}`).filter(({ name, value }) => (
    // sums dwarf a window
    name !== "acked_bytes" && name !== "offered_bytes" && !(isWindow(name) && isEndless(value))
    && Array.from(value).some((own) => !Number.isNaN(own))));
  const names = samples.map(({ name }) => name);
  const target = names.some((name) => name.includes("target"));
  const compared = COMPARED.find((name) => names.includes(name));
  for (const { name, time_s, value } of samples) {
    const [ending, own, group] = UNITS.find(([end]) => name.endsWith(end)) ?? ["", "", name];
    const inPackets = own === "B" && measure === "packets" && packet_bytes !== undefined;
    const unit = inPackets ? "packets" : own;
    const counted = inPackets ? "Packets" : "Bytes";
    const title = own === "B" && !isWindow(name) ? counted : own !== "s" || !isDelay(name) ? group
      : !target ? "Delay" : name === compared || name.includes("target") ? AGAINST : "Other delays";
    const pane = panes.get(title) ?? { title, unit, curves: [], ...(inPackets ? { lines: ONE_PACKET } : {}) };
    panes.set(title, pane);
    const label = ending ? name.slice(0, -ending.length).replaceAll("_", " ") : name;
    const holds = time_s.length > 0 && time_s.at(-1)! < end_s;
    const values = inPackets ? Float64Array.from(value, (bytes) => bytes / packet_bytes) : value;
    pane.curves.push({ label, stepped: true, dashed: label.includes("target"),
      time_s: holds ? [...time_s, end_s] : time_s, values: holds ? [...values, values.at(-1)!] : values });
  }
  return [...panes.values()].sort((a, b) => rank(a) - rank(b));
}

/** Delays that a target may be compared with, the first that there is. */
const COMPARED = ["fabric_delay_s", "delay_s", "queue_delay_s", "srtt_s", "rtt_s"];
const AGAINST = "Delay against target";
const ORDER = [AGAINST, "Delay", "Window"];
const ONE_PACKET: Line[] = [{ value: 1, name: "one packet" }];
/** What explains a flow comes first. */
const rank = ({ title }: Pane) => (ORDER.includes(title) ? ORDER.indexOf(title) : ORDER.length);

/** The frames of a run as times. */
const timesOf = (run: Run) => Float64Array.from({ length: run.frames }, (_, i) => run.timeOf(i));

/** What is recorded of a port over time. */
export function panesOfPort(run: Run, port: number): Pane[] {
  const times = timesOf(run);
  const curves = (...all: [string, Metric, number?][]): Curve[] => (
    all.filter(([, metric]) => run.metrics.includes(metric)).map(([label, metric, by = 1]) => {
      const values = run.portOver(metric, port);
      return { label, time_s: times, values: by === 1 ? values : values.map((own) => by * own), stepped: true };
    }));
  const panes: Pane[] = [
    { title: "Queue", unit: "B", curves: curves(["largest", "queue_max_bytes"], ["mean", "queue_mean_bytes"]) },
    { title: "Utilisation", unit: "%", curves: curves(["busy", "busy", 100], ["paused", "paused", 100]) },
    { title: "Marks and drops", unit: "", curves: curves(["marks", "marks"], ["drops", "drops"]) },
  ];
  return panes.filter((pane) => pane.curves.length > 0);
}

/** The rate of a flow: bytes behind a gap count where they can have arrived, so that none is above its link. */
function ratePane(run: Run, flow: number): Pane {
  const link = run.linkOf(flow);
  return {
    title: "Rate", unit: "b/s", note: `means over ${seconds(spanOf(run) * run.timeline.frame_s)}`,
    curves: [{ label: "arrived", time_s: timesOf(run), values: rateOf(run, flow), stepped: true }],
    ...(Number.isNaN(link) ? {} : { lines: [{ value: link, name: "link rate" }] }),
  };
}

/** What is recorded of a flow over time. */
export function panesOfFlow(run: Run, flow: number, measure: Measure = "bytes"): Pane[] {
  const panes: Pane[] = panesOf(run, flow, measure);
  if (run.byFlow?.has("cwnd_bytes") && hasWindow(run, flow)
    && !panes.some((pane) => pane.curves.some((curve) => curve.label === "cwnd"))) {
    const { packet_bytes } = run.about;
    const inPackets = measure === "packets" && packet_bytes !== undefined;
    const end_s = endOf(run, flow);
    // a flow that is over has none
    const bytes = run.flowOver("cwnd_bytes", flow).map((own, frame) => (run.timeOf(frame) > end_s ? NaN : own));
    const values = inPackets ? bytes.map((own) => own / packet_bytes) : bytes;
    panes.push({ title: "Window", unit: inPackets ? "packets" : "B", ...(inPackets ? { lines: ONE_PACKET } : {}),
      curves: [{ label: "cwnd", time_s: timesOf(run), values, stepped: true }] });
  }
  panes.sort((a, b) => rank(a) - rank(b));
  const first = panes.filter((pane) => rank(pane) < ORDER.length);
  if (run.byFlow?.has("delivered_bytes")) first.push(ratePane(run, flow));
  return [...first, ...panes.filter((pane) => rank(pane) === ORDER.length)];
}

/** Panes of two runs in one: the second's curves are dashed, in the colours of the first's. */
export function beside(first: Pane[], second: Pane[], names: [string, string]): Pane[] {
  const named = (panes: Pane[], side: 0 | 1) => panes.map((pane) => ({
    ...pane, curves: pane.curves.map((curve, colour) => ({
      ...curve, colour: curve.colour ?? colour, dashed: side === 1, label: `${curve.label}, ${names[side]}` })),
  }));
  // a delay with a target and one without stand together
  const kind = ({ title }: Pane) => (title.startsWith("Delay") ? "Delay" : title);
  const both = new Map(named(first, 0).map((pane) => [kind(pane), pane]));
  for (const pane of named(second, 1)) {
    const own = both.get(kind(pane));
    if (!own) both.set(kind(pane), pane);
    else {
      own.curves.push(...pane.curves);
      if (pane.title === AGAINST) own.title = AGAINST;
    }
  }
  return [...both.values()];
}

/** Several ports and flows in one plot of each kind; a curve has the colour of its place. */
export function panesOfPins(run: Run, pins: Pin[], measure: Measure): Pane[] {
  const panes = new Map<string, Pane>();
  const add = (title: string, pane: Pane, curve: Curve | undefined, colour: number, label: string) => {
    if (!curve) return;
    const own = panes.get(title) ?? { ...pane, title, curves: [] };
    panes.set(title, own);
    own.curves.push({ ...curve, colour, label, dashed: false });
  };
  pins.forEach(({ what, at }, colour) => {
    if (what === "port") {
      const name = way(run.names[at]!);
      for (const pane of panesOfPort(run, at)) add(pane.title, pane, pane.curves[0], colour, name);
      return;
    }
    for (const pane of panesOfFlow(run, at, measure)) {
      const curve = pane.title.startsWith("Delay") ? pane.curves.find(({ label }) => !label.includes("target"))
        : pane.curves.find(({ label }) => label === "cwnd") ?? pane.curves[0];
      const title = pane.title.startsWith("Delay") ? "Delay" : pane.title;
      if (["Delay", "Window", "Rate"].includes(title)) add(title, pane, curve, colour, `flow ${at}`);
    }
  });
  return [...panes.values()];
}

/** What all flows and all ports add up to. */
export function panesOfTotals(run: Run): Pane[] {
  const times = timesOf(run);
  const sum = (label: string, metric: Metric): Curve[] => (
    run.metrics.includes(metric) ? [{ label, time_s: times, values: run.totalOf(metric), stepped: true }] : []);
  const goodput = goodputOf(run);
  const panes: Pane[] = [
    { title: "Goodput of all flows", unit: "b/s", note: `means over ${seconds(spanOf(run) * run.timeline.frame_s)}`,
      curves: goodput ? [{ label: "arrived", time_s: times, values: goodput, stepped: true }] : [] },
    { title: "Queues of all ports", unit: "B", note: "sums",
      curves: [...sum("largest", "queue_max_bytes"), ...sum("mean", "queue_mean_bytes")] },
    { title: "Marks and drops of all ports", unit: "", note: "packets per frame",
      curves: [...sum("marks", "marks"), ...sum("drops", "drops")] },
  ];
  return panes.filter(({ curves }) => curves.some(({ values }) => Array.from(values).some((own) => own > 0)));
}

/** How often the delay of a flow was below its target, in words; empty where not both are recorded. */
export function whyOf(panes: Pane[]): { below: number; samples: number; curve: string } | null {
  const curves = panes.find(({ title }) => title === AGAINST)?.curves ?? [];
  const target = curves.find(({ label }) => label.includes("target"));
  const delay = curves.find(({ label }) => !label.includes("target"));
  if (!target || !delay) return null;
  let [below, samples, at] = [0, 0, 0];
  // the last value holds until the flow's end, which is no sample
  const held = delay.values.length > 1 && delay.values[delay.values.length - 1]
    === delay.values[delay.values.length - 2];
  for (let i = 0; i < delay.time_s.length - (held ? 1 : 0); i++) {
    while (at < target.time_s.length - 1 && target.time_s[at + 1]! <= delay.time_s[i]!) at++;
    if (!(target.time_s[at]! <= delay.time_s[i]!)) continue;
    samples++;
    // as the numbers are written: what is equal but for the last bits is not below
    if (delay.values[i]! < target.values[at]! * (1 - 1e-9)) below++;
  }
  return samples ? { below, samples, curve: delay.label } : null;
}

/** That in a sentence. */
export const whySaid = ({ below, samples, curve }: { below: number; samples: number; curve: string }) => (
  `The ${curve} was below its target in ${exact(below)} of ${exact(samples)} samples.`);
