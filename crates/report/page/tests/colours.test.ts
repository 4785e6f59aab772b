import assert from "node:assert/strict";
import { test } from "node:test";
import { COLOURS, colours, engines, REFERENCE, symbolAt } from "../src/colours";
import { golden, large } from "./browser";

/** Returns the linear red, green and blue of a colour. */
const linear = (colour: string): number[] => [1, 3, 5].map((at) => {
  const part = parseInt(colour.slice(at, at + 2), 16) / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
});

/** Returns a colour in OKLab, in which distances are those that are seen. */
function lab(colour: string): number[] {
  const [r = 0, g = 0, b = 0] = linear(colour);
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

test("any two colours are told apart, and each is seen on both papers", () => {
  const all = [...COLOURS, REFERENCE];
  for (const [at, one] of all.entries()) {
    for (const other of all.slice(0, at)) {
      const distance = Math.hypot(...lab(one).map((part, axis) => part - (lab(other)[axis] ?? 0)));
      assert.ok(distance > 0.1, `${one} and ${other}: ${distance}`);
    }
    const light = (colour: string) => linear(colour).reduce((sum, part, axis) => sum + part * ([0.2126, 0.7152, 0.0722][axis] ?? 0), 0.05);
    assert.ok(light("#ffffff") / light(one) > 2.2 && light(one) / light("#14181d") > 2.5, one);
  }
});

test("the engines of a default run have a colour each, and where there are more another symbol", () => {
  const page = large(30, 1, [1000], ["process"]);
  const colour = colours(page);
  const all = engines(page, false);
  assert.equal(new Set(all.slice(0, 20).map(colour)).size, 20);
  const marks = all.map((engine, place) => `${colour(engine)} ${symbolAt(place)}`);
  assert.equal(new Set(marks).size, 30);
});

test("an engine that is not on the machine takes no colour from one that is", () => {
  const page = golden();
  for (const cell of page.cells.filter(({ engine }) => engine === "sqlite")) cell.status = "unavailable";
  assert.equal(engines(golden(), false)[0], "sqlite");
  assert.deepEqual(engines(page, false).slice(-2), ["sqlite", "mongodb"]);
});
