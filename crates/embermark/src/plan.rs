//! From the command line and a plan file to a [`Plan`].

use std::collections::BTreeMap;
use std::fmt;
use std::iter;
use std::path::{Path, PathBuf};

use clap::Args;
use embermark_engines::registry;
use embermark_harness::{Catalog, cells, passwords};
use embermark_model::plan::{DataSource, Plan, Rate};
use embermark_model::{Configuration, Durability, Scale, ServerUrl, choice};
use embermark_workloads::Workload;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::error::Failure;
use crate::older;

mod cards;
mod configurations;
mod engine_libraries;
mod files;
mod memory;
mod storages;

pub use configurations::{columns, configurations, parsed};
pub use engine_libraries::{engine_libraries, ids_or};
use files::Chosen;
pub use files::{of_plan, shipped};
use memory::{cache, disk_size};
pub use memory::{max_rss, memory_limits};
pub use storages::storages;

/// Headings of the options.
pub const WORK: &str = "What to measure";
pub const TIME: &str = "How long";
pub const ENGINES: &str = "Engines";
pub const CONDITIONS: &str = "Conditions";

/// Trials, and runs of each phase in one, by their name in `--effort`.
const EFFORTS: [(&str, u32, u32); 3] = [("quick", 1, 2), ("normal", 3, 6), ("thorough", 10, 6)];

