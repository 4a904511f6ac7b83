/** Says that something is being read, once that takes a while: what is quickly there needs no word. */

import { useEffect, useState } from "preact/hooks";

const QUICK_MS = 400;

export function Waiting({ waits }: { waits: boolean }) {
  const [said, setSaid] = useState(false);
  useEffect(() => {
    if (!waits) return undefined;
    const later = setTimeout(() => { setSaid(true); }, QUICK_MS);
    return () => {
      clearTimeout(later);
      setSaid(false);
    };
  }, [waits]);
  // screen readers tell of a status that was there before its words
  return <p class="reading" role="status">{said ? "reading …" : ""}</p>;
}
