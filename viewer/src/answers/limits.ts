/** Limits of the data: what the runs cannot show, as `python/incast/answers/limits.py` has them. */

import { valueText, type Answer, type Kind } from "./answer";
import { ENDING, ENOUGH, NAMES, STATISTICS, type Reading } from "./completions";
import { readingsOf, waiting, type Facts } from "./facts";
import { isDelivery, type Measure } from "./measures";
import { counted, duration, grouped, joined, percent, SPACE } from "./numbers";
import { least } from "./paired";
import { CARRIES, meansOf } from "./ranking";

/** Share of the highest throughput below which a controller's delay, loss and queue describe an idle network. */
const IDLE = 0.1;

/** The limits that could mislead, the worst first. */
export function warnings(facts: Facts): Answer[] {
  const { alike, controllers, seeds } = facts;
  const same = alike.filter((group) => controllers.length === 1 && group.includes(controllers[0]!));
  const found = [...same.map((group) => alikeAnswer(group, "lead-warning")),
    ...ofKind(unfinished(facts), "lead-warning"), ...ofKind(short(facts), "lead-warning")];
  if (seeds === 1) {
    found.push({ kind: "lead-warning", lead: "One seed has no interval",
      rest: ": no difference is decided. Use at least three seeds." });
  }
  return [...found, ...idle(facts)];
}

/** The limits that leave some figures open. */
export function bounds(facts: Facts): Answer[] {
  return [...ofKind(unfinished(facts), "bound"), ...ofKind(short(facts), "bound"), ...open(facts), ...few(facts)];
}

/** The groups of some controllers that have the same figures. */
export function same({ alike, controllers }: Facts): Answer[] {
  return controllers.length > 1 ? alike.map((group) => alikeAnswer(group, "no-effect")) : [];
}

function ofKind(answer: Answer | null, kind: Kind): Answer[] {
  return answer?.kind === kind ? [answer] : [];
}

function alikeAnswer(group: readonly string[], kind: Kind): Answer {
  return { kind, lead: `${joined(group)} have the same figures`,
    rest: " in every run: which of them is set changes nothing here." };
}

/** Throughput of a controller as a share of the highest; 1 if it is not known. */
export function carries({ throughput, controllers }: Facts, controller: string): number {
  const rates = meansOf(throughput);
  const most = Math.max(0, ...controllers.map((name) => rates.get(name) ?? 0));
  return most > 0 ? (rates.get(controller) ?? most) / most : 1;
}

/** What qualifies a good reading of a controller that carries little; empty otherwise. */
export function qualified(facts: Facts, measure: Measure, controller: string): string {
  const share = carries(facts, controller);
  return isDelivery(measure) || share >= CARRIES ? "" : ` with ${percent(share)} of the highest throughput`;
}

/** The answer about transfers that did not finish; a warning if that is more than a few. */
function unfinished({ began, controllers }: Facts): Answer | null {
  const late = [...began].flatMap(([name, parts]) => (
    Object.entries(parts) as [keyof typeof ENDING, [number, number]][]).flatMap(([part, [finished, count]]) => (
    finished < count ? [{ name, part, finished, count, share: finished / count }] : [])));
  if (!late.length) return null;
  const { name, part, finished, count, share } = least(late, (one) => one.share);
  const where = controllers.length > 1 ? name : "";
  const several = late.length > 1 && where ? `, in the worst of ${late.length} cases (${where})`
    : where ? ` (${where})` : "";
  return {
    kind: share < ENOUGH ? "lead-warning" : "bound",
    lead: `${percent(1 - share)} of ${ENDING[part]} did not finish`,
    rest: `${several}: ${grouped(count - finished)} of ${grouped(count)}. `
      + (part === "jobs" ? "Iteration times are those of the others."
        : "Figures that they could still change are bounds (≥)."),
  };
}

/** The flows that wait for timers beyond the end of the runs: a warning if they are more than a few. */
function short({ timers }: Facts): Answer | null {
  if (!timers) return null;
  const slow = [];
  if (timers.unopened) {
    slow.push(`${grouped(timers.unopened)} never opened, and a lost SYN is sent again after ${duration(timers.syn_s)}`);
  }
  if (timers.lossy) {
    const least = timers.rto_s === Infinity ? "no timeout repeats them"
      : `a timeout takes ${duration(timers.rto_s)} at least`;
    slow.push(`${grouped(timers.lossy)} lost packets and were silent until the end, and ${least}`);
  }
  return {
    kind: waiting(timers) > 1 - ENOUGH ? "lead-warning" : "bound",
    lead: `Runs of ${duration(timers.run_s)} are too short for timeouts`,
    rest: `: of ${counted(timers.flows, "flow")} in the worst run, ${slow.join("; ")}.`,
  };
}

/** A warning for each controller that carries little. */
function idle(facts: Facts): Answer[] {
  return facts.controllers.flatMap((name) => {
    const share = carries(facts, name);
    return share >= IDLE ? [] : [{
      kind: "lead-warning", lead: `${name} sends only ${percent(share)} of the highest throughput`,
      rest: ": its delay, loss and queue describe an almost idle network.",
    } satisfies Answer];
  });
}

/** One answer on the figures that unfinished transfers leave open everywhere. */
function open(facts: Facts): Answer[] {
  const found = facts.measures.map((measure) => [measure, [...readingsOf(facts, measure).values()]] as const)
    .filter(([, readings]) => readings.length && readings.every((one) => !one.isExact));
  if (!found.length) return [];
  const lowest = ({ low }: Reading) => Math.min(...low.values());
  const shown = found.slice(0, 2).map(([{ title, unit }, readings]) => (
    `${title}, ${valueText(least(readings, lowest), unit)}`));
  const more = found.length > 2 ? ` and ${counted(found.length - 2, "more figure")}` : "";
  return [{ kind: "bound", lead: "Bounds only",
    rest: ` at every point: ${shown.join("; ")}${more}. A longer run would show more.` }];
}

/** One answer for each percentile of fewer transfers than it needs: it is the slowest one. */
function few({ measures, readings, controllers, seeds }: Facts): Answer[] {
  const found = measures.flatMap((measure) => {
    const counts = controllers.map((name) => readings.get(measure.key)?.get(name)?.count ?? 0).filter(Boolean);
    if (measure.statistic !== "p99" || !measure.title.includes(NAMES.p99) || !counts.length) return [];
    const least = Math.min(...counts) / seeds;
    const name = (["p99", "p999"] as const).find((one) => {
      const [over, under] = STATISTICS[one];
      return least < under / (under - over);
    });
    return name ? [{ name, measure, least }] : [];
  });
  return [...new Set(found.map(({ name }) => name))].map((name) => {
    const own = found.filter((one) => one.name === name);
    const sizes = own.slice(0, 3).map(({ measure, least }) => (
      `${measure.title.replace(/^p99 /, "")} (${fromText(least)}${SPACE}a seed)`));
    const more = own.length > 3 ? ` and ${own.length - 3} more` : "";
    const needed = name === "p99" ? "100" : "1,000";
    return { kind: "bound", lead: `Too few transfers for ${NAMES[name]}`,
      rest: `: ${sizes.join(", ")}${more}. With fewer than ${needed} it is the slowest one.` };
  });
}

/** So many a seed; halves are rounded to even. */
function fromText(few: number): string {
  const whole = Math.floor(few);
  const isUp = few - whole > 0.5 || (few - whole === 0.5 && whole % 2 === 1);
  return few >= 1 ? `from${SPACE}${grouped(whole + (isUp ? 1 : 0))}` : "less than one";
}
