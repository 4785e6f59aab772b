/** The site: an address names a view, whose data is loaded when it is shown. */

import { type Address, here } from "./address";
import { cell } from "./cell";
import type { Index } from "./data";
import { byId, h } from "../dom";
import { engine, engines } from "./engine";
import { count } from "../format";
import { Known } from "./known";
import { load } from "./load";
import { machine, machines } from "./machine";
import { rankings } from "./rank";
import { drawn, type View } from "./view";

const VIEWS: Record<string, (known: Known, address: Address) => View | Promise<View>> = {
  "": rankings, machines, machine, engines, engine, cell,
};

/** Number of requested views. A view that arrives late is not drawn over a later one. */
let asked = 0;

async function show(known: Known): Promise<void> {
  const own = (asked += 1);
  const address = here();
  const view = VIEWS[address.path[0] ?? ""];
  const main = byId("view");
  main.setAttribute("aria-busy", "true");
  try {
    if (!view || !Object.hasOwn(VIEWS, address.path[0] ?? "")) throw new Error("this site has no such page");
    const made = await view(known, address);
    if (own !== asked) return;
    place(main, drawn(made));
    document.title = `${made.title} · embermark results`;
  } catch (error) {
    if (own !== asked) return;
    const says = error instanceof Error ? error.message : String(error);
    place(main, [h("h2", { tabindex: -1, id: "title" }, "Nothing to show"), h("p", {}, says), h("p", {}, h("a", { href: "#/" }, "To the rankings"))]);
    document.title = "embermark results";
  }
  main.setAttribute("aria-busy", "false");
  main.dataset.shown = location.hash;
}

/** The previous page. */
let before: string | null = null;

/** Shows a view. The focus stays, except on another page, which is shown from its top. */
function place(main: HTMLElement, body: HTMLElement[]): void {
  const focused = document.activeElement?.id ?? "";
  const open = [...main.querySelectorAll("details[open] > summary")].map((summary) => summary.textContent);
  main.replaceChildren(...body);
  for (const summary of main.querySelectorAll("details > summary")) {
    if (open.includes(summary.textContent)) summary.parentElement?.setAttribute("open", "");
  }
  const page = here().path.join("/");
  if (before !== null && page !== before) {
    window.scrollTo(0, 0);
    document.getElementById("title")?.focus();
  } else if (focused) {
    document.getElementById(focused)?.focus();
  }
  before = page;
}

async function main(): Promise<void> {
  const known = new Known(await load<Index>("index"));
  const { results, machines, engines, tool } = known.index;
  const number = (of: number, what: string) => `${count(of)} ${what}${of === 1 ? "" : "s"}`;
  byId("about").textContent = `${number(results.length, "result")} of ${number(machines.length, "machine")} and ${number(engines.length, "engine")}: choose, and compare at equal durability.`;
  byId("tool").textContent = `Made by embermark ${tool}. Every view has an address of its own.`;
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("view").focus();
  });
  window.addEventListener("hashchange", () => void show(known));
  await show(known);
}

main().catch((error: unknown) => {
  const face = byId("face");
  face.hidden = false;
  face.textContent = `This site cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
});
