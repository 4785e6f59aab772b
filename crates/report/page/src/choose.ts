/** Sliders and must-haves, and the short list that they give. */

import { advise, differing, type MustHaves, place } from "./advice";
import type { Advisable, AdviceTable, LicenceClass, Page, Preset, Tier } from "./data";
import { h, unique } from "./dom";
import { bytes, count, significant } from "./format";
import { NATIVE } from "./fitness";

const MOST = 10;
const NOTHING: Preset = { id: "nothing", name: "nothing", weights: [] };
const TIERS: Record<Tier, string> = {
  none: "nothing: it may be lost with the process",
  process: "the process being killed",
  power: "a power cut",
};

const LICENCES: Record<LicenceClass, string> = {
  other: "any",
  copyleft: "copyleft or freer",
  permissive: "permissive",
};

/** The language that engines are used from, as on the whole page. Null for every language. */
export interface Languages {
  shown: () => string | null;
  choose: (language: string | null) => void;
}

/**
 * Fills the section, for all results together, or one at a time if they cannot be pooled. Returns a
 * function that redraws the answer after another language was chosen.
 */
export function choose(body: HTMLElement, { advice, presets }: Page, languages?: Languages): () => void {
  const chosen = h("div");
  let update = () => {};
  const draw = (place: number) => {
    const one = advice[place];
    if (one) update = chooseFrom(chosen, one, presets, languages);
  };
  draw(0);
  const which = h("label", {}, "of the result ", h("select", { name: "advice-of", change: (event) => {
    draw(Number((event.target as HTMLSelectElement).value));
  } }, advice.map(({ of }, place) => h("option", { value: place }, of ?? ""))));
  body.replaceChildren(...(advice.length > 1 ? [which] : []), chosen);
  return () => update();
}

/** Every slider starts at 0, so that nothing is ranked until the reader asks for it. */
function chooseFrom(body: HTMLElement, { tables, turns }: Advisable, presets: Preset[], languages?: Languages): () => void {
  const engines = tables.flatMap((table) => table.engines);
  const tiers = (["none", "process", "power"] as const).filter((tier) => engines.some((engine) => engine.tier === tier));
  const scale: Scale = { at: null };
  const must: MustHaves = {
    tier: tiers.includes("process") ? "process" : tiers[0] ?? "process",
    sql: false, embedded: false, memory: null, licence: "other", rate: null,
  };
  const weights: Record<string, number> = {};
  const answer = h("div", { class: "answer", "aria-live": "polite" });
  const measured = unique(tables.map(languageOf));
  const from = languages && measured.length > 1 ? client(measured, languages) : null;
  const update = () => {
    const language = from?.chosen() ?? null;
    const own = <T extends { client?: string }>(all: T[]) => all.filter((of) => language === null || languageOf(of) === language);
    answer.replaceChildren(...lists({ of: null, tables: own(tables), turns: own(turns) }, scale, must, weights));
  };

  const moved = new Map<string, (value: number) => void>();
  // A resource of `ingest` means the resource weighted together with `ingest`.
  const criteria = (tables[0]?.criteria ?? []).filter(({ id }) => !id.startsWith("ingest-"));
  const sliders = criteria.map(({ id, label, about }) => {
    const output = h("output", {}, "0");
    const input = h("input", { type: "range", min: 0, max: MOST, step: 1, value: 0, name: id, "aria-label": label, input: () => {
      weights[id] = Number(input.value);
      output.textContent = input.value;
      update();
    } });
    moved.set(id, (value) => {
      input.value = String(value);
      weights[id] = value;
      output.textContent = String(value);
    });
    return h("label", { class: "slider", title: about }, h("span", {}, label), input, output);
  });
  // In a tier that was not measured, the list shows the command that measures it.
  const inTier = () => engines.filter((engine) => engine.tier === must.tier);
  const isMeasured = (id: string) => inTier().length === 0 || inTier().some((engine) => engine.ratios[id] !== undefined);
  const beginnings = [...presets.slice(1), NOTHING].map(({ name, tier, weights: of, rows_per_second, memory_bytes }) => h("button", { type: "button", class: "small", click: () => {
    must.rate = rows_per_second ?? null;
    must.memory = memory_bytes ?? null;
    const show = (name: string, value: number | undefined) => {
      const input = body.querySelector<HTMLInputElement>(`input[name="${name}"]`);
      if (input) input.value = value === undefined ? "" : String(value);
    };
    show("must-rate", rows_per_second);
    show("must-memory", memory_bytes === undefined ? undefined : memory_bytes / 1e6);
    if (tier) {
      must.tier = tier;
      const select = body.querySelector<HTMLSelectElement>('select[name="must-tier"]');
      if (select) select.value = tier;
    }
    // A criterion without any measurement would leave out every engine.
    for (const [id, move] of moved) move(isMeasured(id) ? of.find(([other]) => other === id)?.[1] ?? 0 : 0);
    update();
  } }, name));
  body.replaceChildren(
    h("p", { class: "beginnings" }, "Begin with what matters to ", ...beginnings.flatMap((button) => [button, " "])),
    h("div", { class: "panel choose" },
      h("fieldset", {}, h("legend", {}, "must have"), from?.select, ...rows(tables, scale, update), ...musts(must, update)),
      h("fieldset", {}, h("legend", {}, "matters (0 to 10)"), ...sliders)),
    answer,
  );
  update();
  return update;
}

