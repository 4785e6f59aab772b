/** A view: its title, its content, and its CSV. */

import { download, type Value } from "./csv";
import { h } from "../dom";

export interface View {
  title: string;
  /** Text below the title. */
  about?: (Node | string)[];
  body: (Node | string | false | null)[];
  csv: { name: string; header: string[]; rows: () => Value[][] };
}

/** A view as it is shown. */
export function drawn({ title, about = [], body, csv }: View): HTMLElement[] {
  const copied = h("span", { role: "status" });
  const share = h("button", { type: "button", class: "small", id: "share", click: async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      copied.textContent = " copied";
    } catch {
      copied.textContent = " the address bar has it";
    }
  } }, "Copy the address");
  return [
    h("h2", { tabindex: -1, id: "title" }, title),
    ...(about.length > 0 ? [h("p", { class: "hint" }, about.flatMap((part, place) => (place > 0 ? [" · ", part] : [part])))] : []),
    ...body.map((part) => (typeof part === "string" ? h("p", {}, part) : part)).filter((part): part is HTMLElement => part instanceof HTMLElement),
    h("p", { class: "takes" }, share, " ", download(csv.name, csv.header, csv.rows), copied),
  ];
}
