/**
 * Data of the page.
 *
 * Generated from the Rust types by `crates/report/src/tests/typescript.rs`: change them there. Times are ns,
 * sizes bytes. Null or absent means not measured, never zero.
 */

/** The version of the form that is described here. */
export const VERSION = 1;

/** One engine in one tier. */
export type AdviceEngine = {
  /** The engine's id, which also marks a server given by its URL. */
  engine: string,
  /** The requested tier. Only engines in one tier are compared. */
  tier: Tier,
  /** The tier that its setting provides, if it differs from the requested one. */
  effective_durability?: Tier,
  /** What a test found, if the engine broke what the tier promises. */
  broken?: string,
  /** Where it answered wrongly. It is then not recommended for anything. */
  wrong?: string,
  /** Facts about the engine. */
  facts: Facts,
  /** Its rate of single-row commits; absent if it was not measured. */
  pace?: Pace,
  /** By criterion: its figure divided by the best engine's, 1 or more; absent if not measured. */
  ratios: { [key in string]: number },
  /** By criterion: the interval of that ratio; absent with fewer than three trials. */
  intervals: { [key in string]: [number, number] },
  /** By criterion: the same ratio for each workload, by name and scale. */
  by_workload?: { [key in string]: { [key in string]: number } },
  /** By criterion without a ratio: the reasons. */
  lacks?: { [key in string]: Array<string> },
  /** Work that its cells did not do. Those cells are in no criterion. */
  shortfalls: Array<string>,
};

/**
 * Every engine with its facts and its ratios by criterion, at one number of rows under one set of
 * conditions: the basis of a ranking.
 */
export type AdviceTable = {
  /** The approximate number of rows. For each workload the nearest scale counts, named in `rests_on`. */
  rows: number,
  /** The requested number of rows; absent if none was requested. */
  asked?: number,
  /** The language that the engines are used from, `python`; absent for embermark itself. */
  client?: string,
  /**
   * Rows, conditions and language as text: `10k rows`, `10k rows within 256 MiB on sd-a1, python`,
   * `10k rows, servers over wifi`.
   */
  at: string,
  /** The criteria, in the order in which they are shown. */
  criteria: Array<Criterion>,
  /** The measurements that the ratios rest on, for each workload of each tier. */
  rests_on: Array<RestsOn>,
  /** Each engine in each requested tier, in the order of the plan. */
  engines: Array<AdviceEngine>,
  /** For each tier that was not measured, the command that measures it, one commit per row included. */
  commands?: { [key in Tier]?: string },
  /** The memory limit, if any. */
  memory_limit_bytes?: MemoryLimit,
  /** The imitated storage, if any. */
  storage?: StorageName,
};

/** Input of advice. */
export type Advisable = {
  /** Label of the result. Absent if it is of all results. */
  of: string | null,
  /**
   * One per measured scale, the smallest first, or the one nearest to the requested rows. Tables
   * without a memory limit and an imitated storage come first, then those of each other set of
   * conditions. A table rests on the nearest scale of each workload under its conditions. All of this
   * is repeated for each language that engines are used from, embermark itself first.
   */
  tables: Array<AdviceTable>,
  /** The scales between which the order of two engines changes, by criterion. */
  turns: Array<CriterionTurn>,
};

/** Amounts by the key of their column. Absent means not measured. */
export type Amounts = { [key in string]: number };

/** A table with its notes. */
export type Annotated = {
  /** Notes below the table. */
  notes: Array<Note>,
  /** Title. */
  title: string,
  /** Headings of all columns but the first. */
  header: Array<string>,
  /** Label and texts of each row. */
  rows: Array<[string, Array<Text>]>,
};

/** Recommendations by one result, as on the terminal's screen. */
export type Answer = {
  /** Index of the result. */
  result: number,
  /** The language of the columns that it is about. Absent for all. */
  client?: string,
  /** The recommendations, one per line. */
  take: Array<Note>,
  /** The engine of each line. */
  engines: Array<Measured>,
  /** Explanations of the marks. */
  legend: Array<string>,
  /** The engines in the order of each of [`Page::presets`]. */
  orders: Array<Ranking>,
  /** Title. */
  title: string,
  /** Headings of all columns but the first. */
  header: Array<string>,
  /** Label and texts of each row. */
  rows: Array<[string, Array<Text>]>,
};

/** Better settings than today's. */
export type BetterSettings = {
  /** The figures that show it. */
  because: Grid,
  /** The lines to paste into a program. */
  program: string,
  /** The lines to paste into a plan file. */
  plan: string,
};

/** One cell: engine x workload x scale x tier x variant. */
export type Cell = {
  /** Index in [`Page::results`]. */
  result: number,
  /** The workload's id. */
  workload: string,
  /** The scale as text. */
  scale: string,
  /** The memory limit as text, if any: `256 MiB`. */
  limit?: string,
  /** The memory limit in bytes. */
  memory_limit_bytes?: number,
  /** The imitated storage, if any. */
  storage?: string,
  /** Number of rows, if known. */
  rows: number | null,
  /** The requested tier. */
  tier: Tier,
  /** The variant. */
  variant: string,
  /** Whether this variant runs every phase. */
  main: boolean,
  /** The engine's id. */
  engine: string,
  /** `embedded`, `server` or `reference`. Absent if neither the facts nor the runs show it. */
  kind: string | null,
  /** How it ended. */
  status: Status,
  /** The reason, if it is not ok. */
  reason: string | null,
  /** The durability that it has, if it differs from the tier. */
  effective_durability: Tier | null,
  /**
   * Whether it may have a ratio: not a reference, not given by its URL, and effective durability
   * not below the tier.
   */
  ranked: boolean,
  /** Evidence for its tier as text. Absent if the tier promises nothing. */
  durability?: string,
  /** Whether it broke the promise of its tier in a test. */
  broken?: boolean,
  /** Whether it is a server that was given by its URL. */
  by_url?: boolean,
  /** For a configuration: the engine and the settings. */
  configuration?: string,
  /** The client that does the timed work. Absent for embermark itself. */
  client?: string,
  /** Its language. */
  language?: string,
  /** For a configuration: how it differs from the tier. */
  own_durability?: string,
  /** Whether its licence forbids publishing its figures. */
  unpublishable: boolean,
  /** The engine's versions over the trials. */
  versions: Array<string>,
  /** Settings as read back in the first trial that has them. */
  settings: { [key in string]: string },
  /** Its trials. */
  trials: Array<Trial>,
  /** Trials that were lost. They are in no figure. */
  lost_trials?: Array<Trial>,
  /** Resources for the whole workload. */
  usage: Usage,
};

