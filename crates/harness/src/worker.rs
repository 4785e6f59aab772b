//! The child's side of a trial: one cell, measured, in a process of its own.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use embermark_clients::Program;
use embermark_engines::engine_library::Described;
use embermark_engines::{EngineError, OpenOptions, Opened, Reopener, network};
use embermark_meter::{Measured, Meter};
use embermark_model::result::{self, Latency, PhaseResult, Run};
use embermark_model::{Configuration, Status};
use embermark_workloads::{Bench, BenchPhase, CheckError, Outcome, Passed, Spec};

use crate::cgroup;
use crate::child::{die_with, exit, private_stdout};
use crate::clock;
use crate::cold;
use crate::companion::Starter;
use crate::energy::Readings;
use crate::explaining::{Explainer, run_traced};
use crate::heap;
use crate::loading::Loads;
use crate::observing::{Traffic, Watching};
use crate::parts::Parts;
use crate::probe;
use crate::probes::Probes;
use crate::protocol::{Event, Explain, Job, Request, send};
use crate::referees::REFEREES;
use crate::repetition::{self, First, Role};
use crate::{Catalog, keeper};

/// The hidden `worker` command, with the engines and workloads of this build.
pub fn worker_main() -> ExitCode {
    serve(&Catalog::default())
}

/// Reads one request from standard input, a [`Job`] or a question about an engine; runs it and writes
/// [`Event`]s to standard output, or the answer.
/// Whatever else writes to standard output in this process ends up on standard error. Fails
/// without an event only when it cannot speak to its parent; a panic or a crash is the parent's to
/// report.
pub fn serve(catalog: &Catalog) -> ExitCode {
    exit("worker", converse(catalog))
}

fn converse(catalog: &Catalog) -> io::Result<()> {
    // Before anything else runs in this process: an engine that prints must not be heard as ours.
    let mut events = Events(private_stdout()?);
    let mut request = Vec::new();
    io::stdin().read_to_end(&mut request)?;
    let job = match serde_json::from_slice(&request)? {
        Request::Trial(job) => *job,
        Request::Facts(question) => {
            die_with(question.parent)?;
            return send(&mut events.0, &question.answer(catalog).map_err(io::Error::other)?);
        }
        Request::Stage(staging) => {
            die_with(staging.parent)?;
            return send(&mut events.0, &staging.answer(catalog));
        }
        Request::Library { parent, path } => {
            die_with(parent)?;
            // It needs no network to say what it is, and is told of none where the kernel gives a namespace.
            let _ = network::enter();
            return send(&mut events.0, &Described::of(&path));
        }
        Request::Abandoned { site } => {
            keeper::remove_all(&site);
            return Ok(());
        }
    };
    die_with(job.parent)?;
    if job.explain == Explain::Calls {
        return run_traced(job, &mut events.0);
    }
    match run(&job, catalog, &mut events) {
        Ok(()) => events.send(&Event::Finished),
        Err(Stop::Parent(error)) => Err(error),
        Err(Stop::Failed(status, reason)) => events.send(&Event::Failed { status, reason }),
    }
}

struct Events(File);

impl Events {
    fn send(&mut self, event: &Event) -> io::Result<()> {
        send(&mut self.0, event)
    }
}

/// Why a trial ends before its time.
enum Stop {
    /// Nobody listens any more.
    Parent(io::Error),
    /// The engine or the workload cannot go on.
    Failed(Status, String),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Parent(error)
    }
}

impl From<EngineError> for Stop {
    fn from(error: EngineError) -> Self {
        Self::Failed(status_of(&error), error.to_string())
    }
}

pub(crate) fn status_of(error: &EngineError) -> Status {
    if error.is_unsupported() {
        Status::Unsupported
    } else if error.is_unavailable() {
        Status::Unavailable
    } else {
        Status::Failed
    }
}

fn failed(error: impl ToString) -> Stop {
    Stop::Failed(Status::Failed, error.to_string())
}

fn run(job: &Job, catalog: &Catalog, events: &mut Events) -> Result<(), Stop> {
    let catalog = catalog.with_described(job.engine_library.as_ref()).map_err(failed)?;
    let catalog = catalog.with_files(&job.plan).map_err(failed)?;
    let engine = catalog.engine_of(&job.plan.configurations, &job.cell.engine).map_err(failed)?;
    let workload = catalog.workload(&job.cell.workload).map_err(failed)?;
    let traffic = Traffic::of(job, engine.info().kind, workload.info().lasts);

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

    // Rows, oracle and operations come first: what follows is the engine's alone.
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
        companions: Some(Rc::new(Starter::of(job, options.clone())?)),
        program,
        engine: engine.info().id.to_owned(),
        appends_only: engine.is_append_only(),
        referees: REFEREES,
        is_referee: job.is_referee,
    };
    let prepared = workload.prepare(&spec).map_err(failed)?;
    enter(&job.groups)?;
    // A program in another language has no part that is not its own.
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
    events.send(&Event::Ready { trial: Box::new(trial), server })?;

    let mut trial = Trial {
        job,
        // An engine that does nothing answers nothing.
        checked: job.cell.engine != "null",
        bench: prepared.open(store, Reopener::of(engine, options))?,
        probes: Probes::new(server, job.url.is_some()),
        loads: Loads::of(job, engine),
        explainer: Explainer::new(job.explain, server),
        server,
        traffic,
        events,
    };
    let phases = trial.bench.phases().to_vec();
    for name in &job.phases {
        if !phases.iter().any(|phase| phase.name == name) {
            return Err(failed(format!("the workload has no phase '{name}'")));
        }
    }
    for (index, phase) in phases.into_iter().enumerate() {
        if job.phases.iter().any(|name| name == phase.name) {
            trial.phase(index, phase)?;
        }
    }
    if let Some(reason) = changed(&settings, &trial.bench.tier_settings()?) {
        trial.events.send(&Event::TierChanged { reason })?;
    }
    Ok(trial.bench.finish()?)
}

