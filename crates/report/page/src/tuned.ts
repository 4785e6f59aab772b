/**
 * Results of `embermark tune`: the best settings of each engine, their gain and cost, and lines to
 * paste.
 */

import type { Grid, Tuning } from "./data";
import { h, noteList, table } from "./dom";

/** Fills the section. */
export function tuned(body: HTMLElement, { overview, engines }: Tuning): void {
  body.replaceChildren(grid(overview, "engine"), ...engines.map(({ title, notes, better, candidates }) =>
    h("section", {}, h("h3", {}, title),
      noteList(notes),
      better && [grid(better.because, "setting"), pasted("In a program", better.program), pasted("In a plan file", better.plan)],
      h("details", { open: !better }, h("summary", {}, `${candidates.rows.length} candidates`), grid(candidates, "candidate")))));
}

function grid({ title, header, rows }: Grid, first: string): HTMLElement {
  return table(title, [first, ...header], rows.map(([name, texts]) => [name, ...texts.map(({ value }) => value)]));
}

function pasted(title: string, text: string): HTMLElement {
  return h("figure", {}, h("figcaption", {}, title), h("pre", {}, text));
}
