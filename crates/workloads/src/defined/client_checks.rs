//! Checks the results of a run of several clients, and the rows that it must leave.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use embermark_language::{KeysOf, Removed, Work};
use embermark_meter::Meter;
use embermark_model::answer::{Answer, Difference, Expected};
use embermark_model::fingerprint::Checksum;

use super::cell::Cell;
use super::client_task::{ClientResult, ClientTaskPart};
use super::kind::changes_rows;
use super::operation_keys::DrawnKey;
use super::oracle::{Touched, existing, print_of, values};
use super::port::{Database, OperationResults};

/// Operations of a phase that one client did: `ops` operations, every `clients`-th from number
/// `client` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientOperations {
    pub phase: usize,
    pub client: usize,
    pub clients: usize,
    pub ops: u64,
    /// The rows that the client read, and the number of rows it changed.
    pub rows: Checksum,
    pub changed: u64,
}

impl ClientOperations {
    /// Returns the numbers of its operations.
    fn operations(&self) -> impl Iterator<Item = usize> {
        let Self { client, clients, ops, .. } = *self;
        (0..ops as usize).map(move |k| client + k * clients)
    }
}

/// Returns the operations that clients did of each of their parts.
pub(super) fn client_operations(done: &[ClientResult]) -> Vec<ClientOperations> {
    let of = |done: &ClientResult| {
        let parts = done.task.parts.iter().zip(&done.meters).zip(&done.found);
        let (client, clients) = (done.task.client, done.task.clients);
        let part = |((part, meter), found): ((&ClientTaskPart, &Meter), &OperationResults)| {
            ClientOperations {
                phase: part.phase,
                client,
                clients,
                ops: meter.measured().ops,
                rows: found.rows,
                changed: found.changed,
            }
        };
        parts.map(part).collect::<Vec<_>>()
    };
    done.iter().flat_map(of).collect()
}

/// Returns the operations that the clients of several machines did of a phase. Their results are
/// unknown.
pub(super) fn operations_by_client(phase: usize, ops: &[u64]) -> Vec<ClientOperations> {
    let clients = ops.len();
    let of = |(client, ops): (usize, &u64)| ClientOperations {
        phase,
        client,
        clients,
        ops: *ops,
        rows: Checksum::default(),
        changed: 0,
    };
    ops.iter().enumerate().map(of).collect()
}

/// Combines the results of clients that share the operations of a phase.
pub(super) fn answer(work: &Work, did: &[ClientOperations]) -> Answer {
    match work {
        Work::Mix(_) => Answer::Count(did.iter().map(|did| did.ops).sum()),
        Work::Get { .. } => Answer::Checksum(did.iter().map(|did| did.rows).collect()),
        _ => Answer::Count(did.iter().map(|did| did.changed).sum()),
    }
}

/// Checks the combined results of clients that share the operations of a phase.
///
/// # Errors
/// Returns the difference.
pub(super) fn check_shared(
    cell: &Cell,
    database: &dyn Database,
    phase: usize,
    did: &[ClientOperations],
    answer: &Answer,
) -> Result<(), Difference> {
    let operations = did.iter().flat_map(ClientOperations::operations);
    let expected = match cell.work(phase) {
        Work::Get { .. } => Expected::Checksum(rows_read(cell, database, phase, operations)),
        // Not every engine reports how many rows an upsert changes, or what reads find while others
        // write.
        Work::Insert { .. } if database.reports_changes() => {
            Expected::Count(did.iter().map(|did| did.ops).sum())
        }
        Work::Update { .. } | Work::Delete { .. } if database.reports_changes() => {
            Expected::Count(existing(cell, phase, operations).count() as u64)
        }
        _ => return Ok(()),
    };
    expected.check(answer)
}

/// Returns the rows that these operations of a phase must read by their keys.
fn rows_read(
    cell: &Cell,
    database: &dyn Database,
    phase: usize,
    operations: impl Iterator<Item = usize>,
) -> Checksum {
    let rows = cell.rows_of(phase);
    let print = |(_, place)| print_of(cell, database, phase, &values(rows, place));
    existing(cell, phase, operations).map(print).collect()
}

