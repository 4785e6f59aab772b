//! The parent's side of a trial: starts the worker, receives its events, and ends it.

use std::io::Write;
use std::path::Path;
use std::process::Child;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use embermark_meter::{CLOCK_RATE, Clock};
use embermark_model::Status;
use embermark_model::result::Trial;

use crate::background_cpu::CpuSnapshot;
use crate::cgroup::Cgroup;
use crate::disk;
use crate::energy::Sampler;
use crate::flash::OnDisk;
use crate::processes::{Family, wait_or_kill};
use crate::progress::Progress;
use crate::protocol::{Event, Job, Request};
use crate::system::System;
use crate::worker_command::WorkerCommand;
use crate::{HarnessError, Interrupt, Result, server_cleanup};

mod death;
mod memory;
mod record;

use record::{Record, listen_to};

/// Interval at which the parent checks for a time-out and an interrupt. Long, because on a small
/// device each check takes time from the engine.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Time in which a worker must exit after its last event.
const EXIT_TIMEOUT: Duration = Duration::from_secs(10);

/// Time in which a server must stop once its worker has ended, before it is killed.
const SERVER_STOP_TIMEOUT: Duration = Duration::from_secs(3);

/// Time in which the events of a worker that has ended must arrive.
const DRAIN: Duration = Duration::from_secs(2);

/// Starts a worker for a trial and supervises it.
pub(crate) struct Supervisor<'a> {
    pub worker: &'a WorkerCommand,
    /// The engine's library: the variable that names it, and its path. `None` if the engine finds
    /// it.
    pub library: Option<(&'static str, &'a Path)>,
    pub timeout: Option<Duration>,
    pub interrupt: &'a Interrupt,
    /// The group with limits in which workers and their servers run.
    pub limited: Option<&'a Cgroup>,
    /// The group with a memory limit that the worker enters itself.
    pub group: Option<&'a Cgroup>,
    /// Sampler of energy while the trial runs.
    pub energy: Option<&'a Sampler>,
}

/// Outcome of a worker.
pub(crate) struct Outcome {
    /// The trial, unless it was interrupted.
    pub trial: Option<Trial>,
    /// Whether it closed its engine or reported why it could not continue. Otherwise it died.
    pub orderly: bool,
    /// When each of its runs used the trial's own disk.
    pub on_disk: Vec<OnDisk>,
}

