/** Published figures next to measured ones: ratios as a chart, and every figure in a table. */

import * as Plot from "@observablehq/plot";
import { figure, log } from "./chart";
import { colourOf } from "./colours";
import type { Page, Table } from "./data";
import { h, noteList, table } from "./dom";
import { labelAfter } from "./fitness";
import { clipped } from "./format";

/** Fills the section. Leaves it empty if no workload of the results has a source. */
export function published(body: HTMLElement, page: Page): void {
  body.replaceChildren(...page.published.map((one) =>
    h("section", {}, h("h3", {}, one.title + labelAfter(page, one.result, " · ")), drawn(page, one), noteList(one.notes))));
}

/** Ratios need several engines. If only one was measured, the table is enough. */
function drawn(page: Page, one: Table): HTMLElement | null {
  if (one.rows.length === 0) return null;
  const compared = one.rows.some(([label, figures]) => isHere(label) && figures.filter(({ ratio }) => ratio !== undefined).length > 1);
  return compared ? chart(page, one) : table("Published, and below it measured here", ["", ...one.header], texts(one));
}

/** Measured lines are indented below published ones. */
const isHere = (label: string): boolean => label.startsWith(" ");

function chart(page: Page, one: Table): HTMLElement {
  // Labels repeat: every published line has its own "here, process single" below it.
  const places = one.rows.map(([label, figures], index) => ({ label: label.trim(), here: isHere(label), figures, place: String(index) }));
  const points = places.flatMap(({ place, here, figures }) =>
    figures.flatMap(({ ratio }, index) => (ratio === undefined ? [] : [{ place, here, ratio, engine: one.header[index] ?? "" }])));
  const most = Math.max(...points.map(({ ratio }) => ratio));
  const least = Math.min(1, ...points.map(({ ratio }) => ratio));
  const options: Plot.PlotOptions = {
    width: 760,
    height: 70 + 16 * places.length,
    marginLeft: 230,
    marginTop: 44,
    color: { domain: one.header, range: one.header.map((engine) => colourOf(page, engine, one.header)), legend: true },
    x: { ...log("time over that of the line's best", (value) => `${Number(value.toPrecision(1))}x`, [least, most]), axis: "top", labelOffset: 38 },
    y: { domain: places.map(({ place }) => place), label: null, tickSize: 0, tickFormat: (place: string) => clipped(places[Number(place)]?.label ?? "", 36) },
    marks: [
      Plot.ruleY(places.filter(({ here }) => !here), { y: "place", strokeOpacity: 0.15 }),
      Plot.dot(points.filter(({ here }) => !here), { x: "ratio", y: "place", stroke: "engine", strokeWidth: 2, r: 4, className: "m-published" }),
      Plot.dot(points.filter(({ here }) => here), { x: "ratio", y: "place", fill: "engine", r: 4, className: "m-measured" }),
    ],
  };
  const drawn = figure("Ratios: an open dot is published, a full one measured here", options, ["", ...one.header], texts(one));
  drawn.classList.add("wide");
  return drawn;
}

/** Returns the lines as texts: figure and ratio. */
function texts(one: Table): string[][] {
  return one.rows.map(([label, figures]) => [label.trim(), ...figures.map(({ value, second }) => [value, second].filter(Boolean).join(" · "))]);
}
