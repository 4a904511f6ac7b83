/** What came out, as one picture: answer, figures and curves, in SVG of lines and text alone. */

import type { Answer } from "../answers/answer";
import type { Comparison } from "../answers/table";
import { seconds, short } from "../data/format";
import type { Span } from "../data/stretch";
import { coloursOf, type Curve } from "../panes/Plot";
import { ticksOf } from "../time/ticks";
import type { Drawn } from "./curves";
import { DASHES } from "./Marker";

export interface Pictured {
  title: string;
  /** What is simulated, and the seeds of the figures. */
  setting: string;
  seeds: number;
  answers: Answer[];
  table: Comparison;
  /** Names of the controllers, and their places among the chips. */
  named: (controller: string) => { name: string; at: number };
  plots: { drawn: Drawn; seen: Span }[];
  /** What repeats it. */
  command: string;
}

const [WIDE, EDGE, PLOT_HIGH] = [1200, 40, 260];
const INNER = WIDE - 2 * EDGE;
/** Figures of the table that have room. */
const MOST_COLUMNS = 7;
const [INK, SOFT, LINE] = ["#161b22", "#505a68", "#dfe3e9"];
/** Width of a letter as a share of its height, on the safe side. */
const [LETTER, BOLD, MONO] = [0.56, 0.64, 0.61];
const SIGNS: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** A text for SVG: signs of markup as names, without letters that XML lacks. */
export const escaped = (text: string) => (
  text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff\ufffe\uffff]/gu, "")
    .replace(/[&<>"']/g, (sign) => SIGNS[sign]!));

/** Lines of at most so many letters; a word that is longer is cut. */
export function wrapped(text: string, most: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/ +/).flatMap((own) => own.match(new RegExp(`.{1,${most}}`, "gsu")) ?? [])) {
    if (line && line.length + 1 + word.length > most) {
      lines.push(line);
      line = word;
    } else line = line ? `${line} ${word}` : word;
  }
  return line ? [...lines, line] : lines;
}

/** A text of at most so many letters: a longer one without its end. */
export function cut(text: string, most: number): string {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, Math.max(0, most - 1)).join("")}…` : text;
}

interface Lettering {
  size?: number;
  colour?: string;
  bold?: boolean;
  anchor?: "start" | "middle" | "end";
  mono?: boolean;
}

const round = (value: number) => Number(value.toFixed(1));

function text(x: number, y: number, words: string, look: Lettering = {}): string {
  const { size = 14, colour = INK, bold = false, anchor = "start", mono = false } = look;
  return `<text x="${round(x)}" y="${round(y)}" font-size="${size}" fill="${colour}" text-anchor="${anchor}"`
    + `${bold ? ' font-weight="600"' : ""}${mono ? ' font-family="monospace"' : ""}>${escaped(words)}</text>`;
}

const rule = (x: number, y: number, to_x: number, to_y: number, colour = LINE) => (
  `<path d="M${round(x)} ${round(y)}L${round(to_x)} ${round(to_y)}" stroke="${colour}" fill="none"/>`);

/** A curve as a path: of values that share a pixel the largest and the last. One in steps holds to the axis' end. */
function path(
  { time_s, values, stepped }: Curve, to_s: number, x: (time_s: number) => number, y: (value: number) => number,
): string {
  const points: [number, number][] = [];
  let [i, held] = [0, NaN];
  while (i < time_s.length && time_s[i]! <= to_s) {
    const pixel = Math.floor(x(time_s[i]!));
    let most = NaN;
    for (; i < time_s.length && time_s[i]! <= to_s && Math.floor(x(time_s[i]!)) === pixel; i++) {
      const value = values[i]!;
      if (Number.isNaN(value)) continue;
      held = value;
      if (!(value <= most)) most = value;
    }
    if (!Number.isNaN(most)) points.push([pixel, round(y(most))], [pixel, round(y(held))]);
  }
  if (stepped && i < time_s.length && points.length) points.push([Math.floor(x(to_s)), round(y(held))]);
  const further = (at: number, high: number) => (stepped ? `H${at}V${high}` : `L${at} ${high}`);
  return points.map(([at, high], i) => (i ? further(at, high) : `M${at} ${high}`)).join("");
}

/** A plot with its axes and its legend, by its left upper corner. */
function plot({ drawn, seen }: Pictured["plots"][number], left: number, top: number, wide: number): string {
  const { title, unit, curves } = drawn;
  const [x0, x1, y0, y1] = [left + 76, left + wide - 12, top + 50, top + PLOT_HIGH - 26];
  let most = 0;
  for (const { values } of curves) for (let i = 0; i < values.length; i++) if (values[i]! > most) most = values[i]!;
  most ||= 1;
  const share = (time_s: number) => Math.min(1, Math.max(0, (time_s - seen.from_s) / (seen.to_s - seen.from_s)));
  const x = (time_s: number) => x0 + share(time_s) * (x1 - x0);
  const y = (value: number) => y1 - (value / (1.06 * most)) * (y1 - y0);
  const colours = coloursOf(false);
  let at = left + wide - 12;
  // beside the title, each with the line before it
  const room = (wide - 12 - (title.length + 2) * 14 * BOLD) / Math.max(1, curves.length) - 44;
  const legend = [...curves].reverse().map(({ label, colour = 0, dashed }) => {
    const name = cut(label, Math.max(2, Math.floor(room / (12 * LETTER))));
    const [end, begin] = [at, at - [...name].length * 12 * LETTER - 4];
    at = begin - 40;
    return `${text(end, top + 16, name, { size: 12, anchor: "end" })}<path d="M${round(begin - 26)} ${top + 12}h22" `
      + `stroke="${colours[colour % colours.length]}" stroke-width="2"${dash(colour, dashed)}/>`;
  });
  const levels = ticksOf(0, 1.06 * most, 4).map((value) => (
    rule(x0, y(value), x1, y(value)) + text(x0 - 8, y(value) + 4, short(value, unit), { size: 12, colour: SOFT,
      anchor: "end" })));
  const times = ticksOf(seen.from_s, seen.to_s, 6).map((time_s) => (
    rule(x(time_s), y0, x(time_s), y1) + text(x(time_s), y1 + 18, seconds(time_s), { size: 12, colour: SOFT,
      anchor: "middle" })));
  const lines = curves.map((curve) => {
    const { colour = 0, dashed } = curve;
    return `<path d="${path(curve, seen.to_s, x, y)}" fill="none" stroke-width="1.6" stroke="${
      colours[colour % colours.length]}"${dash(colour, dashed)}/>`;
  });
  return [text(left, top + 16, title, { bold: true }), ...legend, ...levels, ...times, ...lines].join("\n");
}

