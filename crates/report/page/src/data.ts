/**
 * What the page is given: `crates/report/src/html/data.rs` in TypeScript. Times are ns, sizes
 * bytes; null or absent means not measured, never zero.
 */

export type Tier = "none" | "process" | "power";
export type Status = "ok" | "capped" | "disputed" | "skipped" | "not-run" | "unsupported" | "unavailable" | "timed-out" | "failed" | "wrong";
export type Kind = "embedded" | "server" | "reference";

export interface Page {
  page: number;
  tool: string;
  face: string | null;
  results: Result[];
  /** In what they were not measured alike. */
  unlike: string[];
  resource_columns: Column[];
  load_columns: Column[];
  beside_columns: Column[];
  explained_columns: Column[];
  /** By id. */
  engines: Record<string, EngineFacts>;
  workloads: WorkloadFacts[];
  cells: Cell[];
  entries: Entry[];
  /** What more rows do to time, of each result. */
  scaling: Scaling[];
  published: Table[];
  /** What modelled flash cards would have programmed; absent where none was asked for. */
  flash?: Table[];
  answer: Answer[];
  costs: Table[];
  /** Situations to begin with; the first is all work alike. */
  presets: Preset[];
  advice: Advisable[];
  /** What was tried of durability; absent where no tier of what is shown promises anything. */
  durability?: Durability;
  /** The engines that `embermark tune` has tuned; such a page has nothing else. */
  tuned?: Tuning;
  /** Many devices side by side; such a page has nothing else. */
  fleet?: Fleet;
}

/** `crates/report/src/html/tuned.rs`. */
export interface Tuning {
  /** For what, and on what. */
  about: string;
  /** Every engine in a line. */
  overview: Omit<Table, "result" | "notes">;
  engines: {
    title: string;
    notes: Note[];
    /** Absent where today's settings stay. */
    better?: { because: Tuning["overview"]; program: string; plan: string };
    candidates: Tuning["overview"];
  }[];
}

/** `crates/report/src/fleet.rs`. */
export interface Fleet {
  devices: Device[];
  engines: { id: string; versions: string[]; reference: boolean; unpublishable: boolean }[];
  lines: { workload: string; extent: string; tier: Tier }[];
  boxes: Packed[];
}

/** A standing as it is written: device, line, engine, ratio, ns, flags (1 whole, 2 best), says; the last may be missing. */
export type Packed = [number, number, number, (number | null)?, (number | null)?, number?, string?];

/** How the engines of a fleet stand. */
export function standings(fleet: Fleet): Standing[] {
  return fleet.boxes.map(([device, line, engine, ratio = null, ns = null, flags = 0, says = null]) => ({
    device, line, engine, ratio, ns, whole: (flags & 1) !== 0, best: (flags & 2) !== 0, says,
  }));
}

export interface Device {
  name: string;
  model: string;
  machine: string;
  warnings: string[];
  /** Why there is no result. */
  lacks?: string;
}

/** How an engine stands in one line on one device: places in the lists of the fleet. */
export interface Standing {
  device: number;
  line: number;
  engine: number;
  /** To the device's own fastest engine. */
  ratio: number | null;
  ns: number | null;
  whole: boolean;
  best: boolean;
  /** In place of a ratio. */
  says: string | null;
}

export type Experiment = "kill" | "power-cut" | "device-lies" | "full-disk";

/** `crates/report/src/html/durability.rs`. */
export interface Durability {
  /** How a try can end, in the order in which it is told. */
  verdicts: { id: string; name: string; is_violation: boolean }[];
  /** What each tier of each engine rests on; `shown` where it was tried. */
  standings: { engine: string; version: string; tier: Tier; says: string; shown?: { kills: { violations: number }; states: { violations: number } } }[];
  tested: Tested[];
  /** What they did when their disk was full. */
  full_disk?: Omit<Table, "result">;
  notes: Note[];
}

/** One experiment with one engine in one tier. */
export interface Tested {
  engine: string;
  version: string;
  tier: Tier;
  effective_durability?: Tier;
  experiment: Experiment;
  /** Of which run, where there are several. */
  run?: number;
  file_system?: string;
  /** Whether the tier promises to survive it. */
  promised: boolean;
  tried: number;
  violations: number;
  /** By id. */
  verdicts: Record<string, number>;
  found: string;
  /** Acknowledged commits that were gone; `everything`: at worst there was no other. */
  loss?: { median_commits: number; worst_commits: number; median_ms: number; worst_ms: number; everything?: boolean };
  open_ns?: number;
  clean_open_ns?: number;
  commit?: { commits: number; bytes: number; flushes: number };
  examples?: { verdict: string; of: string; acknowledged: number; last?: number; message?: string; kept?: string }[];
}

