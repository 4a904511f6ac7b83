/** Controllers against each other, as `python/incast/answers/controllers.py` has them. */

import { differenceText, superlative, valueText, type Answer } from "./answer";
import { readingsOf, type Facts } from "./facts";
import { carries, qualified } from "./limits";
import { apartAt, isDelivery, isIdeal, rankedAt, type Measure } from "./measures";
import { counted, joined, SPACE } from "./numbers";
import { least, MOST_SEEDS, type Apart, type Ranking } from "./paired";
import type { Readings } from "./ranking";

/** Differences in a sentence, at most. */
const LISTED = 3;

/** Share of the highest throughput below which a low delay, loss or queue is no lead: it costs most of the traffic. */
const LITTLE = 0.5;

/** Order of the controllers at one figure. */
interface Standing {
  measure: Measure;
  readings: Readings;
  ranking: Ranking;
}

/** A controller that is told apart from all others at a figure, against the next. */
interface Lead {
  standing: Standing;
  lead: Apart;
}

type Leads = Map<string, Lead[]>;

function standingsOf(facts: Facts): Standing[] {
  if (facts.controllers.length < 2 || facts.seeds < 2) return [];
  return facts.measures.flatMap((measure) => {
    const readings = readingsOf(facts, measure);
    return readings.size > 1 ? [{ measure, readings, ranking: rankedAt(measure, readings) }] : [];
  });
}

function leadOf({ measure, readings, ranking: { first, level, behind } }: Standing): Apart | null {
  if (level.length > 1 || behind.some(({ other }) => other !== first)) return null;
  const others = new Map([...readings].filter(([name]) => name !== first));
  return apartAt(measure, first, rankedAt(measure, others).first, readings);
}

/** Whether no controller differs by a difference that matters, unless all have the best possible. */
function isAlike({ measure, readings, ranking: { behind, among } }: Standing): boolean {
  const isSame = !behind.length && among.every(({ verdict }) => verdict === "alike");
  return isSame && ![...readings.values()].every((reading) => isIdeal(measure, reading));
}

/** Who leads at which figures, figures that several controllers share, and what is undecided. */
export function controllerAnswers(facts: Facts): Answer[] {
  const standings = standingsOf(facts);
  const leads: Leads = new Map();
  const starved: Leads = new Map();
  for (const standing of standings) {
    const lead = leadOf(standing);
    if (!lead) continue;
    const isLittle = carries(facts, lead.one) < LITTLE && !isDelivery(standing.measure);
    const into = isLittle ? starved : leads;
    into.set(lead.one, [...into.get(lead.one) ?? [], { standing, lead }]);
  }
  return [
    ...(leads.size ? [leadAnswer(facts, leads, standings)] : []),
    ...standings.filter((one) => !leadOf(one) && one.ranking.behind.length).map((one) => sharedAnswer(facts, one)),
    ...[...starved].map(([name, found]) => starvedAnswer(facts, name, found)),
    ...undecided(facts, standings),
  ];
}

/** So many items, and the number of the others in words. */
function listed(items: readonly string[]): string {
  const more = items.length > LISTED ? `, and ${counted(items.length - LISTED, "more figure")}` : "";
  return items.slice(0, LISTED).join(", ") + more;
}

/** Which controller is best at which of some figures. */
function leadAnswer(facts: Facts, leads: Leads, standings: readonly Standing[]): Answer {
  const isPair = facts.controllers.length === 2;
  const alike = standings.filter(isAlike).map(({ measure }) => measure.title);
  const rest = alike.length ? ` Within 1${SPACE}%: ${joined(alike)}.` : "";
  const parts = [...leads].map(([name, found]) => {
    const shown = found.map(({ standing: { measure }, lead }) => (
      `${measure.title} ${differenceText(lead, measure)}${isPair ? "" : ` than ${lead.other}`}`));
    const little = new Set(found.map(({ standing }) => qualified(facts, standing.measure, name)));
    return { name, little: [...little].join(""), text: listed(shown) };
  });
  if (parts.length > 1) {
    const each = parts.map(({ name, little, text }) => `${name}${little}: ${text}`).join("; ");
    return { kind: "trade-off", lead: `${joined([...leads.keys()])}: a trade-off`, rest: `. ${each}.${rest}` };
  }
  const { name, little, text } = parts[0]!;
  const whom = isPair ? facts.controllers.find((one) => one !== name)! : "all others";
  const figures = standings.length;
  const count = figures === 1 ? "the only figure" : `${leads.get(name)!.length} of ${figures} figures`;
  return { kind: "trade-off", lead: `${name} leads ${whom} in ${count}`,
    rest: `${little && `,${little}`}: ${text}.${rest}` };
}

