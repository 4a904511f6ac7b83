/** Where the page finds its columns: in itself, or at the server from which it came. */

import { Damaged } from "./unpack";

/** Texts are taken once, when they are first shown: the page does not keep them beside what they were unpacked to. */
export function carried(at: number): string {
  const element = document.getElementById(`incast-${at}`);
  if (!element?.textContent) throw new Damaged(`column ${at} is not there`);
  const text = element.textContent;
  element.remove();
  return text;
}

/** Asks the server from which the page came. */
export async function served(at: number): Promise<ArrayBuffer> {
  let answer: Response;
  let bytes: ArrayBuffer;
  try {
    answer = await fetch(`columns/${at}`);
    // it may end in the middle of an answer
    bytes = await answer.arrayBuffer();
  } catch {
    throw new Error("incast view --serve does not answer any more");
  }
  if (!answer.ok) throw new Error(`incast view --serve says ${answer.status} of column ${at}`);
  return bytes;
}