export interface Result {
  run_id: string;
  label: string;
  started: string;
  machine: string;
  warnings: string[];
  sections: { title: string; notes: Note[] }[];
  manifest: Note[];
  unpublishable: string[];
  groups: { workload: string; scale: string; limit?: string; storage?: string; tier: Tier; about: string[] }[];
}

export interface Note {
  about: string;
  says: string;
}

export interface EngineFacts {
  name: string;
  kind: Kind;
  data_model: string;
}

export interface WorkloadFacts {
  id: string;
  about: string;
  phases: { name: string; about: string }[];
}

export interface Cell {
  result: number;
  workload: string;
  scale: string;
  /** Of memory; absent: all of the machine's. */
  limit?: string;
  /** The same in bytes. */
  memory_limit_bytes?: number;
  /** The imitated storage; absent: the machine's own disk. */
  storage?: string;
  rows: number | null;
  tier: Tier;
  variant: string;
  main: boolean;
  engine: string;
  kind: Kind | null;
  status: Status;
  reason: string | null;
  effective_durability: Tier | null;
  ranked: boolean;
  /** What its tier rests on, in words; absent where the tier promises nothing. */
  durability?: string;
  /** It was tried, and broke what its tier promises. */
  broken?: boolean;
  /** A server that was given by its URL. */
  by_url?: boolean;
  /** Of a configuration: the engine and the settings. */
  configuration?: string;
  /** The client that does the timed work, `node:better-sqlite3`; absent: embermark itself. */
  client?: string;
  /** The language of that. */
  language?: string;
  /** Of a configuration: in what it is not as the tier. */
  own_durability?: string;
  unpublishable: boolean;
  versions: string[];
  settings: Record<string, string>;
  trials: Trial[];
  /** Those that failed or timed out where others ended well: they are in no figure. */
  lost_trials?: Trial[];
  usage: Usage;
}

export interface Trial {
  index: number;
  status: Status;
  reason: string | null;
  open_ns: number | null;
  log: string | null;
}

export interface Entry {
  cell: number;
  phase: string | null;
  status: Status | null;
  reason: string | null;
  /** Who said what is right, where no oracle does. */
  checked_by?: string;
  /** What took its times, where that was a client by its own clock. */
  timed_by?: string;
  plan?: string;
  tainted: boolean;
  /** Trials of its cell that failed or timed out: the figure is of the others. */
  lost?: number;
  /** What its cell did not do: shown, not ranked. */
  shortfall?: string;
  /** How its cost stands out, and why where that is known. */
  surprise?: string;
  client_side: boolean;
  /** One commit a row, where other engines put many in one. */
  commits_each?: boolean;
  figure: Figure | null;
  latency: Latency | null;
  /** The same from the scheduled start of an operation. */
  response?: Latency;
  usage: Usage;
  /** Bytes between client and server in a counted run. */
  network_bytes?: number;
  remarks?: string[];
  /** Each counted window of a phase that lasts by the clock. */
  watched?: Watched[];
  /** What a phase that inserts rows wrote, and the maintenance after it. */
  loading?: Amounts;
  /** What a run has to show beside its time: the log that it opened, the buffer that rows went through. */
  beside?: Amounts;
  /** What an operation asked of the system. */
  explained?: { engine: Amounts; client?: Amounts; traced_ops: number | null; ops: number };
  /** By trial: elapsed ns, operations, 1 if a warm-up run plus 2 if stopped at the longest run time. */
  runs: [number, number, number][][];
}

/** What several clients did together, and how well a schedule was kept. */
export interface Sharing {
  per_second: number;
  /** Of the slowest and the fastest client; null where there was one. */
  clients: [number, number] | null;
  schedule: { target_rate: number; achieved_rate: number; kept_up: boolean; late_p99_ns: number | null } | null;
  /** Of clients on several machines, each of them. */
  machines?: MachineShare[];
}

/** What one client machine did of a phase. */
export interface MachineShare {
  device: string;
  clients: number;
  clock: { offset_ns: number; error_ns: number };
  start_delay_ns: number;
  per_second: number;
  p50_ns: number | null;
  p99_ns: number | null;
}

