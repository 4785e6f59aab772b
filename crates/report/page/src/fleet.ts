/**
 * The page of many devices: results that hold on all of them, the map of devices by engines, and
 * differences between models.
 */

import type { Fleet } from "./data";
import { byId, grouped, h, table, unique } from "./dom";
import { step } from "./fitness";
import { count, counted, duration, ratio } from "./format";
import { ratioLegend } from "./legend";
import { type Standing, standings } from "./standings";

/** Draws the page. */
export function fleet(body: HTMLElement, data: Fleet): void {
  const measured = data.devices.filter((device) => device.lacks === undefined).length;
  const found = unique(data.devices.filter((device) => !device.lacks).map((device) => device.model));
  byId("about").textContent = `${counted(data.devices.length, "device")}, ${count(measured)} with a result, `
    + counted(found.length, "model");
  const missing = data.devices.filter((device) => device.lacks !== undefined);
  const slots = { holds: h("div", { id: "fleet-holds" }), map: h("div", { id: "fleet-map" }), models: h("div", { id: "fleet-models" }) };
  const choice = h("select", { id: "fleet-line" },
    data.lines.length > 1 && h("option", { value: "all" }, "all that was measured, together"),
    data.lines.map((line, place) => h("option", { value: place }, nameOf(line))));
  const draw = () => {
    const chosen = choice.value === "all" ? null : Number(choice.value);
    const view = viewOf(data, chosen);
    slots.holds.replaceChildren(...holds(data, view));
    slots.map.replaceChildren(...map(data, view));
    slots.models.replaceChildren(...models(data, view));
  };
  choice.addEventListener("change", draw);
  body.replaceChildren(
    missing.length > 0 && h("section", { id: "fleet-missing" },
      h("h3", {}, `Without a result: ${count(missing.length)}`),
      h("ul", {}, missing.map((device) => h("li", {}, h("b", {}, device.name), `: ${device.lacks}`)))) || "",
    h("p", { class: "panel" }, h("label", {}, "Of ", choice)),
    h("h3", {}, "What holds on all"),
    h("p", { class: "hint" }, "Engines are ranked by their worst device: their time divided by that of the device's fastest engine. Use this for a product that ships one database on every device."),
    slots.holds,
    h("h3", {}, "Devices by engines"),
    h("p", { class: "hint" }, "A box has the time divided by that of the device's fastest engine, and below it the time of one operation. Both are geometric means over the phases."),
    ratioLegend(MARKS),
    slots.map,
    h("h3", {}, "Between models, and between devices of one model"),
    h("p", { class: "hint" }, "Each model's median time of one operation, divided by that of the fastest model. The spread is the time of the slowest of its devices divided by that of the fastest."),
    slots.models);
  draw();
}

const nameOf = (line: Fleet["lines"][number]): string => `${line.workload} ${line.extent} · durability ${line.tier}`;

/** Figure of an engine on a device over the selected lines: the geometric mean of several. */
export interface Place {
  ratio: number | null;
  ns: number | null;
  whole: boolean;
  best: boolean;
  says: string | null;
}

/** Figures by device and engine, of only the engines that took part. */
export interface View {
  devices: number[];
  engines: number[];
  at: (device: number, engine: number) => Place | undefined;
}

/** Returns the figures of one line, or of all of them. */
export function viewOf(data: Fleet, line: number | null): View {
  const key = (device: number, engine: number) => device * data.engines.length + engine;
  const places = new Map<number, Place>();
  const chosen = standings(data).filter((box) => line === null || box.line === line);
  for (const [device, own] of grouped(chosen, (box) => box.device)) {
    const lines = unique(own.map((box) => box.line)).length;
    for (const [engine, list] of grouped(own, (box) => box.engine)) places.set(key(device, engine), together(list, lines));
  }
  if (line === null) markBest(data, places, key);
  const engines = data.engines.map((_, place) => place)
    .filter((engine) => data.devices.some((_, device) => places.get(key(device, engine))));
  const devices = data.devices.map((_, place) => place)
    .filter((device) => engines.some((engine) => places.get(key(device, engine))));
  return { devices, engines, at: (device, engine) => places.get(key(device, engine)) };
}

/** Words of failures, the worst first. */
const FAILURES = ["wrong", "failed", "timed out", "timed-out"];

/**
 * Combines the lines of a device. An engine that lacks one of them has no complete mean, and one
 * that failed in one of them has no mean.
 */
