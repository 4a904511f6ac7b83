/** Colour scale with words at its ends and in the middle. */

import { css } from "./palette";

interface Props {
  colours: Uint8Array;
  words: [string, string, string];
}

export function Legend({ colours, words }: Props) {
  const stops = Array.from({ length: 17 }, (_, i) => css(colours, 1 + Math.round((i * 254) / 16)));
  return (
    <span class="legend" title="The colour scale follows the square root of the value.">
      <span>{words[0]}</span>
      <i style={{ background: `linear-gradient(90deg, ${stops.join(",")})` }} />
      <span>{words[1]}</span>
      <span>{words[2]}</span>
    </span>
  );
}
