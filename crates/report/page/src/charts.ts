/** The charts of one slice: time against rows, latency, resources. */

import * as Plot from "@observablehq/plot";
import { figure, legend, log, rowsTick, scales, type Series, series, seriesOf, shortest, tick } from "./chart";
import type { Cell, Entry, Latency, Page } from "./data";
import { byId, h, unique } from "./dom";
import { cellOf } from "./fitness";
import { amount, clipped, duration, orDash } from "./format";
import { ALL, type Choice, choices, type SliceName, sliced, type State } from "./state";
import { marks } from "./status";

const LABELS: Record<SliceName, string> = {
  result: "result", workload: "workload", tier: "survives", limit: "memory", variant: "variant", scale: "rows (latency, resources)",
};

/** Draws the selects and every chart. */
export function charts(state: State): void {
  const draw = () => {
    byId("slice").replaceChildren(...selects(state, draw));
    // On paper the selects are gone.
    byId("slice-said").textContent = choices(state).filter((choice) => choice.name !== "limit" || isOffered(choice)).map((choice) => `${LABELS[choice.name]}: ${named(state, choice.name, choice.chosen)}`).join("; ");
    const of = series(state);
    const every = sliced(state, true);
    const all = seriesOf(state.page, every.filter((entry) => entry.figure), of);
    byId("engine-legend").replaceChildren(legend(all));
    fill("scale", scaleCharts(state.page, every, of, all), scaleHint(state, every));
    const entries = sliced(state, false);
    fill("latency", latencyCharts(state.page, entries, of, all),
      `By percentile${entries.some((entry) => entry.response) ? "; from the scheduled start of an operation" : ""}. A percentile is shown only where there are enough samples for it: 20 for p95, 100 for p99, 1,000 for p99.9.`);
    fill("resources", resourceCharts(state.page, entries, of, all),
      "Of the engine's own processes: one counted run of every phase, summed, and the largest memory of any; medians over the trials. ^ less than the whole work was done.");
  };
  draw();
}

/** What of the slice is told: results and limits of memory only where there are several. */
const isOffered = ({ name, values }: Choice): boolean => values.length > (name === "result" || name === "limit" ? 1 : 0);

function selects(state: State, draw: () => void): HTMLElement[] {
  return choices(state).filter(isOffered).map(({ name, values, chosen }) => {
    const select = h("select", { name, change: (event) => {
      state.slice[name] = (event.target as HTMLSelectElement).value;
      draw();
      document.querySelector<HTMLSelectElement>(`#slice select[name=${name}]`)?.focus();
    } }, values.map((value) => h("option", { value, selected: value === chosen }, named(state, name, value))));
    return h("label", {}, `${LABELS[name]} `, select);
  });
}

function named(state: State, name: SliceName, value: string): string {
  if (value === ALL) return "all results";
  return name === "result" ? state.page.results[Number(value)]?.label ?? value : value;
}

function fill(id: string, figures: HTMLElement[], hint: string): void {
  const section = byId(id);
  const text = section.querySelector(".hint");
  if (text) text.textContent = figures.length === 0 ? "Nothing of this was measured for what is shown." : hint;
  section.querySelector(".charts")?.replaceChildren(...figures);
}

function scaleHint(state: State, entries: Entry[]): string {
  const scales = unique(entries.map((entry) => cellOf(state.page, entry).scale));
  const bars = entries.some((entry) => entry.figure?.interval_ns) ? "a bar is the 95 % interval, " : "";
  const one = scales.length < 2 ? " There is one scale only: `--scale 1k,10k,100k` draws lines against it." : "";
  return `Time of one operation, by powers of ten; ${bars}a small dot is a trial, a cross one that stands apart. Engines that failed or answered wrongly are not drawn.${one}`;
}

