/** Figures of papers to choose from. */

import { useEffect, useRef, useState } from "preact/hooks";
import { PAPERS, type Figure, type Found, type Paper } from "./figures";

/** The paper whose figures stand there at first. */
const FIRST = "swift";
const COUNT = PAPERS.reduce((sum, { figures }) => sum + figures.length, 0);

interface Props {
  chosen: Found | null;
  onChoose: (paper: Paper, figure: Figure) => void;
}

export function Papers({ chosen, onChoose }: Props) {
  const [open, setOpen] = useState(false);
  const [named, setNamed] = useState<string | null>(null);
  const paper = PAPERS.find(({ name }) => name === (named ?? chosen?.paper.name ?? FIRST)) ?? PAPERS[0]!;
  const first = Math.max(0, paper.figures.findIndex((figure) => figure === chosen?.figure));
  const card = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (open) list.current?.querySelector("[aria-pressed=true]")?.scrollIntoView({ block: "nearest" });
  }, [open]);
  return (
    <div class="papers">
      <button class="sc" ref={card} aria-expanded={open} aria-pressed={chosen !== null}
        onClick={() => { setOpen(!open); }}>
        Papers' figures<small>{COUNT} experiments of {PAPERS.length} papers {open ? "▴" : "▾"}</small>
      </button>
      {open && (
        <>
          <select aria-label="Paper" value={paper.name} onChange={(event) => { setNamed(event.currentTarget.value); }}>
            {PAPERS.map(({ name, title }) => <option value={name}>{title}</option>)}
          </select>
          <div class="offered" ref={list} role="group" aria-label={`Figures of ${paper.title}`} onKeyDown={(event) => {
            const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
            const next = step === 1 ? document.activeElement?.nextElementSibling
              : document.activeElement?.previousElementSibling;
            if (step === undefined || !(next instanceof HTMLElement)) return;
            event.preventDefault();
            next.focus();
          }}>
            {paper.figures.map((figure, i) => (
              <button key={`${paper.name} ${figure.name}`} tabIndex={i === first ? 0 : -1}
                aria-pressed={figure === chosen?.figure} onClick={() => {
                  setNamed(null);
                  setOpen(false);
                  card.current?.focus();
                  onChoose(paper, figure);
                }}>
                {figure.title}<small>{figure.where}</small>
              </button>
            ))}
          </div>
        </>
      )}
      {chosen && <Chosen {...chosen} onReset={() => { onChoose(chosen.paper, chosen.figure); }} />}
    </div>
  );
}

function Chosen({ paper, figure, changed, onReset }: Found & { onReset: () => void }) {
  const many = figure.controllers.length > 0;
  return (
    <div class="figure" role="status">
      <b>{figure.title}</b>
      <span class="soft">{paper.title} ({paper.source}), {figure.where}</span>
      <span>{figure.shows}</span>
      <span class="soft">
        {many ? `Here by controller: ${figure.series.join("; ")}.` : `Here: ${figure.series[0]!}.`}{" "}
        The whole figure: <code>incast paper run {paper.name}/{figure.name}</code>
      </span>
      {changed && <span class="soft">Changed. <button class="btn" onClick={onReset}>As in the figure</button></span>}
    </div>
  );
}
