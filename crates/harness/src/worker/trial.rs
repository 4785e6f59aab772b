//! Runs a trial in this process: prepares and opens one cell and measures it phase by phase.

use std::fs::File;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use embermark_clients::Program;
use embermark_engines::{OpenOptions, Opened, Reopener};
use embermark_model::{Configuration, Status, result};
use embermark_workloads::{Bench, BenchPhase, Spec};

use super::{Stop, failed};
use crate::clock::ClockCheck;
use crate::companion::Starter;
use crate::explaining::Explainer;
use crate::loading::Loads;
use crate::network::Carrier;
use crate::phase_observer::Traffic;
use crate::probe::Probes;
use crate::protocol::{Event, Job, send};
use crate::referees::REFEREES;
use crate::{Catalog, cgroup, heap, probe};

mod phase;

pub(super) fn run(job: &Job, catalog: &Catalog, events: &mut File) -> Result<(), Stop> {
    let ends = job.share_ns.map(|ns| Instant::now() + Duration::from_nanos(ns));
    let catalog = catalog.with_described(job.engine_library.as_ref()).map_err(failed)?;
    let catalog = catalog.with_files(&job.plan).map_err(failed)?;
    let engine = catalog.engine_of(&job.plan.configurations, &job.cell.engine).map_err(failed)?;
    let workload = catalog.workload(&job.cell.workload).map_err(failed)?;
    let traffic = Traffic::detect(job, engine.info().kind, workload.info().lasts);
    let carrier = carrier(job, &traffic)?;

    let configuration = job.plan.configurations.get(&job.cell.engine);
    let options = OpenOptions {
        dir: job.site.clone(),
        durability: job.cell.durability,
        memory: job.cell.cache_bytes(job.plan.memory_bytes),
        limit: job.cell.memory_limit.map(|limit| limit.0),
        url: job.url.clone(),
        guest: job.guest.clone(),
        link: traffic.link(),
        clients: job.plan.clients.max(workload.info().clients),
        shared: workload.info().lasts,
        settings: configuration.map(Configuration::pairs).unwrap_or_default(),
    };

    let client = configuration.and_then(|own| own.client.as_ref());
    let program = client.map(|client| Program::find(client, engine.info().id)).transpose()?;

    // Rows, oracle and operations come first, so that what follows belongs to the engine.
    let spec = Spec {
        rows: job.rows.clone(),
        variant: job.cell.variant.clone(),
        seed: job.plan.seed,
        window: Duration::from_millis(job.window_ms),
        warm_up: Duration::from_millis(job.warm_up_ms),
        rate: job.plan.rate,
        clients: job.plan.clients,
        own_clients: None,
        target_rate: job.plan.target_rate,
        p99_limit: Duration::from_millis(job.plan.p99_limit_ms),
        cold: job.plan.cold,
        companions: Some(Rc::new(Starter::new(job, options.clone())?)),
        program,
        engine: engine.info().id.to_owned(),
        appends_only: engine.is_append_only(),
        referees: REFEREES,
        is_referee: job.is_referee,
    };
    let prepared = workload.prepare(&spec).map_err(failed)?;
    enter(&job.groups)?;
    // All memory of a program in another language counts as the engine's.
    let baseline_bytes = match client {
        Some(_) => Some(0),
        None => probe::resident_bytes(std::process::id()),
    };

    let began = Instant::now();
    let Opened { store, version, settings, server } = engine.open(&options)?;
    let open_ns = began.elapsed().as_nanos() as u64;
    let library = configuration.and_then(|own| own.library.as_ref());
    let library = library.map(|path| ("library".to_owned(), path.display().to_string()));
    let trial = result::Trial {
        version: Some(version),
        settings: settings.iter().cloned().chain(library).collect(),
        baseline_bytes,
        open_ns: Some(open_ns),
        ..result::Trial::default()
    };
    send(events, &Event::Ready { trial: Box::new(trial), server })?;

    let mut trial = Trial {
        job,
        // The `null` engine has no answers.
        checked: job.cell.engine != "null",
        bench: prepared.open(store, Reopener::for_engine(engine, options))?,
        clock_check: ClockCheck::begin(),
        probes: Probes::new(server, job.url.is_some()),
        loads: Loads::new(job, engine),
        explainer: Explainer::new(job.explain, server),
        server,
        traffic,
        events,
    };
    let phases = trial.bench.phases().to_vec();
    let is_known = |name: &&String| phases.iter().any(|phase| phase.name == **name);
    if let Some(name) = job.phases.iter().find(|name| !is_known(name)) {
        return Err(failed(format!("the workload has no phase '{name}'")));
    }
    let is_due = |(_, phase): &(usize, BenchPhase)| job.phases.iter().any(|own| own == phase.name);
    let mut due = phases.into_iter().enumerate().filter(is_due).peekable();
    while let Some((index, phase)) = due.next() {
        let is_last = due.peek().is_none();
        let ends = ends.map(|ends| phase::ends(Instant::now(), ends, is_last));
        trial.phase(index, phase, ends)?;
    }
    if let Some(reason) = changed(&settings, &trial.bench.tier_settings()?) {
        send(trial.events, &Event::TierChanged { reason })?;
    }
    trial.bench.finish()?;
    if let Some(carrier) = carrier {
        send(events, &Event::Network(carrier.end().map_err(failed)?))?;
    }
    Ok(())
}

/// Starts the plan's network link between this worker and its private server, if it has one.
fn carrier(job: &Job, traffic: &Traffic) -> Result<Option<Carrier>, Stop> {
    let Some(link) = &job.plan.network else { return Ok(None) };
    let unavailable = |why: String| Stop::Failed(Status::Unavailable, why);
    match traffic {
        Traffic::None | Traffic::Foreign => Ok(None),
        Traffic::Shared(why) => Err(unavailable(format!(
            "a network link is imitated in a network namespace of the worker's own, and there is \
             none ({why}): run as root, or leave --network out"
        ))),
        Traffic::Private => Carrier::start(link, job.plan.seed).map(Some).map_err(unavailable),
    }
}

/// Describes a setting of the tier, if any, that changed between opening the engine and the end of
/// the trial.
fn changed(opened: &[(String, String)], ended: &[(String, String)]) -> Option<String> {
    ended.iter().find_map(|(name, now)| {
        let (_, then) = opened.iter().find(|(known, _)| known == name)?;
        let text = || {
            format!(
                "the durability tier changed during the trial: {name} was {then} when the engine was opened, \
                 and is {now} at the end"
            )
        };
        (then != now).then(text)
    })
}

/// Enters the control group of the trial, which is charged for memory allocated from now on.
/// Returns freed memory to the system first: otherwise it would be used again uncharged.
fn enter(groups: &[PathBuf]) -> Result<(), Stop> {
    if groups.is_empty() {
        return Ok(());
    }
    heap::trim();
    cgroup::add(groups, std::process::id())
        .map_err(|error| failed(format!("the control group of the trial: {error}")))
}

struct Trial<'a> {
    job: &'a Job,
    checked: bool,
    bench: Box<dyn Bench>,
    clock_check: ClockCheck,
    probes: Probes,
    loads: Loads,
    explainer: Explainer,
    /// Root process of a private server.
    server: Option<u32>,
    traffic: Traffic,
    events: &'a mut File,
}
