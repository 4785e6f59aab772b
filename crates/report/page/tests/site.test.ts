import assert from "node:assert/strict";
import { test } from "node:test";
import { csv } from "../src/site/csv";
import { here, to } from "../src/site/address";
import { pick } from "../src/site/choose";
import type { Group, OverMachines } from "../src/site/data";
import { Known } from "../src/site/known";
import { dataOf, index, seen } from "./site";

/** A table of the fixture with measurements of rows and questions. */
const TABLE = "#/?workload=sensors&scale=10k&tier=process";

const engines = async (tab: import("playwright-core").Page) =>
  (await tab.locator(".ranks").first().locator("tbody th").allTextContents()).map((text) => text.trim());

seen("the first view ranks engines over all machines, and says over how many", {}, async ({ tab }) => {
  assert.match(await tab.locator("#about").innerText(), /4 results of 2 machines/);
  assert.match(await tab.locator("main h2").innerText(), /^sensors .* durability/);
  assert.ok((await engines(tab)).length > 3);
  const machines = tab.locator(".ranks").nth(1).locator("tbody tr");
  assert.equal(await machines.count(), 2);
  const selects = await tab.locator(".choices select").count();
  assert.ok(selects >= 2, `${selects}`);
});

seen("a machine is chosen, its engines are ranked with intervals, and the address keeps it", { at: TABLE }, async ({ tab, settled }) => {
  const machine = index().machines[1]?.[0];
  assert.ok(machine);
  await tab.getByLabel("Machine", { exact: true }).selectOption(machine);
  await settled();
  assert.match(await tab.evaluate(() => location.hash), new RegExp(`machine=${machine}`));
  const rows = tab.locator(".ranks").first().locator("tbody tr");
  const first = await rows.first().innerText();
  assert.match(first, /1\.00x/);
  assert.ok((await tab.locator("svg.interval .ends").count()) > 2, "intervals are drawn");
  const order = await engines(tab);
  await tab.reload();
  await settled();
  assert.deepEqual(await engines(tab), order);
  assert.equal(await tab.getByLabel("Machine", { exact: true }).inputValue(), machine);
});

seen("rows and questions are columns of their own, and a heading sorts by its column", { at: `${TABLE}&machine=${index().machines[0]?.[0]}` }, async ({ tab, settled }) => {
  const heads = (await tab.locator(".ranks").first().locator("thead th").allTextContents()).map((text) => text.trim());
  assert.deepEqual(heads.slice(0, 3), ["engine", "rows", "questions"]);
  // References, and engines that did not answer every phase, have no rank.
  const placed = tab.locator(".ranks").first().locator("tbody tr").filter({ hasNotText: /\(ref\)| \d+\/\d+/ });
  const ratios = async (column: number) => (await placed.locator(`td:nth-child(${column})`).allTextContents()).map(parseFloat).filter(Number.isFinite);
  const ascend = (all: number[]) => all.every((value, at) => at === 0 || value >= (all[at - 1] ?? 0));
  assert.ok(ascend(await ratios(2)), String(await ratios(2)));
  await tab.getByRole("button", { name: "questions" }).click();
  await settled();
  assert.match(await tab.evaluate(() => location.hash), /sort=questions/);
  assert.equal(await tab.locator("th[aria-sort=ascending]").first().innerText(), "questions");
});

seen("an engine that is left out is gone from the table and the address says so", { at: `${TABLE}&machine=${index().machines[0]?.[0]}` }, async ({ tab, settled }) => {
  const all = await engines(tab);
  await tab.getByText("Choose engines").click();
  await tab.getByRole("checkbox", { name: "lmdb" }).uncheck();
  await settled();
  assert.deepEqual(await engines(tab), all.filter((name) => name !== "lmdb"));
  assert.match(await tab.evaluate(() => location.hash), /without=lmdb/);
  await tab.reload();
  await settled();
  assert.ok(!(await engines(tab)).includes("lmdb"));
  await tab.getByRole("button", { name: "all", exact: true }).click();
  await settled();
  assert.deepEqual((await engines(tab)).sort(), all.sort());
});

