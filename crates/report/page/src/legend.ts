/** Explains the colours of a table of ratios, and its marks. */

import { h } from "./dom";
import { stepLabels } from "./fitness";

/** Makes the legend. `marks` has each mark with its meaning. */
export function ratioLegend(marks: [string, string][]): HTMLElement {
  return h("div", { class: "legend" },
    h("span", { class: "steps" }, stepLabels().map((text, index) => h("span", { class: `step r${index}` }, text))),
    h("span", { class: "marks" }, marks.map(([mark, says]) => h("span", {}, h("b", {}, mark), ` ${says}`))));
}
