/**
 * Ranks the engines of the program's table by the sliders, because a reader's own weights cannot be
 * ranked beforehand. Must-haves leave engines out. Weights rank the others by the weighted
 * geometric mean of their ratios to the best, exp(Σ wᵢ ln rᵢ / Σ wᵢ). The order of the geometric
 * mean does not depend on the reference of the ratios (Fleming and Wallace, "How not to lie with
 * statistics", CACM 29(3), 1986). Lower is better, and 1 is best at everything weighted.
 * `docs/advice.md` has the same rule, and a test compares it with the orders that the program made.
 */

import type { AdviceEngine, AdviceTable, LicenceClass, Tier } from "./data";
import { unique } from "./dom";
import { bytes, count, ratio } from "./format";
import { TIERS } from "./status";

const CLASSES: LicenceClass[] = ["permissive", "copyleft", "other"];

/** Requirements that an engine must meet to be listed. */
export interface MustHaves {
  tier: Tier;
  sql: boolean;
  embedded: boolean;
  /** Largest resident memory in bytes. */
  memory: number | null;
  /** Most restrictive licence class that is accepted. */
  licence: LicenceClass;
  /** Rows per second that it commits one by one. Null for any. */
  rate: number | null;
}

/** One engine of the short list. */
export interface Choice {
  engine: AdviceEngine;
  score: number;
  /** Its best and its worst weighted criterion, as text. */
  reasons: string[];
  /**
   * The score with every ratio at its lower and at its upper end. Null if a ratio has no interval.
   */
  interval: [number, number] | null;
  /** Engines after it whose order is not certain. */
  uncertain: AdviceEngine[];
}

/** The short list, and the engines that are not on it. */
export interface Advice {
  ranked: Choice[];
  /** Engines that were not measured for a weighted criterion, with its label. */
  unmeasured: { engine: AdviceEngine; missing: string[]; why: string[] }[];
  /** Engines that a must-have leaves out, with the must-have. */
  excluded: { engine: AdviceEngine; why: string }[];
}

/**
 * Resources with a criterion for `ingest` only, and the criteria that must not be weighted for it
 * to apply: `docs/advice.md`.
 */
const WRITES = ["load", "update", "mixed"];
const TIMES = [...WRITES, "point", "analytics"];
const OF_INGEST: [string, string[]][] = [["wear", WRITES], ["memory", TIMES], ["cpu", TIMES], ["energy", TIMES]];

/** Returns the weights, with resources of one commit per row if only that work is weighted. */
export function meant(table: AdviceTable, weights: Record<string, number>): Record<string, number> {
  const weighs = (id: string) => (weights[id] ?? 0) > 0;
  const moved = { ...weights };
  for (const [id, others] of OF_INGEST) {
    const own = `ingest-${id}`;
    if (!weighs(id) || !weighs("ingest") || others.some(weighs) || !table.criteria.some((one) => one.id === own)) continue;
    moved[own] = (moved[own] ?? 0) + (moved[id] ?? 0);
    delete moved[id];
  }
  return moved;
}

/**
 * Returns the scales behind the weighted criteria: `sensors 10k, contacts 1k`. Without weights,
 * those behind all criteria.
 */
export function place(table: AdviceTable, tier: Tier, weights: Record<string, number>): string {
  const own = meant(table, weights);
  const weighted = Object.keys(own).filter((id) => (own[id] ?? 0) > 0);
  const counts = (criteria: string[]) => weighted.length === 0 || criteria.some((id) => weighted.includes(id));
  return table.rests_on.filter((one) => one.tier === tier && counts(one.criteria))
    .map(({ workload, scale }) => `${workload} ${scale}`).join(", ");
}

/**
 * Returns the tables that differ in what counts. A table with the scales of the one before it in
 * its language is left out, because it would repeat it. A table without measurements is left out
 * unless all are.
 */
export function differing(all: AdviceTable[], tier: Tier, weights: Record<string, number>): AdviceTable[] {
  const resting = all.filter((table) => place(table, tier, weights) !== "");
  const tables = resting.length > 0 ? resting : all;
  return tables.filter((table, at) => {
    const before = tables[at - 1];
    return !before || before.client !== table.client || place(before, tier, weights) !== place(table, tier, weights);
  });
}