/** Time against rows, a chart for each phase. */
function scaleCharts(page: Page, entries: Entry[], of: (cell: Cell) => Series, all: Series[]): HTMLElement[] {
  return byPhase(entries).flatMap(([phase, parts]) => {
    const points = parts.flatMap((entry) => {
      const cell = cellOf(page, entry);
      if (!entry.figure || !cell.rows || !(entry.figure.per_op_ns > 0)) return [];
      return [{ x: cell.rows, y: entry.figure.per_op_ns, z: of(cell).name, entry }];
    });
    if (points.length === 0) return [];
    const trials = points.flatMap(({ x, z, entry }) =>
      (entry.figure?.per_trial_ns ?? []).map((y, place) => ({ x, y, z, apart: entry.figure?.outliers.includes(place) }))
        .filter(({ y }) => y > 0));
    const bars = points.flatMap(({ x, z, entry }) => {
      const [y1, y2] = entry.figure?.interval_ns ?? [0, 0];
      return y1 > 0 ? [{ x, y1, y2, z }] : [];
    });
    const xs = unique(points.map(({ x }) => x)).sort((a, b) => a - b);
    const time = log("time of one operation", tick, [...points, ...trials].map(({ y }) => y));
    const title = ({ x, y, z, entry }: (typeof points)[number]) => `${z}, ${rowsTick(x)} rows: ${duration(y)}${marks(entry)}`;
    const alone = trials.filter(({ apart }) => !apart);
    const apart = trials.filter(({ apart }) => apart);
    // Of one scale there are no lines to draw: engines stand side by side.
    const one: Plot.PlotOptions = {
      ...scales(all),
      ...byName(points.map(({ z }) => z)),
      x: { ...time, label: null },
      marks: [
        Plot.ruleY(bars, { x1: "y1", x2: "y2", y: "z", stroke: "z", strokeWidth: 2, className: "m-interval" }),
        Plot.dot(alone, { x: "y", y: "z", fill: "z", r: 1.4, fillOpacity: 0.6, className: "m-trial" }),
        Plot.dot(apart, { x: "y", y: "z", stroke: "z", symbol: "times", r: 3, className: "m-outlier" }),
        Plot.dot(points, { x: "y", y: "z", stroke: "z", symbol: "z", r: 4, className: "m-time", title }),
      ],
    };
    const options: Plot.PlotOptions = {
      ...scales(all),
      x: { type: "log", label: "rows", ticks: xs, tickFormat: rowsTick, insetLeft: 8, insetRight: 12 },
      y: time,
      marks: [
        Plot.line(points, { x: "x", y: "y", z: "z", stroke: "z", strokeWidth: 1.5, sort: "x" }),
        Plot.ruleX(bars, { x: "x", y1: "y1", y2: "y2", stroke: "z", strokeWidth: 2, className: "m-interval" }),
        Plot.dot(alone, { x: "x", y: "y", fill: "z", r: 1.4, fillOpacity: 0.6, className: "m-trial" }),
        Plot.dot(apart, { x: "x", y: "y", stroke: "z", symbol: "times", r: 3, className: "m-outlier" }),
        Plot.dot(points, {
          x: "x", y: "y", stroke: "z", symbol: "z", r: 4, className: "m-time",
          title,
        }),
      ],
    };
    const names = unique(points.map(({ z }) => z));
    const rows = names.map((name) => [name, ...xs.map((x) => {
      const point = points.find((point) => point.z === name && point.x === x);
      const interval = point?.entry.figure?.interval_ns;
      const within = interval ? ` (${duration(interval[0])} to ${duration(interval[1])})` : "";
      return orDash(point, ({ y, entry }) => duration(y) + marks(entry) + within);
    })]);
    return [figure(phase, xs.length > 1 ? options : one, ["engine", ...xs.map((x) => `${rowsTick(x)} rows`)], rows)];
  });
}

const PERCENTILES: [string, keyof Latency][] = [["p50", "p50"], ["p95", "p95"], ["p99", "p99"], ["p99.9", "p99_9"], ["max", "max"]];

/** Response times where operations were started at a target rate. */
const shownOf = (entry: Entry): Latency | null => entry.response ?? entry.latency;

