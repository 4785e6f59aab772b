/**
 * A table with phases down and engines across: ratio and time in a box, which links to its cell.
 */

import type { Figure, Figures, Phase } from "./data";
import { h } from "../dom";
import { step } from "../fitness";
import { duration, ratio } from "../format";
import type { Known } from "./known";
import { ratioLegend } from "../legend";
import { MARKS } from "../status";
import { walk } from "../walk";

/** The style of a box of a failed phase. */
const FAILED = ["wrong", "failed", "timed out"];

export function phases(known: Known, result: number, figures: Figures, columns: { place: number; engine: number }[]): HTMLElement {
  const head = columns.map(({ engine, place }) => h("th", { scope: "col" }, h("span", {}, known.engineLink(engine, figures.group), figures.marks[place] ? ` ${figures.marks[place]}` : "")));
  let first = true;
  const box = (phase: Phase, { place, engine }: { place: number; engine: number }) => {
    const figure = phase.figures[place] ?? null;
    if (figure === null) return h("td", { class: "none" });
    const href = known.cellAddress(result, figures, place, phase.variant ?? figures.variant);
    const link = boxLink(figure, `${known.engine(engine).name}, ${labelOf(phase)}`, href, first);
    first = false;
    return h("td", {}, link);
  };
  const bodies = (["rows", "questions", undefined] as const).flatMap((work) => {
    const own = figures.phases.filter((phase) => phase.work === work);
    if (own.length === 0) return [];
    const title = work === "rows" ? "Rows" : work === "questions" ? "Questions" : "Other phases";
    return [
      h("tr", { class: "model" }, h("th", { colspan: columns.length + 1, scope: "colgroup" }, h("span", {}, title))),
      ...own.map((phase) => h("tr", {}, h("th", { scope: "row" }, h("span", {}, labelOf(phase))), columns.map((column) => box(phase, column)))),
    ];
  });
  const occurring = figures.phases.flatMap(({ figures }) => figures).map((figure) => (Array.isArray(figure) ? figure[6] : "")).join("");
  return h("section", {},
    h("h3", {}, "Phases"),
    h("p", { class: "hint" }, "Ratio to the best of the phase, and the time: of one operation where the row says /op. A box leads to its cell."),
    ratioLegend(MARKS.filter(([mark]) => occurring.includes(mark) || figures.marks.some((own) => own.includes(mark)))),
    h("div", { class: "scroll", keydown: (event) => walk(event as KeyboardEvent) },
      h("table", { class: "map", role: "grid", "aria-label": "Phases: ratio to the best" },
        h("thead", {}, h("tr", {}, h("td"), head)),
        h("tbody", {}, bodies))));
}

const labelOf = ({ phase, variant, per_operation }: Phase): string =>
  (phase ?? "every phase") + (variant ? ` (${variant})` : "") + (per_operation ? " /op" : "");

function boxLink(figure: Exclude<Figure, null>, name: string, href: string, first: boolean): HTMLElement {
  const properties = { href, tabindex: first ? 0 : -1, "data-box": true };
  if (typeof figure === "string") {
    return h("a", { ...properties, class: `box ${FAILED.includes(figure) ? "bad" : "dim"}`, "aria-label": `${name}: ${figure}` }, figure);
  }
  const [ns, low, high, times, least, most, marks] = figure;
  const time = duration(ns);
  const within = low === null || high === null ? "" : `, 95 % interval ${duration(low)} to ${duration(high)}`;
  if (times === null) {
    return h("a", { ...properties, class: "box unranked", "aria-label": `${name}: ${time}${marks}, not ranked`, title: `${time}${within}` }, h("b", {}, "·"), h("small", {}, time + marks));
  }
  const of = least === null || most === null ? "" : ` (${ratio(least)} to ${ratio(most)})`;
  return h("a", { ...properties, class: `box r${step(times)}`, "aria-label": `${name}: ${ratio(times)}${of}, ${time}${marks}`, title: `${ratio(times)}${of}, ${time}${within}` },
    h("b", {}, ratio(times) + (marks.includes("≈") ? " ≈" : "")), h("small", {}, time + marks.replace(/[≈*]/g, "")));
}
