/** What the reader has chosen, and who is told when that changes. */

import type { Cell, Entry, Page } from "./data";
import { unique } from "./dom";
import { type Against, cellOf, everything, type Filters, isShown, limitOf, names, storageOf } from "./fitness";
import { isFailure } from "./status";

/** The slice that the charts show. */
export const SLICE = ["result", "workload", "tier", "limit", "storage", "variant", "scale"] as const;
export type SliceName = (typeof SLICE)[number];

/** The choice of every result at once. */
export const ALL = "";

export interface State {
  page: Page;
  filters: Filters;
  against: Against;
  slice: Partial<Record<SliceName, string>>;
}

export function initial(page: Page): State {
  const filters = everything(page);
  return { page, filters, against: "own", slice: {} };
}

/** The one language that engines shown are used from; null where several are shown. */
export function languageShown({ page, filters }: State): string | null {
  const all = names(page, "client").filter((name) => filters.client.has(name));
  return all.length === 1 && names(page, "client").length > 1 ? all[0] ?? null : null;
}

/** Shows the columns of one language, or of every one. */
export function showLanguage(state: State, language: string | null): void {
  state.filters.client = new Set(names(state.page, "client").filter((name) => language === null || name === language));
}

function sliceValue(cell: Cell, name: SliceName): string {
  if (name === "result") return String(cell.result);
  if (name === "storage") return storageOf(cell);
  return name === "limit" ? limitOf(cell) : cell[name];
}

/** A select of the slice: what there is to choose, and what is chosen. */
export interface Choice {
  name: SliceName;
  values: string[];
  chosen: string;
}

/** The selects in order, each offering what there is under those before it. */
export function choices(state: State): Choice[] {
  const { page, slice } = state;
  let left = chartable(state);
  return SLICE.map((name) => {
    const values = unique(left.map((entry) => sliceValue(cellOf(page, entry), name)));
    if (name === "scale") {
      const rows = new Map(left.map((entry) => [cellOf(page, entry).scale, cellOf(page, entry).rows ?? Infinity]));
      values.sort((a, b) => (rows.get(a) ?? 0) - (rows.get(b) ?? 0));
    }
    // What was not measured alike is not drawn in one chart.
    if (name === "result" && values.length > 1 && page.unlike.length === 0) values.unshift(ALL);
    // The largest scale says most; of anything else the first is the plan's own.
    const usual = (name === "scale" ? values[values.length - 1] : values[0]) ?? ALL;
    const wanted = slice[name];
    const chosen = wanted !== undefined && values.includes(wanted) ? wanted : usual;
    if (chosen !== ALL) left = left.filter((entry) => sliceValue(cellOf(page, entry), name) === chosen);
    return { name, values, chosen };
  });
}

/** Entries of the slice; of every scale where the scale is what a chart is about. */
export function sliced(state: State, everyScale: boolean): Entry[] {
  const chosen = choices(state).filter(({ name, chosen }) => chosen !== ALL && !(everyScale && name === "scale"));
  return chartable(state).filter((entry) => {
    const cell = cellOf(state.page, entry);
    return chosen.every((choice) => sliceValue(cell, choice.name) === choice.chosen);
  });
}

/**
 * Filters of who is shown hold for the charts; what of the work, the slice says. What belongs to a
 * cell that was wrong or failed is no figure to be drawn.
 */
function chartable(state: State): Entry[] {
  const filters = { ...everything(state.page) };
  for (const name of ["engine", "client", "kind", "how", "result"] as const) filters[name] = state.filters[name];
  return state.page.entries.filter((entry) =>
    isShown(state.page, entry, filters) && !isFailure(cellOf(state.page, entry).status));
}
