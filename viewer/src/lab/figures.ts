/** Figures of papers as experiments: `tools/lab_figures.py` writes them. */

import type { Experiment } from "./experiment";
import data from "./figures.json";

export interface Figure {
  name: string;
  title: string;
  /** Place in the paper. */
  where: string;
  shows: string;
  /** Place of the scenario's text among the texts. */
  text: number;
  set: [string, string][];
  /** Names of the scenario's files, with the places of their texts. */
  files?: [string, number][];
  controllers: string[];
  seeds: number;
  /** Names of the series: one a controller, or the only one. */
  series: string[];
}

export interface Paper {
  name: string;
  title: string;
  source: string;
  figures: Figure[];
}

const { texts, papers } = data as unknown as { texts: string[]; papers: Paper[] };

export const PAPERS = papers;

const nameOf = (paper: Paper, figure: Figure) => `${paper.name}-${figure.name}`;

const filesOf = ({ files = [] }: Figure) => files.map(([name, at]): [string, string] => [name, texts[at]!]);

/** The experiment of a figure: that of the documentation's link. */
export function experimentOf(paper: Paper, figure: Figure): Omit<Experiment, "own"> {
  const { set, controllers, seeds, text } = figure;
  return {
    scenario: nameOf(paper, figure), text: texts[text]!, files: filesOf(figure), set, controllers, seeds };
}

/** Names of the series that an experiment compares, by controller; none where its scenario is not a figure's own. */
export function seriesOf(experiment: Experiment): Map<string, string> {
  const figure = figureOf(experiment)?.figure;
  const own = figure && experiment.text === texts[figure.text]
    && JSON.stringify([experiment.set, experiment.files]) === JSON.stringify([figure.set, filesOf(figure)]);
  return new Map(own ? figure.controllers.map((controller, i) => [controller, figure.series[i]!]) : []);
}

export interface Found {
  paper: Paper;
  figure: Figure;
  /** Whether the experiment is no longer as the figure has it. */
  changed: boolean;
}

/** The figure that an experiment is of; null where its name is of none. */
export function figureOf(experiment: Experiment): Found | null {
  if (experiment.text === null) return null;
  for (const paper of PAPERS) {
    const figure = paper.figures.find((one) => nameOf(paper, one) === experiment.scenario);
    if (!figure) continue;
    const its = experimentOf(paper, figure);
    const keys = Object.keys(its) as (keyof typeof its)[];
    const changed = keys.some((key) => JSON.stringify(its[key]) !== JSON.stringify(experiment[key]));
    return { paper, figure, changed };
  }
  return null;
}