seen("a box leads to its cell: trials, settings, the command that repeats it, a program", { at: `${TABLE}&machine=${index().machines[0]?.[0]}` }, async ({ tab, settled }) => {
  await tab.locator('a[data-box][aria-label^="sqlite, read"]').first().click();
  await settled();
  assert.match(await tab.locator("main h2").innerText(), /^sqlite · sensors 10k/);
  assert.match(await tab.locator("pre.command").innerText(), /^embermark run sensors -s 10k -t process -e sqlite /);
  assert.match(await tab.locator("main").innerText(), /Settings, as read back/);
  assert.equal(await tab.evaluate(() => document.activeElement?.id), "title");
  await tab.getByText("Query plan of read").click();
  assert.match(await tab.locator("details[open] pre").innerText(), /QUERY PLAN\n`--SEARCH readings USING PRIMARY KEY/);
  await tab.getByText("Query plan of read").click();
  await tab.getByText("Opened with the same settings from python").click();
  assert.match(await tab.locator("details[open] pre").innerText(), /# sqlite from python in process\s+open\(\)/);
  await tab.goBack();
  await settled();
  assert.match(await tab.locator("main h2").innerText(), /^sensors 10k/);
});

seen("an engine has its history over versions, by machine and time", { at: `#/engine/sqlite?workload=sensors&scale=10k` }, async ({ tab }) => {
  const lines = await tab.locator(".ranks tbody tr").allInnerTexts();
  assert.equal(lines.length, 4);
  assert.match(lines[0] ?? "", /Made-up board 0\s+2026-01-01\s+3\.50\.4\+0/);
  assert.match(lines[1] ?? "", /2026-02-01\s+3\.50\.4\+1\s.*[\d.]+x/);
});

seen("a machine has a page with its results and what was measured on it", { at: "#/machines" }, async ({ tab, settled }) => {
  await tab.getByRole("link", { name: "Made-up board 1" }).click();
  await settled();
  assert.equal(await tab.locator("main h2").innerText(), "Made-up board 1");
  const tables = tab.locator(".ranks");
  assert.equal(await tables.first().locator("tbody tr").count(), 2);
  assert.equal(await tables.nth(1).locator("tbody tr").count(), index().groups.length);
});

const VIEWS = ["#/", `${TABLE}&machine=${index().machines[0]?.[0]}`, "#/machines", `#/machine/${index().machines[0]?.[0]}`, "#/engines", "#/engine/sqlite",
  `#/cell/${index().results[0]?.[0]}?engine=sqlite&variant=single&workload=sensors&scale=10k&tier=process&storage=none&memory-limit=none&conditions=none`];

seen("every view has a title of its own and is saved as CSV with as many rows as it has", {}, async ({ tab, go, saved }) => {
  const titles = new Set<string>();
  for (const view of VIEWS) {
    await go(view);
    titles.add(`${await tab.title()} ${view}`);
    assert.notEqual(await tab.locator("main h2").innerText(), "Nothing to show", view);
    const lines = (await saved("Save as CSV")).trimEnd().split("\r\n");
    assert.ok(lines.length > 1, view);
    const [header, first] = [lines[0]?.split(",").length, lines[1]?.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/).length];
    assert.equal(first, header, view);
  }
  assert.equal(titles.size, VIEWS.length);
});

seen("nothing is wider than a phone of 360 px", { width: 360, height: 740 }, async ({ tab, go }) => {
  for (const view of VIEWS) {
    await go(view);
    const wide = await tab.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 360, `${view}: ${wide} px`);
  }
});