/** Percentiles, a chart for each phase that recorded any. */
function latencyCharts(page: Page, entries: Entry[], of: (cell: Cell) => Series, all: Series[]): HTMLElement[] {
  return byPhase(entries).flatMap(([phase, parts]) => {
    const known = parts.filter(shownOf);
    const points = known.flatMap((entry) => PERCENTILES.flatMap(([x, key]) => {
      const y = shownOf(entry)?.[key];
      return y ? [{ x, y, z: of(cellOf(page, entry)).name }] : [];
    }));
    if (points.length === 0) return [];
    const options: Plot.PlotOptions = {
      ...scales(all),
      x: { type: "point", domain: PERCENTILES.map(([name]) => name), label: null },
      y: log("latency", tick, points.map(({ y }) => y)),
      marks: [
        Plot.line(points, { x: "x", y: "y", z: "z", stroke: "z", strokeWidth: 1.5 }),
        Plot.dot(points, {
          x: "x", y: "y", stroke: "z", symbol: "z", r: 3.5, className: "m-percentile",
          title: ({ x, y, z }: (typeof points)[number]) => `${z}, ${x}: ${duration(y)}`,
        }),
      ],
    };
    const rows = known.map((entry) => [
      of(cellOf(page, entry)).name, ...PERCENTILES.map(([, key]) => orDash(shownOf(entry)?.[key], duration)),
    ]);
    return [figure(phase, options, ["engine", ...PERCENTILES.map(([name]) => name)], rows)];
  });
}

interface Metric {
  label: string;
  of: (cell: Cell) => number | undefined;
  show: (value: number) => string;
}

/** Resources of the whole workload, and what each phase that inserts rows wrote: a chart for each. */
function resourceCharts(page: Page, entries: Entry[], of: (cell: Cell) => Series, all: Series[]): HTMLElement[] {
  const cells = unique(entries.map((entry) => cellOf(page, entry)));
  const loads = unique(entries.filter((entry) => entry.phase !== null && entry.loading).map(({ phase }) => phase));
  const metrics: Metric[] = page.resource_columns.map(({ key, about, quantity }) =>
    ({ label: about, of: (cell) => cell.usage[key] as number | undefined, show: amount(quantity) }));
  for (const phase of loads) {
    const known = new Map(entries.filter((entry) => entry.phase === phase).map((entry) => [cellOf(page, entry), entry.loading]));
    metrics.push(...page.load_columns.map(({ key, about, quantity }): Metric =>
      ({ label: `${phase}: ${about}`, of: (cell) => known.get(cell)?.[key], show: amount(quantity) })));
  }
  return metrics.flatMap((metric) => {
    const points = cells.flatMap((cell) => {
      const value = metric.of(cell);
      return typeof value === "number" ? [{ value, z: of(cell).name, mark: cell.usage.incomplete ? "^" : "" }] : [];
    });
    if (points.length === 0 || points.every(({ value }) => value === 0)) return [];
    const options: Plot.PlotOptions = {
      ...scales(all),
      ...byName(points.map(({ z }) => z)),
      marginRight: 64,
      x: { label: null, ticks: 3, tickFormat: (value: number) => shortest(metric.show(value)), grid: true },
      marks: [
        Plot.barX(points, { x: "value", y: "z", fill: "z", className: "m-amount" }),
        Plot.text(points, {
          x: "value", y: "z", dx: 4, textAnchor: "start",
          text: ({ value, mark }: (typeof points)[number]) => metric.show(value) + mark,
        }),
        Plot.ruleX([0]),
      ],
    };
    return [figure(metric.label, options, ["engine", metric.label], points.map(({ z, value, mark }) => [z, metric.show(value) + mark]))];
  });
}

/** A line for each name, one below the other. */
function byName(names: string[]): Plot.PlotOptions {
  return {
    height: 34 + 24 * names.length,
    marginTop: 6,
    marginBottom: 28,
    marginLeft: 12 + 6.2 * Math.max(...names.map((name) => clipped(name, 22).length)),
    y: { label: null, domain: names, tickFormat: (name: string) => clipped(name, 22) },
  };
}

function byPhase(entries: Entry[]): [string, Entry[]][] {
  const phases = new Map<string, Entry[]>();
  for (const entry of entries) {
    if (entry.phase === null) continue;
    phases.set(entry.phase, [...(phases.get(entry.phase) ?? []), entry]);
  }
  return [...phases];
}
