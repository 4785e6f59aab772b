/** A table with headings that sort it. The address keeps the column. */

import { choosing } from "./address";
import { h } from "../dom";
import { bytes, orDash } from "../format";

/** A column: its heading, and the content of a row in it. */
export interface SortColumn<Row> {
  name: string;
  heading: string;
  title?: string;
  /** The content. */
  show: (row: Row) => (Node | string | null | false)[];
  /**
   * The key by which the column sorts. Smaller keys come first, and rows without a key last.
   * Without this function the column does not sort.
   */
  key?: (row: Row) => number | string | null;
}

/** Makes the columns of the resources that are compared over machines. A column without amounts is left out. */
export function usedColumns<Row extends { used: (number | null)[] }>(rows: Row[], title?: string): SortColumn<Row>[] {
  return ["memory", "size on disk", "written"].flatMap((heading, at): SortColumn<Row>[] =>
    rows.some((row) => row.used[at] !== null) ? [{ name: heading.replaceAll(" ", "-"), heading, title, show: (row) => [orDash(row.used[at], bytes)], key: (row) => row.used[at] ?? null }] : []);
}

/** Sorts the rows by a column. Rows without a key come last. Equal rows keep their order. */
function inOrder<Row>(rows: Row[], key: SortColumn<Row>["key"]): Row[] {
  if (!key) return rows;
  const keyed = rows.map((row): [number | string | null, Row] => [key(row), row]);
  const before = (a: number | string | null, b: number | string | null) =>
    a === b ? 0 : a === null ? 1 : b === null ? -1 : a < b ? -1 : 1;
  return keyed.sort(([a], [b]) => before(a, b)).map(([, row]) => row);
}

/** Makes the table. The first column has the row headings. */
export function sorted<Row>(caption: string, rows: Row[], columns: SortColumn<Row>[], sort: string | null): HTMLElement {
  const by = columns.find(({ name, key }) => name === sort && key) ?? columns.find(({ key }) => key);
  const heading = (column: SortColumn<Row>) => {
    const { name, heading, title, key } = column;
    if (!key) return h("th", { scope: "col", title }, heading);
    const button = h("button", { type: "button", id: `sort-${name}`, title: title ? `${title}: sort by it` : "sort by it", click: () => {
      location.hash = choosing({ sort: name });
    } }, heading);
    return h("th", { scope: "col", "aria-sort": column === by ? "ascending" : null }, button);
  };
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h("table", { class: "plain ranks" },
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, columns.map(heading))),
      h("tbody", {}, inOrder(rows, by?.key).map((row) => h("tr", {}, columns.map(({ show }, place) =>
        place === 0 ? h("th", { scope: "row" }, show(row)) : h("td", {}, show(row))))))));
}