/**
 * A client. It is a language that embermark has a program for (`python`, `node`), perhaps with one
 * of the packages for the engine (`node:better-sqlite3`), or the path of a program that speaks the
 * protocol of docs/client-protocol.md.
 */
export type Client = string;

/** How far a machine's clock is ahead of another one's. */
export type ClockOffset = {
  /** Offset in ns. Negative: behind. */
  offset_ns: number,
  /** Error bound of the offset in ns. */
  error_ns: number,
  /** Number of times it was measured. */
  probes: number,
};

/** A column of a table, and a field of the page's data. */
export type Column = {
  /** Its name for programs. */
  key: string,
  /** Description on the page. */
  about: string,
  /** Kind of its numbers. */
  quantity: Quantity,
};

/** How the amounts of phases are combined into that of a workload. */
export type Combined = "sum" | "largest" | "mean" | "whole";

/** What commits wrote to a device. */
export type CommitIo = {
  /** Number of commits counted. */
  commits: number,
  /** Bytes written. */
  bytes: number,
  /** Number of flushes. */
  flushes: number,
};

/** One workload at one scale, within one memory limit, in one tier. */
export type Compared = {
  /** The workload's id. */
  workload: string,
  /** Scale and memory limit: `10k`, `100k within 256 MiB`. */
  extent: string,
  /** The tier. */
  tier: Tier,
};

/**
 * An engine with settings other than embermark's, in another version, or used from another
 * language. It is a column of the comparison with its own name. The author of its settings states
 * what they keep.
 */
export type Configuration = {
  /** Id of the engine. */
  engine: string,
  /** Settings, by the engine's own names. */
  settings: { [key in string]: string },
  /** Absolute path of its library or programs. Absent: those that embermark finds. */
  library?: string,
  /** The program that does the timed work instead of embermark. Absent: embermark itself. */
  client?: Client,
};

/** A criterion that engines are compared by. */
export type Criterion = {
  /** Its name on the command line. */
  id: string,
  /** Its name in a table. */
  label: string,
  /** The figures it is made of. */
  about: string,
};

/** One engine overtakes another in phases that a criterion is made of. */
export type CriterionTurn = {
  /** The criterion's id. */
  criterion: string,
  /** The tier. */
  tier: Tier,
  /** The language that both are used from; absent: embermark itself. */
  client?: string,
  /** The faster one at fewer rows. */
  before: string,
  /** The faster one at more rows. */
  after: string,
  /** All of it: `duckdb overtakes lmdb between 100k and 1M rows (avg_sensor)`. */
  says: string,
  /** The memory limit, if any. */
  memory_limit_bytes?: MemoryLimit,
  /** The imitated storage, if any. */
  storage?: StorageName,
};

/** A device. */
export type Device = {
  /** Unique name. */
  name: string,
  /** Model of the board from its firmware, or otherwise the CPU. */
  model: string,
  /** Description of the machine in one line. Empty if there is no result. */
  machine: string,
  /** Conditions that may have disturbed its figures. */
  warnings: Array<string>,
  /** Why there is no result. */
  lacks?: string,
};

/**
 * Size of the data directory during writes, including the warm-up. It is in allocated blocks as
 * `du` counts them, without the directories themselves.
 */
export type DiskCurve = {
  /** Bytes before the first sample. For `write` this is a database with empty tables. */
  begin_bytes: number,
  /** Bytes after the last sample was stored. */
  end_bytes: number,
  /**
   * Seconds since the beginning and bytes at that time, in order. Empty if the phase was too
   * short to be sampled.
   */
  points?: Array<[number, number]>,
  /**
   * Bytes written to the trial's own device since it was created, at each of the points, without
   * any sync by embermark. Empty if the trial has no own device.
   */
  device_written?: Array<number>,
  /**
   * Cost of the sampling: CPU time in ns of the process that did only this. It is counted
   * nowhere else.
   */
  cpu_ns?: number,
};

/** Tests of durability, and the evidence for each tier. */
export type Durability = {
  /** Ways in which a try can end, in display order. */
  verdicts: Array<VerdictFacts>,
  /** Evidence for each tier of each engine. */
  standings: Array<TierStanding>,
  /** Each experiment with each engine in each tier. */
  tested: Array<Tested>,
  /** What engines did when their disk was full. */
  full_disk?: Annotated,
  /** Where and when the tests ran, and what was not tested. */
  notes: Array<Note>,
};

/** An engine. */
export type Engine = {
  /** Its id, or its name as a configuration. */
  id: string,
  /** Its versions over the devices. */
  versions: Array<string>,
  /** Whether it is shown and never ranked. */
  reference: boolean,
  /** Whether its licence forbids publishing its figures. */
  unpublishable: boolean,
};

/** Facts about an engine, as its adapter reports them. */
export type EngineFacts = {
  /** The name of the engine. */
  name: string,
  /** `embedded`, `server` or `reference`. */
  kind: string,
  /** Its data model: `SQL`, `key-value`, `document` or `series`. */
  data_model: string,
  /** Licence of what is linked or started. */
  licence: string,
  /** The configuration, for an engine with settings of the user's. */
  configuration?: Configuration,
  /** The library that contains the engine, if it is not a part of embermark. */
  engine_library?: EngineLibraryFacts,
};

