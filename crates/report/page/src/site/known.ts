/** The index, with functions that look things up in it. */

import { type Engine, type Figures, type Group, type Index, VERSION } from "./data";
import { to } from "./address";
import { h } from "../dom";

/** A machine of the index, unpacked. */
export interface Machine {
  id: string;
  /** Its name, which no other machine of the index has. */
  name: string;
  says: string;
  /** Name and hardware, which together no other machine has. */
  label: string;
}

/** A result of the index, unpacked. */
export interface Result {
  id: string;
  machine: number;
  label: string;
  started: string;
  tool: string;
  shape: number;
}

/** Input of every view. */
export class Known {
  readonly index: Index;
  readonly machines: Machine[];
  readonly results: Result[];
  private readonly shapes: Set<number>[];
  private readonly machineIds: Map<string, number>;
  private readonly engineIds: Map<string, number>;
  private readonly resultIds: Map<string, number>;

  constructor(index: Index) {
    if (index.site !== VERSION) throw new Error(`the data has form ${index.site}, and this page reads form ${VERSION}: copy the whole folder of the site`);
    this.index = index;
    this.machines = unpacked(index.machines);
    this.results = index.results.map(([id, machine, label, started, tool, shape]) => ({ id, machine, label, started, tool, shape }));
    this.shapes = index.shapes.map(members);
    this.machineIds = places(this.machines);
    this.engineIds = places(index.engines);
    this.resultIds = places(this.results);
  }

  group = (place: number): Group => at(this.index.groups, place);
  engine = (place: number): Engine => at(this.index.engines, place);
  machine = (place: number): Machine => at(this.machines, place);
  result = (place: number): Result => at(this.results, place);

  /** Returns the index of an id. */
  findMachine = (id: string | null | undefined): number | undefined => this.machineIds.get(id ?? "");
  findEngine = (id: string | null | undefined): number | undefined => this.engineIds.get(id ?? "");
  findResult = (id: string | null | undefined): number | undefined => this.resultIds.get(id ?? "");

  /** Returns the groups of a result. */
  groupsOf = (result: number): Set<number> => at(this.shapes, this.result(result).shape);

  /** Returns the groups in which an engine has a history. */
  groupsWith = (engine: number): number[] => at(this.index.histories, engine);

  /** Returns the results of a machine, the latest first. */
  resultsOf(machine: number): number[] {
    const own = [...this.results.keys()].filter((result) => this.result(result).machine === machine);
    return own.sort((a, b) => compare(this.result(b).started, this.result(a).started) || a - b);
  }

  workloadOf = (group: Group): string => at(this.index.workloads, group.workload)[0];

  /**
   * The group that is shown to a reader who has not chosen: a built-in workload without imitated
   * storage or limit, with commits that survive a crash. Among those it prefers, in this order, the
   * table with the most engines, without further conditions, with the most results, `sensors`, and
   * the most rows.
   */
  worth(place: number): number[] {
    const { workload, conditions, storage, limit, tier, engines, results, rows } = this.group(place);
    const [id, about] = at(this.index.workloads, workload);
    const usual = [about !== "", !storage, !limit, tier === "process"].map(Number);
    return [...usual, engines, Number(!conditions), results, Number(id === "sensors"), rows ?? Infinity];
  }

  /** Formats a group: `sensors 1M within 256 MiB on sd-a1 · durability process`. */
  titleOf(place: number): string {
    const group = this.group(place);
    const extent = [group.scale, group.limit && `within ${group.limit}`, group.storage && `on ${group.storage}`].filter(Boolean).join(" ");
    return [`${this.workloadOf(group)} ${extent}`, `durability ${group.tier}`, group.conditions].filter(Boolean).join(" · ");
  }

  /** Returns the address of a group. */
  chosen(place: number): Record<string, string> {
    const group = this.group(place);
    return Object.fromEntries(FACETS.map(({ name, of }) => [name, of(this, group)]));
  }

  /** Returns the group that an address names. Undefined if there is no such group. */
  findGroup(chosen: URLSearchParams): number | undefined {
    const is = (group: Group) => FACETS.every(({ name, of }) => (chosen.get(name) ?? NONE) === of(this, group));
    const found = this.index.groups.findIndex(is);
    return found < 0 ? undefined : found;
  }

  /** Makes a link to an engine's page, with this group chosen. */
  engineLink(place: number, group?: number, marks = ""): HTMLElement {
    const engine = this.engine(place);
    return h("a", { href: to(["engine", engine.id], group === undefined ? {} : this.chosen(group)), title: engine.engine }, engine.name + marks);
  }

  /** Makes a link to a machine's page. */
  machineLink(place: number): HTMLElement {
    const machine = this.machine(place);
    return h("a", { href: to(["machine", machine.id]), title: machine.says }, machine.name);
  }

  /** Returns the address of a table: of a result, or of all machines. */
  tableAddress(group: number, result?: number): string {
    const own = result === undefined ? {} : { machine: this.machine(this.result(result).machine).id, result: this.result(result).id };
    return to([], { ...this.chosen(group), ...own });
  }

  /** Returns the address of a cell. */
  cellAddress(result: number, { group, engines }: Figures, column: number, variant: string): string {
    const engine = this.engine(engines[column] ?? -1);
    return to(["cell", this.result(result).id], { engine: engine.id, variant, ...this.chosen(group) });
  }
}

/** Value in an address for no limit, no imitated storage, or no extra conditions. */
export const NONE = "none";

/** A property that distinguishes groups: its name in an address, and its text. */
export interface Facet {
  name: string;
  label: string;
  of: (known: Known, group: Group) => string;
  /** Text for NONE. */
  none?: string;
}

export const FACETS: Facet[] = [
  { name: "workload", label: "Workload", of: (known, group) => known.workloadOf(group) },
  { name: "scale", label: "Rows", of: (_, group) => group.scale },
  { name: "tier", label: "Durability", of: (_, group) => group.tier },
  { name: "storage", label: "Storage", of: (_, group) => group.storage ?? NONE, none: "each machine's own" },
  { name: "memory-limit", label: "Memory limit", of: (_, group) => group.limit ?? NONE, none: "none" },
  { name: "conditions", label: "Conditions", of: (_, group) => group.conditions ?? NONE, none: "usual" },
];

/** Compares texts by their characters, whatever the reader's language. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function at<T>(all: T[], place: number): T {
  const found = all[place];
  if (found === undefined) throw new Error("the data does not fit together: copy the whole folder of the site");
  return found;
}

/** Unpacks machines. Of several with one name the hardware tells which is which, and else a number. */
function unpacked(machines: Index["machines"]): Machine[] {
  const wholes = machines.map(([, name, says]) => (says.startsWith(name) ? says : `${name}, ${says}`));
  return machines.map(([id, name, says], place) => {
    const whole = wholes[place] ?? name;
    const alike = wholes.slice(0, place).filter((other) => other === whole).length;
    const label = alike === 0 ? whole : `${whole} (${alike + 1})`;
    const isAlone = machines.every(([, other], at) => at === place || other !== name);
    return { id, name: isAlone ? name : label, says, label };
  });
}

const places = (all: { id: string }[]): Map<string, number> => new Map(all.map(({ id }, place) => [id, place]));

function members(shape: number[]): Set<number> {
  const all = new Set<number>();
  for (let place = 0; place + 1 < shape.length; place += 2) {
    for (let group = shape[place] ?? 0; group <= (shape[place + 1] ?? -1); group += 1) all.add(group);
  }
  return all;
}