/// What to measure. The same names stand in a plan file; the command line wins over the file.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PlanArgs {
    /// Workloads by name or file (FILE.toml), each with its rows if you like: sensors:10k; or all
    /// [default: what `embermark workloads default` prints]
    ///
    /// docs/workload-files.md describes files. `all` runs every built-in workload except retention and
    /// those that are files.
    #[arg(value_name = "WORKLOAD")]
    pub workloads: Vec<String>,

    /// Rows: 1000, 10k, 1M, or full [default: the workload's own]
    ///
    /// `full` uses every row of the data, which is the default with --data. `embermark workloads` lists
    /// the workloads' own scales.
    #[arg(help_heading = WORK, short, long, value_delimiter = ',', value_name = "ROWS,…")]
    pub scale: Vec<String>,

    /// Try 1k, 10k, … rows up to this many, while --for lasts [default: 30m]
    ///
    /// Starts at --scale where one is given. The next power of ten starts only if it is expected to end in
    /// time.
    #[arg(help_heading = WORK, hide_short_help = true, long, value_name = "ROWS")]
    #[serde(rename = "scales-until")]
    pub scales_until: Option<String>,

    /// What a commit survives: none, process (a crash of the program), power (a power cut)
    /// [default: process; power and process where no workload is named]
    #[arg(help_heading = WORK, short, long, value_delimiter = ',', value_name = "TIER,…")]
    #[serde(alias = "durability")]
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

    /// Time for the whole run, such as 5m [default: 5m where no workload is named]
    ///
    /// Every cell is measured once, and then again where the order of engines is not certain. Without it,
    /// every cell has as many trials as --effort says.
    #[arg(help_heading = TIME, long = "for", value_name = "TIME")]
    #[serde(rename = "for", alias = "budget")]
    pub lasts: Option<String>,

    /// How often everything is measured, in place of --for: quick, normal, thorough [default: normal]
    ///
    /// quick: 1 trial of 2 runs. normal: 3 trials of 6 runs. thorough: 10 trials of 6 runs. A trial is one
    /// fresh process; its first run warms up and does not count.
    #[arg(help_heading = TIME, long, value_name = "EFFORT", conflicts_with_all = ["lasts", "trials", "runs"])]
    pub effort: Option<String>,

    /// Fresh processes per cell [default: by --effort]
    #[arg(help_heading = TIME, hide_short_help = true, long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub trials: Option<u32>,

    /// Runs of each phase in a trial [default: by --effort]
    #[arg(help_heading = TIME, hide_short_help = true, long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: Option<u32>,

    /// Warm-up runs among them, from the first on: recorded and not counted.
    #[arg(skip)]
    pub warmup_runs: Option<u32>,

    /// The longest time of one run of a phase, or `none`.
    #[arg(skip)]
    pub max_run_time: Option<String>,

    /// The measured time of a phase that runs by the clock.
    #[arg(skip)]
    pub window: Option<String>,

    /// The warm-up of `machine` before its window.
    #[arg(skip)]
    pub warm_up: Option<String>,

    /// The most time for one trial before it is ended, or `none`.
    #[arg(skip)]
    pub timeout: Option<String>,

    /// With the rate `max`, the limit of the 99th percentile of commit latency.
    #[arg(skip)]
    pub p99_limit: Option<String>,

    /// The seed of synthetic rows, operation sequences and trial order.
    #[arg(skip)]
    pub seed: Option<u64>,

    /// The size of the file system that each trial of `retention` has for itself.
    #[arg(skip)]
    pub disk_size: Option<String>,

    /// Engines to compare: ids, or embedded, servers, all [default: embedded]
    ///
    /// ENGINE-defaults measures an engine with its own default settings.
    #[arg(help_heading = ENGINES, short, long, value_delimiter = ',', value_name = "ENGINE,…")]
    pub engines: Vec<String>,

    /// Add a column: an engine with other settings, NAME=ENGINE:SETTING=VALUE,…
    ///
    /// NAME may then stand among --engines. The setting library=DIR runs the version found in DIR. In a
    /// plan file this is a table configuration.NAME with engine, settings and library.
    /// docs/configurations.md lists the settings.
    #[arg(help_heading = ENGINES, long, value_name = "COLUMN", value_parser = parsed)]
    #[serde(deserialize_with = "configurations::of_file", serialize_with = "as_tables")]
    pub configuration: Vec<(String, Configuration)>,

    /// Use a server that already runs instead of a private one: ENGINE=URL
    ///
    /// Its password may stand in the environment, as EMBERMARK_PASSWORD_ENGINE. Only host, port and
    /// database are recorded.
    #[arg(help_heading = ENGINES, long, value_name = "ENGINE=URL")]
    pub url: Vec<String>,

    /// Add an engine of your own: a shared library (docs/engine-library.md). Once for each
    #[arg(help_heading = ENGINES, hide_short_help = true, long, value_name = "PATH")]
    pub engine_library: Vec<PathBuf>,

    /// Run engines whose licence forbids publishing benchmark results; you accept the licence
    #[arg(help_heading = ENGINES, hide_short_help = true, long = "accept-license", value_delimiter = ',',
          value_name = "ENGINE,…")]
    #[serde(rename = "accept-license")]
    pub accept_license: Vec<String>,

    /// Cache memory of each engine [default: 64MiB]
    #[arg(help_heading = CONDITIONS, long, value_name = "SIZE")]
    #[serde(alias = "memory")]
    pub cache: Option<String>,

    /// Limit the memory of engine, server and page cache together: 256MiB, none [default: none]
    ///
    /// Each limit is a comparison of its own. Within a limit the cache is at most a quarter of it. Needs
    /// root or a delegated control group.
    #[arg(help_heading = CONDITIONS, long, value_delimiter = ',', value_name = "SIZE,…")]
    pub memory_limit: Vec<String>,

    /// Imitate the times of a storage device below each database: sd-class10, sd-a1, sd-a2, emmc, usb-stick,
    /// hdd-7200, nvme, none [default: none]
    ///
    /// Or a file of your own (FILE.toml, docs/storage.md). Each storage is a comparison of its own; none is this
    /// machine's own disk. A model with likely values, not a measurement of a device. Needs root and FUSE.
    #[arg(help_heading = CONDITIONS, long, value_delimiter = ',', value_name = "STORAGE,…")]
    pub storage: Vec<String>,

    /// Clients at the same time, 1 to 256 [default: 1]
    ///
    /// Threads of an embedded engine, connections of a server. With more than one, only point operations of
    /// `sensors` run (variant commit-each; reads in single and bulk too), and files that allow it.
    #[arg(help_heading = CONDITIONS, long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=256))]
    pub clients: Option<u32>,

    /// Operations, rows or samples per second at which work arrives [default: the workload's own]
    ///
    /// `machine`: samples per second [default: 1000]. `retention`: rows per second [default: as many as it
    /// takes]. Point operations of `sensors`: an open loop of all clients together [default: a closed loop].
    /// `embermark rate` finds the highest rate that is sustained.
    #[arg(help_heading = CONDITIONS, long, value_name = "RATE")]
    pub rate: Option<String>,

    /// Read from a cold cache
    ///
    /// Closes the database before each run of a phase that reads, drops its files from memory and opens it
    /// again, outside the clock: for `sensors`, `contacts` and `events` on embedded engines.
    #[arg(help_heading = CONDITIONS, hide_short_help = true, long)]
    pub cold: bool,

    /// Estimate the flash bytes that each card would program: sd-32gb, sd-a2-64gb, emmc-8gb, emmc-32gb
    ///
    /// Or a file of your own (FILE.toml, docs/flash.md). By a model, from what trials after the timed ones
    /// record. Needs root and FUSE.
    #[arg(help_heading = CONDITIONS, hide_short_help = true, long, value_delimiter = ',', value_name = "CARD,…")]
    pub card: Vec<String>,

    /// What follows where `for` is longer: a plan file's alone.
    #[arg(skip)]
    pub then: Vec<Then>,
}

