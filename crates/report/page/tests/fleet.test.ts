import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fleet, Packed, Page } from "../src/data";
import { byModel, held, onModels, viewOf } from "../src/fleet";
import { standings } from "../src/standings";
import { many } from "./browser";
import { seen } from "./seen";

const data = (): Fleet => {
  const { fleet } = many();
  assert.ok(fleet);
  return fleet;
};
const places = (view: ReturnType<typeof viewOf>) =>
  view.devices.flatMap((device) => view.engines.map((engine) => ({ device, engine, place: view.at(device, engine) })));

test("one line shows its own boxes, and all lines their geometric mean", () => {
  const fleet = data();
  const one = viewOf(fleet, 0);
  for (const { device, engine, place } of places(one)) {
    const box = standings(fleet).find((box) => box.device === device && box.engine === engine && box.line === 0);
    assert.equal(place?.ratio ?? null, box?.ratio ?? null);
  }
  const all = viewOf(fleet, null);
  let means = 0;
  for (const { device, engine, place } of places(all)) {
    const ratios = standings(fleet).flatMap((box) => (box.device === device && box.engine === engine ? box.ratio ?? [] : []));
    const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
    if (ratios.length === 0) continue;
    // What failed in one of them has no mean of the others.
    const failed = standings(fleet).find((box) => box.device === device && box.engine === engine && ["wrong", "failed", "timed out"].includes(box.says ?? ""));
    if (failed) {
      assert.deepEqual([place?.ratio, place?.whole], [null, false]);
      continue;
    }
    means += 1;
    assert.ok(Math.abs((place?.ratio ?? 0) / mean - 1) < 1e-9);
  }
  assert.ok(means > 4);
});

test("what holds on all has the least worst, on the device where that is, and who lacks something comes last", () => {
  const made = (ratios: (number | null)[][]): Fleet => ({
    devices: ratios.map((_, place) => ({ name: `d${place}`, model: place < 2 ? "A" : "B", machine: "", warnings: [] })),
    engines: ["x", "y", "z", "ref"].map((id) => ({ id, versions: [], reference: id === "ref", unpublishable: false })),
    lines: [{ workload: "w", extent: "1k", tier: "process" }],
    boxes: ratios.flatMap((row, device) => row.map((ratio, engine): Packed => (ratio === null
      ? [device, 0, engine, null, null, 0, "failed"]
      : [device, 0, engine, ratio, 100 * ratio * (device + 1), 1 + (ratio === 1 ? 2 : 0)]))),
  });
  const fleet = made([[1, 2, 1.1, 0.5], [1, 2, null, 0.5], [9, 1, 1.2, 0.5]]);
  const all = held(fleet, viewOf(fleet, 0));
  assert.deepEqual(all.map(({ engine }) => fleet.engines[engine]?.id), ["y", "x", "z"]);
  const [y, x, z] = all;
  assert.deepEqual([y?.worst, y?.on, y?.best, y?.whole], [2, 0, 1, 3]);
  assert.deepEqual([x?.worst, x?.on, x?.best], [9, 2, 2]);
  assert.deepEqual([z?.whole, z?.of], [2, 3]);
  const view = viewOf(fleet, 0);
  assert.deepEqual(byModel(fleet, view), [["A", [0, 1]], ["B", [2]]]);
  const [onA, onB] = onModels(fleet, view, 0);
  assert.equal(onA?.spread, 2);
  assert.ok(Math.abs((onA?.ns ?? 0) - Math.sqrt(100 * 200)) < 1e-9, "between two the geometric mean");
  assert.deepEqual([onB?.ns, onB?.spread], [2700, null]);
});

seen("the page of a fleet shows devices by engines, by model, who holds on all, and who has no result", many, {}, async ({ tab }) => {
  const fleet = data();
  assert.equal(await tab.title(), "embermark fleet");
  assert.deepEqual(await tab.locator("main > section:visible").evaluateAll((all) => all.map(({ id }) => id)), ["fleet", "choose"]);
  assert.match(await tab.locator("#about").textContent() ?? "", /5 devices, 4 with a result, 2 models/);
  assert.equal(await tab.locator("#fleet-missing li").textContent(), "cellar: not reached: Connection refused");
  assert.deepEqual(await tab.locator("#fleet-map tr.model th").allTextContents(), ["Raspberry Pi 4 Model B (2)", "Raspberry Pi 5 Model B (2)"]);
  assert.equal(await tab.locator("#fleet-map tbody tr:not(.model)").count(), 4);
  const own = viewOf(fleet, fleet.lines.length > 1 ? null : 0);
  assert.equal(await tab.locator("#fleet-map thead th").count(), own.engines.length);
  assert.equal(await tab.locator("#fleet-holds tbody tr").count(), held(fleet, own).length);
  assert.match(await tab.locator("#fleet-models").textContent() ?? "", /spread 1\.20x/);
});

seen("the choice of a line redraws all three", many, {}, async ({ tab }) => {
  const fleet = data();
  const before = await tab.locator("#fleet-map").textContent();
  await tab.locator("#fleet-line").selectOption("0");
  assert.notEqual(await tab.locator("#fleet-map").textContent(), before);
  assert.equal(await tab.locator("#fleet-map thead th").count(), viewOf(fleet, 0).engines.length);
});

/**
 * Two hundred devices of seven models with a hundred cells each: ten lines of ten engines. The
 * figures are made up.
 */
const crowd = (): Page => {
  const page = many();
  const fleet = page.fleet as Fleet;
  const [roof] = fleet.devices;
  const numbers = (count: number) => Array.from({ length: count }, (_, place) => place);
  const devices = numbers(200).map((place) => ({ ...roof as Fleet["devices"][number], name: `d${place}`, model: `model ${place % 7}` }));
  const engines = numbers(10).map((place) => ({ id: `engine ${place}`, versions: ["1.0"], reference: false, unpublishable: false }));
  const lines = numbers(10).map((place): Fleet["lines"][number] => ({ workload: "sensors", extent: `${place + 1}k`, tier: "process" }));
  const boxes = devices.flatMap((_, device) => lines.flatMap((_, line) => engines.map((_, engine): Packed => {
    const times = 1 + ((engine * 7 + line * 3 + device) % 10) * 0.7;
    return [device, line, engine, times, times * 1000, times === 1 ? 3 : 1];
  })));
  page.fleet = { devices, engines, lines, boxes };
  return page;
};

seen("two hundred devices of a hundred cells have a row each, and the page few elements", crowd, {}, async ({ tab }) => {
  assert.equal(await tab.locator("#fleet-map tbody tr:not(.model)").count(), 200);
  assert.equal(await tab.locator("#fleet-map tr.model").count(), 7);
  assert.ok(await tab.locator("*").count() < 15_000, "elements in all");
  assert.ok(JSON.stringify(crowd().fleet?.boxes).length < 1_000_000, "data of 20,000 boxes");
});
