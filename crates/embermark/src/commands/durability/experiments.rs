//! The experiments of a run, one after the other.

use std::path::Path;
use std::thread;
use std::time::Duration;

use embermark_durability::journal::{Head, Journal, NotTried};
use embermark_durability::{
    Experiment, Settings, Subject, TestError, WorkerProgram, enter_mount_namespace, test,
};
use embermark_engines::{Availability, Kind, Tier, engine_library};
use embermark_harness::{Catalog, Interrupt, JOURNAL, WorkerCommand};
use embermark_model::{Durability, EngineLibrary};

use super::head::file_system;
use super::kill_storage::KillStorage;
use super::progress::ExperimentProgress;
use crate::error::Failure;
use crate::plan::{engine_libraries, not_accepted};

/// Hidden command of a worker.
const WORKER: &str = "durability-worker";

/// Runs every experiment that the journal does not have.
pub(super) fn run_experiments(
    journal: &mut Journal,
    out: &Path,
    work: &Path,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let head = journal.outcome.head.clone();
    let program = std::env::current_exe().map_err(Failure::runtime)?;
    let mut settings = Settings {
        folder: work.to_owned(),
        seed: head.seed,
        clients: head.clients,
        states: head.states,
        short_works: head.short_works,
        kills: head.kills,
        file_system: file_system(&head.file_system)?,
        min_duration: Duration::from_secs(head.over_s),
        fills: head.fills,
        disk: head.disk_bytes.unwrap_or(0),
        ..Settings::new(out, WorkerProgram { program, args: Vec::new(), library: None })
    };
    let needs_devices = head.states.max(head.server_states).max(head.fills) > 0;
    let no_devices = if needs_devices { no_devices() } else { None };
    match &no_devices {
        Some(why) => say!("no power is cut, and no disk filled: {why}"),
        None if needs_devices => {
            settings.file_system.check_available().map_err(Failure::runtime)?
        }
        None => {}
    }
    let kill_storage = head
        .storage
        .as_ref()
        .map(|storage| KillStorage::begin(storage, settings.file_system, &work.join("storage")));
    if let Some(Err(why)) = &kill_storage {
        say!("nothing is killed: {why}");
    }
    for (id, library) in &head.engine_libraries {
        check_same_library(id, library)?;
    }
    let catalog =
        Catalog::default().with_libraries(&head.configurations, &WorkerCommand::this_program()?)?;
    for id in &head.engines {
        let configuration = head.configurations.get(id);
        let engine = catalog.engine_of(&head.configurations, id).map_err(Failure::usage)?;
        let library = configuration.and_then(|own| catalog.library_of(own));
        settings.worker.library = library.map(|(name, path)| (name, path.to_owned()));
        settings.worker.args = worker_args(engine.info().id);
        let subject = Subject { engine, configuration: configuration.map(|own| (&**id, own)) };
        settings.states = match engine.info().kind {
            Kind::Server => head.server_states,
            Kind::Embedded | Kind::Reference => head.states,
        };
        for durability in &head.durabilities {
            let lies = head.device_lies.then_some(Experiment::DeviceLies);
            let others = lies.into_iter().chain([Experiment::FullDisk]);
            for experiment in [Experiment::Kill, Experiment::PowerCut].into_iter().chain(others) {
                let asked = match experiment {
                    Experiment::Kill => head.kills,
                    Experiment::PowerCut | Experiment::DeviceLies => settings.states,
                    Experiment::FullDisk => head.fills,
                };
                if asked == 0 || journal.outcome.has(id, *durability, experiment) {
                    continue;
                }
                if interrupt.is_set() {
                    return Ok(());
                }
                let name = format!("{id} {durability}, {}", experiment.name());
                let progress_bar = ExperimentProgress { name, total: asked };
                let takes_a_device = experiment != Experiment::Kill;
                let storage = kill_storage.as_ref().filter(|_| !takes_a_device);
                let cannot = reason_not_tested(subject, *durability, &head)
                    .or_else(|| no_devices.clone().filter(|_| takes_a_device))
                    .or_else(|| storage?.as_ref().err().cloned());
                let ended = match cannot {
                    Some(why) => Err((why, false)),
                    None => {
                        let (stop, progress) = (|| interrupt.is_set(), |n| progress_bar.update(n));
                        let storage = storage.and_then(|storage| storage.as_ref().ok());
                        let mounted = storage.map(KillStorage::mount).transpose();
                        let mounted = mounted.map_err(Failure::runtime)?;
                        let folder = mounted.as_ref().map_or(work, |mounted| &*mounted.at);
                        let own = Settings { folder: folder.to_owned(), ..settings.clone() };
                        let tested = test(experiment, subject, *durability, &own, &stop, &progress);
                        if let Some(mounted) = mounted {
                            mounted.unmount().map_err(Failure::runtime)?;
                        }
                        match tested {
                            Err(TestError::Interrupted) => return Ok(()),
                            tested => tested.map_err(|error| (error.to_string(), true)),
                        }
                    }
                };
                progress_bar.finish(&ended);
                let written = match ended {
                    Ok(tested) => journal.tested(tested),
                    Err((why, failed)) => {
                        let (engine, durability) = (id.clone(), *durability);
                        journal.not_tried(NotTried { engine, durability, experiment, why, failed })
                    }
                };
                written.map_err(Failure::unwritable(&out.join(JOURNAL)))?;
            }
        }
    }
    Ok(())
}

