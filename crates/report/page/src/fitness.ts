/** Makes the fitness map from entries: the boxes, and each one's ratio to the best shown. */

import type { Cell, Entry, Page, Tier } from "./data";
import { grouped, unique } from "./dom";
import { includesOne, ratioInterval, toTheBest } from "./interval";
import { TIERS } from "./status";

/** The filters: the names that are shown, by dimension. */
export type Filters = Record<Dimension, Set<string>>;

export const DIMENSIONS = ["engine", "client", "workload", "scale", "limit", "storage", "tier", "variant", "kind", "how", "result"] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** The language of embermark itself, for work without a client. */
export const NATIVE = "native";

/** The reference of a ratio if several results are shown. */
export type Against = "own" | "all";

/** One column: an engine, in one result. */
export interface Column {
  engine: string;
  result: number;
}

/** One box of the map. */
export interface Box {
  cell: Cell;
  entry: Entry;
  /** Its time divided by the best one's of the row. Absent if it is not ranked. */
  ratio: number | null;
  /**
   * The 95 % interval of that ratio, cut at 1. Absent with fewer than three trials, and for the
   * best itself.
   */
  interval: [number, number] | null;
  /**
   * Whether the difference to the best is not significant. For the best, whether another shares its
   * place.
   */
  notSignificant: boolean;
}

/** One phase in one variant. */
export interface MapRow {
  phase: string | null;
  variant: string | null;
  /**
   * Whether times are of one operation, because the engines shown did different amounts of work.
   */
  perOperation: boolean;
  /** Boxes, by column. */
  boxes: (Box | null)[];
}

/**
 * Figures that may be compared: one workload at one scale, within one memory limit, on one storage,
 * in one tier.
 */
export interface MapTable {
  workload: string;
  scale: string;
  limit?: string;
  storage?: string;
  tier: Tier;
  columns: Column[];
  rows: MapRow[];
}

/** Returns the name of a cell or an entry in a dimension. */
export function nameIn(page: Page, cell: Cell, entry: Entry | null, dimension: Dimension): string {
  switch (dimension) {
    case "kind":
      return cell.kind ?? "unknown";
    case "how":
      return entry?.client_side ? "client-side" : "native";
    case "result":
      return page.results[cell.result]?.label ?? "";
    case "limit":
      return limitOf(cell);
    case "client":
      return languageOf(cell);
    case "storage":
      return storageOf(cell);
    default:
      return cell[dimension];
  }
}

/** Formats the memory limit, or its absence. */
export const limitOf = (cell: { limit?: string }): string => cell.limit ?? "no limit";

/** Formats the imitated storage, or the machine's own disk. */
export const storageOf = (cell: { storage?: string }): string => cell.storage ?? "this machine's";

/** Formats the language that an engine is used from, or embermark itself. */
export const languageOf = (cell: { language?: string }): string => cell.language ?? NATIVE;

/** Formats scale, limit and storage: `1M`, `1M within 256 MiB on sd-a1`. */
export const extentOf = ({ scale, limit, storage }: { scale: string; limit?: string; storage?: string }): string =>
  [scale, limit && `within ${limit}`, storage && `on ${storage}`].filter(Boolean).join(" ");

/** Returns the label of a result after `before`. Empty if the page has one result. */
export const labelAfter = (page: Page, result: number, before: string): string =>
  page.results.length > 1 ? before + (page.results[result]?.label ?? "") : "";

/** Names what engines are compared in: everything but the engine. */
export function comparisonOf(page: Page, entry: Entry): string {
  const cell = cellOf(page, entry);
  const result = page.results.length > 1 ? `${page.results[cell.result]?.label}: ` : "";
  return `${result}${cell.workload} ${extentOf(cell)}, ${cell.tier}, ${cell.variant}: ${entry.phase}`;
}

/** Returns every name of a dimension, in the order of the data. */
export function names(page: Page, dimension: Dimension): string[] {
  const all = unique(page.entries.map((entry) => nameIn(page, cellOf(page, entry), entry, dimension)));
  const rows = new Map(page.cells.map((cell) => [cell.scale, cell.rows ?? Infinity]));
  if (dimension === "scale") all.sort((a, b) => (rows.get(a) ?? 0) - (rows.get(b) ?? 0));
  if (dimension === "tier") all.sort((a, b) => TIERS.indexOf(a) - TIERS.indexOf(b));
  return all;
}

/** Makes filters that show everything. */
export function everything(page: Page): Filters {
  return Object.fromEntries(DIMENSIONS.map((name) => [name, new Set(names(page, name))])) as Filters;
}

export function cellOf(page: Page, entry: Entry): Cell {
  const cell = page.cells[entry.cell];
  if (!cell) throw new Error(`an entry is of cell ${entry.cell}, which is not in the data`);
  return cell;
}

/** Whether an entry is shown. */
export function isShown(page: Page, entry: Entry, filters: Filters): boolean {
  const cell = cellOf(page, entry);
  return DIMENSIONS.every((dimension) => filters[dimension].has(nameIn(page, cell, entry, dimension)));
}