/** A shared library that the user gave as an engine. */
export type EngineLibraryFacts = {
  /** The name of its file. */
  file: string,
  /** The version of its engine, as the library reports it. */
  version: string,
  /** SHA-256 of the file, in hexadecimal. */
  sha256: string,
};

/** One phase of one cell. */
export type Entry = {
  /** Index in [`Page::cells`]. */
  cell: number,
  /** Its name. Absent if no cell of the variant reached a phase. */
  phase: string | null,
  /** How it ended. Absent if no run counts. */
  status: Status | null,
  /** The reason, if it is not ok. */
  reason: string | null,
  /** What confirmed the answer, if no oracle checks it. */
  checked_by?: string,
  /** The engine's query plan. */
  plan?: string,
  /** What measured its times, if that was a client by its own clock. */
  timed_by?: string,
  /** Whether this phase ended well and its cell did not. Such a figure is shown and not ranked. */
  tainted: boolean,
  /** Number of trials of its cell that failed or timed out. The figure is from the others. */
  lost?: number,
  /** What its cell failed to do. Such a figure is shown and not ranked. */
  shortfall?: string,
  /** Why its cost is unusual, with the reason if known. */
  surprise?: string,
  /** Whether code in the client does it. */
  client_side: boolean,
  /** Whether each row is a commit, while other engines put many in one. */
  commits_each?: boolean,
  /** The time. */
  figure: Figure | null,
  /** The distribution of the latency of one operation. */
  latency: Latency | null,
  /** Latency from the scheduled start of an operation, if there is a schedule. */
  response?: Latency,
  /** Resources of the engine for a counted run. */
  usage: Usage,
  /**
   * Bytes between client and server in a counted run of an observed phase: the median over
   * trials.
   */
  network_bytes?: number,
  /** Remarks on the figures of an observed phase. */
  remarks?: Array<string>,
  /** Observations of each counted run of an observed phase, in the order of the trials. */
  watched?: Array<Watched>,
  /** Bytes that a phase that inserts rows wrote, by the keys of [`Page::load_columns`]. */
  loading?: Amounts,
  /** Figures of a run other than its time, by the keys of [`Page::beside_columns`]. */
  beside?: Amounts,
  /** Requests of an operation to the system, by the keys of [`Page::explained_columns`]. */
  explained?: Explanation,
  /**
   * The runs of each trial: elapsed ns, operations, and a flag of 0, 1 (discarded), 2 (stopped
   * at the cap) or 3 (both).
   */
  runs: Array<Array<[number, number, number]>>,
};

/** A try that did not hold. */
export type Example = { verdict: Verdict, of: string, acknowledged: number, last?: number | null, message?: string | null, kept?: string,
};

/** How a database is interrupted. */
export type Experiment = "kill" | "power-cut" | "device-lies" | "full-disk";

/** Requests of an operation of a phase, by the keys of [`explained_columns`]. */
export type Explanation = {
  /** Requests by the engine: by the worker of an embedded one, or by all processes of a server. */
  engine: Amounts,
  /** Requests by the client, if it is another process. */
  client?: Amounts,
  /**
   * System calls that are more than 5 % of the engine's, by name with their share. The most
   * frequent comes first.
   */
  frequent_calls: Array<[string, number]>,
  /** Operations of the run whose system calls were counted. */
  traced_ops: number | null,
  /** Operations of the run whose other figures were counted. */
  ops: number,
};

/** Facts about an engine. */
export type Facts = {
  /** The name of the engine. */
  name: string,
  /** `embedded`, `server` or `reference`. */
  kind: string,
  /** `SQL`, `key-value`, `document` or `series`; `unknown` in results without it. */
  data_model: string,
  /** Licence of what is linked or started; `unknown` in results without it. */
  licence: string,
  /** The class of that licence. */
  licence_class: LicenceClass,
  /** Whether its figures may be published. */
  publishable: boolean,
  /** Whether its interface is SQL. */
  sql: boolean,
  /** Whether it is a server that was given by its URL. */
  by_url: boolean,
  /** For a configuration: the engine and the settings. Its durability is what their author claims. */
  configuration?: string,
  /** For a configuration: how its settings differ from the tier's. */
  own_durability?: string,
  /** Peak memory in this tier at these scales, in any variant, in bytes; `null` if not measured. */
  peak_bytes: number | null,
};

/** The fastest of the engines that compete at one scale. */
export type Fastest = {
  /** The scale. */
  scale: Scale,
  /** The fastest first, then those with no significant difference to it. */
  engines: Array<string>,
};

/**
 * Time of one phase. In a trial it is the mean over the counted runs, as published comparisons use
 * it. Over the trials it is the median.
 */
export type Figure = {
  /** Time per operation in ns: the median over the trials. */
  per_op_ns: number,
  /** Mean over the trials of the time per operation in ns. */
  mean_ns: number,
  /** The 95 % interval of the median in ns, from resampled trials. Absent with fewer than three. */
  interval_ns: [number, number] | null,
  /** Time of a whole run in ns. Absent if a counted run did not do all of it. */
  elapsed_ns: number | null,
  /** Operations of a full run. */
  ops: number,
  /** Where it stopped, if it did not do all operations. */
  stop: Stop | null,
  /** Time per operation of each trial in ns, in the order in which the trials ran. */
  per_trial_ns: Array<number>,
  /** Index of the trial of each of these. A trial without counted runs is not among them. */
  trials: Array<number>,
  /** Indexes in `per_trial_ns` of outliers, which count like the others. */
  outliers: Array<number>,
  /**
   * Shares of several clients, and how well a schedule was kept. `None` for one client in a
   * closed loop.
   */
  sharing?: Sharing,
};

