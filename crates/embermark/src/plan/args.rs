//! The options and keys of a plan.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use embermark_model::Configuration;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::configurations::{self, parse_configuration};

/// Headings of the options.
pub const WORK: &str = "What to measure";
pub const TIME: &str = "How long";
pub const ENGINES: &str = "Engines";
pub const CONDITIONS: &str = "Conditions";

/// What to measure. A plan file has the same names; the command line overrides it.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PlanArgs {
    /// Workloads by name or file (FILE.toml), optionally with rows: sensors:10k; or all [default: the
    /// plan that `embermark workloads default` prints]
    ///
    /// docs/workload-files.md describes files. `all` runs every built-in workload except retention and
    /// the built-in workload files.
    #[arg(value_name = "WORKLOAD")]
    pub workloads: Vec<String>,

    /// Rows: 1000, 10k, 1M, or full [default: the workload's own]
    ///
    /// `full` uses every row of the data, which is the default with --data. `embermark workloads` lists
    /// the workloads' own scales.
    #[arg(help_heading = WORK, short, long, value_delimiter = ',', value_name = "ROWS,…")]
    #[serde(deserialize_with = "words")]
    pub scale: Vec<String>,

    /// Try 1k, 10k, … rows up to this many, while --for lasts [default: 30m]
    ///
    /// Starts at --scale if given. The next power of ten starts only if it is expected to end in time.
    #[arg(help_heading = WORK, hide_short_help = true, long, value_name = "ROWS")]
    pub scales_until: Option<String>,

    /// What a commit survives: none, process (a crash of the program), power (a power cut)
    /// [default: process; without a workload, or with files only, power and process]
    #[arg(help_heading = WORK, short, long, value_delimiter = ',', value_name = "TIER,…")]
    pub tier: Vec<String>,

    /// Variants of the workloads, listed by `embermark workloads` [default: the workload's own]
    ///
    /// The first variant that a workload has runs every phase; the others run the phases that they change.
    #[arg(help_heading = WORK, long, value_delimiter = ',', value_name = "VARIANT,…")]
    pub variant: Vec<String>,

    /// Measure only these phases [default: all]
    #[arg(help_heading = WORK, long, value_delimiter = ',', value_name = "PHASE,…")]
    pub phases: Vec<String>,

    /// Read the rows of `sensors` from this file, plain or gzip [default: synthetic rows]
    #[arg(help_heading = WORK, long, value_name = "FILE")]
    pub data: Option<PathBuf>,

    /// Largest share of a workload file's rows to skip when they do not match their columns
    /// [default: 1%]
    #[arg(help_heading = WORK, hide_short_help = true, long, value_name = "SHARE")]
    pub lenient: Option<String>,

    /// Time for the whole run, such as 5m [default: 5m without a workload, or with files only]
    ///
    /// Every cell is measured once, and then again where the order of engines is uncertain. Runs that would
    /// take longer are stopped and shown as capped. A search for the highest rate, phases of a fixed length
    /// and preparations are not: the result states by how much the time was exceeded. Without --for, --effort
    /// sets the number of trials.
    #[arg(help_heading = TIME, long = "for", value_name = "TIME")]
    #[serde(rename = "for")]
    pub lasts: Option<String>,

    /// Number of measurements, instead of --for: quick, normal, thorough [default: normal]
    ///
    /// quick: 1 trial of 2 runs. normal: 3 trials of 6 runs. thorough: 10 trials of 6 runs. A trial is one
    /// fresh process; its first run warms up and does not count.
    #[arg(help_heading = TIME, long, value_name = "EFFORT", conflicts_with_all = ["lasts", "trials", "runs"])]
    pub effort: Option<String>,

    /// Fresh processes per cell [default: by --effort]
    #[arg(help_heading = TIME, hide_short_help = true, long, value_name = "N")]
    pub trials: Option<u32>,

    /// Runs of each phase in a trial [default: by --effort]
    #[arg(help_heading = TIME, hide_short_help = true, long, value_name = "N")]
    pub runs: Option<u32>,

    /// Number of warm-up runs among them. These come first, and are recorded but not counted.
    #[arg(skip)]
    pub warmup_runs: Option<u32>,

    /// The longest time of one run of a phase, or `none`.
    #[arg(skip)]
    pub max_run_time: Option<String>,

    /// The measured time of a phase of fixed length.
    #[arg(skip)]
    pub window: Option<String>,

    /// The warm-up of `machine` before its window.
    #[arg(skip)]
    pub warm_up: Option<String>,

    /// The longest time of one trial before it is ended, or `none`.
    #[arg(skip)]
    pub timeout: Option<String>,

    /// With the rate `max`, the limit of the 99th percentile of commit latency.
    #[arg(skip)]
    pub p99_limit: Option<String>,

    /// The seed of synthetic rows, operation sequences and trial order.
    #[arg(skip)]
    pub seed: Option<u64>,

    /// The size of the file system of each trial of `retention`.
    #[arg(skip)]
    pub disk_size: Option<String>,

    /// Engines to compare: ids, or embedded, servers, all [default: embedded]
    ///
    /// ENGINE-defaults measures an engine with its own default settings, ENGINE-python an engine used from
    /// Python.
    #[arg(help_heading = ENGINES, short, long, value_delimiter = ',', value_name = "ENGINE,…")]
    pub engines: Vec<String>,

    /// Add a column: an engine with other settings, NAME=ENGINE:SETTING=VALUE,…
    ///
    /// --engines also accepts NAME. library=DIR runs the version found in DIR, and client=CLIENT runs the
    /// timed work in a client. In a plan file this is a table configuration.NAME with engine, settings,
    /// library and client. docs/configurations.md lists the settings.
    #[arg(help_heading = ENGINES, long, value_name = "COLUMN", value_parser = parse_configuration)]
    #[serde(deserialize_with = "configurations::deserialize_tables", serialize_with = "as_tables")]
    pub configuration: Vec<(String, Configuration)>,

    /// Measure each column from these languages: native, python, node, node:PACKAGE, ./PROGRAM
    /// [default: native]
    ///
    /// Each client is a column of its own: sqlite-python, which --engines also accepts. native is embermark
    /// itself. Reference engines stay native. docs/clients.md has more.
    #[arg(help_heading = ENGINES, hide_short_help = true, long, value_delimiter = ',', value_name = "CLIENT,…")]
    pub client: Vec<String>,

    /// Use a server that already runs instead of a private one: ENGINE=URL
    ///
    /// The password may be in the environment, as EMBERMARK_PASSWORD_ENGINE. Only host, port and database
    /// are recorded.
    #[arg(help_heading = ENGINES, long, value_name = "ENGINE=URL")]
    pub url: Vec<String>,

    /// Add an engine of your own, a shared library (docs/engine-library.md); ID renames it; may be repeated
    #[arg(help_heading = ENGINES, hide_short_help = true, long, value_name = "[ID=]PATH")]
    pub engine_library: Vec<PathBuf>,

    /// Run engines whose licence forbids publishing benchmark results; you accept the licence
    #[arg(help_heading = ENGINES, hide_short_help = true, long, value_delimiter = ',',
          value_name = "ENGINE,…")]
    pub accept_license: Vec<String>,

    /// Cache memory of each engine [default: 64MiB]
    #[arg(help_heading = CONDITIONS, long, value_name = "SIZE")]
    pub cache: Option<String>,

    /// Limit the memory of engine, server and page cache together: 256MiB, none [default: none]
    ///
    /// Each limit is a separate comparison. Within a limit the cache is at most a quarter of it. Needs root
    /// or a delegated control group.
    #[arg(help_heading = CONDITIONS, long, value_delimiter = ',', value_name = "SIZE,…")]
    pub memory_limit: Vec<String>,

    /// Imitate the times of a storage device below each database: sd-class10, sd-a1, sd-a2, emmc, usb-stick,
    /// hdd-7200, nvme, none [default: none]
    ///
    /// Also accepts a file of your own (FILE.toml, docs/storage.md). none is this machine's own disk. Each
    /// storage is a separate comparison. A storage is a model with likely values, not a measurement of a
    /// device. Needs root and FUSE.
    #[arg(help_heading = CONDITIONS, long, value_delimiter = ',', value_name = "STORAGE,…")]
    pub storage: Vec<String>,

    /// Imitate a network link between clients and their server: ethernet, wifi, wifi-far, lte, lte-m, none
    /// [default: none]
    ///
    /// Also accepts a file of your own (FILE.toml, docs/network.md). The whole trial of a server goes over
    /// the link, its load too. Embedded engines have none, and stay as they are. A link is a model with
    /// likely values, not a measurement of a network. Needs root, or a kernel that lets users have TUN
    /// devices.
    #[arg(help_heading = CONDITIONS, hide_short_help = true, long, value_name = "LINK")]
    pub network: Option<String>,

    /// Clients at the same time, 1 to 256 [default: 1]
    ///
    /// A client is a thread of an embedded engine or a connection of a server. With more than one, only
    /// point operations run: load, read, update and delete of `sensors` (variant commit-each; reads also in
    /// single and bulk), insert of `contacts` and `events`, and those of workload files.
    #[arg(help_heading = CONDITIONS, long, value_name = "N")]
    pub clients: Option<u32>,

    /// Operations, rows or samples per second at which work arrives [default: the workload's own]
    ///
    /// `machine`: samples per second [default: 1000]. `retention`: rows per second [default: no limit]. A
    /// phase with `arrive` of a workload file: rows per second. Point operations of `sensors`, `contacts`,
    /// `events` and workload files: an open loop of all clients together [default: a closed loop].
    /// `embermark rate` finds the highest sustained rate.
    #[arg(help_heading = CONDITIONS, long, value_name = "RATE")]
    #[serde(deserialize_with = "word")]
    pub rate: Option<String>,

    /// Read from a cold cache
    ///
    /// Before each run of a read phase, embermark closes the database, drops its files from memory and opens
    /// it again. This time does not count. For `sensors`, `contacts`, `events` and workload files on
    /// embedded engines.
    #[arg(help_heading = CONDITIONS, hide_short_help = true, long)]
    pub cold: bool,

    /// Estimate the flash bytes that each card would program: sd-32gb, sd-a2-64gb, emmc-8gb, emmc-32gb
    ///
    /// Also accepts a file of your own (FILE.toml, docs/flash.md). A model estimates the bytes from trials
    /// that run after the timed ones. Needs root and FUSE.
    #[arg(help_heading = CONDITIONS, hide_short_help = true, long, value_delimiter = ',', value_name = "CARD,…")]
    pub card: Vec<String>,

    /// Further work if `for` is longer; only in a plan file.
    #[arg(skip)]
    pub then: Vec<Then>,
}

