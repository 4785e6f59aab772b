/**
 * The first view: what to take, and one list of engines in the order of what the reader has to do. Its figures are those
 * of the terminal's screen; the order is that of `advice.ts`.
 */

import { type Advice, advise } from "./advice";
import { choice, keep } from "./address";
import { colourOf } from "./chart";
import type { AdviceEngine, AdviceTable, Page, Preset, Table, Text, Tier } from "./data";
import { h, list as notes, unique } from "./dom";
import { bytes, NOT_MEASURED, significant } from "./format";

/** The column of the order itself. */
const ORDER = "order";

/** Fills the section: a list for each result. */
export function lists(body: HTMLElement, page: Page): void {
  const draw = () => body.replaceChildren(...page.answer.flatMap((answer) => list(page, answer, draw) ?? []));
  draw();
}

/** Null where nothing can be ranked. */
function list(page: Page, answer: Table, draw: () => void): HTMLElement | null {
  const table = tableOf(page, answer);
  if (!table) return null;
  const preset = page.presets.find(({ id }) => id === choice("for")) ?? (page.presets[0] as Preset);
  const { advice, tier, lacking } = ranking(table, answer, preset);
  const told = page.results.length > 1 ? h("h3", {}, page.results[answer.result]?.label ?? "") : null;
  const take = answer.notes.filter((note) => note.about !== "");
  const legend = answer.notes.filter((note) => note.about === "").map((note) => note.says);
  return h("section", { class: "answer-of" },
    told,
    h("div", { class: "take" }, notes(take.map(({ about, says }) => [about, says]))),
    h("div", { class: "presets", role: "group", "aria-label": "Best for" }, h("span", {}, "Best for "), ...page.presets.map((one) =>
      h("button", { type: "button", class: "small", "aria-pressed": String(one === preset), click: () => {
        keep("for", one.id === "all" ? null : one.id);
        keep("sort", null);
        draw();
      } }, one.name))),
    h("p", { class: "hint", role: "status" }, says(preset, tier, lacking)),
    ranks(page, answer, table, advice, draw),
    ...left(page, answer, advice),
    h("p", { class: "hint" }, legend.join(" · ")));
}

/** The advice table that the answer was made of: of the most rows, without a limit of memory. */
function tableOf(page: Page, answer: Table): AdviceTable | undefined {
  const own = page.advice.length > 1 ? page.advice[answer.result] : page.advice[0];
  const tables = own?.tables.filter((table) => table.memory_limit_bytes === undefined) ?? [];
  return [...tables].sort((a, b) => b.rows - a.rows)[0];
}

interface Ranking {
  advice: Advice;
  tier: Tier;
  /** Criteria of the preset that nobody was measured for. */
  lacking: string[];
}

/** The tier in which all work but commits was measured: the weakest that promises something of those with a column. */
const mainTier = (answer: Table): Tier =>
  (["process", "power", "none"] as const).find((tier) => answer.header.includes(tier)) ?? "process";

/** The order of a preset: in its tier, or where nothing was measured in that the next one that was. */
function ranking(table: AdviceTable, answer: Table, preset: Preset): Ranking {
  const main = mainTier(answer);
  const measuredIn = (tier: Tier, id: string) => table.engines.filter((engine) => engine.tier === tier && engine.ratios[id] !== undefined).length > 1;
  const tier = preset.tier && measuredIn(preset.tier, preset.weights[0]?.[0] ?? "") ? preset.tier : main;
  const has = (id: string) => measuredIn(tier, id);
  const weights = Object.fromEntries(preset.weights.filter(([id]) => has(id)));
  const label = (id: string) => table.criteria.find((criterion) => criterion.id === id)?.label ?? id;
  const lacking = preset.weights.map(([id]) => id).filter((id) => !has(id)).map(label);
  const must = { tier, sql: false, embedded: false, memory: preset.memory_bytes ?? null, licence: "other" as const, rate: preset.rows_per_second ?? null };
  return { advice: advise(table, must, weights), tier, lacking };
}

