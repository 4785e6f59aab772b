//! The explaining trials count what an operation requests of the operating system. They follow the
//! timed trials, two per cell, and their times are in no figure. One runs undisturbed, and its page
//! faults, context switches and hardware counters are read. In the other every system call is
//! counted, which slows it down and adds context switches.

use embermark_model::result::{Explained, OsCost, SystemCalls};

mod calls;
mod counters;
mod explainer;
mod marks;
mod ptrace;
mod traced_worker;
mod tracer;
mod trials;
mod usage;

pub(crate) use explainer::Explainer;
pub(crate) use traced_worker::run as run_traced;
pub use tracer::TracedProcess;

/// Returns the costs of a traced run: of the processes of a server, or otherwise of the worker.
pub(crate) fn traced_cost(processes: &[TracedProcess], server: Option<u32>, ops: u64) -> Explained {
    let sum = |belongs: &dyn Fn(&TracedProcess) -> bool| {
        let mut calls = SystemCalls::default();
        processes.iter().filter(|p| belongs(p)).for_each(|process| calls.add(&process.calls));
        OsCost { calls: Some(calls), ..OsCost::default() }
    };
    let worker = |process: &TracedProcess| process.ancestors.is_empty();
    let (engine, client) = match server {
        Some(root) => {
            let of_server = |p: &TracedProcess| p.pid == root || p.ancestors.contains(&root);
            (sum(&of_server), Some(sum(&worker)))
        }
        None => (sum(&worker), None),
    };
    Explained { traced_ops: Some(ops), engine, client, not_explained: Vec::new() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use embermark_model::result::CallKind;

    use super::*;

    pub(super) fn process(pid: u32, ancestors: &[u32], flushes: u64) -> TracedProcess {
        let names = BTreeMap::from([("fdatasync".to_owned(), flushes)]);
        let by_kind = BTreeMap::from([(CallKind::Flush, names)]);
        let calls = SystemCalls { by_kind, file_read_bytes: flushes, ..SystemCalls::default() };
        TracedProcess { pid, ancestors: ancestors.to_vec(), calls }
    }

    pub(super) fn flushes(cost: &OsCost) -> u64 {
        cost.calls.as_ref().unwrap().count(CallKind::Flush)
    }

    #[test]
    fn the_calls_of_a_server_are_those_of_its_tree_and_the_client_stands_apart() {
        let processes = [process(7, &[], 1), process(8, &[7], 10), process(9, &[8, 7], 100)];
        let of_server = traced_cost(&processes, Some(8), 5);
        assert_eq!(flushes(&of_server.engine), 110);
        assert_eq!(of_server.engine.calls.as_ref().unwrap().file_read_bytes, 110);
        assert_eq!(flushes(of_server.client.as_ref().unwrap()), 1);
        let embedded = traced_cost(&processes, None, 5);
        assert_eq!((flushes(&embedded.engine), embedded.client), (1, None));
    }
}
