/**
 * What the site's data files hold. Groups, engines, machines and results have numbers: their places in the index.
 *
 * Generated from the Rust types by `crates/report/src/typescript.rs`: change them there. Times are ns,
 * sizes bytes. Null or absent means not measured, never zero.
 */

import type { Column, Note, Status, Tier } from "../data";

/** The version of the form that is described here. */
export const VERSION = 2;

/** A cell, whose engine has a number in the index. */
export type Cell = {
  /** The place of its engine. */
  engine: number,
  /** The variant. */
  variant: string,
  /** How it ended. */
  status: Status,
  /** Why, when not ok. */
  reason?: string,
  /** The tier that it has, if it is not the one asked for. */
  effective?: Tier,
  /** What its tier rests on. */
  durability?: string,
  /** In what its settings are not as the tier. */
  own_durability?: string,
  /** The engine's versions over the trials. */
  versions: Array<string>,
  /** Its settings, by their place. */
  settings?: number,
  /** Index, status, reason and ns to open of each trial. */
  trials: Array<[number, Status, string | null, number | null]>,
  /** Those that were lost: they are in no figure. */
  lost?: Array<[number, Status, string | null, number | null]>,
  /** What it used, by the columns of the index. */
  usage: Array<Rounded | null>,
  /** Its phases. */
  phases: Array<CellPhase>,
  /** The command that repeats it. */
  command: string,
  /** Numbers of programs that open and set its engine likewise. */
  snippets?: Array<number>,
};

/** A phase of a cell. */
export type CellPhase = {
  /** Its name. */
  phase: string,
  /** How it ended. */
  status: Status,
  /** Why, when not ok. */
  reason?: string,
  /** Who says that its answer is right, where no oracle does. */
  checked_by?: string,
  /** The plan that the engine has for its query. */
  plan?: string,
  /** The time of an operation in each trial, in ns. */
  trials: Array<Rounded>,
  /** Percentiles of an operation. */
  latency?: Percentiles,
  /** The same from its scheduled start. */
  response?: Percentiles,
};

/** The cells of a table of a result. */
export type Cells = {
  /** The cells. */
  cells: Array<Cell>,
  /** Settings that cells have. */
  settings: Array<Array<[string, string]>>,
  /** The workload file that commands name, and its text. */
  file?: [string, string],
};

/** A column of results. */
export type Engine = {
  /** The column's name in an address. */
  id: string,
  /** The column's name. */
  name: string,
  /** The name of its engine. */
  engine: string,
  /** `embedded`, `server` or `reference`. */
  kind?: string,
  /** Its data model. */
  model?: string,
  /** The licence of the engine. */
  licence?: string,
  /** Absent: embermark itself. */
  client?: string,
  /** Settings of its own. */
  settings?: string,
};

/** An engine over machines. */
export type EngineOverMachines = {
  /** The place of the engine. */
  engine: number,
  /** Machines with a result that has it. */
  machines: number,
  /** Its ratios over the rows. */
  rows: Spread | null,
  /** Its ratios over the questions. */
  questions: Spread | null,
  /** Medians of memory, size and bytes written. */
  used: [Rounded | null, Rounded | null, Rounded | null],
};

/** What an engine has to show in a phase. */
export type Figure = [ns: number, low: number | null, high: number | null, ratio: number | null, ratio_low: number | null, ratio_high: number | null, marks: string] | string | null;

/** A table. Lists of engines are in the order of `engines`. */
export type Figures = {
  /** Number of the group in the index. */
  group: number,
  /** The variant that runs every phase. */
  variant: string,
  /** Rows, repetitions, who is absent. */
  about: Array<string>,
  /** Numbers of the columns in the index. */
  engines: Array<number>,
  /** What has to be known of each engine: `(ref)`, `†`. */
  marks: Array<string>,
  /** How each engine stands over the rows. */
  rows: Array<Stands>,
  /** How each engine stands over the questions. */
  questions: Array<Stands>,
  /** By the columns of the index. */
  usage: Array<Array<Rounded | null>>,
  /** The phases, in display order. */
  phases: Array<Phase>,
};

