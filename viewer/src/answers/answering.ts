/** Answers of runs, in their order, as `python/incast/answers/answering.py` has them. */

import { KINDS, type Answer, type Kind } from "./answer";
import { Compared, type RunOf } from "./compared";
import { controllerAnswers } from "./controllers";
import { factsOf, readingsOf, type Facts } from "./facts";
import { bounds, same, warnings } from "./limits";
import { joined, SPACE } from "./numbers";

/** Answers that are shown; the others are folded. */
export const FIRST = 5;

/** The answers of the runs of some controllers on one scenario; at least one, if there is a run. */
export function answersOf(runs: readonly RunOf[], controllers: readonly string[]): Answer[] {
  return answersIn(new Compared(runs, controllers));
}

/** The answers of runs that a table has as well. */
export function answersIn(compared: Compared): Answer[] {
  return compared.runs.length ? answersTo(factsOf(compared)) : [];
}

/** The answers that readings carry. */
export function answersTo(facts: Facts): Answer[] {
  const readings = [...facts.readings.values()].flatMap((found) => [...found.values()]);
  if (!readings.some(({ high }) => [...high.values()].some(Boolean))) {
    return [{ kind: "lead-warning", lead: "Nothing was delivered", rest: " in the measured interval of any run." }];
  }
  const found = [...warnings(facts), ...controllerAnswers(facts), ...bounds(facts), ...same(facts)];
  if (!found.length) found.push(nothing(facts));
  return found.sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind));
}

/** Figures that a sentence names. */
const MOST_TITLES = 4;

function nothing(facts: Facts): Answer {
  if (facts.controllers.length < 2) {
    return { kind: "undecided", lead: "Nothing to compare", rest: ": one controller at one value." };
  }
  // the table has others
  const titles = facts.measures.filter((one) => readingsOf(facts, one).size > 1).map(({ title }) => title);
  const more = titles.length - MOST_TITLES + 1;
  if (more > 1) titles.splice(MOST_TITLES - 1, more, `${more} other figures`);
  const rest = ` in ${joined(titles)}, as far as these seeds show.`;
  return { kind: "undecided", lead: `No difference of 1${SPACE}%`, rest };
}

/**
 * Answers that are shown, and those that are folded: the first of each kind, then the second, and so on. Undecided
 * answers are two at most; bounds and controllers without effect are shown if there are only warnings beside.
 */
export function shownFirst(answers: readonly Answer[]): [Answer[], Answer[]] {
  const places = new Map<Kind, Answer[]>();
  for (const answer of answers) places.set(answer.kind, [...places.get(answer.kind) ?? [], answer]);
  places.set("undecided", (places.get("undecided") ?? []).slice(0, 2));
  const turns = Array.from({ length: FIRST }, (_, turn) => (
    [...places.values()].flatMap((own) => own[turn] ?? []))).flat();
  const isLate = ({ kind }: Answer) => kind === "bound" || kind === "no-effect";
  const early = turns.filter((answer) => !isLate(answer));
  const isAlone = early.every(({ kind }) => kind === "lead-warning");
  const first = new Set((isAlone ? turns : early).slice(0, FIRST));
  return [answers.filter((answer) => first.has(answer)), answers.filter((answer) => !first.has(answer))];
}
