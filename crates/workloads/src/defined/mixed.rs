//! What a run of several clients must have found and left.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use embermark_language::{KeysOf, Removed, Work};
use embermark_model::answer::Difference;

use super::bench::changes_rows;
use super::cell::{Cell, table_of};
use super::crew::Done;
use super::draws::Drawn;
use super::oracle::Touched;

/// What a table must hold after several clients have worked on it.
pub(super) struct Left {
    /// How many rows, from the first, were put in.
    pub put: usize,
    pub touched: Touched,
}

/// By the tables that they have changed, what clients left.
pub(super) fn left(cell: &Cell, clients: &[Done]) -> BTreeMap<usize, Left> {
    let mut left: BTreeMap<usize, Left> = BTreeMap::new();
    for (phase, operations) in operations(clients) {
        let work = cell.work(phase);
        let Some(table) = table_of(work) else { continue };
        let rows = &cell.tables[table];
        if !changes_rows(work) {
            continue;
        }
        let put = rows.taken.load(Ordering::Relaxed).min(rows.staged.rows());
        let new = || Left { put, touched: Touched::default() };
        let touched = &mut left.entry(table).or_insert_with(new).touched;
        match work {
            Work::Update { .. } | Work::ReadModifyWrite { .. } => {
                for i in operations {
                    if let Drawn::Row(place) = cell.drawn(phase, i) {
                        touched.set_by_one(cell, place, phase, i);
                    }
                }
            }
            Work::Delete { removed: Removed::Keys { .. }, .. } => {
                for i in operations {
                    if let Drawn::Row(place) = cell.drawn(phase, i) {
                        touched.delete(place);
                    }
                }
            }
            _ => {}
        }
    }
    left
}

/// Compares how many rows the reads of single keys found with how many there were to find, where no row
/// of their table is deleted meanwhile.
///
/// # Errors
/// The first difference.
pub(super) fn check_reads(cell: &Cell, clients: &[Done]) -> Result<(), Difference> {
    let deleted: Vec<usize> = (clients.iter().flat_map(|done| &done.duty.parts))
        .filter_map(|part| match cell.work(part.phase) {
            Work::Delete { table, .. } => Some(*table),
            _ => None,
        })
        .collect();
    for done in clients {
        for (at, part) in done.duty.parts.iter().enumerate() {
            let (Work::Get { table, keys } | Work::ReadModifyWrite { table, keys, .. }) =
                cell.work(part.phase)
            else {
                continue;
            };
            if deleted.contains(table) || matches!(keys.of, KeysOf::Newest { .. }) {
                continue;
            }
            let there =
                own(done, at).filter(|i| matches!(cell.drawn(part.phase, *i), Drawn::Row(_)));
            let (there, got) = (there.count() as u64, done.found[at].rows.rows);
            if there != got {
                let name = &cell.definition.phases[part.phase].name;
                return Err(Difference(format!("{name}: expected {there} rows, got {got}")));
            }
        }
    }
    Ok(())
}

/// Which operations a client did of one of its parts.
fn own(done: &Done, part: usize) -> impl Iterator<Item = usize> {
    let (client, clients) = (done.duty.client, done.duty.clients);
    let ops = done.meters[part].measured().ops as usize;
    (0..ops).map(move |k| client + k * clients)
}

/// Phases with the operations that were done of them.
fn operations(clients: &[Done]) -> impl Iterator<Item = (usize, Vec<usize>)> {
    clients.iter().flat_map(|done| {
        let parts = done.duty.parts.iter().enumerate();
        parts.map(|(at, part)| (part.phase, own(done, at).collect()))
    })
}