function says(preset: Preset, tier: Tier, lacking: string[]): string {
  const of = preset.weights.map(([id, weight]) => (preset.id === "all" ? id : `${id} ${weight}`));
  const rate = preset.rows_per_second ? `, at least ${preset.rows_per_second} rows/s` : "";
  const memory = preset.memory_bytes ? `, at most ${bytes(preset.memory_bytes)} of memory` : "";
  const other = preset.tier && preset.tier !== tier ? [`durability ${preset.tier}`] : [];
  const without = [...other, ...lacking];
  const missing = without.length > 0 ? `; not measured here: ${without.join(", ")}` : "";
  return `Order by ${of.join(", ")} at durability ${tier}${rate}${memory}${missing}. 1 is the best at all of it.`;
}

/** A line of the list. */
interface Line {
  id: string;
  label: string;
  engine: AdviceEngine | undefined;
  score: number | null;
  texts: Text[];
}

/** One list of engines; a column's heading sorts by it. */
function ranks(page: Page, answer: Table, table: AdviceTable, advice: Advice, draw: () => void): HTMLElement {
  const sort = [ORDER, ...answer.header].find((name) => name === choice("sort")) ?? ORDER;
  const lines: Line[] = answer.rows.map(([label, texts]) => {
    const id = /^[\w.:@/-]+/.exec(label)?.[0] ?? label;
    const ranked = advice.ranked.find(({ engine }) => engine.engine === id);
    return { id, label, engine: table.engines.find((engine) => engine.engine === id && engine.tier === mainTier(answer)), score: ranked?.score ?? null, texts };
  });
  const at = answer.header.indexOf(sort);
  const key = (line: Line) => (at < 0 ? line.score : line.texts[at]?.ratio) ?? Infinity;
  // What is alike stands in the order of the screen.
  const ordered = [...lines].sort((a, b) => (key(a) === key(b) ? 0 : key(a) - key(b)));
  const best = Math.min(...ordered.map((line) => line.score ?? Infinity));
  const heading = (name: string, text: string, title: string) => {
    const button = h("button", { type: "button", title, click: () => {
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
        h("td", { class: "score" }, line.score === null ? NOT_MEASURED : significant(line.score),
          line.score !== null && h("span", { class: "bar", style: `--share:${((100 * best) / line.score).toFixed(1)}%` })),
        ...line.texts.map((text, place) => h("td", { class: text.marks?.includes("*") ? "best" : null },
          shown(answer.header[place] ?? "", text, line.engine) + (text.marks ?? ""))))))));
}

/** A heading says the unit of its column once. */
const headed = (name: string): string => (name === "memory" ? "memory, MB" : `${name}, x`);

/** A figure without its unit. */
function shown(name: string, text: Text, engine: AdviceEngine | undefined): string {
  if (name === "memory" && text.ratio !== undefined && engine?.facts.peak_bytes) return significant(engine.facts.peak_bytes / 1e6);
  return text.value.replace(/x$/, "");
}

/** A line of who was left out by what the preset asks, and one of who is not here. */
function left(page: Page, answer: Table, advice: Advice): HTMLElement[] {
  const here = new Set(page.cells.filter((cell) => cell.status !== "unavailable").map((cell) => cell.engine));
  const absent = unique(page.cells.filter((cell) => cell.result === answer.result && !here.has(cell.engine)).map((cell) => cell.engine));
  const out = advice.excluded.filter(({ engine }) => engine.facts.kind !== "reference")
    .map(({ engine, why }) => `${engine.engine}: ${why}`);
  const missing = advice.unmeasured.filter(({ engine }) => !absent.includes(engine.engine)).map(({ engine, missing }) => `${engine.engine}: not measured for ${missing.join(", ")}`);
  const said: [string, string[]][] = [
    ["Not in the order", [...out, ...missing]],
    ["Not here", absent],
  ];
  return said.filter(([, all]) => all.length > 0).map(([title, all]) => h("p", { class: "hint" }, `${title}: ${all.join("; ")}`));
}