/** Returns the language of a table or a change of order. */
const languageOf = ({ client }: { client?: string }): string => client ?? NATIVE;

/** Asks which language engines are used from. */
function client(measured: string[], languages: Languages): { select: HTMLElement; chosen: () => string | null } {
  const select = h("select", { name: "must-client", change: () => languages.choose(select.value || null) },
    [h("option", { value: "" }, "each language"), ...measured.map((name) => h("option", { value: name }, name))]) as HTMLSelectElement;
  const chosen = () => {
    const shown = languages.shown();
    select.value = shown !== null && measured.includes(shown) ? shown : "";
    return select.value || null;
  };
  return { select: h("label", {}, "used from ", select), chosen };
}

/** The measured scales, memory limits and storages for which advice is given. */
interface Scale {
  /** Null for each of them. */
  at: string | null;
}

/** Asks for the number of rows and the memory limit, if there is a choice. */
function rows(tables: AdviceTable[], scale: Scale, update: () => void): HTMLElement[] {
  if (tables.length < 2) return [];
  const options = [h("option", { value: "" }, "at each scale"), ...tables.map(({ at }) => h("option", { value: at }, `about ${at}`))];
  return [h("label", {}, "rows ", h("select", { name: "must-rows", change: (event) => {
    const { value } = event.target as HTMLSelectElement;
    scale.at = value === "" ? null : value;
    update();
  } }, options))];
}

/** Shows a short list at each chosen scale, and where the order changes between them. */
function lists({ tables, turns }: Advisable, scale: Scale, must: MustHaves, weights: Record<string, number>): HTMLElement[] {
  const chosen = tables.filter(({ at }) => scale.at === null || at === scale.at);
  const different = differing(chosen, must.tier, weights);
  const weighted = Object.values(weights).some((weight) => weight > 0);
  const languages = unique(tables.map(languageOf));
  const isWithin = ({ memory_limit_bytes, storage, client }: { memory_limit_bytes?: number; storage?: string; client?: string }) => (table: AdviceTable) =>
    table.memory_limit_bytes === memory_limit_bytes && table.storage === storage && table.client === client;
  // Without weights there is nothing to list at each scale, so the largest scale is used, without a
  // limit if possible.
  const shown = weighted ? different : different.filter(isWithin(different[0] ?? {})).slice(-1);
  const out = new Set(shown.flatMap((table) => advise(table, must, weights).excluded.map(({ engine }) => engine.engine)));
  const turning = turns.filter((turn) => turn.tier === must.tier && shown.some(isWithin(turn)) &&
    (weights[turn.criterion] ?? 0) > 0 && !out.has(turn.before) && !out.has(turn.after));
  const said = unique(turning.map(({ says }) => says));
  return [
    ...(said.length > 0 ? [h("section", { class: "whole" }, h("h3", {}, "Order turns"), h("ul", {}, said.map((says) => h("li", {}, says))))] : []),
    // Printed pages do not have the sliders.
    h("p", { class: "print-only whole" }, weighted && weighed(tables[0], must, weights)),
    ...shown.map((table) => h("section", {},
      weighted && h("h3", {}, `At ${place(table, must.tier, weights) || "no scale"}${languages.length > 1 ? `, ${languageOf(table)}` : ""}`),
      ...shortList(table, must, weights))),
  ];
}

/** Describes what was chosen: `Must have: a commit survives a power cut. Matters: ingest 6.` */
function weighed(table: AdviceTable | undefined, must: MustHaves, weights: Record<string, number>): string {
  const musts = [
    `a commit survives ${TIERS[must.tier]}`, must.sql && "SQL", must.embedded && "embedded",
    must.memory !== null && `at most ${bytes(must.memory)} of memory`,
    must.rate !== null && `at least ${count(must.rate)} rows per second`,
    must.licence !== "other" && `licence ${LICENCES[must.licence]}`,
  ];
  const matters = (table?.criteria ?? []).flatMap(({ id, label }) => ((weights[id] ?? 0) > 0 ? [`${label} ${weights[id]}`] : []));
  return `Must have: ${musts.filter(Boolean).join(", ")}. Matters: ${matters.join(", ")}.`;
}

