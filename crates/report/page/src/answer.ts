/** What the run ended with on the terminal: what to take, and a line for each engine. */

import type { Page } from "./data";
import { h, list, table } from "./dom";

/** Fills the section; nothing where no rows were committed one by one. */
export function answer(body: HTMLElement, page: Page): void {
  const answers = page.answer.map((one) => {
    const told = page.results.length > 1 ? `${page.results[one.result]?.label}` : "";
    const rows = one.rows.map(([label, texts]) => [label, ...texts.map(({ value, marks }) => value + (marks ?? ""))]);
    const [take, legend] = [one.notes.filter((note) => note.about !== ""), one.notes.filter((note) => note.about === "")];
    return h("section", {},
      list(take.map((note) => [note.about, note.says])),
      table(told, ["", ...one.header], rows),
      h("p", { class: "hint" }, legend.map((note) => note.says).join(" · ")));
  });
  body.replaceChildren(...answers);
}
