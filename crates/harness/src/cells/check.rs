//! Checks that a plan makes sense, and that no option is without an effect, which a user would take
//! for applied.

use embermark_engines::Kind;
use embermark_engines::registry::GROUPS;
use embermark_model::choice;
use embermark_model::plan::{DataSource, Plan, Rate};
use embermark_model::{Configuration, Configurations, MemoryLimit};
use embermark_workloads::{FASTEST, Info as WorkloadInfo};

use super::{check_and_resolve, distinct, ids, is_due, sharing, variants};
use crate::{Catalog, HarnessError, Result};

/// Largest number of trials, and of runs of a phase in a trial.
const MOST_REPETITIONS: u32 = 1_000;

/// Smallest memory limit.
const LEAST_MEMORY: MemoryLimit = MemoryLimit(16 << 20);

/// Checks that every value is useful. Reading an option or a key refuses some of these first, but
/// the plan of a journal only comes here.
pub(super) fn values(plan: &Plan) -> Result<()> {
    let too_fast = matches!(plan.rate, Rate::PerSecond(rate) if rate > FASTEST);
    let (runs, warmup_runs) = (plan.runs, plan.warmup_runs);
    let limits = || plan.memory_limits.iter().flatten();
    let too_few = format!(
        "warmup-runs = {warmup_runs} leaves nothing of {runs} runs to count: give fewer, or give at least {} runs",
        warmup_runs.saturating_add(1)
    );
    let too_many = |number: u32, what: &str| {
        format!("{number} {what} are not supported: give --{what} 1 to {MOST_REPETITIONS}")
    };
    let too_many = [too_many(plan.trials, "trials"), too_many(runs, "runs")];
    let beyond = format!(
        "the rate exceeds the most samples per second: give a rate up to {}, or max",
        FASTEST
    );
    let problems = [
        (plan.workloads.is_empty(), "no workload is selected: name at least one"),
        (plan.engines.is_empty(), "no engine is selected: name at least one"),
        (
            plan.durabilities.is_empty(),
            "no durability tier is selected: give at least one, such as process",
        ),
        (plan.trials == 0, "--trials 0 measures nothing: give at least 1"),
        (plan.trials > MOST_REPETITIONS, &*too_many[0]),
        (runs == 0, "--runs 0 measures nothing: give at least 1"),
        (runs > MOST_REPETITIONS, &*too_many[1]),
        (warmup_runs >= runs, &*too_few),
        (
            plan.p99_limit_ms == 0,
            "a 99th percentile of at most 0 admits no rate: give a time such as 100ms",
        ),
        (
            plan.rate == Rate::PerSecond(0),
            "a rate of 0 samples per second measures nothing: give at least 1",
        ),
        (too_fast, &*beyond),
        (
            plan.window_ms == Some(0),
            "a window of 0 leaves a closed loop no time: give a time such as 300ms",
        ),
        (
            plan.max_run_time_ms == Some(0),
            "a longest run time of 0 leaves no time to measure: give a time, or none",
        ),
        (
            plan.timeout_ms == Some(0),
            "a time-out of 0 leaves no time for a trial: give a longer one",
        ),
        (
            limits().any(|limit| *limit < LEAST_MEMORY),
            "no engine works in so little memory: give a limit of at least 16MiB",
        ),
        (plan.memory_bytes == 0, "0 bytes of cache memory: give at least 1 MiB"),
    ];
    let problem = problems.into_iter().find(|(is, _)| *is);
    problem.map_or(Ok(()), |(_, problem)| Err(HarnessError::Plan(problem.to_owned())))
}

/// Checks that every configuration belongs to an engine, has a unique name, and has settings that
/// the engine knows.
///
/// # Errors
/// If a configuration does not. The error names the first one.
pub fn check_configurations(configurations: &Configurations, catalog: &Catalog) -> Result<()> {
    for (name, configuration) in configurations {
        let refused =
            |why: String| Err(HarnessError::Plan(format!("configuration '{name}': {why}")));
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || !name.chars().all(plain) {
            return refused("a name has letters, digits, '-', '_' and '.'".to_owned());
        }
        if catalog.engine(name).is_ok() || GROUPS.contains(&&**name) {
            return refused(
                "this is the name of an engine, or of several: give another".to_owned(),
            );
        }
        check_configuration(configuration, catalog).or_else(refused)?;
    }
    Ok(())
}

