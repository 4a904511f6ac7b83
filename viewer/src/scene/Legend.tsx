/** A scale of colours with words at its ends and in its middle. */

import { css } from "./palette";

interface Props {
  colours: Uint8Array;
  /** The colour at which the scale begins. */
  from: number;
  words: [string, string, string];
}

export function Legend({ colours, from, words }: Props) {
  const stops = Array.from({ length: 17 }, (_, i) => css(colours, from + Math.round((i * (255 - from)) / 16)));
  return (
    <span class="legend" title="The colour goes with the root of the figure.">
      <span>{words[0]}</span>
      <i style={{ background: `linear-gradient(90deg, ${stops.join(",")})` }} />
      <span>{words[1]}</span>
      <span>{words[2]}</span>
    </span>
  );
}