function together(list: Standing[], lines: number): Place {
  const [only] = list;
  if (lines === 1 && only) {
    const { ratio, ns, whole, best, says } = only;
    return { ratio, ns, whole, best, says };
  }
  const failure = FAILURES.find((word) => list.some(({ says }) => says === word));
  if (failure !== undefined) return { ratio: null, ns: null, whole: false, best: false, says: failure };
  const answered = list.filter((box) => box.ratio !== null);
  const failed = list.find((box) => box.says !== null && box.ratio === null);
  return {
    ratio: mean(answered.flatMap((box) => box.ratio ?? [])),
    ns: mean(answered.flatMap((box) => box.ns ?? [])),
    whole: answered.length === lines && answered.every((box) => box.whole),
    best: false,
    says: answered.length === 0 ? failed?.says ?? null : null,
  };
}

/** Returns the smallest mean over several lines, among engines that have all of them. */
function markBest(data: Fleet, places: Map<number, Place>, key: (device: number, engine: number) => number): void {
  data.devices.forEach((_, device) => {
    const own = data.engines.flatMap((engine, at) => {
      const place = engine.reference ? undefined : places.get(key(device, at));
      return place?.whole && place.ratio !== null ? [place] : [];
    });
    const least = Math.min(...own.map((place) => place.ratio ?? Infinity));
    for (const place of own) place.best ||= place.ratio === least;
  });
}

const mean = (values: number[]): number | null =>
  values.length === 0 ? null : Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] ?? NaN : Math.sqrt((sorted[middle - 1] ?? NaN) * (sorted[middle] ?? NaN));
}

/** An engine over all devices. */
export interface Held {
  engine: number;
  /** Number of devices on which it answered everything. */
  whole: number;
  /** Number of devices that were to run it. */
  of: number;
  worst: number | null;
  /** The device on which it is at its worst. */
  on: number | null;
  mean: number | null;
  /** Number of devices on which it is the best, or not significantly slower than the best. */
  best: number;
}

/**
 * Returns the engines that compete. The one with the smallest worst ratio comes first, and engines
 * that lack something come last.
 */
export function held(data: Fleet, view: View): Held[] {
  const all = view.engines.filter((engine) => !data.engines[engine]?.reference).map((engine): Held => {
    const places = view.devices.flatMap((device) => {
      const place = view.at(device, engine);
      return place ? [{ device, place }] : [];
    });
    const whole = places.filter(({ place }) => place.whole && place.ratio !== null);
    const worst = whole.reduce<(typeof whole)[number] | null>((most, one) => ((one.place.ratio ?? 0) > (most?.place.ratio ?? 0) ? one : most), null);
    return {
      engine, whole: whole.length, of: view.devices.length,
      worst: worst?.place.ratio ?? null, on: worst?.device ?? null,
      mean: mean(whole.flatMap(({ place }) => place.ratio ?? [])),
      best: whole.filter(({ place }) => place.best).length,
    };
  });
  const lacks = (one: Held) => (one.whole < one.of ? 1 : 0);
  return all.sort((a, b) => lacks(a) - lacks(b) || (a.worst ?? Infinity) - (b.worst ?? Infinity));
}

function holds(data: Fleet, view: View): HTMLElement[] {
  const all = held(data, view);
  const [first] = all;
  const name = (place: number) => data.engines[place]?.id ?? "";
  const rows = all.map((one) => [
    name(one.engine) + (data.engines[one.engine]?.unpublishable ? " ‡" : ""),
    one.worst === null ? "-" : ratio(one.worst),
    one.on === null ? "-" : data.devices[one.on]?.name ?? "",
    one.mean === null ? "-" : ratio(one.mean),
    `${count(one.best)} of ${count(one.of)}`,
    one.whole === one.of ? "all" : `${count(one.whole)} of ${count(one.of)}`,
  ]);
  const said = first && first.whole === first.of && first.worst !== null
    ? `${name(first.engine)} holds on ${first.of === 1 ? "the only device" : `all ${count(first.of)}`}: at worst ${ratio(first.worst)} of a device's own best.`
    : nearest(all.map((one) => ({ ...one, name: name(one.engine) })));
  return [
    h("p", { id: "fleet-said" }, said),
    table("Engines over all devices", ["engine", "at worst", "on", "mean", "best on", "answered everything on"], rows),
  ];
}

/** Names the engines with the most complete answers if none answered everything everywhere. */
function nearest(all: (Held & { name: string })[]): string {
  const said = "No engine answered everything on every device";
  const most = Math.max(0, ...all.map(({ whole }) => whole));
  const who = all.filter(({ whole }) => whole === most).map(({ name }) => name);
  return most === 0 ? `${said}.` : `${said}; on most of them, ${count(most)} of ${count(all[0]?.of ?? 0)}, ${who.join(", ")} did.`;
}

