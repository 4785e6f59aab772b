//! The state of an active run, and its trials.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use embermark_engines::Kind;
use embermark_model::plan::Plan;
use embermark_model::result::Trial;
use embermark_model::{CellId, StorageName};

use crate::cells::PlannedCell;
use crate::confinement::Confinement;
use crate::database_size::disk_bytes;
use crate::energy::Sampler;
use crate::imitation::Imitation;
use crate::outdir::OutDir;
use crate::progress::{Progress, Silent};
use crate::protocol::{Explain, Job};
use crate::purpose::Purpose;
use crate::run_options::RunOptions;
use crate::server_cleanup::CleanupProcess;
use crate::stage::Stages;
use crate::throttle::ThrottleMonitor;
use crate::trial::{Outcome, Supervisor};
use crate::trial_disk::{Disk, Removed, TrialDisks};
use crate::{HarnessError, Result, cells, engine_library, flash, journal, manifest, redaction};

/// An active run.
pub(crate) struct Run<'a> {
    pub plan: &'a Plan,
    pub options: &'a RunOptions,
    /// Name of what trials make on servers given by URL.
    pub guest: String,
    pub dirs: OutDir,
    pub stages: Stages,
    /// The limits of its processes.
    pub confinement: Confinement,
    pub journal: journal::Writer,
    /// What measures energy.
    pub energy: Sampler,
    /// What has slowed the CPU down since the first trial. `None` before that.
    pub throttle: Option<ThrottleMonitor>,
    pub progress: &'a mut dyn Progress,
    /// Time at which it began or was resumed.
    pub began: Instant,
    /// Cleans up if this process is killed. `None` if no private server runs.
    _cleanup: Option<CleanupProcess>,
    /// Cells of the counting and explaining trials, which follow the timed ones.
    pub later: Vec<PlannedCell>,
    /// Longest time of a run of the next trial in ns by phase, in addition to the plan's.
    pub bounds: BTreeMap<String, u64>,
    /// Share of the run's time for the next trial, if that is the first one of its cell in a run
    /// with a time limit.
    pub share: Option<Duration>,
    /// Makes disks of a fixed size, or the reason why that is impossible. `None` until one is
    /// needed.
    pub trial_disks: Option<Result<TrialDisks, String>>,
    /// Makes imitated storages, if cells have any.
    pub imitation: Option<Imitation>,
}

impl<'a> Run<'a> {
    /// Makes the state of a run that begins or is resumed.
    pub fn new(
        run_id: &str,
        (plan, options): (&'a Plan, &'a RunOptions),
        dirs: OutDir,
        confinement: Confinement,
        journal: journal::Writer,
        progress: &'a mut dyn Progress,
    ) -> Self {
        let starts_servers = journal.head.cells.iter().any(|cell| {
            let engine = options.catalog.engine_of(&plan.configurations, &cell.id.engine);
            let is_server = engine.is_ok_and(|engine| engine.info().kind == Kind::Server);
            cell.skip.is_none() && is_server && !plan.urls.contains_key(&cell.id.engine)
        });
        // If the process cannot be started, the run continues without it.
        let cleanup =
            starts_servers.then(|| CleanupProcess::start(&options.worker, &dirs.data).ok());
        Self {
            plan,
            options,
            _cleanup: cleanup.flatten(),
            guest: manifest::guest(run_id),
            dirs,
            stages: Stages::default(),
            confinement,
            journal,
            energy: options.energy.sampler(),
            throttle: None,
            progress,
            began: Instant::now(),
            later: Vec::new(),
            bounds: BTreeMap::new(),
            share: None,
            trial_disks: None,
            imitation: None,
        }
    }
}

