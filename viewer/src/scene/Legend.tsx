/** Colour scale with words at its ends and in the middle. */

import { css } from "./palette";

interface Props {
  colours: Uint8Array;
  words: [string, string, string];
}

export function Legend({ colours, words }: Props) {
  const half = (from: number) => {
    const stops = Array.from({ length: 9 }, (_, i) => css(colours, 1 + Math.round(((from + i / 8) * 254) / 2)));
    return <i style={{ background: `linear-gradient(90deg, ${stops.join(",")})` }} />;
  };
  return (
    <span class="legend" title="The colour scale follows the square root of the value.">
      <span>{words[0]}</span>
      {half(0)}
      <span>{words[1]}</span>
      {half(1)}
      <span>{words[2]}</span>
    </span>
  );
}
