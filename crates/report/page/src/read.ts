/** Reads what the page is given. */

import { type Page, VERSION } from "./data";

/** The data of the document. Throws where it is of another version. */
export function read(document: Document): Page {
  const page = JSON.parse(document.getElementById("data")?.textContent ?? "null") as Page | null;
  if (page?.page !== VERSION) {
    throw new Error(`the data of this page is of version ${page?.page}, and the page reads ${VERSION}`);
  }
  return page;
}
