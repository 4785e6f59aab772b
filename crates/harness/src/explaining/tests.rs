use std::collections::BTreeMap;

use embermark_model::Status;
use embermark_model::result::{CallKind, PhaseResult, Run};

use super::*;

fn process(pid: u32, ancestors: &[u32], flushes: u64) -> TracedProcess {
    let names = BTreeMap::from([("fdatasync".to_owned(), flushes)]);
    let by_kind = BTreeMap::from([(CallKind::Flush, names)]);
    let calls = SystemCalls { by_kind, file_read_bytes: flushes, ..SystemCalls::default() };
    TracedProcess { pid, ancestors: ancestors.to_vec(), calls }
}

fn flushes(cost: &OsCost) -> u64 {
    cost.calls.as_ref().unwrap().of(CallKind::Flush)
}

#[test]
fn the_calls_of_a_server_are_those_of_its_tree_and_the_client_stands_apart() {
    let processes = [process(7, &[], 1), process(8, &[7], 10), process(9, &[8, 7], 100)];
    let of_server = of_traced(&processes, Some(8), 5);
    assert_eq!(flushes(&of_server.engine), 110);
    assert_eq!(of_server.engine.calls.as_ref().unwrap().file_read_bytes, 110);
    assert_eq!(flushes(of_server.client.as_ref().unwrap()), 1);
    let embedded = of_traced(&processes, None, 5);
    assert_eq!((flushes(&embedded.engine), embedded.client), (1, None));
}

fn trial(explained: Option<Explained>) -> Trial {
    let run = Run { explained, ..Run::default() };
    let phase = PhaseResult { phase: "read".to_owned(), runs: vec![run], ..PhaseResult::default() };
    Trial { phases: vec![phase], ..Trial::default() }
}

fn explained(trial: &Trial) -> &Explained {
    trial.phases[0].runs[0].explained.as_ref().unwrap()
}

#[test]
fn the_calls_of_one_trial_come_to_the_faults_of_the_other() {
    let engine = OsCost { minor_faults: Some(3), ..OsCost::default() };
    let used = trial(Some(Explained { engine, ..Explained::default() }));
    let traced = trial(Some(of_traced(&[process(7, &[], 1)], None, 5)));
    let both = with_calls(used.clone(), &traced);
    let both = explained(&both);
    assert_eq!((both.engine.minor_faults, flushes(&both.engine)), (Some(3), 1));
    assert_eq!((both.traced_ops, both.not_explained.len()), (Some(5), 0));

    let reason = Some("no tracing here".to_owned());
    let failed = Trial { status: Status::Failed, reason, ..Trial::default() };
    let without = with_calls(used, &failed);
    let without = explained(&without);
    assert_eq!(without.engine.calls, None);
    assert_eq!(without.not_explained, ["system calls were not counted: no tracing here"]);
}
