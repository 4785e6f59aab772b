/** From entries to the fitness map: which boxes there are, and each one's ratio to the best shown. */

import type { Cell, Entry, Page, Tier } from "./data";
import { unique } from "./dom";
import { includesOne, ratioInterval, toTheBest } from "./interval";

/** What is shown: by dimension the names that are. */
export type Filters = Record<Dimension, Set<string>>;

export const DIMENSIONS = ["engine", "client", "workload", "scale", "limit", "storage", "tier", "variant", "kind", "how", "result"] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** The language of embermark itself, where no client does the work. */
export const NATIVE = "native";

/** To what a ratio is drawn where several results are shown. */
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
  /** Its time over the best one's of the row; absent when it is not ranked. */
  ratio: number | null;
  /** The 95 % interval of that ratio, cut at 1; absent with fewer than three trials, and for the best itself. */
  interval: [number, number] | null;
  /** The difference to the best is not significant: of the best, that another shares its place. */
  notSignificant: boolean;
}

/** One phase in one variant. */
export interface MapRow {
  phase: string | null;
  variant: string | null;
  /** Times are of one operation: not every engine shown did the same work. */
  perOperation: boolean;
  /** By column. */
  boxes: (Box | null)[];
}

/** One workload at one scale, within one limit of memory, on one storage, in one tier: what may be compared with each other. */
export interface MapTable {
  workload: string;
  scale: string;
  limit?: string;
  storage?: string;
  tier: Tier;
  columns: Column[];
  rows: MapRow[];
}

/** The name of an entry in a dimension. */
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

/** The limit of memory, or that there is none. */
export const limitOf = (cell: { limit?: string }): string => cell.limit ?? "no limit";

/** The imitated storage, or that it is the machine's own disk. */
export const storageOf = (cell: { storage?: string }): string => cell.storage ?? "this machine's";

/** The language that an engine is used from, or that it is embermark itself. */
export const languageOf = (cell: { language?: string }): string => cell.language ?? NATIVE;

/** `1M`, `1M within 256 MiB on sd-a1`. */
export const extentOf = ({ scale, limit, storage }: { scale: string; limit?: string; storage?: string }): string =>
  [scale, limit && `within ${limit}`, storage && `on ${storage}`].filter(Boolean).join(" ");

/** Every name of a dimension, in the order of the data. */
export function names(page: Page, dimension: Dimension): string[] {
  const all = unique(page.entries.map((entry) => nameIn(page, cellOf(page, entry), entry, dimension)));
  const rows = new Map(page.cells.map((cell) => [cell.scale, cell.rows ?? Infinity]));
  if (dimension === "scale") all.sort((a, b) => (rows.get(a) ?? 0) - (rows.get(b) ?? 0));
  const tiers = ["none", "process", "power"];
  if (dimension === "tier") all.sort((a, b) => tiers.indexOf(a) - tiers.indexOf(b));
  return all;
}

/** Filters that show everything. */
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

/** The time of a box in its row's unit, ns. */
export function timeOf(row: { perOperation: boolean }, entry: Entry): number | null {
  if (!entry.figure) return null;
  return row.perOperation ? entry.figure.per_op_ns : entry.figure.elapsed_ns ?? entry.figure.per_op_ns;
}

/** Engines of a result that are not on its machine, which have no column. */
export function absent(page: Page, result: number): string[] {
  const own = page.cells.filter((cell) => cell.result === result);
  const here = new Set(own.filter(({ status }) => status !== "unavailable").map(({ engine }) => engine));
  return unique(own.map(({ engine }) => engine).filter((engine) => !here.has(engine)));
}

/** Whether a cell's engine is on its machine. */
export function isHere(page: Page): (cell: Cell) => boolean {
  const away = page.results.map((_, result) => new Set(absent(page, result)));
  return (cell) => !away[cell.result]?.has(cell.engine);
}

/** The map of what is shown, ratios to the best of it. */
export function build(page: Page, filters: Filters, against: Against): MapTable[] {
  const tables = new Map<string, { head: Cell; entries: Entry[] }>();
  const here = isHere(page);
  for (const entry of page.entries) {
    const cell = cellOf(page, entry);
    if (!isShown(page, entry, filters) || !here(cell)) continue;
    const key = JSON.stringify([cell.workload, cell.scale, cell.limit, cell.storage, cell.tier]);
    const known = tables.get(key);
    if (known) known.entries.push(entry);
    else tables.set(key, { head: cell, entries: [entry] });
  }
  return [...tables.values()].map(({ head, entries }) => mapTable(page, head, entries, against));
}

function mapTable(page: Page, head: Cell, entries: Entry[], against: Against): MapTable {
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
  // An engine's results stand beside each other.
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

/** The row with its unit and its ratios. */
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
  // Who is alone is compared with nobody.
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

/** Upper ends of the colour steps of a ratio; what is beyond the last is the last step. */
export const STEPS = [1.05, 1.5, 2, 5, 10, 100];

/** The colour step of a ratio, from 0. */
export function step(ratio: number): number {
  const place = STEPS.findIndex((end) => ratio <= end);
  return place < 0 ? STEPS.length : place;
}
