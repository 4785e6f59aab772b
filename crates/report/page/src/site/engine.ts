/** The list of all engines, and the page of one: its facts and its history in a table. */

import type { Address } from "./address";
import { form, pick } from "./choose";
import type { Value } from "./csv";
import type { History, Past } from "./data";
import { h, list } from "../dom";
import { duration, orDash, ratio, significant } from "../format";
import { compare, type Known } from "./known";
import { load } from "./load";
import { type SortColumn, sorted, usedColumns } from "./sorted";
import type { View } from "./view";

/** Shows all engines. */
export function engines(known: Known, { chosen }: Address): View {
  const rows = known.index.engines.map((engine, place) => ({ ...engine, place }));
  const text = (name: "engine" | "kind" | "model" | "client" | "settings" | "licence", heading: string): SortColumn<(typeof rows)[number]> =>
    ({ name, heading, show: (row) => [row[name] ?? "-"], key: (row) => row[name] ?? null });
  const columns: SortColumn<(typeof rows)[number]>[] = [
    { name: "name", heading: "name", show: ({ place }) => [known.engineLink(place)], key: ({ name }) => name },
    text("engine", "engine"), text("kind", "kind"), text("model", "data model"), text("client", "used from"), text("settings", "own settings"), text("licence", "licence"),
  ];
  return {
    title: "Engines",
    body: [sorted("Engines", rows, columns, chosen.get("sort"))],
    csv: {
      name: "engines", header: ["id", "name", "engine", "kind", "data_model", "client", "settings", "licence"],
      rows: () => rows.map(({ id, name, engine, kind, model, client, settings, licence }) => [id, name, engine, kind, model, client, settings, licence]),
    },
  };
}

/** A result in the history of an engine. */
interface Line {
  result: number;
  machine: number;
  started: string;
  version: string;
  rows: Past;
  questions: Past;
  used: (number | null)[];
  /** The line before it on the same machine. */
  before?: Line;
}

/** An engine in one table over all results: on each machine, from the first result to the last. */
export async function engine(known: Known, { path, chosen }: Address): Promise<View> {
  const place = known.findEngine(path[1]);
  if (place === undefined) throw new Error("this site has no such engine");
  const { name, engine, kind, model, licence, client, settings } = known.engine(place);
  const facts = list([["engine", engine], ["kind", kind ?? ""], ["data model", model ?? ""], ["licence", licence ?? ""], ["used from", client ?? ""], ["own settings", settings ?? ""]]
    .filter((row): row is [string, string] => row[1] !== ""));
  const groups = known.groupsWith(place);
  const { group, selects } = pick(known, groups, chosen);
  if (group === undefined) throw new Error("nothing of this engine can be shown");
  const data = await load<History>(`history/${place}-${group}`);
  const lines = data.results.map(([result, version, rows, questions, used]): Line => {
    const { machine, started } = known.result(result);
    return { result, machine, started, version: version === null ? "" : data.versions[version] ?? "", rows, questions, used };
  }).sort((a, b) => compare(known.machine(a.machine).name, known.machine(b.machine).name) || a.machine - b.machine || compare(a.started, b.started) || a.result - b.result);
  lines.forEach((line, at) => {
    const before = lines[at - 1];
    if (before?.machine === line.machine) line.before = before;
  });
  const work = (name: "rows" | "questions"): SortColumn<Line>[] => lines.some((line) => line[name] !== null) ? [
    { name, heading: `${name}, an operation`, title: "geometric mean over the phases", show: (line) => past(line[name]), key: (line) => timeOf(line[name]) },
    { name: `${name}-change`, heading: "against the result before", title: `time for ${name} over that of the result before on this machine`, show: (line) => [change(line, name)] },
    { name: `${name}-ratio`, heading: "over the first", title: `time for ${name} over that of the first there`, show: (line) => [orDash(ratioOf(line[name]), ratio)], key: (line) => ratioOf(line[name]) },
  ] : [];
  const order = new Map(lines.map((line, at) => [line, at]));
  const columns: SortColumn<Line>[] = [
    { name: "machine", heading: "machine", show: ({ machine }) => [known.machineLink(machine)], key: (line) => order.get(line) ?? null },
    { name: "began", heading: "began", show: ({ result, started }) => [h("a", { href: known.tableAddress(group, result) }, started.slice(0, 10))], key: ({ started }) => started },
    { name: "version", heading: "version", show: ({ version }) => [version || "-"], key: ({ version }) => version },
    ...work("rows"), ...work("questions"), ...usedColumns(lines),
  ];
  return {
    title: name,
    about: [known.titleOf(group)],
    body: [
      facts, form(selects),
      h("h3", {}, "History"),
      h("p", { class: "hint" }, "Each machine's results from the first to the last. Two runs on one machine also differ by chance: embermark compare shows whether a difference is significant."),
      sorted("Results, by machine and time", lines, columns, chosen.get("sort")),
    ],
    csv: {
      name: `${name} ${known.titleOf(group)}`,
      header: ["engine", "version", "machine", "result", "began", "rows_ns", "rows_ratio", "questions_ns", "questions_ratio", "memory_bytes", "disk_bytes", "written_to_device_bytes"],
      rows: () => lines.map((line): Value[] => [name, line.version, known.machine(line.machine).name, known.result(line.result).id, line.started,
        ...(["rows", "questions"] as const).flatMap((work): Value[] => (Array.isArray(line[work]) ? [...line[work]] : [line[work] as string | null, null])), ...line.used]),
    },
  };
}

const timeOf = (past: Past): number | null => (Array.isArray(past) ? past[0] : null);
const ratioOf = (past: Past): number | null => (Array.isArray(past) ? past[1] : null);
const past = (of: Past): (Node | string)[] => (of === null ? ["-"] : typeof of === "string" ? [h("span", { class: "apart" }, of)] : [duration(of[0])]);

/** Formats a change: `0.97x`. The version is next to it, because it may differ. */
function change(line: Line, work: "rows" | "questions"): string {
  const [now, before] = [timeOf(line[work]), line.before ? timeOf(line.before[work]) : null];
  if (now === null || before === null) return "-";
  return `${significant(now / before)}x`;
}

