//! The purpose of a trial.

use embermark_model::plan::Plan;

use crate::protocol::Explain;
use crate::trial_disk::TrialDisks;

/// The purpose of a trial.
#[derive(Clone, Copy)]
pub(crate) enum Purpose<'a> {
    /// Time the trial according to the plan.
    Timing,
    /// Time it in one closed loop, regardless of the plan.
    Floor,
    /// Answer each phase once, for comparison with the answers of other engines.
    Referee,
    /// Count each phase once, on its own disk if there is one.
    Counting(Option<&'a TrialDisks>),
    /// Count and record on its own disk, to model cards.
    Recording(&'a TrialDisks),
    /// Explain each phase once, after a warm-up run if the plan has one.
    Explaining(Explain),
}

impl Purpose<'_> {
    /// Whether short runs are repeated: if they are timed, in a closed loop with one client, on a
    /// warm database.
    pub fn repeats(self, plan: &Plan) -> bool {
        let timed = matches!(self, Self::Timing | Self::Floor);
        timed && plan.clients == 1 && plan.target_rate.is_none() && !plan.cold
    }

    /// Returns the plan that a trial with this purpose executes.
    pub fn adapt_plan(self, plan: &Plan) -> Plan {
        match self {
            Self::Timing => plan.clone(),
            Self::Floor => Plan { clients: 1, target_rate: None, cold: false, ..plan.clone() },
            Self::Referee => Plan {
                runs: 1,
                warmup_runs: 0,
                clients: 1,
                target_rate: None,
                cold: false,
                max_run_time_ms: None,
                ..plan.clone()
            },
            Self::Counting(_) | Self::Recording(_) => {
                Plan { runs: 1, warmup_runs: 0, ..plan.clone() }
            }
            Self::Explaining(_) => {
                let warmup_runs = plan.warmup_runs.min(1);
                Plan { runs: warmup_runs + 1, warmup_runs, ..plan.clone() }
            }
        }
    }
}
