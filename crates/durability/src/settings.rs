//! What an experiment is asked.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use embermark_blockdev::{DeviceError, FileSystem};
use embermark_contract::{Availability, Engine, Kind, Tier};
use embermark_model::{Configuration, Durability};

use crate::oracle::{Promised, Verdict};
use crate::outcome::{Experiment, Tested};
use crate::process::{
    PATIENCE, PATIENCE_FOR_NOTHING, PATIENCE_WITH_SERVERS, Worker, WorkerProgram,
};
use crate::protocol::{Task, There};
use crate::work::filling::Filling;
use crate::work::{Abilities, MADE, MOST_CLIENTS, Plan};

/// Clients of a server in a tier that promises something.
const CLIENTS: u32 = 4;

/// What an experiment is asked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// A folder for databases and devices, made where it is not there.
    pub folder: PathBuf,
    /// The program of the workers.
    pub worker: WorkerProgram,
    /// Seed of the work and of what is cut when.
    pub seed: u64,
    /// Clients that commit at the same time: 0 for one of an embedded engine, and four of a server
    /// in a tier that promises something.
    pub clients: u32,
    /// States of a device to look at, at most.
    pub states: u32,
    /// Short works of which every state is looked at, at most: beside these states, and of embedded
    /// engines.
    pub short_works: u32,
    /// Kills.
    pub kills: u32,
    /// The file system under the database, where the power is cut.
    pub file_system: FileSystem,
    /// Whether the device does what a flush asks for. One that does not breaks every promise: it is
    /// there to show that a broken one is found.
    pub obeys_flushes: bool,
    /// For how long the commits of a recorded work go on, at least. A window of loss may be longer than
    /// a work without pauses takes.
    pub over: Duration,
    /// File systems to fill.
    pub fills: u32,
    /// Bytes of each, for an embedded engine: a server has more, to start with.
    pub disk: u64,
    /// When a disk has not become full until then, another program's file takes the rest.
    pub longest_fill: Duration,
    /// Where images and databases of violations are kept.
    pub violations: PathBuf,
    /// Cache memory given to the engine, in bytes: little, so that it writes what it has changed.
    pub memory: u64,
}

impl Settings {
    /// Nothing to try yet, below a folder, by these workers: on ext4, on devices that do what they are asked.
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
            over: Duration::ZERO,
            fills: 0,
            disk: 0,
            longest_fill: Duration::from_secs(300),
            violations: folder.join("violations"),
            memory: 4 << 20,
        }
    }
}

/// An experiment could not be made: nothing is said of the engine.
#[derive(Debug, thiserror::Error)]
pub enum TestError {
    /// No device.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A file or a worker.
    #[error("{doing}: {source}")]
    Io {
        /// What was to be done.
        doing: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The engine does not even do the work undisturbed.
    #[error("{engine} does not do the work: {message}")]
    Engine {
        /// The engine's id.
        engine: String,
        /// What it said.
        message: String,
    },
    /// It was asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl TestError {
    pub(crate) fn io(doing: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }
}

/// What is put to the test.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The engine.
    pub engine: &'static dyn Engine,
    /// With other settings, under this name.
    pub configuration: Option<(&'a str, &'a Configuration)>,
}

impl From<&'static dyn Engine> for Subject<'_> {
    fn from(engine: &'static dyn Engine) -> Self {
        Self { engine, configuration: None }
    }
}

impl Subject<'_> {
    /// The engine's id, or the name of the configuration.
    fn name(&self) -> String {
        let name = self.configuration.map(|(name, _)| name);
        name.unwrap_or(self.engine.info().id).to_owned()
    }

    /// Whether it has settings of its own.
    pub fn has_settings(&self) -> bool {
        self.configuration.is_some_and(|(_, own)| own.has_settings())
    }

    /// What it keeps in a tier: as the engine's adapter says, or the author of a configuration.
    fn effective(&self, durability: Durability) -> Durability {
        match self.engine.tier(durability) {
            Tier::Offered { effective_durability, .. } if !self.has_settings() => {
                effective_durability
            }
            _ => durability,
        }
    }
}

/// One experiment under way.
#[derive(Clone, Copy)]
pub(crate) struct Test<'a> {
    pub subject: Subject<'a>,
    pub durability: Durability,
    pub experiment: Experiment,
    /// The short work that is done, by its place.
    pub short: Option<usize>,
    /// The work is to fill a disk.
    pub filling: Option<Filling>,
    pub settings: &'a Settings,
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl Test<'_> {
    /// Starts a worker on a database in `dir`.
    pub(crate) fn start(&self, dir: PathBuf, there: There) -> Result<Worker, TestError> {
        let task = Task {
            engine: self.subject.engine.info().id.to_owned(),
            dir,
            durability: self.durability,
            settings: (self.subject.configuration)
                .map(|(_, configuration)| configuration.pairs())
                .unwrap_or_default(),
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

    /// How many clients commit at the same time. Where nothing is promised one tells as much as
    /// many: how much is lost.
    pub(crate) fn clients(&self) -> u32 {
        match self.settings.clients {
            _ if self.short.is_some() || self.filling.is_some() => 1,
            0 if self.is_server() && self.durability > Durability::None => CLIENTS,
            0 => 1,
            clients => clients.min(MOST_CLIENTS),
        }
    }

    /// What every client does.
    pub(crate) fn plan(&self) -> Plan {
        let abilities = Abilities::of_engine(self.subject.engine);
        let Self { short, filling, .. } = *self;
        Plan { seed: self.settings.seed, abilities, short, filling }
    }

    /// What is promised to each client before the table is made.
    pub(crate) fn nothing(&self) -> Vec<Promised> {
        vec![Promised::after(MADE - 1); self.clients() as usize]
    }

    pub(crate) fn not_done(&self, message: impl Into<String>) -> TestError {
        TestError::Engine { engine: self.subject.name(), message: message.into() }
    }

    pub(crate) fn go_on(&self) -> Result<(), TestError> {
        if (self.stop)() { Err(TestError::Interrupted) } else { Ok(()) }
    }

    /// What the setting of the tier is said to keep.
    fn effective(&self) -> Durability {
        self.subject.effective(self.durability)
    }

    /// Whether the tier promises to survive the experiment.
    pub(crate) fn promises(&self) -> bool {
        self.experiment.is_survived_by(self.effective())
    }

    /// Where something is kept that breaks a promise.
    pub(crate) fn kept_as(&self, verdict: Verdict) -> PathBuf {
        let (engine, experiment) = (self.subject.name(), self.experiment.name());
        let name = format!("{engine} {} {experiment} {}", self.durability, verdict.name());
        self.settings.violations.join(name.replace(' ', "-"))
    }

    /// What is known of the outcome before the experiment.
    pub(crate) fn outcome(&self) -> Tested {
        let version = match self.subject.engine.availability() {
            Availability::Ready { version } => version,
            Availability::Missing { .. } => String::new(),
        };
        Tested {
            engine: self.subject.name(),
            configuration: self.subject.configuration.map(|(_, own)| own.clone()),
            version,
            durability: self.durability,
            effective_durability: Some(self.effective()).filter(|kept| *kept != self.durability),
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
