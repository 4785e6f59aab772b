/** The reader's choices, and the listeners of their changes. */

import type { Cell, Entry, Page } from "./data";
import { unique } from "./dom";
import { type Against, cellOf, everything, type Filters, isShown, limitOf, names, storageOf } from "./fitness";
import { isFailure } from "./status";

/** The slice that the charts show. */
export const SLICE = ["result", "workload", "tier", "limit", "storage", "variant", "scale"] as const;
export type SliceName = (typeof SLICE)[number];

/** The choice of all results together. */
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

/** The only language that the shown engines are used from. Null if there are several. */
export function languageShown({ page, filters }: State): string | null {
  const all = names(page, "client").filter((name) => filters.client.has(name));
  return all.length === 1 && names(page, "client").length > 1 ? all[0] ?? null : null;
}

/** Shows the columns of one language, or of all. */
export function showLanguage(state: State, language: string | null): void {
  state.filters.client = new Set(names(state.page, "client").filter((name) => language === null || name === language));
}

function sliceValue(cell: Cell, name: SliceName): string {
  if (name === "result") return String(cell.result);
  if (name === "storage") return storageOf(cell);
  return name === "limit" ? limitOf(cell) : cell[name];
}

/** A select of the slice: its choices, and the chosen one. */
export interface Choice {
  name: SliceName;
  values: string[];
  chosen: string;
}

/** The selects in order. Each offers what is available under those before it. */
export function choices(state: State): Choice[] {
  const { page, slice } = state;
  let left = chartable(state);
  return SLICE.map((name) => {
    const values = unique(left.map((entry) => sliceValue(cellOf(page, entry), name)));
    if (name === "scale") {
      const rows = new Map(left.map((entry) => [cellOf(page, entry).scale, cellOf(page, entry).rows ?? Infinity]));
      values.sort((a, b) => (rows.get(a) ?? 0) - (rows.get(b) ?? 0));
    }
    // Results that were not measured alike are not drawn in one chart.
    if (name === "result" && values.length > 1 && page.unlike.length === 0) values.unshift(ALL);
    // The largest scale shows the most. For everything else, the first choice is the plan's own.
    const usual = (name === "scale" ? values[values.length - 1] : values[0]) ?? ALL;
    const wanted = slice[name];
    const chosen = wanted !== undefined && values.includes(wanted) ? wanted : usual;
    if (chosen !== ALL) left = left.filter((entry) => sliceValue(cellOf(page, entry), name) === chosen);
    return { name, values, chosen };
  });
}

/** Returns the entries of the slice, at every scale if the scale is an axis of the chart. */
export function sliced(state: State, everyScale: boolean): Entry[] {
  const chosen = choices(state).filter(({ name, chosen }) => chosen !== ALL && !(everyScale && name === "scale"));
  return chartable(state).filter((entry) => {
    const cell = cellOf(state.page, entry);
    return chosen.every((choice) => sliceValue(cell, choice.name) === choice.chosen);
  });
}

/**
 * Filters of engines apply to the charts. The slice chooses the work. A cell that was wrong or
 * failed has no figures to draw.
 */
function chartable(state: State): Entry[] {
  const filters = { ...everything(state.page) };
  for (const name of ["engine", "client", "kind", "how", "result"] as const) filters[name] = state.filters[name];
  return state.page.entries.filter((entry) =>
    isShown(state.page, entry, filters) && !isFailure(cellOf(state.page, entry).status));
}