impl Run<'_> {
    pub(crate) fn stop_if_interrupted(&self) -> Result<()> {
        match self.options.interrupt.is_set() {
            true => Err(HarnessError::Interrupted { result: None }),
            false => Ok(()),
        }
    }

    /// Shows how a trial ended.
    pub(crate) fn show_ending(&mut self, Trial { status, reason, wall_ns, .. }: &Trial) {
        self.progress.trial_ended(*status, reason.as_deref(), Duration::from_nanos(*wall_ns));
    }

    /// Shows a warning and journals it.
    pub(crate) fn warn(&mut self, warning: String) -> Result<()> {
        self.progress.note(&warning);
        self.journal.warn(warning)
    }

    /// Removes what a killed worker left on the engine's server, if that is given by URL. If this
    /// fails, shows a note, and the run continues.
    pub(crate) fn remove_left(&mut self, engine: &str) -> Result<()> {
        let (Some(url), name) = (self.plan.urls.get(engine), &self.guest) else { return Ok(()) };
        let left = self.options.catalog.engine(engine)?.remove_left(url.reveal(), name);
        if let Err(error) = left {
            let error = url.secrets().redact(engine, &error.to_string());
            let text = format!("`{name}` may still be on the server of {engine}: {error}");
            self.progress.note(&text);
        }
        Ok(())
    }

    /// Runs one trial in a new process and a new folder, and removes the folder.
    pub(crate) fn trial(
        &mut self,
        cell: &CellId,
        phases: &[String],
        rows: &Path,
        name: &str,
        purpose: Purpose<'_>,
    ) -> Result<Trial> {
        self.stop_if_interrupted()?;
        if !self.dirs.exists() {
            let gone = io::Error::from(io::ErrorKind::NotFound);
            return Err(HarnessError::file(
                self.dirs.path(),
                "continue in the folder of the run",
                gone,
            ));
        }
        let workload = self.options.catalog.workload(&cell.workload)?.info();
        let (window_ms, warm_up_ms) = cells::times(self.plan, &workload);
        // A phase that lasts as long as requested is not late.
        let lasting_ms = cells::lasting_ms(self.plan, &workload, phases.len());
        let group = cell.memory_limit.map(|limit| {
            self.confinement.trial(limit).map_err(|why| {
                HarnessError::Failed(format!("a memory limit of {limit} cannot be set: {why}"))
            })
        });
        let group = group.transpose()?;
        let folder = self.dirs.site(name)?;
        let by_url = self.plan.urls.contains_key(&cell.engine);
        let disk = match purpose {
            Purpose::Floor | Purpose::Referee => None,
            _ if let Some(storage) = cell.storage => {
                Some(self.imitated_disk(cell, storage, &folder)?)
            }
            Purpose::Counting(Some(trial_disks)) => Some(trial_disks.disk(&folder, false)?),
            Purpose::Recording(trial_disks) => Some(trial_disks.disk(&folder, true)?),
            Purpose::Timing if workload.until_steady && !by_url => {
                self.sized_disk(cell, &folder)?
            }
            _ => None,
        };
        // The worker reads its disk between runs, which waits for pending writes.
        let looks = workload.until_steady
            || matches!(purpose, Purpose::Counting(_) | Purpose::Recording(_));
        let supervisor = Supervisor {
            worker: &self.options.worker,
            library: (self.plan.configurations.get(&cell.engine))
                .and_then(|own| self.options.catalog.library_of(own)),
            timeout: self
                .plan
                .timeout_ms
                .map(|ms| Duration::from_millis(ms.saturating_add(lasting_ms))),
            interrupt: &self.options.interrupt,
            limited: self.confinement.device(),
            group: group.as_ref(),
            energy: matches!(purpose, Purpose::Timing).then_some(&self.energy),
        };
        let site = disk.as_ref().map_or_else(|| folder.clone(), Disk::site);
        let (log, log_name) = self.dirs.log(name);
        let job = Job {
            cell: cell.clone(),
            engine_library: engine_library::find(self.plan.engine_of(&cell.engine)),
            rows: rows.to_owned(),
            site,
            own_disk: looks && disk.is_some(),
            groups: group.as_ref().map(|group| group.dirs.clone()).unwrap_or_default(),
            url: self.plan.urls.get(&cell.engine).map(|url| url.reveal().to_owned()),
            guest: self.guest.clone(),
            phases: phases.to_vec(),
            plan: purpose.adapt_plan(self.plan),
            window_ms,
            warm_up_ms,
            explain: match purpose {
                Purpose::Explaining(explain) => explain,
                _ => Explain::Nothing,
            },
            repeats: purpose.repeats(self.plan),
            is_referee: matches!(purpose, Purpose::Referee),
            bounds: match purpose {
                Purpose::Timing => self.bounds.clone(),
                _ => BTreeMap::new(),
            },
            share_ns: (self.share.filter(|_| matches!(purpose, Purpose::Timing)))
                .map(|share| share.as_nanos() as u64),
            energy_counters: supervisor.energy.map(Sampler::counters).unwrap_or_default(),
        };
        let mut silent = Silent;
        let progress = match purpose {
            Purpose::Floor | Purpose::Referee => &mut silent,
            _ => &mut *self.progress,
        };
        let ended = supervisor.run(&job, &log, progress);
        if !matches!(ended, Ok(Outcome { orderly: true, .. })) {
            self.remove_left(&cell.engine)?;
        }
        let (mut trial, on_disk) = match ended {
            Ok(Outcome { trial, on_disk, .. }) => {
                (trial.ok_or(HarnessError::Interrupted { result: None }), on_disk)
            }
            Err(error) => (Err(error), Vec::new()),
        };
        let device_io = disk.as_ref().filter(|_| looks).map(Disk::used);
        let silent = log.metadata().is_ok_and(|meta| meta.len() == 0);
        if silent {
            // A missing log means the same as an empty one.
            let _ = std::fs::remove_file(&log);
        }
        let removed = disk.map_or(Ok(Removed::default()), Disk::remove);
        let Removed { trace, storage_times } = removed.map_err(HarnessError::TrialDisk)?;
        self.dirs.remove_site(&folder)?;
        if let Some(url) = self.plan.urls.get(&cell.engine) {
            let secrets = url.secrets();
            if let Ok(trial) = &mut trial {
                redaction::redact(trial, &secrets, self.plan.engine_of(&cell.engine));
            }
            redaction::redact_log(&log, &secrets).map_err(|error| {
                HarnessError::file(&log, "take the secrets of a URL out of the log", error)
            })?;
        }
        if let Ok(trial) = &mut trial {
            trial.device_io = device_io.flatten();
            trial.storage_times = storage_times;
            if let Some(trace) = trace.filter(|_| looks) {
                trial.flash = flash::model_cards(&self.plan.cards, &trace, &on_disk);
            }
            trial.limited_peak_bytes = group.and_then(|group| group.peak_bytes());
            trial.log = (!silent).then_some(log_name);
        }
        trial
    }

    /// Mounts the storage of a cell for one trial, next to `folder`.
    fn imitated_disk(&self, cell: &CellId, name: StorageName, folder: &Path) -> Result<Disk> {
        let refused = |why: &str| HarnessError::storage(name, why);
        let storage = self.plan.storage(name);
        let storage = storage.ok_or_else(|| refused("the plan does not describe it"))?;
        let imitation = self.imitation.as_ref();
        let imitation =
            imitation.ok_or_else(|| refused("nothing imitates storages in this run"))?;
        let bytes = imitation.bytes_of(cell, self.plan, &self.options.catalog);
        imitation.disk(folder, bytes, storage).map_err(|why| refused(&why))
    }

    /// Makes a disk next to `folder` for a trial of a cell. `None` if that is impossible, with one
    /// warning per run, or if only answers are checked. The database is then in the ordinary
    /// folder.
    fn sized_disk(&mut self, cell: &CellId, folder: &Path) -> Result<Option<Disk>> {
        if self.options.once_per_setting {
            return Ok(None);
        }
        let bytes = disk_bytes(self.plan, cell.scale);
        if self.trial_disks.is_none() {
            let begun = TrialDisks::begin(&self.dirs.data, bytes);
            if let Err(why) = &begun {
                self.warn(format!(
                    "{} is in the ordinary folder, and not in its own file system of a fixed size, \
                     whose writes could be counted: {why}",
                    cell.workload
                ))?;
            }
            self.trial_disks = Some(begun);
        }
        match &self.trial_disks {
            Some(Ok(trial_disks)) => trial_disks.disk_of(folder, bytes).map(Some),
            _ => Ok(None),
        }
    }
}
