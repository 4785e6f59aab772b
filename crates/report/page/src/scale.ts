/** Time against rows: a small chart for each phase, with the growth of each engine's time. */

import * as Plot from "@observablehq/plot";
import { byName, byPhase, figure, log, rowsTick, scales, type Series, tick } from "./chart";
import type { Cell, Entry, Growth, Page, PhaseScaling, Within } from "./data";
import { h, table, unique } from "./dom";
import { cellOf } from "./fitness";
import { clipped, duration, orDash } from "./format";
import { choices, type State } from "./state";
import { marks } from "./status";

/** Size of a small chart, in pixels. */
const SMALL = { width: 310, height: 176, marginTop: 8, marginRight: 104, marginBottom: 22, marginLeft: 44 };
/** Smallest distance of two labels, and the longest name in one. */
const LABEL = { apart: 11, longest: 11 };
/** Number of changes of order and unusual costs that are shown before the rest is folded. */
const MOST_LINES = 5;

/** Explains the charts in one line. */
export function scaleHint(state: State, entries: Entry[]): string {
  const scales = unique(entries.map((entry) => cellOf(state.page, entry).scale));
  const bars = entries.some((entry) => entry.figure?.interval_ns) ? "a bar is the 95 % interval, " : "";
  const lines = scales.length < 2
    ? " There is one scale only: a run with --scale 1k,10k,100k has lines over the rows."
    : " Next to each line is its exponent. 0: more rows cost nothing. 1: ten times the rows take ten times the time. ↗ steeper at the end, ↘ flatter. ? a surprise without an explanation.";
  return `Time of one operation, by powers of ten; ${bars}a small dot is a trial, and a cross an outlier. Engines that failed or answered wrongly are not drawn.${lines}`;
}

/**
 * Whether scaling data belongs to the workload, tier and conditions of a cell. Scales are compared
 * only within these.
 */
const isOf = (cell: Cell, one: Within): boolean =>
  one.workload === cell.workload && one.tier === cell.tier && one.memory_limit_bytes === cell.memory_limit_bytes && one.storage === cell.storage;

/** The scaling data of a phase. */
function scalingOf(page: Page, cell: Cell, phase: string | null): PhaseScaling | undefined {
  return page.scaling[cell.result]?.phases.find((one) =>
    isOf(cell, one) && one.variant === cell.variant && one.phase === phase);
}

const growthOf = (page: Page, entry: Entry): Growth | undefined => {
  const cell = cellOf(page, entry);
  return scalingOf(page, cell, entry.phase)?.growth.find(({ engine }) => engine === cell.engine);
};

/** Formats two decimals. A value that rounds to 0 has no sign. */
const slope = (exponent: number): string => exponent.toFixed(2).replace(/^-(0\.00)$/, "$1");

/** Whether a time is unusual and not explained. */
function unexplained(page: Page, entry: Entry): boolean {
  const cell = cellOf(page, entry);
  return (page.scaling[cell.result]?.surprises ?? []).some((one) =>
    !one.explained && one.engine === cell.engine && one.scale === cell.scale && one.phase === entry.phase &&
    isOf(cell, one) && one.variant === cell.variant);
}

/** Formats an exponent: `0.62 ↗`. */
function exponent({ exponent, steps, bends }: Growth): string {
  const bend = (steps[steps.length - 1]?.exponent ?? 0) - (steps[0]?.exponent ?? 0);
  return slope(exponent) + (bends ? (bend > 0 ? " ↗" : " ↘") : "");
}

/** Formats an exponent with its steps: `0.62^ (1k to 10k 0.12, 10k to 100k 1.08)`. */
function inFull(growth: Growth): string {
  const steps = growth.steps.map(({ from, to, exponent }) => `${from} to ${to} ${slope(exponent)}`).join(", ");
  return slope(growth.exponent) + (growth.stopped ? "^" : "") + (growth.steps.length > 1 ? ` (${steps})` : "");
}

/**
 * Lists the changes of order and the unusual costs, for the slice and the engines that are shown.
 */
export function scaleSaid(state: State, entries: Entry[]): HTMLElement[] {
  const { page } = state;
  const [first] = entries;
  if (!first) return [];
  const cell = cellOf(page, first);
  const shown = (result: number, engine: string) =>
    entries.some((entry) => cellOf(page, entry).engine === engine && cellOf(page, entry).result === result);
  const several = (choices(state)[0]?.chosen ?? "") === "" && page.results.length > 1;
  const named = (result: number, says: string) => (several ? `${page.results[result]?.label}: ${says}` : says);
  const of = (one: Within) => isOf(cell, one);
  const turns = page.scaling.flatMap((scaling, result) =>
    scaling.turns.filter((turn) => of(turn) && shown(result, turn.before) && shown(result, turn.after))
      .map(({ says }) => named(result, says)));
  const surprises = page.scaling.flatMap((scaling, result) =>
    scaling.told.filter((one) => of(one) && shown(result, one.engine)).map(({ engine, says }) => named(result, `${engine}: ${says}`)));
  const lines = unique(entries.map((entry) => cellOf(page, entry).scale)).length > 1;
  const few = lines && page.scaling.some((scaling) => scaling.phases.some((one) => of(one) && one.few_trials));
  return [
    ...listed("Order turns", turns),
    ...(few && turns.length === 0 ? [h("p", {}, "Whether the order turns is unknown: it needs 3 trials or more to show that an order is not chance.")] : []),
    ...listed("Surprises", surprises),
  ];
}

