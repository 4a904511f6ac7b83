/** Scenarios to choose from, as cards with a line drawing. */

import type { ComponentChildren } from "preact";

export interface Card {
  scenario: string;
  title: string;
  size: string;
  /** Differences from the built-in scenario: a run in a page is short. */
  set: [string, string][];
  drawing: ComponentChildren;
}

const line = (points: string) => <polyline points={points} fill="none" stroke="currentColor" />;
const dot = (x: number, y: number, size = 2) => <circle cx={x} cy={y} r={size} fill="currentColor" />;
const box = (x: number, y: number) => <rect x={x - 2.5} y={y - 2.5} width="5" height="5" fill="currentColor" />;

const dumbbell = <>
  {line("8,8 24,20 8,32")}{line("24,20 56,20")}{line("72,8 56,20 72,32")}
  {dot(8, 8)}{dot(8, 32)}{dot(72, 8)}{dot(72, 32)}{box(24, 20)}{box(56, 20)}
</>;
const star = <>
  {[4, 12, 20, 28, 36].map((y) => <>{line(`10,${y} 46,20`)}{dot(10, y)}</>)}
  {line("46,20 72,20")}{box(46, 20)}{dot(72, 20, 3)}
</>;
const leaf = <>
  {[16, 40, 64].map((x) => [28, 52].map((y) => line(`${x},24 ${y},8`)))}
  {[16, 40, 64].map((x) => [-6, 6].map((at) => <>{line(`${x},24 ${x + at},36`)}{dot(x + at, 36)}</>))}
  {[16, 40, 64].map((x) => box(x, 24))}{box(28, 8)}{box(52, 8)}
</>;
const tree = <>
  {[12, 28, 52, 68].map((x, i) => [24, 56].map((core) => line(`${x},18 ${core + (i % 2) * 4},5`)))}
  {[12, 28, 52, 68].map((x) => <>{line(`${x},18 ${x},28`)}{line(`${x - 4},37 ${x},28 ${x + 4},37`)}</>)}
  {[[12, 28], [28, 12], [52, 68], [68, 52]].map(([from, to]) => line(`${from},28 ${to},18`))}
  {[12, 28, 52, 68].map((x) => <>{box(x, 18)}{box(x, 28)}{dot(x - 4, 37)}{dot(x + 4, 37)}</>)}
  {box(26, 5)}{box(58, 5)}
</>;
const radio = <>
  <circle cx="40" cy="20" r="16" fill="none" stroke="currentColor" /><circle cx="40" cy="20" r="8" fill="none"
    stroke="currentColor" />{dot(40, 20, 3)}{dot(52, 10)}{dot(30, 31)}{dot(26, 14)}{dot(50, 31)}
</>;
const pause = <>
  {line("8,8 26,20 8,32")}{line("26,20 54,20")}{line("54,20 72,10")}{line("54,20 72,30")}
  {box(26, 20)}{box(54, 20)}{dot(8, 8)}{dot(8, 32)}{dot(72, 10)}{dot(72, 30)}
  <rect x="36" y="13" width="3" height="14" fill="currentColor" /><rect x="42" y="13" width="3" height="14"
    fill="currentColor" />
</>;

const ring = <>
  <circle cx="40" cy="20" r="14" fill="none" stroke="currentColor" />
  {[0, 1, 2, 3, 4, 5, 6, 7].map((at) => at * Math.PI / 4).map((angle) => (
    dot(40 + 14 * Math.cos(angle), 20 + 14 * Math.sin(angle))))}
  <polyline points="51,6 54,10 49,11" fill="none" stroke="currentColor" />
</>;

const SHORT: [string, string][] = [["run.duration", "100ms"]];

export const CARDS: Card[] = [
  { scenario: "incast", title: "Incast", size: "40 to 1", set: SHORT, drawing: star },
  { scenario: "dumbbell", title: "Dumbbell", size: "2 flows",
    set: [["run.duration", "40ms"], ["run.warmup", "10ms"]], drawing: dumbbell },
  { scenario: "leaf-spine", title: "Leaf-spine", size: "64 hosts", set: [["run.duration", "50ms"]], drawing: leaf },
  { scenario: "random-pairs", title: "Fat tree", size: "k = 4", set: [["run.duration", "20ms"], ["run.warmup", "5ms"]],
    drawing: tree },
  { scenario: "websearch", title: "Web search", size: "fat tree, load 0.5", set: [], drawing: leaf },
  { scenario: "link-failure", title: "Link failure", size: "fat tree", set: [], drawing: tree },
  { scenario: "pfc-incast", title: "PFC victim", size: "pauses", set: [], drawing: pause },
  { scenario: "sccp-incast", title: "SCCP", size: "windows by switch", set: [], drawing: star },
  { scenario: "two-jobs", title: "Training jobs", size: "two rings of 8",
    set: [["job.train.collective.size", "2MB"], ["job.other.collective.size", "2MB"]], drawing: ring },
  { scenario: "wireless-cell", title: "Radio cell", size: "802.15.4", set: [], drawing: radio },
];

interface Props {
  chosen: string;
  onChoose: (card: Card) => void;
}

export function Cards({ chosen, onChoose }: Props) {
  return (
    <div class="cards" role="group" aria-label="Scenario">
      {CARDS.map((card) => (
        <button class="sc" aria-pressed={card.scenario === chosen} onClick={() => { onChoose(card); }}>
          <svg viewBox="0 0 80 40" aria-hidden="true">{card.drawing}</svg>
          {card.title}<small>{card.size}</small>
        </button>
      ))}
    </div>
  );
}
