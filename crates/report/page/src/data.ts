/**
 * What the page is given.
 *
 * Generated from the Rust types by `crates/report/src/typescript.rs`: change them there. Times are ns,
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

/** What advice is drawn from. */
export type Advisable = {
  /** Of which result, by its label; absent where it is of all. */
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

/** A table, and what has to be known of it. */
export type Annotated = {
  /** What to know. */
  notes: Array<Note>,
  /** What it shows. */
  title: string,
  /** Over the columns but the first. */
  header: Array<string>,
  /** Label and texts of each row. */
  rows: Array<[string, Array<Text>]>,
};

/** What to take by one result: the terminal's screen. */
export type Answer = {
  /** Which result, by its place. */
  result: number,
  /** Of the columns that are used from this language; absent: of all. */
  client?: string,
  /** What to take, in lines. */
  take: Array<Note>,
  /** The engine of each line. */
  engines: Array<Measured>,
  /** What the marks mean. */
  legend: Array<string>,
  /** The engines in the order of each of [`Page::presets`]. */
  orders: Array<Ranking>,
  /** What it shows. */
  title: string,
  /** Over the columns but the first. */
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
  /** Place in [`Page::results`]. */
  result: number,
  /** The workload's id. */
  workload: string,
  /** The scale as it is written. */
  scale: string,
  /** The limit of memory as it is written, if any: `256 MiB`. */
  limit?: string,
  /** The same in bytes. */
  memory_limit_bytes?: number,
  /** The imitated storage, if any. */
  storage?: string,
  /** Rows, where they are known. */
  rows: number | null,
  /** The tier asked for. */
  tier: Tier,
  /** The variant. */
  variant: string,
  /** Whether this variant runs every phase. */
  main: boolean,
  /** The engine's id. */
  engine: string,
  /** `embedded`, `server` or `reference`; absent when neither the facts nor the runs tell. */
  kind: string | null,
  /** How it ended. */
  status: Status,
  /** Why, when not ok. */
  reason: string | null,
  /** The tier really kept, when that is another. */
  effective_durability: Tier | null,
  /**
   * Whether it may have a ratio: no reference, not given by its URL, and effective durability not
   * below the tier.
   */
  ranked: boolean,
  /** What its tier rests on, in words; absent where the tier promises nothing. */
  durability?: string,
  /** It was tried, and broke what its tier promises. */
  broken?: boolean,
  /** A server that was given by its URL. */
  by_url?: boolean,
  /** Of a configuration: the engine and the settings. */
  configuration?: string,
  /** The client that does the timed work; absent: embermark itself. */
  client?: string,
  /** Its language. */
  language?: string,
  /** Of a configuration: in what it is not as the tier. */
  own_durability?: string,
  /** Its licence forbids publishing its figures. */
  unpublishable: boolean,
  /** The engine's versions over the trials. */
  versions: Array<string>,
  /** Settings as read back in the first trial that has them. */
  settings: { [key in string]: string },
  /** Its trials. */
  trials: Array<Trial>,
  /** Those that were lost: they are in no figure. */
  lost_trials?: Array<Trial>,
  /** What it used for the whole of the workload. */
  usage: Usage,
};

/**
 * A client. It is a language that embermark has a program for (`python`, `node`), perhaps with one
 * of the packages for the engine (`node:better-sqlite3`), or the path of a program that speaks the
 * protocol of docs/clients.md.
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

/** A column of a table, and a field of what the page is given. */
export type Column = {
  /** Its name for programs. */
  key: string,
  /** What it is, on the page. */
  about: string,
  /** What its numbers count. */
  quantity: Quantity,
};

/** What commits wrote to a device. */
export type CommitIo = {
  /** Number of commits counted. */
  commits: number,
  /** Bytes written. */
  bytes: number,
  /** Number of flushes. */
  flushes: number,
};

/** One workload at one scale, within one limit of memory, in one tier. */
export type Compared = {
  /** The workload's id. */
  workload: string,
  /** Scale and limit of memory as they are written: `10k`, `100k within 256 MiB`. */
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
  /** Its name; no other one has it. */
  name: string,
  /** What it is: the board as its firmware calls it, else its CPU. */
  model: string,
  /** The machine in a line; empty where there is no result. */
  machine: string,
  /** What may have disturbed its figures. */
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

/** What was tried, and what tiers rest on. */
export type Durability = {
  /** How a try can end, in the order in which it is told. */
  verdicts: Array<VerdictFacts>,
  /** What each tier of each engine rests on. */
  standings: Array<TierStanding>,
  /** Each experiment with each engine in each tier. */
  tested: Array<Tested>,
  /** What they did when their disk was full. */
  full_disk?: Annotated,
  /** On what, when, and what was not tried. */
  notes: Array<Note>,
};

/** An engine. */
export type Engine = {
  /** Its id, or its name as a configuration. */
  id: string,
  /** Its versions over the devices. */
  versions: Array<string>,
  /** Shown and never ranked. */
  reference: boolean,
  /** Its licence forbids publishing its figures. */
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
  /** Place in [`Page::cells`]. */
  cell: number,
  /** Its name; absent when no cell of the variant came as far as a phase. */
  phase: string | null,
  /** How it ended; absent when nothing was counted. */
  status: Status | null,
  /** Why, when not ok. */
  reason: string | null,
  /** Who said what is right, where no oracle does. */
  checked_by?: string,
  /** The plan that the engine has for its query. */
  plan?: string,
  /** What took its times, where that was a client by its own clock. */
  timed_by?: string,
  /** This phase ended well and its cell did not: shown, not ranked. */
  tainted: boolean,
  /** Trials of its cell that failed or timed out: the figure is of the others. */
  lost?: number,
  /** What its cell did not do: shown, not ranked. */
  shortfall?: string,
  /** How its cost stands out, and why where that is known. */
  surprise?: string,
  /** Done by code in the client. */
  client_side: boolean,
  /** One commit a row, where other engines put many in one. */
  commits_each?: boolean,
  /** The time. */
  figure: Figure | null,
  /** The distribution of the latency of one operation. */
  latency: Latency | null,
  /** The same from the scheduled start of an operation, where there is a schedule. */
  response?: Latency,
  /** What the engine used for a counted run. */
  usage: Usage,
  /**
   * Bytes between client and server in a counted run of a phase that is watched: the median over
   * trials.
   */
  network_bytes?: number,
  /** What a reader of the figures has to know, of a phase that is watched. */
  remarks?: Array<string>,
  /** What was seen of each counted run of a phase that is watched, in the order of the trials. */
  watched?: Array<Watched>,
  /** What a phase that inserts rows wrote, by the keys of [`Page::load_columns`]. */
  loading?: Amounts,
  /** What a run has to show beside its time, by the keys of [`Page::beside_columns`]. */
  beside?: Amounts,
  /** What an operation asked of the system, by the keys of [`Page::explained_columns`]. */
  explained?: Explanation,
  /**
   * The runs of each trial: elapsed ns, operations, and 0, 1 (discarded), 2 (stopped at the
   * cap) or 3 (both).
   */
  runs: Array<Array<[number, number, number]>>,
};

/** A try that did not hold. */
export type Example = { verdict: Verdict, of: string, acknowledged: number, last?: number | null, message?: string | null, kept?: string,
};

/** How a database is interrupted. */
export type Experiment = "kill" | "power-cut" | "device-lies" | "full-disk";

/** What an operation of a phase asked for, by the keys of [`explained_columns`]. */
export type Explanation = {
  /** By the engine: the worker of an embedded one, all processes of a server. */
  engine: Amounts,
  /** By the client, where it is another process. */
  client?: Amounts,
  /**
   * The engine's system calls that are more than 5 % of all of them, by name with their share, the
   * most frequent first.
   */
  frequent_calls: Array<[string, number]>,
  /** Operations of the run whose system calls were counted. */
  traced_ops: number | null,
  /** Operations of the run of which everything else is. */
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
  /** Peak memory in this tier at these scales, in bytes; `null` if not measured. */
  peak_bytes: number | null,
};

/** Who is the fastest of the engines that compete at one scale. */
export type Fastest = {
  /** The scale. */
  scale: Scale,
  /** The fastest first, then those that no difference to it is shown for. */
  engines: Array<string>,
};

/**
 * The time of one phase: over the counted runs of a trial the mean (the published protocol), over
 * the trials the median.
 */
export type Figure = {
  /** Time per operation in ns: the median over the trials. */
  per_op_ns: number,
  /** Its mean over the trials in ns. */
  mean_ns: number,
  /** The 95 % interval of the median in ns, from resampled trials; absent with fewer than three. */
  interval_ns: [number, number] | null,
  /** Time of a whole run in ns; absent when a counted run did not do all of it. */
  elapsed_ns: number | null,
  /** Operations of a full run. */
  ops: number,
  /** Where it stopped, when it did not do all operations. */
  stop: Stop | null,
  /** Time per operation of each trial in ns, in the order the trials ran. */
  per_trial_ns: Array<number>,
  /** The index of the trial of each of these: one that counted nothing has none. */
  trials: Array<number>,
  /** Places in `per_trial_ns` of trials that stand apart from the others. They count all the same. */
  outliers: Array<number>,
  /**
   * What several clients did together, and how well a schedule was kept; `None` of one client in
   * a closed loop.
   */
  sharing?: Sharing,
};

/** What the page of a fleet shows. */
export type Fleet = {
  /** The devices, in the order in which they were added. */
  devices: Array<Device>,
  /** Engines, in the order in which they were met. */
  engines: Array<Engine>,
  /** What was compared: on some device at least. */
  lines: Array<Compared>,
  /** How an engine stands on a device: none where that was not asked for there. */
  boxes: Array<Packed>,
};

/** One table. */
export type Grid = {
  /** What it shows. */
  title: string,
  /** Over the columns but the first. */
  header: Array<string>,
  /** Label and texts of each row. */
  rows: Array<[string, Array<Text>]>,
};

/** One workload at one scale, within one limit of memory, in one tier. */
export type Group = {
  /** The workload's id. */
  workload: string,
  /** The scale as it is written. */
  scale: string,
  /** The limit of memory as it is written, if any: `256 MiB`. */
  limit?: string,
  /** The imitated storage, if any. */
  storage?: string,
  /** The tier. */
  tier: Tier,
  /** Rows, repetitions, who is absent. */
  about: Array<string>,
};

/** How the time of one operation of an engine grows. */
export type Growth = {
  /** The engine's id. */
  engine: string,
  /**
   * The slope of the line of least squares through the logarithms of time and rows: 0 where
   * more rows cost nothing, 1 where ten times the rows cost ten times the time.
   */
  exponent: number,
  /** The same from each of its scales to the next. */
  steps: Array<Step>,
  /** The steps differ by so much that the exponent says little. */
  bends: boolean,
  /**
   * Some time is of a run that was stopped at the longest run time: of a load that is the time
   * at fewer rows.
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
  /** Why, each in a few words. */
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
  /** How its clock stood before the last of the runs. */
  clock: ClockOffset,
  /** The start farthest from the agreed moment, in ns after it. */
  start_delay_ns: number,
  /** Operations of all those runs. */
  ops: number,
  /** Operations a second in the time in which all machines were at work, the median of the runs. */
  per_second: number,
  /** Median latency in ns. */
  p50_ns: number | null,
  /** The 99th percentile. */
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

/** One line. */
export type Note = {
  /** The subject; may be empty. */
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
  /** In these phases: `load (bulk)` where the variant is not the one that runs every phase. */
  phases: Array<string>,
  /** In one of them at least the place of the fastest of all goes from the one to the other. */
  leads: boolean,
  /** All of it: `duckdb overtakes lmdb between 100k and 1M rows (avg_sensor, hot_sensors)`. */
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
 * How an engine stands in one line on one device. Each field but the three places may be absent. A page of
 * many devices has tens of thousands: it is written as `[device, line, engine, ratio, ns, flags, says]`, with
 * 1 for `whole` and 2 for `best` in the flags, numbers of five digits, and nothing where the last are absent.
 */
export type Packed = [device: number, line: number, engine: number, ratio?: number | null, ns?: number | null, flags?: number, says?: string];

/** Everything the page shows. */
export type Page = {
  /** The version of this form. */
  page: number,
  /** embermark's version that made the page. */
  tool: string,
  /** What must be said before anything else: that figures may not be published. */
  face: string | null,
  /** The result files. */
  results: Array<Result>,
  /** In what the results were not measured alike: their figures stand apart. */
  unlike: Array<string>,
  /** What is shown of resources. */
  resource_columns: Array<Column>,
  /** What is shown of loads and their maintenance. */
  load_columns: Array<Column>,
  /** What is shown of a run beside its time. */
  beside_columns: Array<Column>,
  /** What is shown of what an operation asked of the system. */
  explained_columns: Array<Column>,
  /** What is known of engines, by id. */
  engines: { [key in string]: EngineFacts },
  /** What is known of workloads. */
  workloads: Array<WorkloadFacts>,
  /** Every cell of every result. */
  cells: Array<Cell>,
  /** Every phase of every cell, in display order. */
  entries: Array<Entry>,
  /** What more rows do to time, of each result. */
  scaling: Array<Scaling>,
  /** Published figures beside measured ones. */
  published: Array<Table>,
  /** What modelled flash cards would have programmed. */
  flash?: Array<Table>,
  /** What to take, and a line for each engine, of results in which rows were committed one by one. */
  answer: Array<Answer>,
  /** What it costs to keep up with a machine. */
  costs: Array<Table>,
  /** What was tried of durability; absent where no tier of what is shown promises anything. */
  durability?: Durability,
  /** The engines that `embermark tune` has tuned; such a page has nothing else. */
  tuned?: Tuning,
  /** Many devices side by side; such a page has nothing else. */
  fleet?: Fleet,
  /** Situations to begin with. */
  presets: Array<Preset>,
  /** What advice is drawn from: one table for all results that were measured alike, else one each. */
  advice: Array<Advisable>,
};

/** What is known of a phase. */
export type PhaseFacts = {
  /** Its name. */
  name: string,
  /** What it does, in a line. */
  about: string,
};

/** One phase at its scales. */
export type PhaseScaling = {
  /** Its scales, the smallest first. */
  scales: Array<Scale>,
  /** How the time of one operation grows, by engine. */
  growth: Array<Growth>,
  /** Who is the fastest, by scale. */
  fastest: Array<Fastest>,
  /** The same in words. */
  leading: string,
  /** Where the order of two engines turns. */
  turns: Array<Turn>,
  /** Some figure has fewer than three trials: of its order nothing can be said. */
  few_trials: boolean,
  /** The variant. */
  variant: string,
  /** Whether that is the one that runs every phase. */
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
   * The score with every ratio at its lower and at its upper end; absent where some ratio has no
   * interval.
   */
  interval: [number, number] | null,
  /** Its ratios of the weighted criteria, in the order of the weights. */
  ratios: Array<[string, number]>,
  /** Engines behind it whose order is not certain: the intervals overlap or there are none. */
  not_certainly_before: Array<string>,
};

/** A situation. */
export type Preset = {
  /** Its name in an address. */
  id: string,
  /** Its name. */
  name: string,
  /** What a commit must survive; absent: the tier in which all work was measured. */
  tier?: Tier,
  /** What matters, and how much. */
  weights: Array<[string, number]>,
  /** Rows per second that must be committed one by one. */
  rows_per_second?: number,
  /** The most memory that the engine may use, in bytes. */
  memory_bytes?: number,
};

/** What a number counts, and so how it is written. */
export type Quantity = "time" | "bytes" | "count" | "number" | "ratio" | "share" | "energy" | "power";

/** The engines in the order of a situation. */
export type Ranking = {
  /** The situation's id. */
  preset: string,
  /** By what they are ordered, and what of it was not measured. */
  says: string,
  /** The best first. */
  ranked: Array<Place>,
  /** Who has no place, and why. */
  left: Array<Left>,
};

/** Why a cost stands out. */
export type Reason = {
  /** In some words. */
  why: string,
  /** The measurement that shows it. */
  evidence: string,
  /** Where it is written. */
  section: string,
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
  /** Its run's name. */
  run_id: string,
  /** A short name, no other result of the page has it. */
  label: string,
  /** When the run began, RFC 3339. */
  started: string,
  /** The machine in a line. */
  machine: string,
  /** What may have disturbed the figures. */
  warnings: Array<string>,
  /** What the terminal's report says below its tables, by section. */
  sections: Array<Section>,
  /** What was asked for and on what, as name and value. */
  manifest: Array<Note>,
  /** Engines with figures that may not be published. */
  unpublishable: Array<string>,
  /** What the figures of a workload at a scale, within a limit, in a tier were measured on. */
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

/** What is known of scale in one result. */
export type Scaling = {
  /** Every phase that was measured at two scales or more. */
  phases: Array<PhaseScaling>,
  /** Where the order of two engines turns, the same pair between the same scales together. */
  turns: Array<Overtaking>,
  /** Costs that stand out, of phases that were measured at one scale too. */
  surprises: Array<Surprise>,
  /** The same in words. */
  told: Array<SurpriseText>,
};

/** How well operations were started when they were to. */
export type Schedule = {
  /** Operations a second that the schedule has. */
  target_rate: number,
  /** Operations a second that were started. */
  achieved_rate: number,
  /** Whether every counted run kept up. */
  kept_up: boolean,
  /**
   * By how much operations were late for which a client was ready on time, in ns: the largest
   * 99th percentile of any run. That is the client's error, not the engine's.
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
  /** Whether that is the one that runs every phase. */
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
 * One phase by several clients, or at a target rate: over the counted runs of a trial, and over
 * the trials the median.
 */
export type Sharing = {
  /** Operations a second by all clients together. */
  per_second: number,
  /** Operations a second of the slowest and the fastest client; `None` where there was one. */
  clients: [number, number] | null,
  /** How well the schedule was kept; `None` of a closed loop. */
  schedule: Schedule | null,
  /** What each client machine did; none where clients were on one. */
  machines?: Array<MachineShare>,
};

/** What was tried of a tier, with the version at hand. */
export type Shown = {
  /** Its processes were killed. */
  kills: Tries,
  /** The power was cut: none where the tier does not promise to survive that. */
  states: Tries,
  /** File systems under a database whose power was cut. */
  file_systems: Array<string>,
  /** The day of the last of these runs, UTC, `2026-11-22`. */
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

/** From one scale to the next. */
export type Step = {
  /** The smaller scale. */
  from: Scale,
  /** The larger scale. */
  to: Scale,
  /** The slope between them. */
  exponent: number,
};

/** How far the counted runs came that did not do all operations. */
export type Stop = {
  /** Operations of the counted run that did fewest. */
  done: number,
  /** Operations of a full run. */
  of: number,
};

/**
 * The name of a storage: a built-in name, or the stem of its file's name. It is part of a cell's
 * id, so it is small and `Copy`.
 */
export type StorageName = string;

/** A cost that stands out. */
export type Surprise = {
  /** At which scale. */
  scale: Scale,
  /** The engine's id. */
  engine: string,
  /** How many times. */
  times: number,
  /** Why, where that is known; absent: nobody has looked. */
  explained?: Reason,
  /** The variant. */
  variant: string,
  /** Whether that is the one that runs every phase. */
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
  /** From this scale on. */
  from: Scale,
} | { "how": "lag",
  /** That engine. */
  behind: string,
  /** Where both run. */
  kind: string,
  /** Their data model. */
  data_model: string,
});

/** What is said of the surprises of one engine in one workload that have the same reason. */
export type SurpriseText = {
  /** The engine's id. */
  engine: string,
  /** The phases, with their variant where that is not the one that runs every phase. */
  phases: Array<string>,
  /** Whether the reason is known. */
  explained: boolean,
  /** All of it but the engine. */
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
  /** Which result, by its place. */
  result: number,
  /** What to know. */
  notes: Array<Note>,
  /** What it shows. */
  title: string,
  /** Over the columns but the first. */
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
  /** Of which run, where there are several: the first of the notes is of run 1. */
  run?: number,
  /** Under the database whose power was cut. */
  file_system?: string,
  /** Whether the tier promises to survive it. */
  promised: boolean,
  /** The number of tries: states, kills or full disks. */
  tried: number,
  /** The number of tries that broke the promise. */
  violations: number,
  /** The number of tries by how they ended. */
  verdicts: { [key in Verdict]?: number },
  /** What was found, in words. */
  found: string,
  /** Acknowledged commits that were lost. */
  loss?: Loss,
  /** Median time to open the database afterwards, in ns. */
  open_ns?: number,
  /** The same after a clean close. */
  clean_open_ns?: number,
  /** What each commit wrote to the device, on average. */
  commit?: CommitIo,
  /** An example of each verdict other than `holds`. */
  examples?: Array<Example>,
};

/** One box of a table. Its parts are aligned one under the other. */
export type Text = {
  /** A time, a size, or a word. */
  value: string,
  /** Marks explained in the notes. */
  marks?: string,
  /** A second figure: the ratio. */
  second?: string,
  /** The second figure as a number, where a chart draws it. */
  ratio?: number,
  /** After it, the mark of the best. */
  best?: string,
};

/**
 * What an acknowledged commit survives. Ordered: a later tier keeps at least what an earlier one
 * keeps.
 */
export type Tier = "none" | "process" | "power";

/** What a tier of an engine of a result rests on. */
export type TierStanding = {
  /** The engine's id, or the name of a configuration. */
  engine: string,
  /** The engine's version. */
  version: string,
  /** The tier. */
  tier: Tier,
  /** In words: [`Standing::words`]. */
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

/** One fresh process. */
export type Trial = {
  /** Counts from 0 within the cell; one that is missing did not run. */
  index: number,
  /** How it ended. */
  status: Status,
  /** Why, when not ok. */
  reason: string | null,
  /** Time to open the engine or to start the server. */
  open_ns: number | null,
  /** The log of its standard error, beside the result file. */
  log: string | null,
};

/** What came of the tries of an experiment. */
export type Tries = {
  /** How many were made. */
  tried: number,
  /** How many of them broke the promise. */
  violations: number,
  /** How many of these came of a write that was torn within a block of 4 KiB. */
  torn_blocks: number,
  /** How many broke it how. */
  verdicts: Array<[Verdict, number]>,
};

/** One engine. */
export type TunedEngine = {
  /** Its heading. */
  title: string,
  /** What was searched, and what was found. */
  notes: Array<Note>,
  /** Absent where today's settings stay. */
  better?: BetterSettings,
  /** Every candidate in a line. */
  candidates: Grid,
};

/** The engines that were tuned. */
export type Tuning = {
  /** For what, and on what. */
  about: string,
  /** Every engine in a line. */
  overview: Grid,
  /** Each engine with its candidates. */
  engines: Array<TunedEngine>,
};

/** Two engines whose order is significant at two scales, and another one at each. */
export type Turn = {
  /** The faster one at `from`. */
  before: string,
  /** The faster one at `to`. */
  after: string,
  /** The largest scale of the old order. */
  from: Scale,
  /** The smallest scale of the new order. */
  to: Scale,
  /** Scales between them at which no order is shown, or one of the two has no time. */
  open?: Array<Scale>,
  /** The slower one's time over the faster one's at `from`, and at `to`. */
  ratios: [number, number],
  /**
   * The place of the fastest goes from the one to the other, alone or with others beside them
   * that no difference is shown to.
   */
  leads: boolean,
};

/**
 * What one engine used to do one run of every phase: the median over the trials. A sum of which
 * some phase was not measured is absent.
 */
export type Usage = {
  /** By the key of the resource's column. */
  amounts: Amounts,
  /** Some phase was capped, could not be done or did not end well: less than the whole work. */
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

/** A window of a phase that lasts by the clock. */
export type Watched = {
  /** Which trial, from 0. */
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

/** Why nothing is shown. */
export type Why = "never_tried" | { "other_versions": Array<string> } | { "no_power_cut": number } | { "no_kill": number };

/** What scales are compared within: a workload in a tier under the same conditions. */
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

/** What is known of a workload. */
export type WorkloadFacts = {
  /** Its id. */
  id: string,
  /** What it stands for, in a line. */
  about: string,
  /** Its phases. */
  phases: Array<PhaseFacts>,
};