/** Content of the page of a fleet. */
export type Fleet = {
  /** The devices, in the order in which they were added. */
  devices: Array<Device>,
  /** Engines, in the order of their first result. */
  engines: Array<Engine>,
  /** Workloads, scales and tiers that were compared on at least one device. */
  lines: Array<Compared>,
  /** Figure of each engine in each line on each device. Absent if the device did not run it. */
  boxes: Array<Packed>,
};

/** One table. */
export type Grid = {
  /** Title. */
  title: string,
  /** Headings of all columns but the first. */
  header: Array<string>,
  /** Label and texts of each row. */
  rows: Array<[string, Array<Text>]>,
};

/** One workload at one scale, within one memory limit, in one tier. */
export type Group = {
  /** The workload's id. */
  workload: string,
  /** The scale as text. */
  scale: string,
  /** The memory limit as text, if any: `256 MiB`. */
  limit?: string,
  /** The imitated storage, if any. */
  storage?: string,
  /** The tier. */
  tier: Tier,
  /** Rows, repetitions and absent engines. */
  about: Array<string>,
};

/** Growth of the time of one operation of an engine. */
export type Growth = {
  /** The engine's id. */
  engine: string,
  /**
   * Slope of the least-squares line through the logarithms of time and rows. 0: more rows cost
   * nothing. 1: ten times the rows take ten times the time.
   */
  exponent: number,
  /** The slope from each of its scales to the next. */
  steps: Array<Step>,
  /** Whether the steps differ so much that the exponent says little. */
  bends: boolean,
  /**
   * Whether a time is from a run that was stopped at the longest run time. For a load, that is
   * the time at fewer rows.
   */
  stopped: boolean,
};

/**
 * A latency distribution in ns, from an HDR histogram with three significant digits. A percentile
 * that the number of samples cannot support is absent.
 */
export type Latency = {
  /** Number of samples. */
  samples: number,
  /** Number of operations per timed one. */
  sampled_every: number,
  /** Smallest. */
  min: number,
  /** Mean. */
  mean: number,
  /** Median. */
  p50: number,
  /** 95th percentile. Needs 20 samples. */
  p95?: number,
  /** 99th percentile. Needs 100 samples. */
  p99?: number,
  /** 99.9th percentile. Needs 1,000 samples. */
  p99_9?: number,
  /** Largest. */
  max: number,
  /**
   * Share of these operations' time, from 0 to 1, spent in those that took more than ten times
   * the median. Absent in older results.
   */
  stalled?: number,
  /**
   * The histogram itself: HdrHistogram V2, deflated, base64. Result files have it. It is empty
   * if only the percentiles are passed on.
   */
  hdr?: string,
};

/** An engine that is not ranked. */
export type Left = {
  /** Its id. */
  engine: string,
  /** The reasons, each in a few words. */
  why: Array<string>,
};

/** What a licence roughly requires of a product that uses the engine. Not legal advice: read the licence. */
export type LicenceClass = "permissive" | "copyleft" | "other";

/** The window of loss. */
export type Loss = {
  /** Commits lost, median over all tries. */
  median_commits: number,
  /** Commits lost, worst try. */
  worst_commits: number,
  /**
   * Time since the oldest lost commit was acknowledged, in ms, median over all tries. 0 if none
   * was lost.
   */
  median_ms: number,
  /** The same in the worst try. */
  worst_ms: number,
  /** Whether the worst try lost everything. A longer work could then lose more. */
  everything?: boolean,
};

/** One client machine's part of a phase, over the counted runs of every trial. */
export type MachineShare = {
  /** Its name. */
  device: string,
  /** Clients on it. */
  clients: number,
  /** Offset of its clock before the last of the runs. */
  clock: ClockOffset,
  /** The start farthest from the agreed time, in ns after it. */
  start_delay_ns: number,
  /** Operations of all those runs. */
  ops: number,
  /**
   * Operations per second in the time in which all machines were at work, the median of the
   * runs.
   */
  per_second: number,
  /** Median latency in ns. */
  p50_ns: number | null,
  /** The 99th percentile in ns. */
  p99_ns: number | null,
};

/** The engine of a row, in the tier in which all work was measured. */
export type Measured = {
  /** The engine's id. */
  engine: string,
  /** Peak memory of the engine, in bytes. */
  peak_bytes?: number,
};

/**
 * Largest number of bytes that an engine, its server and the page cache of its files may use
 * together.
 */
export type MemoryLimit = number;

/** A line of text. */
export type Note = {
  /** The subject. May be empty. */
  about: string,
  /** The text. */
  says: string,
};

/** One engine overtakes another between two scales, in some phases of a workload. */
export type Overtaking = {
  /** The faster one at `from`. */
  before: string,
  /** The faster one at `to`. */
  after: string,
  /** The largest scale of the old order. */
  from: Scale,
  /** The smallest scale of the new order. */
  to: Scale,
  /** The phases: `load (bulk)` if the variant is not the one that runs every phase. */
  phases: Array<string>,
  /** Whether in at least one of them first place passes from one engine to the other. */
  leads: boolean,
  /** The text: `duckdb overtakes lmdb between 100k and 1M rows (avg_sensor, hot_sensors)`. */
  says: string,
  /** The workload's id. */
  workload: string,
  /** The tier. */
  tier: Tier,
  /** The memory limit, if any. */
  memory_limit_bytes?: MemoryLimit,
  /** The imitated storage, if any. */
  storage?: StorageName,
};

/** The pace of commits of single rows, where it is slowest. */
export type Pace = {
  /** The workload and its scale: `sensors 10k`. */
  at: string,
  /** Rows per second, one after the other as fast as the engine takes them. */
  rows_per_second: number,
  /** CPU time of a row in ns; absent where it was not measured. */
  cpu_ns_per_row?: number,
};

