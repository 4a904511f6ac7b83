import { describe, expect, it } from "vitest";
import { askedOf, FIRST } from "../src/lab/experiment";
import { LESSONS, rightOf, type Result } from "../src/lab/lessons";
import { engine } from "./engine";

/** The median of the delays is what the lesson is about: patience with overtaken packets is in both of its runs. */
const SAME_BUT_FOR_THE_MEDIAN = ["lswift", "mswift"];

describe("a lesson", () => {
  const own = engine();
  const runs = (experiment: typeof FIRST): Result[] => (
    [...experiment.controllers, ...(experiment.controllers.length ? [] : [null])].flatMap((controller) => (
      Array.from({ length: experiment.seeds }, (_, i) => {
        const summary = JSON.parse(own.run(askedOf(experiment, controller, i + 1)).summary) as Record<string, unknown>;
        return { controller: controller ?? ".", seed: i + 1, summary };
      }))));

  it("is one of eight", () => {
    expect(LESSONS.map(({ key }) => key)).toEqual(
      ["buffers", "threshold", "min-rtt", "sccp", "spraying", "rtts", "pfc", "radio"]);
  });

  it("changes nothing else than it says: of spraying the median alone", () => {
    const { begins, change } = LESSONS.find(({ key }) => key === "spraying")!;
    expect([...begins.controllers, ...change.controllers!]).toEqual(SAME_BUT_FOR_THE_MEDIAN);
  });

  for (const lesson of LESSONS) {
    it(`has one right answer that its runs show: ${lesson.key}`, () => {
      const before = { ...FIRST, ...lesson.begins };
      const after = { ...before, ...lesson.change, set: [...before.set, ...lesson.change.set ?? []] };
      const [first, second] = [runs(before), runs(after)];
      expect(rightOf(lesson, first, second), `${lesson.figures(first)} ${lesson.figures(second)}`).not.toBeNull();
      const against = lesson.answers.map((answer) => answer.against(first, second));
      expect(new Set(against).size).toBe(lesson.answers.length);
      for (const words of [lesson.figures(first), lesson.figures(second), ...against]) {
        expect(words).not.toMatch(/NaN|undefined|–/);
      }
    }, 60_000);
  }
});
