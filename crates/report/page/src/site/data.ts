/**
 * Data files of the site. They name groups, engines, machines and results by their indexes in the index file.
 *
 * Generated from the Rust types by `crates/report/src/tests/typescript.rs`: change them there. Times are ns,
 * sizes bytes. Null or absent means not measured, never zero.
 */

import type { Column, Note, Status, Tier } from "../data";

/** The version of the form that is described here. */
export const VERSION = 2;

/** A cell of an engine. */
export type Cell = {
  /** Index of its engine in the index file. */
  engine: number,
  /** The variant. */
  variant: string,
  /** How it ended. */
  status: Status,
  /** The reason, if it is not ok. */
  reason?: string,
  /** The durability that it has, if it differs from the tier. */
  effective?: Tier,
  /** Evidence for what its tier promises. */
  durability?: string,
  /** How its settings differ from the tier. */
  own_durability?: string,
  /** The engine's versions over the trials. */
  versions: Array<string>,
  /** Index of its settings. */
  settings?: number,
  /** Index, status, reason and ns to open of each trial. */
  trials: Array<[number, Status, string | null, number | null]>,
  /** Trials that were lost. They are in no figure. */
  lost?: Array<[number, Status, string | null, number | null]>,
  /** Resources that it used, by the columns of the index. */
  usage: Array<Rounded | null>,
  /** Its phases. */
  phases: Array<CellPhase>,
  /** The command that repeats it. */
  command: string,
  /** Indexes of programs that open and set its engine in the same way. */
  snippets?: Array<number>,
};

/** A phase of a cell. */
export type CellPhase = {
  /** Its name. */
  phase: string,
  /** How it ended. */
  status: Status,
  /** The reason, if it is not ok. */
  reason?: string,
  /** What confirmed its answer, if no oracle checks it. */
  checked_by?: string,
  /** The engine's query plan. */
  plan?: string,
  /** The time of an operation in each trial, in ns. */
  trials: Array<Rounded>,
  /** Percentiles of the time of an operation. */
  latency?: Percentiles,
  /** Percentiles of the time from the scheduled start of an operation. */
  response?: Percentiles,
};

/** The cells of a table of a result. */
export type Cells = {
  /** The cells. */
  cells: Array<Cell>,
  /** The different settings of the cells. */
  settings: Array<Array<[string, string]>>,
  /** The workload file that commands name, with its text. */
  file?: [string, string],
};

/** A column of results. */
export type Engine = {
  /** The column's name in addresses. */
  id: string,
  /** The column's name. */
  name: string,
  /** The name of the engine. */
  engine: string,
  /** `embedded`, `server` or `reference`. */
  kind?: string,
  /** Its data model. */
  model?: string,
  /** The engine's licence. */
  licence?: string,
  /** The client. Absent for embermark itself. */
  client?: string,
  /** Settings of the configuration. */
  settings?: string,
};

/** An engine over machines. */
export type EngineOverMachines = {
  /** Index of the engine. */
  engine: number,
  /** Number of machines with a result that has it. */
  machines: number,
  /** Ratios over the rows. */
  rows: Spread | null,
  /** Ratios over the questions. */
  questions: Spread | null,
  /** Medians of memory, size and bytes written. */
  used: [Rounded | null, Rounded | null, Rounded | null],
};

/** The figure of an engine in a phase. */
export type Figure = [ns: number, low: number | null, high: number | null, ratio: number | null, ratio_low: number | null, ratio_high: number | null, marks: string] | string | null;

/** A table. Lists of engines are in the order of `engines`. */
export type Figures = {
  /** Index of the group in the index file. */
  group: number,
  /** The variant that runs every phase. */
  variant: string,
  /** Rows, repetitions and absent engines. */
  about: Array<string>,
  /** Indexes of the columns in the index file. */
  engines: Array<number>,
  /** Marks of each engine: `(ref)`, `†`. */
  marks: Array<string>,
  /** Summary of each engine over the rows. */
  rows: Array<Stands>,
  /** Summary of each engine over the questions. */
  questions: Array<Stands>,
  /**
   * Resources of each engine, by the columns of the index. Sums of less than the whole work are
   * absent.
   */
  usage: Array<Array<Rounded | null>>,
  /** The phases, in display order. */
  phases: Array<Phase>,
};

