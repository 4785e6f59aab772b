/** The dialog that a box opens, with everything about it. */

import type { Amounts, Cell, Column, Entry, Latency, Page, Usage } from "./data";
import { h, list, table } from "./dom";
import { type Box, extentOf } from "./fitness";
import { amount, bytes, count, duration, orDash, ratio, significant } from "./format";
import { engineMarks, isFailure, OUTLIER, word } from "./status";
import { watched } from "./watched";

/** Follows what was stopped before its end. */
const STOPPED = "^";

/** Opens the dialog for a box of the map. */
export function open(dialog: HTMLDialogElement, page: Page, box: Box): void {
  const { cell, entry } = box;
  const close = h("button", { type: "button", class: "close", click: () => dialog.close() }, "Close");
  const phase = entry.phase ?? "every phase";
  dialog.replaceChildren(h("div", { class: "dialog-body" },
    h("div", { class: "dialog-head" },
      h("h2", { id: "details-title" }, `${cell.engine}${engineMarks(cell)} · ${phase}`), close),
    h("p", { class: "hint" }, [
      `${cell.workload} ${extentOf(cell)}`, `durability ${cell.tier}`, `variant ${cell.variant}`,
      page.results.length > 1 ? page.results[cell.result]?.label : "",
    ].filter(Boolean).join(" · ")),
    cell.unpublishable && h("p", { class: "face" }, "NOT TO BE PUBLISHED: the licence of this engine forbids publishing its figures"),
    h("p", {}, h("span", { class: `badge ${isFailure(entry.status) ? "bad" : ""} s-${entry.status ?? "absent"}` }, word(entry.status)),
      entry.figure && (entry.client_side ? " done by client code over scans and point operations" : " done by the engine's own means")),
    entry.commits_each && h("p", {}, "One commit per row, because the engine has no transactions. Other engines put many rows in one."),
    entry.reason && h("p", { class: "reason" }, entry.reason),
    entry.checked_by && h("p", { class: "hint" }, `How its answer was checked: ${entry.checked_by}`),
    entry.timed_by && h("p", { class: "hint" }, `Times taken by ${entry.timed_by}, by its own clock`),
    (entry.remarks ?? []).map((remark) => h("p", {}, remark)),
    cell.broken && h("p", { class: "broken" }, "Not ranked: it broke what the tier promises, see Durability."),
    time(box), plan(entry), trials(cell, entry), sharing(entry), latency(entry), watched(entry.watched ?? []), resources(page.resource_columns, cell, entry), amounts("Rows inserted, and maintenance", page.load_columns, entry.loading), amounts("Figures other than its time", page.beside_columns, entry.beside), explained(page.explained_columns, entry), engine(cell),
  ));
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close();
  };
  dialog.showModal();
  dialog.scrollTop = 0;
}

function time({ entry, ratio: times, interval, notSignificant }: Box): Node[] {
  const { figure } = entry;
  if (!figure) return [];
  const rows: [string, string][] = [["time of one operation", `${duration(figure.per_op_ns)}, median over the trials`]];
  if (figure.interval_ns) {
    rows.push(["95 % interval", `${duration(figure.interval_ns[0])} to ${duration(figure.interval_ns[1])}`]);
  }
  if (times !== null) {
    const within = interval ? ` (95 % interval ${ratio(interval[0])} to ${ratio(interval[1])})` : "";
    const open = notSignificant ? ": not significantly slower" : "";
    rows.push(["ratio to the best shown", times === 1 && !interval ? `1.00x, the best${notSignificant ? ": another shares its place" : ""}` : ratio(times) + within + open]);
  }
  if (figure.elapsed_ns !== null) rows.push(["time of a whole run", duration(figure.elapsed_ns)]);
  if (figure.ops > 0) rows.push(["operations of a run", count(figure.ops)]);
  if (figure.stop) rows.push(["stopped at the longest run time after", `${count(figure.stop.done)} of ${count(figure.stop.of)}`]);
  if (entry.tainted) rows.push(["not ranked", "this phase ended well, its cell did not"]);
  if (entry.lost) rows.push(["trials lost", `${entry.lost}: the figure is of the others`]);
  if (entry.surprise) rows.push(["surprise", entry.surprise]);
  if (entry.shortfall) rows.push(["not ranked", entry.shortfall]);
  return [h("h3", {}, "Time"), list(rows)];
}

