/** Reads the page's data. */

import { type Page, VERSION } from "./data";

/** Returns the data of the document. Throws if it has another version. */
export function read(document: Document): Page {
  const page = JSON.parse(document.getElementById("data")?.textContent ?? "null") as Page | null;
  if (page?.page !== VERSION) {
    throw new Error(`the data of this page is of version ${page?.page}, and the page reads ${VERSION}`);
  }
  return page;
}
