//! A mix by rates that ends when it is steady. After each round a client reports the mean duration
//! of its operations. All clients end when the last rounds of each were steady.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use embermark_meter::steady;
use embermark_model::result::{SteadyFigure, SteadyState};

/// Most rounds in the longest time.
const ROUNDS: u32 = 60;

/// Shortest round.
const SHORTEST: Duration = Duration::from_millis(100);

/// Fewest operations of a round.
const LEAST: u64 = 20;

/// Returns the operations per round of a client at this rate, in a mix of at most this duration.
pub(super) fn round(rate: f64, longest: Duration) -> u64 {
    let round = (longest / ROUNDS).max(SHORTEST);
    ((rate * round.as_secs_f64()) as u64).max(LEAST)
}

/// Collects the reports of the clients. It is locked once per round.
pub(super) struct SteadyStateMonitor(Mutex<Reports>);

struct Reports {
    /// Mean response times of each client's rounds, in ns.
    means: Vec<Vec<f64>>,
    /// The figures at the time when all clients were steady. All end then, whatever they report
    /// later.
    steady: Option<Vec<SteadyFigure>>,
}

impl Reports {
    /// Returns the figure of each client's last rounds.
    fn figures(&self) -> Vec<SteadyFigure> {
        self.means.iter().map(|own| steady::assess(own).unwrap_or_default()).collect()
    }
}

impl SteadyStateMonitor {
    /// Creates a monitor for this many clients.
    pub fn new(clients: usize) -> Self {
        Self(Mutex::new(Reports { means: vec![Vec::new(); clients], steady: None }))
    }

    /// Reports a round of a client. Returns whether all clients are steady, or were before.
    pub fn report(&self, client: usize, mean_ns: f64) -> bool {
        let mut reports = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if reports.steady.is_some() {
            return true;
        }
        if let Some(own) = reports.means.get_mut(client) {
            own.push(mean_ns);
        }
        let figures = reports.figures();
        if figures.iter().all(|figure| figure.steady) {
            reports.steady = Some(figures);
        }
        reports.steady.is_some()
    }

    /// Returns the state after this time, with the names of the clients' parts.
    pub fn state<'a>(&self, names: impl Iterator<Item = &'a str>, after: Duration) -> SteadyState {
        let reports = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let reached = reports.steady.is_some();
        let figures = reports.steady.clone().unwrap_or_else(|| reports.figures());
        let figures: BTreeMap<String, SteadyFigure> =
            names.map(str::to_owned).zip(figures).collect();
        SteadyState { reached, after_s: after.as_secs_f64(), figures, ..SteadyState::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{SteadyStateMonitor, round};

    #[test]
    fn all_clients_have_to_be_steady_at_the_same_time() {
        let monitor = SteadyStateMonitor::new(2);
        for _ in 0..6 {
            assert!(!monitor.report(0, 100.0), "the other one has reported nothing");
        }
        for mean in [10.0, 30.0, 90.0, 30.0] {
            assert!(!monitor.report(1, mean));
        }
        let state = monitor.state(["get", "put"].into_iter(), Duration::from_secs(6));
        assert!(!state.reached && state.figures["get"].steady && !state.figures["put"].steady);
        for _ in 0..3 {
            assert!(!monitor.report(1, 30.0), "the last five are not alike yet");
        }
        assert!(monitor.report(1, 30.0));
        let state = monitor.state(["get", "put"].into_iter(), Duration::from_secs(7));
        assert!(state.reached && state.after_s == 7.0);
        assert_eq!(state.figures["put"].mean, 30.0);
        // The client that ends last may be disturbed, but all end.
        assert!(monitor.report(0, 900.0));
        assert!(monitor.state(["get", "put"].into_iter(), Duration::from_secs(8)).reached);
    }

    #[test]
    fn a_round_is_a_sixtieth_of_the_longest_time_and_of_some_operations() {
        assert_eq!(round(200.0, Duration::from_secs(600)), 2_000);
        assert_eq!(round(0.1, Duration::from_secs(600)), 20);
        assert_eq!(round(1_000.0, Duration::from_secs(1)), 100);
    }
}
