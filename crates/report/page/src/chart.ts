/** Charts by Observable Plot. Each has a table with the same figures. */

import * as Plot from "@observablehq/plot";
import { colours, engines, symbolAt } from "./colours";
import { grouped, h, table } from "./dom";
import { clipped, duration } from "./format";
import { cellOf } from "./fitness";
import { choices } from "./state";
import { BY_URL } from "./status";
import type { Cell, Entry, Page } from "./data";
import type { State } from "./state";

/** One line of the charts: an engine, or an engine in one result. */
export interface Series {
  name: string;
  colour: string;
  symbol: ReturnType<typeof symbolAt>;
}

/** Returns the series of the slice. */
export function series(state: State): (cell: Cell) => Series {
  const [competing, references] = [engines(state.page, false), engines(state.page, true)];
  const colour = colours(state.page);
  const several = (choices(state)[0]?.chosen ?? "") === "" && state.page.results.length > 1;
  return (cell) => {
    const place = Math.max(competing.indexOf(cell.engine), references.indexOf(cell.engine));
    const engine = cell.engine + (cell.kind === "reference" ? " (ref)" : "") + (cell.by_url ? BY_URL : "");
    return {
      name: engine + (several ? ` @ ${state.page.results[cell.result]?.label}` : ""),
      colour: colour(cell.engine),
      symbol: symbolAt(several ? cell.result : place),
    };
  };
}

/** Returns the scales of colour and symbol for these series. */
export function scales(all: Series[]): Pick<Plot.PlotOptions, "color" | "symbol"> {
  const domain = all.map(({ name }) => name);
  return {
    color: { domain, range: all.map(({ colour }) => colour) },
    symbol: { domain, range: all.map(({ symbol }) => symbol) },
  };
}

/** Explains the colours and symbols of the charts. */
export function legend(all: Series[]): HTMLElement {
  return h("ul", { class: "series" }, all.map(({ name, colour, symbol }) => {
    const mark = Plot.plot({
      width: 18, height: 18, margin: 0, axis: null, x: { domain: [-1, 1] }, y: { domain: [-1, 1] },
      marks: [Plot.dot([[0, 0]], { symbol, stroke: colour, fill: colour, fillOpacity: 0.35, r: 5 })],
    });
    mark.setAttribute("aria-hidden", "true");
    return h("li", {}, mark, name);
  }));
}

/** Returns the series of entries, without duplicates. */
export function seriesOf(page: Page, entries: Entry[], of: (cell: Cell) => Series): Series[] {
  return [...new Map(entries.map((entry) => of(cellOf(page, entry))).map((one) => [one.name, one])).values()];
}

/** Makes a chart with its title, a text below it, and its table. */
export function figure(title: string, options: Plot.PlotOptions, header: string[], rows: string[][], says = ""): HTMLElement {
  const svg = Plot.plot({
    width: 340, height: 240, marginLeft: 58, marginBottom: 36,
    style: { background: "transparent", fontSize: "11px" },
    ...options,
  });
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${title}; the table below has the same figures`);
  return h("figure", {}, h("figcaption", {}, title, says && h("small", {}, says)), svg,
    h("details", {}, h("summary", {}, "Table"), table(title, header, rows)));
}

/** Formats an amount at an axis, without trailing zeros. */
export const shortest = (amount: string): string => amount.replace(/\.0+( |x|$)/, "$1");

/** Formats a duration at an axis. */
export const tick = (ns: number): string => shortest(duration(ns));

/** Formats a number of rows at an axis: `10k`. */
export function rowsTick(rows: number): string {
  if (rows >= 1e6) return `${rows / 1e6}M`;
  return rows >= 1e3 ? `${rows / 1e3}k` : String(rows);
}

/**
 * Makes a logarithmic scale. It has ticks at 1, and at 2 and 5 too if the values span no more than
 * `dense` times the least.
 */
export function log(label: string, tickFormat: (value: number) => string, values: number[], dense = 300): Plot.ScaleOptions {
  const least = Math.min(...values);
  const most = Math.max(...values);
  const steps = most / least > dense ? [1] : [1, 2, 5];
  const ticks: number[] = [];
  for (let power = 10 ** Math.floor(Math.log10(least)); power <= most; power *= 10) {
    ticks.push(...steps.map((step) => step * power).filter((tick) => tick >= least && tick <= most));
  }
  // Values closer together than two ticks have none between them.
  return { type: "log", label, tickFormat, ticks: ticks.length > 0 ? ticks : [least], grid: true };
}

/** Makes a line for each name, one below the other. */
export function byName(names: string[]): Plot.PlotOptions {
  return {
    height: 34 + 24 * names.length,
    marginTop: 6,
    marginBottom: 28,
    marginLeft: 12 + 6.2 * Math.max(...names.map((name) => clipped(name, 22).length)),
    y: { label: null, domain: names, tickFormat: (name: string) => clipped(name, 22) },
  };
}

/** Returns the entries of each phase, in the order of the data. */
export function byPhase(entries: Entry[]): [string, Entry[]][] {
  return [...grouped(entries.filter(({ phase }) => phase !== null), ({ phase }) => phase ?? "")];
}
