/** Rankings, of all machines or of one result of a machine. */

import type { Address } from "./address";
import { engineBoxes, form, leftOut, pick, type Select } from "./choose";
import type { Figures, OverMachines, ResultData, Spread } from "./data";
import { h, unique } from "../dom";
import { amount, orDash, ratio } from "../format";
import type { Known } from "./known";
import { load } from "./load";
import { phases } from "./phases";
import { type SortColumn, sorted, usedColumns } from "./sorted";
import { placeOf, shown } from "./stands";
import type { Value } from "./csv";
import type { View } from "./view";

const ALL = "all";

/** Value in an address for engines that embermark itself uses. */
const NATIVE = "native";

export async function rankings(known: Known, { chosen }: Address): Promise<View> {
  const { index } = known;
  const machine = known.findMachine(chosen.get("machine")) ?? (known.machines.length === 1 ? 0 : undefined);
  const own = machine === undefined ? undefined : known.resultsOf(machine);
  const groups = own ? unique(own.flatMap((result) => [...known.groupsOf(result)])).sort((a, b) => a - b) : [...index.groups.keys()];
  const { group, selects } = pick(known, groups, chosen);
  if (group === undefined) throw new Error("there is no result here");
  const machines: Select = {
    name: "machine", label: "Machine", value: machine === undefined ? ALL : known.machine(machine).id,
    options: [...(known.machines.length > 1 ? [[ALL, `all ${known.machines.length} machines`] as [string, string]] : []),
      ...known.machines.map(({ id, label }): [string, string] => [id, label]).sort(([, a], [, b]) => (a < b ? -1 : 1))],
  };
  if (own === undefined) return overMachines(known, group, chosen, [machines, ...selects]);
  const results = own.filter((result) => known.groupsOf(result).has(group));
  const result = results.find((result) => known.result(result).id === chosen.get("result")) ?? results[0] ?? 0;
  const runs: Select = {
    name: "result", label: "Result", value: known.result(result).id,
    options: results.map((place) => {
      const { id, label, started } = known.result(place);
      return [id, `${label}, ${started.slice(0, 10)}`];
    }),
  };
  return ofResult(known, group, result, chosen, [machines, ...selects, runs]);
}

/** Asks which client engines are used from, and returns the engines of the answer. */
function clients(known: Known, engines: number[], chosen: URLSearchParams): { select: Select[]; engines: Set<number> } {
  const of = (engine: number) => known.engine(engine).client ?? NATIVE;
  const all = unique(engines.map(of)).sort((a, b) => Number(b === NATIVE) - Number(a === NATIVE) || (a < b ? -1 : 1));
  const value = all.find((client) => client === chosen.get("client")) ?? ALL;
  const words = (client: string): [string, string] => [client, client === NATIVE ? "embermark itself" : client];
  const select: Select[] = all.length < 2 ? [] : [{ name: "client", label: "Used from", value, options: [[ALL, "all"], ...all.map(words)] }];
  return { select, engines: new Set(engines.filter((engine) => value === ALL || of(engine) === value)) };
}

interface Column {
  place: number;
  engine: number;
}

async function ofResult(known: Known, group: number, result: number, chosen: URLSearchParams, selects: Select[]): Promise<View> {
  const { id, machine, label, started } = known.result(result);
  const [data, figures] = await Promise.all([load<ResultData>(`result/${id}`), load<Figures>(`figures/${id}/${group}`)]);
  const without = leftOut(chosen);
  const { select, engines } = clients(known, figures.engines, chosen);
  const all = figures.engines.map((engine, place): Column => ({ place, engine }));
  const columns = all.filter(({ engine }) => engines.has(engine) && !without.has(known.engine(engine).id));
  return {
    title: known.titleOf(group),
    about: [known.machineLink(machine), `${label}, ${started.slice(0, 10)}`, ...figures.about],
    body: [
      form([...selects, ...select]),
      engineBoxes(all.map(({ engine }) => [known.engine(engine).id, known.engine(engine).name]), without),
      data.warnings.length > 0 && h("details", { class: "warnings" }, h("summary", {}, data.warnings.length === 1 ? "A warning about this run" : `${data.warnings.length} warnings about this run`), h("ul", {}, data.warnings.map((says) => h("li", {}, says)))),
      columns.length === 0 ? "Nothing is left to show: choose more engines above." : ranking(known, figures, columns, chosen.get("sort")),
      h("p", { class: "hint" }, HOW),
      columns.length > 0 && phases(known, result, figures, columns),
    ],
    csv: csvOf(known, figures, columns),
  };
}

