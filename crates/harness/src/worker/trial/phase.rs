//! Runs a phase of a trial: times, observes and checks its runs.

use std::time::{Duration, Instant};

use embermark_meter::{Measured, Meter, merge};
use embermark_model::Status;
use embermark_model::result::{Latency, PhaseResult, Run};
use embermark_workloads::{BenchPhase, CheckError, MeasuredPart, Outcome, Passed};

use super::Trial;
use crate::energy::Readings;
use crate::phase_observer::ResourceObserver;
use crate::protocol::{Event, send};
use crate::repetition::{self, First, Role};
use crate::worker::{Stop, failed, status_of};
use crate::{clock, disk};

/// Least time of a run that is stopped because the run's time is over, unless its window is longer.
const LEAST_TIME: Duration = Duration::from_millis(100);

/// Returns when a phase ends in a trial that should end at `trial_ends`: it has half of the time
/// that is left, and the last one all of it.
pub(super) fn ends(now: Instant, trial_ends: Instant, is_last: bool) -> Instant {
    let left = trial_ends.saturating_duration_since(now);
    now + if is_last { left } else { left / 2 }
}

/// Returns the longest time of the next run of a phase that ends at `ends` and has this many
/// `runs` left, at least the time of its window.
fn share(now: Instant, ends: Instant, runs: u32, window: Duration) -> Duration {
    (ends.saturating_duration_since(now) / runs).max(LEAST_TIME).max(window)
}

