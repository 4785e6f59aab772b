/** A view as CSV. */

import { h } from "../dom";

/** A number, a text, or null. */
export type Value = number | string | null | undefined;

/**
 * Returns the text of a file. Numbers stay as they are, and no text can be taken for a formula by a
 * spreadsheet.
 */
export function csv(header: string[], rows: Value[][]): string {
  const line = (values: Value[]) => values.map((value) => quoted(typeof value === "number" ? String(value) : harmless(value ?? ""))).join(",");
  return `${[header, ...rows].map(line).join("\r\n")}\r\n`;
}

/** Formats a cell like `cell` of `crates/model/src/foreign.rs`. */
function harmless(text: string): string {
  const isNumber = text.trim() !== "" && Number.isFinite(Number(text));
  return /^[=+\-@\t\r\n]/.test(text) && !isNumber ? `'${text}` : text;
}

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Makes a button that saves a view. */
export function download(name: string, header: string[], rows: () => Value[][]): HTMLElement {
  return h("button", { type: "button", class: "small", click: () => {
    const url = URL.createObjectURL(new Blob([csv(header, rows())], { type: "text/csv" }));
    h("a", { href: url, download: `${name.replace(/[^\w.-]+/g, "-")}.csv` }).click();
    // The browser has read it by then.
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  } }, "Save as CSV");
}