function dash(place: number, dashed = false): string {
  const own = dashed ? [6, 4] : DASHES[place % DASHES.length]!;
  return own.length ? ` stroke-dasharray="${own.join(" ")}"` : "";
}

/** The table of figures, and how high it is. */
function tableOf({ table, named }: Pictured, top: number): { svg: string; high: number } {
  const columns = table.columns.slice(0, MOST_COLUMNS);
  const longest = Math.floor((INNER / 2 - 50) / (14 * BOLD));
  const names = table.rows.map(({ controller, mark }) => (
    `${cut(named(controller).name, longest - mark.length - 1)} ${mark}`.trim()));
  const first = Math.min(INNER / 2, Math.max(160, ...names.map((name) => name.length * 14 * LETTER + 50)));
  const wide = (INNER - first) / Math.max(1, columns.length);
  const right = (at: number) => EDGE + first + wide * (at + 1);
  const heads = columns.map(({ title, unit }) => [...wrapped(title, Math.floor((wide - 14) / (12 * BOLD))), unit]);
  const high = 16 * Math.max(1, ...heads.map((lines) => lines.length));
  const svg = heads.flatMap((lines, at) => lines.map((line, i) => (
    text(right(at), top + high - 16 * (lines.length - 1 - i), line, { size: 12, anchor: "end",
      colour: i === lines.length - 1 ? SOFT : INK, bold: i < lines.length - 1 }))));
  svg.push(rule(EDGE, top + high + 8, WIDE - EDGE, top + high + 8, SOFT));
  table.rows.forEach(({ controller, cells }, row) => {
    const y = top + high + 30 + 26 * row;
    const { at } = named(controller);
    svg.push(`<path d="M${EDGE} ${y - 5}h26" stroke="${coloursOf(false)[at % 6]}" stroke-width="2"${dash(at)}/>`);
    svg.push(text(EDGE + 36, y, names[row]!, { bold: true }));
    cells.slice(0, MOST_COLUMNS).forEach((cell, column) => {
      svg.push(text(right(column), y, `${cell.isBest ? "▸ " : ""}${cell.text}`, { size: 13, anchor: "end",
        bold: cell.isBest }));
    });
    svg.push(rule(EDGE, y + 9, WIDE - EDGE, y + 9));
  });
  return { svg: svg.join("\n"), high: high + 30 + 26 * table.rows.length };
}

export function pictureOf(pictured: Pictured): string {
  const { title, setting, answers, plots, command } = pictured;
  const parts: string[] = [];
  let y = EDGE + 14;
  const say = (words: string, look: Lettering, step: number, left = EDGE) => {
    const letter = (look.size ?? 14) * (look.mono ? MONO : LETTER);
    for (const line of wrapped(words, Math.floor((WIDE - EDGE - left) / letter))) {
      parts.push(text(left, y, line, look));
      y += step;
    }
  };
  say(title, { size: 22, bold: true }, 28);
  say(setting, { size: 14, colour: SOFT }, 22);
  y += 8;
  for (const { lead, rest } of answers) {
    parts.push(text(EDGE, y, "▸", { size: 16, colour: "#5a36c8" }));
    say(`${lead}${rest}`, { size: 16 }, 23, EDGE + 20);
    y += 4;
  }
  const table = tableOf(pictured, y);
  parts.push(table.svg);
  y += table.high + 18;
  const gap = 24;
  const wide = (INNER - gap * (plots.length - 1)) / Math.max(1, plots.length);
  plots.forEach((one, i) => { parts.push(plot(one, EDGE + i * (wide + gap), y, wide)); });
  if (plots.length) y += PLOT_HIGH + 16;
  const signs = [
    ...(pictured.table.rows.length > 1
      ? ["▸ best: told apart from all others. ◆ not beaten in throughput and delay together."] : []),
    ...(pictured.seeds > 1 ? ["± 95 % interval over seeds."] : []), "≥ a bound. Curves: seed 1."];
  say(signs.join(" "), { size: 12, colour: SOFT }, 18);
  say(command, { size: 12, colour: SOFT, mono: true }, 18);
  const high = Math.ceil(y + EDGE - 18);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDE}" height="${high}" viewBox="0 0 ${WIDE} ${high}" `
    + `font-family="system-ui, sans-serif">\n<rect width="${WIDE}" height="${high}" fill="#fff"/>\n${
      parts.join("\n")}\n</svg>\n`;
}

/** A picture of lines as one of points, twice as fine. */
export async function pngOf(svg: string): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [2 * image.naturalWidth, 2 * image.naturalHeight];
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, failed) => {
      canvas.toBlob((blob) => { if (blob) done(blob); else failed(new Error("this browser makes no picture of it")); });
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}
