/** Guided lessons: a question, one thing to change, and an answer that the two runs check. */

import { useState } from "preact/hooks";
import type { Experiment } from "./experiment";
import { LESSONS, rightOf, type Lesson } from "./lessons";
import type { State } from "./runs";

export type { Lesson };

interface Props {
  chosen: Lesson | null;
  /** The run before the change. */
  before: State | null;
  state: State | null;
  experiment: Experiment;
  /** Whether the experiment is read and can run. */
  able: boolean;
  onChoose: (lesson: Lesson) => void;
  onChange: (change: Partial<Experiment>) => void;
  onKeep: (before: State | null) => void;
  onRun: () => void;
  onLeave: () => void;
}

/** Whether an experiment has what a lesson begins or ends with. */
export function isAt(experiment: Experiment, lesson: Lesson, after: boolean): boolean {
  const { begins, change } = lesson;
  const wanted = after ? { ...begins, ...change, set: [...begins.set, ...change.set ?? []] } : begins;
  // of a key that stands twice the last value counts
  const settings = (set: [string, string][]) => JSON.stringify([...new Map(set)].sort());
  return experiment.scenario === wanted.scenario && experiment.text === null && !experiment.files.length
    && experiment.controllers.join() === wanted.controllers.join() && experiment.seeds === wanted.seeds
    && settings(experiment.set) === settings(wanted.set);
}

const isOver = (state: State | null): state is State => (
  state !== null && !state.running && state.finished.length === state.total);

export function Lessons(props: Props) {
  const { chosen, onChoose } = props;
  if (chosen) return <One key={chosen.key} {...props} lesson={chosen} />;
  return (
    <>
      <p class="soft">Eight lessons of some five minutes: a question, one thing to change, an answer that your runs
        check.</p>
      <ol class="lessons">
        {LESSONS.map((lesson, i) => (
          <li><button onClick={() => { onChoose(lesson); }}>
            <span class="faint">{i + 1} of {LESSONS.length} · {lesson.about}</span><b>{lesson.question}</b>
          </button></li>
        ))}
      </ol>
    </>
  );
}

function One({ lesson, before, state, experiment, able, onChange, onKeep, onRun, onLeave, onChoose }: Props & {
  lesson: Lesson;
}) {
  const [picked, setPicked] = useState<number | null>(null);
  const first = before ?? (isOver(state) && isAt(state.of, lesson, false) ? state : null);
  const second = before && isOver(state) && isAt(state.of, lesson, true) ? state : null;
  const changed = isAt(experiment, lesson, true);
  const right = first && second ? rightOf(lesson, first.finished, second.finished) : null;
  const at = LESSONS.indexOf(lesson);
  const later = (reached: boolean) => (reached ? "" : "later");
  return (
    <div class="lesson">
      <p class="faint">Lesson {at + 1} of {LESSONS.length} · {lesson.about}</p>
      <h2 class="question">{lesson.question}</h2>
      <p>{lesson.setting}</p>
      {!isAt(experiment, lesson, false) && !changed && (
        <p class="wrong">The experiment is neither that of this lesson, nor the changed one.{" "}
          <button class="btn" onClick={() => { onChoose(lesson); }}>Begin again</button></p>
      )}
      <ol>
        <li>
          Run it as it is.{" "}
          {!first && <button class="btn main" disabled={!able || state?.running} onClick={onRun}>Run</button>}
          {first && <p class="soft">{lesson.see} {lesson.figures(first.finished)}</p>}
        </li>
        <li class={later(first !== null)}>
          {lesson.task}{" "}
          {first && !changed && isAt(experiment, lesson, false) && (
            <button class="btn" onClick={() => {
              onKeep(first);
              const keys = (lesson.change.set ?? []).map(([key]) => key);
              onChange({ ...lesson.change, set: [
                ...experiment.set.filter(([key]) => !keys.includes(key)), ...lesson.change.set ?? []] });
            }}>Change it</button>
          )}
          {changed && !second && <button class="btn main" disabled={!able || state?.running} onClick={() => {
            if (!before && first) onKeep(first);
            onRun();
          }}>Run</button>}
          {second && <p class="soft">{lesson.figures(second.finished)}</p>}
        </li>
        <li class={later(second !== null)}>
          What do the two runs show?
          <div class="choices" role="group" aria-label="Answers">
            {lesson.answers.map(({ words }, i) => (
              <button class={`btn ${picked === i ? (i === right ? "yes" : "no") : ""}`} disabled={second === null}
                aria-pressed={picked === i} onClick={() => { setPicked(i); }}>
                {picked === i ? (i === right ? "✓ " : "✕ ") : ""}{words}
              </button>
            ))}
          </div>
          <p role="status">
            {picked !== null && right !== null && (picked === right ? lesson.why
              : lesson.answers[picked]!.against(first!.finished, second!.finished))}
            {second && right === null && "Your runs show none of these: look at the figures."}
          </p>
        </li>
      </ol>
      <div class="line">
        <button class="btn quiet" onClick={onLeave}>All lessons</button>
        {picked !== null && picked === right && at + 1 < LESSONS.length && (
          <button class="btn main" onClick={() => { onChoose(LESSONS[at + 1]!); }}>Next lesson</button>
        )}
      </div>
    </div>
  );
}
