import assert from "node:assert/strict";
import { test } from "node:test";
import { build, everything, extentOf, step, stepLabels, STEPS } from "../src/fitness";
import { bytes, duration, ratio } from "../src/format";
import { golden } from "./browser";

const ratios = (hidden: string[]) => {
  const page = golden();
  const filters = everything(page);
  for (const engine of hidden) filters.engine.delete(engine);
  const table = build(page, filters, "own").find((table) => table.scale === "1k");
  const row = table?.rows.find((row) => row.phase === "read" && row.variant === null);
  return Object.fromEntries((row?.boxes ?? []).flatMap((box) => (box ? [[box.cell.engine, box.ratio]] : [])));
};

test("the best of a row has 1, and references have no ratio", () => {
  const all = ratios([]);
  const known = Object.values(all).filter((value) => value !== null);
  assert.equal(Math.min(...known), 1);
  assert.ok(known.length > 1);
  assert.equal(all.memory, null);
});

test("without the best the next best has 1, and who is hidden has no box", () => {
  const all = ratios([]);
  const best = Object.keys(all).find((engine) => all[engine] === 1) as string;
  const left = ratios([best]);
  assert.equal(left[best], undefined);
  const before = Object.entries(all).filter(([engine, value]) => engine !== best && value !== null) as [string, number][];
  const [next, value] = before.sort((a, b) => a[1] - b[1])[0] as [string, number];
  assert.equal(left[next], 1);
  for (const [engine, old] of before) assert.ok(Math.abs((left[engine] ?? 0) - old / value) < 1e-9, engine);
});

test("the interval of a ratio to the best never goes below 1", () => {
  const page = golden();
  const [first, second] = page.entries.filter((entry) => entry.phase === "read" && entry.cell < 3 && page.cells[entry.cell]?.ranked);
  assert.ok(first?.figure && second?.figure);
  Object.assign(first.figure, { per_op_ns: 110, per_trial_ns: [100, 110, 120] });
  Object.assign(second.figure, { per_op_ns: 115, per_trial_ns: [105, 115, 125] });
  const boxes = build(page, everything(page), "own").flatMap((table) => table.rows).flatMap((row) => row.boxes);
  const found = boxes.find((box) => box?.entry === second);
  assert.deepEqual(found?.interval, [1, 1.25]);
  assert.ok(found?.notSignificant);
  for (const box of boxes) assert.ok((box?.interval?.[0] ?? 1) >= 1);
});

test("tiers and scales are never in one table", () => {
  const page = golden();
  const first = page.cells[0];
  assert.ok(first);
  page.cells.push({ ...first, tier: "power" });
  page.entries.push({ ...(page.entries[0] as (typeof page.entries)[number]), cell: page.cells.length - 1 });
  const keys = build(page, everything(page), "own").map((table) => `${table.scale} ${table.tier}`);
  assert.deepEqual(keys, ["1k process", "10k process", "1k power"]);
});

test("limits of memory are never in one table, and every one can be left out", () => {
  const page = golden();
  const first = page.cells[0];
  assert.ok(first);
  page.cells.push({ ...first, limit: "256 MiB" });
  page.entries.push({ ...(page.entries[0] as (typeof page.entries)[number]), cell: page.cells.length - 1 });
  const filters = everything(page);
  assert.deepEqual([...filters.limit], ["no limit", "256 MiB"]);
  assert.deepEqual(build(page, filters, "own").map(extentOf), ["1k", "10k", "1k within 256 MiB"]);
  filters.limit.delete("no limit");
  assert.deepEqual(build(page, filters, "own").map(extentOf), ["1k within 256 MiB"]);
});

test("two results have a best each, or one together", () => {
  const page = golden();
  const [result] = page.results;
  assert.ok(result);
  page.results.push({ ...result, label: "faster" });
  const count = page.cells.length;
  const slower = page.entries.map((entry) => entry.figure?.per_op_ns);
  page.cells.push(...page.cells.map((cell) => ({ ...cell, result: 1 })));
  page.entries.push(...page.entries.map((entry) => ({
    ...entry, cell: entry.cell + count, figure: entry.figure && { ...entry.figure, per_op_ns: entry.figure.per_op_ns / 2 },
  })));
  assert.ok(slower.some(Boolean));
  const ones = (against: "own" | "all") => build(page, everything(page), against)
    .flatMap((table) => table.rows.filter((row) => row.phase === "read"))
    .map((row) => row.boxes.filter((box) => box?.ratio === 1).length);
  assert.deepEqual(ones("own"), [2, 2]);
  assert.deepEqual(ones("all"), [1, 1]);
});

test("a row where one was stopped is in time per operation", () => {
  const page = golden();
  const rows = build(page, everything(page), "own").flatMap((table) => table.rows);
  for (const row of rows) {
    const figures = row.boxes.flatMap((box) => box?.entry.figure ?? []);
    if (figures.some((figure) => figure.stop !== null)) assert.ok(row.perOperation, row.phase ?? "");
  }
  assert.ok(rows.some((row) => row.perOperation) && rows.some((row) => !row.perOperation));
});

test("a ratio falls into the step whose end it does not pass", () => {
  assert.equal(step(1), 0);
  assert.equal(step(1.06), 1);
  assert.equal(step(5), STEPS.indexOf(5));
  assert.equal(step(1e6), STEPS.length);
});

test("numbers are written as the terminal writes them", () => {
  assert.deepEqual(
    [0, 0.4871, 999.4, 999.5, 3214, 9996, 841_900_000, 12_345_000_000, 1_234_400_000_000].map(duration),
    ["0 ns", "0.487 ns", "999 ns", "1.00 µs", "3.21 µs", "10.0 µs", "842 ms", "12.3 s", "1,234 s"],
  );
  assert.deepEqual([1, 9.996, 1234.2, 0.5].map(ratio), ["1.00x", "10.0x", "1,234x", "0.500x"]);
  assert.deepEqual([0, 842, 999.7, 12_345_678].map(bytes), ["0 B", "842 B", "1.00 kB", "12.3 MB"]);
});

test("the label of a colour is the range of its ratios, because the first one is not of the best alone", () => {
  assert.deepEqual([stepLabels()[0], stepLabels().at(-1), stepLabels().length], ["≤ 1.05x", "> 100x", STEPS.length + 1]);
});
