/** Means over seeds with Student-t confidence intervals, as `python/incast/statistics.py` has them. */

/** Part of an interval below its upper end: 95 % are inside. */
const UPPER = 0.975;

/** Mean of a figure over runs that differ only in the seed. */
export class Estimate {
  constructor(
    readonly mean: number,
    /** Half width of the 95 % Student-t interval; null with fewer than two runs. */
    readonly halfWidth: number | null,
    readonly count: number,
  ) {}

  /** Lower end of the interval; the mean without one. */
  get low(): number {
    return this.mean - (this.halfWidth ?? 0);
  }

  /** Upper end of the interval; the mean without one. */
  get high(): number {
    return this.mean + (this.halfWidth ?? 0);
  }
}

/** Estimates the mean of independent values, at least one. */
export function estimate(values: readonly number[]): Estimate {
  const n = values.length;
  const mean = exactSum(values) / n;
  if (n === 1) return new Estimate(mean, null, 1);
  const first = values[0]!;
  if (values.every((value) => value === first)) return new Estimate(first, 0, n); // rounding would make an interval
  const variance = exactSum(values.map((value) => (value - mean) * (value - mean))) / (n - 1);
  return new Estimate(mean, quantile(n - 1) * Math.sqrt(variance / n), n);
}

const known = new Map<number, number>();

/** The quantile 0.975 of Student's t distribution with so many degrees of freedom, at least one. */
export function quantile(degrees: number): number {
  let found = known.get(degrees);
  if (found === undefined) known.set(degrees, found = bisected(degrees));
  return found;
}

function bisected(degrees: number): number {
  let [low, high] = [1.9, 13];
  for (;;) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) return middle;
    if (within(middle, degrees) < 2 * UPPER - 1) low = middle;
    else high = middle;
  }
}

/** Probability that |T| is below t. The series of whole degrees is finite: Abramowitz and Stegun 26.7.3 and 26.7.4. */
function within(t: number, degrees: number): number {
  const square = degrees / (degrees + t * t);
  const [cosine, sine] = [Math.sqrt(square), t / Math.sqrt(degrees + t * t)];
  const isOdd = degrees % 2 === 1;
  let [term, sum] = isOdd ? [cosine, degrees > 1 ? cosine : 0] : [1, 1];
  for (let i = isOdd ? 3 : 2; i <= degrees - 2; i += 2) {
    term *= square * (i - 1) / i;
    sum += term;
  }
  return isOdd ? 2 / Math.PI * (Math.atan(t / Math.sqrt(degrees)) + sine * sum) : sine * sum;
}

/** Rank of a percentile among so many values, at least one, counted from 1: ceil(p n) of the part p = over / under. */
export function rank([over, under]: readonly [number, number], count: number): number {
  return Math.max(Math.floor((over * count + under - 1) / under), 1);
}

/** Jain's fairness index; null without shares or if all are 0. */
export function jain(shares: readonly number[]): number | null {
  const squares = exactSum(shares.map((share) => share * share));
  return squares > 0 ? exactSum(shares) ** 2 / (shares.length * squares) : null;
}

/** Sum without any error but that of its last rounding: Shewchuk's, as `math.fsum`. */
export function exactSum(values: Iterable<number>): number {
  const parts: number[] = [];
  let [simple, count] = [0, 0]; // parts beyond the count are left over
  for (const value of values) {
    let x = value;
    let kept = 0;
    simple += value;
    for (let i = 0; i < count; i++) {
      const part = parts[i]!;
      const isSmaller = Math.abs(x) < Math.abs(part);
      const sum = x + part;
      const lost = isSmaller ? x - (sum - part) : part - (sum - x);
      x = sum;
      if (lost) parts[kept++] = lost;
    }
    parts[kept] = x;
    count = kept + 1;
  }
  return Number.isFinite(simple) ? lastRounded(parts.slice(0, count)) : simple;
}

/** Sum of parts that do not overlap, the smallest first. */
function lastRounded(parts: number[]): number {
  let sum = parts.pop() ?? 0;
  while (parts.length) {
    const [large, small] = [sum, parts.pop()!];
    sum = large + small;
    const lost = small - (sum - large);
    if (!lost) continue;
    // a half of the last place goes where the parts below it point
    const below = parts.at(-1) ?? 0;
    const away = sum + 2 * lost;
    return lost * below > 0 && away - sum === 2 * lost ? away : sum;
  }
  return sum;
}