/// Checks that a configuration belongs to an engine that knows its settings.
///
/// # Errors
/// If it does not: the reason.
pub fn check_configuration(own: &Configuration, catalog: &Catalog) -> Result<(), String> {
    let id = &own.engine;
    let engine = catalog.engine(id).map_err(|unknown| unknown.to_string())?;
    if own.library.is_some() && engine.library().is_none() {
        return Err(format!(
            "{id} takes no library: it is the one that this program was built with"
        ));
    }
    let settings = own.settings.iter().map(|(name, value)| (&**name, &**value));
    engine.settings().check(settings).map_err(|why| format!("{id}: {why}"))?;
    if own.client.is_some() && engine.info().kind == Kind::Reference {
        return Err(format!("{id} is for reference and takes no client"));
    }
    if *own == Configuration::new(&**id) {
        return Err("it has no settings: give NAME=ENGINE:setting=value".to_owned());
    }
    Ok(())
}

/// Checks that every variant, phase and URL belongs to something that the plan requests.
pub(super) fn names(plan: &Plan, catalog: &Catalog, workloads: &[WorkloadInfo]) -> Result<()> {
    let check = |what, given: &str, valid: Vec<&'static str>| {
        let known = valid.contains(&given);
        let valid = distinct(&valid).into_iter().copied();
        if known { Ok(()) } else { Err(choice::unknown(what, given, valid)) }
    };
    if let (DataSource::File(file), Some(other)) =
        (&plan.data, workloads.iter().find(|workload| !workload.reads_files))
    {
        return Err(HarnessError::Plan(format!(
            "workload '{}' makes its own rows: leave out --data {}, or run it apart",
            other.id,
            file.display()
        )));
    }
    let searches = |info: &WorkloadInfo| !info.searches.is_empty() || !info.arrivals.is_empty();
    if plan.rate == Rate::Max && !workloads.iter().any(searches) {
        let with = ids(catalog.workloads.iter().map(|w| w.info()).filter(searches));
        return Err(HarnessError::Plan(format!(
            "none of the workloads has a highest rate to search for: run `embermark rate` with {with}, or with a file that has a \
             phase with `arrive`"
        )));
    }
    if plan.cold && workloads.iter().all(|workload| !workload.cold) {
        let with = catalog.workloads.iter().map(|w| w.info()).filter(|info| info.cold);
        return Err(HarnessError::Plan(format!(
            "reads of {} cannot be cold: leave out --cold, or run {}",
            ids(workloads.iter().copied()),
            ids(with)
        )));
    }
    sharing::check(plan, catalog, workloads)?;
    for variant in &plan.variants {
        let valid = workloads.iter().flat_map(|w| w.variants).map(|v| v.name);
        check("variant", variant, valid.collect())?;
    }
    for phase in plan.phases.iter().flatten() {
        let valid = workloads.iter().flat_map(|w| w.phases).map(|p| p.name);
        check("phase", phase, valid.collect())?;
        check_phase_runs(plan, phase, workloads)?;
    }
    for id in plan.urls.keys() {
        if catalog.engine(id)?.info().kind != Kind::Server {
            return Err(HarnessError::Plan(format!(
                "a URL is given for '{id}', which is not a server: leave it out"
            )));
        }
    }
    check_licences(&plan.accepted_licences, catalog)
}

/// Checks the engines whose licences were accepted.
///
/// # Errors
/// If one is unknown, or its licence need not be accepted.
pub fn check_licences(accepted: &[String], catalog: &Catalog) -> Result<()> {
    for id in accepted {
        if !catalog.engine(id)?.forbids_publishing() {
            return Err(HarnessError::Plan(format!(
                "the licence of '{id}' need not be accepted: leave it out of --accept-license"
            )));
        }
    }
    Ok(())
}

