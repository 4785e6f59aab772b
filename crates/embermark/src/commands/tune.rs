//! `embermark tune`.

mod subjects;
mod tier_test;
mod turns;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use embermark_engines::{Settings, registry};
use embermark_harness::{Catalog, HarnessError, RunOptions, cells, interrupt};
use embermark_model::plan::Plan;
use embermark_model::result::{Machine, ResultFile};
use embermark_model::tuning_result::{Because, Outcome, Set, Tried, Tuned, TuningResult, Uses};
use embermark_model::{Configuration, Durability, Scale};
use embermark_report::format::counted;
use embermark_report::statistics::median;
use embermark_report::summary::{Resource, Work};
use embermark_report::{html, tuned};
use embermark_tune::{HarnessBench, MeasureError, Screening, Subject, search};

use super::options::default_out;
use super::page;
use crate::error::{Failure, INTERRUPTED};
use crate::output;
use crate::plan::{
    PlanArgs, check_workload, configurations, milliseconds, parse_configuration, refuse_clients,
};
use subjects::{Task, candidate_set};
use tier_test::TierTester;
use turns::{Turn, Turns};

/// Default workload.
const WORK: &str = "sensors:10k";

/// Number of short works in a proof: those with no or one operation, with some 400 states. All 14
/// have 1,300.
const SHORT_WORKS: u32 = 4;

/// File of the result.
const RESULT: &str = "tune.json";

/// The arguments of `embermark tune`.
#[derive(Args)]
pub struct TuneArgs {
    /// Engines, and the workloads or files (FILE.toml) to tune them for: rocksdb sensors:10k [default: the
    /// embedded engines, sensors:10k]
    #[arg(value_name = "ENGINE|WORKLOAD")]
    what: Vec<String>,

    /// What a commit must survive: none, process (a crash of the program), power (a power cut)
    #[arg(short, long, value_name = "TIER", default_value = "power")]
    tier: String,

    /// Time for all engines together
    #[arg(long = "for", value_name = "TIME", default_value = "10m")]
    lasts: String,

    /// Tune only for these phases [default: all]
    #[arg(long, value_delimiter = ',', value_name = "PHASE,…")]
    phases: Vec<String>,

    /// Variant of the workloads, listed by `embermark workloads` [default: the workload's own]
    #[arg(long, value_name = "VARIANT")]
    variant: Option<String>,

    /// Cache memory of each engine, which is not tuned [default: 64MiB]
    #[arg(long, value_name = "SIZE")]
    cache: Option<String>,

    /// Measure on an imitated storage, by name or file: sd-a1, FILE.toml [default: this machine's own disk]
    ///
    /// docs/storage.md lists the names. A storage is a model with likely values, not a measurement of a
    /// device. Needs root and FUSE.
    #[arg(long, value_name = "STORAGE")]
    storage: Option<String>,

    /// Start the search from your program's settings: NAME=ENGINE:SETTING=VALUE,… [default: embermark's]
    #[arg(long, value_name = "COLUMN", value_parser = parse_configuration)]
    configuration: Vec<(String, Configuration)>,

    /// Also try these settings: ENGINE:SETTING=VALUE,…; may be repeated, once per candidate
    #[arg(long = "try", value_name = "ENGINE:SETTING=VALUE,…")]
    tries: Vec<String>,

    /// Kills that the settings must survive
    #[arg(long, value_name = "N", default_value_t = 50)]
    kills: u32,

    /// Disk states after a power cut that the settings must survive, in the tier power; needs root
    #[arg(long, value_name = "N", default_value_t = 150)]
    states: u32,

    /// Short works that the settings must survive in every state that a power cut can leave; 0: none
    ///
    /// 4 works have up to one operation, 14 have up to two.
    #[arg(long, value_name = "N", default_value_t = SHORT_WORKS)]
    short_works: u32,

