/** How large an element is, and what ground it has. */

import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Colour } from "./palette";

export function useSize(element: RefObject<HTMLElement>): { width: number; height: number } {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useEffect(() => {
    const own = element.current;
    if (!own) return undefined;
    const look = () => {
      const [width, height] = [Math.floor(own.clientWidth), Math.floor(own.clientHeight)];
      setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    };
    look();
    const watch = new ResizeObserver(look);
    watch.observe(own);
    return () => { watch.disconnect(); };
  }, [element]);
  return size;
}

let letters: number | null = null;

/** The size of the page's letters, which another size of the window may change. */
export function letterSize(): number {
  if (letters === null) {
    letters = parseFloat(getComputedStyle(document.body).fontSize);
    addEventListener("resize", () => { letters = null; }, { once: true });
  }
  return letters;
}

/** The size of small letters on a canvas: as small as those of the page's legends. */
export function smallLetters(): number {
  return 0.85 * letterSize();
}

export function groundOf(dark: boolean): Colour {
  return dark ? [15, 19, 24] : [255, 255, 255];
}
