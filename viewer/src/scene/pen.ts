/** What draws the fabric: a canvas for the page, SVG for a file. */

export interface Pen {
  /** Lines of one colour, each by the four numbers of its ends. */
  lines(ends: number[], colour: string, wide: number): void;
  dot(x: number, y: number, size: number, colour: string): void;
  box(x: number, y: number, size: number, colour: string): void;
  /** A field with an edge, by its left upper corner. */
  field(x: number, y: number, wide: number, high: number, colour: string, edge: string): void;
  /** Heads of arrows, each by its tip and its direction. */
  arrows(heads: number[], size: number, colour: string): void;
  /** Text around a middle or from a side, with an edge of another colour: it is read where lines cross it. */
  text(x: number, y: number, words: string, colour: string, edge: string, side?: Side): void;
  /** How wide it is. */
  width(words: string): number;
}

/** Where a text begins, or ends, or has its middle. */
export type Side = "start" | "middle" | "end";

/** The corners of a head of an arrow: its tip, and both ends of its back. */
function corners(x: number, y: number, way: number, size: number): [number, number, number, number, number, number] {
  const [dx, dy] = [Math.cos(way) * size, Math.sin(way) * size];
  return [x, y, x - 1.7 * dx - 0.8 * dy, y - 1.7 * dy + 0.8 * dx, x - 1.7 * dx + 0.8 * dy, y - 1.7 * dy - 0.8 * dx];
}

export function onCanvas(context: CanvasRenderingContext2D, letters: number): Pen {
  let lettered = false;
  // a font makes the browser work out the page's style, and most pictures have no words
  const withFont = () => {
    if (!lettered) context.font = `${letters}px system-ui, sans-serif`;
    lettered = true;
    return context;
  };
  return {
    lines(ends, colour, wide) {
      context.strokeStyle = colour;
      context.lineWidth = wide;
      context.beginPath();
      for (let i = 0; i < ends.length; i += 4) {
        context.moveTo(ends[i]!, ends[i + 1]!);
        context.lineTo(ends[i + 2]!, ends[i + 3]!);
      }
      context.stroke();
    },
    dot(x, y, size, colour) {
      context.fillStyle = colour;
      context.beginPath();
      context.arc(x, y, size, 0, 7);
      context.fill();
    },
    box(x, y, size, colour) {
      context.fillStyle = colour;
      context.fillRect(x - size, y - size, 2 * size, 2 * size);
    },
    field(x, y, wide, high, colour, edge) {
      context.fillStyle = colour;
      context.strokeStyle = edge;
      context.lineWidth = 1;
      context.beginPath();
      context.roundRect(x, y, wide, high, Math.max(0, Math.min(8, wide / 4)));
      context.fill();
      context.stroke();
    },
    arrows(heads, size, colour) {
      context.fillStyle = colour;
      context.beginPath();
      for (let i = 0; i < heads.length; i += 3) {
        const [x, y, x1, y1, x2, y2] = corners(heads[i]!, heads[i + 1]!, heads[i + 2]!, size);
        context.moveTo(x, y);
        context.lineTo(x1, y1);
        context.lineTo(x2, y2);
        context.closePath();
      }
      context.fill();
    },
    text(x, y, words, colour, edge, side = "middle") {
      withFont().textAlign = side === "middle" ? "center" : side;
      context.strokeStyle = edge;
      context.lineWidth = letters / 3;
      context.lineJoin = "round";
      context.strokeText(words, x, y);
      context.fillStyle = colour;
      context.fillText(words, x, y);
    },
    width: (words) => withFont().measureText(words).width,
  };
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
/** Words as they stand in XML: names are the user's, and no markup. */
const escaped = (words: string) => words.replace(/[&<>"]/g, (sign) => ENTITIES[sign]!);

const round = (value: number) => String(Math.round(value * 100) / 100);

/** A pen whose lines become a file; `caption` is written below. */
export function asSvg(width: number, height: number, letters: number, measure: Pen["width"]): Pen & {
  file(ground: string, ink: string, caption: string[]): string;
} {
  const drawn: string[] = [];
  const put = (element: string) => { drawn.push(element); };
  return {
    lines(ends, colour, wide) {
      if (!ends.length) return;
      let path = "";
      for (let i = 0; i < ends.length; i += 4) {
        path += `M${round(ends[i]!)} ${round(ends[i + 1]!)}L${round(ends[i + 2]!)} ${round(ends[i + 3]!)}`;
      }
      put(`<path d="${path}" stroke="${colour}" stroke-width="${wide}"/>`);
    },
    dot(x, y, size, colour) {
      put(`<circle cx="${round(x)}" cy="${round(y)}" r="${round(size)}" fill="${colour}"/>`);
    },
    box(x, y, size, colour) {
      const [left, top, side] = [round(x - size), round(y - size), round(2 * size)];
      put(`<rect x="${left}" y="${top}" width="${side}" height="${side}" fill="${colour}"/>`);
    },
    field(x, y, wide, high, colour, edge) {
      put(`<rect x="${round(x)}" y="${round(y)}" width="${round(wide)}" height="${round(high)}" rx="6" `
        + `fill="${colour}" stroke="${edge}"/>`);
    },
    arrows(heads, size, colour) {
      let path = "";
      for (let i = 0; i < heads.length; i += 3) {
        const [x, y, ...back] = corners(heads[i]!, heads[i + 1]!, heads[i + 2]!, size).map(round);
        path += `M${x} ${y}L${back[0]} ${back[1]}L${back[2]} ${back[3]}Z`;
      }
      if (path) put(`<path d="${path}" fill="${colour}"/>`);
    },
    text(x, y, words, colour, edge, side = "middle") {
      const around = `stroke="${edge}" stroke-width="${round(letters / 3)}"`;
      put(`<text x="${round(x)}" y="${round(y)}" fill="${colour}" ${around} `
        + `stroke-linejoin="round" paint-order="stroke" text-anchor="${side}">${escaped(words)}</text>`);
    },
    width: measure,
    file(ground, ink, caption) {
      const line = letters * 1.5;
      const whole = Math.ceil(height + line * (caption.length + 0.5));
      const below = caption.map((words, i) =>
        `<text x="8" y="${round(height + line * (i + 1))}" fill="${ink}">${escaped(words)}</text>`);
      return [
        `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${whole}" viewBox="0 0 ${width} ${whole}" `
          + `font-family="system-ui, sans-serif" font-size="${round(letters)}">`,
        `<rect width="100%" height="100%" fill="${ground}"/>`, ...drawn, ...below, "</svg>", "",
      ].join("\n");
    },
  };
}

/** A cross, which stands for a loss. */
export function cross(context: CanvasRenderingContext2D, x: number, y: number, colour: string, size = 4): void {
  context.strokeStyle = colour;
  context.lineWidth = size / 2;
  context.beginPath();
  for (const side of [-1, 1]) {
    context.moveTo(x - size, y - side * size);
    context.lineTo(x + size, y + side * size);
  }
  context.stroke();
}
