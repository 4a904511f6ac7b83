/** The answer in sentences, and the table of figures: the same that the program prints. */

import type { Answer as Said } from "../answers/answer";
import { useMemo } from "preact/hooks";
import { answersIn, shownFirst } from "../answers/answering";
import { Compared } from "../answers/compared";
import { counted } from "../answers/numbers";
import { tableIn } from "../answers/table";
import { busy, drawn, seenOf } from "./curves";
import { AS_IT_IS, asCommand, comparedOf, nameOf } from "./experiment";
import { seriesOf } from "./figures";
import { Marker } from "./Marker";
import { called } from "./Named";
import { pictureOf } from "./picture";
import { complete, sound, type State } from "./runs";

const SIGNS: Record<string, string> = {
  "lead-warning": "!", choice: "▸", "trade-off": "▸", scenarios: "▸", undecided: "?", bound: "≥", "no-effect": "=",
};

const Item = ({ answer: { kind, lead, rest } }: { answer: Said }) => (
  <li class={kind}><span aria-hidden="true">{SIGNS[kind]}</span><p><b>{lead}</b>{rest}</p></li>
);

/** Sentences and figures of the runs that have finished under the same seeds; null without any. */
export function foundIn(state: State) {
  const controllers = sound(state);
  const runs = complete(state.finished, controllers);
  if (!runs.length) return null;
  const compared = new Compared(runs, controllers, seriesOf(state.of));
  const seeds = new Set(runs.map(({ seed }) => seed)).size;
  return { seeds, shown: shownFirst(answersIn(compared)), table: tableIn(compared) };
}

/** All of it as a picture; null without finished runs. */
export function pictured(state: State, size: string): string | null {
  const found = foundIn(state);
  if (!found) return null;
  const places = comparedOf(state.of);
  const names = new Map(found.table.rows.map(({ controller, name }) => [controller, name]));
  const named = (controller: string) => ({
    name: nameOf(controller === AS_IT_IS ? AS_IT_IS : names.get(controller) ?? controller),
    at: places.indexOf(controller) });
  const runs = state.finished.flatMap(({ run }) => (run ? [run] : []));
  const series = seriesOf(state.of);
  const all = runs.length ? drawn(state.finished, (controller) => places.indexOf(controller)).slice(0, PLOTS) : [];
  const plots = all.map((one) => ({ ...one, curves: called(one.curves, series) }));
  const { seeds } = found;
  const partly = seeds < state.of.seeds ? `, of ${state.of.seeds} asked for` : "";
  return pictureOf({
    seeds, setting: `${size}${counted(seeds, "seed")}${partly}`,
    title: `${state.of.scenario}: ${places.map((one) => named(one).name).join(", ")}`,
    answers: places.length > 1 ? found.shown[0] : [], table: found.table, named,
    plots: plots.map((one) => ({ drawn: one, seen: seenOf(one, busy(runs)) })), command: asCommand(state.of),
  });
}

/** Plots of a picture. */
const PLOTS = 2;

/** Letters of a name that has more than one line in the table. */
const LONG = 30;

export function Answer({ state }: { state: State }) {
  const controllers = sound(state);
  // finished runs are a new list only where one more has finished
  const found = useMemo(() => foundIn(state), [state.finished, controllers.join()]);
  if (!found) return null;
  const { seeds, shown: [first, others], table } = found;
  const partly = state.running || seeds < state.of.seeds;
  const places = comparedOf(state.of);
  return (
    <>
      {controllers.length > 1 && <section class="answer card" aria-label="Answer">
        <div class="line"><h2>Answer</h2>
          {partly && <span class="badge">so far, {seeds} of {state.of.seeds} seeds</span>}
        </div>
        <ul>{first.map((answer) => <Item answer={answer} />)}</ul>
        {others.length > 0 && (
          <details>
            <summary>{others.length} more</summary><ul>{others.map((one) => <Item answer={one} />)}</ul>
          </details>
        )}
        {seeds > 1 && [...first, ...others].some(({ rest }) => rest.includes("[")) && (
          <p class="faint">
            Brackets: 95 % intervals of differences under the same seed, over {seeds} seeds. Told apart: the interval
            excludes zero, and the difference is at least 1 %.
          </p>
        )}
      </section>}
      <section class="figures card" aria-label="Figures">
        <div class="scroll-x">
          <table class="fig-table">
            <thead>
              <tr>
                <th scope="col">Controller</th>
                {table.columns.map(({ title, unit }) => <th scope="col">{title}<small>{unit}</small></th>)}
              </tr>
            </thead>
            <tbody>
              {table.rows.map(({ controller, name, mark, cells }) => (
                <tr>
                  <th scope="row" title={controller} class={name.length > LONG ? "long" : ""}>
                    <Marker at={places.indexOf(controller)} />{" "}
                    {nameOf(controller === AS_IT_IS ? AS_IT_IS : name)} {controllers.length > 1 && mark}
                  </th>
                  {cells.map(({ text, exact, isBest, isBound, finished }) => (
                    <td class={`${isBest ? "best" : ""} ${isBound ? "bounded" : ""}`}
                      title={`${exact ?? ""} ${finished && `${finished} finished`}`.trim()}>{text}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <p class="faint">
          {controllers.length > 1 && "▸ best: told apart from all others, and neither starved nor beaten in throughput "
            + "and delay together. ◆ not beaten in these two, with its share of the highest throughput. "}
          {seeds > 1 && "± 95 % interval over seeds. "}≥ a bound, as not all finished.
          {table.zero.length > 0 && ` 0 everywhere: ${table.zero.join(", ")}.`}</p>
      </section>
    </>
  );
}
