/**
 * The first view: recommendations, and one list of engines in the order of the reader's situation.
 * The program made the figures and orders, as on the terminal's screen.
 */

import { choice, keep } from "./address";
import { colourOf } from "./colours";
import type { Answer, Page, Ranking, Text } from "./data";
import { h, noteList, redraw } from "./dom";
import { absent, names } from "./fitness";
import { languageShown, showLanguage, type State } from "./state";
import { NOT_MEASURED, significant } from "./format";

/** The column of the order. */
const ORDER = "order";

/**
 * Fills the section with a list for each result, for the columns of the selected language. Returns
 * a function that redraws it. Calls `changed` after the reader chose another language.
 */
export function lists(body: HTMLElement, state: State, changed: () => void): () => void {
  const { page } = state;
  const draw = () => redraw(body, ...languages(state, changed), ...page.results.flatMap((_, result) => {
    const own = page.answer.filter((answer) => answer.result === result);
    const language = own.length > 1 ? languageShown(state) : null;
    const answer = own.find(({ client }) => client === (language ?? undefined));
    if (language !== null && !answer) return h("p", { class: "hint" }, `Too little was measured from ${language} for a list: the tables have what there is.`);
    return (answer && list(page, answer, draw)) ?? [];
  }));
  draw();
  return draw;
}

/** Asks which language engines are used from. Empty if there is only one. */
function languages(state: State, changed: () => void): HTMLElement[] {
  if (!state.page.answer.some(({ client }) => client)) return [];
  const all = names(state.page, "client");
  const shown = languageShown(state);
  const button = (language: string | null) => h("button", { type: "button", class: "small", "aria-pressed": String(language === shown), "data-key": `from ${language ?? ""}`, click: () => {
    showLanguage(state, language);
    changed();
  } }, language ?? "all");
  return [h("div", { class: "presets languages", role: "group", "aria-label": "Used from" }, h("span", {}, "Used from "), button(null), ...all.map(button))];
}

/** Null without an order. */
function list(page: Page, answer: Answer, draw: () => void): HTMLElement | null {
  const order = answer.orders.find(({ preset }) => preset === choice("for")) ?? answer.orders[0];
  if (!order) return null;
  const told = page.results.length > 1 ? h("h3", {}, page.results[answer.result]?.label ?? "") : null;
  return h("section", { class: "answer-of" },
    told,
    h("div", { class: "take" }, noteList(answer.take)),
    h("div", { class: "presets", role: "group", "aria-label": "Best for" }, h("span", {}, "Best for "), ...page.presets.map((one) =>
      h("button", { type: "button", class: "small", "aria-pressed": String(one.id === order.preset), "data-key": `${answer.result} for ${one.id}`, click: () => {
        keep("for", one.id === "all" ? null : one.id);
        keep("sort", null);
        draw();
      } }, one.name))),
    h("p", { class: "hint", role: "status" }, order.says),
    ranks(page, answer, order, draw),
    ...left(page, answer, order),
    h("p", { class: "hint" }, answer.legend.join(" · ")));
}

/** A line of the list. */
interface Line {
  id: string;
  label: string;
  peak: number | undefined;
  /** Its position in the order. Infinite if it has none. */
  place: number;
  score: number | undefined;
  texts: Text[];
}

/** Makes one list of engines. A column's heading sorts by the column. */
function ranks(page: Page, answer: Answer, order: Ranking, draw: () => void): HTMLElement {
  const sort = [ORDER, ...answer.header].find((name) => name === choice("sort")) ?? ORDER;
  const lines = answer.rows.map(([label, texts], row): Line => {
    const { engine: id = label, peak_bytes: peak } = answer.engines[row] ?? {};
    const place = order.ranked.findIndex(({ engine }) => engine === id);
    return { id, label, peak, place: place < 0 ? Infinity : place, score: order.ranked[place]?.score, texts };
  });
  const at = answer.header.indexOf(sort);
  // The column of memory has the peak of the process, which is not what its ratio is of.
  const key = (line: Line) => (at < 0 ? line.place : sort === "memory" ? line.texts[at]?.ratio && line.peak : line.texts[at]?.ratio) ?? Infinity;
  // Equal rows keep the order of the screen.
  const ordered = [...lines].sort((a, b) => (key(a) === key(b) ? 0 : key(a) - key(b)));
  const best = order.ranked[0]?.score ?? 1;
  const heading = (name: string, text: string, title: string) => {
    const button = h("button", { type: "button", title, "data-key": `${answer.result} by ${name}`, click: () => {
      keep("sort", name === ORDER ? null : name);
      draw();
    } }, text);
    return h("th", { scope: "col", "aria-sort": name === sort ? "ascending" : null }, button);
  };
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Engines" },
    h("table", { class: "plain ranks" },
      h("thead", {}, h("tr", {},
        h("th", { scope: "col" }, "engine"),
        heading(ORDER, "order", "sort by the order of what was chosen"),
        ...answer.header.map((name) => heading(name, headed(name), `sort by ${name}`)))),
      h("tbody", {}, ordered.map((line) => h("tr", {},
        h("th", { scope: "row" }, h("span", { class: "swatch", style: `background:${colourOf(page, line.id)}` }), ` ${line.label}`),
        h("td", { class: "score" }, line.score === undefined ? NOT_MEASURED : significant(line.score),
          line.score !== undefined && h("span", { class: "bar", style: `--share:${((100 * best) / line.score).toFixed(1)}%` })),
        ...line.texts.map((text, place) => h("td", { class: text.marks?.includes("*") ? "best" : null },
          shown(answer.header[place] ?? "", text, line.peak) + (text.marks ?? ""))))))));
}

/** A heading names the unit of its column once. */
const headed = (name: string): string => (name === "memory" ? "memory, MB" : `${name}, x`);

/** Returns a figure without its unit. */
function shown(name: string, text: Text, peak: number | undefined): string {
  if (name === "memory" && text.ratio !== undefined && peak) return significant(peak / 1e6);
  return text.value.replace(/x$/, "");
}

/**
 * Makes a line of the engines without a place in the order, and one of the engines that are not
 * here.
 */
function left(page: Page, answer: Answer, order: Ranking): HTMLElement[] {
  const away = absent(page, answer.result);
  const without = order.left.filter(({ engine }) => !away.includes(engine));
  const said: [string, string[]][] = [
    ["Not in the order", without.map(({ engine, why }) => `${engine}: ${why[0] ?? ""}`)],
    ["Not here", away],
  ];
  return said.filter(([, all]) => all.length > 0).map(([title, all]) => h("p", { class: "hint" }, `${title}: ${all.join("; ")}`));
}