const HOW = "Rows are inserted, fetched and changed. Questions read many rows. A ratio is the geometric mean, over the phases, of the time divided by that of the first engine of the result, shown or not, with its 95 % interval. ≈ not significantly slower than the first. 6/7 answered 6 of 7 phases: its ratio is to the best of each, and it has no place.";

/** Makes the ranking by rows, or else by questions. Engines without a rank come last. */
function ranking(known: Known, figures: Figures, columns: Column[], sort: string | null): HTMLElement {
  const kinds: { name: "rows" | "questions"; heading: string }[] = [{ name: "rows", heading: "rows" }, { name: "questions", heading: "questions" }];
  const byWork = kinds.filter(({ name }) => columns.some(({ place }) => figures[name][place] ?? null)).map(({ name, heading }): SortColumn<Column> => {
    const ranked = ({ place }: Column) => (isRanked(figures, place) ? placeOf(figures[name][place] ?? null) : null);
    const most = Math.max(...columns.map((column) => ranked(column) ?? 1));
    return { name, heading, title: `time for ${heading} over that of the first`, show: ({ place }) => shown(figures[name][place] ?? null, most), key: ranked };
  });
  const resources = known.index.columns.map((column, at) => ({ ...column, at })).sort((a, b) => urgency(a.key) - urgency(b.key) || a.at - b.at);
  const used = resources.flatMap(({ key, about, quantity, at }): SortColumn<Column>[] => {
    const of = ({ place }: Column) => figures.usage[place]?.[at] ?? null;
    return columns.some((column) => of(column) !== null)
      ? [{ name: key, heading: about, show: (column) => [orDash(of(column), amount(quantity))], key: of }]
      : [];
  });
  const name: SortColumn<Column> = { name: "engine", heading: "engine", show: ({ engine, place }) => [known.engineLink(engine, figures.group), mark(figures.marks[place])] };
  return sorted("Engines, the fastest first", columns, [name, ...byWork, ...used], sort);
}

/** Resources of which devices have the least. Their columns come first. */
const SCARCE = ["peak_above_baseline_bytes", "disk_bytes", "written_to_device_bytes"];
const urgency = (key: string): number => (SCARCE.includes(key) ? SCARCE.indexOf(key) : SCARCE.length);

const mark = (marks: string | undefined): string => (marks ? ` ${marks}` : "");

/** References, and engines with another durability, have no rank. */
const isRanked = (figures: Figures, place: number): boolean => !/\((ref|weaker|own|by URL)\)/.test(figures.marks[place] ?? "");

function csvOf(known: Known, figures: Figures, columns: Column[]): View["csv"] {
  const header = ["engine", "marks", "variant", "phase", "work", "per_operation", "time_ns", "time_low_ns", "time_high_ns", "ratio", "ratio_low", "ratio_high", "figure_marks",
    ...known.index.columns.map(({ key }) => key)];
  const rows = () => columns.flatMap(({ engine, place }): Value[][] => {
    const head = [known.engine(engine).name, figures.marks[place]];
    const means = (["rows", "questions"] as const).map((work): Value[] => {
      const stands = figures[work][place] ?? null;
      if (!Array.isArray(stands)) return [...head, null, "mean", work, null, null, null, null, null, null, null, stands, ...(figures.usage[place] ?? [])];
      const [times, low, high, ns, answered, of, marks] = stands;
      return [...head, null, `mean of ${answered} of ${of}`, work, "true", ns, null, null, times, low, high, marks, ...(figures.usage[place] ?? [])];
    });
    return [...means, ...figures.phases.map((phase): Value[] => {
      const figure = phase.figures[place] ?? null;
      const values = Array.isArray(figure) ? figure : [null, null, null, null, null, null, figure];
      return [...head, phase.variant, phase.phase, phase.work, String(phase.per_operation), ...values];
    })];
  });
  return { name: known.titleOf(figures.group), header, rows };
}