export interface Watched {
  trial: number;
  window_ns: number;
  processes?: Record<string, Process>;
  disk_growth_bytes?: number;
  disk?: DiskCurve;
  timeline?: Timeline;
  network_bytes?: number;
  counts?: Record<string, number>;
  latencies?: Record<string, Latency>;
}

/** The disk over time of a phase that writes: seconds since it began, and bytes. */
export interface DiskCurve {
  begin_bytes: number;
  end_bytes: number;
  points?: [number, number][];
  cpu_ns?: number;
}

/** A phase that goes on until it is steady, over time. */
export interface Timeline {
  window_rows: number;
  row_bytes: number;
  expiry?: string;
  slices: Slice[];
  steady: { reached: boolean; after_s: number; turnovers: number };
  stalls?: Stall[];
  stalled: number;
  /** What the engine tells of its work in the background; nothing where it tells nothing. */
  background?: string[];
}

/** A slice of time, about a second. */
export interface Slice {
  until_s: number;
  elapsed_ns: number;
  rows_in: number;
  rows_out: number;
  commits?: SliceLatency;
  questions?: SliceLatency;
  expiries?: SliceLatency;
  allocated_bytes?: number;
  device_written_bytes?: number;
}

export interface SliceLatency {
  samples: number;
  p50: number;
  p99?: number;
  max: number;
}

/** An operation above 100 ms. */
export interface Stall {
  at_s: number;
  ns: number;
  of: string;
  moved?: Record<string, number>;
}

export interface Process {
  cpu_ns?: number;
  mean_bytes?: number;
  peak_bytes?: number;
  read_bytes?: number;
  written_bytes?: number;
}

export interface Figure {
  per_op_ns: number;
  elapsed_ns: number | null;
  interval_ns: [number, number] | null;
  ops: number;
  /** Operations of the shortest run, if one was stopped. */
  stop: { done: number; of: number } | null;
  per_trial_ns: number[];
  /** The index of the trial of each of `per_trial_ns`. */
  trials: number[];
  /** Indices in `per_trial_ns` of the outliers. */
  outliers: number[];
  sharing?: Sharing;
}

export interface Latency {
  samples: number;
  sampled_every: number;
  min: number;
  mean: number;
  p50: number;
  p95?: number;
  p99?: number;
  p99_9?: number;
  max: number;
  /** Share of the time in operations that took more than ten times the median. */
  stalled?: number;
}

/** Amounts by the key of their column. */
export type Amounts = Record<string, number>;

export type Usage = Amounts & { incomplete?: boolean };

/** How time grows with the number of rows. `crates/report/src/scaling.rs` computes it. */
export interface Scaling {
  phases: PhaseScaling[];
  turns: Overtaking[];
  surprises: (SeriesId & { engine: string; scale: string; explained?: { why: string; section: string } })[];
  /** The same as text. Surprises without an explanation come first. */
  told: (Within & { engine: string; says: string })[];
}

/** The group within which scales are compared: a workload in a tier, with a memory limit and a storage if it has them. */
export interface Within {
  workload: string;
  tier: Tier;
  memory_limit_bytes?: number;
  /** The imitated storage. Absent: the machine's own disk. */
  storage?: string;
}

/** A phase in a variant of a workload. */
export interface SeriesId extends Within {
  variant: string;
  phase: string;
}

/** A phase that was measured at two or more scales. */
export interface PhaseScaling extends SeriesId {
  scales: string[];
  growth: Growth[];
  fastest: { scale: string; engines: string[] }[];
  /** `fastest` as text. */
  leading: string;
  few_trials: boolean;
}

/** An engine's growth: the time of one operation is proportional to the number of rows to the power of `exponent`. */
export interface Growth {
  engine: string;
  exponent: number;
  steps: { from: string; to: string; exponent: number }[];
  /** Whether the exponents of the steps differ, so that a single one says little. */
  bends: boolean;
  /** Whether one of the times is from a run that was stopped. */
  stopped: boolean;
}

/** An engine that overtakes another between two scales. */
export interface Overtaking extends Within {
  before: string;
  after: string;
  says: string;
}

/** A column of the tables of resources or loads. */
export interface Column {
  key: string;
  about: string;
  quantity: "time" | "bytes" | "count" | "number" | "ratio" | "share" | "energy" | "power";
}

