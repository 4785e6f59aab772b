//! Checks the results of a run of several clients, and the rows that it must leave.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use embermark_language::{KeysOf, Work};
use embermark_model::answer::{Answer, Difference};
use embermark_model::fingerprint::Checksum;

use super::client_task::ClientResult;
use super::kind::{changes_rows, keys_of, sets_by_key};
use super::oracle::{Touched, existing, print_of, values};
use super::{Cell, Database};

/// Operations of a phase that one client did: `ops` operations, every `clients`-th from number
/// `client` on.
#[derive(Clone, Copy, Debug, Default)]
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
    pub(super) fn operations(&self) -> impl Iterator<Item = usize> {
        let Self { client, clients, ops, .. } = *self;
        (0..ops as usize).map(move |k| client + k * clients)
    }
}

/// Returns the operations that clients did of each of their parts.
pub(super) fn client_operations(done: &[ClientResult]) -> Vec<ClientOperations> {
    let mut all = Vec::new();
    for ClientResult { task, meters, found } in done {
        for ((part, meter), found) in task.parts.iter().zip(meters).zip(found) {
            all.push(ClientOperations {
                phase: part.phase,
                client: task.client,
                clients: task.clients,
                ops: meter.measured().ops,
                rows: found.rows,
                changed: found.changed,
            });
        }
    }
    all
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
        ..ClientOperations::default()
    };
    ops.iter().enumerate().map(of).collect()
}

/// Combines the results of clients that share the operations of a phase.
pub(super) fn answer(work: &Work, did: &[ClientOperations]) -> Answer {
    match work {
        Work::Mix(_) => Answer::Count(did.iter().map(|did| did.ops).sum()),
        Work::Get { .. } | Work::Range(_) => {
            Answer::Checksum(did.iter().map(|did| did.rows).collect())
        }
        _ => Answer::Count(did.iter().map(|did| did.changed).sum()),
    }
}

/// Checks the combined results of clients that share the operations of a phase, except those of
/// ranges.
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
        Work::Get { .. } => Answer::Checksum(rows_read(cell, database, phase, operations)),
        // Not every engine reports how many rows an upsert changes, or what reads find while others
        // write.
        Work::Insert { .. } if database.reports_changes() => {
            Answer::Count(did.iter().map(|did| did.ops).sum())
        }
        Work::Update { .. } | Work::ReadModifyWrite { .. } | Work::Delete { .. }
            if database.reports_changes() =>
        {
            Answer::Count(existing(cell, phase, operations).count() as u64)
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
        if keys_of(work).is_some() {
            touched.by_key(cell, phase, operations, false);
        }
    }
    left
}

/// Checks the results of reads of single keys: the rows, or only their number if other clients
/// change the table. Nothing is compared where other clients delete or add what is read.
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
    let adds = |of: usize| {
        works().any(|work| match work {
            Work::Upsert { table, keys, .. } => *table == of && keys.absent > 0.0,
            _ => false,
        })
    };
    let changes = |of: usize| works().any(|work| sets_by_key(work) && work.table() == Some(of));
    for did in clients {
        let (Work::Get { table, keys, .. } | Work::ReadModifyWrite { table, keys, .. }) =
            cell.work(did.phase)
        else {
            continue;
        };
        let is_unknown = deletes(*table)
            || matches!(keys.of, KeysOf::Newest { .. })
            || (keys.absent > 0.0 && adds(*table));
        if is_unknown {
            continue;
        }
        let there = rows_read(cell, database, did.phase, did.operations());
        let mut got = did.rows;
        if changes(*table) {
            got.sum = there.sum;
        }
        let name = &cell.definition.phases[did.phase].name;
        let same = Answer::Checksum(there).check(&Answer::Checksum(got));
        same.map_err(|Difference(what)| Difference(format!("{name}: {what}")))?;
    }
    Ok(())
}