/** Returns the time of a box in its row's unit, in ns. */
export function timeOf(row: { perOperation: boolean }, entry: Entry): number | null {
  if (!entry.figure) return null;
  return row.perOperation ? entry.figure.per_op_ns : entry.figure.elapsed_ns ?? entry.figure.per_op_ns;
}

/** Returns the engines of a result that are not on its machine. They have no column. */
export function absent(page: Page, result: number): string[] {
  const own = page.cells.filter((cell) => cell.result === result);
  const here = new Set(own.filter(({ status }) => status !== "unavailable").map(({ engine }) => engine));
  return unique(own.map(({ engine }) => engine).filter((engine) => !here.has(engine)));
}

/** Whether the engine of a cell is on its machine. */
export function isHere(page: Page): (cell: Cell) => boolean {
  const away = page.results.map((_, result) => new Set(absent(page, result)));
  return (cell) => !away[cell.result]?.has(cell.engine);
}

/** Makes the map of the filtered entries. Ratios are to the best of them. */
export function build(page: Page, filters: Filters, against: Against): MapTable[] {
  const here = isHere(page);
  const shown = page.entries.filter((entry) => isShown(page, entry, filters) && here(cellOf(page, entry)));
  const tables = grouped(shown, (entry) => {
    const { workload, scale, limit, storage, tier } = cellOf(page, entry);
    return JSON.stringify([workload, scale, limit, storage, tier]);
  });
  return [...tables.values()].map((entries) => mapTable(page, entries, against));
}

function mapTable(page: Page, entries: Entry[], against: Against): MapTable {
  const head = cellOf(page, entries[0] as Entry);
  const columns = new Map<string, Column>();
  const rows = new Map<string, { phase: string | null; variant: string | null; entries: Map<string, Entry> }>();
  for (const entry of entries) {
    const cell = cellOf(page, entry);
    const column = JSON.stringify([cell.engine, cell.result]);
    columns.set(column, { engine: cell.engine, result: cell.result });
    const key = JSON.stringify([entry.phase, cell.variant]);
    const row = rows.get(key) ?? { phase: entry.phase, variant: cell.main ? null : cell.variant, entries: new Map() };
    row.entries.set(column, entry);
    rows.set(key, row);
  }
  // The results of an engine are next to each other.
  const engines = unique([...columns.values()].map((column) => column.engine));
  const ordered = [...columns].sort(
    ([, a], [, b]) => engines.indexOf(a.engine) - engines.indexOf(b.engine) || a.result - b.result,
  );
  return {
    workload: head.workload,
    scale: head.scale,
    limit: head.limit,
    storage: head.storage,
    tier: head.tier,
    columns: ordered.map(([, column]) => column),
    rows: [...rows.values()].map(({ phase, variant, entries }) => {
      const boxes = ordered.map(([key]) => {
        const entry = entries.get(key);
        return entry ? { cell: cellOf(page, entry), entry, ratio: null, interval: null, notSignificant: false } : null;
      });
      return ranked(phase, variant, boxes, against);
    }),
  };
}

/** Sets the row's unit and its ratios. */
function ranked(phase: string | null, variant: string | null, boxes: (Box | null)[], against: Against): MapRow {
  const figures = boxes.flatMap((box) => box?.entry.figure ?? []);
  const perOperation = figures.some((figure) => figure.elapsed_ns === null || figure.ops !== figures[0]?.ops);
  const best = new Map<number, Box>();
  const group = (box: Box) => (against === "own" ? box.cell.result : 0);
  const time = (box: Box) => box.entry.figure?.per_op_ns ?? Infinity;
  const competing = boxes.filter((box) => box?.cell.ranked && !box.entry.tainted && !box.entry.shortfall && box.entry.figure) as Box[];
  for (const box of competing) {
    const known = best.get(group(box));
    if (!known || time(box) < time(known)) best.set(group(box), box);
  }
  // A single engine has nothing to be compared with.
  const alone = (box: Box) => !competing.some((other) => other !== box && group(other) === group(box));
  for (const box of competing.filter((box) => !alone(box))) {
    const first = best.get(group(box)) ?? box;
    const value = time(box) / time(first);
    box.ratio = Number.isFinite(value) ? value : null;
    if (box === first || box.ratio === null) continue;
    box.interval = toTheBest(ratioInterval(box.entry.figure?.per_trial_ns ?? [], first.entry.figure?.per_trial_ns ?? []));
    box.notSignificant = includesOne(box.interval);
    first.notSignificant ||= box.notSignificant;
  }
  return { phase, variant, perOperation, boxes };
}

/** Upper ends of the colour steps of a ratio. A larger ratio has the last step. */
export const STEPS = [1.05, 1.5, 2, 5, 10, 100];

/** Returns the label of each colour step: `≤ 1.05x`, `> 100x`. */
export const stepLabels = (): string[] => [...STEPS.map((end) => `≤ ${end}x`), `> ${STEPS[STEPS.length - 1]}x`];

/** Returns the colour step of a ratio, from 0. */
export function step(ratio: number): number {
  const place = STEPS.findIndex((end) => ratio <= end);
  return place < 0 ? STEPS.length : place;
}
