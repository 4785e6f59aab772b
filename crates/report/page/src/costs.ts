/** What it costs to keep up with a machine, and what it is like once it has aged: curves, and the tables of the terminal's report. */

import type { Page } from "./data";
import { disks } from "./disks";
import { h, list, table } from "./dom";
import { timelines } from "./timeline";

/** Fills the section; nothing where no phase lasted by the clock. */
export function costs(body: HTMLElement, page: Page): void {
  const tables = page.costs.map((one) => {
    const told = page.results.length > 1 ? ` · ${page.results[one.result]?.label}` : "";
    const rows = one.rows.map(([label, texts]) => [label, ...texts.map(({ value, marks, best }) => value + (marks ?? "") + (best ?? ""))]);
    const notes = one.notes.length > 0 ? list(one.notes.map((note) => [note.about, note.says])) : null;
    return h("section", {}, table(one.title + told, ["", ...one.header], rows), notes);
  });
  body.replaceChildren(...timelines(page), ...disks(page), ...tables);
}
