/** Shows the summary of an engine: ratio, interval, and a bar of both. */

import type { Stands } from "./data";
import { h } from "../dom";
import { duration, ratio } from "../format";

/**
 * Returns the ratio of an engine that answered every phase. Null for others, which have no rank.
 */
export const placeOf = (stands: Stands): number | null =>
  Array.isArray(stands) && stands[4] === stands[5] ? stands[0] : null;

/** Makes the content of a box of the ranking. */
export function shown(stands: Stands, most: number): (Node | string)[] {
  if (stands === null) return ["-"];
  if (typeof stands === "string") return [h("span", { class: "apart" }, stands)];
  const [times, low, high, ns, answered, of, marks] = stands;
  const part = answered < of ? ` ${answered}/${of}` : "";
  const best = /[*≈]/.test(marks);
  return [
    h(best ? "b" : "span", { title: `${duration(ns)} an operation, a geometric mean over ${answered} of ${of} phases` }, (times === null ? duration(ns) : ratio(times)) + marks + part),
    h("small", {}, low === null || high === null ? "" : ` ${ratio(low).slice(0, -1)}–${ratio(high)}`),
    ...(times === null || answered < of ? [] : [bar(times, low, high, most)]),
  ];
}

/** Width of a bar. Its axis starts at 1x and is logarithmic. */
const WIDTH = 100;

/**
 * Makes a bar of a ratio from 1 up, on a logarithmic axis to `most`, with its interval. The figures
 * are next to it.
 */
function bar(times: number, low: number | null, high: number | null, most: number): SVGElement {
  const x = (value: number) => (WIDTH * Math.min(1, Math.log(Math.max(1, value)) / Math.log(Math.max(1.5, most)))).toFixed(1);
  const drawn = svg("svg", { viewBox: `0 0 ${WIDTH} 6`, class: "interval", "aria-hidden": "true", preserveAspectRatio: "none" });
  drawn.append(svg("rect", { class: "ratio", x: "0", y: "1", height: "4", width: String(Math.max(0.8, Number(x(times)))) }));
  if (low !== null && high !== null) {
    drawn.append(svg("rect", { class: "ends", x: x(low), y: "2.2", height: "1.6", width: String(Math.max(0.8, Number(x(high)) - Number(x(low)))) }));
  }
  return drawn;
}

function svg(name: string, properties: Record<string, string>): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(properties)) element.setAttribute(key, value);
  return element;
}