/** The marks of the map. */
const MARKS: [string, string][] = [
  ["*", "fastest there, or not significantly slower"], ["·", "lacks phases, not ranked"], ["!", "its run has warnings"],
];

/** Returns the devices of each model, with the models in the order of their names. */
export function byModel(data: Fleet, view: View): [string, number[]][] {
  return [...grouped(view.devices, (device) => data.devices[device]?.model ?? "")].sort(([a], [b]) => a.localeCompare(b));
}

/** Makes the header with engines across. */
function heads(data: Fleet, view: View): HTMLElement {
  return h("thead", {}, h("tr", {}, h("td"), view.engines.map((engine) => {
    const own = data.engines[engine];
    const versions = own?.versions.join(", ") ?? "";
    return h("th", { scope: "col", title: versions }, h("span", {}, own?.id ?? ""), own?.reference && h("small", {}, "(ref)"));
  })));
}

function map(data: Fleet, view: View): HTMLElement[] {
  const bodies = byModel(data, view).map(([model, devices]) => h("tbody", {},
    h("tr", { class: "model" }, h("th", { scope: "rowgroup", colspan: view.engines.length + 1 }, h("span", {}, `${model} (${count(devices.length)})`))),
    devices.map((device) => {
      const own = data.devices[device];
      const title = [own?.machine, ...(own?.warnings ?? [])].filter(Boolean).join("\n");
      return h("tr", {},
        h("th", { scope: "row", title }, h("span", {}, (own?.name ?? "") + ((own?.warnings.length ?? 0) > 0 ? " !" : ""))),
        view.engines.map((engine) => box(view.at(device, engine), data.engines[engine]?.reference ?? false)));
    })));
  return [h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Devices by engines" }, h("table", { class: "map", "aria-label": "Devices by engines: ratio to each device's own best" },
    heads(data, view), bodies))];
}

function box(place: Place | undefined, reference: boolean): HTMLElement {
  if (!place) return h("td", { class: "none" });
  const { ratio: times, ns, whole, best, says } = place;
  if (times === null) return h("td", {}, says !== null && h("span", { class: `box ${[...FAILURES, "broken"].includes(says) ? "bad" : "dim"}` }, says));
  const tone = reference || !whole ? "unranked" : `r${step(times)}`;
  return h("td", {}, h("span", { class: `box ${tone}` },
    h("b", {}, ratio(times) + (best && whole ? "*" : "") + (whole || reference ? "" : " ·")),
    ns !== null && h("small", {}, duration(ns))));
}

/** An engine on one model. */
export interface OnModel {
  model: string;
  devices: number;
  /** Median over its devices, in ns. */
  ns: number | null;
  /** Slowest divided by fastest. Absent with one device. */
  spread: number | null;
}

/** Returns the times on each model, by engine. */
export function onModels(data: Fleet, view: View, engine: number): OnModel[] {
  return byModel(data, view).map(([model, devices]) => {
    const times = devices.flatMap((device) => {
      const place = view.at(device, engine);
      return place?.whole && place.ns !== null ? [place.ns] : [];
    });
    return {
      model, devices: times.length,
      ns: times.length === 0 ? null : median(times),
      spread: times.length < 2 ? null : Math.max(...times) / Math.min(...times),
    };
  });
}

function models(data: Fleet, view: View): HTMLElement[] {
  const of = view.engines.map((engine) => onModels(data, view, engine));
  const least = of.map((all) => Math.min(...all.flatMap(({ ns }) => ns ?? [])));
  const groups = byModel(data, view);
  const rows = groups.map(([model, devices], row) => h("tr", {},
    h("th", { scope: "row" }, h("span", {}, `${model} (${count(devices.length)})`)),
    of.map((all, column) => onModel(all[row], groups.length > 1 ? least[column] : undefined))));
  return [h("div", { class: "scroll" }, h("table", { class: "map", "aria-label": "Time of one operation by model" },
    heads(data, view), h("tbody", {}, rows)))];
}

/**
 * Makes a box of a model: its time, the ratio to the fastest model if there are several, and its
 * spread.
 */
function onModel(of: OnModel | undefined, least: number | undefined): HTMLElement {
  if (!of || of.ns === null) return h("td", { class: "none" });
  const times = least === undefined ? null : of.ns / least;
  return h("td", {}, h("span", { class: `box ${times === null ? "unranked" : `r${step(times)}`}` },
    h("b", {}, times === null ? duration(of.ns) : ratio(times)),
    times !== null && h("small", {}, duration(of.ns)), " ",
    of.spread !== null && h("small", {}, `spread ${ratio(of.spread)}`)));
}
