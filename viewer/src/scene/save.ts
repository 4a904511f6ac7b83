/** Hands the user a file of what is seen. */

import { smallLetters } from "./size";

/** A name of a file: of letters, digits and signs that every system takes. */
export function fileName(words: string, ending: string): string {
  return `${words.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-+|-+$/g, "") || "incast"}.${ending}`;
}

export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => { URL.revokeObjectURL(link.href); }, 10_000);
}

/** A canvas with lines of words below it, as PNG. */
export function savePng(canvas: HTMLCanvasElement, caption: string[], name: string): void {
  const letters = smallLetters() * devicePixelRatio;
  const line = letters * 1.5;
  const whole = document.createElement("canvas");
  whole.width = canvas.width;
  whole.height = Math.ceil(canvas.height + line * (caption.length + 0.5));
  const context = whole.getContext("2d");
  if (!context) return;
  const { backgroundColor, color } = getComputedStyle(document.body);
  context.fillStyle = backgroundColor;
  context.fillRect(0, 0, whole.width, whole.height);
  context.drawImage(canvas, 0, 0);
  context.font = `${letters}px system-ui, sans-serif`;
  context.fillStyle = color;
  caption.forEach((words, i) => { context.fillText(words, 8, canvas.height + line * (i + 1)); });
  whole.toBlob((blob) => { if (blob) save(blob, fileName(name, "png")); }, "image/png");
}
