/**
 * What the site's data files hold: `crates/report/src/site` in TypeScript. Times are ns, sizes bytes; null or absent
 * means not measured, never zero. Numbers of groups, engines, machines and results are places in the index.
 */

import type { Column, Status, Tier } from "../data";

/** `data/index.js`: what every view needs. */
export interface Index {
  site: number;
  tool: string;
  columns: Column[];
  /** Id, and what it stands for. */
  workloads: [string, string][];
  groups: Group[];
  engines: Engine[];
  /** Id, name, hardware. */
  machines: [string, string, string][];
  /** Id, machine, label, began, version of embermark, shape. */
  results: [string, number, string, string, string, number][];
  /** Sets of groups: first and last of each run of neighbours. */
  shapes: number[][];
  /** Of each engine the groups that it has a history in. */
  histories: number[][];
}

/** What may be compared. */
export interface Group {
  workload: number;
  scale: string;
  rows?: number;
  limit?: string;
  storage?: string;
  tier: Tier;
  conditions?: string;
  /** How many results have it. */
  results: number;
  /** How many engines ran in it and compete, each as it comes and used by embermark itself. */
  engines: number;
}

export interface Engine {
  id: string;
  name: string;
  engine: string;
  kind?: string;
  model?: string;
  licence?: string;
  client?: string;
  settings?: string;
}

export interface Machine {
  id: string;
  name: string;
  says: string;
}

export interface Result {
  id: string;
  machine: number;
  label: string;
  started: string;
  tool: string;
  shape: number;
}

/** Ratio with its interval, ns, phases answered and all, marks; or why there is no mean. */
export type Stands = [number | null, number | null, number | null, number, number, number, string] | string | null;

/** Time in ns with its interval, ratio with its interval, marks; or how it ended. */
export type Figure = [number, number | null, number | null, number | null, number | null, number | null, string] | string | null;

export type Work = "rows" | "questions";

/** `data/result/ID.js`: what is said of a result beside its figures. */
export interface ResultData {
  machine: string;
  warnings: string[];
  about: { about: string; says: string }[];
}

/** `data/figures/ID/GROUP.js`: one table of a result; lists are in the order of its engines. */
export interface Figures {
  /** The variant that runs every phase. */
  variant: string;
  group: number;
  about: string[];
  engines: number[];
  marks: string[];
  rows: Stands[];
  questions: Stands[];
  /** By the columns of the index. */
  usage: (number | null)[][];
  phases: Phase[];
}

export interface Phase {
  phase?: string;
  variant?: string;
  per_operation: boolean;
  work?: Work;
  figures: Figure[];
}

/** `data/cells/ID/GROUP.js`: the cells of one table of a result. */
export interface Cells {
  cells: Cell[];
  settings: [string, string][][];
  /** Name and text of the workload file that commands name. */
  file?: [string, string];
}

export interface Cell {
  engine: number;
  variant: string;
  status: Status;
  reason?: string;
  effective?: Tier;
  durability?: string;
  own_durability?: string;
  versions: string[];
  settings?: number;
  trials: Trial[];
  lost?: Trial[];
  usage: (number | null)[];
  phases: CellPhase[];
  command: string;
  /** Numbers of programs that open and set its engine likewise. */
  snippets?: number[];
}

/** Index, status, reason, ns to open. */
export type Trial = [number, Status, string | null, number | null];

/** p50, p95, p99, p99.9, max, samples. */
export type Percentiles = [number, number | null, number | null, number | null, number, number];

export interface CellPhase {
  phase: string;
  status: Status;
  reason?: string;
  checked_by?: string;
  /** The plan that the engine has for its query. */
  plan?: string;
  trials: number[];
  latency?: Percentiles;
  response?: Percentiles;
}

/** `data/snippets/N.js`. */
export interface Snippet {
  client: string;
  command: string;
  /** Absent where the engine was not where the site was made. */
  text?: string;
}

/** Machines, geometric mean, least, most. */
export type Spread = [number, number, number, number];

/** Medians of memory, size on disk and bytes written. */
export type Used = (number | null)[];

/** `data/table/GROUP.js`: of each machine the latest result that has at least half of the engines of the fullest of all. */
export interface OverMachines {
  engines: { engine: number; machines: number; rows: Spread | null; questions: Spread | null; used: Used }[];
  /** Machine, result, who is first in rows and in questions. */
  machines: [number, number, number[], number[]][];
}

/** Time of an operation in ns and ratio; or why it was not measured. */
export type Past = [number, number | null] | string | null;

/** `data/history/ENGINE-GROUP.js`. */
export interface History {
  versions: string[];
  /** Result, version, rows, questions, what was used. */
  results: [number, number | null, Past, Past, Used][];
}
