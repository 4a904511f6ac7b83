/** Status of slow reading: quick reads show nothing. */

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
  // screen readers announce changes of a status that exists before its words
  return <p class="reading" role="status">{said ? "reading …" : ""}</p>;
}
