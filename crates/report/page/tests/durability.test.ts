import assert from "node:assert/strict";
import { advice, golden, tried } from "./browser";
import { seen } from "./seen";

const found = () => tried().durability?.tested ?? [];
const of = (experiment: string) => found().filter((tested) => tested.experiment === experiment);

seen("the page of a durability run shows that and nothing of a run", tried, {}, async ({ tab }) => {
  assert.equal(await tab.title(), "embermark durability");
  assert.equal(await tab.locator("h1").textContent(), "embermark durability");
  assert.match(await tab.locator("#about").textContent() ?? "", /ext4, seed 42/);
  assert.deepEqual(await tab.locator("main > section:visible").evaluateAll((all) => all.map(({ id }) => id)), ["durability"]);
  assert.equal(await tab.locator("nav a:visible").count(), 0);
  assert.match(await tab.locator("#durability").textContent() ?? "", /failedredb power, power cut: cannot unmount/);
});

seen("every engine and tier has a bar for each way its tries ended, and a table with the counts", tried, {}, async ({ tab }) => {
  const sections = tab.locator("#durability-body section:has(figure)");
  assert.deepEqual(await sections.locator("h3").allTextContents(), ["After a power cut", "After a kill"]);
  for (const [place, experiment] of ["power-cut", "kill"].entries()) {
    const section = sections.nth(place);
    const parts = of(experiment).flatMap(({ verdicts }) => Object.values(verdicts).filter((count) => count > 0));
    assert.equal(await section.locator("g.m-verdict rect").count(), parts.length);
    assert.equal(await section.locator("figure > details table").first().locator("tbody tr").count(), of(experiment).length);
  }
  const key = (await sections.first().locator(".series li").allTextContents()).join("|");
  for (const name of ["holds", "lost acknowledged commits", "does not open", "its process crashes"]) assert.ok(key.includes(name), key);
});

seen("who broke a promise is named, and what breaks none is no breach", tried, {}, async ({ tab }) => {
  const bars = await tab.locator("#durability-body figure.wide").first().locator("svg text").allTextContents();
  assert.ok(bars.includes("berkeleydb† · power"), bars.join("|"));
  assert.ok(bars.includes("broken: 6 of 375") && bars.includes("no violation in 375") && bars.includes("65, not promised"), bars.join("|"));
  assert.ok(bars.includes("sqlite · process"), bars.join("|"));
  const broken = await tab.locator("#durability .broken").allTextContents();
  assert.deepEqual(broken.length, found().filter(({ violations }) => violations > 0).length, broken.join("\n"));
  assert.match(broken.join("\n"), /^broken: 6 of 375 states: 3 × a hole, 3 × corrupt rows, 6 of them by a torn block/m);
});

/** The same data, but no try of one row can be opened. */
const none = () => {
  const page = tried();
  const last = page.durability?.tested.findLast(({ experiment }) => experiment === "power-cut");
  if (last) last.verdicts = { "not-opened": last.tried };
  return page;
};

seen("the window of loss has a median and a worst for each row of which it can be said, and zero for what holds", none, {}, async ({ tab }) => {
  const section = tab.locator("#durability-body section:has(figure)").first();
  for (const figure of [1, 2]) {
    const drawn = section.locator("figure").nth(figure);
    assert.equal(await drawn.locator("g.m-median circle").count(), of("power-cut").length - 1);
    assert.equal(await drawn.locator("g.m-worst circle").count(), of("power-cut").filter(({ loss }) => loss).length);
  }
  const rows = await section.locator("figure").nth(1).locator("tbody tr").allTextContents();
  assert.ok(rows.includes("sqlite · process151≥ 1514"), rows.join("\n"));
  assert.ok(rows.includes("sqlite · power000"), rows.join("\n"));
  assert.ok(rows.includes("wiredtiger · process0037"), rows.join("\n"));
  assert.ok(rows.includes("wiredtiger · none-not known67"), rows.join("\n"));
  const ms = await section.locator("figure").nth(2).locator("tbody tr").allTextContents();
  assert.ok(ms.includes("sqlite · process50.9 ms≥ 56.0 ms4"), ms.join("\n"));
});

seen("what engines did when their disk was full is the terminal's table, with what they said below it", tried, {}, async ({ tab }) => {
  const full = tried().durability?.full_disk;
  assert.ok(full && full.rows.length > 0);
  const section = tab.locator("#durability-body section", { has: tab.locator("h3", { hasText: full.title }) });
  assert.deepEqual(await section.locator("thead th").allTextContents(), ["", ...full.header]);
  const rows = await section.locator("tbody tr").allTextContents();
  assert.deepEqual(rows, full.rows.map(([name, texts]) => [name, ...texts.map(({ value }) => value)].join("")));
  await section.locator("summary").focus();
  await tab.keyboard.press("Enter");
  assert.match(await section.locator("details").textContent() ?? "", /database or disk is full/);
});

seen("a run that filled no disk has no such table", () => {
  const page = tried();
  delete page.durability?.full_disk;
  return page;
}, {}, async ({ tab }) => {
  assert.ok(!(await tab.locator("#durability-body h3").allTextContents()).some((title) => /full/.test(title)));
});

seen("what several runs tried is told apart", () => {
  const page = tried();
  const [first] = of("power-cut");
  if (first) page.durability?.tested.splice(0, Infinity, { ...first, run: 1 }, { ...first, run: 2 }, { ...first, tier: "none", run: 2 });
  return page;
}, {}, async ({ tab }) => {
  const bars = await tab.locator("#durability-body figure.wide").first().locator('g[aria-label="y-axis tick label"] text').allTextContents();
  assert.deepEqual(bars, ["sqlite · power · run 1", "sqlite · power · run 2", "sqlite · none"]);
});

