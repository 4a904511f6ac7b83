/** What a run is: a sentence, figures, the worst ports and the slowest flows. */

import { useMemo } from "preact/hooks";
import { figure, recorded, seconds, short, TITLES, way } from "../data/format";
import type { Metric, Run } from "../data/run";
import { worst } from "../data/stretch";
import { largestQueue, lineOf, ROWS, sentenceOf, slowestOf, tilesOf } from "../data/summary";

interface Props {
  run: Run;
  metric: Metric;
  /** Which run it is, where there are two: then it is short. */
  name: string;
  /** Without its lists on a page that is not wide: curves have the room. */
  brief: boolean;
  onPin: (port: number) => void;
  onFlow: (flow: number) => void;
  onSeek: (time_s: number) => void;
  onMetric: (metric: Metric) => void;
}

/** Figures in a row. */
const TILES = 4;

export function Summary({ run, metric, name, brief, onPin, onFlow, onSeek, onMetric }: Props) {
  const { description } = run.about;
  const queue = useMemo(() => largestQueue(run), [run, metric]);
  const tiles = tilesOf(run, queue ? TILES - 1 : TILES);
  const ports = useMemo(() => worst(run.worstOf(metric), ROWS), [run, metric]);
  const flows = useMemo(() => slowestOf(run), [run]);
  return (
    <div class={brief ? "summary brief" : "summary"} role="region" aria-label={name ? `Summary of ${name}` : "Summary"}>
      <h2>{name || "Summary"}</h2>
      <p class="say">
        <strong>{sentenceOf(run)}</strong>; {lineOf(run).replaceAll(" · ", ", ")}.
        {description && (
          <span class="faint"> The scenario's own description, changed settings aside: “{
            description.replace(/\.$/, "")}”.</span>
        )}
      </p>
      {(tiles.length > 0 || queue) && (
        <dl class="tiles">
          {tiles.map(({ value, exact, what, metric: shows }) => (
            <div>
              <dd title={exact}>{value}</dd>
              <dt>{shows && shows !== metric && run.metrics.includes(shows)
                ? <button class="link" title={`Show ${TITLES[shows]}`}
                    onClick={() => { onMetric(shows); }}>{what}</button>
                : what}</dt>
            </div>
          ))}
          {queue && (
            <div>
              <dd title={recorded("queue_max_bytes", queue.value)}>{short(queue.value, "B")}</dd>
              <dt><button class="link" title={`Go there: ${way(run.names[queue.port]!)}`} onClick={() => {
                onSeek(run.timeOf(queue.frame));
                onPin(queue.port);
              }}>largest queue, at {seconds(run.timeOf(queue.frame))}</button></dt>
            </div>
          )}
        </dl>
      )}
      <div class="lists">
        <section>
          <h3>Ports by {TITLES[metric]}</h3>
          <table>
            {ports.map(({ at, value }) => (
              <tr>
                <td><button class="link" onClick={() => { onPin(at); }}>{way(run.names[at]!)}</button></td>
                <td title={recorded(metric, value)}>{figure(metric, value)}</td>
              </tr>
            ))}
          </table>
          {!ports.length && <p class="faint">none has any</p>}
        </section>
        {flows && (
          <section>
            <h3>Flows by {flows.by}</h3>
            <table>
              {flows.rows.map(({ flow, ends, value }) => (
                <tr>
                  <td><button class="link" onClick={() => { onFlow(flow); }}>{flow}: {ends}</button></td>
                  <td>{value}</td>
                </tr>
              ))}
            </table>
          </section>
        )}
      </div>
    </div>
  );
}
