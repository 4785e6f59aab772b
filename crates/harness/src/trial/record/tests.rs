use embermark_model::result::Execution;

use super::*;

/// A trial whose phases ended so.
fn trial(phases: &[(&str, Status)]) -> Record {
    let mut record = Record::default();
    for (name, status) in phases {
        record.trial.phases.push(PhaseResult {
            phase: (*name).to_owned(),
            execution: Execution::Native,
            status: *status,
            reason: (*status != Status::Ok).then(|| format!("{name} was {status}")),
            ops: 1,
            runs: Vec::new(),
            latency: None,
            ..PhaseResult::default()
        });
    }
    record
}

fn ending(record: Record, failure: Option<(Status, String)>) -> (Status, Option<String>) {
    let trial = record.close(failure);
    (trial.status, trial.reason)
}

#[test]
fn a_trial_is_as_bad_as_its_worst_phase_and_says_which_one() {
    use Status::{Capped, Disputed, Ok, Unsupported, Wrong};
    assert_eq!(ending(trial(&[("load", Ok), ("read", Ok)]), None), (Ok, None));
    let phases = [("load", Capped), ("read", Wrong), ("update", Wrong)];
    let expected = (Wrong, Some("read: read was wrong".to_owned()));
    assert_eq!(ending(trial(&phases), None), expected);
    // One phase that cannot be done does not hide the figures of the others.
    assert_eq!(ending(trial(&[("load", Ok), ("topk", Unsupported)]), None), (Ok, None));
    assert_eq!(ending(trial(&[("topk", Unsupported)]), None).0, Unsupported);
    let disputed = [("report", Disputed), ("load", Ok), ("topk", Unsupported)];
    assert_eq!(ending(trial(&disputed), None), (Ok, None));
}

#[test]
fn a_failure_counts_unless_a_wrong_answer_came_before_it() {
    let died = || Some((Status::Failed, "died".to_owned()));
    assert_eq!(
        ending(trial(&[("load", Status::Ok)]), died()),
        (Status::Failed, Some("died".to_owned()))
    );
    assert_eq!(ending(trial(&[("load", Status::Wrong)]), died()).0, Status::Wrong);
}