/** A group of figures that may be compared. */
export type Group = {
  /** Index of its workload. */
  workload: number,
  /** The scale as text. */
  scale: string,
  /** Number of rows. Absent for all rows of the data. */
  rows?: number,
  /** The memory limit as text, if any. */
  limit?: string,
  /** The imitated storage, if any. */
  storage?: string,
  /** The tier. */
  tier: Tier,
  /** Other conditions that a plain run does not have. */
  conditions?: string,
  /** Number of results that have it. */
  results: number,
  /**
   * Number of engines that ran in it and compete, without configurations and clients of other
   * languages.
   */
  engines: number,
};

/** An engine in one group over all results. */
export type History = {
  /** The engine's versions. */
  versions: Array<string>,
  /**
   * `[result, version, rows, questions, used]`. Rows and questions are `[ns, ratio]`, a text or
   * null.
   */
  results: Array<[number, number | null, Past, Past, [Rounded | null, Rounded | null, Rounded | null]]>,
};

/** The index. */
export type Index = {
  /** Version of the format. */
  site: number,
  /** Version of embermark that made the site. */
  tool: string,
  /** Resources that are shown. */
  columns: Array<Column>,
  /** Id and description. */
  workloads: Array<[string, string]>,
  /** Groups of figures that may be compared. */
  groups: Array<Group>,
  /** The columns of results. */
  engines: Array<Engine>,
  /** The machines. */
  machines: Array<PackedMachine>,
  /** The results. */
  results: Array<PackedResult>,
  /** Sets of groups that results have, each as the first and the last of every run of neighbours. */
  shapes: Array<Array<number>>,
  /** For each engine, the groups in which it has a history. */
  histories: Array<Array<number>>,
};

/** A table over machines, from the [latest result with many engines](latest) of each. */
export type OverMachines = {
  /** Each engine over machines. */
  engines: Array<EngineOverMachines>,
  /** Machine, result, and the best engines in rows and in questions there. */
  machines: Array<[number, number, Array<number>, Array<number>]>,
};

/**
 * Hardware, as its firmware and its kernel describe it. There may be a thousand, so it is
 * serialized as `[id, name, says]`.
 */
export type PackedMachine = [id: string, name: string, says: string];

/** A result, serialized as `[id, machine, label, started, tool, shape]`. */
export type PackedResult = [id: string, machine: number, label: string, started: string, tool: string, shape: number];

/** Summary of an engine in an earlier result. */
export type Past = [Rounded, Rounded | null] | string | null;

/** Percentiles of a latency in ns. */
export type Percentiles = [p50: number, p95: number | null, p99: number | null, p99_9: number | null, max: number, samples: number];

/** A phase in a variant. */
export type Phase = {
  /** Name. Absent if no engine reached a phase. */
  phase?: string,
  /** The variant, if it is not that of most phases. */
  variant?: string,
  /** Whether its times are of one operation. */
  per_operation: boolean,
  /** The kind of its work, if it counts for one. */
  work?: Work,
  /** The figure of each engine. */
  figures: Array<Figure>,
};

/** Data of a result other than its figures. */
export type ResultData = {
  /** Description of the machine in one line. */
  machine: string,
  /** Conditions that may have disturbed the figures. */
  warnings: Array<string>,
  /** The plan and the machine. */
  about: Array<Note>,
};

/** A number of five significant digits. Serialized as null if it is not finite. */
export type Rounded = number;

/** A program. */
export type Snippet = {
  /** The client, as `--client` takes it. */
  client: string,
  /** The command that prints it. */
  command: string,
  /** Its text. Absent if the engine is not on this machine, or is a server. */
  text?: string,
};

/** Ratios over machines: their number, geometric mean, minimum and maximum. */
export type Spread = [number, Rounded, Rounded, Rounded];

/** Summary of an engine. */
export type Stands = [ratio: number | null, low: number | null, high: number | null, ns: number, answered: number, phases: number, marks: string] | string | null;

/** Two kinds of work that never share a mean. */
export type Work = "rows" | "questions";