impl Supervisor<'_> {
    /// Runs one job until its worker ends or is stopped, and then ends every process that it
    /// started. `log` receives the worker's standard error.
    pub fn run(&self, job: &Job, log: &Path, progress: &mut dyn Progress) -> Result<Outcome> {
        let began = Instant::now();
        let here = System::here();
        let before = CpuSnapshot::now(&here);
        let oom_kills = |group: Option<&Cgroup>| group.map_or(0, Cgroup::oom_kills);
        // Earlier trials ran in the same group.
        let killed_before = oom_kills(self.limited);
        let family = Family::begin().map_err(HarnessError::system("adopt orphaned processes"))?;
        let mut child = self.start(job, log)?;
        let (mut record, how) = self.listen(&mut child, job, log, began, progress);
        // A worker that has sent its last event may exit by itself.
        let patience = if matches!(how, ListenEnd::Ended) { EXIT_TIMEOUT } else { Duration::ZERO };
        let exit = wait_or_kill(&mut child, patience);
        let stray = family.end(SERVER_STOP_TIMEOUT);
        if stray.map_err(HarnessError::system("end a trial's processes"))? {
            death::note(
                log,
                "processes of the engine were still there after the trial, and were ended",
            );
        }
        // Removes what a killed server left. A server that stopped normally leaves nothing.
        server_cleanup::remove_abandoned(&job.site);

        let on_disk = std::mem::take(&mut record.on_disk);
        let said = record.finished || record.failure.is_some();
        let orderly = said && exit.is_some_and(|exit| exit.success());
        let position = record.position();
        let failure = match (how, exit) {
            (ListenEnd::Interrupted, _) => return Ok(Outcome { trial: None, orderly, on_disk }),
            (ListenEnd::TimedOut, _) => {
                let most = self.timeout.unwrap_or_default().as_secs_f64();
                let text =
                    format!("took longer than the {most} s that a trial may take, in {position}");
                Some((Status::TimedOut, text))
            }
            (ListenEnd::Garbled(line), _) => {
                let text = format!("the worker wrote an invalid event, in {position}: {line:?}");
                Some((Status::Failed, text))
            }
            (ListenEnd::Ended, exit) => match (record.failure.take(), exit) {
                (Some(failure), _) => Some(failure),
                (None, Some(exit)) if record.finished && exit.success() => None,
                (None, Some(exit)) => Some((Status::Failed, death::report(exit, &position, log))),
                (None, None) => {
                    let text = "the worker closed its output but did not exit, and was ended";
                    Some((Status::Failed, text.to_owned()))
                }
            },
        };
        let within = match job.cell.memory_limit {
            Some(limit) if oom_kills(self.group) > 0 => Some(limit.to_string()),
            _ if oom_kills(self.limited) > killed_before => Some("the device's memory".to_owned()),
            _ => None,
        };
        let failure = failure.map(|(status, how)| match within {
            Some(within) => {
                (Status::Failed, format!("killed: out of memory within {within}; {how}"))
            }
            None => (status, how),
        });
        let failure = failure.map(|(status, how)| {
            let is_full = status == Status::Failed && job.url.is_none();
            if !(is_full && death::by_full_disk(&how, job)) {
                return (status, how);
            }
            let site = job.site.display();
            let says = format!(
                "disk full: the database did not fit on the disk of {site}; free some, or name a \
                 folder on another disk with --dir; {how}"
            );
            (status, says)
        });
        let clean = failure.is_none();
        let mut trial = record.close(failure);
        if clean && job.url.is_none() {
            trial.disk = disk::size_of(&job.site).ok();
        }
        // Every process of the trial has been waited for, so their time is now part of this one's.
        // That of a server given by its URL, which may run on this machine, is not.
        let before = before.filter(|_| job.url.is_none());
        trial.background_cpu = before.and_then(|before| CpuSnapshot::now(&here)?.since(&before));
        trial.wall_ns = began.elapsed().as_nanos() as u64;
        Ok(Outcome { trial: Some(trial), orderly, on_disk })
    }

    fn start(&self, job: &Job, log: &Path) -> Result<Child> {
        let log = death::create(log).map_err(|e| HarnessError::file(log, "create the log", e))?;
        let request = Request::Trial(Box::new(job.clone()));
        let text = request.to_json().map_err(|error| self.worker.failed(error))?;
        let mut command = self.worker.command();
        command.env(CLOCK_RATE, Clock::default().rate()).envs(self.library).stderr(log);
        let started = command.spawn();
        let mut child = started.map_err(|error| self.worker.failed(error))?;
        // It waits for its job, so nothing of an engine has happened yet.
        if let Some(Err(refused)) = self.limited.map(|group| group.add(child.id())) {
            let _ = child.kill().and_then(|()| child.wait());
            return Err(HarnessError::system("put a worker under limits")(refused));
        }
        if let Some(mut stdin) = child.stdin.take() {
            // A worker that does not read it is reported by what it does instead.
            let _ = stdin.write_all(&text);
        }
        Ok(child)
    }

    /// Receives events until the worker's end, a time-out, an interrupt, or an invalid event.
    fn listen(
        &self,
        child: &mut Child,
        job: &Job,
        log: &Path,
        began: Instant,
        progress: &mut dyn Progress,
    ) -> (Record, ListenEnd) {
        let mut record = Record::default();
        let Some(events) = child.stdout.take().map(listen_to) else {
            return (record, ListenEnd::Ended);
        };
        let mut ended: Option<Instant> = None;
        loop {
            match events.recv_timeout(POLL_INTERVAL) {
                Ok(Ok(mut event)) => {
                    if let (Some(energy), Event::Run { run, window, .. }) =
                        (self.energy, &mut event)
                    {
                        energy.record_run(run, window.as_ref());
                    }
                    record.apply(event, job, progress);
                    if record.failure.is_some() || record.finished {
                        return (record, ListenEnd::Ended);
                    }
                }
                Ok(Err(line)) => return (record, ListenEnd::Garbled(line)),
                Err(RecvTimeoutError::Disconnected) => return (record, ListenEnd::Ended),
                Err(RecvTimeoutError::Timeout) => {}
            }
            record.sample_memory(child.id(), job.url.is_some());
            self.energy.into_iter().for_each(Sampler::sample);
            death::bound(log);
            if self.interrupt.is_set() {
                return (record, ListenEnd::Interrupted);
            }
            if self.timeout.is_some_and(|most| began.elapsed() >= most) {
                return (record, ListenEnd::TimedOut);
            }
            // A process that the engine started may hold the pipe open long after the worker's end.
            if ended.is_none() && !matches!(child.try_wait(), Ok(None)) {
                ended = Some(Instant::now());
            }
            if ended.is_some_and(|ended| ended.elapsed() >= DRAIN) {
                return (record, ListenEnd::Ended);
            }
        }
    }
}

/// Why the parent stopped receiving.
enum ListenEnd {
    Ended,
    TimedOut,
    Interrupted,
    Garbled(String),
}
