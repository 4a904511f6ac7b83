/** Where the page finds its parts: in itself, or at the server from which it came. */

import { Damaged } from "./unpack";

const isLoading = () => document.readyState === "loading";
/** Waits until the document is there as far as is needed; at its end all is. */
const until = (holds: () => boolean) => new Promise<void>((done) => {
  if (!isLoading() || holds()) { done(); return; }
  const watch = new MutationObserver(() => { if (holds()) end(); });
  const end = () => {
    watch.disconnect();
    document.removeEventListener("DOMContentLoaded", end);
    done();
  };
  watch.observe(document, { childList: true, subtree: true });
  document.addEventListener("DOMContentLoaded", end);
});

/** Waits until what a page opens with is there: the rest of a large file may still be on its way. */
export const begun = () => until(() => document.getElementById("incast-first") !== null);

let all: Promise<void> | null = null;

/** Parts of the file itself. Those that are still on their way are waited for. */
export function carried(at: number): string | Promise<string> {
  // what another node follows is complete
  if (!isLoading() || document.getElementById(`incast-${at}`)?.nextSibling) return taken(at);
  all ??= until(() => false);
  return all.then(() => taken(at));
}

/** Texts are taken once, when they are first shown: the page does not keep them beside what they were unpacked to. */
function taken(at: number): string {
  const element = document.getElementById(`incast-${at}`);
  if (!element?.textContent) throw new Damaged(`part ${at} is missing`);
  const text = element.textContent;
  element.remove();
  return text;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Most parts of one request: a browser has several under way, and unpacks the first while others are made. */
const MOST = 48;
/** What is asked for in one go, and who is told. */
let asked = new Map<number, { answer: Promise<Bytes>; tell: (answer: Promise<Bytes>) => void }>();

/** Asks the server from which the page came: for parts of one go that follow one another in one request. */
export function served(at: number): Promise<Bytes> {
  if (!asked.size) queueMicrotask(ask);
  const before = asked.get(at);
  if (before) return before.answer;
  let tell: (answer: Promise<Bytes>) => void = () => undefined;
  const answer = new Promise<Bytes>((done) => { tell = done; });
  asked.set(at, { answer, tell });
  return answer;
}

function ask(): void {
  const all = [...asked].sort(([a], [b]) => a - b);
  asked = new Map();
  for (let from = 0, to = 1; from < all.length; from = to++) {
    while (to < all.length && to < from + MOST && all[to]![0] === all[to - 1]![0] + 1) to++;
    const parts = answered(all[from]![0], all[to - 1]![0]);
    all.slice(from, to).forEach(([, { tell }], i) => { tell(parts.then((found) => found[i]!)); });
  }
}

/** The parts from one to another. Each begins with its length. */
async function answered(first: number, last: number): Promise<Bytes[]> {
  let answer: Response;
  let bytes: ArrayBuffer;
  try {
    answer = await fetch(`parts/${first}-${last}`);
    // it may end in the middle of an answer
    bytes = await answer.arrayBuffer();
  } catch {
    throw new Error("incast view --serve no longer answers");
  }
  if (!answer.ok) {
    throw new Error(`incast view --serve says: ${new TextDecoder().decode(bytes).trim()}`);
  }
  const lengths = new DataView(bytes);
  const parts: Bytes[] = [];
  for (let at = 0; at < bytes.byteLength;) {
    const length = lengths.getUint32(at, true);
    parts.push(new Uint8Array(bytes, at + 4, length));
    at += 4 + length;
  }
  return parts;
}
