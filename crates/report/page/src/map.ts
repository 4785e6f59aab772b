/** The fitness map as tables. Each table is one stop of the Tab key. Arrow keys move inside it. */

import type { Page } from "./data";
import { h } from "./dom";
import { type Box, build, cellOf, extentOf, isHere, labelAfter, type MapRow, type MapTable, step, timeOf } from "./fitness";
import { count, duration, ratio } from "./format";
import { ratioLegend } from "./legend";
import type { State } from "./state";
import { BROKEN, engineMarks, isFailure, MARKS, marks, NOT_SIGNIFICANT, tierMark, word } from "./status";
import { walk } from "./walk";

/** Draws the map. Calls `open` with the box that was chosen. */
export function map(tables: HTMLElement, shown: HTMLElement, state: State, open: (box: Box) => void): void {
  const built = build(state.page, state.filters, state.against);
  const boxes: Box[] = [];
  const here = isHere(state.page);
  const all = state.page.entries.filter((entry) => here(cellOf(state.page, entry))).length;
  tables.replaceChildren(...built.map((table) => tableOf(state.page, table, boxes)));
  shown.textContent = boxes.length === 0
    ? "Nothing is left to show: choose more above."
    : `${count(boxes.length)} ${boxes.length === 1 ? "box" : "boxes"} shown of ${count(all)}`;
  tables.onclick = (event) => {
    const button = (event.target as Element).closest<HTMLElement>("button[data-box]");
    const box = boxes[Number(button?.dataset.box)];
    if (button && box) open(box);
  };
  tables.onkeydown = walk;
}

/** Explains the colours, and the marks that occur. */
export function legend(page: Page): HTMLElement {
  const occurring = new Set(page.entries.map(marks).join(""));
  for (const cell of page.cells.filter(isHere(page))) {
    occurring.add(tierMark(cell).trim());
    if (cell.broken) occurring.add(BROKEN);
    if (cell.unpublishable) occurring.add("‡");
  }
  if (page.entries.some((entry) => entry.figure?.interval_ns)) occurring.add(NOT_SIGNIFICANT.trim());
  return ratioLegend(MARKS.filter(([mark]) => occurring.has(mark)));
}

function tableOf(page: Page, table: MapTable, boxes: Box[]): HTMLElement {
  const title = `${table.workload} ${extentOf(table)} · durability ${table.tier}`;
  const several = page.results.length > 1;
  const about = page.results.flatMap((result, place) => {
    if (!table.columns.some((column) => column.result === place)) return [];
    const group = result.groups.find((group) =>
      group.workload === table.workload && extentOf(group) === extentOf(table) && group.tier === table.tier,
    );
    return group ? [(several ? `${result.label}: ` : "") + group.about.join(" · ")] : [];
  });
  const known = page.workloads.find((workload) => workload.id === table.workload);
  const head = table.columns.map((column, index) => {
    const cell = table.rows.flatMap((row) => row.boxes[index]?.cell ?? [])[0];
    const client = cell?.client && `${column.engine}: used by ${cell.client}`;
    const name = cell?.configuration ?? client ?? page.engines[column.engine]?.name ?? column.engine;
    const kind = cell?.kind === "server" ? "server" : "";
    const under = [kind, several ? page.results[column.result]?.label : ""].filter(Boolean).join(" · ");
    return h("th", { scope: "col", title: name },
      h("span", {}, column.engine + (cell ? engineMarks(cell) : "") + (cell?.unpublishable ? " ‡" : "")),
      under && h("small", {}, under));
  });
  let first = true;
  const rows = table.rows.map((row) => {
    const phase = known?.phases.find((phase) => phase.name === row.phase);
    const cells = row.boxes.map((box) => {
      if (!box) return h("td", { class: "none" });
      const button = buttonOf(page, row, box, boxes.push(box) - 1);
      if (first) button.tabIndex = 0;
      first = false;
      return h("td", {}, button);
    });
    return h("tr", {}, h("th", { scope: "row", title: phase?.about }, h("span", {}, labelOf(row))), cells);
  });
  return h("section", { class: "group" },
    h("h3", {}, title),
    known && h("p", { class: "hint" }, known.about),
    about.map((text) => h("p", { class: "hint" }, text)),
    h("div", { class: "scroll" },
      h("table", { class: "map", role: "grid", "aria-label": `${title}: ratio to the best` },
        h("thead", {}, h("tr", {}, h("td"), head)),
        h("tbody", {}, rows))));
}

function labelOf(row: MapRow): string {
  return (row.phase ?? "every phase") + (row.variant ? ` (${row.variant})` : "") + (row.perOperation ? " /op" : "");
}

function buttonOf(page: Page, row: MapRow, box: Box, place: number): HTMLButtonElement {
  const { cell, entry } = box;
  const time = timeOf(row, entry);
  const name = `${cell.engine}${labelAfter(page, cell.result, ", ")}, ${labelOf(row)}`;
  const properties = { type: "button", tabindex: -1, "data-box": place };
  if (time === null) {
    const tone = isFailure(entry.status) ? "bad" : "dim";
    const label = `${name}: ${word(entry.status)}`;
    return h("button", { ...properties, class: `box ${tone} s-${entry.status ?? "absent"}`, "aria-label": label }, word(entry.status));
  }
  const shown = duration(time) + marks(entry);
  const state = [entry.status === "capped" ? "capped" : "", entry.client_side ? "by client code" : "", entry.lost ? `${entry.lost} of its trials lost` : "", entry.surprise ? `surprise: ${entry.surprise}` : ""].filter(Boolean);
  if (box.ratio === null) {
    // A cell that failed in a later phase keeps its times, and its box shows how it ended.
    const ended = entry.tainted ? word(cell.status) : "";
    const label = [`${name}: ${duration(time)}`, ...state, ended && `its cell ${ended}`, entry.shortfall ?? "", "not ranked"].filter(Boolean).join(", ");
    const tone = entry.tainted ? `bad s-${cell.status}` : "unranked";
    return h("button", { ...properties, class: `box ${tone}`, "aria-label": label }, h("b", {}, ended || entry.shortfall || "·"), h("small", {}, shown));
  }
  const label = [`${name}: ${ratio(box.ratio)}, ${duration(time)}`, ...state, box.notSignificant && "not significantly slower than the best"]
    .filter(Boolean).join(", ");
  return h("button", { ...properties, class: `box r${step(box.ratio)}`, "aria-label": label },
    h("b", {}, ratio(box.ratio) + (box.notSignificant ? NOT_SIGNIFICANT : "")), h("small", {}, shown));
}
