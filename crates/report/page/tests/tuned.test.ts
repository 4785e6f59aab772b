import assert from "node:assert/strict";
import { settled } from "./browser";
import { seen } from "./seen";

const [first, second] = settled().tuned?.engines ?? [];

seen("the page of a tuning shows the settings and nothing of a run", settled, {}, async ({ tab }) => {
  assert.equal(await tab.title(), "embermark tune");
  assert.equal(await tab.locator("h1").textContent(), "embermark tune");
  assert.match(await tab.locator("#about").textContent() ?? "", /^tier power, for sensors/);
  assert.deepEqual(await tab.locator("main > section:visible").evaluateAll((all) => all.map(({ id }) => id)), ["tuned"]);
  assert.equal(await tab.locator("nav a:visible").count(), 0);
});

seen("every engine has a line with its best settings, and its candidates below", settled, {}, async ({ tab }) => {
  const { overview, engines } = settled().tuned!;
  const lines = await tab.locator("#tuned-body > .scroll tbody tr").allTextContents();
  assert.deepEqual(lines, overview.rows.map(([name, texts]) => [name, ...texts.map(({ value }) => value)].join("")));
  const sections = tab.locator("#tuned-body > section");
  assert.deepEqual(await sections.locator("h3").allTextContents(), engines.map(({ title }) => title));
  for (const [place, { candidates }] of engines.entries()) {
    const rows = sections.nth(place).locator("details tbody tr");
    assert.equal(await rows.count(), candidates.rows.length);
    assert.match((await rows.allTextContents()).join("\n"), /not tried: keeps process at most, by its manual/);
  }
});

seen("what is better stands as a program and a plan file have it", settled, {}, async ({ tab }) => {
  assert.ok(second?.better && !first?.better, "LMDB's settings of today stay, SQLite's do not");
  const better = tab.locator("#tuned-body > section").nth(1);
  assert.deepEqual(await better.locator("pre").allTextContents(), [second.better.program, second.better.plan]);
  assert.match(second.better.program, /PRAGMA synchronous = 2;\n[^]*PRAGMA journal_mode = WAL;/);
  await better.locator("summary").focus();
  await tab.keyboard.press("Enter");
  assert.match(await better.locator("details").textContent() ?? "", /synchronous=OFF.*loses what the tier promises/);
});
