/** The charts of one slice: latency and resources. Time against rows is in `scale.ts`. */

import * as Plot from "@observablehq/plot";
import { byName, byPhase, figure, legend, log, scales, type Series, series, seriesOf, shortest, tick } from "./chart";
import type { Cell, Entry, Latency, Page } from "./data";
import { byId, h, unique } from "./dom";
import { cellOf } from "./fitness";
import { amount, duration, orDash } from "./format";
import { scaleCharts, scaleHint, scaleSaid } from "./scale";
import { ALL, type Choice, choices, type SliceName, sliced, type State } from "./state";

const LABELS: Record<SliceName, string> = {
  result: "result", workload: "workload", tier: "survives", limit: "memory", storage: "storage", variant: "variant", scale: "rows (latency, resources)",
};

/** Draws the selects and every chart. */
export function charts(state: State): void {
  const draw = () => {
    byId("slice").replaceChildren(...selects(state, draw));
    // Printed pages do not have the selects.
    byId("slice-said").textContent = choices(state).filter((choice) => !["limit", "storage"].includes(choice.name) || isOffered(choice)).map((choice) => `${LABELS[choice.name]}: ${named(state, choice.name, choice.chosen)}`).join("; ");
    const of = series(state);
    const every = sliced(state, true);
    const all = seriesOf(state.page, every.filter((entry) => entry.figure), of);
    byId("engine-legend").replaceChildren(legend(all));
    fill("scale", scaleCharts(state.page, every, of, all), scaleHint(state, every));
    byId("scale-said").replaceChildren(...scaleSaid(state, every));
    const entries = sliced(state, false);
    fill("latency", latencyCharts(state.page, entries, of, all),
      `By percentile${entries.some((entry) => entry.response) ? "; from the scheduled start of an operation" : ""}. A percentile is shown only if there are enough samples for it: 20 for p95, 100 for p99, 1,000 for p99.9.`);
    fill("resources", resourceCharts(state.page, entries, of, all),
      `The engine's own processes.${state.page.resource_reading === "" ? "" : ` ${state.page.resource_reading}; medians over the trials.`}${entries.some((entry) => cellOf(state.page, entry).usage.incomplete) ? " A pale bar with ^ is a sum of less than the whole work: do not compare it." : ""}`);
  };
  draw();
}

/** Whether a choice is shown. Results, memory limits and storages are only if there are several. */
const isOffered = ({ name, values }: Choice): boolean => values.length > (["result", "limit", "storage"].includes(name) ? 1 : 0);

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
  if (text) text.textContent = figures.length === 0 ? "There are no measurements of this for the selection." : hint;
  section.querySelector(".charts")?.replaceChildren(...figures);
}

const PERCENTILES: [string, "p50" | "p95" | "p99" | "p99_9" | "max"][] = [["p50", "p50"], ["p95", "p95"], ["p99", "p99"], ["p99.9", "p99_9"], ["max", "max"]];

/** Draws response times if operations were started at a target rate. */
const shownOf = (entry: Entry): Latency | null => entry.response ?? entry.latency;

/** Draws percentiles, with a chart for each phase that recorded them. */
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
  /** Whether less work makes it less. */
  sum: boolean;
  of: (cell: Cell) => number | undefined;
  show: (value: number) => string;
}

/**
 * Draws resources of the whole workload and bytes written by each phase that inserts rows, with a
 * chart for each.
 */
function resourceCharts(page: Page, entries: Entry[], of: (cell: Cell) => Series, all: Series[]): HTMLElement[] {
  const cells = unique(entries.map((entry) => cellOf(page, entry)));
  const loads = unique(entries.filter((entry) => entry.phase !== null && entry.loading).map(({ phase }) => phase));
  const metrics: Metric[] = page.resource_columns.map(({ key, about, quantity, combined }) =>
    ({ label: about, sum: combined === "sum", of: (cell) => cell.usage.amounts[key], show: amount(quantity) }));
  for (const phase of loads) {
    const known = new Map(entries.filter((entry) => entry.phase === phase).map((entry) => [cellOf(page, entry), entry.loading]));
    metrics.push(...page.load_columns.map(({ key, about, quantity }): Metric =>
      ({ label: `${phase}: ${about}`, sum: true, of: (cell) => known.get(cell)?.[key], show: amount(quantity) })));
  }
  return metrics.flatMap((metric) => {
    const points = cells.flatMap((cell) => {
      const value = metric.of(cell);
      return typeof value === "number" ? [{ value, z: of(cell).name, mark: cell.usage.incomplete && metric.sum ? "^" : "" }] : [];
    });
    if (points.length === 0 || points.every(({ value }) => value === 0)) return [];
    const options: Plot.PlotOptions = {
      ...scales(all),
      ...byName(points.map(({ z }) => z)),
      marginRight: 64,
      x: { label: null, ticks: 3, tickFormat: (value: number) => shortest(metric.show(value)), grid: true },
      marks: [
        Plot.barX(points.filter(({ mark }) => mark === ""), { x: "value", y: "z", fill: "z", className: "m-amount" }),
        Plot.barX(points.filter(({ mark }) => mark !== ""), { x: "value", y: "z", fill: "z", fillOpacity: 0.35, className: "m-amount" }),
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
