/** Words and marks of the report, as in the terminal's table. */

import type { Cell, Entry, Status } from "./data";

/** The tiers, the weakest first. */
export const TIERS: string[] = ["none", "process", "power"];

const WORDS: Record<Status, string> = {
  ok: "ok",
  capped: "capped",
  disputed: "disputed",
  skipped: "skipped",
  "not-run": "not run",
  unsupported: "unsupported",
  unavailable: "unavailable",
  "timed-out": "timed out",
  failed: "failed",
  wrong: "wrong",
};

export const word = (status: Status | null): string => (status === null ? "not measured" : WORDS[status]);

/** Whether it is a fault and not a property of the engine. */
export const isFailure = (status: Status | null): boolean =>
  status === "wrong" || status === "failed" || status === "timed-out";

/** Returns what follows an engine's name. */
export function engineMarks(cell: Cell): string {
  return (cell.broken ? BROKEN : "") + tierMark(cell);
}

/** Returns the durability of its setting, or its kind. */
export function tierMark(cell: Cell): string {
  if (cell.by_url) return BY_URL;
  if (cell.own_durability) return `${OWN_SETTINGS} (own)`;
  if (cell.kind === "reference" || (!cell.ranked && !cell.broken && !cell.effective_durability)) return " (ref)";
  if (cell.configuration) return OWN_SETTINGS;
  if (!cell.effective_durability) return "";
  return TIERS.indexOf(cell.effective_durability) > TIERS.indexOf(cell.tier) ? "+" : " (weaker)";
}

/** Returns what follows a time. */
export function marks(entry: Entry): string {
  const apart = (entry.figure?.outliers.length ?? 0) > 0;
  return (entry.status === "capped" ? "^" : "") + (entry.client_side ? "~" : "") + (entry.commits_each ? COMMITS_EACH : "") + (entry.tainted ? "!" : "") + (entry.lost ? LOST : "") + (entry.surprise ? SURPRISE : "") + (apart ? OUTLIER : "") +
    (entry.shortfall ? BEHIND : "");
}

/** Follows a time of a cell that lost a trial. */
const LOST = "×";

/** Follows an unusual time. */
const SURPRISE = "?";

/** Follows the name of a configuration. */
const OWN_SETTINGS = "§";

/** Follows the name of an engine that broke the promise of its tier. */
export const BROKEN = "†";

/** Follows the name of a server that was given by its URL. */
export const BY_URL = " (by URL)";

/**
 * Follows a time of rows that were committed one by one, while others had many rows in a
 * transaction.
 */
const COMMITS_EACH = "¹";

/** Follows a time of a cell that did not keep up. */
const BEHIND = "<";

/** Follows a ratio whose interval includes 1. */
export const NOT_SIGNIFICANT = " ≈";

/** Follows a time with a trial that is an outlier. */
export const OUTLIER = "°";

/** The meaning of each mark, in the order in which they are explained. */
export const MARKS: [string, string][] = [
  ["≈", "not significantly slower than the row's best: the ratio's 95 % interval includes 1"],
  ["°", "a trial is an outlier; it counts nevertheless"],
  ["^", "capped: stopped at the longest run time; its time per operation is valid"],
  ["~", "done by client code over scans and point operations, because the engine has no query for it"],
  ["¹", "one commit per row, because the engine has no transactions, while others commit many rows together"],
  ["!", "the phase ended well and its cell did not: shown, not ranked"],
  ["×", "a trial failed or timed out: the figure is of the others"],
  ["?", "a surprise: more than ten times the time per row over a decade of rows, or more than twenty times the time of the next engine of its family"],
  ["<", "did not keep up: lost samples, missed reads, or was below the target rate: not ranked"],
  ["+", "effective durability above the tier asked for"],
  ["†", "broke what the tier promises, as embermark durability tried it: not ranked, see Durability"],
  ["(weaker)", "effective durability below the tier asked for: not ranked"],
  ["§", "an engine with your settings: durability as its author claims"],
  ["§ (own)", "a configuration without the tier's settings: durability as its author claims, so not ranked"],
  ["(by URL)", "a server with its own settings and machine, never ranked"],
  ["(ref)", "for orientation, never ranked"],
  ["‡", "its licence forbids publishing its figures"],
];
