//! Settings of an experiment.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use embermark_blockdev::{DeviceError, FileSystem};
use embermark_contract::{Availability, Engine, Kind, Tier};
use embermark_model::{Configuration, Durability};
use nix::sys::statvfs::statvfs;

use crate::inspection::Inspection;
use crate::oracle::{Promised, Verdict};
use crate::outcome::{Experiment, Tested};
use crate::process::{
    PATIENCE, PATIENCE_FOR_NOTHING, PATIENCE_WITH_SERVERS, Worker, WorkerProgram,
};
use crate::protocol::{DatabaseState, Task};
use crate::try_results::TryResults;
use crate::work::filling::Filling;
use crate::work::{Abilities, MAX_CLIENTS, Plan, TABLE_COMMIT};

/// Number of clients of a server in a tier that promises something.
const CLIENTS: u32 = 4;

/// Free bytes below which what an engine does may be the fault of this machine's disk.
const LEAST_FREE: u64 = 64 << 20;

/// Settings of an experiment.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Folder for databases and devices. It is created if it does not exist.
    pub folder: PathBuf,
    /// The program of the workers.
    pub worker: WorkerProgram,
    /// Seed of the work, and of the times and states of interruptions.
    pub seed: u64,
    /// Number of clients that commit at the same time. 0 means one for an embedded engine, and four
    /// for a server in a tier that promises something.
    pub clients: u32,
    /// Largest number of states of a device to examine.
    pub states: u32,
    /// Largest number of short works whose every state is examined, in addition to these states.
    /// Only for embedded engines.
    pub short_works: u32,
    /// Number of kills.
    pub kills: u32,
    /// File system of the database whose power is cut.
    pub file_system: FileSystem,
    /// Whether the device obeys flushes. One that does not breaks every promise, which shows that a
    /// broken promise is found.
    pub obeys_flushes: bool,
    /// Shortest duration of the commits of a recorded work. A window of loss may be longer than a
    /// work without pauses.
    pub min_duration: Duration,
    /// Number of file systems to fill.
    pub fills: u32,
    /// Size of each in bytes for an embedded engine. A server has more, because it needs more to
    /// start.
    pub disk: u64,
    /// Time after which another program's file fills a disk that is not full yet.
    pub longest_fill: Duration,
    /// Where images and databases of violations are kept.
    pub violations: PathBuf,
    /// Cache memory of the engine in bytes. It is small, so that the engine writes what it has
    /// changed.
    pub memory: u64,
}

impl Settings {
    /// Settings without any tries, below a folder, with these workers: on ext4, on devices that
    /// obey flushes.
    pub fn new(folder: &Path, worker: WorkerProgram) -> Self {
        Self {
            folder: folder.join("work"),
            worker,
            seed: 42,
            clients: 0,
            states: 0,
            short_works: 0,
            kills: 0,
            file_system: FileSystem::Ext4,
            obeys_flushes: true,
            min_duration: Duration::ZERO,
            fills: 0,
            disk: 0,
            longest_fill: Duration::from_secs(300),
            violations: folder.join("violations"),
            memory: 4 << 20,
        }
    }
}

/// An experiment could not run. This says nothing about the engine.
#[derive(Debug, thiserror::Error)]
pub enum TestError {
    /// No device is available.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A file or a worker failed.
    #[error("{doing}: {source}")]
    Io {
        /// What was to be done.
        doing: &'static str,
        /// The error.
        source: io::Error,
    },
    /// A worker could not be given a command, or its events not be read.
    #[error("talk to a worker: {0}")]
    Worker(#[from] io::Error),
    /// The engine cannot do even the undisturbed work.
    #[error("{engine} fails the undisturbed work: {message}")]
    Engine {
        /// Id of the engine.
        engine: String,
        /// Its message.
        message: String,
    },
    /// The experiment was asked to stop.
    #[error("interrupted")]
    Interrupted,
}

pub(crate) type Result<T, E = TestError> = std::result::Result<T, E>;

impl TestError {
    pub(crate) fn io(doing: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }
}

/// What is tested.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The engine.
    pub engine: &'static dyn Engine,
    /// Other settings, with their name.
    pub configuration: Option<(&'a str, &'a Configuration)>,
}