/** Shows the engine's query plan. */
function plan({ plan }: Entry): Node[] {
  return plan === undefined ? [] : [h("h3", {}, "Query plan"), h("p", { class: "hint" }, "As the engine reports it:"), h("pre", { class: "plan" }, plan)];
}

/** Shows every run of every trial. */
function trials(cell: Cell, entry: Entry): Node[] {
  if (cell.trials.length === 0) return [];
  const most = Math.max(0, ...entry.runs.map((runs) => runs.length));
  const run = ([elapsed, , mark]: [number, number, number]) =>
    duration(elapsed) + (mark & 2 ? "^" : "") + (mark & 1 ? " (warm-up)" : "");
  const apart = new Set(entry.figure?.outliers.map((place) => entry.figure?.trials[place]));
  const rows = cell.trials.map((trial, index) => {
    const runs = entry.runs[index] ?? [];
    const texts = Array.from({ length: most }, (_, at) => orDash(runs[at], run));
    return [`${trial.index + 1}${apart.has(trial.index) ? OUTLIER : ""}`, word(trial.status), orDash(trial.open_ns, duration), ...texts];
  });
  const header = ["trial", "ended", "opening", ...Array.from({ length: most }, (_, at) => `run ${at + 1}`)];
  const told = [...cell.trials, ...(cell.lost_trials ?? [])].flatMap((trial) => {
    const log = trial.log && trial.status !== "ok" ? ` (log: ${trial.log})` : "";
    return trial.reason ? [h("p", { class: "reason" }, `trial ${trial.index + 1}, ${word(trial.status)}: ${trial.reason}${log}`)] : [];
  });
  return [h("h3", {}, "Trials"), table("Elapsed time of every run", header, rows), ...told];
}

function latency(entry: Entry): Node[] {
  const { latency, response } = entry;
  if (!latency) return [];
  const row = (name: string, of: Latency) =>
    [name, ...[of.min, of.p50, of.mean, of.p95, of.p99, of.p99_9, of.max].map((ns) => orDash(ns, duration)), orDash(of.stalled, amount("share"))];
  const every = latency.sampled_every === 1 ? "every operation" : `one operation in ${count(latency.sampled_every)}`;
  return [
    h("h3", {}, "Latency of one operation"),
    table(`${count(latency.samples)} samples, ${every}`, ["", "min", "p50", "mean", "p95", "p99", "p99.9", "longest", "time in those over 10 × p50"],
      response ? [row("from the scheduled start", response), row("from its start", latency)] : [row("from its start", latency)]),
  ];
}

/** Shows the figures of several clients, or of operations started at a target rate. */
function sharing({ figure }: Entry): Node[] {
  const sharing = figure?.sharing;
  if (!sharing) return [];
  const rate = (of: number) => `${significant(of)} per second`;
  const { clients, schedule } = sharing;
  const rows: [string, string][] = [["operations of all clients", rate(sharing.per_second)]];
  if (clients) rows.push(["of the slowest and the fastest client", `${rate(clients[0])} and ${rate(clients[1])}`]);
  if (schedule) {
    rows.push(["target rate", rate(schedule.target_rate)], ["achieved rate", rate(schedule.achieved_rate) + (schedule.kept_up ? "" : ": did not keep up")]);
    rows.push(["start of operations late by the client, p99", orDash(schedule.late_p99_ns, duration)]);
  }
  const signed = (ns: number) => (ns < 0 ? "-" : "+") + duration(Math.abs(ns));
  for (const one of sharing.machines ?? []) {
    const clock = `clock ${signed(one.clock.offset_ns)} ± ${duration(one.clock.error_ns)}, start ${signed(one.start_delay_ns)}`;
    rows.push([`client machine ${one.device}`, `${rate(one.per_second)}, p50 ${orDash(one.p50_ns, duration)}, p99 ${orDash(one.p99_ns, duration)}; ${clock}`]);
  }
  return [h("h3", {}, "Clients"), list(rows)];
}

