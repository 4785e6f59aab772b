/**
 * The page of a cell: how it ended, its figures and settings, the command that repeats it, and
 * programs that open its engine in the same way.
 */

import type { Address } from "./address";
import type { Value } from "./csv";
import type { Cell, Cells, Percentiles, ResultData, Snippet } from "./data";
import { h, list, table } from "../dom";
import { amount, count, duration, NOT_MEASURED, orDash } from "../format";
import type { Known } from "./known";
import { load } from "./load";
import { isFailure, word } from "../status";
import type { View } from "./view";

export async function cell(known: Known, { path, chosen }: Address): Promise<View> {
  const result = known.findResult(path[1]);
  if (result === undefined) throw new Error("this site has no such result");
  const [engine, group] = [known.findEngine(chosen.get("engine")), known.findGroup(chosen)];
  const { id, machine, label, started, tool } = known.result(result);
  if (engine === undefined || group === undefined || !known.groupsOf(result).has(group)) throw new Error("this result has no such cell");
  const [cells, of] = await Promise.all([load<Cells>(`cells/${id}/${group}`), load<ResultData>(`result/${id}`)]);
  const own = cells.cells.find((cell) => cell.engine === engine && cell.variant === chosen.get("variant"));
  if (!own) throw new Error("this result has no such cell");
  const snippets = await Promise.all((own.snippets ?? []).map((place) => load<Snippet>(`snippets/${place}`)));
  const usage = known.index.columns.flatMap(({ about, quantity }, at): [string, string][] => {
    const value = own.usage[at] ?? null;
    return value === null ? [] : [[about, amount(quantity)(value)]];
  });
  const settings = cells.settings[own.settings ?? -1] ?? [];
  const { file } = cells;
  return {
    title: `${known.engine(engine).name} · ${known.titleOf(group)}`,
    about: [known.engineLink(engine, group), known.machineLink(machine), h("a", { href: known.tableAddress(group, result) }, `${label}, ${started.slice(0, 10)}`), `variant ${own.variant}`],
    body: [
      h("p", {}, h("span", { class: `badge ${isFailure(own.status) ? "bad" : ""}` }, word(own.status))),
      own.reason ? h("p", { class: "reason" }, own.reason) : null,
      ...phases(own),
      ...section("What it used", usage.length > 0 && list(usage)),
      ...section("Trials", trials(own)),
      ...section("Engine", list([
        ["version", own.versions.join(", ") || NOT_MEASURED],
        ...(own.effective ? [["durability in effect", own.effective] as [string, string]] : []),
        ...(own.own_durability ? [["not as the tier", own.own_durability] as [string, string]] : []),
        ...(own.durability ? [["the tier rests on", own.durability] as [string, string]] : []),
      ])),
      ...section("Settings, as read back", settings.length > 0 && list(settings)),
      ...plans(own),
      ...section("Repeat it", h("pre", { class: "command", tabindex: 0 }, own.command)),
      file ? h("details", {}, h("summary", {}, `The workload file ${file[0]}`), h("pre", { tabindex: 0 }, file[1])) : null,
      ...(snippets.length > 0 ? [h("h3", {}, "In a program of your own"), ...snippets.map(({ client, command, text }) => text
        ? h("details", {}, h("summary", {}, `Opened with the same settings from ${client}`), h("pre", { tabindex: 0 }, text))
        : h("p", {}, `From ${client}: `, h("code", {}, command)))] : []),
      ...section("Measured on", list([["machine", of.machine], ["embermark", tool], ...of.about.map(({ about, says }): [string, string] => [about, says])])),
    ],
    csv: {
      name: `${known.engine(engine).name} ${known.titleOf(group)} ${id}`,
      header: ["engine", "variant", "status", "phase", "phase_status", "trial", "time_ns", "p50_ns", "p95_ns", "p99_ns", "p99_9_ns", "max_ns", "reason"],
      rows: () => own.phases.flatMap((phase): Value[][] => {
        const head = [known.engine(engine).name, own.variant, own.status, phase.phase, phase.status];
        const latency = (phase.response ?? phase.latency)?.slice(0, 5) ?? [null, null, null, null, null];
        return phase.trials.length > 0 ? phase.trials.map((ns, trial) => [...head, trial, ns, ...latency, phase.reason]) : [[...head, null, null, ...latency, phase.reason ?? own.reason]];
      }),
    },
  };
}

const section = (title: string, body: HTMLElement | false): HTMLElement[] => (body ? [h("h3", {}, title), body] : []);

/** Shows the time of an operation in each trial, and its percentiles. */
function phases(own: Cell): HTMLElement[] {
  const trials = Math.max(0, ...own.phases.map((phase) => phase.trials.length));
  if (own.phases.length === 0) return [];
  const spread = (latency: Percentiles | undefined) => latency ? latency.slice(0, 5).map((ns) => orDash(ns, duration)) : Array<string>(5).fill(NOT_MEASURED);
  const some = own.phases.some(({ latency, response }) => latency ?? response);
  const header = ["phase", "ended", ...Array.from({ length: trials }, (_, trial) => `trial ${trial + 1}`), ...(some ? ["p50", "p95", "p99", "p99.9", "max"] : [])];
  const rows = own.phases.map((phase) => [
    phase.phase, word(phase.status), ...Array.from({ length: trials }, (_, trial) => orDash(phase.trials[trial], duration)), ...(some ? spread(phase.response ?? phase.latency) : []),
  ]);
  const reasons = own.phases.filter(({ reason, checked_by }) => reason ?? checked_by);
  return [
    h("h3", {}, "Phases"),
    table("Time of an operation in each trial, and latency over all trials", header, rows),
    ...(reasons.length > 0 ? [list(reasons.map(({ phase, reason, checked_by }) => [phase, reason ?? `its answer was checked: ${checked_by}`]))] : []),
  ];
}

/** Shows the engine's query plan of each phase. */
function plans(own: Cell): HTMLElement[] {
  const known = own.phases.flatMap(({ phase, plan }) => plan === undefined ? [] : [h("details", {}, h("summary", {}, `Query plan of ${phase}`), h("pre", { tabindex: 0 }, plan))]);
  return known.length === 0 ? [] : [h("h3", {}, "Query plans"), h("p", { class: "hint" }, "As the engine reports them."), ...known];
}

function trials(own: Cell): HTMLElement | false {
  const row = ([index, status, reason, open]: Cell["trials"][number]) => [String(index + 1), word(status), orDash(open, duration), reason ?? ""];
  const lost = own.lost ?? [];
  if (own.trials.length + lost.length === 0) return false;
  return table(lost.length > 0 ? `Each in a fresh process; ${count(lost.length)} lost, which are in no figure` : "Each in a fresh process",
    ["trial", "ended", "to open", "why"], [...own.trials.map(row), ...lost.map(row)]);
}
