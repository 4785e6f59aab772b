//! `embermark tune`.

mod keeps;
mod shown;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use embermark_engines::{Availability, Candidate, Engine, Kind, Settings, Tier, registry};
use embermark_harness::{Catalog, HarnessError, RunOptions, cells, interrupt};
use embermark_model::plan::Plan;
use embermark_model::result::ResultFile;
use embermark_model::{Configuration, Configurations, Durability};
use embermark_report::summary::{Resource, Usage};
use embermark_tune::{Found, Measured, Outcome, Set, Subject, Tried, Worth, search};
use serde::Serialize;

use super::output;
use super::run::{INTERRUPTED, default_out};
use crate::error::Failure;
use crate::plan::{PlanArgs, configurations, milliseconds, parsed};
use keeps::Keeper;

/// What is tuned for where nothing is said.
const WORK: &str = "sensors:10k";

/// The result, in the folder.
const RESULT: &str = "tune.json";

/// The arguments of `embermark tune`.
#[derive(Args)]
pub struct TuneArgs {
    /// Engines to tune, and workloads or files (FILE.toml) to tune them for, each with its rows if you like:
    /// rocksdb sensors:10k [default: the embedded engines, sensors:10k]
    #[arg(value_name = "ENGINE|WORKLOAD")]
    what: Vec<String>,

    /// What a commit must survive: none, process (a crash of the program), power (a power cut)
    #[arg(short, long, value_name = "TIER", default_value = "power")]
    tier: String,

    /// Time for all engines together
    #[arg(long = "for", value_name = "TIME", default_value = "10m")]
    lasts: String,

    /// Tune for these phases only [default: all]
    #[arg(long, value_delimiter = ',', value_name = "PHASE,…")]
    phases: Vec<String>,

    /// Variant of the workloads, listed by `embermark workloads` [default: the workload's own]
    #[arg(long, value_name = "VARIANT")]
    variant: Option<String>,

    /// Cache memory of each engine, which is yours to say and is not tuned [default: 64MiB]
    #[arg(long, value_name = "SIZE")]
    cache: Option<String>,

    /// The settings that your program has today: NAME=ENGINE:SETTING=VALUE,… . The search begins there, and
    /// not at embermark's settings
    #[arg(long, value_name = "COLUMN", value_parser = parsed)]
    configuration: Vec<(String, Configuration)>,

    /// Try these settings too: ENGINE:SETTING=VALUE,… . Once for each candidate
    #[arg(long = "try", value_name = "ENGINE:SETTING=VALUE,…")]
    tries: Vec<String>,

    /// Kills that settings must survive before they are taken
    #[arg(long, value_name = "N", default_value_t = 50)]
    kills: u32,

    /// States of a disk after a power cut that they must survive, in the tier power. Takes root
    #[arg(long, value_name = "N", default_value_t = 150)]
    states: u32,