impl Trial<'_> {
    /// Runs a phase as often as requested, and stops runs that would end after `ends`. A wrong
    /// answer ends only this phase: `Bench::ready` restores the database for the next one.
    pub(super) fn phase(
        &mut self,
        index: usize,
        phase: BenchPhase,
        ends: Option<Instant>,
    ) -> Result<(), Stop> {
        let BenchPhase { name, ops, execution, .. } = phase;
        let mut phase = phase.to_result();
        send(self.events, &Event::PhaseBegan(Box::new(phase.clone())))?;
        let most = self.job.plan.max_run_time_ms.map(Duration::from_millis);
        let bound = self.job.bounds.get(name).copied().map(Duration::from_nanos);
        let longest = most.into_iter().chain(bound).min();
        let mut meter = Meter::new(longest);
        self.explainer.watch(&mut meter);
        let (mut latencies, mut responses): (Vec<Latency>, Vec<Latency>) = Default::default();
        let mut ran_some = false;
        let lasts = self.bench.lasts(index);
        let once = self.bench.once(index);
        let (runs, warmup) =
            if once { (1, 0) } else { (self.job.plan.runs, self.job.plan.warmup_runs) };
        let mut parts = Parts::default();
        for run in 0..runs {
            send(self.events, &Event::Running { run })?;
            let readying = Instant::now();
            self.bench.ready(index)?;
            if self.bench.begins_cold(index) {
                disk::drop_pages(&self.job.site).map_err(failed)?;
            }
            // A phase that runs once lasts as long as requested.
            if let Some(ends) = ends.filter(|_| !once) {
                let window = Duration::from_millis(self.job.window_ms);
                let share = share(Instant::now(), ends, runs - run, window);
                meter.set_cap(longest.into_iter().chain([share]).min());
            }
            let device = self.loads.begin();
            let mut observer = ResourceObserver::new(self.server, self.job, &self.traffic);
            let before = self.probes.begin();
            let unexplained = self.explainer.begin();
            let energy = Readings::begin(&self.job.energy_counters);
            let began = clock::monotonic_ns();
            let mut outcome = match self.bench.observe(index, &mut meter, &mut observer) {
                Ok(outcome) => outcome,
                Err(error) if error.is_unsupported() => {
                    (phase.status, phase.reason) = (Status::Unsupported, Some(error.to_string()));
                    break;
                }
                Err(error) if error.is_query_error() => {
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
            let window = if lasts { observer.energy_window.take() } else { window };
            let explained = self.explainer.end(unexplained);
            let apart = observer.separate_client(self.job.url.is_some());
            // An embedded engine is then in a process whose memory the parent does not sample.
            let sampled = apart.is_none() || self.server.is_some();
            let between = between.filter(|_| sampled);
            let (engine, client) = apart.unwrap_or_else(|| self.probes.end(before));
            let mut measured = meter.measured();
            if let Err(problem) = time_is_known(measured) {
                (phase.status, phase.reason) = (Status::Failed, Some(problem));
                break;
            }
            let reached = match lasts {
                true => observer.device_io,
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
            let first = First::new(measured, Role::new(run, warmup));
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
                observed: lasts.then_some(observer.observed),
                loaded,
                clients,
                schedule,
                steady: outcome.steady.take(),
                log_bytes: outcome.log_bytes,
                write_behind: outcome.write_behind,
                explained,
                ..Run::default()
            };
            let event = Event::Run {
                run: Box::new(ran),
                between,
                window,
                on_disk: reached.and_then(|reached| reached.between),
                maintenance_on_disk: maintained,
            };
            send(self.events, &event)?;
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
        (phase.latency, phase.response) = (merge(&latencies), merge(&responses));
        if !phase.status.has_figures() {
            (phase.checked_by, phase.unchecked) = (None, None);
        }
        if let Some(difference) = self.clock_check.difference() {
            return Err(failed(difference));
        }
        let (status, reason) = (phase.status, phase.reason.clone());
        send(self.events, &Event::PhaseEnded(Box::new(phase)))?;
        for part in parts.into_phases(status, reason) {
            // The event contains the runs, because nothing was observed during them.
            let runs = part.runs.clone();
            send(self.events, &Event::PhaseBegan(Box::new(PhaseResult { runs, ..part.clone() })))?;
            send(self.events, &Event::PhaseEnded(Box::new(part)))?;
        }
        Ok(())
    }

    /// Checks the answer of the run that was just measured, if the engine answers.
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

/// Checks that a run has a time. A clock that went backwards gives 0, which would make it the
/// fastest of all.
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

/// The parts of a phase, over its runs.
#[derive(Default)]
struct Parts(Vec<Part>);

struct Part {
    result: PhaseResult,
    latencies: Vec<Latency>,
    responses: Vec<Latency>,
}

impl Parts {
    /// Adds the measurements of a run. The resources of the parts cannot be separated, so only the
    /// phase has them.
    fn add(&mut self, measured: Vec<MeasuredPart>, discarded: bool) {
        for MeasuredPart { name, execution, meter, target_rate } in measured {
            let place = self.0.iter().position(|part| part.result.phase == name);
            let place = place.unwrap_or_else(|| {
                let result =
                    PhaseResult { phase: name.to_owned(), execution, ..PhaseResult::default() };
                self.0.push(Part { result, latencies: Vec::new(), responses: Vec::new() });
                self.0.len() - 1
            });
            let (part, latency, ops) = (&mut self.0[place], meter.latency(), meter.measured().ops);
            let schedule = target_rate.and_then(|rate| meter.schedule_kept(rate));
            // Sum of the times of its operations, because the run's time covers all parts.
            let taken = latency.as_ref().map_or(0.0, |latency| latency.mean * ops as f64) as u64;
            let elapsed_ns = if schedule.is_some() { meter.measured().elapsed_ns } else { taken };
            if !discarded {
                part.latencies.extend(latency);
                part.responses.extend(meter.response());
            }
            part.result.runs.push(Run { elapsed_ns, ops, discarded, schedule, ..Run::default() });
        }
    }

    /// Returns the parts as phases, with the outcome of the phase.
    fn into_phases(self, status: Status, reason: Option<String>) -> Vec<PhaseResult> {
        let ended = self.0.into_iter().map(|part| PhaseResult {
            status,
            reason: reason.clone(),
            latency: merge(&part.latencies),
            response: merge(&part.responses),
            ..part.result
        });
        ended.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_has_half_of_the_time_left_and_its_runs_share_it() {
        let (now, s) = (Instant::now(), Duration::from_secs);
        assert_eq!([false, true].map(|last| ends(now, now + s(12), last) - now), [s(6), s(12)]);
        let of = |left, runs| share(now, now + left, runs, Duration::ZERO);
        assert_eq!([of(s(6), 6), of(s(6), 1), of(s(0), 6)], [s(1), s(6), LEAST_TIME]);
        // The time may be over, and a window is never cut.
        assert_eq!(ends(now + s(1), now, true), now + s(1));
        assert_eq!(share(now + s(1), now, 2, s(3)), s(3));
    }

    #[test]
    fn a_run_that_took_no_time_has_none() {
        let measured = |elapsed_ns, ops| Measured { elapsed_ns, ops, capped: false };
        assert!(time_is_known(measured(0, 100)).is_err_and(|text| text.contains("backwards")));
        assert_eq!(time_is_known(measured(1, 100)), Ok(()));
        assert_eq!(time_is_known(measured(0, 0)), Ok(()));
    }
}
