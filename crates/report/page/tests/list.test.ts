import assert from "node:assert/strict";
import type { Page } from "../src/data";
import { advice, golden } from "./browser";
import { seen } from "./seen";

/** The golden page with advice of three engines, and an answer about them. */
function answered(): Page {
  const table = advice();
  // With the program's name for what the fixture calls `read`.
  for (const criterion of table.criteria) if (criterion.id === "read") criterion.id = "point";
  for (const engine of table.engines) if (engine.ratios.read !== undefined) engine.ratios.point = engine.ratios.read;
  // Another tier has another memory, whichever stands first.
  table.engines.reverse();
  for (const engine of table.engines) if (engine.tier === "power") engine.facts = { ...engine.facts, peak_bytes: 1e6 };
  const ids = [...new Set(table.engines.filter(({ tier }) => tier === "process").map(({ engine }) => engine))];
  const ratio = (id: string, of: string) =>
    table.engines.find(({ engine, tier }) => engine === id && tier === "process")?.ratios[of];
  const text = (value: number | undefined) => (value === undefined ? { value: "-" } : { value: `${value.toFixed(2)}x`, ratio: value });
  return {
    ...golden(),
    advice: [{ of: null, tables: [table], turns: [] }],
    answer: [{
      result: 0, title: "", header: ["process", "reads", "memory"],
      rows: ids.map((id) => [id, [text(ratio(id, "ingest")), text(ratio(id, "point")), { value: "1.00 MB", ratio: 1 }]]),
      notes: [{ about: "commits (process)", says: "whoever" }, { about: "", says: "times the best" }],
    }],
  };
}

const order = async (tab: import("playwright-core").Page) =>
  (await tab.locator(".ranks tbody th").allTextContents()).map((text) => text.trim());

seen("the page opens with what to take and a list of engines in an order", answered, {}, async ({ tab }) => {
  assert.match(await tab.locator(".take").innerText(), /commits \(process\)\s+whoever/);
  const scores = (await tab.locator(".ranks td.score").allTextContents()).map(Number).filter(Number.isFinite);
  assert.ok(scores.length > 0 && scores.every((score, at) => at === 0 || score >= (scores[at - 1] ?? 0)), scores.join());
  assert.equal(await tab.locator(".presets button").count(), golden().presets.length);
  const row = tab.locator(".ranks tbody tr", { hasText: "alpha" });
  assert.equal(await row.locator("td").last().innerText(), "8.00", "the memory of the tier in which all work was measured");
  const top = await tab.locator(".ranks").boundingBox();
  assert.ok(top && top.y < 900, "the list is in the first view");
});

seen("a heading sorts by its column, and the address keeps it", answered, {}, async ({ tab }) => {
  await tab.getByRole("button", { name: "reads, x" }).click();
  const column = async () => (await tab.locator(".ranks tbody tr td:nth-child(4)").allTextContents()).map(parseFloat);
  const sorted = (values: number[]) => values.filter(Number.isFinite).every((value, at, all) => at === 0 || value >= (all[at - 1] ?? 0));
  assert.ok(sorted(await column()), (await column()).join());
  assert.ok((await tab.evaluate(() => location.hash)).includes("sort=reads"));
  const before = await order(tab);
  await tab.reload();
  assert.deepEqual(await order(tab), before);
  assert.equal(await tab.locator('.ranks th[aria-sort="ascending"]').innerText().then((text) => text.includes("reads")), true);
});

seen("what is chosen orders the list, says by what, and the address keeps it", answered, {}, async ({ tab }) => {
  await tab.getByRole("button", { name: "logger on flash" }).first().click();
  assert.match(await tab.locator(".answer-of [role=status]").innerText(), /Order by ingest 6, wear 5/);
  assert.equal(await tab.locator(".presets button[aria-pressed=true]").innerText(), "logger on flash");
  assert.equal(await tab.evaluate(() => location.hash), "#for=logger");
  await tab.reload();
  assert.equal(await tab.locator(".presets button[aria-pressed=true]").innerText(), "logger on flash");
});

seen("what is filtered is kept in the address", answered, {}, async ({ tab }) => {
  await tab.locator("#filters > summary").click();
  await tab.locator("#filters input[name=engine]").first().uncheck();
  const shown = await tab.locator("button[data-box]").count();
  assert.ok(shown < golden().entries.length);
  await tab.reload();
  assert.equal(await tab.locator("button[data-box]").count(), shown);
});

seen("on a phone engines run down, with figures in the first view", answered, { width: 390, height: 844 }, async ({ tab }) => {
  const rows = await tab.locator(".ranks tbody tr").all();
  const figure = await rows[0]?.locator("td").first().boundingBox();
  assert.ok(figure && figure.y + figure.height < 844 && figure.x + figure.width < 390, JSON.stringify(figure));
  const wide = await tab.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `${wide} px wide`);
});

seen("on paper the list is whole", answered, { width: 1047 }, async ({ tab }) => {
  await tab.emulateMedia({ media: "print" });
  const cut = await tab.evaluate(() => [...document.querySelectorAll<HTMLElement>(".ranks, .map")]
    .filter((table) => table.getBoundingClientRect().right > document.documentElement.clientWidth + 1).length);
  assert.equal(cut, 0);
});