/**
 * Figure of an engine in one line on one device. All fields but the three indexes may be absent. A
 * page of many devices has tens of thousands of them, so it is serialized as `[device, line,
 * engine, ratio, ns, flags, says]`. The flags are 1 for `whole` and 2 for `best`, numbers have
 * five digits, and absent values at the end are left out.
 */
export type Packed = [device: number, line: number, engine: number, ratio?: number | null, ns?: number | null, flags?: number, says?: string];

/** Content of the page. */
export type Page = {
  /** Version of the format. */
  page: number,
  /** Version of embermark that made the page. */
  tool: string,
  /** Notice at the top: that figures may not be published. */
  face: string | null,
  /** The result files. */
  results: Array<Result>,
  /**
   * Differences in how the results were measured. If there are any, their figures are shown
   * separately.
   */
  unlike: Array<string>,
  /** Resources that are shown. */
  resource_columns: Array<ResourceColumn>,
  /** How the amounts of the measured ones are combined, in words. */
  resource_reading: string,
  /** Figures of loads and their maintenance that are shown. */
  load_columns: Array<Column>,
  /** Figures of a run other than its time that are shown. */
  beside_columns: Array<Column>,
  /** Requests of an operation to the system that are shown. */
  explained_columns: Array<Column>,
  /** Facts about engines, by id. */
  engines: { [key in string]: EngineFacts },
  /** Facts about workloads. */
  workloads: Array<WorkloadFacts>,
  /** Every cell of every result. */
  cells: Array<Cell>,
  /** Every phase of every cell, in display order. */
  entries: Array<Entry>,
  /** Effect of the number of rows on time, for each result. */
  scaling: Array<Scaling>,
  /** Published figures next to measured ones. */
  published: Array<Table>,
  /** Bytes that modelled flash cards would have programmed. */
  flash?: Array<Table>,
  /**
   * Recommendations and a line for each engine, for results in which rows were committed one by
   * one.
   */
  answer: Array<Answer>,
  /** Cost of keeping up with a machine. */
  costs: Array<Table>,
  /** Evidence for durability. Absent if no shown tier promises anything. */
  durability?: Durability,
  /** Results of `embermark tune`. Such a page has nothing else. */
  tuned?: Tuning,
  /** Comparison of many devices. Such a page has nothing else. */
  fleet?: Fleet,
  /** Situations that a reader can start from. */
  presets: Array<Preset>,
  /**
   * Input of advice: one entry for all results if they were measured alike, otherwise one for
   * each.
   */
  advice: Array<Advisable>,
};

/** Facts about a phase. */
export type PhaseFacts = {
  /** Its name. */
  name: string,
  /** What it does, in one line. */
  about: string,
};

/** One phase at its scales. */
export type PhaseScaling = {
  /** Its scales, the smallest first. */
  scales: Array<Scale>,
  /** How the time of one operation grows, by engine. */
  growth: Array<Growth>,
  /** The fastest engines at each scale. */
  fastest: Array<Fastest>,
  /** The fastest engines as text. */
  leading: string,
  /** Changes of the order of two engines. */
  turns: Array<Turn>,
  /** Whether a figure has fewer than three trials, so that nothing can be said about its order. */
  few_trials: boolean,
  /** The variant. */
  variant: string,
  /** Whether the variant is the one that runs every phase. */
  main: boolean,
  /** The phase. */
  phase: string,
  /** The workload's id. */
  workload: string,
  /** The tier. */
  tier: Tier,
  /** The memory limit, if any. */
  memory_limit_bytes?: MemoryLimit,
  /** The imitated storage, if any. */
  storage?: StorageName,
};

/** A ranked engine. */
export type Place = {
  /** Its id. */
  engine: string,
  /**
   * The weighted geometric mean of its ratios: how many times more than the best of each
   * criterion it takes. 1 is the best possible.
   */
  score: number,
  /**
   * The score with every ratio at its lower and at its upper end. Absent if a ratio has no
   * interval.
   */
  interval: [number, number] | null,
  /** Its ratios of the weighted criteria, in the order of the weights. */
  ratios: Array<[string, number]>,
  /** Engines after it whose order is not certain: their intervals overlap, or they have none. */
  not_certainly_before: Array<string>,
};

/** A situation. */
export type Preset = {
  /** Name in addresses. */
  id: string,
  /** Its name. */
  name: string,
  /** What a commit must survive. Absent: the tier in which all work was measured. */
  tier?: Tier,
  /** Criteria that matter, and how much. */
  weights: Array<[string, number]>,
  /** Rows per second that must be committed one by one. */
  rows_per_second?: number,
  /** The most memory that the engine may use, in bytes. */
  memory_bytes?: number,
};

/** Kind of a number, which determines its format. */
export type Quantity = "time" | "bytes" | "count" | "number" | "ratio" | "share" | "energy" | "power";

/** The engines in the order of a situation. */
export type Ranking = {
  /** The situation's id. */
  preset: string,
  /** The weights of the order, and which of them were not measured. */
  says: string,
  /** The best first. */
  ranked: Array<Place>,
  /** Engines without a place, with the reasons. */
  left: Array<Left>,
};

/** The reason for an unusual cost. */
export type Reason = {
  /** The reason in a few words. */
  why: string,
  /** The measurement that shows it. */
  evidence: string,
  /** The section of the documentation that describes it. */
  section: string,
};

/** A resource, with its column. */
export type ResourceColumn = {
  /** How the amounts of phases are combined. */
  combined: Combined,
  /** Its name for programs. */
  key: string,
  /** Description on the page. */
  about: string,
  /** Kind of its numbers. */
  quantity: Quantity,
};

