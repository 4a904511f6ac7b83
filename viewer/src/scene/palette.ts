/** Colours. The scale is cividis, which reads the same with the common kinds of colour blindness, and in grey. */

export type Colour = [number, number, number];

const CIVIDIS: Colour[] = [
  [0, 34, 78], [18, 53, 112], [59, 73, 108], [87, 92, 109], [112, 113, 115], [138, 134, 120], [165, 156, 116],
  [195, 179, 105], [225, 204, 85], [254, 232, 56],
];
function between(stops: Colour[], part: number): Colour {
  const at = Math.min(1, Math.max(0, part)) * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(at));
  const [a, b] = [stops[low]!, stops[low + 1]!];
  return [0, 1, 2].map((i) => Math.round(a[i]! + (b[i]! - a[i]!) * (at - low))) as Colour;
}

/**
 * 256 colours: 0 is nothing recorded and shows the ground, 1 to 255 run from the least to the most. The most stands out
 * most from the ground: it is bright on a dark one and dark on a light one.
 */
export function scale(ground: Colour): Uint8Array {
  const stops = ground[0] < 128 ? CIVIDIS : CIVIDIS.toReversed();
  const all = new Uint8Array(256 * 4);
  for (let i = 0; i < 256; i++) all.set([...(i === 0 ? ground : between(stops, (i - 1) / 254)), 255], i * 4);
  return all;
}

/** The step of the scale for a value: by the root, so that small queues show beside large ones. */
export function step(value: number, largest: number): number {
  if (!(value > 0) || !(largest > 0)) return 0;
  return 1 + Math.round(254 * Math.sqrt(Math.min(1, value / largest)));
}

/** Orange and blue, which tell apart with the common kinds of colour blindness; the middle is the ground. */
const ORANGE: Colour = [194, 91, 0];
const BLUE: Colour = [0, 101, 189];
const BRIGHT_ORANGE: Colour = [255, 167, 66];
const BRIGHT_BLUE: Colour = [92, 178, 255];

/** 256 colours of a difference: 128 is none and shows the ground, 1 is the most one way and 255 the other way. */
export function diverging(ground: Colour): Uint8Array {
  const dark = ground[0] < 128;
  const all = new Uint8Array(256 * 4);
  for (let i = 0; i < 256; i++) {
    const end = i < 128 ? (dark ? BRIGHT_ORANGE : ORANGE) : dark ? BRIGHT_BLUE : BLUE;
    all.set([...between([ground, end], Math.abs(i - 128) / 127), 255], i * 4);
  }
  return all;
}

/** The step of a difference on that scale, by the root of it. */
export function signed(less: number, largest: number): number {
  if (!less || !(largest > 0)) return 128;
  return 128 + Math.sign(less) * Math.max(1, Math.round(127 * Math.sqrt(Math.min(1, Math.abs(less) / largest))));
}

export function css(colours: Uint8Array, at: number): string {
  return `rgb(${colours[4 * at]!},${colours[4 * at + 1]!},${colours[4 * at + 2]!})`;
}

interface Inks {
  /** The page behind a fabric. */
  ground: string;
  /** Names and what stands for nodes. */
  ink: string;
  /** Words at axes. */
  soft: string;
  /** What is pinned, losses. */
  most: string;
  /** The path of a flow. */
  lit: string;
  /** Links in which nothing is, and lines of a grid: they are no figures, and stand back. */
  idle: string;
  grid: string;
}

/** What is drawn on canvases beside colours of figures. */
export const INKS: { light: Inks; dark: Inks } = {
  light: {
    ground: "#ffffff", ink: "#2b3444", soft: "#3a4456", most: "#000000", lit: "#c2185b",
    idle: "#c3cad6", grid: "#e2e6ee",
  },
  dark: {
    ground: "#10141c", ink: "#dbe2ee", soft: "#c6cfdd", most: "#ffffff", lit: "#ff79c6",
    idle: "#3a4354", grid: "#2c3545",
  },
};
