/**
 * Numbers as texts, as `python/incast/writing/numbers.py` writes them: three figures, SI prefixes, spreads, bounds and
 * intervals. Digits are those of the exact binary value, so both languages round alike.
 */

import type { Estimate } from "./statistics";

/** Space between a number and its unit, and the sign of negative numbers. */
export const SPACE = "\u00a0";
const MINUS = "\u2212";

/** Plain figures below this are told as `< 0.01`. */
const TINY = 0.01;

/** Figures of a mean, at most: a spread below its last figure is left out. */
const MOST_FIGURES = 5;

/** Digits of a number before the point, at most; a longer one is told as a power of ten. */
const LONGEST = 15;

type Steps = [number, string][];
const LARGE: Steps = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
const STEPS: Record<string, Steps> = {
  s: [[1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]], B: LARGE, "b/s": LARGE,
};

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

export type Rounding = "half up" | "half even" | "floor" | "ceiling";

/** A plain number with so many figures; all digits before the point stay: 0.481, 8.20, 8,691. */
export function rounded(value: number, significant = 3, rounding: Rounding = "half up"): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "–" : signed("∞", value);
  if (value === 0) return "0";
  const exponent = exponentOf(value, significant, rounding);
  if (exponent > -5 && exponent < LONGEST) return ended(value, Math.max(significant - 1 - exponent, 0), rounding);
  const mantissa = ended(value / power(exponent), significant - 1, rounding);
  return `${mantissa}${SPACE}×${SPACE}10${raised(exponent)}`;
}

/** A number with its unit: seconds, bytes and bit/s take a prefix, others stay plain (104 kB, 97.7 %). */
export function quantity(value: number, unit: string, significant = 3): string {
  const [step, shown] = prefixed(value, unit, significant);
  return withUnit(unit in STEPS ? rounded(value / step, significant) : plain(value, significant), shown);
}

/** The factor, and the unit with its prefix, that leave a value one to three digits before the point. */
export function prefixed(value: number, unit: string, significant = 3): [number, string] {
  const steps = STEPS[unit];
  if (value === 0 || !Number.isFinite(value) || !steps) return [1, unit];
  const shown = toFigures(Math.abs(value), significant); // 999.96 kB is 1 MB
  const [step, prefix] = steps.find(([from]) => shown >= from) ?? steps.at(-1)!;
  return [step, `${prefix}${unit}`];
}

/** A figure without prefixes; one too small to matter is `< 0.01`. */
export function plain(value: number, significant = 3): string {
  if (value === 0 || !(Math.abs(value) < TINY)) return rounded(value, significant);
  return value > 0 ? `<${SPACE}${TINY}` : `>${SPACE}${MINUS}${TINY}`;
}

/** A mean with half its interval: 1.44 ± 0.14; one too small to matter is shortened to `< 0.01`. */
export function tinyNumber(estimate: Estimate, scale: number): string {
  const [mean, half] = [estimate.mean * scale, Math.abs((estimate.halfWidth ?? 0) * scale)];
  const amount = Math.abs(mean) + half;
  if (amount > 0 && amount < TINY) return mean ? plain(mean) : `0${SPACE}±${SPACE}${plain(half)}`;
  return spread(mean, half);
}

/**
 * A mean ± a half width. The half width has one figure, two if it begins with 1 or 2; the mean ends there. A half width
 * of 0, or one below the last figure, is left out.
 */
export function spread(mean: number, half: number): string {
  if (half <= 0 || !Number.isFinite(half)) return rounded(mean);
  const exponent = Math.floor(Math.log10(Math.max(Math.abs(mean), half)));
  if (exponent < -4) {
    const inner = spread(mean / power(exponent), half / power(exponent));
    return inner.includes("±") ? `(${inner})${SPACE}×${SPACE}10${raised(exponent)}` : rounded(mean, 4);
  }
  const places = placesOf(half);
  if (places + 1 + exponent > MOST_FIGURES) return rounded(mean, 4);
  return `${fixed(mean, places)}${SPACE}±${SPACE}${fixed(half, places)}`;
}

/** A mean with half its interval and its unit: 10.2 ± 0.5 ms. */
export function measured(estimate: Estimate, unit: string): string {
  const [step, shown] = prefixed(estimate.mean, unit);
  const half = (estimate.halfWidth ?? 0) / step;
  const amount = Math.abs(estimate.mean) + half;
  const isTiny = !(unit in STEPS) && amount > 0 && amount < TINY;
  return withUnit(isTiny ? plain(estimate.mean) : spread(estimate.mean / step, half), shown);
}

/** Decimal places of a half width: those of one figure, or of two if it begins with 1 or 2. */
function placesOf(half: number): number {
  const two = toFigures(half, 2);
  const exponent = Math.floor(Math.log10(two) + 1e-9);
  return two / power(exponent) < 2.95 ? 1 - exponent : -exponent;
}

/**
 * A mean and its interval, 12.7 and [11.7, 13.6], with the places of half its width. A mean has three figures at most,
 * or more places where a number that is not 0 would read 0. An interval that its mean says as well is empty.
 */