function resources(columns: Column[], cell: Cell, entry: Entry): Node[] {
  const known = columns.filter(({ key }) => entry.usage.amounts[key] !== undefined || cell.usage.amounts[key] !== undefined);
  if (known.length === 0) return [];
  const row = ({ amounts }: Usage) => known.map(({ key, quantity }) => orDash(amounts[key], amount(quantity)));
  const of = (name: string, usage: Usage) => [name + (usage.incomplete ? STOPPED : ""), ...row(usage)];
  const short = cell.usage.incomplete || entry.usage.incomplete ? `; ${STOPPED} of less work: do not compare sums` : "";
  return [
    h("h3", {}, "Resources"),
    table(`Of a counted run${short}`, ["", ...known.map(({ about }) => about)], [of("this phase", entry.usage), of("whole workload", cell.usage)]),
    ...(entry.network_bytes === undefined ? [] : [h("p", {}, `${bytes(entry.network_bytes)} over the network between client and server.`)]),
  ];
}

function amounts(title: string, columns: Column[], of: Amounts | undefined): Node[] {
  const rows = columns.flatMap(({ key, about, quantity }): [string, string][] => {
    const value = of?.[key];
    return value === undefined ? [] : [[about, amount(quantity)(value)]];
  });
  return rows.length === 0 ? [] : [h("h3", {}, title), list(rows)];
}

/**
 * Shows the requests of an operation to the operating system, counted in runs that were not timed.
 */
function explained(columns: Column[], { explained }: Entry): Node[] {
  if (!explained) return [];
  const { engine, client } = explained;
  const rows = columns.flatMap(({ key, about, quantity }) => {
    const amounts = client ? [engine[key], client[key]] : [engine[key]];
    return amounts.some((value) => value !== undefined)
      ? [[about, ...amounts.map((value) => orDash(value, amount(quantity)))]] : [];
  });
  const ops = [explained.ops, explained.traced_ops].map((ops) => orDash(ops, count));
  const frequent = explained.frequent_calls.map(([name, share]) => `${name} ${Math.round(100 * share)} %`);
  return [
    h("h3", {}, "What an operation cost"),
    table(`Per operation, from an untimed run of ${ops[0]} operations; system calls from a traced run of ${ops[1]}`,
      ["", "engine", ...(client ? ["client"] : [])], rows),
    ...(frequent.length === 0 ? [] : [h("p", {}, `Most frequent system calls of the engine: ${frequent.join(", ")}.`)]),
  ];
}

function engine(cell: Cell): Node[] {
  const rows: [string, string][] = [];
  if (cell.versions.length > 0) rows.push(["version", cell.versions.join(" and ")]);
  if (cell.kind) rows.push(["kind", cell.kind]);
  if (cell.configuration) rows.push(["configuration", `${cell.configuration}: durability as its author claims`]);
  if (cell.own_durability) rows.push(["not ranked", `it has ${cell.own_durability}`]);
  if (cell.effective_durability) rows.push(["effective durability", `${cell.effective_durability}, where ${cell.tier} was asked`]);
  if (cell.durability) rows.push([`durability ${cell.tier}`, cell.durability]);
  if (cell.by_url) rows.push(["given by its URL", "its settings and its machine are its own: not ranked"]);
  rows.push(["cell ended", word(cell.status) + (cell.reason ? `: ${cell.reason}` : "")]);
  rows.push(...Object.entries(cell.settings));
  return [h("h3", {}, "Engine and settings as read back"), list(rows)];
}
