/** Line, dash and marker of a controller: one keeps its place in all of the page. */

/** Dashes of lines, by place. */
export const DASHES: number[][] = [[], [9, 4], [9, 3, 2, 3], [2, 3], [10, 3, 2, 3], [12, 4]];

const SHAPES = [
  <circle cx="13" cy="7" r="3.2" />, <rect x="10" y="4" width="6" height="6" />, <path d="M13 3l4 7h-8z" />,
  <path d="M13 3l4 4-4 4-4-4z" />, <path d="M13 11l4-7h-8z" />, <path d="M12 3h2v3h3v2h-3v3h-2v-3h-3v-2h3z" />,
];

export function Marker({ at }: { at: number }) {
  const colour = `var(--c${(at % 6) + 1})`;
  return (
    <svg width="26" height="14" aria-hidden="true" style={{ color: colour }}>
      <line x1="0" y1="7" x2="26" y2="7" stroke="currentColor" stroke-width="2"
        stroke-dasharray={DASHES[at % 6]!.join(" ")} />
      <g fill="currentColor">{SHAPES[at % 6]}</g>
    </svg>
  );
}
