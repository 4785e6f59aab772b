//! The columns of what a run asked of the operating system: totals, to be divided by `ops`, or by
//! `traced_ops` where they are of system calls.

use embermark_model::result::{CallKind, Explained, OsCost, SystemCalls};

use super::column::{Column, flag, whole};

type Figure<T> = fn(&T) -> Option<u64>;

const CALLS: [(&str, Figure<SystemCalls>); 11] = [
    ("calls", |calls| Some(calls.total())),
    ("read_calls", |calls| Some(calls.of(CallKind::Read))),
    ("write_calls", |calls| Some(calls.of(CallKind::Write))),
    ("flush_calls", |calls| Some(calls.of(CallKind::Flush))),
    ("memory_calls", |calls| Some(calls.of(CallKind::Memory))),
    ("wait_calls", |calls| Some(calls.of(CallKind::Wait))),
    ("network_calls", |calls| Some(calls.of(CallKind::Network))),
    ("other_calls", |calls| Some(calls.of(CallKind::Other))),
    ("file_read_bytes", |calls| Some(calls.file_read_bytes)),
    ("file_written_bytes", |calls| Some(calls.file_written_bytes)),
    ("synced_writes", |calls| Some(calls.synced_writes)),
];

const COSTS: [(&str, Figure<OsCost>); 6] = [
    ("minor_faults", |cost| cost.minor_faults),
    ("major_faults", |cost| cost.major_faults),
    ("voluntary_switches", |cost| cost.voluntary_switches),
    ("involuntary_switches", |cost| cost.involuntary_switches),
    ("instructions", |cost| cost.instructions),
    ("cache_misses", |cost| cost.cache_misses),
];

/// Every one, of the engine and, behind `client_`, of the client.
pub(super) fn columns() -> Vec<Column> {
    let mut columns = vec![
        flag("explaining", |line| Some(line.cell.is_explaining(line.trial?))),
        whole("traced_ops", |line| line.run?.1.explained.as_ref()?.traced_ops),
    ];
    type Side = fn(&Explained) -> Option<&OsCost>;
    let sides: [(&str, Side); 2] =
        [("", |all| Some(&all.engine)), ("client_", |all| all.client.as_ref())];
    for (prefix, side) in sides {
        columns.extend(CALLS.map(|(name, get)| {
            whole(&format!("{prefix}{name}"), move |line| {
                get(side(line.run?.1.explained.as_ref()?)?.calls.as_ref()?)
            })
        }));
        columns.extend(COSTS.map(|(name, get)| {
            whole(&format!("{prefix}{name}"), move |line| {
                get(side(line.run?.1.explained.as_ref()?)?)
            })
        }));
    }
    columns
}
