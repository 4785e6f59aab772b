/**
 * The 95 % bootstrap interval of a ratio of two medians: what `crates/report/src/statistics/bootstrap.rs`
 * draws at random is worked out here without drawing, since which engine is the best changes with every
 * filter. The distribution of the median of draws with replacement: B. Efron, "Bootstrap methods:
 * another look at the jackknife", Annals of Statistics 7(1), 1979, section 3.
 */

/** With fewer trials there is no interval. */
export const FEWEST_TRIALS = 3;

/** A median that draws can have, and how probable it is. */
type Point = [value: number, probability: number];

/** From the 2.5 % to the 97.5 % point of the ratio of the medians; null with too few trials. */
export function ratioInterval(above: number[], below: number[]): [number, number] | null {
  const [a, b] = [medians(above), medians(below)];
  return a && b && [lowEnd(a, b), 1 / lowEnd(b, a)];
}

/** Whether it leaves open which of the two is larger. */
export const includesOne = (interval: [number, number] | null): boolean =>
  interval !== null && interval[0] <= 1 && 1 <= interval[1];

/** Every median of a draw of as many trials as there are, ascending. */
export function medians(trials: number[]): Point[] | null {
  const n = trials.length;
  if (n < FEWEST_TRIALS || !trials.every((trial) => Number.isFinite(trial) && trial > 0)) return null;
  const sorted = [...trials].sort((a, b) => a - b);
  const at = (place: number) => sorted[place] ?? NaN;
  const half = Math.ceil(n / 2);
  // That at least so many of n draws are among the k smallest trials.
  const atLeast = (least: number, k: number) => {
    let sum = 0;
    for (let j = least; j <= n; j += 1) sum += choose(n, j) * (k / n) ** j * (1 - k / n) ** (n - j);
    return sum;
  };
  const points: Point[] = [];
  for (let k = 1; k <= n; k += 1) {
    // The middle draw, or the lower of the middle two.
    let here = atLeast(half, k) - atLeast(half, k - 1);
    for (let l = k + 1; n % 2 === 0 && l <= n; l += 1) {
      // Half of the draws end with the k-th trial, the other half begins with the l-th.
      const both = choose(n, half) * ((k / n) ** half - ((k - 1) / n) ** half) *
        (((n - l + 1) / n) ** half - ((n - l) / n) ** half);
      points.push([(at(k - 1) + at(l - 1)) / 2, both]);
      here -= both;
    }
    points.push([at(k - 1), here]);
  }
  return points.sort((a, b) => a[0] - b[0]);
}

/** The least ratio that one in forty is not above. */
function lowEnd(above: Point[], below: Point[]): number {
  // How probable a ratio of at most `most` is: both ascend, so one pass does.
  const share = (most: number) => {
    let [sum, up, place] = [0, 0, 0];
    for (const [value, probability] of below) {
      for (; place < above.length && (above[place]?.[0] ?? Infinity) <= most * value; place += 1) up += above[place]?.[1] ?? 0;
      sum += probability * up;
    }
    return sum;
  };
  let low = (above[0]?.[0] ?? NaN) / (below.at(-1)?.[0] ?? NaN);
  let high = (above.at(-1)?.[0] ?? NaN) / (below[0]?.[0] ?? NaN);
  // A hair wider than any rounding of the product above.
  if (share(low * (1 + 1e-12)) >= 0.025) return low;
  while (high / low > 1 + 1e-9) {
    const middle = Math.sqrt(low * high);
    if (share(middle) >= 0.025) high = middle;
    else low = middle;
  }
  return high;
}

function choose(n: number, k: number): number {
  let ways = 1;
  for (let i = 1; i <= k; i += 1) ways *= (n - k + i) / i;
  return ways;
}