/// Which setting of the tier is another at the end of a trial than when the engine was opened, if one is.
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

/// Enters the control group of the trial: what memory is taken from now on is charged to it. What was
/// freed before goes back first, or it would be used again uncharged.
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
    probes: Probes,
    loads: Loads,
    explainer: Explainer,
    /// Root process of a private server.
    server: Option<u32>,
    traffic: Traffic,
    events: &'a mut Events,
}

impl Trial<'_> {
    /// Runs a phase as often as asked. A wrong answer ends the phase and leaves the others their
    /// turn: [`Bench::ready`] puts the database right again.
    fn phase(&mut self, index: usize, phase: BenchPhase) -> Result<(), Stop> {
        let BenchPhase { name, ops, execution, .. } = phase;
        let mut phase = phase.to_result();
        self.events.send(&Event::PhaseBegan(Box::new(phase.clone())))?;
        let most = self.job.plan.max_run_time_ms.map(Duration::from_millis);
        let bound = self.job.bounds.get(name).copied().map(Duration::from_nanos);
        let mut meter = Meter::new(most.into_iter().chain(bound).min());
        self.explainer.watch(&mut meter);
        let (mut latencies, mut responses): (Vec<Latency>, Vec<Latency>) = Default::default();
        let mut ran_some = false;
        let lasts = self.bench.lasts(index);
        let once = self.bench.once(index);
        let (runs, warmup) =
            if once { (1, 0) } else { (self.job.plan.runs, self.job.plan.warmup_runs) };
        let mut parts = Parts::default();
        for run in 0..runs {
            self.events.send(&Event::Running { run })?;
            let readying = Instant::now();
            self.bench.ready(index)?;
            if self.job.plan.cold && self.bench.user_bytes(index, 0).is_none() {
                cold::drop_pages(&self.job.site).map_err(failed)?;
            }
            let device = self.loads.begin();
            let mut watching =
                Watching::new(self.server, &self.job.site, self.job.own_disk, &self.traffic)
                    .counting(&self.job.energy_counters);
            let before = self.probes.begin();
            let unexplained = self.explainer.begin();
            let energy = Readings::begin(&self.job.energy_counters);
            let began = clock::monotonic_ns();
            let mut outcome = match self.bench.observe(index, &mut meter, &mut watching) {
                Ok(outcome) => outcome,
                Err(error) if error.is_unsupported() => {
                    (phase.status, phase.reason) = (Status::Unsupported, Some(error.to_string()));
                    break;
                }
                Err(error) if error.is_of_query() => {
                    (phase.status, phase.reason) = (status_of(&error), Some(error.to_string()));
                    break;
                }
                Err(error) => {
                    let done = meter.measured().ops;
                    let text = format!("{error}, after {done} operations of run {}", run + 1);
                    return Err(Stop::Failed(status_of(&error), text));
                }
            };
            let between = began.zip(clock::monotonic_ns());
            let window = energy.end();
            let window = if lasts { watching.energy_window() } else { window };
            let explained = self.explainer.end(unexplained);
            let apart = watching.client_apart(self.job.url.is_some());
            // An embedded engine is then in no process whose memory the parent samples.
            let sampled = apart.is_none() || self.server.is_some();
            let between = between.filter(|_| sampled);
            let (engine, client) = apart.unwrap_or_else(|| self.probes.end(before));
            let mut measured = meter.measured();
            if let Err(problem) = time_is_known(measured) {
                (phase.status, phase.reason) = (Status::Failed, Some(problem));
                break;
            }
            let reached = match lasts {
                true => watching.to_device(),
                false => device.and_then(|device| device.since()),
            };
            let discarded = run < warmup;
            if ops != 1 && !discarded {
                latencies.extend(meter.latency());
                responses.extend(meter.response());
            }
            let (clients, schedule) = (
                meter.clients().to_vec(),
                (self.bench.target_rate(index))
                    .or(self.job.plan.target_rate.map(|rate| rate as f64))
                    .and_then(|rate| meter.schedule_kept(rate)),
            );
            let first = First::new(measured, Role::of(run, warmup));
            let (mut verdict, mut repeated) = (None, None);
            if self.job.repeats && !once && first.is_short(self.bench.repeat(index)) {
                let mut right = self.check(index, &outcome, measured);
                if right.is_ok() {
                    let first = First { took: readying.elapsed(), ..first };
                    let kept = (ops != 1).then_some(&mut latencies);
                    let (bench, checks) = (&mut *self.bench, self.checked);
                    match repetition::repeat(bench, index, &mut meter, &first, checks, kept) {
                        Ok(found) => repeated = Some(found),
                        Err(error) => right = Err(error),
                    }
                }
                verdict = Some(right);
            }
            if let Some(repeated) = repeated.filter(|_| !discarded) {
                let mean = repeated.total_ns as f64 / repeated.times as f64;
                measured.elapsed_ns = (mean.round() as u64).max(1);
            }
            let done = (index, measured.ops);
            ran_some |= measured.ops > 0;
            let loads = &self.loads;
            let (loaded, maintained) =
                loads.end(&mut *self.bench, done, run + 1 == runs, &self.probes)?;
            let ran = Run {
                elapsed_ns: measured.elapsed_ns,
                ops: measured.ops,
                repeated,
                discarded,
                capped: measured.capped,
                device_io: reached.map(|reached| reached.io),
                engine,
                client,
                observed: lasts.then(|| watching.observed()),
                loaded,
                clients,
                client_machines: None,
                schedule,
                steady: outcome.steady.take(),
                log_bytes: outcome.log_bytes,
                write_behind: outcome.write_behind,
                explained,
                ..Run::default()
            };
            self.events.send(&Event::Run {
                run: Box::new(ran),
                between,
                window,
                on_disk: reached.and_then(|reached| reached.between),
                maintenance_on_disk: maintained,
            })?;
            parts.add(std::mem::take(&mut outcome.parts), discarded);
            phase.execution = outcome.execution.unwrap_or(execution);
            phase.timed_by = outcome.timed_by.take();
            phase.client_floor_ns = outcome.client_floor_ns;
            phase.pipelined |= outcome.pipelined;
            if measured.capped {
                phase.status = Status::Capped;
            }
            let verdict = verdict.unwrap_or_else(|| self.check(index, &outcome, measured));
            match verdict {
                Ok(checked) => {
                    (phase.checked_by, phase.unchecked) = (checked.by, checked.unchecked);
                }
                Err(CheckError::Wrong(difference)) => {
                    (phase.status, phase.reason) = (Status::Wrong, Some(difference.to_string()));
                    break;
                }
                Err(CheckError::Disputed(why)) => {
                    (phase.status, phase.reason) = (Status::Disputed, Some(why));
                    break;
                }
                Err(CheckError::Engine(error)) => return Err(error.into()),
            }
        }
        if phase.status.has_figures() && ran_some {
            phase.plan = self.bench.plan(index);
        }
        let merged = |all: &[Latency]| embermark_meter::merge(all).filter(|all| all.samples > 0);
        (phase.latency, phase.response) = (merged(&latencies), merged(&responses));
        if !phase.status.has_figures() {
            (phase.checked_by, phase.unchecked) = (None, None);
        }
        let (status, reason) = (phase.status, phase.reason.clone());
        self.events.send(&Event::PhaseEnded(Box::new(phase)))?;
        for part in parts.ended(status, reason) {
            // Its runs go with it: nothing of it is watched while it runs.
            let runs = part.runs.clone();
            self.events.send(&Event::PhaseBegan(Box::new(PhaseResult { runs, ..part.clone() })))?;
            self.events.send(&Event::PhaseEnded(Box::new(part)))?;
        }
        Ok(())
    }
}

impl Trial<'_> {
    /// Checks the answer of the run that was just measured, of an engine that answers.
    fn check(
        &mut self,
        phase: usize,
        outcome: &Outcome,
        measured: Measured,
    ) -> Result<Passed, CheckError> {
        if self.checked {
            self.bench.check(phase, outcome, measured)
        } else {
            Ok(Passed::default())
        }
    }
}

/// Whether a run has a time. A clock that went backwards gives 0, which would make it the fastest
/// of all.
fn time_is_known(measured: Measured) -> Result<(), String> {
    if measured.elapsed_ns > 0 || measured.ops == 0 {
        return Ok(());
    }
    Err(format!(
        "{} operations took no time: the machine's clock went backwards or stood still; see which \
         one it uses in /sys/devices/system/clocksource/clocksource0/current_clocksource",
        measured.ops
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_took_no_time_has_none() {
        let measured = |elapsed_ns, ops| Measured { elapsed_ns, ops, capped: false };
        assert!(time_is_known(measured(0, 100)).is_err_and(|text| text.contains("backwards")));
        assert_eq!(time_is_known(measured(1, 100)), Ok(()));
        assert_eq!(time_is_known(measured(0, 0)), Ok(()));
    }
}
