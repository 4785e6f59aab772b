/** The choices above a table, with one select for each. */

import { choosing } from "./address";
import type { Group } from "./data";
import { h, unique } from "../dom";
import { compare, type Facet, FACETS, type Known, NONE } from "./known";
import { TIERS } from "../status";

/** A choice as it is shown. */
export interface Select {
  name: string;
  label: string;
  /** Value and text. */
  options: [string, string][];
  value: string;
}

/** Returns the chosen group, or else the most informative one, with the choices that lead to it. */
export function pick(known: Known, groups: number[], chosen: URLSearchParams): { group?: number; selects: Select[] } {
  let left = groups;
  const selects = FACETS.map((facet) => {
    const of = (place: number) => facet.of(known, known.group(place));
    const options = unique(left.map(of));
    const wanted = chosen.get(facet.name);
    const value = wanted !== null && options.includes(wanted) ? wanted : usual(known, facet, left);
    const ordered = inOrder(known, facet, left, options);
    left = left.filter((place) => of(place) === value);
    return { name: facet.name, label: facet.label, value, options: ordered.map((option): [string, string] => [option, option === NONE && facet.none ? facet.none : option]) };
  });
  return { group: left[0], selects };
}

/** Returns the value of the most informative group, for a reader who has not chosen. */
function usual(known: Known, facet: Facet, groups: number[]): string {
  const most = groups.reduce<number | undefined>((most, group) => (most === undefined || saysMore(known, group, most) ? group : most), undefined);
  return most === undefined ? "" : facet.of(known, known.group(most));
}

/** Whether one group is more informative than another. The first property that differs decides. */
function saysMore(known: Known, one: number, other: number): boolean {
  const [a, b] = [known.worth(one), known.worth(other)];
  const at = a.findIndex((value, place) => value !== b[place]);
  return at >= 0 && (a[at] ?? 0) > (b[at] ?? 0);
}

function inOrder(known: Known, facet: Facet, groups: number[], options: string[]): string[] {
  const rows = new Map(groups.map((place): [string, number] => {
    const group: Group = known.group(place);
    return [group.scale, group.rows ?? Infinity];
  }));
  return options.sort((a, b) => {
    if (facet.name === "scale") return (rows.get(a) ?? 0) - (rows.get(b) ?? 0) || compare(a, b);
    if (facet.name === "tier") return TIERS.indexOf(a) - TIERS.indexOf(b);
    return Number(b === NONE) - Number(a === NONE) || compare(a, b);
  });
}

/** Makes a form of selects. A select without a choice is a text. */
export function form(selects: Select[]): HTMLElement {
  return h("div", { class: "panel choices", role: "group", "aria-label": "Choose" }, selects.map(({ name, label, options, value }) => {
    const id = `choose-${name}`;
    if (options.length < 2) return h("p", {}, h("span", {}, label), ` ${options[0]?.[1] ?? "none"}`);
    const select = h("select", { id, change: () => {
      location.hash = choosing({ [name]: select.value });
    } }, options.map(([option, says]) => h("option", { value: option, selected: option === value }, says)));
    return h("div", {}, h("label", { for: id }, label), select);
  }));
}

/**
 * Makes boxes to tick for engines, by id and name. The address has the engines that are left out.
 */
export function engineBoxes(engines: [string, string][], without: Set<string>): HTMLElement {
  const boxes = engines.map(([id, name]) => {
    const box = h("input", { type: "checkbox", id: `with-${id}`, checked: !without.has(id), change: () => {
      const left = new Set(without);
      if (box.checked) left.delete(id);
      else left.add(id);
      location.hash = choosing({ without: left.size > 0 ? [...left].join(",") : null });
    } });
    return h("label", {}, box, ` ${name}`);
  });
  const all = h("button", { type: "button", class: "small", id: "with-all", click: () => {
    location.hash = choosing({ without: null });
  } }, "all");
  return h("details", { class: "panel", open: without.size > 0 }, h("summary", {}, "Choose engines"), h("fieldset", {}, h("legend", {}, "Engines"), boxes, all));
}

/** Returns the engines that an address leaves out. */
export const leftOut = (chosen: URLSearchParams): Set<string> => new Set((chosen.get("without") ?? "").split(",").filter(Boolean));