/// Returns the reason why this machine has no devices of its own for tests, if there is one.
pub(in crate::commands) fn no_devices() -> Option<String> {
    let entered = thread::spawn(enter_mount_namespace).join().ok();
    entered.and_then(Result::err).map(|error| error.to_string())
}

/// Checks that a library is the one that the run began with.
fn check_same_library(id: &str, library: &EngineLibrary) -> Result<(), Failure> {
    let given = format!("{id}={}", library.path.display()).into();
    let now = engine_libraries(&[given])?;
    if now.values().any(|now| now == library) {
        return Ok(());
    }
    Err(Failure::usage(engine_library::unusable(
        &library.path,
        "it has changed since the run began: restore the old library, or begin a new run",
    )))
}

/// Returns the arguments of the worker of an engine.
pub(in crate::commands) fn worker_args(engine: &str) -> Vec<String> {
    let library = engine_library::find(engine).into_iter();
    let library = library.flat_map(|described| {
        // The path is UTF-8, like the paths of a plan.
        let given = format!("{engine}={}", described.library.path.display());
        ["--engine-library".to_owned(), given]
    });
    [WORKER.to_owned()].into_iter().chain(library).collect()
}

/// Returns the reason why an engine is not tested in a requested tier, if there is one.
fn reason_not_tested(subject: Subject<'_>, durability: Durability, head: &Head) -> Option<String> {
    let engine = subject.engine;
    let id = engine.info().id;
    // A default run has no configurations.
    let is_named = subject.configuration.is_some() || head.named.iter().any(|name| name == id);
    let licence = not_accepted(engine, &head.accepted_licences);
    match (engine.availability(), engine.tier(durability)) {
        (Availability::Missing { why, remedy }, _) => Some(format!("{why}; {remedy}")),
        _ if licence.is_some() => licence,
        // The settings of a configuration may differ in each tier, and may keep a tier that the
        // engine's own settings do not.
        _ if subject.has_settings() => None,
        (_, Tier::Unsupported { .. }) if is_named => None,
        (_, Tier::Unsupported { why }) => {
            Some(format!("{why}; to test it anyway, name it: embermark durability {id}"))
        }
        (_, tier) => {
            let mut stronger = head.durabilities.iter().filter(|other| **other > durability);
            let same = stronger.find(|other| engine.tier(**other) == tier);
            same.map(|other| format!("the same setting as {other}"))
        }
    }
}