/// Expected content of a table after several clients have worked on it.
pub(super) struct ExpectedTable {
    /// Number of rows inserted, from the first.
    pub put: usize,
    pub touched: Touched,
}

/// Returns the expected content of each table that clients changed, by a mix or by a phase whose
/// operations they share.
pub(super) fn expected_tables(
    cell: &Cell,
    clients: &[ClientOperations],
    is_shared: bool,
) -> BTreeMap<usize, ExpectedTable> {
    let mut left: BTreeMap<usize, ExpectedTable> = BTreeMap::new();
    if let (true, Some(Work::Insert { table, .. })) =
        (is_shared, clients.first().map(|did| cell.work(did.phase)))
    {
        // Rows that no client reached are missing.
        let put = cell.tables[*table].loaded;
        let mut missing = vec![true; put];
        clients
            .iter()
            .flat_map(ClientOperations::operations)
            .for_each(|place| missing[place] = false);
        let mut touched = Touched::default();
        (0..put).filter(|place| missing[*place]).for_each(|place| touched.delete(place));
        left.insert(*table, ExpectedTable { put, touched });
        return left;
    }
    for (phase, operations) in clients.iter().map(|did| (did.phase, did.operations())) {
        let work = cell.work(phase);
        let Some(table) = work.table() else { continue };
        let rows = &cell.tables[table];
        if !changes_rows(work) {
            continue;
        }
        let put = rows.taken.load(Ordering::Relaxed).min(rows.staged.rows());
        let new = || ExpectedTable { put, touched: Touched::default() };
        let touched = &mut left.entry(table).or_insert_with(new).touched;
        match work {
            Work::Update { .. } | Work::ReadModifyWrite { .. } => {
                existing(cell, phase, operations)
                    .for_each(|(i, place)| touched.set_by_one(cell, place, phase, i));
            }
            Work::Upsert { .. } => {
                for i in operations {
                    match cell.drawn(phase, i) {
                        DrawnKey::Row(place) => touched.set_by_one(cell, place, phase, i),
                        DrawnKey::Absent(_) => touched.put(cell, phase, i, false),
                    }
                }
            }
            Work::Delete { removed: Removed::Keys { .. }, .. } => {
                existing(cell, phase, operations).for_each(|(_, place)| touched.delete(place));
            }
            _ => {}
        }
    }
    left
}

/// Checks the results of reads of single keys: the rows, or only their number if other clients
/// change the table. Nothing is compared if rows are deleted.
///
/// # Errors
/// Returns the first difference.
pub(super) fn check_reads(
    cell: &Cell,
    database: &dyn Database,
    clients: &[ClientOperations],
) -> Result<(), Difference> {
    let works = || clients.iter().map(|did| cell.work(did.phase));
    let deletes =
        |of: usize| works().any(|w| matches!(w, Work::Delete { table, .. } if *table == of));
    let changes = |of: usize| {
        let changes = |work: &Work| {
            matches!(work, Work::Update { table, .. }
                | Work::Upsert { table, .. }
                | Work::ReadModifyWrite { table, .. } if *table == of)
        };
        works().any(changes)
    };
    for did in clients {
        let (Work::Get { table, keys, .. } | Work::ReadModifyWrite { table, keys, .. }) =
            cell.work(did.phase)
        else {
            continue;
        };
        if deletes(*table) || matches!(keys.of, KeysOf::Newest { .. }) {
            continue;
        }
        let there = rows_read(cell, database, did.phase, did.operations());
        let mut got = did.rows;
        if changes(*table) {
            got.sum = there.sum;
        }
        let name = &cell.definition.phases[did.phase].name;
        let same = Expected::Checksum(there).check(&Answer::Checksum(got));
        same.map_err(|Difference(what)| Difference(format!("{name}: {what}")))?;
    }
    Ok(())
}
