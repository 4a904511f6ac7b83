/** A deadlock as a drawing: switches on a circle, and from each the paused port that leads to the next. */

import { short, way } from "../data/format";
import type { Pauses } from "../data/pauses";
import { ringSaid, waitsSaid } from "../data/reasons";
import type { Run } from "../data/run";

interface Props {
  run: Run;
  pauses: Pauses;
  ring: number[];
  pinned: number | null;
  onPin: (port: number) => void;
}

/** Size of the drawing, radius of the circle, that of words around it, and degrees around a node without an arrow. */
const [WIDE, HIGH, CIRCLE, WORDS, APART] = [300, 250, 78, 98, 19];
/** More ports than these have no words at them. */
const NAMED = 10;
/** More than these are listed alone. */
const DRAWN = 36;

/** A place on a circle around the middle, by the degrees from its top on. */
export function placeOf(degrees: number, radius: number): [number, number] {
  const angle = ((degrees - 90) * Math.PI) / 180;
  return [WIDE / 2 + radius * Math.cos(angle), HIGH / 2 + radius * Math.sin(angle)];
}

/** The path of an arrow from one place on the circle to another, clockwise, and the head at its end. */
export function arrowOf(from: number, to: number, head: number): { line: string; head: string } {
  const at = (degrees: number, radius = CIRCLE) => placeOf(degrees, radius).map((one) => one.toFixed(1)).join(" ");
  const back = to - (head * 180) / (Math.PI * CIRCLE);
  return {
    line: `M${at(from)}A${CIRCLE} ${CIRCLE} 0 ${back - from > 180 ? 1 : 0} 1 ${at(back)}`,
    head: `M${at(to)}L${at(back, CIRCLE + head / 2)}L${at(back, CIRCLE - head / 2)}Z`,
  };
}

export function Ring({ run, pauses, ring, pinned, onPin }: Props) {
  const { nodes, ports } = run.timeline;
  const step = 360 / ring.length;
  const apart = Math.min(APART, step / 4);
  const named = ring.length <= NAMED;
  const say = ringSaid(run, pauses, ring);
  return (
    <section class="ring" aria-label="Deadlock">
      <p class="why dead">{say}</p>
      <div class="drawn">
        {ring.length <= DRAWN && (
        <svg viewBox={`0 0 ${WIDE} ${HIGH}`} width={WIDE} height={HIGH} role="img" aria-label={say}>
          {ring.map((port, i) => {
            const words = waitsSaid(run, pauses, port, ring[(i + 1) % ring.length]!);
            const arrow = arrowOf(i * step + apart, (i + 1) * step - apart, named ? 9 : 6);
            const [x, y] = placeOf((i + 0.5) * step, WORDS);
            const side = Math.abs(x - WIDE / 2) < 14 ? "middle" : x > WIDE / 2 ? "start" : "end";
            return (
              <g class={port === pinned ? "own" : ""} onClick={() => { onPin(port); }}>
                <title>{`${way(run.names[port]!)}: ${words}`}</title>
                <path class="hit" d={arrow.line} />
                <path class="arc" d={arrow.line} />
                <path class="head" d={arrow.head} />
                {named && <text x={x} y={y + 4} text-anchor={side}>
                  {short(pauses.heldFor(port, ring[(i + 1) % ring.length]!), "B")}
                </text>}
              </g>
            );
          })}
          {ring.map((port, i) => {
            const [x, y] = placeOf(i * step, CIRCLE);
            const { name } = nodes[ports[port]!.from]!;
            return named
              ? <text class="node" x={x} y={y + 4.5} text-anchor="middle"><title>{name}</title>{
                name.length > 9 ? `${name.slice(0, 8)}…` : name}</text>
              : <circle cx={x} cy={y} r="2.5"><title>{name}</title></circle>;
          })}
        </svg>
      )}
      <ol>
        {ring.map((port, i) => (
          <li><button class="link" aria-pressed={port === pinned} onClick={() => { onPin(port); }}>
            {way(run.names[port]!)}</button> {waitsSaid(run, pauses, port, ring[(i + 1) % ring.length]!)}</li>
        ))}
      </ol>
      </div>
      <p class="hint">An arrow is a paused port. The switch at its tip holds bytes from it (the number), which wait for
        the next arrow; so none of them can go on.</p>
    </section>
  );
}
