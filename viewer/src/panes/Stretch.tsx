/** Figures of the selected time range: sums, worst ports, flows with most delivered bytes. */

import { useMemo } from "preact/hooks";
import { exact, figure, seconds, short, TITLES, way } from "../data/format";
import { TOGETHER, type Metric, type Run } from "../data/run";
import { figuresOf, type Span } from "../data/stretch";

interface Props {
  run: Run;
  /** Name of the run, if there are two. */
  name: string;
  metric: Metric;
  span: Span;
  onPin: (port: number) => void;
  onFlow: (flow: number) => void;
}

const HOW = { most: "largest", mean: "mean", sum: "total" };

export function StretchFigures({ run, name, metric, span, onPin, onFlow }: Props) {
  const told = useMemo(() => figuresOf(run, metric, span), [run, metric, span]);
  const [first, last] = told.frames;
  return (
    <div class="stretch">
      <p>
        {name && <strong>{name}: </strong>}
        {seconds(span.from_s)} to {seconds(span.to_s)}; figures cover{" "}
        {last - first === 1 ? `frame ${first}` : `frames ${first} to ${last - 1}`}
      </p>
      <dl class="sums">
        {(["marks", "drops", "pauses"] as const).filter((one) => run.metrics.includes(one)).map((one) => (
          <>
            <dt>{TITLES[one]}</dt>
            <dd data-sum={one}>{exact(told[one])}</dd>
          </>
        ))}
        {run.metrics.includes("queue_max_bytes") && (
          <>
            <dt>largest queue</dt>
            <dd>
              {told.largest ? `${short(told.largest.value, "B")} at ${way(run.names[told.largest.at]!)}` : "none"}
            </dd>
          </>
        )}
        {told.delivered_bytes !== null && (
          <>
            <dt>delivered</dt>
            <dd data-sum="delivered_bytes" title={`${exact(told.delivered_bytes)} B`}>
              {short(told.delivered_bytes, "B")} ({short((told.delivered_bytes * 8)
                / (run.timeOf(last) - run.timeOf(first)), "b/s")})
            </dd>
          </>
        )}
        {told.events.map(([kind, count]) => (
          <>
            <dt>{kind}</dt>
            <dd>{exact(count)}</dd>
          </>
        ))}
      </dl>
      <div class="worst">
        <Rows title={`Ports by ${TITLES[metric]}, ${HOW[TOGETHER[metric]]}`} rows={told.ports}
          name={(at) => way(run.names[at]!)} say={(value) => figure(metric, value)} onChoose={onPin} />
        {told.delivered_bytes !== null && (
          <Rows title="Flows by delivered bytes" rows={told.flows} name={(at) => `flow ${at}`}
            say={(value) => short(value, "B")} onChoose={onFlow} />
        )}
      </div>
    </div>
  );
}

interface RowsProps {
  title: string;
  rows: { at: number; value: number }[];
  name: (at: number) => string;
  say: (value: number) => string;
  onChoose: (at: number) => void;
}

function Rows({ title, rows, name, say, onChoose }: RowsProps) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {rows.length === 0 && <p>none</p>}
      <ol>
        {rows.map(({ at, value }) => (
          <li><button onClick={() => { onChoose(at); }}>{name(at)}</button> {say(value)}</li>
        ))}
      </ol>
    </section>
  );
}