/// What a run measures beside the rest where its time is longer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Then {
    /// From this time of the whole run on.
    pub from: String,
    /// Further workloads, or further rows of those that there are.
    pub workloads: Vec<String>,
    /// Further limits of memory.
    pub memory_limit: Vec<String>,
    /// Further storages.
    pub storage: Vec<String>,
}

impl fmt::Display for Then {
    /// `sensors:100k (--for 20m)`, `within 64MiB (--for 1h)`, `on sd-a1 (--for 1h)`.
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

impl PlanArgs {
    /// Reads a plan file: TOML with the long option names as keys.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::usage(format!("cannot read the plan {}: {error}", path.display()))
        })?;
        if let Ok(table) = text.parse::<toml::Table>() {
            older::hint_at_keys(path, &table);
        }
        toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            let why = without_values(error.message());
            Failure::usage(format!("{}, line {line}: this is no plan: {why}", path.display()))
        })
    }

    /// What runs where nothing is asked for.
    pub const DEFAULT: &str = include_str!("../files/default.toml");

    /// The same with the plan of [`DEFAULT`](Self::DEFAULT) below, where nothing is said of what work is to be
    /// measured and how often. Of workload files their own work is measured, as they say where one of them goes on
    /// until it is steady.
    pub fn or_default(self) -> Result<Self, Failure> {
        let is_file = |name: &String| files::is_file(name);
        let files = !self.workloads.is_empty() && self.workloads.iter().all(is_file);
        let about_engines = Self {
            workloads: if files { self.workloads.clone() } else { Vec::new() },
            lenient: self.lenient.clone().filter(|_| files),
            engines: self.engines.clone(),
            configuration: self.configuration.clone(),
            engine_library: self.engine_library.clone(),
            tier: self.tier.clone(),
            lasts: self.lasts.clone(),
            cache: self.cache.clone(),
            memory_limit: self.memory_limit.clone(),
            storage: self.storage.clone(),
            seed: self.seed,
            effort: self.effort.clone(),
            url: self.url.clone(),
            accept_license: self.accept_license.clone(),
            card: self.card.clone(),
            ..Self::default()
        };
        if self != about_engines || (files && files::until_steady(&self.workloads)?) {
            return Ok(self);
        }
        let mut default: Self = toml::from_str(Self::DEFAULT).map_err(Failure::runtime)?;
        if files {
            (default.workloads, default.variant) = (Vec::new(), Vec::new());
            default.then.clear();
        }
        if self.effort.is_some() {
            (default.lasts, default.runs) = (None, None);
        }
        self.or(default)
    }

    /// Settings of a plan file as they stand behind `--set`: `window=50ms`, `seed=7`.
    pub fn of_settings(settings: &[String]) -> Result<Self, Failure> {
        let mut table = toml::Table::new();
        for setting in settings {
            let Some((key, text)) = setting.split_once('=') else {
                return Err(Failure::usage(format!(
                    "--set {setting}: write KEY=VALUE, for example --set max-run-time=1s"
                )));
            };
            let value = format!("value = {text}").parse::<toml::Table>();
            let value = value.ok().and_then(|mut table| table.remove("value"));
            let value = value.unwrap_or_else(|| toml::Value::String(text.to_owned()));
            table.insert(key.to_owned(), value);
        }
        table.try_into().map_err(|error: toml::de::Error| {
            Failure::usage(format!("--set: {}", without_values(error.message())))
        })
    }

    /// These arguments where given, else those of `other`.
    pub fn or(self, other: Self) -> Result<Self, Failure> {
        configurations::distinct(&self.configuration)?;
        let named = |args| serde_json::from_value(serde_json::to_value(args)?);
        let merged = || {
            let (given, mut all): (Map<_, _>, Map<_, _>) = (named(&self)?, named(&other)?);
            let none = [json!(null), json!([]), json!({}), json!(false)];
            let is_given = |value: &Value| !none.contains(value);
            all.extend(given.into_iter().filter(|(_, value)| is_given(value)));
            serde_json::from_value(all.into())
        };
        merged().map_err(Failure::runtime)
    }

    /// Adds what follows in a run of this length; what is left out of it, in words.
    fn follow(&mut self, lasts_ms: Option<u64>) -> Result<Vec<String>, Failure> {
        let mut left_out = Vec::new();
        let (limits, storages) = (self.memory_limit.is_empty(), self.storage.is_empty());
        for then in std::mem::take(&mut self.then) {
            let from = milliseconds("from", &then.from)?;
            match lasts_ms {
                Some(lasts) if lasts >= from => {
                    self.workloads.extend(then.workloads);
                    self.memory_limit.extend(then.memory_limit.into_iter().filter(|_| limits));
                    self.storage.extend(then.storage.into_iter().filter(|_| storages));
                }
                Some(_) => left_out.push(then.to_string()),
                None => {}
            }
        }
        Ok(left_out)
    }

    /// The plan these arguments mean, every name checked.
    pub fn plan(mut self) -> Result<Plan, Failure> {
        let until = self.scales_until.clone();
        let whole_run = self.lasts.as_deref().filter(|_| until.is_none());
        let whole_run = whole_run.map(|text| milliseconds("--for", text)).transpose()?;
        let left_out = self.follow(whole_run)?;
        let libraries = engine_libraries(&self.engine_library)?;
        // A file is used whole; every workload has scales of its own for rows that are made.
        let whole = self.data.is_some() && self.scales_until.is_none();
        let scales = or_else(self.scale, if whole { &["full"] } else { &[] });
        let scales = unique(scales.iter().map(|s| s.parse::<Scale>().map_err(Failure::usage)))?;
        let until = until.as_deref();
        let budget = until.map(|_| milliseconds("--for", self.lasts.as_deref().unwrap_or("30m")));
        let scales = until.map_or(Ok(scales.clone()), |until| decades(&scales, until))?;
        let durabilities = or_else(self.tier, &["process"]);
        let lenient = files::misfits_per_million(self.lenient.as_deref())?;
        let (names, scales_of) = with_scales(&self.workloads)?;
        let Chosen { mut workloads, files } = files::chosen(&names, lenient)?;
        if whole_run.is_some() && (self.trials.is_some() || self.effort.is_some()) {
            let option = if self.trials.is_some() { "--trials" } else { "--effort" };
            return Err(Failure::usage(format!(
                "--for gives each cell as many trials as its order takes: leave out {option}, or --for"
            )));
        }
        let (usual_trials, usual_runs) = effort(self.effort.as_deref().unwrap_or("normal"))?;
        if self.lenient.is_some() && files.is_empty() {
            return Err(Failure::usage(
                "--lenient is for workload files: name one, or leave it out",
            ));
        }
        if self.data.is_some() && names.is_empty() {
            workloads.retain(|workload| workload.info().reads_files);
        }

        let runs = self.runs.unwrap_or(usual_runs);
        let warmup_runs = self.warmup_runs.unwrap_or(u32::from(runs > 1));
        if warmup_runs >= runs {
            return Err(Failure::usage(format!(
                "warmup-runs = {warmup_runs} leaves nothing of {runs} runs to count: give fewer"
            )));
        }
        // Small when every workload runs, unless the cells themselves are named.
        let overview = names.is_empty() && self.data.is_none();
        // Slow loops are stopped early then, and shown per operation.
        let default_limit = if overview { "500ms" } else { "20s" };
        let max_run_time_ms = match self.max_run_time.as_deref() {
            Some("none") => None,
            given => Some(milliseconds("max-run-time", given.unwrap_or(default_limit))?),
        };
        let time =
            |flag, given: Option<&str>| given.map(|text| milliseconds(flag, text)).transpose();
        let rate = self.rate.as_deref().map(|text| text.parse::<Rate>().map_err(Failure::usage));
        let rate = rate.transpose()?;
        let lasts = workloads.iter().any(|workload| workload.info().lasts);
        let target_rate = match rate {
            Some(Rate::PerSecond(rate)) => {
                let takes = |w: &&dyn Workload| {
                    let info = w.info();
                    !info.points.is_empty() || info.until_steady
                };
                // Where nothing takes it, that is an error and not left out.
                (!lasts || workloads.iter().any(takes)).then_some(rate)
            }
            Some(Rate::Max) | None => None,
        };
        let words = or_else(self.engines, &["embedded"]);
        let configurations = configurations(self.configuration, &words)?;
        let plan = Plan {
            workloads: workloads.iter().map(|w| w.info().id.to_owned()).collect(),
            workload_files: files,
            engines: columns(&words, &configurations)?,
            configurations,
            engine_libraries: libraries,
            scales,
            scales_of: scales_by_id(&scales_of, &names, &workloads),
            budget_ms: budget.transpose()?,
            lasts_ms: whole_run,
            left_out,
            durabilities: unique(
                durabilities.iter().map(|d| d.parse::<Durability>().map_err(Failure::usage)),
            )?,
            variants: unique(self.variant.into_iter().map(Ok))?,
            repeats: None,
            overview,
            phases: (!self.phases.is_empty()).then_some(self.phases),
            data: self.data.map_or(DataSource::Synthetic, DataSource::File),
            runs,
            warmup_runs,
            trials: self.trials.unwrap_or(usual_trials),
            max_run_time_ms,
            own_trials: self.trials.is_none() && self.effort.is_none(),
            window_ms: time("window", self.window.as_deref())?,
            warm_up_ms: match self.warm_up.as_deref() {
                Some("0" | "none") => Some(0),
                given => time("warm-up", given)?,
            },
            // Of samples: where nothing makes any, a rate of operations is not said twice.
            rate: rate.filter(|rate| lasts || *rate == Rate::Max).unwrap_or_default(),
            clients: self.clients.unwrap_or(1),
            target_rate,
            p99_limit_ms: milliseconds("p99-limit", self.p99_limit.as_deref().unwrap_or("100ms"))?,
            timeout_ms: match self.timeout.as_deref() {
                Some("none") => None,
                given => Some(milliseconds("timeout", given.unwrap_or("30m"))?),
            },
            seed: self.seed.unwrap_or(42),
            memory_bytes: cache(self.cache.as_deref().unwrap_or("64MiB"))?,
            memory_limits: memory_limits(&self.memory_limit, self.cache.as_deref())?,
            storages: storages(&self.storage)?,
            disk_bytes: self.disk_size.as_deref().map(disk_size).transpose()?,
            cold: self.cold,
            cards: cards::cards(&self.card)?,
            urls: urls(&self.url)?,
            accepted_licences: unique(self.accept_license.into_iter().map(Ok))?,
        };
        let catalog = Catalog::default().with_files(&plan).map_err(Failure::usage)?;
        cells::check(&plan, &catalog).map_err(Failure::usage)?;
        Ok(plan)
    }
}

