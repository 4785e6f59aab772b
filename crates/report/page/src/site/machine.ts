/** The list of all machines, and the page of one. */

import { type Address, to } from "./address";
import { h } from "../dom";
import type { Known } from "./known";
import { type SortColumn, sorted } from "./sorted";
import type { View } from "./view";

/** Shows all machines. */
export function machines(known: Known, { chosen }: Address): View {
  const rows = known.machines.map(({ name, says }, machine) => ({ machine, name, says, results: known.resultsOf(machine) }));
  const columns: SortColumn<(typeof rows)[number]>[] = [
    { name: "machine", heading: "machine", show: ({ machine }) => [known.machineLink(machine)], key: ({ name }) => name },
    { name: "hardware", heading: "hardware", show: ({ says }) => [says], key: ({ says }) => says },
    { name: "results", heading: "results", show: ({ results }) => [String(results.length)], key: ({ results }) => -results.length },
  ];
  return {
    title: "Machines",
    about: ["Machines with the same board, CPU and memory count as one"],
    body: [sorted("Machines", rows, columns, chosen.get("sort"))],
    csv: { name: "machines", header: ["id", "machine", "hardware", "results"], rows: () => rows.map(({ machine, name, says, results }) => [known.machine(machine).id, name, says, results.length]) },
  };
}

/** Shows a machine, with its results and their tables. */
export function machine(known: Known, { path, chosen }: Address): View {
  const place = known.findMachine(path[1]);
  if (place === undefined) throw new Error("this site has no such machine");
  const { name, says } = known.machine(place);
  const results = known.resultsOf(place).map((result) => ({ result, ...known.result(result), groups: known.groupsOf(result).size }));
  const byResult: SortColumn<(typeof results)[number]>[] = [
    { name: "began", heading: "began", show: ({ started }) => [started.slice(0, 10)] },
    { name: "result", heading: "result", show: ({ id, label }) => [h("a", { href: to([], { machine: known.machine(place).id, result: id }) }, label)], key: ({ label }) => label },
    { name: "tables", heading: "tables", show: ({ groups }) => [String(groups)], key: ({ groups }) => -groups },
    { name: "embermark", heading: "embermark", show: ({ tool }) => [tool] },
  ];
  const latest = new Map<number, { result: number; count: number }>();
  for (const { result } of results) {
    for (const group of known.groupsOf(result)) {
      // The latest result comes first.
      const before = latest.get(group);
      latest.set(group, { result: before?.result ?? result, count: (before?.count ?? 0) + 1 });
    }
  }
  const tables = [...latest].sort(([a], [b]) => a - b).map(([group, of]) => ({ group, ...of }));
  const byTable: SortColumn<(typeof tables)[number]>[] = [
    { name: "table", heading: "table", show: ({ group, result }) => [h("a", { href: known.tableAddress(group, result) }, known.titleOf(group))] },
    { name: "latest", heading: "latest result", show: ({ result }) => [known.result(result).started.slice(0, 10)] },
    { name: "of", heading: "results", show: ({ count }) => [String(count)] },
  ];
  return {
    title: name,
    about: [says],
    body: [
      sorted("Results", results, byResult, chosen.get("sort")),
      h("h3", {}, "What was measured on it"),
      sorted("Tables, each of the latest result", tables, byTable, null),
    ],
    csv: {
      name, header: ["machine", "result", "label", "began", "embermark", "table"],
      rows: () => results.flatMap(({ result, id, label, started, tool }) => [...known.groupsOf(result)].map((group) => [name, id, label, started, tool, known.titleOf(group)])),
    },
  };
}
