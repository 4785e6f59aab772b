//! Parts of a phase that does several things at the same time. Each part is reported as a separate
//! phase.

use embermark_model::Status;
use embermark_model::result::{Latency, PhaseResult, Run};
use embermark_workloads::MeasuredPart;

/// The parts of a phase, over its runs.
#[derive(Default)]
pub(crate) struct Parts(Vec<Part>);

struct Part {
    result: PhaseResult,
    latencies: Vec<Latency>,
    responses: Vec<Latency>,
}

impl Parts {
    /// Adds the measurements of a run. The resources of the parts cannot be separated, so only the
    /// phase has them.
    pub(crate) fn add(&mut self, measured: Vec<MeasuredPart>, discarded: bool) {
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
    pub(crate) fn into_phases(self, status: Status, reason: Option<String>) -> Vec<PhaseResult> {
        let merged = |all: &[Latency]| embermark_meter::merge(all).filter(|all| all.samples > 0);
        let ended = self.0.into_iter().map(|part| PhaseResult {
            status,
            reason: reason.clone(),
            latency: merged(&part.latencies),
            response: merged(&part.responses),
            ..part.result
        });
        ended.collect()
    }
}