/** A table of one result. Each row begins with its label. */
export interface Table {
  result: number;
  title: string;
  header: string[];
  rows: [string, Text[]][];
  notes: Note[];
}

/** What to take by one result: the terminal's screen, with the orders that go with it. */
export interface Answer {
  result: number;
  /** Of the columns that are used from this language; absent: of all. */
  client?: string;
  take: Note[];
  header: string[];
  rows: [string, Text[]][];
  /** The engine of each row. */
  engines: { engine: string; peak_bytes?: number }[];
  /** What the marks mean. */
  legend: string[];
  /** One for each preset. */
  orders: Ranking[];
}

/** Engines in the order of a preset: `crates/report/src/advise/presets.rs`, which ranks them. */
export interface Ranking {
  preset: string;
  /** By what they are ordered. */
  says: string;
  /** The best first. */
  ranked: { engine: string; score: number; interval: [number, number] | null; not_certainly_before: string[] }[];
  /** Who has no place, and why. */
  left: { engine: string; why: string[] }[];
}

/** A box of a table: `second` is the ratio, and `ratio` that as a number. */
export interface Text {
  value: string;
  marks?: string;
  second?: string;
  ratio?: number;
  best?: string;
}

/** A situation: `crates/report/src/advise/presets.rs`. */
export interface Preset {
  id: string;
  name: string;
  /** Absent: the tier in which all work was measured. */
  tier?: Tier;
  weights: [string, number][];
  /** Rows per second that must be committed one by one. */
  rows_per_second?: number;
  memory_bytes?: number;
}

/** What the advice on one result, or on all of them, is drawn from. */
export interface Advisable {
  /** The result's label; null where it is of all. */
  of: string | null;
  /** One for each scale that was measured, the smallest first; of no limit of memory first, then of each limit. */
  tables: AdviceTable[];
  /** Between which scales the order of two engines turns, by criterion. */
  turns: { criterion: string; tier: Tier; memory_limit_bytes?: number; storage?: string; client?: string; before: string; after: string; says: string }[];
}

/** A ratio is to the best of the tier, at least 1. */
export interface AdviceTable {
  /** At about so many rows: of each workload the nearest scale counts. */
  rows: number;
  /** Within this limit of memory; absent: without any. */
  memory_limit_bytes?: number;
  /** The imitated storage; absent: the machine's own disk. */
  storage?: string;
  /** The language that the engines are used from; absent: embermark itself. */
  client?: string;
  /** All of it in words: `10k rows within 256 MiB`. */
  at: string;
  criteria: { id: string; label: string; about: string }[];
  /** A workload at its scale, with its limit of memory if any, the criteria that it has a part in, and what ran. */
  rests_on: { tier: Tier; workload: string; scale: string; criteria: string[]; protocol: string; wear?: string }[];
  engines: AdviceEngine[];
  /** Of each tier that was not measured the command that measures it. */
  commands?: Partial<Record<Tier, string>>;
}

export interface AdviceEngine {
  engine: string;
  tier: Tier;
  /** The tier that its setting provides, when that is not the one asked for. */
  effective_durability?: Tier;
  /** Where it was tried and broke what the tier promises: what was found. */
  broken?: string;
  facts: {
    name: string;
    kind: Kind;
    data_model: string;
    licence: string;
    licence_class: LicenceClass;
    publishable: boolean;
    sql: boolean;
    by_url: boolean;
    /** Of a configuration: the engine and the settings. */
    configuration?: string;
    /** Of a configuration: in what its settings are not the tier's. */
    own_durability?: string;
    peak_bytes: number | null;
  };
  /** How fast it commits single rows, where it did. */
  pace?: { at: string; rows_per_second: number; cpu_ns_per_row?: number };
  ratios: Record<string, number>;
  /** Absent where there were fewer than three trials. */
  intervals: Record<string, [number, number]>;
  /** What its cells did not do: those have no place in any criterion. */
  shortfalls: string[];
}

export type LicenceClass = "permissive" | "copyleft" | "other";

/** The version this page reads. */
export const VERSION = 1;

/** The data of the document. Throws where it is of another version. */
export function read(document: Document): Page {
  const page = JSON.parse(document.getElementById("data")?.textContent ?? "null") as Page | null;
  if (page?.page !== VERSION) {
    throw new Error(`the data of this page is of version ${page?.page}, and the page reads ${VERSION}`);
  }
  return page;
}
