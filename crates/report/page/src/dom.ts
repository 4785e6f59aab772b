/** Makes elements. Texts only become text nodes, so nothing in the data can become markup. */

import type { Note } from "./data";

type Child = Node | string | null | false | undefined;
type Properties = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

/**
 * Makes an element. Functions are listeners, `true` is an empty attribute, and null and false add
 * nothing.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Properties = {},
  ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== false && child !== undefined) element.append(child);
  }
  return element;
}

/** Makes a table from texts. The first column has the row headings. */
export function table(caption: string, header: string[], rows: string[][]): HTMLElement {
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      { class: "plain" },
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, header.map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, rows.map((row) =>
        h("tr", {}, row.map((text, index) => (index === 0 ? h("th", { scope: "row" }, text) : h("td", {}, text)))),
      )),
    ),
  );
}

/** Makes a list of names with their explanations. */
export function list(rows: [string, string | Node][]): HTMLElement {
  return h("dl", {}, rows.flatMap(([about, says]) => [h("dt", {}, about), h("dd", {}, says)]));
}

/** Makes a list of notes. */
export function noteList(notes: Note[]): HTMLElement {
  return list(notes.map(({ about, says }) => [about, says]));
}

/**
 * Replaces the children of an element. The focus stays on the element with the same `data-key`, so
 * that a reader with a keyboard goes on where they are.
 */
export function redraw(body: HTMLElement, ...children: (Node | string)[]): void {
  const focused = document.activeElement;
  const key = focused instanceof HTMLElement && body.contains(focused) ? focused.dataset.key : undefined;
  body.replaceChildren(...children);
  if (key === undefined) return;
  [...body.querySelectorAll<HTMLElement>("[data-key]")].find((element) => element.dataset.key === key)?.focus();
}

/** Returns the element with an id that the page's template has. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element '${id}'`);
  return element;
}

/** Removes duplicates and keeps the order. */
export function unique<T>(values: Iterable<T>): T[] {
  return [...new Set(values)];
}

/** Groups values by a key, in the order in which the keys occur first. */
export function grouped<K, T>(values: Iterable<T>, key: (value: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const value of values) {
    const group = groups.get(key(value));
    if (group) group.push(value);
    else groups.set(key(value), [value]);
  }
  return groups;
}