    /// Folder for the result and the runs [default: results/DATE-TIME]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Searches for the best settings of engines.
pub fn tune(args: TuneArgs) -> Result<ExitCode, Failure> {
    let tier: Durability = args.tier.parse().map_err(Failure::usage)?;
    let lasts = Duration::from_millis(milliseconds("--for", &args.lasts)?);
    let own = configurations(args.configuration.clone(), &args.what)?;
    refuse_clients(&own, "tune")?;
    let is_engine = |word: &String| own.contains_key(word) || registry::select(word).is_ok();
    let (engines, mut workloads): (Vec<String>, Vec<String>) =
        args.what.iter().cloned().partition(is_engine);
    workloads.iter().try_for_each(|word| check_workload(word))?;
    if workloads.is_empty() {
        workloads.push(WORK.to_owned());
    }
    let tries = subjects::parse_tries(&args.tries)?;
    let tasks = subjects::tasks(&engines, &own, &tries, tier)?;
    let Some(first) = tasks.first() else {
        return Err(usage!(
            "no engine here has settings to try in tier {tier}: `embermark engines` shows what is missing"
        ));
    };
    let plan = plan(&args, workloads.clone(), &first.subject.today.engine, tier)?;
    let catalog = Catalog::default().with_files(&plan).map_err(Failure::usage)?;
    check(&plan, &tasks, &tries, &catalog)?;
    let shorter = shorter(&plan, &workloads, &catalog)?;
    let out = args.out.clone().unwrap_or_else(default_out);
    output::create_folder(&out)?;
    if out.join(RESULT).exists() {
        return Err(usage!(
            "{} has the {RESULT} of another search: name another folder with --out",
            out.display()
        ));
    }
    let out = out.canonicalize().map_err(Failure::unwritable(&out))?;
    let options = RunOptions { interrupt: interrupt::on_signals()?, ..RunOptions::new(&out)? };
    let ends = Instant::now() + lasts;
    let mut all = TuningResult {
        embermark_tune: TuningResult::VERSION,
        workloads: plan.workloads.clone(),
        tier,
        storage: plan.storages.iter().flatten().next().cloned(),
        machine: None,
        engines: BTreeMap::new(),
    };
    let (mut skipped, mut failed) = (Vec::new(), Vec::new());
    let mut turns = Turns::new(&tasks);
    while let Some(turn) = turns.next(ends.saturating_duration_since(Instant::now())) {
        let Turn { of: task, part, needs } = turn;
        let name = &*task.subject.name;
        let tried = match needs {
            Some(needs) if needs > part => Err(TuneError::TooShort(needs)),
            _ => tune_engine(task, (&plan, tier), &options, part, &args),
        };
        let (names, failure) = match tried {
            Ok((tuned, machine)) => {
                all.machine = machine;
                output::print(&tuned::text(name, &tuned, &all))?;
                all.engines.insert(name.to_owned(), tuned);
                let json = serde_json::to_vec_pretty(&all).map_err(Failure::runtime)?;
                output::write(&out.join(RESULT), json)?;
                continue;
            }
            Err(TuneError::Interrupted) => {
                say!("embermark: interrupted; what was found before is in {}", out.display());
                return Ok(ExitCode::from(INTERRUPTED));
            }
            Err(TuneError::TooShort(least)) if needs.is_none() && tasks.len() > 1 => {
                say!("{name}: needs {} s, and waits for what the others leave", seconds(least));
                turns.wait(task, least);
                continue;
            }
            Err(TuneError::TooShort(least)) => {
                (&mut skipped, Failure::usage(too_short(task, least, tasks.len(), &shorter)))
            }
            Err(TuneError::Incomplete(why)) => {
                let why = format!("{name} does not complete the work with today's settings: {why}");
                (&mut failed, Failure::runtime(why))
            }
            Err(TuneError::Failed(failure)) => return Err(failure),
        };
        if tasks.len() == 1 {
            return Err(failure);
        }
        // What was found before, and the other engines, are not lost to it.
        say!("embermark: {failure}");
        names.push(name);
    }
    let not_tuned = not_tuned(&skipped, &failed);
    if all.engines.is_empty()
        && let Some(failure) = not_tuned
    {
        return Err(failure);
    }
    let page = html::tuning_data(&all, &page::unpublishable()).html();
    let page = page::write_next_to_result(page, &out);
    let printed = output::print(&format!("\n  result  {}\n{page}", out.join(RESULT).display()))?;
    not_tuned.map_or(Ok(printed), Err)
}

/// Returns the plan of the runs, with the first engine.
fn plan(
    args: &TuneArgs,
    workloads: Vec<String>,
    engine: &str,
    tier: Durability,
) -> Result<Plan, Failure> {
    let asked = PlanArgs {
        workloads,
        engines: vec![engine.to_owned()],
        tier: vec![tier.name().to_owned()],
        variant: args.variant.clone().into_iter().collect(),
        phases: args.phases.clone(),
        cache: args.cache.clone(),
        storage: args.storage.clone().into_iter().collect(),
        trials: Some(1),
        runs: Some(2),
        ..PlanArgs::default()
    };
    asked.plan()
}

/// Checks that every option has an effect, and every candidate. Errors name what the user wrote.
fn check(
    plan: &Plan,
    tasks: &[Task],
    tries: &[(String, Set)],
    catalog: &Catalog,
) -> Result<(), Failure> {
    cells::check_effects(plan, catalog)?;
    for Task { engine, subject, candidates, .. } in tasks {
        let today = Some(subject.today.clone()).filter(Configuration::has_settings);
        let today = today.map(|own| (format!("configuration '{}'", subject.name), own));
        let named = |set: &Set| {
            let id = engine.info().id;
            let is_given = tries.iter().any(|(of, given)| of == id && given == set);
            let option = if is_given { "--try " } else { "candidate " };
            let pairs: Vec<_> = set.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("{option}{id}:{}", pairs.join(","))
        };
        let all = candidates.iter().map(|set| (named(set), subject.with(set)));
        for (name, own) in today.into_iter().chain(all) {
            cells::check_configuration(&own, catalog).map_err(|why| usage!("{name}: {why}"))?;
        }
    }
    Ok(())
}

/// Says what else makes a work shorter: fewer phases, and fewer rows than are given.
fn shorter(plan: &Plan, words: &[String], catalog: &Catalog) -> Result<String, Failure> {
    let cells = cells::planned(plan, catalog)?;
    let phases = cells.iter().any(|cell| cell.phases.len() > 1);
    let phases = phases.then(|| "phases (--phases)".to_owned());
    let large = cells.iter().find(|cell| !matches!(cell.id.scale, Scale::Rows(..=1_000)));
    let rows = large.map(|cell| {
        let id = &cell.id.workload;
        let place = plan.workloads.iter().position(|other| other == id);
        let word = place.and_then(|place| words.get(place)).unwrap_or(id);
        format!("rows ({}:1k)", word.rsplit_once(':').map_or(&**word, |(name, _)| name))
    });
    let fewer: Vec<String> = phases.into_iter().chain(rows).collect();
    if fewer.is_empty() {
        return Ok(String::new());
    }
    Ok(format!(", or name fewer {}", fewer.join(" or ")))
}

/// Says which engines were not tuned, if there are any: those whose time was too short, and those
/// that failed.
fn not_tuned(skipped: &[&str], failed: &[&str]) -> Option<Failure> {
    let why = [("the time was too short", skipped), ("they failed with today's settings", failed)];
    let says: Vec<String> = why
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(why, names)| format!("not tuned, as {why}: {}", names.join(", ")))
        .collect();
    match (says.is_empty(), failed.is_empty()) {
        (true, _) => None,
        (false, true) => Some(Failure::usage(says.join("; "))),
        (false, false) => Some(Failure::runtime(says.join("; "))),
    }
}