/** Makes a list under a heading. Items beyond the first ones are folded. */
function listed(heading: string, all: string[]): HTMLElement[] {
  if (all.length === 0) return [];
  const items = (texts: string[]) => h("ul", {}, texts.map((text) => h("li", {}, text)));
  const more = all.slice(MOST_LINES);
  const folded = more.length > 0 && h("details", {}, h("summary", {}, `${more.length} more`), items(more));
  return [h("div", {}, h("h4", {}, heading), items(all.slice(0, MOST_LINES)), folded)];
}

/** One figure as it is drawn. */
interface Point {
  x: number;
  y: number;
  z: string;
  entry: Entry;
}

/**
 * Draws time against rows, with a chart for each phase, and below them all exponents in one table.
 */
export function scaleCharts(page: Page, entries: Entry[], of: (cell: Cell) => Series, all: Series[]): HTMLElement[] {
  const figures = byPhase(entries).flatMap(([phase, parts]) => {
    const points = parts.flatMap((entry): Point[] => {
      const cell = cellOf(page, entry);
      if (!entry.figure || !cell.rows || !(entry.figure.per_op_ns > 0)) return [];
      return [{ x: cell.rows, y: entry.figure.per_op_ns, z: of(cell).name, entry }];
    });
    return points.length > 0 ? [chart(page, phase, points, all)] : [];
  });
  const grown = exponents(page, entries, of);
  return grown ? [...figures, grown] : figures;
}

function chart(page: Page, phase: string, points: Point[], all: Series[]): HTMLElement {
  const trials = points.flatMap(({ x, z, entry }) =>
    (entry.figure?.per_trial_ns ?? []).map((y, place) => ({ x, y, z, apart: entry.figure?.outliers.includes(place) }))
      .filter(({ y }) => y > 0));
  const bars = points.flatMap(({ x, z, entry }) => {
    const [y1, y2] = entry.figure?.interval_ns ?? [0, 0];
    return y1 > 0 ? [{ x, y1, y2, z }] : [];
  });
  const xs = unique(points.map(({ x }) => x)).sort((a, b) => a - b);
  const names = unique(points.map(({ z }) => z));
  const values = [...points, ...trials].map(({ y }) => y);
  const time = log("time of one operation", tick, values);
  const title = ({ x, y, z, entry }: Point) => `${z}, ${rowsTick(x)} rows: ${duration(y)}${marks(entry)}`;
  const alone = trials.filter(({ apart }) => !apart);
  const apart = trials.filter(({ apart }) => apart);
  // One scale has no lines to draw, so engines are side by side.
  const one = (): Plot.PlotOptions => ({
    ...scales(all),
    ...byName(points.map(({ z }) => z)),
    // Fewer ticks than of a vertical axis: their texts are beside each other.
    x: { ...log("", tick, values, 30), label: null },
    marks: [
      Plot.ruleY(bars, { x1: "y1", x2: "y2", y: "z", stroke: "z", strokeWidth: 2, className: "m-interval" }),
      Plot.dot(alone, { x: "y", y: "z", fill: "z", r: 1.4, fillOpacity: 0.6, className: "m-trial" }),
      Plot.dot(apart, { x: "y", y: "z", stroke: "z", symbol: "times", r: 3, className: "m-outlier" }),
      Plot.dot(points, { x: "y", y: "z", stroke: "z", symbol: "z", r: 4, className: "m-time", title }),
    ],
  });
  const lines = (): Plot.PlotOptions => {
    const labels = labelled(page, points, names, values);
    return {
      ...scales(all),
      ...SMALL,
      x: { type: "log", label: null, ticks: xs, tickFormat: rowsTick, insetLeft: 6, insetRight: 6 },
      y: { ...time, label: null, domain: [Math.min(...values), Math.max(...values)] },
      marks: [
        Plot.link(labels, { x1: "x", y1: "y", x2: "end", y2: "at", stroke: "z", strokeWidth: 1, strokeOpacity: 0.5, strokeDasharray: "2 2" }),
        Plot.line(points, { x: "x", y: "y", z: "z", stroke: "z", strokeWidth: 1.5, sort: "x" }),
        Plot.ruleX(bars, { x: "x", y1: "y1", y2: "y2", stroke: "z", strokeWidth: 2, className: "m-interval" }),
        Plot.dot(alone, { x: "x", y: "y", fill: "z", r: 1.2, fillOpacity: 0.6, className: "m-trial" }),
        Plot.dot(apart, { x: "x", y: "y", stroke: "z", symbol: "times", r: 3, className: "m-outlier" }),
        Plot.dot(points, { x: "x", y: "y", stroke: "z", symbol: "z", r: 3, className: "m-time", title }),
        Plot.text(points.filter(({ entry }) => unexplained(page, entry)), {
          x: "x", y: "y", text: () => "?", dx: -9, fontSize: 15, fontWeight: 700, fill: "currentColor", className: "m-surprise",
        }),
        Plot.text(labels, { x: "end", y: "at", text: "says", dx: 3, textAnchor: "start", fontSize: 10, fill: "currentColor", className: "m-exponent" }),
      ],
    };
  };
  const rows = names.map((name) => {
    const own = points.filter((point) => point.z === name);
    const growth = own[0] && growthOf(page, own[0].entry);
    return [name, ...(xs.length > 1 ? [orDash(growth, inFull)] : []), ...xs.map((x) => {
      const point = own.find((point) => point.x === x);
      const interval = point?.entry.figure?.interval_ns;
      const within = interval ? ` (${duration(interval[0])} to ${duration(interval[1])})` : "";
      return orDash(point, ({ y, entry }) => duration(y) + marks(entry) + within);
    })];
  });
  const header = ["engine", ...(xs.length > 1 ? ["exponent"] : []), ...xs.map((x) => `${rowsTick(x)} rows`)];
  return figure(phase, xs.length > 1 ? lines() : one(), header, rows, fastest(page, points));
}

