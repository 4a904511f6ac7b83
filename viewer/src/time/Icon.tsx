/** Signs of buttons as drawings: fonts of some systems lack them. */

const PATHS = {
  play: "M4 2l9 6-9 6z", pause: "M4 2h3v12H4zM9 2h3v12H9z", back: "M11 3L5 8l6 5z", forward: "M5 3l6 5-6 5z",
  previous: "M3 3h2v10H3zM13 3L6 8l7 5z", next: "M11 3h2v10h-2zM3 3l7 5-7 5z", flag: "M4 2h8l-2 3 2 3H6v6H4z",
};

export function Icon({ name }: { name: keyof typeof PATHS }) {
  return <svg class="sign" width="14" height="14" viewBox="0 0 16 16" aria-hidden="true"><path d={PATHS[name]} /></svg>;
}
