/**
 * The 95 % bootstrap interval of a ratio of two medians. The page computes it because every filter
 * may change which engine is the best. The method is that of `crates/meter/src/statistics`, which
 * names its source. `crates/report/tests/golden/intervals.json` tests both.
 */

/** Fewest trials that have an interval. */
export const FEWEST_TRIALS = 3;

/** Probability of a draw beyond one end of an interval. */
const TAIL = 0.025;

/** Largest error of a sum of probabilities. */
const ROUNDING = 1e-12;

/** Smallest probability of a median that is part of an interval. */
const NEVER = 1e-20;

/** A possible median of draws, and its probability. */
type Atom = [value: number, probability: number];

/** Returns the 2.5 % and the 97.5 % point of the ratio of the medians. Null with too few trials. */
export function ratioInterval(above: number[], below: number[]): [number, number] | null {
  const [a, b] = [medians(above), medians(below)];
  return a && b && [lowRatio(a, b), 1 / lowRatio(b, a)];
}

/** Cuts an interval of a ratio to the best at 1, because no engine is faster than the fastest. */
export const toTheBest = (interval: [number, number] | null): [number, number] | null =>
  interval && [Math.max(1, interval[0]), Math.max(1, interval[1])];

/** Whether an interval does not show which of the two is larger. */
export const includesOne = (interval: [number, number] | null): boolean =>
  interval !== null && interval[0] <= 1 && 1 <= interval[1];

/**
 * Returns every possible median of as many draws with replacement as there are trials, in ascending
 * order.
 */
export function medians(trials: number[]): Atom[] | null {
  const n = trials.length;
  if (n < FEWEST_TRIALS || !trials.every((trial) => Number.isFinite(trial) && trial > 0)) return null;
  const sorted = Float64Array.from(trials).sort();
  const at = (place: number) => sorted[place] ?? NaN;
  const half = Math.ceil(n / 2);
  // The binomial coefficient of n over its half, over 2^n, for an even n.
  let central = 1;
  for (let i = 1; i <= half; i += 1) central *= 1 - 0.5 / i;
  // The logarithm of 2^half times the probability that `half` draws are among the k smallest
  // trials, and one of them is the k-th.
  const logEnding = Float64Array.from(sorted, (_, place) => {
    const without = half * Math.log(place / (place + 1));
    return half * Math.log((2 * (place + 1)) / n) + Math.log(-Math.expm1(without));
  });

  const atoms: Atom[] = [];
  let before = 0;
  for (let lower = 0; lower < n; lower += 1) {
    const within = isFar(half, n, lower + 1) ? (lower < half ? 0 : 1) : atLeast(half, n, lower + 1);
    // The middle draw is this trial, or the lower one of the middle two is.
    let here = within - before;
    before = within;
    for (let upper = lower + 1; n % 2 === 0 && upper < n; upper += 1) {
      // Half of the draws end with one trial, the other half begins with the other.
      const both = central * Math.exp((logEnding[lower] ?? NaN) + (logEnding[n - 1 - upper] ?? NaN));
      // The probability decreases with the distance of the two.
      if (both <= NEVER) break;
      here -= both;
      atoms.push([(at(lower) + at(upper)) / 2, both]);
    }
    atoms.push([at(lower), here]);
  }
  return atoms.filter(([, probability]) => probability > NEVER).sort((a, b) => a[0] - b[0]);
}

/**
 * Whether a number of draws among k of n trials is never on the other side of half than k, by
 * Hoeffding's inequality.
 */
const isFar = (half: number, n: number, k: number): boolean => (2 * (half - k) ** 2) / n > -Math.log(NEVER);

/**
 * Returns the probability that `least` or more of n draws are among k of n trials. The terms of the
 * binomial distribution are relative to the greatest, which is that of k draws.
 */
function atLeast(least: number, n: number, k: number): number {
  const odds = k / (n - k);
  const terms = new Float64Array(n + 1);
  const term = (j: number) => terms[j] ?? NaN;
  terms[k] = 1;
  for (let j = k; j < n && term(j) >= NEVER; j += 1) terms[j + 1] = term(j) * odds * (n - j) / (j + 1);
  for (let j = k - 1; j >= 0 && term(j + 1) >= NEVER; j -= 1) terms[j] = term(j + 1) / odds * (j + 1) / (n - j);
  const sum = (of: Float64Array) => of.reduce((all, one) => all + one, 0);
  return sum(terms.subarray(least)) / sum(terms);
}

/**
 * Finds the smallest ratio that at least 2.5 % of all are at or below, by bisection. Each step
 * moves from the middle to the next ratio that occurs, so the search ends on such a ratio.
 */
function lowRatio(above: Atom[], below: Atom[]): number {
  const value = (atom: Atom | undefined) => atom?.[0] ?? NaN;
  let low = value(above[0]) / value(below.at(-1));
  let high = value(above.at(-1)) / value(below[0]);
  while (low < high) {
    const between = Math.sqrt(low) * Math.sqrt(high);
    const { share, last, next } = split(above, below, low <= between && between < high ? between : low);
    if (share >= TAIL - ROUNDING) high = last;
    else low = next;
  }
  return high;
}

/**
 * Splits all ratios at `most`. Returns the probability of the lower part, its largest ratio, and
 * the smallest of the upper part. Both sides are ascending, so one pass is enough.
 */
function split(above: Atom[], below: Atom[], most: number): { share: number; last: number; next: number } {
  const parts = { share: 0, last: 0, next: Infinity };
  const ratio = (place: number, value: number) => (above[place]?.[0] ?? Infinity) / value;
  let [place, share] = [0, 0];
  for (const [value, probability] of below) {
    for (; ratio(place, value) <= most; place += 1) share += above[place]?.[1] ?? 0;
    parts.share += probability * share;
    if (place > 0) parts.last = Math.max(parts.last, ratio(place - 1, value));
    parts.next = Math.min(parts.next, ratio(place, value));
  }
  return parts;
}
