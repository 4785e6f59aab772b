//! Executes orders with one trial's clients on this machine.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use embermark_engines::{Engine, EngineError, Join, OpenOptions, Opened, Reopener};
use embermark_meter::{Measured, Meter};
use embermark_model::Status;
use embermark_model::answer::Answer;
use embermark_model::result::Trial;
use embermark_workloads::{Bench, CheckError, Outcome, Prepared, Spec};

use super::protocol::{Job, Order, Ran, Reply};
use crate::probe::Probes;
use crate::stage::prepare_in_thread;
use crate::worker::status_of;
use crate::{Catalog, Interrupt};

/// Number of points of a run's curve.
const POINTS: u64 = 1_000;

/// Time before the start at which the process stops sleeping and spins on the clock.
const SPIN_MARGIN: Duration = Duration::from_millis(1);

/// A trial's clients on this machine.
pub(super) struct Machine {
    job: Job,
    engine: &'static dyn Engine,
    options: OpenOptions,
    prepared: Option<Box<dyn Prepared>>,
    bench: Option<Box<dyn Bench>>,
    /// The phase that ran last and its meter, which has learned how often to time an operation.
    meter: Option<(usize, Meter)>,
    probes: Probes,
}

/// Why an order was not executed.
pub(super) struct Refused(Status, String);

impl From<EngineError> for Refused {
    fn from(error: EngineError) -> Self {
        Self(status_of(&error), error.to_string())
    }
}

fn failed(error: impl ToString) -> Refused {
    Refused(Status::Failed, error.to_string())
}

impl From<Refused> for Reply {
    fn from(Refused(status, reason): Refused) -> Self {
        Self::Failed { status, reason }
    }
}

impl Machine {
    /// Makes a trial's clients, with files in `dir`.
    pub(super) fn new(job: Job, dir: &Path, catalog: &Catalog) -> Result<Self, Refused> {
        let engine = catalog.engine(&job.cell.engine).map_err(failed)?;
        let cache_bytes = job.cell.cache_bytes(job.plan.memory_bytes);
        let options = OpenOptions {
            url: Some(job.url.clone()),
            guest: job.guest.clone(),
            clients: job.plan.clients,
            shared: true,
            ..OpenOptions::new(dir, job.cell.durability, cache_bytes)
        };
        let probes = Probes::new(None, true);
        let (prepared, bench, meter) = (None, None, None);
        Ok(Self { job, engine, options, prepared, bench, meter, probes })
    }

    /// Executes an order.
    pub(super) fn execute(&mut self, order: &Order, catalog: &Catalog) -> Result<Reply, Refused> {
        match order {
            Order::Prepare => self.prepare(catalog),
            Order::Open => self.open(),
            Order::Join { at } => self.join(at),
            Order::Ready { phase } => {
                let (index, bench) = self.phase(phase)?;
                bench.ready(index)?;
                Ok(Reply::Done)
            }
            Order::Run { phase, begin_ns } => self.run(phase, *begin_ns),
            Order::Check { phase, answer, done, capped, elapsed_ns } => {
                let measured =
                    Measured { elapsed_ns: *elapsed_ns, ops: done.iter().sum(), capped: *capped };
                self.check(phase, *answer, done, measured)
            }
            Order::Close => {
                self.bench.take().map_or(Ok(()), Bench::finish)?;
                Ok(Reply::Done)
            }
        }
    }

    fn prepare(&mut self, catalog: &Catalog) -> Result<Reply, Refused> {
        let Job { cell, plan, own_clients, .. } = &self.job;
        let workload = catalog.workload(&cell.workload).map_err(failed)?;
        let (scales, dir, never) = ([cell.scale], &self.options.dir, Interrupt::default());
        let made = prepare_in_thread(workload, &scales, &plan.data, plan.seed, dir, &never);
        let (_, rows, dataset) =
            made.map_err(failed)?.pop().ok_or_else(|| failed("no rows were made"))?;
        let spec = Spec {
            clients: plan.clients,
            own_clients: Some(own_clients.clone()),
            target_rate: plan.target_rate,
            cold: false,
            engine: cell.engine.clone(),
            appends_only: self.engine.is_append_only(),
            ..Spec::of(rows, cell.variant.clone(), plan.seed)
        };
        self.prepared = Some(workload.prepare(&spec).map_err(failed)?);
        Ok(Reply::Prepared { dataset })
    }