impl From<&'static dyn Engine> for Subject<'_> {
    fn from(engine: &'static dyn Engine) -> Self {
        Self { engine, configuration: None }
    }
}

impl Subject<'_> {
    /// Returns the engine's id, or the name of the configuration.
    fn name(&self) -> String {
        self.configuration.map_or(self.engine.info().id, |(name, _)| name).to_owned()
    }

    /// Whether it has its own settings.
    pub fn has_settings(&self) -> bool {
        self.configuration.is_some_and(|(_, own)| own.has_settings())
    }

    /// Returns what it keeps in a tier, as the engine's adapter or the author of the configuration
    /// states.
    fn effective_durability(&self, durability: Durability) -> Durability {
        match self.engine.tier(durability) {
            Tier::Offered { effective_durability, .. } if !self.has_settings() => {
                effective_durability
            }
            _ => durability,
        }
    }
}

/// An active experiment.
#[derive(Clone, Copy)]
pub(crate) struct Test<'a> {
    pub subject: Subject<'a>,
    pub durability: Durability,
    pub experiment: Experiment,
    /// The short work that is done, by its index.
    pub short: Option<usize>,
    /// Set if the work is to fill a disk.
    pub filling: Option<Filling>,
    pub settings: &'a Settings,
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl Test<'_> {
    /// Starts a worker on a database in `dir`.
    pub(crate) fn start(&self, dir: PathBuf, there: DatabaseState) -> Result<Worker> {
        let own = self.subject.configuration;
        let task = Task {
            engine: self.subject.engine.info().id.to_owned(),
            dir,
            durability: self.durability,
            settings: own.map(|(_, own)| own.pairs()).unwrap_or_default(),
            memory: self.settings.memory,
            seed: self.settings.seed,
            short: self.short,
            filling: self.filling,
            clients: self.clients(),
            there,
        };
        let patience = match self.promises() {
            _ if self.is_server() => PATIENCE_WITH_SERVERS,
            true => PATIENCE,
            false => PATIENCE_FOR_NOTHING,
        };
        let started = Worker::start(&self.settings.worker, &task, patience);
        started.map_err(TestError::io("start a worker"))
    }

    pub(crate) fn is_server(&self) -> bool {
        self.subject.engine.info().kind == Kind::Server
    }

    /// Returns the number of clients that commit at the same time. If nothing is promised, one
    /// client shows as well as several how much is lost.
    pub(crate) fn clients(&self) -> u32 {
        match self.settings.clients {
            _ if self.short.is_some() || self.filling.is_some() => 1,
            0 if self.is_server() && self.durability > Durability::None => CLIENTS,
            0 => 1,
            clients => clients.min(MAX_CLIENTS),
        }
    }

    /// Returns what every client does.
    pub(crate) fn plan(&self) -> Plan {
        let abilities = Abilities::for_engine(self.subject.engine);
        let Self { short, filling, .. } = *self;
        Plan { seed: self.settings.seed, abilities, short, filling }
    }

    /// Returns what is promised to each client before the table is created.
    pub(crate) fn initial_promises(&self) -> Vec<Promised> {
        vec![Promised::after(TABLE_COMMIT - 1); self.clients() as usize]
    }

    /// Makes the error of an engine that fails the undisturbed work, or of a machine whose disk has
    /// no room for it: an engine may then fail in any way.
    pub(crate) fn engine_error(&self, message: impl Into<String>) -> TestError {
        let (engine, message) = (self.subject.name(), message.into());
        let Ok(Some(why)) = self.lacks_room() else {
            return TestError::Engine { engine, message };
        };
        let why = io::Error::new(io::ErrorKind::StorageFull, format!("{why}; {engine}: {message}"));
        TestError::io("do the undisturbed work")(why)
    }

    /// Fails unless a database holds what it must.
    pub(crate) fn check_holds(&self, inspection: &Inspection) -> Result<()> {
        match inspection.verdict {
            Verdict::Holds => Ok(()),
            _ => Err(self.engine_error(inspection.explanation())),
        }
    }

    pub(crate) fn check_interrupted(&self) -> Result<()> {
        if (self.stop)() { Err(TestError::Interrupted) } else { Ok(()) }
    }

    /// Checks that this machine's disk has room. An engine that finds none breaks no promise.
    pub(crate) fn check_room(&self) -> Result<()> {
        let room = self.lacks_room().and_then(|why| {
            why.map_or(Ok(()), |why| Err(io::Error::new(io::ErrorKind::StorageFull, why)))
        });
        room.map_err(TestError::io("look for the cause of a finding"))
    }

    /// Returns why this machine's disk may be to blame for what an engine does, if it may.
    fn lacks_room(&self) -> io::Result<Option<String>> {
        let stat = statvfs(&self.settings.folder)?;
        let free = stat.blocks_available() * stat.fragment_size();
        Ok((free < LEAST_FREE).then(|| {
            let [free, least] = [free, LEAST_FREE].map(|bytes| bytes >> 20);
            let full = if free == 0 { "disk full: " } else { "" };
            format!(
                "{full}the disk with the experiment's files has {free} MiB free, so it may be to blame: leave \
                 {least} MiB free"
            )
        }))
    }

    /// Whether the tier promises to survive the experiment.
    pub(crate) fn promises(&self) -> bool {
        self.experiment.is_survived_by(self.subject.effective_durability(self.durability))
    }

    /// Whether nothing is lost if an error ends the experiment: it was interrupted, or has found no
    /// broken promise so far. A broken promise that was found counts, whatever fails later.
    pub(crate) fn loses_nothing<K>(&self, error: &TestError, results: &TryResults<K>) -> bool {
        matches!(error, TestError::Interrupted) || !self.promises() || !results.has_violation()
    }

    /// Returns where something is kept that breaks a promise. The name ends with `suffix`.
    pub(crate) fn violation_path(&self, verdict: Verdict, suffix: &str) -> PathBuf {
        let (engine, experiment) = (self.subject.name(), self.experiment.name());
        let name = format!("{engine} {} {experiment} {}{suffix}", self.durability, verdict.name());
        self.settings.violations.join(name.replace(' ', "-"))
    }

    /// Returns what is known about the outcome before the experiment.
    pub(crate) fn initial_result(&self) -> Tested {
        let version = match self.subject.engine.availability() {
            Availability::Ready { version } => version,
            Availability::Missing { .. } => String::new(),
        };
        let kept = self.subject.effective_durability(self.durability);
        Tested {
            engine: self.subject.name(),
            configuration: self.subject.configuration.map(|(_, own)| own.clone()),
            version,
            durability: self.durability,
            effective_durability: Some(kept).filter(|kept| *kept != self.durability),
            experiment: self.experiment,
            tried: 0,
            second: 0,
            not_mounted: 0,
            torn_blocks: 0,
            exhaustive: None,
            verdicts: Default::default(),
            loss: None,
            open_ns: None,
            clean_open_ns: None,
            commit: None,
            full_disk: None,
            took_ms: 0,
            examples: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use embermark_engines::registry::ENGINES;

    use super::*;

    #[test]
    fn an_engine_that_fails_on_a_full_disk_is_not_to_blame() {
        let program = WorkerProgram { program: PathBuf::new(), args: Vec::new(), library: None };
        let says = |folder: &Path| {
            let folder = folder.to_owned();
            let settings = Settings { folder, ..Settings::new(Path::new(""), program.clone()) };
            let test = Test {
                subject: Subject::from(ENGINES[0]),
                durability: Durability::Process,
                experiment: Experiment::Kill,
                short: None,
                filling: None,
                settings: &settings,
                stop: &|| false,
            };
            test.engine_error("no such table").to_string()
        };
        // This file system never has a free block.
        let full = says(Path::new("/proc"));
        assert!(full.contains(": disk full: ") && full.ends_with(": no such table"), "{full}");
        let gone = says(Path::new("/nowhere"));
        assert!(gone.ends_with("fails the undisturbed work: no such table"), "{gone}");
    }
}