/** What processes used during a run. Absent means not measured, never zero. */
export type Resources = {
  /** User and system CPU time in ns. */
  cpu_ns?: number,
  /** Largest resident memory during the run in bytes. */
  peak_bytes?: number,
  /**
   * Mean resident memory in bytes over samples every tenth of a second. Absent for a run that is
   * too short for three samples.
   */
  mean_bytes?: number,
  /** Bytes fetched from storage. */
  read_bytes?: number,
  /**
   * Bytes of pages that became dirty. This is not what reaches storage. A page that stays dirty
   * is written once, however often it changes, but a page that is synced is written many times.
   */
  written_bytes?: number,
};

/** A basis of ratios of a tier: one workload at one scale. */
export type RestsOn = {
  /** The tier. */
  tier: Tier,
  /** The workload. */
  workload: string,
  /** The scale, and the memory limit if there is one. */
  scale: string,
  /** The number of rows, if known. */
  rows: number | null,
  /** The criteria that include this workload. */
  criteria: Array<string>,
  /** What ran: `6 runs (1 warm-up) x 3 trials`, `…, cold reads`. */
  protocol: string,
  /** Which bytes `wear` is made of; absent where none were counted. */
  wear?: string,
};

/** One result file. */
export type Result = {
  /** Id of its run. */
  run_id: string,
  /** Short unique name. */
  label: string,
  /** Start of the run, RFC 3339. */
  started: string,
  /** Description of the machine in one line. */
  machine: string,
  /** Conditions that may have disturbed the figures. */
  warnings: Array<string>,
  /** Notes that the terminal's report has below its tables, by section. */
  sections: Array<Section>,
  /** The plan and the machine, as name and value. */
  manifest: Array<Note>,
  /** Engines with figures that may not be published. */
  unpublishable: Array<string>,
  /** Groups of figures that may be compared, with how they were measured. */
  groups: Array<Group>,
};

/** A round: the unit in which a steady state is looked for. */
export type Round = {
  /** End of the round in seconds since the beginning. */
  until_s: number,
  /** Time of the engine and its client in ns. */
  elapsed_ns: number,
  /** Number of rows inserted. */
  rows: number,
  /** Mean latency of the commits in ns. With a target rate it counts from when they were due. */
  commit_mean_ns: number,
  /** Bytes of the data directory at its end, in allocated blocks. */
  allocated_bytes?: number,
};

/** The requested number of rows of a cell: a count, or every row of the data. */
export type Scale = string;

/** Effect of scale in one result. */
export type Scaling = {
  /** Every phase that was measured at two scales or more. */
  phases: Array<PhaseScaling>,
  /** Changes of the order of two engines. The same pair between the same scales is one entry. */
  turns: Array<Overtaking>,
  /** Unusual costs, also of phases that were measured at only one scale. */
  surprises: Array<Surprise>,
  /** The unusual costs as text. */
  told: Array<SurpriseText>,
};

/** Whether operations were started on time. */
export type Schedule = {
  /** Operations per second that the schedule has. */
  target_rate: number,
  /** Operations per second that were started. */
  achieved_rate: number,
  /** Whether every counted run kept up. */
  kept_up: boolean,
  /**
   * How late operations started although a client was ready on time, in ns: the largest 99th
   * percentile of any run. This is the client's error, not the engine's.
   */
  late_p99_ns: number | null,
};

/** Lines under one heading. No section is empty. */
export type Section = {
  /** The heading. */
  title: string,
  /** The lines. */
  notes: Array<Note>,
};

/** A phase in a variant of a workload. */
export type SeriesId = {
  /** The variant. */
  variant: string,
  /** Whether the variant is the one that runs every phase. */
  main: boolean,
  /** The phase. */
  phase: string,
  /** The workload's id. */
  workload: string,
  /** The tier. */
  tier: Tier,
  /** The memory limit, if any. */
  memory_limit_bytes?: MemoryLimit,
  /** The imitated storage, if any. */
  storage?: StorageName,
};

/**
 * One phase with several clients or at a target rate: the median over the trials of the figure of
 * a trial's counted runs.
 */
export type Sharing = {
  /** Operations per second of all clients together. */
  per_second: number,
  /** Operations per second of the slowest and the fastest client. `None` for one client. */
  clients: [number, number] | null,
  /** How well the schedule was kept. `None` for a closed loop. */
  schedule: Schedule | null,
  /** Share of each client machine. Empty if all clients were on one machine. */
  machines?: Array<MachineShare>,
};

/** Tests of a tier, with the engine version of the result. */
export type Shown = {
  /** Kills of its processes. */
  kills: Tries,
  /** Power cuts. There are none if the tier does not promise to survive them. */
  states: Tries,
  /** File systems of the databases whose power was cut. */
  file_systems: Array<string>,
  /** Day of the last of these runs, UTC: `2026-11-22`. */
  date: string,
  /** The engine's version. */
  version: string,
};

/** A slice of time. */
export type Slice = {
  /** End of the slice in seconds since the beginning. */
  until_s: number,
  /**
   * Time of the engine and its client in ns, without the time for comparing answers and reading
   * figures.
   */
  elapsed_ns: number,
  /** Number of rows inserted. */
  rows_in: number,
  /** Number of rows expired. */
  rows_out: number,
  /** Latency of the commits that inserted rows. */
  commits?: SliceLatency,
  /** Latency of the queries. */
  questions?: SliceLatency,
  /** Duration of expiring: the engine's work to remove old rows. */
  expiries?: SliceLatency,
  /** Bytes of the data directory at its end, in allocated blocks. */
  allocated_bytes?: number,
  /** Bytes that reached the trial's own device in it, without any sync by embermark. */
  device_written_bytes?: number,
};

/** A latency in a slice, in ns. A percentile that the samples cannot support is absent. */
export type SliceLatency = {
  /** Number of operations. */
  samples: number,
  /** Median. */
  p50: number,
  /** 99th percentile. Needs 100 samples. */
  p99?: number,
  /** Largest. */
  max: number,
};

