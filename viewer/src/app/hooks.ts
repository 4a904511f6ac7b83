/** What the page does by itself: it follows the clock, the keys and the theme, and writes its address. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Run } from "../data/run";
import { written, type Moment } from "../time/link";
import { remember, remembered } from "./memory";
import type { Change } from "./shown";

/** Between two changes of the address. */
const ADDRESS_MS = 350;

export function useDark(): [boolean, () => void] {
  const [dark, setDark] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches);
  useEffect(() => { document.documentElement.dataset.theme = dark ? "dark" : "light"; }, [dark]);
  return [dark, () => { setDark((old) => !old); }];
}

export function useAddress(moment: Moment): void {
  const writtenAt = useRef(-Infinity);
  useEffect(() => {
    // a frame of a notebook has no address of its own
    if (location.protocol === "about:") return undefined;
    // browsers refuse an address that changes more often than some three times a second
    const later = setTimeout(() => {
      history.replaceState(null, "", written(moment));
      writtenAt.current = performance.now();
    }, writtenAt.current + ADDRESS_MS - performance.now());
    return () => { clearTimeout(later); };
  }, [moment]);
}

/** Goes on by so many frames a second until the run's end, while the page plays. */
export function usePlaying(
  playing: boolean, speed: number, run: Run, change: (to: Change) => void, atEnd: () => void,
): void {
  const clock = useRef({ speed, run });
  clock.current = { speed, run };
  useEffect(() => {
    if (!playing) return undefined;
    let before = performance.now();
    let due = 0;
    let next = requestAnimationFrame(function tick(at: number) {
      due += ((at - before) / 1000) * clock.current.speed;
      before = at;
      const steps = Math.floor(due);
      due -= steps;
      if (steps) {
        change(({ time_s }) => {
          const own = clock.current.run;
          const to = own.frameOf(time_s) + steps;
          if (to >= own.frames - 1) atEnd();
          return { time_s: own.timeOf(Math.min(own.frames - 1, to)) };
        });
      }
      next = requestAnimationFrame(tick);
    });
    return () => { cancelAnimationFrame(next); };
  }, [playing]);
}

/** Whether keys of one character act; it is remembered where the browser lets the page do so. */
export function useLetters(): [boolean, (on: boolean) => void] {
  const [letters, setLetters] = useState(() => remembered("letters") !== "off");
  return [letters, (on) => {
    setLetters(on);
    remember("letters", on ? "on" : "off");
  }];
}

/** What keys do; `far` is how many steps a key with Shift goes, `letters` whether keys of one character act. */
export function useKeys(acts: (far: number) => Record<string, () => void>, letters: boolean): void {
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      // the space is no character that is spoken or read
      if (!letters && event.key.length === 1 && event.key !== " ") return;
      // keys that the element itself takes are its own
      const { tagName } = target;
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(tagName) || (tagName === "BUTTON" && event.key === " ")) return;
      const act = acts(event.shiftKey ? 10 : 1)[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", pressed);
    return () => { removeEventListener("keydown", pressed); };
  });
}
