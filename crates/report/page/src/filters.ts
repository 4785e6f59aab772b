/** The panel that chooses what is shown. */

import { choice, keep } from "./address";
import { h, redraw } from "./dom";
import { type Dimension, DIMENSIONS, everything, names } from "./fitness";
import type { State } from "./state";

const LABELS: Record<Dimension, string> = {
  engine: "engine",
  client: "used from",
  workload: "workload",
  scale: "rows",
  limit: "memory",
  storage: "storage",
  tier: "survives",
  variant: "variant",
  kind: "kind",
  how: "done by",
  result: "result",
};

const SAYS: Record<string, string> = {
  none: "none: a commit may be lost with the process",
  process: "process: survives the process being killed",
  power: "power: survives a power cut",
  native: "the engine's own means",
  "client-side": "client code over its scans (~)",
  unknown: "not known",
};

/** Fills the panel. Calls `changed` after every change. Returns a function that fills it again. */
export function filters(panel: HTMLElement, state: State, changed: () => void): () => void {
  const show = () => {
    const groups = DIMENSIONS.flatMap((dimension) => group(state, dimension, changed, show) ?? []);
    const reset = h("button", { type: "button", id: "reset", "data-key": "reset", click: () => {
      state.filters = everything(state.page);
      show();
      changed();
    } }, "Show everything");
    redraw(panel, ...groups, ...against(state, changed), reset);
  };
  show();
  return show;
}

/** Keeps the filters in the page's address, if they do not show everything. */
export function keepFilters(state: State): void {
  for (const dimension of DIMENSIONS) {
    const [all, chosen] = [names(state.page, dimension), state.filters[dimension]];
    keep(dimension, all.every((name) => chosen.has(name)) ? null : all.filter((name) => chosen.has(name)).join(","));
  }
}

/** Applies the filters of the page's address. */
export function restore(state: State): void {
  for (const dimension of DIMENSIONS) {
    const kept = choice(dimension)?.split(",");
    if (kept) state.filters[dimension] = new Set(names(state.page, dimension).filter((name) => kept.includes(name)));
  }
}

/** Makes the choices of one dimension. Null if there is nothing to choose. */
function group(state: State, dimension: Dimension, changed: () => void, show: () => void): HTMLElement | null {
  const all = names(state.page, dimension);
  if (all.length < 2) return null;
  const chosen = state.filters[dimension];
  const boxes = all.map((name) => {
    const input = h("input", { type: "checkbox", name: dimension, value: name, change: (event) => {
      if ((event.target as HTMLInputElement).checked) chosen.add(name);
      else chosen.delete(name);
      changed();
    } });
    input.checked = chosen.has(name);
    const says = dimension === "tier" || dimension === "how" || dimension === "kind" ? SAYS[name] : undefined;
    return h("label", {}, input, h("span", {}, says ?? name));
  });
  const set = (to: string[], text: string) => {
    const what = `${text} of ${LABELS[dimension]}`;
    return h("button", { type: "button", class: "small", "aria-label": what, "data-key": what, click: () => {
      state.filters[dimension] = new Set(to);
      show();
      changed();
    } }, text);
  };
  const few = all.length > 3 ? [set(all, "all"), set([], "none")] : [];
  return h("fieldset", {}, h("legend", {}, LABELS[dimension]), boxes, few);
}

/** Asks for the reference of ratios, if there are several results that were measured alike. */
function against(state: State, changed: () => void): HTMLElement[] {
  if (state.page.results.length < 2 || state.page.unlike.length > 0) return [];
  const option = (value: "own" | "all", text: string) => {
    const input = h("input", { type: "radio", name: "against", value, change: () => {
      state.against = value;
      changed();
    } });
    input.checked = state.against === value;
    return h("label", {}, input, h("span", {}, text));
  };
  const legend = h("legend", {}, "ratio to the best of");
  return [h("fieldset", {}, legend, option("own", "the same result"), option("all", "all results shown"))];
}