/** An operation that took longer than 100 ms. */
export type Stall = {
  /** When it began, in seconds since the beginning. */
  at_s: number,
  /** Duration in ns. */
  ns: number,
  /** Kind of operation: `commit`, `question` or `expiry`. */
  of: string,
  /**
   * Figures about the engine's background work that changed in the same slice: the increase of a
   * counter, and the value of a state.
   */
  moved?: { [key in string]: number },
};

/** Outcome of a cell, a trial or a phase. */
export type Status = "ok" | "capped" | "disputed" | "skipped" | "not-run" | "unsupported" | "unavailable" | "timed-out" | "failed" | "wrong";

/** A figure of the last five rounds, or of all rounds if there were fewer. */
export type SteadyFigure = {
  /** Number of rounds. */
  rounds: number,
  /** Mean. */
  mean: number,
  /** Largest value minus smallest, as a share of the mean. Must be at most 0.2. */
  spread: number,
  /**
   * Rise or fall of the least-squares line from the first round to the last, as a share of the
   * mean. Must be at most 0.1.
   */
  slope: number,
  /** Whether it was steady. */
  steady: boolean,
};

/**
 * Whether the last rounds were steady, by the rule of SNIA's Solid State Storage Performance Test
 * Specification.
 */
export type SteadyState = {
  /** Whether every figure was steady. */
  reached: boolean,
  /** End of the last round in seconds since the beginning. */
  after_s: number,
  /** The figures, by name: `throughput` or `latency`, and `space`. */
  figures: { [key in string]: SteadyFigure },
  /** Number of times that all rows of the window had been replaced by then. */
  turnovers: number,
};

/** Growth from one scale to the next. */
export type Step = {
  /** The smaller scale. */
  from: Scale,
  /** The larger scale. */
  to: Scale,
  /** The slope between them. */
  exponent: number,
};

/** Progress of the counted runs that did not do all operations. */
export type Stop = {
  /** Operations of the counted run that did the fewest. */
  done: number,
  /** Operations of a full run. */
  of: number,
};

/**
 * The name of a storage: a built-in name, or the stem of its file's name. It is part of a cell's
 * id, so it is small and `Copy`.
 */
export type StorageName = string;

/** An unusual cost. */
export type Surprise = {
  /** The scale. */
  scale: Scale,
  /** The engine's id. */
  engine: string,
  /** The factor. */
  times: number,
  /** The reason. Absent if it is not explained. */
  explained?: Reason,
  /** The variant. */
  variant: string,
  /** Whether the variant is the one that runs every phase. */
  main: boolean,
  /** The phase. */
  phase: string,
  /** The workload's id. */
  workload: string,
  /** The tier. */
  tier: Tier,
  /** The memory limit, if any. */
  memory_limit_bytes?: MemoryLimit,
  /** The imitated storage, if any. */
  storage?: StorageName,
} & ({ "how": "growth",
  /** The smaller scale. */
  from: Scale,
} | { "how": "lag",
  /** That engine. */
  behind: string,
  /** `embedded` or `server`, for both. */
  kind: string,
  /** Their data model. */
  data_model: string,
});

/** The unusual costs of one engine in one workload that have the same reason, as text. */
export type SurpriseText = {
  /** The engine's id. */
  engine: string,
  /** The phases, with the variant if it is not the one that runs every phase. */
  phases: Array<string>,
  /** Whether the reason is known. */
  explained: boolean,
  /** The text without the engine's name. */
  says: string,
  /** The workload's id. */
  workload: string,
  /** The tier. */
  tier: Tier,
  /** The memory limit, if any. */
  memory_limit_bytes?: MemoryLimit,
  /** The imitated storage, if any. */
  storage?: StorageName,
};

/** A table of one result. */
export type Table = {
  /** Index of the result. */
  result: number,
  /** Notes below the table. */
  notes: Array<Note>,
  /** Title. */
  title: string,
  /** Headings of all columns but the first. */
  header: Array<string>,
  /** Label and texts of each row. */
  rows: Array<[string, Array<Text>]>,
};

/** One experiment with one engine in one tier. Absent means not measured, never zero. */
export type Tested = {
  /** The engine's id, or the name of a configuration. */
  engine: string,
  /** The engine's version. */
  version: string,
  /** The requested tier. */
  tier: Tier,
  /** The tier that its setting provides, if it differs from the requested one. */
  effective_durability?: Tier,
  /** The experiment. */
  experiment: Experiment,
  /** Number of the run if there are several. The first of the notes is about run 1. */
  run?: number,
  /** File system of the database whose power was cut. */
  file_system?: string,
  /** Whether the tier promises to survive it. */
  promised: boolean,
  /** The number of tries: states, kills or full disks. */
  tried: number,
  /** The number of tries that broke the promise. */
  violations: number,
  /** The number of tries by how they ended. */
  verdicts: { [key in Verdict]?: number },
  /** The findings as text. */
  found: string,
  /** Acknowledged commits that were lost. */
  loss?: Loss,
  /** Median time to open the database afterwards, in ns. */
  open_ns?: number,
  /** Median time to open the database after a clean close, in ns. */
  clean_open_ns?: number,
  /** Average I/O of a commit. */
  commit?: CommitIo,
  /** An example of each verdict other than `holds`. */
  examples?: Array<Example>,
};

/** One box of a table. The parts of the boxes of a column are aligned. */
export type Text = {
  /** A time, a size, or a word. */
  value: string,
  /** Marks explained in the notes. */
  marks?: string,
  /** A second figure: the ratio. */
  second?: string,
  /** The second figure as a number, for a chart. */
  ratio?: number,
  /** The mark of the best, which follows the second figure. */
  best?: string,
};

/**
 * What an acknowledged commit survives. Ordered: a later tier keeps at least what an earlier one
 * keeps.
 */
export type Tier = "none" | "process" | "power";