/// Returns a duration in seconds, rounded up.
const fn seconds(of: Duration) -> u64 {
    of.as_secs() + 1
}

/// Formats a time as a word of the command line, rounded up: `17s`, `8m`.
fn time_word(seconds: u64) -> String {
    if seconds <= 120 { format!("{seconds}s") } else { format!("{}m", seconds.div_ceil(60)) }
}

/// Says what an engine needs for which the time was too short, and what makes the work `shorter`.
fn too_short(
    Task { subject, candidates, .. }: &Task,
    least: Duration,
    engines: usize,
    shorter: &str,
) -> String {
    let (candidates, least) = (counted(candidates.len() as u64, "candidate"), seconds(least));
    format!(
        "the time is too short for {}: to open its {candidates}, a first look at them, and the comparison at the \
         end take {least} s; give --for {}{shorter}",
        subject.name,
        time_word(least * engines as u64)
    )
}

/// Reasons why an engine is not tuned.
enum TuneError {
    Interrupted,
    TooShort(Duration),
    /// Today's settings did not complete the work, for this reason.
    Incomplete(String),
    Failed(Failure),
}

impl From<MeasureError> for TuneError {
    fn from(error: MeasureError) -> Self {
        match error {
            MeasureError::Run(HarnessError::Interrupted { .. }) => Self::Interrupted,
            MeasureError::Run(error) => Self::Failed(error.into()),
            MeasureError::Current(why) => Self::Incomplete(why),
        }
    }
}