seen("opening after it stands beside opening after a close", tried, {}, async ({ tab }) => {
  const section = tab.locator("#durability-body section:has(figure)").first();
  const opened = of("power-cut").filter(({ open_ns }) => open_ns !== undefined);
  assert.equal(await section.locator("g.m-opened circle").count(), opened.length);
  assert.equal(await section.locator("g.m-clean circle").count(), opened.filter(({ clean_open_ns }) => clean_open_ns !== undefined).length);
});

seen("tables and examples are opened by keyboard alone", tried, {}, async ({ tab }) => {
  await tab.locator("#durability-body figure summary").first().focus();
  await tab.keyboard.press("Enter");
  assert.ok(await tab.locator("#durability-body figure table").first().isVisible());
  const last = tab.locator("#durability-body > div > details > summary");
  await last.focus();
  await tab.keyboard.press("Space");
  assert.match(await tab.locator("#durability-body > div > details").textContent() ?? "", /there up to/);
});

for (const look of [{ width: 390, height: 800 }, { dark: true }]) {
  seen(`nothing is wider than a window of ${JSON.stringify(look)}, and texts are read on its paper`, tried, look, async ({ tab }) => {
    assert.ok(await tab.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
    const [ink, paper] = await tab.evaluate(() => {
      const text = document.querySelector("#durability-body figure svg text");
      return [getComputedStyle(text as Element).fill, getComputedStyle(document.body).backgroundColor];
    });
    assert.notEqual(ink, paper);
  });
}

/** Windows of loss with long texts next to them. */
const long = () => {
  const page = tried();
  for (const tested of page.durability?.tested ?? []) {
    if (!tested.loss) continue;
    Object.assign(tested.loss, { everything: true, median_ms: 1, worst_ms: 24.3 });
    Object.assign(tested, { tried: 1000, verdicts: { "lost-commits": 928, hole: 72 } });
  }
  return page;
};

for (const width of [360, 1280]) {
  seen(`what stands next to a window of loss is whole at ${width} px`, long, { width, height: 740 }, async ({ tab }) => {
    const texts = tab.locator("#durability-body .charts figure");
    assert.match(await texts.nth(1).locator("svg").first().textContent() ?? "", /≥ 24\.3 ms · 72 worse/);
    const cut = await texts.evaluateAll((all) => all.flatMap((figure) => [...figure.querySelectorAll("svg text")]
      .filter((text) => text.getBoundingClientRect().right > figure.getBoundingClientRect().right + 1).map((text) => text.textContent)));
    assert.deepEqual(cut, []);
  });
}

/** The golden run with durability tests, in which Berkeley DB broke its promise. */
const measured = () => {
  const page = { ...golden(), durability: tried().durability };
  for (const cell of page.cells) {
    if (cell.engine === "berkeleydb") Object.assign(cell, { broken: true, ranked: false, durability: "broken: 6 of 375 states: 3 a hole" });
    if (cell.engine === "sqlite") cell.durability = "shown: no violation in 100 kills (2026-11-22)";
  }
  return page;
};

seen("the page of a run has the section too, and marks who broke its promise where ratios are drawn", measured, {}, async ({ tab }) => {
  assert.ok(await tab.locator('nav a[href="#durability"]').isVisible());
  assert.ok(await tab.locator("#durability figure").count() > 0 && await tab.locator("#map").isVisible());
  const head = (await tab.locator(".map thead").allTextContents()).join("|");
  assert.ok(head.includes("berkeleydb†") && !head.includes("sqlite†") && !head.includes("berkeleydb† (ref)"), head);
  const boxes = tab.locator('button[data-box][aria-label^="berkeleydb, "]');
  assert.equal(await boxes.and(tab.locator('[aria-label*="x, "]')).count(), 0, "it has no ratio");
  assert.match(await tab.locator("#legend").textContent() ?? "", /† broke what the tier promises/);
  await tab.locator('button[data-box][aria-label^="sqlite, read"]').first().click();
  assert.match(await tab.locator("dialog[open]").textContent() ?? "", /durability processshown: no violation in 100 kills/);
});

/** Advice in which Beta broke the promise of its tier, and Alpha answered wrongly. */
const advised = () => {
  const table = advice();
  for (const engine of table.engines) {
    if (engine.engine === "beta") engine.broken = "broken: 1 of 9 states: 1 a hole";
    if (engine.engine === "alpha") engine.wrong = "sensors 10k single outages";
  }
  return { ...golden(), advice: [{ of: null, tables: [table], turns: [] }] };
};

seen("advice does not rank who broke its promise or answered wrongly, and says why", advised, {}, async ({ tab }) => {
  await tab.locator("#choose input[name=load]").fill("8");
  assert.deepEqual(await tab.locator("#choose .ranked li b").allTextContents(), ["Gamma"]);
  const apart = await tab.locator("#choose .apart").textContent() ?? "";
  assert.match(apart, /Beta: left out, it broke what process promises: 1 of 9 states: 1 a hole/);
  assert.match(apart, /Alpha: left out, it answered wrongly: sensors 10k single outages/);
});

seen("a page without anything tried has no such section", () => ({ ...golden(), durability: undefined }), {}, async ({ tab }) => {
  assert.ok(await tab.locator("#durability").isHidden());
  assert.ok(await tab.locator('nav a[href="#durability"]').isHidden());
});