/// Trials, and runs in each, of an effort.
fn effort(name: &str) -> Result<(u32, u32), Failure> {
    let found = EFFORTS.iter().find(|(known, ..)| *known == name);
    found.map(|(_, trials, runs)| (*trials, *runs)).ok_or_else(|| {
        Failure::usage(choice::unknown("effort", name, EFFORTS.iter().map(|(known, ..)| *known)))
    })
}

/// A parser's message without the text that it quotes of a file: a URL's secret may stand anywhere.
fn without_values(message: &str) -> String {
    match (message.find("string \""), message.rfind('"')) {
        (Some(first), Some(last)) => {
            format!("{}string{}", &message[..first], &message[last + 1..])
        }
        _ => message.to_owned(),
    }
}

/// What was given, or the default where nothing was.
pub fn or_else(given: Vec<String>, default: &[&str]) -> Vec<String> {
    if given.is_empty() { default.iter().map(|&word| word.to_owned()).collect() } else { given }
}

/// Keeps the first of equal things, so that naming one twice measures it once.
fn unique<T: PartialEq>(
    things: impl Iterator<Item = Result<T, Failure>>,
) -> Result<Vec<T>, Failure> {
    let mut kept = Vec::new();
    for thing in things {
        let thing = thing?;
        if !kept.contains(&thing) {
            kept.push(thing);
        }
    }
    Ok(kept)
}