interface Line {
  engine: number;
  machines: number;
  rows: Spread | null;
  questions: Spread | null;
  used: (number | null)[];
}

async function overMachines(known: Known, group: number, chosen: URLSearchParams, selects: Select[]): Promise<View> {
  const data = await load<OverMachines>(`table/${group}`);
  const without = leftOut(chosen);
  const { select, engines } = clients(known, data.engines.map(({ engine }) => engine), chosen);
  const lines: Line[] = data.engines.filter(({ engine }) => engines.has(engine) && !without.has(known.engine(engine).id));
  const of = data.machines.length;
  const all = unique([...known.results.keys()].filter((result) => known.groupsOf(result).has(group)).map((result) => known.result(result).machine)).length;
  const fewer = lines.flatMap(({ rows, questions }) => [rows, questions]).find((spread) => spread && spread[0] < of);
  // A mean over other machines gives no rank among these.
  const place = (spread: Spread | null) => (spread && spread[0] === of ? spread[1] : null);
  const byWork = (["rows", "questions"] as const).filter((work) => lines.some((line) => line[work])).map((work): SortColumn<Line> => ({
    name: work, heading: work, title: `time for ${work} over that of each machine's first`,
    show: (line) => spreadText(line[work], of), key: (line) => place(line[work]),
  }));
  const columns: SortColumn<Line>[] = [
    { name: "engine", heading: "engine", show: ({ engine }) => [known.engineLink(engine, group)] }, ...byWork, ...usedColumns(lines, "median over the machines"),
    { name: "machines", heading: "machines", show: ({ machines }) => [String(machines)], key: ({ machines }) => -machines },
  ];
  const firsts = (all: number[]) => all.map((engine) => known.engine(engine).name).join(", ") || "-";
  const machines: SortColumn<OverMachines["machines"][number]>[] = [
    { name: "machine", heading: "machine", show: ([machine]) => [known.machineLink(machine)] },
    { name: "first-rows", heading: "first with rows", show: ([, , rows]) => [firsts(rows)] },
    { name: "first-questions", heading: "first with questions", show: ([, , , questions]) => [firsts(questions)] },
    { name: "ranking", heading: "its ranking", show: ([, result]) => [h("a", { href: known.tableAddress(group, result) }, known.result(result).started.slice(0, 10))] },
  ];
  return {
    title: known.titleOf(group),
    about: [of === 1 && all === 1 ? "one machine" : `${of === all ? of : `${of} of ${all}`} machines, of each its latest result`, ...(of < all ? ["the others have no result with at least half of the engines"] : [])],
    body: [
      form([...selects, ...select]),
      engineBoxes(data.engines.map(({ engine }) => [known.engine(engine).id, known.engine(engine).name]), without),
      lines.length === 0 ? "Nothing is left to show: choose more engines above." : sorted("Engines, the fastest first", lines, columns, chosen.get("sort")),
      h("p", { class: "hint" }, "A ratio is the geometric mean, over the machines, of an engine's time divided by that of each machine's first engine, with the smallest and the largest. Choose a machine for intervals, phases and memory." +
        (fewer ? ` ${fewer[0]}/${of}: only ${fewer[0]} of ${of} machines ${fewer[0] === 1 ? "has" : "have"} it, so it has no place.` : "")),
      h("h3", {}, "Machines"),
      sorted("Machines, with the first engines of each", data.machines, machines, null),
    ],
    csv: {
      name: known.titleOf(group),
      header: ["engine", "machines", "rows_machines", "rows_ratio", "rows_least", "rows_most", "questions_machines", "questions_ratio", "questions_least", "questions_most", "memory_bytes", "disk_bytes", "written_to_device_bytes"],
      rows: () => lines.map(({ engine, machines, rows, questions, used }) => [known.engine(engine).name, machines, ...(rows ?? NOTHING), ...(questions ?? NOTHING), ...used]),
    },
  };
}

const NOTHING: Value[] = [null, null, null, null];

function spreadText(spread: Spread | null, of: number): (Node | string)[] {
  if (!spread) return ["-"];
  const [machines, mean, least, most] = spread;
  return [h("span", {}, ratio(mean) + (machines < of ? ` ${machines}/${of}` : "")), h("small", {}, least === most ? "" : ` ${ratio(least).slice(0, -1)}–${ratio(most)}`)];
}
