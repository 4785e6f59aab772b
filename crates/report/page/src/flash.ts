/** Bytes that modelled flash cards would have programmed: the tables of the terminal's report. */

import type { Page } from "./data";
import { h, list, table } from "./dom";

/** Fills the section. Leaves it empty if no card was requested. */
export function flash(body: HTMLElement, page: Page): void {
  const tables = (page.flash ?? []).map((one) => {
    const told = page.results.length > 1 ? ` · ${page.results[one.result]?.label}` : "";
    const rows = one.rows.map(([label, texts]) => [label, ...texts.map(({ value, second, best }) => [value, second].filter(Boolean).join(" · ") + (best ?? ""))]);
    const notes = one.notes.length > 0 ? list(one.notes.map((note) => [note.about, note.says])) : null;
    const shown = rows.length > 0 ? table(one.title + told, ["", ...one.header], rows) : h("h3", {}, one.title + told);
    return h("section", {}, shown, notes);
  });
  body.replaceChildren(...tables);
}