seen("dark colours are dark, and as legible", { dark: true, at: TABLE }, async ({ tab }) => {
  const contrast = await tab.evaluate(() => {
    const light = (colour: string) => {
      const [r = 0, g = 0, b = 0] = (colour.match(/[\d.]+/g) ?? []).map((part) => {
        const value = Number(part) / 255;
        return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const body = getComputedStyle(document.body);
    const links = [...document.querySelectorAll("main a, main .hint, main td")].map((element) => light(getComputedStyle(element).color));
    return { paper: light(body.backgroundColor), least: Math.min(...links) };
  });
  assert.ok(contrast.paper < 0.05, String(contrast.paper));
  assert.ok((contrast.least + 0.05) / (contrast.paper + 0.05) >= 4.5, JSON.stringify(contrast));
});

seen("everything is reached by keyboard: choices, a heading, and a cell by its box", { at: `${TABLE}&machine=${index().machines[0]?.[0]}` }, async ({ tab, settled }) => {
  await tab.locator("#choose-tier, #choose-scale").first().focus();
  const before = await tab.evaluate(() => location.hash);
  const options = await tab.locator("#choose-scale option").count();
  await tab.locator("#choose-scale").focus();
  await tab.keyboard.press("Home");
  await settled();
  if (options > 1) assert.notEqual(await tab.evaluate(() => location.hash), before);
  assert.equal(await tab.evaluate(() => document.activeElement?.id), "choose-scale", "the focus stays on the choice");
  const box = tab.locator('a[data-box][tabindex="0"]');
  assert.equal(await box.count(), 1, "one stop of the Tab key a table");
  await box.focus();
  const name = () => tab.evaluate(() => document.activeElement?.getAttribute("aria-label"));
  const first = await name();
  await tab.keyboard.press("ArrowRight");
  assert.notEqual(await name(), first);
  await tab.keyboard.press("Enter");
  await settled();
  assert.match(await tab.evaluate(() => location.hash), /^#\/cell\//);
});

seen("screen readers are given names, headings and states", { at: `${TABLE}&machine=${index().machines[0]?.[0]}` }, async ({ tab }) => {
  const nameless = await tab.evaluate(() => {
    const named = (element: Element) => (element.getAttribute("aria-label") ?? element.textContent ?? "").trim() !== "" || document.querySelector(`label[for="${element.id}"]`) || element.closest("label");
    return [...document.querySelectorAll("a, button, select, input, summary, [role=region]")].filter((element) => !named(element)).map((element) => element.outerHTML);
  });
  assert.deepEqual(nameless, []);
  const ids = await tab.evaluate(() => [...document.querySelectorAll("[id]")].map(({ id }) => id));
  assert.equal(new Set(ids).size, ids.length, "no id is there twice");
  assert.equal(await tab.locator("h1").count(), 1);
  assert.equal(await tab.locator("main").count(), 1);
  assert.equal(await tab.locator("html[lang=en]").count(), 1);
  const headless = await tab.evaluate(() => [...document.querySelectorAll("th")].filter((head) => !head.hasAttribute("scope")).length);
  assert.equal(headless, 0);
});

const NASTY = `</script><img src=x onerror="window.bad=1">=1+1`;
const nasty = (_: string, text: string) => text.replaceAll(/"(lmdb|Made-up board 0|made up for a test[^"]*|3\.50\.4\+0)"/g, () => JSON.stringify(NASTY).replaceAll("<", "\\u003c"));

seen("no name in the data becomes markup, in no view", { change: nasty }, async ({ tab, go, saved }) => {
  for (const view of VIEWS) {
    await go(view);
    assert.equal(await tab.locator("main img, main script").count(), 0, view);
  }
  assert.equal(await tab.evaluate(() => (window as { bad?: number }).bad), undefined);
  await go("#/machines");
  assert.ok((await tab.locator("main").innerText()).includes(NASTY), "the text is shown as it is");
  await saved("Save as CSV");
});

seen("an address that is none says so and leads back", { at: "#/cell/../../etc?engine=%ZZ" }, async ({ tab, go, settled }) => {
  for (const view of ["#/cell/nobody", "#/machine/nobody", "#/engine/constructor", "#/toString", "#/%ZZ"]) {
    await go(view);
    assert.equal(await tab.locator("main h2").innerText(), "Nothing to show", view);
  }
  await tab.getByRole("link", { name: "To the rankings" }).click();
  await settled();
  assert.match(await tab.locator("main h2").innerText(), /^sensors/);
});

test("who has not chosen is shown the table with the most engines and results of a built-in workload, sensors first", () => {
  const table = (workload: number, engines: number, more: Partial<Group> = {}): Group => ({ workload, engines, scale: "1k", rows: 1000, tier: "process", results: 2, ...more });
  const [HTAP, SENSORS, OWN] = [0, 1, 2];
  const workloads: [string, string][] = [["htap", "write, then count"], ["sensors", "room sensors"], ["own", ""]];
  const shown = (...groups: Group[]) => pick(new Known({ ...index(), workloads, groups, shapes: [[0, groups.length - 1]] }), [...groups.keys()], new URLSearchParams()).group;
  assert.equal(shown(table(HTAP, 3), table(SENSORS, 3), table(SENSORS, 3, { scale: "10k", rows: 10_000 })), 2, "sensors before others, and the most rows");
  assert.equal(shown(table(SENSORS, 3), table(HTAP, 4)), 1, "more engines");
  assert.equal(shown(table(SENSORS, 3), table(HTAP, 3, { results: 3 })), 1, "more results");
  assert.equal(shown(table(SENSORS, 2), table(HTAP, 5, { conditions: "only some phases" })), 1, "more engines, before the usual conditions");
  assert.equal(shown(table(SENSORS, 5), table(HTAP, 5, { conditions: "4 clients", results: 3 })), 0, "the usual conditions, before more results");
  assert.equal(shown(table(SENSORS, 2), table(OWN, 5), table(HTAP, 5, { storage: "sd-a1" }), table(HTAP, 5, { limit: "64 MiB" }), table(HTAP, 5, { tier: "power" })), 0, "nothing out of the ordinary");
  assert.equal(shown(table(OWN, 3, { tier: "power" }), table(OWN, 2, { storage: "sd-a1" })), 0, "what there is");
});

test("no two machines are called alike", () => {
  const machines: [string, string, string][] = [["a", "EPYC", "EPYC, 2 CPUs"], ["b", "EPYC", "EPYC, 4 CPUs"], ["c", "EPYC", "EPYC, 4 CPUs"], ["d", "Pi", "Arm, 4 CPUs"]];
  const known = new Known({ ...index(), machines });
  assert.deepEqual(known.machines.map(({ label }) => label), ["EPYC, 2 CPUs", "EPYC, 4 CPUs", "EPYC, 4 CPUs (2)", "Pi, Arm, 4 CPUs"]);
  assert.deepEqual(known.machines.map(({ name }) => name), ["EPYC, 2 CPUs", "EPYC, 4 CPUs", "EPYC, 4 CPUs (2)", "Pi"]);
});

/** The tables over machines, in which the first engine has rows on one machine only. */
const ofOneMachine = (file: string, text: string) => {
  if (!/^table/.test(file)) return text;
  const data = dataOf(text) as OverMachines;
  const engine = data.engines.find(({ rows }) => rows);
  if (engine?.rows) engine.rows[0] = 1;
  return text.replace(/,\{.*\)\n$/s, () => `,${JSON.stringify(data)})\n`);
};

for (const [name, change] of [["every machine has", undefined], ["only some machines have", ofOneMachine]] as const) {
  seen(`a mark for what some machines lack is explained where it is: of what ${name}`, { at: TABLE, change }, async ({ tab }) => {
    const marked = await tab.locator(".ranks").first().locator("td").filter({ hasText: /x 1\/2/ }).count();
    assert.equal(marked, change ? 1 : 0);
    assert.equal(await tab.getByText("1/2: only 1 of 2 machines has it, so it has no place.").count(), marked);
    assert.equal(await tab.getByText("so it has no place").count(), marked);
  });
}

test("no text of a CSV is a formula, and a number stays one", () => {
  assert.equal(csv(["a"], [["=1+1"], ["-cmd|x"], ["-1.5"], [1e-7], ['say "hi"'], ["two\nlines"], [null], ["@x"]]),
    `a\r\n'=1+1\r\n'-cmd|x\r\n-1.5\r\n1e-7\r\n"say ""hi"""\r\n"two\nlines"\r\n\r\n'@x\r\n`);
});

test("an address is read as it was written", () => {
  const chosen = { engine: "a&b=c", scale: "10k", without: "" };
  const { path, chosen: read } = here(to(["cell", "a/b?c"], chosen));
  assert.deepEqual(path, ["cell", "a/b?c"]);
  assert.deepEqual(Object.fromEntries(read), { engine: "a&b=c", scale: "10k" });
});
