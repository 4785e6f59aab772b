/** How and on what the figures were measured, and what may have disturbed them. */

import type { Page } from "./data";
import { h, noteList } from "./dom";

/** Fills the section, result by result. */
export function method(body: HTMLElement, page: Page): void {
  body.replaceChildren(
    h("p", {}, "Every trial is a fresh process in a fresh folder. Trials of all cells are shuffled and interleaved. Every answer is compared, outside the timed part, with one computed only from the rows. An engine that answers wrongly has no figure. A figure is the median over trials of the mean over counted runs. Ratios are only between engines of one durability tier."),
    ...page.results.map((result) => h("section", { class: "result" },
      h("h3", {}, result.label),
      h("p", { class: "hint" }, [result.started, result.machine].filter(Boolean).join(" · ")),
      result.unpublishable.length > 0 && h("p", { class: "face" }, `NOT TO BE PUBLISHED: the licence forbids publishing figures of ${result.unpublishable.join(", ")}`),
      result.warnings.length > 0 && h("div", { class: "warnings" }, h("h4", {}, "Warnings"), h("ul", {}, result.warnings.map((text) => h("li", {}, text)))),
      result.sections.map(({ title, notes }) => [h("h4", {}, title), noteList(notes)]).flat(),
      h("details", {}, h("summary", {}, "Plan and machine"), noteList(result.manifest)))),
  );
}