/// Tunes one engine, and returns the result with the machine.
fn tune_engine(
    Task { engine, subject, candidates, weaker }: &Task,
    (plan, tier): (&Plan, Durability),
    options: &RunOptions,
    left: Duration,
    args: &TuneArgs,
) -> Result<(Tuned, Option<Machine>), TuneError> {
    let began = Instant::now();
    let name = &subject.name;
    let announce = |text: &str| say!("{name}: {text}");
    let tester = TierTester::new(*engine, tier, args, &options.out, &options.interrupt);
    let mut keeps_tier = |own: &Configuration| tester.test(own);
    let mut bench =
        HarnessBench::new((subject, plan, options), began + left, &mut keeps_tier, &announce);
    let Screening { accepted, rejected } = bench.screen(candidates.to_vec())?;
    let mut found = match search(&mut bench, accepted)? {
        Ok(found) => found,
        Err(short) => {
            // All that it tells is how long a trial takes, and a second attempt uses its folder.
            let folder = bench.folder();
            fs::remove_dir_all(&folder)
                .map_err(|error| TuneError::Failed(Failure::unwritable(&folder)(error)))?;
            return Err(TuneError::TooShort(began.elapsed() + bench.overhead() + short.least));
        }
    };
    let out = |(set, why)| Tried { set, trials: 0, gain: None, outcome: Outcome::Out { why } };
    found.tried.extend(rejected.into_iter().map(out));
    found.tried.extend(weaker.iter().cloned());
    let last = bench.last();
    let uses = |at: usize| {
        let cells = last.iter().flat_map(|(file, names)| {
            file.cells.iter().filter(move |cell| Some(&cell.id.engine) == names.get(at))
        });
        cells.fold(Uses::default(), |uses, cell| {
            let own = |of: Resource| median(&of.per_trial(cell, Work::All));
            let most = |known: Option<f64>, of| known.into_iter().chain(own(of)).reduce(f64::max);
            Uses {
                memory: most(uses.memory, Resource::PEAK),
                disk: most(uses.disk, Resource::DISK),
                open: most(uses.open, Resource::OPENING),
            }
        })
    };
    let settings = engine.settings();
    let because = settings.candidates.iter().filter_map(|candidate| {
        let set = candidate_set(candidate);
        let is_part = set.iter().all(|(name, value)| found.winner.get(name) == Some(value));
        let (trades, manual) = (candidate.trades.to_owned(), candidate.manual.to_owned());
        is_part.then_some(Because { set, trades, manual })
    });
    let tuned = Tuned {
        engine: engine.info().id.to_owned(),
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

/// Formats the tier's settings, today's and the new ones as code of a program, by what the engine
/// reported in the last run.
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
    let mut all: BTreeMap<&str, &str> = settings.set_by_embermark(given).collect();
    all.extend(own.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    settings.in_a_program(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_the_advice_can_be_pasted_and_is_enough() {
        let words = [1, 17, 120, 121, 480, 481].map(time_word);
        assert_eq!(words, ["1s", "17s", "120s", "3m", "8m", "9m"]);
        for word in words {
            assert!(milliseconds("--for", &word).is_ok(), "{word}");
        }
    }
}
