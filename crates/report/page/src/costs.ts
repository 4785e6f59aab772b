/**
 * The cost of keeping up with a machine, and the state after ageing: curves, and the tables of the
 * terminal's report.
 */

import type { Page } from "./data";
import { disks } from "./disks";
import { h, list, table } from "./dom";
import { timelines } from "./timeline";

/** Fills the section. Leaves it empty if no phase had a fixed duration. */
export function costs(body: HTMLElement, page: Page): void {
  const tables = page.costs.map((one) => {
    const told = page.results.length > 1 ? ` · ${page.results[one.result]?.label}` : "";
    const rows = one.rows.map(([label, texts]) => [label, ...texts.map(({ value, marks, best }) => value + (marks ?? "") + (best ?? ""))]);
    const notes = one.notes.length > 0 ? list(one.notes.map((note) => [note.about, note.says])) : null;
    return h("section", {}, table(one.title + told, ["", ...one.header], rows), notes);
  });
  body.replaceChildren(...timelines(page), ...disks(page), ...tables);
}
