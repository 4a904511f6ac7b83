/** Round times for a ruler. */

const STEPS = [1, 2, 2.5, 5, 10];

/** Times of a ruler from one to another, round and at most so many. */
export function ticksOf(from_s: number, to_s: number, most: number): number[] {
  const least = (to_s - from_s) / Math.max(1, most);
  if (!(least > 0) || !Number.isFinite(least)) return [];
  const ten = 10 ** Math.floor(Math.log10(least) + 1e-9);
  const step = ten * (STEPS.find((own) => own * ten >= least * (1 - 1e-9)) ?? 10);
  const first = Math.ceil(from_s / step - 1e-9);
  const last = Math.floor(to_s / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}