/** Which figures of a controller are low because it carries little. */
function starvedAnswer(facts: Facts, name: string, found: readonly Lead[]): Answer {
  const shown = found.map(({ standing: { measure }, lead }) => (
    `${measure.title} ${differenceText(lead, measure)} than ${lead.other}`));
  const little = qualified(facts, found[0]!.standing.measure, name);
  return { kind: "trade-off", lead: `${name} carries little,`, rest: `${little}: ${listed(shown)}. That is no lead.` };
}

/** Which controllers lead together, and how far behind the others are. */
function sharedAnswer(facts: Facts, { measure, readings, ranking }: Standing): Answer {
  const { first, level, behind, among } = ranking;
  const text = valueText(readings.get(first)!, measure.unit);
  const parts = [
    ...among.filter(({ verdict }) => verdict !== "alike").map((one) => (
      `${one.one} is not told apart (${differenceText(one, measure)})`)),
    ...behind.map((one) => (
      `${one.one} is ${differenceText(one, measure)}${one.other === first ? "" : ` than ${one.other}`}`)),
  ];
  const more = parts.length > LISTED ? [`${parts.length - LISTED} more in the table`] : [];
  const of = level.length > 1 ? ` with ${first}` : "";
  const shown = [...parts.slice(0, LISTED), ...more].join("; ");
  return { kind: "trade-off", lead: joined(level), rest: ` for the ${superlative(measure)} ${measure.title}: `
    + `${text}${of}${qualified(facts, measure, first)}; ${shown}.` };
}

/** The differences among the level controllers, the later one against the earlier. */
function amongOf({ measure, readings, ranking: { among } }: Standing, order: readonly string[]): Apart[] {
  return among.map(({ one, other }) => {
    const [earlier, later] = order.indexOf(one) < order.indexOf(other) ? [one, other] : [other, one];
    return apartAt(measure, later, earlier, readings);
  });
}

interface Difference {
  measure: Measure;
  one: Apart;
}

/** The differences among the level controllers that the runs do not decide. */
function undecided({ controllers }: Facts, standings: readonly Standing[]): Answer[] {
  const all = standings.flatMap((standing) => amongOf(standing, controllers).map((one) => (
    { measure: standing.measure, one })));
  const seeds = all.filter(({ one }) => one.verdict === "undecided");
  const titles = [...new Set(all.filter(({ one }) => one.verdict === "open").map(({ measure }) => measure.title))];
  const answers: Answer[] = [];
  if (seeds.length) answers.push(undecidedAnswer(controllers, seeds));
  if (titles.length) {
    const more = titles.length > LISTED ? ` and ${counted(titles.length - LISTED, "more figure")}` : "";
    answers.push({ kind: "bound", lead: "Unfinished transfers leave open", rest: " who is better in "
      + `${titles.slice(0, LISTED).join(", ")}${more}. A longer run may decide, more seeds will not.` });
  }
  return answers;
}

function undecidedAnswer(controllers: readonly string[], found: readonly Difference[]): Answer {
  const isPair = controllers.length === 2;
  const order = [...found].sort((a, b) => (a.one.seeds ?? 1e9) - (b.one.seeds ?? 1e9));
  const shown = order.slice(0, LISTED).map(({ measure, one }) => (
    `${measure.title} (${isPair ? "" : `${one.one} against ${one.other}: `}${differenceText(one, measure)})`));
  const more = order.length > LISTED ? `, and ${order.length - LISTED} more` : "";
  const who = isPair ? `, ${controllers[1]!} against ${controllers[0]!}` : "";
  return { kind: "undecided", lead: "Undecided", rest: `${who}: ${shown.join(", ")}${more}.${seedsText(order)}` };
}

/** About how many more seeds would decide the first of some differences, or that none within reason would. */
function seedsText(found: readonly Difference[]): string {
  const soon = found.filter(({ one }) => one.seeds !== null);
  if (!soon.length) {
    return ` Differences of this size would need more than ${MOST_SEEDS} seeds, or are below 1${SPACE}%.`;
  }
  const { measure, one } = least(soon, (each) => each.one.seeds!);
  const which = new Set(found.map((each) => each.measure.title)).size > 1 ? ` in ${measure.title}` : "";
  return ` About ${counted(one.seeds!, "more seed")} would tell ${one.one} from ${one.other}${which}, if the `
    + "difference stays as it is.";
}
