//! What a run of several clients must have found and left.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use embermark_language::{KeysOf, Removed, Work};
use embermark_model::answer::{Answer, Difference, Expected};
use embermark_model::fingerprint::Checksum;

use super::cell::{Cell, changes_rows};
use super::crew::Done;
use super::draws::Drawn;
use super::oracle::{Touched, values};
use super::port::{Database, fingerprint};

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
        let Some(table) = work.table() else { continue };
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
            Work::Upsert { .. } => {
                for i in operations {
                    match cell.drawn(phase, i) {
                        Drawn::Row(place) => touched.set_by_one(cell, place, phase, i),
                        Drawn::Absent(_) => touched.put(cell, phase, i, false),
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

/// Compares what the reads of single keys found with what there was to find: the rows, or, where rows of
/// their table are changed meanwhile, how many; nothing where rows are deleted.
///
/// # Errors
/// The first difference.
pub(super) fn check_reads(
    cell: &Cell,
    database: &dyn Database,
    clients: &[Done],
) -> Result<(), Difference> {
    let works = || clients.iter().flat_map(|done| &done.duty.parts).map(|p| cell.work(p.phase));
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
    for done in clients {
        for (at, part) in done.duty.parts.iter().enumerate() {
            let (Work::Get { table, keys, .. } | Work::ReadModifyWrite { table, keys, .. }) =
                cell.work(part.phase)
            else {
                continue;
            };
            if deletes(*table) || matches!(keys.of, KeysOf::Newest { .. }) {
                continue;
            }
            let mut there = Checksum::default();
            for i in own(done, at) {
                if let Drawn::Row(place) = cell.drawn(part.phase, i) {
                    let row = values(&cell.tables[*table], place);
                    let print = database.print(part.phase, &row);
                    there += print.unwrap_or_else(|| fingerprint(row));
                }
            }
            let mut got = done.found[at].rows;
            if changes(*table) {
                got.sum = there.sum;
            }
            let name = &cell.definition.phases[part.phase].name;
            let same = Expected::Checksum(there).check(&Answer::Checksum(got));
            same.map_err(|Difference(what)| Difference(format!("{name}: {what}")))?;
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
