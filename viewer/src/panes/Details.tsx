/** What is known of the pinned port and of the selected flow over time. */

import { useMemo } from "preact/hooks";
import type { Run } from "../data/run";
import { PortFigures } from "../scene/Fabric";
import { Plot, type Curve } from "./Plot";

interface Props {
  run: Run;
  frame: number;
  port: number | null;
  flow: number | null;
  dark: boolean;
  onSeek: (time_s: number) => void;
}

interface Pane {
  title: string;
  unit: string;
  curves: Curve[];
}

/** The samples of an entity, those of one unit in one pane. */
export function panesOf(run: Run, entity: string): Pane[] {
  const units: [string, string, string][] = [["_bytes", "B", "Windows and bytes"], ["_s", "s", "Times"],
    ["_bps", "b/s", "Rates"], ["_packets", "packets", "Packets"]];
  const panes = new Map<string, Pane>();
  for (const { name, time_s, value } of run.samplesOf(entity)) {
    if (name === "acked_bytes" || name === "offered_bytes") continue; // sums, which dwarf a window
    const [ending, unit, title] = units.find(([own]) => name.endsWith(own)) ?? ["", "", name];
    const pane = panes.get(title) ?? { title, unit, curves: [] };
    panes.set(title, pane);
    const label = ending ? name.slice(0, -ending.length).replaceAll("_", " ") : name;
    pane.curves.push({ label, time_s, values: value, stepped: true });
  }
  return [...panes.values()];
}

export function Details({ run, frame, port, flow, dark, onSeek }: Props) {
  const times = useMemo(() => Float64Array.from({ length: run.frames }, (_, i) => run.timeOf(i)), [run]);
  const ofPort = useMemo<Pane[]>(() => {
    if (port === null) return [];
    const one = (label: string, values: Float64Array): Curve => ({ label, time_s: times, values, stepped: true });
    return [
      { title: "Queue", unit: "B", curves: [
        one("largest", run.portOver("queue_max_bytes", port)), one("mean", run.portOver("queue_mean_bytes", port))] },
      { title: "Utilisation", unit: "", curves: [
        one("busy", run.portOver("busy", port)), one("paused", run.portOver("paused", port))] },
      { title: "Marks and drops", unit: "", curves: [
        one("marks", run.portOver("marks", port)), one("drops", run.portOver("drops", port))] },
    ];
  }, [run, port, times]);
  const ofFlow = useMemo<Pane[]>(() => {
    if (flow === null) return [];
    const panes: Pane[] = [];
    if (run.byFlow?.delivered_bytes) {
      const rate = run.flowOver("delivered_bytes", flow).map((bytes) => (bytes * 8) / run.timeline.frame_s);
      panes.push({ title: "Rate", unit: "b/s",
        curves: [{ label: "delivered", time_s: times, values: rate, stepped: true }] });
    }
    const sampled = panesOf(run, `flow ${flow}`);
    if (run.byFlow?.cwnd_bytes && !sampled.some((pane) => pane.curves.some((curve) => curve.label === "cwnd"))) {
      panes.push({ title: "Window", unit: "B",
        curves: [{ label: "cwnd", time_s: times, values: run.flowOver("cwnd_bytes", flow), stepped: true }] });
    }
    return [...panes, ...sampled];
  }, [run, flow, times]);
  const path = flow === null ? [] : run.pathOf(flow);
  const shared = { now_s: run.timeOf(frame), end_s: run.end_s, dark, onSeek };
  return (
    <div class="details">
      {port !== null && (
        <section aria-label="Pinned port">
          <div class="figures"><PortFigures run={run} port={port} frame={frame} /></div>
          {ofPort.map((pane) => <Plot key={`${port}/${pane.title}`} {...pane} {...shared} />)}
        </section>
      )}
      {flow !== null && (
        <section aria-label="Selected flow">
          <h2>Flow {flow}</h2>
          {path.length > 0 && <p class="path">{path.map((one) => run.names[one]).join("  ")}</p>}
          {ofFlow.map((pane) => <Plot key={`${flow}/${pane.title}`} {...pane} {...shared} />)}
          {!ofFlow.length && (
            <p class="told">
              Nothing is recorded of this flow over time: run it with --set measure.series.flows=[{flow}]
            </p>
          )}
        </section>
      )}
      {port === null && flow === null && <p class="told">Click a link or a flow to see it over time.</p>}
    </div>
  );
}
