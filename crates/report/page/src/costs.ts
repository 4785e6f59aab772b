/** Tables of the terminal's report: the cost of keeping up, the state after ageing, and flash cards. */

import type { Page, Table, Text } from "./data";
import { disks } from "./disks";
import { h, noteList, table } from "./dom";
import { labelAfter } from "./fitness";
import { timelines } from "./timeline";

/**
 * Shows the cost of keeping up with a machine, and the state after ageing, with curves. Leaves the
 * section empty if no phase had a fixed duration.
 */
export function costs(body: HTMLElement, page: Page): void {
  const tables = sections(page, page.costs, ({ value, marks, best }) => value + (marks ?? "") + (best ?? ""));
  body.replaceChildren(...timelines(page), ...disks(page), ...tables);
}

/**
 * Shows the bytes that modelled flash cards would have programmed. Leaves the section empty if no
 * card was requested.
 */
export function flash(body: HTMLElement, page: Page): void {
  body.replaceChildren(...sections(page, page.flash ?? [], ({ value, second, best }) => [value, second].filter(Boolean).join(" · ") + (best ?? "")));
}

/** Makes a section for each table. A table without rows has only notes. */
function sections(page: Page, tables: Table[], show: (text: Text) => string): HTMLElement[] {
  return tables.map((one) => {
    const title = one.title + labelAfter(page, one.result, " · ");
    const rows = one.rows.map(([label, texts]) => [label, ...texts.map(show)]);
    const shown = rows.length > 0 ? table(title, ["", ...one.header], rows) : h("h3", {}, title);
    return h("section", {}, shown, one.notes.length > 0 && noteList(one.notes));
  });
}
