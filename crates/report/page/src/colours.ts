/** Colours and symbols of engines. An engine has one colour on the whole page. */

import type { Page } from "./data";
import { unique } from "./dom";
import { isHere } from "./fitness";

/**
 * Okabe and Ito's colours without black and yellow, each invisible on one of the two backgrounds,
 * and colours that are as far as possible from them and from each other, for the usual vision and
 * for both kinds of red-green blindness. A default run has fewer engines.
 */
export const COLOURS = [
  "#0077bb", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8800ff", "#aa0077", "#775500", "#dd44ff",
  "#ff2266", "#6644aa", "#88bb88", "#8877dd", "#006644", "#dd22aa", "#cc0033", "#ff77dd", "#995588", "#2288ff",
];

/** Reference engines have a colour that no other engine has. */
export const REFERENCE = "#8a8a8a";

/** Their number and that of the colours have no common factor: no two of 140 engines look alike. */
export const SYMBOLS = ["circle", "square", "triangle", "diamond", "cross", "star", "wye"] as const;

/** Returns the symbol of the engine at a place. */
export const symbolAt = (place: number): (typeof SYMBOLS)[number] => SYMBOLS[place % SYMBOLS.length] ?? "circle";

/**
 * Returns the engines of a page that are references, or those that are not. Those that are on a
 * machine come first.
 */
export function engines(page: Page, references: boolean): string[] {
  const own = page.cells.filter((cell) => (cell.kind === "reference") === references);
  return unique([...own.filter(isHere(page)), ...own].map(({ engine }) => engine));
}

/**
 * Returns the colours of the engines of a page. `further` engines, which were not measured, take
 * the next ones.
 */
export function colours(page: Page, further: string[] = []): (engine: string) => string {
  const [competing, references] = [engines(page, false), engines(page, true)];
  const all = unique([...competing, ...further]);
  return (engine) => {
    if (!competing.includes(engine) && references.includes(engine)) return REFERENCE;
    return COLOURS[all.indexOf(engine) % COLOURS.length] ?? REFERENCE;
  };
}

/** Returns the colour of an engine. */
export const colourOf = (page: Page, engine: string, further: string[] = []): string => colours(page, further)(engine);