/** Names the fastest engines by scale, if all of them are shown. */
function fastest(page: Page, points: Point[]): string {
  const cells = points.map(({ entry }) => cellOf(page, entry));
  const [cell] = cells;
  if (!cell || cells.some(({ result }) => result !== cell.result)) return "";
  const one = scalingOf(page, cell, points[0]?.entry.phase ?? null);
  const shown = (engine: string) => cells.some((other) => other.engine === engine);
  return one?.fastest.every(({ engines }) => engines.every(shown)) ? one.leading : "";
}

/**
 * Places each line's name and exponent at its end, from the slowest to the fastest, without
 * overlaps.
 */
function labelled(page: Page, points: Point[], names: string[], values: number[]) {
  const room = SMALL.height - SMALL.marginTop - SMALL.marginBottom;
  const [least, most] = [Math.log(Math.min(...values)), Math.log(Math.max(...values))];
  const xs = points.map(({ x }) => x);
  const [first, last] = [Math.min(...xs), Math.max(...xs)];
  const ends = names.map((z) => {
    const own = points.filter((point) => point.z === z).sort((a, b) => b.x - a.x);
    const end = own[0] as Point;
    const growth = growthOf(page, end.entry);
    const place = room * (1 - (Math.log(end.y) - least) / (most - least || 1));
    return { ...end, place, says: clipped(z.replace(" (ref)", ""), LABEL.longest) + (growth ? ` ${exponent(growth)}` : "") };
  }).sort((a, b) => a.place - b.place);
  const apart = Math.min(LABEL.apart, room / Math.max(1, ends.length - 1));
  // Moves labels down in order, each below the one before, and then up again from the bottom.
  for (let at = 1; at < ends.length; at += 1) push(ends, at, at - 1, (own, other) => Math.max(own, other + apart));
  const bottom = ends[ends.length - 1];
  if (bottom) bottom.place = Math.min(bottom.place, room);
  for (let at = ends.length - 2; at >= 0; at -= 1) push(ends, at, at + 1, (own, other) => Math.min(own, other - apart));
  return ends.map((end) => ({
    ...end, end: last * (last / first) ** 0.08, at: Math.exp(least + (1 - end.place / room) * (most - least)),
  }));
}

function push(ends: { place: number }[], at: number, beside: number, move: (own: number, other: number) => number): void {
  const [own, other] = [ends[at], ends[beside]];
  if (own && other) own.place = move(own.place, other.place);
}

/** Makes the table of exponents, with phases down and engines across. */
function exponents(page: Page, entries: Entry[], of: (cell: Cell) => Series): HTMLElement | null {
  const grown = entries.flatMap((entry) => {
    const growth = entry.phase === null ? undefined : growthOf(page, entry);
    return growth ? [{ phase: entry.phase ?? "", name: of(cellOf(page, entry)).name, growth }] : [];
  });
  if (grown.length === 0) return null;
  const names = unique(grown.map(({ name }) => name));
  const rows = unique(grown.map(({ phase }) => phase)).map((phase) =>
    [phase, ...names.map((name) => orDash(grown.find((one) => one.phase === phase && one.name === name), ({ growth }) => exponent(growth) + (growth.stopped ? "^" : "")))]);
  return h("details", { class: "wide" }, h("summary", {}, "Every exponent"),
    table("Exponent of the time of one operation against rows", ["", ...names], rows));
}
