//! The costs of a traced run.

use embermark_model::result::{Explained, OsCost, SystemCalls};

use crate::protocol::TracedProcess;

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