    fn open(&mut self) -> Result<Reply, Refused> {
        let prepared = self.prepared.take().ok_or_else(|| failed("nothing was prepared"))?;
        let Opened { mut store, version, settings, .. } = self.engine.open(&self.options)?;
        let at = match store.lifecycle().join() {
            Join::At(at) => at,
            Join::Exclusive(why) => {
                let what = format!("clients on several machines: {why}");
                return Err(EngineError::unsupported(self.engine.info().id, what).into());
            }
        };
        let bench =
            prepared.open(store, Reopener::for_engine(self.engine, self.options.clone()))?;
        let phases = bench.phases().iter().map(|phase| phase.to_result()).collect();
        self.bench = Some(bench);
        let trial = Trial {
            version: Some(version),
            settings: settings.into_iter().collect(),
            ..Trial::default()
        };
        Ok(Reply::Opened { at, trial: Box::new(trial), phases })
    }

    fn join(&mut self, at: &str) -> Result<Reply, Refused> {
        let prepared = self.prepared.take().ok_or_else(|| failed("nothing was prepared"))?;
        self.bench = Some(prepared.join(self.engine.join(&self.options, at)?)?);
        Ok(Reply::Done)
    }

    fn phase(&mut self, name: &str) -> Result<(usize, &mut Box<dyn Bench>), Refused> {
        let bench = self.bench.as_mut().ok_or_else(|| failed("the database is not open"))?;
        let index = bench.phases().iter().position(|phase| phase.name == name);
        let index = index.ok_or_else(|| failed(format!("the workload has no phase '{name}'")))?;
        Ok((index, bench))
    }

    fn run(&mut self, phase: &str, begin_ns: i64) -> Result<Reply, Refused> {
        let (index, _) = self.phase(phase)?;
        let longest = self.job.plan.max_run_time_ms.map(Duration::from_millis);
        let mut meter = match self.meter.take() {
            Some((of, meter)) if of == index => meter,
            _ => {
                let mut meter = Meter::new(longest);
                meter.note_progress();
                meter
            }
        };
        let before = self.probes.begin();
        wait_until(begin_ns);
        // The same time on both clocks.
        let (wall, ticks) = (wall_ns(), meter.clock().ticks());
        let (_, bench) = self.phase(phase)?;
        let ran = bench.run(index, &mut meter);
        let (_, client) = self.probes.end(before);
        let Outcome { answer, done, .. } = ran?;
        let at = |then: u64| wall + meter.clock().nanoseconds(ticks, then) as i64;
        let (began, ended) = meter.time_span();
        let all = meter.common_period().unwrap_or((began, ended));
        let point = |n: u64| {
            let ticks =
                began + (u128::from(ended - began) * u128::from(n) / u128::from(POINTS)) as u64;
            meter.done_by(ticks).round() as u64
        };
        let ran = Ran {
            began_ns: at(began),
            ended_ns: at(ended),
            all_ns: (at(all.0), at(all.1)),
            curve: (0..=POINTS).map(point).collect(),
            capped: meter.measured().capped,
            clients: meter.clients().to_vec(),
            done,
            answer,
            latency: meter.latency(),
            response: meter.response(),
            late: meter.late(),
            achieved: meter.achieved().to_vec(),
            client,
        };
        self.meter = Some((index, meter));
        Ok(Reply::Ran(Box::new(ran)))
    }

    fn check(
        &mut self,
        phase: &str,
        answer: Answer,
        done: &[u64],
        measured: Measured,
    ) -> Result<Reply, Refused> {
        let (index, bench) = self.phase(phase)?;
        let all = Outcome { answer, done: done.to_vec(), ..Outcome::default() };
        let (status, reason) = match bench.check(index, &all, measured) {
            Ok(_) => (Status::Ok, None),
            Err(CheckError::Wrong(difference)) => (Status::Wrong, Some(difference.to_string())),
            Err(CheckError::Disputed(why)) => (Status::Disputed, Some(why)),
            Err(CheckError::Engine(error)) => return Err(error.into()),
        };
        Ok(Reply::Checked { status, reason })
    }
}

/// Returns this machine's clock in ns since 1970.
pub(super) fn wall_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// Waits until this machine's clock reaches a time. Returns at once if it is past.
fn wait_until(begin_ns: i64) {
    loop {
        let left = Duration::from_nanos(u64::try_from(begin_ns - wall_ns()).unwrap_or(0));
        if left.is_zero() {
            return;
        }
        match left.checked_sub(SPIN_MARGIN) {
            // In short steps, in case the clock is set meanwhile.
            Some(left) => std::thread::sleep(left.min(Duration::from_millis(100))),
            None => std::hint::spin_loop(),
        }
    }
}