    /// Folder for the result and the runs [default: results/DATE-TIME]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// What was found of one engine, and what it costs.
#[derive(Serialize)]
struct Tuned {
    /// The engine.
    engine: &'static str,
    /// The settings it had in place of embermark's.
    today: Set,
    /// What the search found.
    #[serde(flatten)]
    found: Found,
    /// What today's settings and the winner used, where they were measured again.
    #[serde(skip_serializing_if = "Option::is_none")]
    uses: Option<[Uses; 2]>,
    /// How a program has them: today's, and with the winner's on top.
    in_a_program: [Vec<String>; 2],
    /// The manual's page and the trade of each candidate that was taken.
    because: Vec<Because>,
    /// How long the search took, in seconds.
    seconds: f64,
    /// The folder of the last run.
    last_run: PathBuf,
}

/// What the cells of a column used: absent was not measured.
#[derive(Default, Serialize)]
struct Uses {
    /// Largest resident memory, in bytes.
    memory: Option<f64>,
    /// Size on disk of rows loaded once, in bytes.
    disk: Option<f64>,
    /// Time to open it, in ns.
    open: Option<f64>,
}

/// Why a candidate is one.
#[derive(Serialize)]
struct Because {
    set: Set,
    trades: String,
    manual: String,
}

/// All of it.
#[derive(Serialize)]
struct Outcomes {
    embermark_tune: u32,
    workloads: Vec<String>,
    tier: Durability,
    machine: Option<embermark_model::result::Machine>,
    engines: BTreeMap<String, Tuned>,
}

/// Searches for the best settings of engines.
pub fn tune(args: TuneArgs) -> Result<ExitCode, Failure> {
    let tier: Durability = args.tier.parse().map_err(Failure::usage)?;
    let own = configurations(args.configuration.clone(), &args.what)?;
    let is_engine = |word: &&String| own.contains_key(*word) || registry::select(word).is_ok();
    let (engines, mut workloads): (Vec<String>, Vec<String>) =
        args.what.iter().cloned().partition(|word| is_engine(&word));
    if workloads.is_empty() {
        workloads.push(WORK.to_owned());
    }
    let tries = own_candidates(&args.tries)?;
    let subjects = subjects(&engines, &own, &tries, tier)?;
    let asked = PlanArgs {
        workloads,
        engines: vec![subjects[0].0.today.engine.clone()],
        tier: vec![tier.name().to_owned()],
        variant: args.variant.clone().into_iter().collect(),
        phases: args.phases.clone(),
        cache: args.cache.clone(),
        trials: Some(1),
        runs: Some(2),
        ..PlanArgs::default()
    };
    let plan = asked.plan()?;
    let catalog = Catalog::default().with_files(&plan).map_err(Failure::usage)?;
    cells::check_effects(&plan, &catalog)?;
    for (subject, candidates) in &subjects {
        let today = Some(subject.today.clone()).filter(Configuration::has_settings);
        let all = candidates.iter().map(|set| subject.with(set)).chain(today);
        let all: Configurations = all.enumerate().map(|(at, own)| (format!("{at}"), own)).collect();
        cells::check_configurations(&all, &catalog)?;
    }
    let out = args.out.clone().unwrap_or_else(default_out);
    fs::create_dir_all(&out).map_err(Failure::unwritable(&out))?;
    let out = out.canonicalize().map_err(Failure::unwritable(&out))?;
    let options = RunOptions { interrupt: interrupt::on_signals()?, ..RunOptions::new(&out)? };
    let ends = Instant::now() + Duration::from_millis(milliseconds("--for", &args.lasts)?);
    let mut all = Outcomes {
        embermark_tune: 1,
        workloads: plan.workloads.clone(),
        tier,
        machine: None,
        engines: BTreeMap::new(),
    };
    let engines = subjects.len() as u32;
    for (at, (subject, candidates)) in subjects.iter().enumerate() {
        let left = ends.saturating_duration_since(Instant::now()) / (engines - at as u32);
        let tuned = match one(subject, candidates, (&plan, tier), &options, left, &args) {
            Err(Stop::Interrupted) => {
                say!("embermark: interrupted; what was found before is in {}", out.display());
                return Ok(ExitCode::from(INTERRUPTED));
            }
            Err(Stop::TooShort(least)) => {
                let candidates = candidates.len();
                let least = least.as_secs() + 1;
                return Err(Failure::usage(format!(
                    "the time is too short for {}: a first look at its {candidates} candidates, and the comparison at the \
                     end, take {least} s; give --for {} s, or name fewer phases (--phases) or rows (sensors:1k)",
                    subject.name,
                    least * u64::from(engines)
                )));
            }
            Err(Stop::Failed(failure)) => return Err(failure),
            Ok((tuned, machine)) => {
                all.machine = machine;
                tuned
            }
        };
        output::print(&shown::text(subject, &tuned, tier, &plan.workloads))?;
        all.engines.insert(subject.name.clone(), tuned);
        let json = serde_json::to_vec_pretty(&all).map_err(Failure::runtime)?;
        let path = out.join(RESULT);
        fs::write(&path, json).map_err(Failure::unwritable(&path))?;
    }
    output::print(&format!("  result  {}\n", out.join(RESULT).display()))
}

/// Why an engine is not tuned.
enum Stop {
    Interrupted,
    TooShort(Duration),
    Failed(Failure),
}

impl From<HarnessError> for Stop {
    fn from(error: HarnessError) -> Self {
        match error {
            HarnessError::Interrupted { .. } => Self::Interrupted,
            error => Self::Failed(error.into()),
        }
    }
}

/// Tunes one engine, and says on which machine.
fn one(
    subject: &Subject,
    candidates: &[Set],
    (plan, tier): (&Plan, Durability),
    options: &RunOptions,
    left: Duration,
    args: &TuneArgs,
) -> Result<(Tuned, Option<embermark_model::result::Machine>), Stop> {
    let began = Instant::now();
    let name = &subject.name;
    let says = |text: &str| say!("{name}: {text}");
    let engine =
        registry::find(&subject.today.engine).map_err(|e| Stop::Failed(Failure::usage(e)))?;
    let keeper =
        Keeper::new(engine, tier, (args.kills, args.states), &options.out, &options.interrupt);
    let mut keeps = |own: &Configuration| keeper.keeps(own);
    let mut bench = Measured::new((subject, plan, options), began + left, &mut keeps, &says);
    let Worth { worth, others } = bench.begin(candidates.to_vec())?;
    let mut found = match search(&mut bench, worth)? {
        Ok(found) => found,
        Err(short) => return Err(Stop::TooShort(short.least)),
    };
    let out = |(set, why)| Tried { set, trials: 0, gain: None, outcome: Outcome::Out { why } };
    found.tried.extend(others.into_iter().map(out));
    let last = bench.last();
    let uses = |at: usize| {
        let cells = last.iter().flat_map(|(file, names)| {
            file.cells.iter().filter(move |cell| Some(&cell.id.engine) == names.get(at))
        });
        cells.fold(Uses::default(), |uses, cell| {
            let own = Usage::of(cell);
            let most = |known: Option<f64>, of| match (known, own.get(of)) {
                (Some(known), Some(own)) => Some(known.max(own)),
                (known, own) => own.or(known),
            };
            Uses {
                memory: most(uses.memory, Resource::Peak),
                disk: most(uses.disk, Resource::Disk),
                open: most(uses.open, Resource::Opening),
            }
        })
    };
    let settings = engine.settings();
    let because = settings.candidates.iter().filter_map(|candidate| {
        let set = set_of(candidate);
        let is_part = set.iter().all(|(name, value)| found.winner.get(name) == Some(value));
        let (trades, manual) = (candidate.trades.to_owned(), candidate.manual.to_owned());
        is_part.then_some(Because { set, trades, manual })
    });
    let tuned = Tuned {
        engine: engine.info().id,
        today: subject.today.settings.clone(),
        uses: found.gain.as_ref().map(|_| [0, 1].map(uses)),
        in_a_program: [&Set::new(), &found.winner]
            .map(|set| in_a_program(subject, set, &settings, last)),
        because: because.collect(),
        seconds: began.elapsed().as_secs_f64(),
        last_run: bench.folder(),
        found,
    };
    Ok((tuned, last.map(|(file, _)| file.manifest.machine.clone())))
}

/// How a program has the settings of the tier, today's and these on top, by what the engine gave back in the last run.
fn in_a_program(
    subject: &Subject,
    set: &Set,
    settings: &Settings,
    last: Option<(&ResultFile, &[String])>,
) -> Vec<String> {
    let today = last.and_then(|(file, names)| {
        let mut cells = file.cells.iter().filter(|cell| Some(&cell.id.engine) == names.first());
        cells.find_map(|cell| cell.trials.first())
    });
    let given = today.iter().flat_map(|trial| &trial.settings);
    let given = given.map(|(name, value)| (name.as_str(), value.as_str()));
    let own = subject.with(set).settings;
    let mut all: BTreeMap<&str, &str> = settings.given(given).collect();
    all.extend(own.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    settings.in_a_program(all)
}

fn set_of(candidate: &Candidate) -> Set {
    candidate.set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Candidates of the command line, by engine.
fn own_candidates(tries: &[String]) -> Result<Vec<(String, Set)>, Failure> {
    let of = |text: &String| {
        let named = format!("try={text}");
        let (_, own) = parsed(&named)
            .map_err(|_| Failure::usage(format!("--try {text}: write ENGINE:SETTING=VALUE,…")))?;
        Ok((own.engine, own.settings))
    };
    tries.iter().map(of).collect()
}

/// The engines to tune, with the candidates of each in a tier.
fn subjects(
    words: &[String],
    own: &Configurations,
    tries: &[(String, Set)],
    tier: Durability,
) -> Result<Vec<(Subject, Vec<Set>)>, Failure> {
    let candidates = |engine: &dyn Engine| -> Vec<Set> {
        let known = engine.settings().candidates.iter().filter(|one| one.keeps >= tier).map(set_of);
        let tried =
            tries.iter().filter(|(id, _)| id == engine.info().id).map(|(_, set)| set.clone());
        known.chain(tried).collect()
    };
    let plain = |engine: &dyn Engine| Subject {
        name: engine.info().id.to_owned(),
        today: Configuration {
            engine: engine.info().id.to_owned(),
            settings: BTreeMap::new(),
            library: None,
        },
    };
    let mut all = Vec::new();
    let default = words.is_empty() && own.is_empty();
    let groups = if default { vec!["embedded".to_owned()] } else { words.to_vec() };
    let is_alone = |word: &String| registry::find(word).is_ok();
    for word in &groups {
        if let Some(today) = own.get(word) {
            let engine = registry::find(&today.engine).map_err(Failure::usage)?;
            let subject = Subject { name: word.clone(), today: today.clone() };
            all.push((subject, engine, candidates(engine)));
            continue;
        }
        for engine in registry::select(word).map_err(Failure::usage)? {
            let of = candidates(engine);
            // Of a group those that there is something to tune of.
            let here = matches!(engine.availability(), Availability::Ready { .. })
                && matches!(engine.tier(tier), Tier::Offered { .. });
            if is_alone(word) || (here && !of.is_empty() && engine.info().kind != Kind::Reference) {
                all.push((plain(engine), engine, of));
            }
        }
    }
    for (name, today) in own.iter().filter(|(name, _)| !words.contains(name)) {
        let engine = registry::find(&today.engine).map_err(Failure::usage)?;
        all.push((
            Subject { name: name.clone(), today: today.clone() },
            engine,
            candidates(engine),
        ));
    }
    for (id, _) in tries {
        if all.iter().all(|(subject, ..)| subject.today.engine != *id) {
            return Err(Failure::usage(format!("--try {id}:…: name {id} among the engines")));
        }
    }
    for (_, engine, of) in &all {
        let id = engine.info().id;
        if let Availability::Missing { why, remedy } = engine.availability() {
            return Err(Failure::usage(format!("{id} is not here: {why}; {remedy}")));
        }
        if of.is_empty() {
            let has = |engine: &&&dyn Engine| !engine.settings().candidates.is_empty();
            let others = registry::ENGINES.iter().filter(has).map(|engine| engine.info().id);
            return Err(Failure::usage(format!(
                "{id} has nothing to tune beside its cache; engines that have: {}; or name settings yourself: \
                 --try {id}:SETTING=VALUE",
                others.collect::<Vec<_>>().join(", ")
            )));
        }
        if let Tier::Unsupported { why } = engine.tier(tier) {
            return Err(Failure::usage(format!("{id} has no tier {tier}: {why}")));
        }
    }
    Ok(all.into_iter().map(|(subject, _, of)| (subject, of)).collect())
}