function musts(must: MustHaves, update: () => void): HTMLElement[] {
  const check = (name: string, text: string, set: (on: boolean) => void) =>
    h("label", {}, h("input", { type: "checkbox", name, change: (event) => {
      set((event.target as HTMLInputElement).checked);
      update();
    } }), h("span", {}, text));
  const tier = h("label", {}, "a commit survives ", h("select", { name: "must-tier", change: (event) => {
    must.tier = (event.target as HTMLSelectElement).value as Tier;
    update();
  } }, (Object.keys(TIERS) as Tier[]).map((name) => h("option", { value: name, selected: name === must.tier }, TIERS[name]))));
  const number = (name: string, set: (value: number | null) => void) =>
    h("input", { type: "number", name, min: 1, placeholder: "any", input: (event) => {
      const value = (event.target as HTMLInputElement).valueAsNumber;
      set(value > 0 ? value : null);
      update();
    } });
  const memory = h("label", {}, "at most ", number("must-memory", (megabytes) => { must.memory = megabytes === null ? null : megabytes * 1e6; }), " MB of memory");
  const rate = h("label", {}, "at least ", number("must-rate", (rows) => { must.rate = rows; }), " rows per second, one commit each");
  const licence = h("label", {}, "licence ", h("select", { name: "must-licence", change: (event) => {
    must.licence = (event.target as HTMLSelectElement).value as LicenceClass;
    update();
  } }, Object.entries(LICENCES).map(([name, text]) => h("option", { value: name }, text))));
  return [
    tier,
    check("must-sql", "SQL", (on) => { must.sql = on; }),
    check("must-embedded", "embedded, no server", (on) => { must.embedded = on; }),
    memory,
    rate,
    licence,
  ];
}

function shortList(table: AdviceTable, must: MustHaves, weights: Record<string, number>): HTMLElement[] {
  const advice = advise(table, must, weights);
  const out: HTMLElement[] = [];
  if (advice.ranked.length > 0) {
    out.push(h("ol", { class: "ranked" }, advice.ranked.map(({ engine, score, reasons, interval, uncertain }) => {
      const { facts } = engine;
      const peak = facts.peak_bytes === null ? "" : `, ${bytes(facts.peak_bytes)} of memory at most`;
      const within = interval ? ` (${significant(interval[0])} to ${significant(interval[1])})` : "";
      const open = uncertain.map(({ facts }) => facts.name).join(", ");
      return h("li", {}, h("b", {}, facts.name), h("span", { class: "score" }, ` ${significant(score)}x${within}`),
        h("p", {}, reasons.join("; ")),
        open && h("p", { class: "hint" }, `not certainly before ${open}`),
        h("p", { class: "hint" }, `${facts.configuration ? `${facts.configuration}, durability as its author claims; ` : ""}${facts.kind}, ${facts.data_model}, ${facts.licence}${peak}${facts.publishable ? "" : "; NOT TO BE PUBLISHED"}`));
    })));
    out.push(h("p", { class: "hint" }, "The number is the weighted geometric mean of the engine's ratios to the best of the tier: 1x is the best at every weighted criterion."));
  } else if (!table.engines.some(({ tier }) => tier === must.tier)) {
    const command = table.commands?.[must.tier];
    out.push(h("p", {}, `Nothing was measured in tier ${must.tier}.`, command ? " To measure it: " : "", command ? h("code", {}, command) : ""));
  } else if (Object.values(weights).some((weight) => weight > 0)) {
    out.push(h("p", {}, advice.unmeasured.length > 0
      ? "No engine that meets the must-haves was measured for all weighted criteria."
      : "No measured engine meets the must-haves."));
  } else {
    out.push(h("p", {}, "Move a slider: nothing is ranked until you say what matters."));
  }
  const measured = table.rests_on.filter(({ tier }) => tier === must.tier).map(({ workload, scale, protocol, wear }) => `${workload} ${scale}: ${[protocol, wear].filter(Boolean).join(", ")}`);
  if (measured.length > 0) out.push(h("p", { class: "hint" }, `Measured: ${measured.join("; ")}.`));
  const apart = [
    ...advice.unmeasured.map(({ engine, missing, why }) =>
      `${engine.facts.name}: ${[`not measured for ${missing.join(", ")}`, ...why].join("; ")}`),
    ...advice.excluded.map(({ engine, why }) => `${engine.facts.name}: left out, ${why}`),
  ];
  if (apart.length > 0) out.push(h("ul", { class: "apart" }, apart.map((text) => h("li", {}, text))));
  return out;
}
