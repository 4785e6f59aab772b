import assert from "node:assert/strict";
import { test } from "node:test";
import { build, everything, names } from "../src/fitness";
import { golden, languages } from "./browser";
import { seen } from "./seen";

type Tab = import("playwright-core").Page;

const order = async (tab: Tab) => (await tab.locator(".ranks tbody th").allTextContents()).map((text) => text.trim());
const columns = async (tab: Tab) => (await tab.locator("#tables thead th span").allTextContents()).map((text) => text.replace(/[^\w]+$/, ""));

test("a language is a dimension, and without another there is nothing to choose", () => {
  assert.deepEqual(names(golden(), "client"), ["native"]);
  const page = languages();
  assert.deepEqual(names(page, "client"), ["native", "python"]);
  const filters = everything(page);
  filters.client.delete("native");
  const engines = build(page, filters, "own").flatMap((table) => table.columns.map(({ engine }) => engine));
  assert.ok(engines.length > 0 && engines.every((engine) => engine.endsWith("-python")), engines.join());
});

seen("the language is chosen for the whole page, and the address keeps it", languages, {}, async ({ tab }) => {
  const all = await order(tab);
  assert.ok(all.includes("sqlite") && all.includes("sqlite-python"), all.join());
  await tab.getByRole("group", { name: "Used from" }).getByRole("button", { name: "python" }).click();
  const check = async () => {
    const listed = await order(tab);
    assert.ok(listed.length > 0 && listed.every((engine) => engine.endsWith("-python")), listed.join());
    assert.match(await tab.locator(".take").innerText(), /all work \(process\)\s+\w+-python/);
    const shown = await columns(tab);
    assert.ok(shown.length > 0 && shown.every((engine) => engine.endsWith("-python")), shown.join());
    assert.equal(await tab.locator("select[name=must-client]").inputValue(), "python");
    assert.equal(await tab.locator("#filters input[name=client][value=native]").isChecked(), false);
  };
  await check();
  assert.equal(await tab.evaluate(() => location.hash), "#client=python");
  await tab.reload();
  await check();
  await tab.getByRole("group", { name: "Used from" }).getByRole("button", { name: "all" }).click();
  assert.deepEqual(await order(tab), all);
  assert.equal(await tab.evaluate(() => location.hash), "");
});

seen("the list is as the program ranked the columns of a language", languages, {}, async ({ tab }) => {
  for (const { client, orders } of languages().answer) {
    await tab.getByRole("group", { name: "Used from" }).getByRole("button", { name: client ?? "all", exact: true }).click();
    const ranked = orders[0]?.ranked.map(({ engine }) => engine) ?? [];
    const shown = (await order(tab)).map((label) => label.replace(/[^\w]+$/, ""));
    assert.deepEqual(shown.slice(0, ranked.length), ranked, client);
  }
});

const onlyNative = () => {
  const page = languages();
  page.answer = page.answer.filter(({ client }) => client !== "python");
  return page;
};

seen("a language of which too little was measured has no list of others", onlyNative, {}, async ({ tab }) => {
  await tab.getByRole("group", { name: "Used from" }).getByRole("button", { name: "python" }).click();
  assert.equal(await tab.locator(".ranks").count(), 0);
  assert.match(await tab.locator("#answer-body").innerText(), /Too little was measured from python/);
});

seen("advice is for one language or a list for each", languages, {}, async ({ tab }) => {
  await tab.locator("#choose").scrollIntoViewIfNeeded();
  await tab.locator("#choose input[name=ingest]").fill("5");
  const heads = async () => tab.locator("#choose .answer h3").allTextContents();
  const each = await heads();
  assert.ok(each.some((head) => head.endsWith(", native")) && each.some((head) => head.endsWith(", python")), each.join());
  await tab.locator("select[name=must-client]").selectOption("python");
  const python = await heads();
  assert.ok(python.length > 0 && !python.some((head) => head.endsWith(", native")), python.join());
  assert.match(await tab.locator("#choose ol.ranked").first().innerText(), /\(python\)/);
});

seen("a page without clients asks for no language", golden, {}, async ({ tab }) => {
  assert.equal(await tab.getByRole("group", { name: "Used from" }).count(), 0);
  assert.equal(await tab.locator("select[name=must-client]").count(), 0);
  assert.equal(await tab.locator("#filters input[name=client]").count(), 0);
});
