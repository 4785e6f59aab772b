/** The report page: draws what `data.ts` describes. */

import { charts } from "./charts";
import { choose } from "./choose";
import { costs, flash } from "./costs";
import type { Page } from "./data";
import { open } from "./details";
import { byId, grouped, h } from "./dom";
import { durability } from "./durability";
import { filters, keepFilters, restore } from "./filters";
import { fleet } from "./fleet";
import { lists } from "./list";
import { legend, map } from "./map";
import { method } from "./method";
import { published } from "./published";
import { read } from "./read";
import { initial, languageShown, showLanguage } from "./state";
import { tuned } from "./tuned";

function show(id: string): void {
  byId(id).hidden = false;
  for (const link of document.querySelectorAll<HTMLElement>(`nav a[href="#${id}"]`)) link.hidden = false;
}

function main(): void {
  const page = read(document);
  byId("tool").textContent = `Made by embermark ${page.tool}. This file has all its data and uses no network.`;
  const face = byId("face");
  face.hidden = page.face === null;
  face.textContent = page.face;
  if (page.durability) {
    durability(byId("durability-body"), page.durability);
    show("durability");
  }
  if (page.fleet) {
    alone("fleet", "embermark fleet", "To the devices");
    fleet(byId("fleet-body"), page.fleet);
    if (page.advice.length > 0) {
      choose(byId("choose-body"), page);
      byId("choose").hidden = false;
      byId("choose").querySelector("h2")?.replaceChildren("Which one for all of them");
      byId("choose").querySelector("p")?.append(" Each figure is the worst of all devices.");
    }
  } else if (page.tuned) {
    alone("tuned", "embermark tune", "To the settings");
    byId("about").textContent = page.tuned.about;
    tuned(byId("tuned-body"), page.tuned);
  } else if (page.results.length === 0) ofDurability(page);
  else measured(page);
}

/** Shows only one section of the page. */
function alone(id: string, title: string, skipTo: string): void {
  for (const section of document.querySelectorAll<HTMLElement>("main > section")) section.hidden = section.id !== id;
  for (const link of document.querySelectorAll<HTMLElement>("nav a")) link.hidden = true;
  const skip = document.querySelector(".skip");
  skip?.setAttribute("href", `#${id}`);
  if (skip) skip.textContent = skipTo;
  document.title = title;
  document.querySelector("h1")?.replaceChildren(title);
}

/** Shows a page that has only durability tests. */
function ofDurability(page: Page): void {
  alone("durability", "embermark durability", "To the findings");
  const [first] = page.durability?.notes ?? [];
  byId("about").textContent = first ? `${first.about} · ${first.says}` : "";
}

/** Most results of one machine that are named. */
const MOST_NAMED = 3;

/** Describes each machine once, with its results. */
function machines(page: Page): string {
  const all = [...grouped(page.results, ({ machine, started }) => machine || started)];
  return all.map(([on, own]) => `${own.length > MOST_NAMED ? `${own.length} results` : own.map(({ label }) => label).join(", ")}: ${on}`).join(" | ");
}

/** Shows a page of results. */
function measured(page: Page): void {
  const state = initial(page);
  const first = page.results[0];
  byId("about").textContent = page.results.length === 1
    ? [first?.started, first?.machine].filter(Boolean).join(" · ")
    : machines(page);

  const unlike = byId("unlike");
  unlike.hidden = page.unlike.length === 0;
  unlike.append(
    h("p", {}, "These results were not measured alike: ratios, charts and advice stay within one of them."),
    h("ul", {}, page.unlike.map((reason) => h("li", {}, reason))));

  const warnings = page.results.flatMap((result) => result.warnings);
  byId("warned").hidden = warnings.length === 0;
  const warned = byId("warned").querySelector("a");
  if (warned) warned.textContent = warnings.length === 1 ? `Warning: ${warnings[0]}` : `${warnings.length} warnings: ${warnings[0]}; …`;

  const dialog = byId("details") as HTMLDialogElement;
  restore(state);
  const drawMap = () => map(byId("tables"), byId("shown"), state, (box) => open(dialog, page, box));
  // Parts outside the panel that show the choice of a language.
  const shown: (() => void)[] = [];
  let waiting = 0;
  const changed = () => {
    keepFilters(state);
    drawMap();
    for (const draw of shown) draw();
    // The charts are further down, so they can be drawn after the map.
    clearTimeout(waiting);
    waiting = window.setTimeout(() => charts(state), 120);
  };
  byId("legend").replaceChildren(legend(page));
  const showFilters = filters(byId("filter-groups"), state, changed);
  const chosen = () => {
    showFilters();
    changed();
  };
  if (page.answer.length > 0) {
    shown.push(lists(byId("answer-body"), state, chosen));
    show("answer");
  }
  drawMap();
  charts(state);
  if (page.advice.length > 0) {
    shown.push(choose(byId("choose-body"), page, { shown: () => languageShown(state), choose: (language) => {
      showLanguage(state, language);
      chosen();
    } }));
    show("choose");
  }
  if ((page.flash ?? []).length > 0) {
    flash(byId("flash-body"), page);
    show("flash");
  }
  if (page.costs.length > 0) {
    costs(byId("costs-body"), page);
    show("costs");
  }
  if (page.published.length > 0) {
    published(byId("published-body"), page);
    show("published");
  }
  method(byId("method-body"), page);
}

try {
  main();
} catch (error) {
  const face = byId("face");
  face.hidden = false;
  face.textContent = `This report cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
  throw error;
}