/** What may be compared. */
export type Group = {
  /** The place of its workload. */
  workload: number,
  /** The scale as it is written. */
  scale: string,
  /** Absent for all rows of the data. */
  rows?: number,
  /** The memory limit as it is written, if any. */
  limit?: string,
  /** The imitated storage, if any. */
  storage?: string,
  /** The tier. */
  tier: Tier,
  /** What else was asked for than a plain run has: clients, a rate, cold reads, rows of one's own. */
  conditions?: string,
  /** How many results have it. */
  results: number,
  /** How many engines ran in it and compete, each as it comes and used by embermark itself. */
  engines: number,
};

/** An engine in one group over all results. */
export type History = {
  /** The engine's versions. */
  versions: Array<string>,
  /** `[result, version, rows, questions, used]`: rows and questions are `[ns, ratio]`, a text or nothing. */
  results: Array<[number, number | null, Past, Past, [Rounded | null, Rounded | null, Rounded | null]]>,
};

/** The choices. */
export type Index = {
  /** The version of this form. */
  site: number,
  /** The version of embermark that made the site. */
  tool: string,
  /** What is shown of resources. */
  columns: Array<Column>,
  /** Id and what it stands for. */
  workloads: Array<[string, string]>,
  /** What may be compared. */
  groups: Array<Group>,
  /** The columns of results. */
  engines: Array<Engine>,
  /** The machines. */
  machines: Array<PackedMachine>,
  /** The results. */
  results: Array<PackedResult>,
  /** Sets of groups that results have, each as first and last of every run of neighbours. */
  shapes: Array<Array<number>>,
  /** Of each engine the groups that it has a history in. */
  histories: Array<Array<number>>,
};

/** A table over machines: of each its [latest result of many engines](latest). */
export type OverMachines = {
  /** Each engine over machines. */
  engines: Array<EngineOverMachines>,
  /** Machine, result, and who is first in rows and in questions there. */
  machines: Array<[number, number, Array<number>, Array<number>]>,
};

/**
 * Hardware, by what its firmware and its kernel say of it. There may be a thousand: it is written as
 * `[id, name, says]`.
 */
export type PackedMachine = [id: string, name: string, says: string];

/** A result, written as `[id, machine, label, started, tool, shape]`. */
export type PackedResult = [id: string, machine: number, label: string, started: string, tool: string, shape: number];

/** How an engine stood once. */
export type Past = [Rounded, Rounded | null] | string | null;

/** Percentiles of a latency in ns. */
export type Percentiles = [p50: number, p95: number | null, p99: number | null, p99_9: number | null, max: number, samples: number];

/** A phase in a variant. */
export type Phase = {
  /** Absent where no engine came as far as a phase. */
  phase?: string,
  /** Where it is not that of most phases. */
  variant?: string,
  /** Its times are of one operation. */
  per_operation: boolean,
  /** The kind of its work, if it counts for one. */
  work?: Work,
  /** What each engine has to show. */
  figures: Array<Figure>,
};

/** What is said of a result beside its figures. */
export type ResultData = {
  /** The machine in a line. */
  machine: string,
  /** What may have disturbed the figures. */
  warnings: Array<string>,
  /** What was asked for and on what. */
  about: Array<Note>,
};

/** A number of five significant digits. What is not finite is absent. */
export type Rounded = number;

/** A program. */
export type Snippet = {
  /** The client, as `--client` takes it. */
  client: string,
  /** What prints it. */
  command: string,
  /** Absent where the engine is not here, or is a server. */
  text?: string,
};

/** Ratios over machines: on how many, their geometric mean, the least and the most. */
export type Spread = [number, Rounded, Rounded, Rounded];

/** How an engine stands. */
export type Stands = [ratio: number | null, low: number | null, high: number | null, ns: number, answered: number, phases: number, marks: string] | string | null;

/** Two kinds of work that are never in one mean. */
export type Work = "rows" | "questions";