/// Names of workloads, and the scales of some of them.
type WithScales = (Vec<String>, Vec<(String, Scale)>);

/// Names of workloads, and the scales that stand behind some: `sensors:10k`. `all` is no name: without any,
/// every workload runs.
fn with_scales(given: &[String]) -> Result<WithScales, Failure> {
    if given == ["all"] {
        return Ok((Vec::new(), Vec::new()));
    }
    let (mut names, mut scales) = (Vec::new(), Vec::new());
    for text in given {
        let parts = text.rsplit_once(':').filter(|(name, _)| !name.is_empty());
        match parts.map(|(name, scale)| (name, scale.parse::<Scale>())) {
            Some((name, Ok(scale))) => {
                names.push(name.to_owned());
                scales.push((name.to_owned(), scale));
            }
            Some((name, Err(why))) if !name.contains(['/', '.']) => {
                return Err(Failure::usage(format!("{text}: {why}")));
            }
            _ => names.push(text.clone()),
        }
    }
    Ok((names, scales))
}

/// The scales of workloads by their ids: a file's is in it.
fn scales_by_id(
    given: &[(String, Scale)],
    names: &[String],
    workloads: &[&dyn Workload],
) -> BTreeMap<String, Vec<Scale>> {
    let mut all: BTreeMap<String, Vec<Scale>> = BTreeMap::new();
    for (name, scale) in given {
        let id = match workloads.iter().any(|workload| workload.info().id == name) {
            true => Some(name.as_str()),
            // Named once, as the files are in their order.
            false => names.iter().position(|other| other == name).map(|at| workloads[at].info().id),
        };
        if let Some(id) = id {
            all.entry(id.to_owned()).or_default().push(*scale);
        }
    }
    all
}