/** Evidence for a tier of an engine of a result. */
export type TierStanding = {
  /** The engine's id, or the name of a configuration. */
  engine: string,
  /** The engine's version. */
  version: string,
  /** The tier. */
  tier: Tier,
  /** The evidence as text: [`Standing::words`]. */
  says: string,
} & ({ "shown": Shown } | { "by_manual": Why });

/** A phase that runs until it is steady, over time. */
export type Timeline = {
  /** Number of rows that are kept: the size of a full window. */
  window_rows: number,
  /** Bytes of user data per row, at the width of its types. */
  row_bytes: number,
  /** The engine's means of removing old rows. */
  expiry?: string,
  /**
   * Consecutive slices of time of about a second each. They are longer if there would be more
   * than 600.
   */
  slices: Array<Slice>,
  /** Consecutive rounds. */
  rounds?: Array<Round>,
  /** Steady state of the last rounds. */
  steady: SteadyState,
  /** Operations that took longer than 100 ms, in order of time: the first thousand. */
  stalls?: Array<Stall>,
  /** Total number of such operations. */
  stalled: number,
  /** Names of the engine's figures about its background work. Empty if it reports none. */
  background?: Array<string>,
};

/** One trial, in a fresh process. */
export type Trial = {
  /** Index in the cell, from 0. A trial whose index is missing did not run. */
  index: number,
  /** How it ended. */
  status: Status,
  /** The reason, if it is not ok. */
  reason: string | null,
  /** Time to open the engine or to start the server. */
  open_ns: number | null,
  /** Log of its standard error, next to the result file. */
  log: string | null,
};

/** Outcomes of the tries of an experiment. */
export type Tries = {
  /** Number of tries. */
  tried: number,
  /** Number of tries that broke the promise. */
  violations: number,
  /** Number of violations that a write torn within a block of 4 KiB caused. */
  torn_blocks: number,
  /** Number of tries by violation. */
  verdicts: Array<[Verdict, number]>,
};

/** One engine. */
export type TunedEngine = {
  /** Its heading. */
  title: string,
  /** Notes on the search and its outcome. */
  notes: Array<Note>,
  /** Better settings. Absent if today's settings are kept. */
  better?: BetterSettings,
  /** The table with a line for each candidate. */
  candidates: Grid,
};

/** The engines that were tuned. */
export type Tuning = {
  /** The workload, the tier and the machine. */
  about: string,
  /** The table with a line for each engine. */
  overview: Grid,
  /** Each engine with its candidates. */
  engines: Array<TunedEngine>,
};

/** Two engines whose order is significant at two scales, and differs between them. */
export type Turn = {
  /** The faster one at `from`. */
  before: string,
  /** The faster one at `to`. */
  after: string,
  /** The largest scale of the old order. */
  from: Scale,
  /** The smallest scale of the new order. */
  to: Scale,
  /**
   * Scales between them at which no order is significant, or at which one of the two has no
   * time.
   */
  open?: Array<Scale>,
  /** The slower one's time over the faster one's at `from`, and at `to`. */
  ratios: [number, number],
  /**
   * Whether first place passes from one engine to the other. Each may share it with engines that
   * do not differ significantly.
   */
  leads: boolean,
};

/**
 * Resources of one engine for one run of every phase: the median over the trials. A sum is absent
 * if it was not measured in every phase.
 */
export type Usage = {
  /** Amounts by the key of the resource's column. */
  amounts: Amounts,
  /**
   * Whether less than the whole work was done: a phase was capped, could not be done or did not
   * complete.
   */
  incomplete?: boolean,
};

/**
 * A finding about a database, from best to worst. All but [`Verdict::Holds`] and
 * [`Verdict::HalfMade`] break the promise of a tier that covers the experiment.
 */
export type Verdict = "holds" | "lost-commits" | "half-commit" | "hole" | "copies-differ" | "corrupt-row" | "not-opened" | "half-made" | "crashed" | "hangs" | "check-failed" | "not-writable";

/** A way in which a try can end. */
export type VerdictFacts = {
  /** Its id. */
  id: Verdict,
  /** Its name. */
  name: string,
  /** Whether a tier that survives the experiment rules it out. */
  is_violation: boolean,
};

/** A run of a phase with a fixed duration. */
export type Watched = {
  /** Index of the trial, from 0. */
  trial: number,
  /** Duration in ns. */
  window_ns: number,
  /**
   * Resources of each process by its role: `server`, `writer` (which holds an embedded engine),
   * `reader`, `sensor`.
   */
  processes?: { [key in string]: Resources },
  /** Bytes between client and server, including TCP and UDP headers. */
  network_bytes?: number,
  /** Growth of the data directory in bytes of allocated blocks. */
  disk_growth_bytes?: number,
  /**
   * Disk usage over time, from before the warm-up until everything was stored. Only for phases
   * that write.
   */
  disk?: DiskCurve,
  /** Course of a phase that runs until it is steady. */
  timeline?: Timeline,
  /** Counts by name: `samples`, `lost`, `deadline-misses`, `reads`, `missed-slots`. */
  counts?: { [key in string]: number },
  /** Distributions in ns, by name: `commit`, `read`, `staleness`. */
  latencies?: { [key in string]: Latency },
  /** Remarks for a reader of the figures, in sentences. */
  remarks?: Array<string>,
};

/** Why there is no evidence from tests. */
export type Why = "never_tried" | { "other_versions": Array<string> } | { "no_power_cut": number } | { "no_kill": number };

/** The scope of a comparison of scales: a workload in a tier under the same conditions. */
export type Within = {
  /** The workload's id. */
  workload: string,
  /** The tier. */
  tier: Tier,
  /** The memory limit, if any. */
  memory_limit_bytes?: MemoryLimit,
  /** The imitated storage, if any. */
  storage?: StorageName,
};

/** Facts about a workload. */
export type WorkloadFacts = {
  /** Its id. */
  id: string,
  /** What it represents, in one line. */
  about: string,
  /** Its phases. */
  phases: Array<PhaseFacts>,
};
