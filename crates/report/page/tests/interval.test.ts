import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { includesOne, medians, ratioInterval } from "../src/interval";

const near = (a: number, b: number, within: number) => Math.abs(a / b - 1) <= within;

test("the medians of draws are as probable as counting all draws says", () => {
  for (const trials of [[3, 1, 2], [4, 1, 3, 2], [5, 1, 4, 2, 3], [7, 1, 5, 2, 3, 6]]) {
    const n = trials.length;
    const counted = new Map<number, number>();
    for (let draw = 0; draw < n ** n; draw += 1) {
      const drawn = Array.from({ length: n }, (_, at) => trials[Math.floor(draw / n ** at) % n] as number).sort((a, b) => a - b);
      const median = ((drawn[Math.floor((n - 1) / 2)] as number) + (drawn[Math.floor(n / 2)] as number)) / 2;
      counted.set(median, (counted.get(median) ?? 0) + 1 / n ** n);
    }
    const worked = new Map<number, number>();
    for (const [value, probability] of medians(trials) ?? []) worked.set(value, (worked.get(value) ?? 0) + probability);
    for (const [value, share] of counted) assert.ok(Math.abs((worked.get(value) ?? 0) - share) < 1e-12, `${trials}: ${value}`);
    assert.ok(Math.abs([...worked.values()].reduce((a, b) => a + b) - 1) < 1e-12);
  }
});

test("of three trials each it is from the least to the largest ratio", () => {
  assert.deepEqual(ratioInterval([2, 3, 4], [1, 1, 1]), [2, 4]);
  assert.deepEqual(ratioInterval([2, 3, 4], [1, 1.5, 2]), [1, 4]);
});

test("one trial far off does not move the ends of seven", () => {
  const [low, high] = ratioInterval([100, 101, 102, 103, 104, 105, 900], [100, 100, 100, 100, 100, 100, 100]) ?? [0, 0];
  assert.ok(low >= 1 && high < 1.06, `${low} to ${high}`);
});

test("it leaves open what it includes, and too few trials or no measure tell nothing", () => {
  assert.equal(includesOne(ratioInterval([10, 11, 12], [10.5, 9.5, 11.5])), true);
  assert.equal(includesOne(ratioInterval([10, 11, 12], [5, 6, 7])), false);
  for (const bad of [[1, 2], [1, 2, 0], [1, 2, Infinity]]) assert.equal(ratioInterval(bad, [1, 1, 1]), null);
  assert.equal(includesOne(null), false);
});

/** A line of the file. Null stands for a value that is not a number, and for a missing interval. */
interface Golden {
  case: string;
  above: (number | null)[];
  below: (number | null)[];
  ratio_interval: [number, number] | null;
  includes_one: boolean | null;
}

// Counted by crates/report/tests/integration/intervals.rs, which also tests the program's intervals
// with it.
test("they are those of a count of all draws, as the program's are", () => {
  const cases = JSON.parse(readFileSync("../tests/golden/intervals.json", "utf8")) as Golden[];
  for (const { case: name, above, below, ratio_interval: counted, includes_one } of cases) {
    const [a, b] = [above, below].map((trials) => trials.map((trial) => trial ?? NaN)) as [number[], number[]];
    const found = ratioInterval(a, b);
    assert.equal(found === null, counted === null, name);
    for (const end of [0, 1] as const) {
      if (found && counted) assert.ok(near(found[end], counted[end], 1e-9), `${name}: ${found}, counted ${counted}`);
    }
    assert.equal(includesOne(found), includes_one ?? false, name);
  }
  assert.equal(cases.length, 24);
});

test("of thousands of trials the medians are as probable as can be", () => {
  for (const n of [1000, 2001, 2100]) {
    const found = medians(Array.from({ length: n }, (_, place) => place + 1)) ?? [];
    assert.ok(Math.abs(found.reduce((sum, [, probability]) => sum + probability, 0) - 1) < 1e-12, `${n}`);
    const mean = found.reduce((sum, [value, probability]) => sum + value * probability, 0);
    assert.ok(near(mean, (n + 1) / 2, 1e-9), `${n}: ${mean}`);
  }
});