/// Checks that a phase runs in some variant. It must search for the highest rate if that is
/// requested, and do something else if it is not. A phase that only runs in its own variants needs
/// one of them.
fn check_phase_runs(plan: &Plan, phase: &str, workloads: &[WorkloadInfo]) -> Result<()> {
    let has = |info: &&WorkloadInfo| info.phases.iter().any(|own| own.name == phase);
    if !workloads.iter().filter(has).any(|info| is_due(plan, info, phase)) {
        return Err(HarnessError::Plan(if plan.rate == Rate::Max {
            let look = workloads.iter().flat_map(|info| info.searches.iter().chain(info.arrivals));
            let look: Vec<&str> = look.copied().collect();
            format!(
                "phase '{phase}' has no highest rate to search for: name {} in --phases, or leave it out",
                look.join(" or ")
            )
        } else {
            format!("phase '{phase}' searches for the highest rate: run it with `embermark rate`")
        }));
    }
    let Some(workload) = workloads.iter().find(|info| info.apart.contains(&phase)) else {
        return Ok(());
    };
    let mut own = workload.variants.iter().filter(|variant| variant.changes.contains(&phase));
    let asked = |name: &str| plan.variants.is_empty() || plan.variants.iter().any(|v| v == name);
    if own.clone().any(|variant| asked(variant.name)) {
        return Ok(());
    }
    let name = own.next().map_or("", |variant| variant.name);
    Err(HarnessError::Plan(format!(
        "phase '{phase}' of '{}' runs only in the variant '{name}': add it to --variant, or leave \
         --variant out",
        workload.id
    )))
}

/// Checks that every option of a plan has an effect on some cell.
///
/// # Errors
/// If an option has no effect. The error names the first one and what would give it an effect.
pub fn check_effects(plan: &Plan, catalog: &Catalog) -> Result<()> {
    let (_, workloads) = check_and_resolve(plan, catalog)?;
    let runs = |has: &dyn Fn(&WorkloadInfo, &str) -> bool| {
        workloads.iter().any(|info| {
            let mut cells = variants(plan, info).into_iter();
            cells.any(|(_, phases)| phases.iter().any(|phase| has(info, phase)))
        })
    };
    let windowed = |info: &WorkloadInfo, phase: &str| info.windowed.contains(&phase);
    let options = [
        (
            plan.window_ms.is_some() && !runs(&windowed),
            "window: no selected phase lasts for a window",
        ),
        (
            plan.warm_up_ms.is_some_and(|ms| ms > 0) && !runs(&|info, _| info.lasts),
            "warm-up: only the workload machine uses it, and it is not selected",
        ),
        (
            plan.disk_bytes.is_some() && !runs(&|info, _| info.until_steady),
            "disk-size: only workloads with a window of rows, such as retention, use it, and none is selected",
        ),
    ];
    if let Some((_, why)) = options.into_iter().find(|(idle, _)| *idle) {
        return Err(HarnessError::Plan(format!("{why}: leave it out")));
    }
    let runs = |engine: &str| {
        let is = |id: &String| {
            let found = catalog.engine_of(&plan.configurations, id);
            found.is_ok_and(|found| found.info().id == engine)
        };
        plan.engines.iter().any(is)
    };
    let accepted = plan.accepted_licences.iter().find(|engine| !runs(engine));
    accepted.map_or(Ok(()), |engine| Err(does_not_run("--accept-license", engine)))?;
    let is_private = |id: &String| {
        let found = catalog.engine_of(&plan.configurations, id);
        let is_server = found.is_ok_and(|found| found.info().kind == Kind::Server);
        is_server && !plan.urls.contains_key(id)
    };
    if plan.network.is_some() && !plan.engines.iter().any(is_private) {
        return Err(HarnessError::Plan(
            "--network: only servers that embermark starts have an imitated link, and none is \
             selected: name one among the engines, or leave --network out"
                .to_owned(),
        ));
    }
    check_urls(plan)
}

/// Checks that every engine with a URL runs.
///
/// # Errors
/// If one does not. The error names the first one.
pub fn check_urls(plan: &Plan) -> Result<()> {
    let idle = plan.urls.keys().find(|engine| !plan.engines.contains(engine));
    idle.map_or(Ok(()), |engine| Err(does_not_run("--url", engine)))
}

fn does_not_run(option: &str, engine: &str) -> HarnessError {
    HarnessError::Plan(format!(
        "{option} {engine}: it does not run here: name it among the engines, or leave {option} out"
    ))
}