/// What a longer run measures in addition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Then {
    /// The shortest time of the whole run.
    pub from: String,
    /// Further workloads, or further scales of the others.
    pub workloads: Vec<String>,
    /// Further memory limits.
    pub memory_limit: Vec<String>,
    /// Further storages.
    pub storage: Vec<String>,
}

impl fmt::Display for Then {
    /// Formats the addition: `sensors:100k (--for 20m)`, `within 64MiB (--for 1h)`, `on sd-a1
    /// (--for 1h)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limits = self.memory_limit.iter().filter(|limit| *limit != "none");
        let limits = limits.map(|limit| format!("within {limit}"));
        let storages = self.storage.iter().filter(|storage| *storage != "none");
        let storages = storages.map(|storage| format!("on {storage}"));
        let what: Vec<String> =
            self.workloads.iter().cloned().chain(limits).chain(storages).collect();
        write!(f, "{} (--for {})", what.join(", "), self.from)
    }
}

/// A text, or a number without quotes, as in `rate = 1000`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a text or a number")]
enum Word {
    Text(String),
    Number(u64),
}

impl From<Word> for String {
    fn from(word: Word) -> Self {
        match word {
            Word::Text(text) => text,
            Word::Number(number) => number.to_string(),
        }
    }
}

fn word<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<Word>::deserialize(from)?.map(String::from))
}

fn words<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(Vec::<Word>::deserialize(from)?.into_iter().map(String::from).collect())
}

fn as_tables<S: Serializer>(all: &[(String, Configuration)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(all.iter().map(|(name, configuration)| (name, configuration)))
}