/** Ranks the engines of a table. Without weights nothing is ranked. */
export function advise(table: AdviceTable, must: MustHaves, asked: Record<string, number>): Advice {
  const weights = meant(table, asked);
  const advice: Advice = { ranked: [], unmeasured: [], excluded: [] };
  const weighted = table.criteria.filter((criterion) => (weights[criterion.id] ?? 0) > 0);
  for (const engine of table.engines.filter((engine) => engine.tier === must.tier)) {
    const why = exclusion(engine, must);
    const weightedBy = weighted.map(({ id }): [string, number] => [id, weights[id] ?? 0]);
    const missing = weighted.filter((criterion) => engine.ratios[criterion.id] === undefined);
    if (why) advice.excluded.push({ engine, why });
    else if (weighted.length === 0) continue;
    else if (missing.length > 0) {
      // Work that a cell did not do is named once.
      const why = engine.shortfalls.length > 0 ? engine.shortfalls : unique(missing.flatMap(({ id }) => engine.lacks?.[id] ?? []));
      advice.unmeasured.push({ engine, missing: missing.map((criterion) => criterion.label), why });
    } else {
      const score = mean(weightedBy, (id) => engine.ratios[id]);
      const low = mean(weightedBy, (id) => engine.intervals[id]?.[0]);
      const high = mean(weightedBy, (id) => engine.intervals[id]?.[1]);
      const interval: [number, number] | null = Number.isFinite(low + high) ? [low, high] : null;
      advice.ranked.push({ engine, score, reasons: reasons(engine, weighted), interval, uncertain: [] });
    }
  }
  advice.ranked.sort((a, b) => a.score - b.score || a.engine.engine.localeCompare(b.engine.engine));
  advice.ranked.forEach((one, place) => {
    const certain = (other: Choice) => one.interval && other.interval && one.interval[1] < other.interval[0];
    one.uncertain = advice.ranked.slice(place + 1).filter((other) => !certain(other)).map(({ engine }) => engine);
  });
  advice.excluded.push(...elsewhere(table, must.tier));
  return advice;
}

/**
 * Returns engines whose setting for another tier has the requested effective durability. Ratios are
 * only valid within a tier, so they cannot be used here.
 */
function elsewhere(table: AdviceTable, tier: Tier): Advice["excluded"] {
  const here = new Set(table.engines.filter((engine) => engine.tier === tier).map(({ engine }) => engine));
  const left = new Map<string, AdviceEngine>();
  for (const engine of table.engines) {
    const durable = TIERS.indexOf(engine.effective_durability ?? engine.tier) >= TIERS.indexOf(tier);
    if (durable && engine.facts.kind !== "reference" && !engine.facts.by_url && !engine.facts.own_durability && !here.has(engine.engine)) left.set(engine.engine, engine);
  }
  return [...left.values()].map((engine) => ({ engine, why: `its effective durability is ${tier}, but it was not measured in that tier` }));
}

/** Returns the must-have that leaves an engine out. Null if none does. */
function exclusion(engine: AdviceEngine, must: MustHaves): string | null {
  const { facts } = engine;
  if (facts.kind === "reference") return "a reference, no candidate";
  if (facts.by_url) return "given by URL, its settings and its machine are its own";
  if (facts.own_durability) return `its durability is what its author claims: it has ${facts.own_durability}`;
  const effective = engine.effective_durability;
  if (effective && TIERS.indexOf(effective) < TIERS.indexOf(must.tier)) return `its effective durability is only ${effective}`;
  if (engine.broken) return `it broke what ${must.tier} promises: ${engine.broken.replace(/^broken: /, "")}`;
  if (engine.wrong) return `it answered wrongly: ${engine.wrong}`;
  if (must.sql && !facts.sql) return "it has no SQL";
  if (must.embedded && facts.kind !== "embedded") return "it is a server";
  if (CLASSES.indexOf(facts.licence_class) > CLASSES.indexOf(must.licence)) return `its licence is ${facts.licence}`;
  if (must.rate !== null && !engine.pace) return "its commits of single rows were not measured";
  if (must.rate !== null && (engine.pace?.rows_per_second ?? 0) < must.rate) return `it commits ${count(Math.floor(engine.pace?.rows_per_second ?? 0))} rows/s at ${engine.pace?.at}`;
  if (must.memory !== null && facts.peak_bytes === null) return "its memory was not measured";
  if (must.memory !== null && (facts.peak_bytes ?? 0) > must.memory) return `it uses ${bytes(facts.peak_bytes ?? 0)}`;
  return null;
}

/** NaN if a value is missing. */
function mean(weights: [string, number][], of: (id: string) => number | undefined): number {
  let sum = 0;
  let total = 0;
  for (const [id, weight] of weights) {
    sum += weight * Math.log(of(id) ?? NaN);
    total += weight;
  }
  return Math.exp(sum / total);
}

function reasons(engine: AdviceEngine, weighted: { id: string; label: string }[]): string[] {
  const known = weighted
    .map(({ id, label }) => ({ label, value: engine.ratios[id] ?? NaN }))
    .sort((a, b) => a.value - b.value);
  const best = known[0];
  const worst = known[known.length - 1];
  if (!best || !worst) return [];
  const said = [`for it: ${words(best.label, best.value)}`];
  if (worst !== best && worst.value > 1.05) said.push(`against it: ${words(worst.label, worst.value)}`);
  return said;
}

/** Formats a ratio: `load: the best measured`, `load: 2.31x the best`. */
function words(label: string, value: number): string {
  return value <= 1.005 ? `${label}: the best measured` : `${label}: ${ratio(value)} the best`;
}