export function withInterval(mean: number, low: number, high: number): [string, string] {
  const half = (high - low) / 2;
  if (half <= 0) return [rounded(mean), ""];
  const largest = Math.max(Math.abs(low), Math.abs(high));
  let places = Math.min(placesOf(half), 2 - Math.floor(Math.log10(largest)));
  const all = [mean, low, high];
  while (places < LONGEST && all.some((one) => one && !quantized(one, places, "half even"))) places += 1;
  const [text, ...ends] = all.map((one) => fixed(one, places));
  return [text!, ends.every((one) => one === text) ? "" : `[${ends.join(", ")}]`];
}

/** A figure by its bounds, which are equal if it is known; a bound is never rounded inwards. */
export function between(low: number, high: number): string {
  if (low === high) return rounded(low);
  if (high === Infinity) return low === -Infinity ? "open" : `≥${SPACE}${rounded(low, 3, "floor")}`;
  if (low === -Infinity) return `≤${SPACE}${rounded(high, 3, "ceiling")}`;
  return `${rounded(low, 3, "floor")} to ${rounded(high, 3, "ceiling")}`;
}

/** A share of 1 in percent; a share below 1 never reads 100 %. */
export function percent(share: number): string {
  const text = quantity(100 * share, "%");
  return share < 1 && text === `100${SPACE}%` ? `>${SPACE}99.9${SPACE}%` : text;
}

const LONG: [number, string][] = [[86400, "days"], [3600, "h"], [60, "min"]];

/** A duration in seconds: 20 ms, 195 µs; from two minutes on in minutes, hours or days. */
export function duration(value_s: number): string {
  const found = LONG.find(([size]) => value_s >= 2 * size);
  return found ? `${rounded(value_s / found[0])}${SPACE}${found[1]}` : quantity(value_s, "s");
}

/** A whole number with its digits in groups. */
export function grouped(number: number): string {
  return inGroups(String(number));
}

/** A count: 1 run, 2 runs. */
export function counted(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

/** Words of a sentence: a, b and c. */
export function joined(words: readonly string[]): string {
  return words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words.at(-1)!}` : words.join("");
}

function withUnit(text: string, unit: string): string {
  return unit ? `${text}${SPACE}${unit}` : text;
}

function signed(text: string, value: number): string {
  return value < 0 ? `${MINUS}${text}` : text;
}

/** The power of ten; the operator `**` may miss it by a digit. */
export function power(exponent: number): number {
  return Number(`1e${exponent}`);
}

function raised(exponent: number): string {
  return String(exponent).replace("-", "⁻").replace(/[0-9]/g, (digit) => RAISED[Number(digit)]!);
}

function toFigures(value: number, significant: number): number {
  return Number(value.toExponential(significant - 1));
}

/** Power of ten of the first figure, after rounding. */
function exponentOf(value: number, significant: number, rounding: Rounding): number {
  // more digits than tell any number from a power of ten
  const first = Number(value.toExponential(40).split("e")[1]);
  const places = significant - 1 - first;
  return String(quantized(value, places, rounding)).length - 1 - places;
}

/** A number with these decimal places, without zeros at its end if nothing was rounded away. */
function ended(value: number, places: number, rounding: Rounding): string {
  const amount = quantized(value, places, rounding);
  const text = written(amount, places);
  const shown = Number(text);
  const isExact = Math.abs(shown - Math.abs(value)) <= 1e-12 * Math.max(shown, Math.abs(value));
  return signed(inGroups(places && isExact ? text.replace(/\.?0+$/, "") : text), amount ? value : 0);
}

/** A number that ends at this place, before or behind the point. */
function fixed(value: number, places: number): string {
  const amount = quantized(value, places, "half even");
  return signed(inGroups(written(amount, places)), amount ? value : 0);
}

/** Digits of an amount of units of the last place. */
function written(amount: bigint, places: number): string {
  if (places <= 0) return amount ? `${amount}${"0".repeat(-places)}` : "0";
  const digits = String(amount).padStart(places + 1, "0");
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

function inGroups(text: string): string {
  const [whole, fraction] = text.split(".") as [string, string?];
  const groups = whole.replace(/\B(?=(?:\d{3})+$)/g, ",");
  return fraction === undefined ? groups : `${groups}.${fraction}`;
}

const BITS = new DataView(new ArrayBuffer(8));
const MANTISSA = 1n << 52n;

/** Amount of a finite number in units of a decimal place, rounded from its exact value. */
function quantized(value: number, places: number, rounding: Rounding): bigint {
  BITS.setFloat64(0, Math.abs(value));
  const bits = BITS.getBigUint64(0);
  const biased = Number(bits / MANTISSA);
  const exponent = Math.max(biased, 1) - 1075;
  let over = (bits % MANTISSA) + (biased ? MANTISSA : 0n);
  let under = 1n;
  if (exponent > 0) over <<= BigInt(exponent);
  else under <<= BigInt(-exponent);
  if (places > 0) over *= 10n ** BigInt(places);
  else under *= 10n ** BigInt(-places);
  const [whole, rest] = [over / under, over % under];
  return isUp(rounding, value, 2n * rest - under, rest > 0n, whole % 2n === 1n) ? whole + 1n : whole;
}

/** Whether an amount is rounded away from zero; `beyond` is the rest less a half. */
function isUp(rounding: Rounding, value: number, beyond: bigint, isRest: boolean, isOdd: boolean): boolean {
  switch (rounding) {
    case "half up": return beyond >= 0n;
    case "half even": return beyond > 0n || (beyond === 0n && isOdd);
    case "floor": return isRest && value < 0;
    case "ceiling": return isRest && value > 0;
  }
}