/// Every power of ten times the scale given, or else 1k, that is below `until`, and `until`.
fn decades(given: &[Scale], until: &str) -> Result<Vec<Scale>, Failure> {
    let refused = |why: &str| Err(Failure::usage(format!("--scales-until {until}: {why}")));
    let first = match given {
        [] => 1_000,
        [Scale::Rows(first)] => *first,
        [Scale::Full] => return refused("it goes up from a number of rows: give one with --scale"),
        _ => return refused("it goes up from one scale: give one with --scale"),
    };
    let Scale::Rows(last) = until.parse().map_err(Failure::usage)? else {
        return refused("it is no number of rows");
    };
    if last < first {
        return refused(&format!("it goes up from {}: give more", Scale::Rows(first)));
    }
    let steps = iter::successors(Some(first), |rows| rows.checked_mul(10));
    Ok(steps.take_while(|rows| *rows < last).chain([last]).map(Scale::Rows).collect())
}

/// Every variant of the workloads named.
pub fn variants_of(names: &[String]) -> Result<Vec<String>, Failure> {
    let variants = files::chosen(names, 0)?
        .workloads
        .into_iter()
        .flat_map(|workload| workload.info().variants);
    unique(variants.map(|variant| Ok(variant.name.to_owned())))
}

fn as_tables<S: Serializer>(all: &[(String, Configuration)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(all.iter().map(|(name, configuration)| (name, configuration)))
}

pub fn milliseconds(option: &str, text: &str) -> Result<u64, Failure> {
    let time = text.parse::<jiff::SignedDuration>().ok().map(|time| time.as_millis());
    match time.map(u64::try_from) {
        Some(Ok(ms)) if ms > 0 => Ok(ms),
        _ => Err(Failure::usage(format!(
            "{option} '{text}' is not a time: write for example 20s, 500ms or 2m"
        ))),
    }
}

/// The URLs of `ENGINE=URL`, each with the password of the environment, and each one that its engine
/// takes.
pub fn urls(given: &[String]) -> Result<BTreeMap<String, ServerUrl>, Failure> {
    let mut urls = BTreeMap::new();
    for text in given {
        // What is no ENGINE=URL may be a secret from its first letter on.
        let given = text.split_once('=');
        let given = given.and_then(|(engine, url)| Some((registry::find(engine).ok()?, url)));
        let Some((found, url)) = given else {
            return Err(Failure::usage(
                "--url: what stands before the first = is no engine: write ENGINE=URL, such as \
                 postgres=postgres://host/database",
            ));
        };
        let (engine, url) = (found.info().id, ServerUrl::from(url));
        let url = passwords::of(engine)
            .map_or_else(|| url.clone(), |password| url.with_password(password));
        let checked = url.check(engine).and_then(|()| found.check_url(url.reveal()));
        checked.map_err(|why| {
            Failure::usage(format!("--url {engine}: {}", url.secrets().hide(engine, &why)))
        })?;
        urls.insert(engine.to_owned(), url);
    }
    Ok(urls)
}

#[cfg(test)]
mod tests;
