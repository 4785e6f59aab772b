//! What a trial is for.

use embermark_model::plan::Plan;

use crate::isolation::Isolation;
use crate::protocol::Explain;

/// What a trial is for.
#[derive(Clone, Copy)]
pub(crate) enum Purpose<'a> {
    /// To be timed as the plan says.
    Timing,
    /// To be timed in one closed loop, whatever the plan says.
    Floor,
    /// To answer each phase once, so that the answers of others can be held to its own.
    Referee,
    /// To be counted, each phase once; on a disk of its own, where there is one.
    Counting(Option<&'a Isolation>),
    /// The same on a disk of its own that is recorded, for cards to be modelled.
    Recording(&'a Isolation),
    /// To be explained, each phase once, after a warm-up run where the plan has one.
    Explaining(Explain),
}

impl Purpose<'_> {
    /// Whether short runs are repeated: where they are timed, of one client that begins its next
    /// operation when the last has ended, on a database that is warm.
    pub fn repeats(self, plan: &Plan) -> bool {
        let timed = matches!(self, Self::Timing | Self::Floor);
        timed && plan.clients == 1 && plan.target_rate.is_none() && !plan.cold
    }

    /// A plan as a trial of this purpose carries it out.
    pub fn of(self, plan: &Plan) -> Plan {
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
