/** Colours: tokens of the design. Scales begin at the ground, and read alike with colour blindness and in grey. */

export type Colour = [number, number, number];

const parts = (hex: string): Colour => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as Colour;

/** Of what is more and more, from the ground on: lightness falls on a light ground and rises on a dark one. */
const SEQUENTIAL = {
  light: ["#ffffff", "#fdf1d8", "#f9d592", "#efa64c", "#da6f34", "#ae3a33", "#6d1736", "#2c0a26"].map(parts),
  dark: ["#0f1318", "#2b1d33", "#571d41", "#92293f", "#cc4e30", "#ec8636", "#f8c163", "#fff3cb"].map(parts),
};
/** Of a difference: the first has more (orange), both alike (the ground), the second has more (blue). */
const DIVERGING = {
  light: ["#7c3600", "#bd6417", "#e8b283", "#ffffff", "#9cc3e6", "#2f7dbe", "#0a3c6e"].map(parts),
  dark: ["#ffcf9c", "#e08a3c", "#7d4716", "#0f1318", "#1b4a76", "#4a97d9", "#b5dcff"].map(parts),
};

const themeOf = (ground: Colour) => (ground[0] < 128 ? "dark" : "light");

function between(stops: Colour[], part: number): Colour {
  const at = Math.min(1, Math.max(0, part)) * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(at));
  const [a, b] = [stops[low]!, stops[low + 1]!];
  return [0, 1, 2].map((i) => Math.round(a[i]! + (b[i]! - a[i]!) * (at - low))) as Colour;
}

const scales = new Map<string, Uint8Array>();

/** 256 colours: 0 is nothing recorded and shows the ground, 1 to 255 run from the least to the most. They are kept. */
export function scale(ground: Colour): Uint8Array {
  const key = ground.join();
  let all = scales.get(key);
  if (!all) {
    const stops = SEQUENTIAL[themeOf(ground)];
    scales.set(key, all = new Uint8Array(256 * 4));
    for (let i = 0; i < 256; i++) all.set([...(i === 0 ? ground : between(stops, i / 255)), 255], i * 4);
  }
  return all;
}

/** The step of the scale for a value: by the root, so that small queues show beside large ones. */
export function step(value: number, largest: number): number {
  if (!(value > 0) || !(largest > 0)) return 0;
  return 1 + Math.round(254 * Math.sqrt(Math.min(1, value / largest)));
}

/** 256 colours of a difference: 128 is none and shows the ground, 1 is the most one way and 255 the other way. */
export function diverging(ground: Colour): Uint8Array {
  const stops = DIVERGING[themeOf(ground)];
  const all = new Uint8Array(256 * 4);
  for (let i = 0; i < 256; i++) {
    all.set([...(i === 128 ? ground : between(stops, 0.5 + (i - 128) / 254)), 255], i * 4);
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
  /** The page behind a fabric, and the box of a pod on it. */
  ground: string;
  pod: string;
  /** Names and what stands for nodes. */
  ink: string;
  /** Words at axes. */
  soft: string;
  /** What is pinned, losses. */
  most: string;
  /** The path of a flow, and what glows around it. */
  lit: string;
  glow: string;
  /** Links in which nothing is, edges of links in which something is, lines of a grid: no figures, they stand back. */
  idle: string;
  edge: string;
  grid: string;
  /** Ports that are paused, and those that wait for one another for good. */
  paused: string;
  dead: string;
}

/** What is drawn on canvases beside colours of figures. */
export const INKS: { light: Inks; dark: Inks } = {
  light: {
    ground: "#ffffff", pod: "#f6f7f9", ink: "#161b22", soft: "#505a68", most: "#161b22", lit: "#5a36c8",
    glow: "#d3c9f3", idle: "#b9c0ca", edge: "#aeb5bf", grid: "#e8ebef",
    paused: "#0064a6", dead: "#a8322a",
  },
  dark: {
    ground: "#0f1318", pod: "#0a0d11", ink: "#e9edf2", soft: "#aab3bf", most: "#ffffff", lit: "#b3a6ff",
    glow: "#3b3462", idle: "#46505c", edge: "#525d6a", grid: "#1e252d",
    paused: "#6cb8ff", dead: "#ff8f85",
  },
};

/** Lanes of ranks: calculations, messages, and the line of waiting. They differ in lightness too. */
export const LANES = {
  light: { calculation: "#0064a6", message: "#bc8205", waiting: "#808995" },
  dark: { calculation: "#3f9be0", message: "#f5da5f", waiting: "#6c7683" },
};
