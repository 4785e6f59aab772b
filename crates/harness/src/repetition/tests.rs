use embermark_engines::EngineError;
use embermark_model::answer::{Answer, Difference};
use embermark_workloads::{BenchPhase, Outcome, Passed};

use super::*;

/// A phase with one operation of a given duration.
struct Timed {
    how: Repeat,
    /// Duration of its preparation.
    restoring: Duration,
    /// Duration of each run. The last one repeats.
    takes: Vec<Duration>,
    ran: usize,
    checked: usize,
    /// Number of the run that answers wrongly.
    wrong: Option<usize>,
    /// Time limit for repetitions.
    most: Duration,
}

impl Timed {
    fn new(how: Repeat, takes: &[u64]) -> Self {
        let takes = takes.iter().map(|us| Duration::from_micros(*us)).collect();
        let most = Duration::from_secs(300);
        Self { how, restoring: Duration::ZERO, takes, ran: 0, checked: 0, wrong: None, most }
    }

    /// Repeats it after a first run of 100 µs.
    fn repeated(&mut self, role: Role) -> Result<Repeated, CheckError> {
        let measured = Measured { elapsed_ns: 100_000, ops: 1, capped: false };
        let first = First { took: self.restoring, most: self.most, ..First::new(measured, role) };
        assert!(first.is_short(self.how));
        repeat(self, 0, &mut Meter::new(None), &first, true, None)
    }
}

impl Bench for Timed {
    fn phases(&self) -> &[BenchPhase] {
        &[]
    }

    fn ready(&mut self, _: usize) -> Result<(), EngineError> {
        std::thread::sleep(self.restoring);
        Ok(())
    }

    fn repeat(&self, _: usize) -> Repeat {
        self.how
    }

    fn run(&mut self, _: usize, meter: &mut Meter) -> Result<Outcome, EngineError> {
        let takes = self.takes[self.ran.min(self.takes.len() - 1)];
        self.ran += 1;
        meter.set_measured(Measured { elapsed_ns: takes.as_nanos() as u64, ops: 1, capped: false });
        Ok(Answer::Count(1).into())
    }

    fn check(&mut self, _: usize, _: &Outcome, _: Measured) -> Result<Passed, CheckError> {
        self.checked += 1;
        match self.wrong == Some(self.ran) {
            true => Err(Difference("2 in place of 1".to_owned()).into()),
            false => Ok(Passed::default()),
        }
    }

    fn user_bytes(&self, _: usize, _: u64) -> Option<u64> {
        None
    }

    fn maintain_as_left(&mut self) -> Result<(), EngineError> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), EngineError> {
        Ok(())
    }
}

#[test]
fn a_counted_run_is_repeated_until_all_times_last_a_millisecond() {
    let mut phase = Timed::new(Repeat::Reads, &[300]);
    let repeated = phase.repeated(Role::Counted).unwrap();
    // 100 µs, and three times 300.
    assert_eq!(repeated, Repeated { times: 4, total_ns: 1_000_000, steady: None });
    assert_eq!((phase.ran, phase.checked), (3, 3), "every answer is checked");
}

/// Firebird's `last_readings` took 65, 51, 64, 35, 17 and then 15 µs.
#[test]
fn a_warm_up_goes_on_until_five_rounds_are_steady() {
    let slow = [65, 51, 64, 35, 17].map(|us| us * 10);
    let mut phase = Timed::new(Repeat::Reads, &[&slow[..], &[150]].concat());
    let repeated = phase.repeated(Role::LastWarmUp).unwrap();
    let steady = repeated.steady.unwrap();
    assert!(steady.steady && steady.rounds == 5, "{repeated:?}");
    assert!((steady.mean / 150_000.0 - 1.0).abs() < 0.02, "{steady:?}");
    // Rounds of 650 + 510, of 640 + 350 + 170 and of seven times 150 µs. The five of the last kind
    // are steady.
    assert_eq!(repeated.times, 1 + 2 + 3 + 5 * 7);
}

#[test]
fn a_warm_up_that_never_is_steady_ends_and_says_so() {
    // Every other round takes twice as long as the one before.
    let takes: Vec<u64> = (0..1_000_000).map(|run| 1_000 << (run % 2)).collect();
    let mut phase = Timed::new(Repeat::Reads, &takes);
    phase.most = WARM_UP;
    let began = Instant::now();
    let repeated = phase.repeated(Role::LastWarmUp).unwrap();
    assert!(began.elapsed() >= WARM_UP && phase.ran < takes.len());
    assert!(repeated.steady.is_some_and(|steady| !steady.steady), "{repeated:?}");
}

#[test]
fn what_takes_long_to_restore_is_not_repeated_and_stays_short() {
    let mut phase = Timed::new(Repeat::Restored, &[300]);
    phase.restoring = Duration::from_millis(30);
    phase.most = WARM_UP;
    for role in [Role::Counted, Role::LastWarmUp] {
        let repeated = phase.repeated(role).unwrap();
        assert_eq!((repeated.times, repeated.is_short()), (1, true), "{role:?}");
    }
    assert_eq!(phase.ran, 0);
    // A phase that only reads needs no preparation, however long the first run took.
    phase.how = Repeat::Reads;
    assert_eq!(phase.repeated(Role::Counted).unwrap().times, 2);
}

#[test]
fn a_repetition_that_answers_wrongly_is_told() {
    let mut phase = Timed::new(Repeat::Reads, &[300]);
    phase.wrong = Some(2);
    let wrong = phase.repeated(Role::Counted).unwrap_err();
    assert!(matches!(wrong, CheckError::Wrong(_)), "{wrong}");
}

#[test]
fn runs_of_a_millisecond_and_runs_without_operations_are_made_once() {
    let first = |elapsed_ns, ops, capped, role| {
        let measured = Measured { elapsed_ns, ops, capped };
        First::new(measured, role).is_short(Repeat::Reads)
    };
    assert!(first(999_999, 5, false, Role::Counted));
    assert!(!first(1_000_000, 1, false, Role::Counted));
    assert!(!first(10, 0, false, Role::Counted));
    assert!(!first(10, 1, true, Role::Counted));
    assert!(!first(10, 1, false, Role::new(0, 2)));
    assert!(first(10, 1, false, Role::new(1, 2)) && first(10, 1, false, Role::new(2, 2)));
}
