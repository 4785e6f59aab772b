import assert from "node:assert/strict";
import { golden } from "./browser";
import { seen } from "./seen";

const order = async (tab: import("playwright-core").Page) =>
  (await tab.locator(".ranks tbody th").allTextContents()).map((text) => text.trim());

seen("the page opens with what to take and a list of engines in an order", golden, {}, async ({ tab }) => {
  assert.match(await tab.locator(".take").innerText(), /commits \(process\)\s+lmdb, 1.31x ahead of sqlite/);
  assert.equal(await tab.locator(".presets button").count(), golden().presets.length);
  const memory = golden().answer[0]?.header.indexOf("memory") ?? 0;
  const row = tab.locator(".ranks tbody tr", { hasText: "sqlite" });
  assert.equal(await row.locator("td").nth(memory + 1).innerText(), "9.10", "without its unit, which is in the heading");
  const top = await tab.locator(".ranks").boundingBox();
  assert.ok(top && top.y < 900, "the list is in the first view");
});

seen("each choice has the order that the program made of it", golden, {}, async ({ tab }) => {
  for (const { preset, ranked, says } of golden().answer[0]?.orders ?? []) {
    const name = golden().presets.find(({ id }) => id === preset)?.name ?? "";
    await tab.getByRole("button", { name, exact: true }).first().click();
    const shown = (await order(tab)).map((label) => label.replace(/[^\w]+$/, ""));
    assert.deepEqual(shown.slice(0, ranked.length), ranked.map(({ engine }) => engine), preset);
    const scores = (await tab.locator(".ranks td.score").allTextContents()).map(Number);
    assert.ok(ranked.every(({ score }, at) => Math.abs((scores[at] ?? 0) / score - 1) < 0.01), `${preset}: ${scores.join()}`);
    assert.equal(await tab.locator(".answer-of [role=status]").innerText(), says);
  }
});

seen("a heading sorts by its column, and the address keeps it", golden, {}, async ({ tab }) => {
  await tab.getByRole("button", { name: "reads, x" }).click();
  const column = async () => (await tab.locator(".ranks tbody tr td:nth-child(5)").allTextContents()).map(parseFloat);
  const sorted = (values: number[]) => values.filter(Number.isFinite).every((value, at, all) => at === 0 || value >= (all[at - 1] ?? 0));
  assert.ok(sorted(await column()), (await column()).join());
  assert.ok((await tab.evaluate(() => location.hash)).includes("sort=reads"));
  const before = await order(tab);
  await tab.reload();
  assert.deepEqual(await order(tab), before);
  assert.equal(await tab.locator('.ranks th[aria-sort="ascending"]').innerText().then((text) => text.includes("reads")), true);
});

/** The golden run with an engine whose own memory is the least, and whose process has the most. */
const largest = () => {
  const page = golden();
  for (const engine of page.answer[0]?.engines ?? []) if (engine.engine === "lmdb") engine.peak_bytes = 90e6;
  return page;
};

seen("memory is sorted by the figure that is shown", largest, {}, async ({ tab }) => {
  await tab.getByRole("button", { name: "memory, MB" }).click();
  const column = (golden().answer[0]?.header.indexOf("memory") ?? 0) + 3;
  const all = (await tab.locator(`.ranks tbody tr td:nth-child(${column})`).allTextContents()).map(parseFloat).filter(Number.isFinite);
  assert.ok(all.length > 2 && all.every((value, at) => at === 0 || value >= (all[at - 1] ?? 0)), all.join());
});

seen("the focus stays on what was chosen by keyboard", golden, {}, async ({ tab }) => {
  for (const name of ["phone app", "reads, x"]) {
    await tab.locator("#answer").getByRole("button", { name }).focus();
    await tab.keyboard.press("Enter");
    assert.equal(await tab.evaluate(() => document.activeElement?.textContent), name);
  }
  await tab.locator("#filters > summary").click();
  const none = tab.getByRole("button", { name: "none of engine" });
  await none.focus();
  await tab.keyboard.press("Enter");
  assert.equal(await tab.evaluate(() => document.activeElement?.getAttribute("aria-label")), "none of engine");
});

seen("what is chosen orders the list, says by what, and the address keeps it", golden, {}, async ({ tab }) => {
  await tab.getByRole("button", { name: "logger on flash" }).first().click();
  assert.match(await tab.locator(".answer-of [role=status]").innerText(), /Order by ingest 6, wear 5/);
  assert.equal(await tab.locator(".presets button[aria-pressed=true]").innerText(), "logger on flash");
  assert.equal(await tab.evaluate(() => location.hash), "#for=logger");
  await tab.reload();
  assert.equal(await tab.locator(".presets button[aria-pressed=true]").innerText(), "logger on flash");
});

seen("what is filtered is kept in the address", golden, {}, async ({ tab }) => {
  await tab.locator("#filters > summary").click();
  await tab.locator("#filters input[name=engine]").first().uncheck();
  const shown = await tab.locator("button[data-box]").count();
  assert.ok(shown < golden().entries.length);
  await tab.reload();
  assert.equal(await tab.locator("button[data-box]").count(), shown);
});

seen("on a phone engines run down, with figures in the first view", golden, { width: 390, height: 844 }, async ({ tab }) => {
  const rows = await tab.locator(".ranks tbody tr").all();
  const figure = await rows[0]?.locator("td").first().boundingBox();
  assert.ok(figure && figure.y + figure.height < 844 && figure.x + figure.width < 390, JSON.stringify(figure));
  const wide = await tab.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `${wide} px wide`);
});

seen("on paper the list is whole", golden, { width: 1047 }, async ({ tab }) => {
  await tab.emulateMedia({ media: "print" });
  const cut = await tab.evaluate(() => [...document.querySelectorAll<HTMLElement>(".ranks, .map")]
    .filter((table) => table.getBoundingClientRect().right > document.documentElement.clientWidth + 1).length);
  assert.equal(cut, 0);
});
