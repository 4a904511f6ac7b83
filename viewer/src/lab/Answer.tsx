/** The answer in sentences, and the table of figures: the same that the program prints. */

import type { Answer as Said } from "../answers/answer";
import { answersOf, shownFirst } from "../answers/answering";
import { tableOf } from "../answers/table";
import { Marker } from "./Marker";
import { complete, type State } from "./runs";

const SIGNS: Record<string, string> = {
  "lead-warning": "!", choice: "▸", "trade-off": "▸", scenarios: "▸", undecided: "?", bound: "≥", "no-effect": "=",
};

const Item = ({ answer: { kind, lead, rest } }: { answer: Said }) => (
  <li class={kind}><span aria-hidden="true">{SIGNS[kind]}</span><p><b>{lead}</b>{rest}</p></li>
);

export function Answer({ state }: { state: State }) {
  const runs = complete(state);
  const { controllers } = state.of;
  if (!runs.length) return null;
  const seeds = new Set(runs.map(({ seed }) => seed)).size;
  const [first, others] = shownFirst(answersOf(runs, controllers));
  const table = tableOf(runs, controllers);
  const partly = state.running || seeds < state.of.seeds;
  return (
    <>
      <section class="answer card" aria-label="Answer" aria-live="polite">
        <div class="line"><h2>Answer</h2>
          {partly && <span class="badge">so far, {seeds} of {state.of.seeds} seeds</span>}
        </div>
        <ul>{first.map((answer) => <Item answer={answer} />)}</ul>
        {others.length > 0 && (
          <details>
            <summary>{others.length} more</summary><ul>{others.map((one) => <Item answer={one} />)}</ul>
          </details>
        )}
        {seeds > 1 && (
          <p class="faint">
            Brackets: 95 % intervals of differences under the same seed, over {seeds} seeds. Told apart: the interval
            excludes zero, and the difference is at least 1 %.
          </p>
        )}
      </section>
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
              {table.rows.map(({ controller, name, mark, cells }, i) => (
                <tr>
                  <th scope="row" title={controller}><Marker at={i} /> {name.replace(/^lab:/, "")} {mark}</th>
                  {cells.map(({ text, exact, isBest, isBound, finished }) => (
                    <td class={`${isBest ? "best" : ""} ${isBound ? "bounded" : ""}`}
                      title={`${exact ?? ""} ${finished && `${finished} finished`}`.trim()}>{text}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <p class="faint">▸ told apart from all others; ◆ nobody is better in all; ≥ a bound, as not all finished.
          {table.zero.length > 0 && ` 0 everywhere: ${table.zero.join(", ")}.`}</p>
      </section>
    </>
  );
}
