//! What measured the times of phases, if that was a client in another process by its own clock.

use std::collections::BTreeMap;

use embermark_model::result::ResultFile;

use crate::note::{Note, names, note};
use crate::{format, text};

/// Facts that are shown about a client.
#[derive(Default)]
struct Client {
    columns: Vec<String>,
    /// Cost of an operation that does nothing, for each phase of each trial.
    floors: Vec<f64>,
    /// Phases in which one call did many rows.
    at_once: Vec<String>,
}

/// Describes each client with its columns: `Python 3.11.7, sqlite3, SQLite 3.40.1: sqlite-python;
/// an operation that does nothing takes 62.1 ns there; many rows in one call of the package: load,
/// update`.
pub(super) fn notes(file: &ResultFile) -> Vec<Note> {
    let mut clients: BTreeMap<&str, Client> = BTreeMap::new();
    for (cell, phase) in super::phases(file) {
        let Some(by) = &phase.timed_by else { continue };
        let client = clients.entry(by).or_default();
        client.columns.push(text::plain(&cell.id.engine));
        client.floors.extend(phase.client_floor_ns);
        let is_of_rows = phase.kind.is_some_and(|kind| kind.of_rows) && phase.ops > 1;
        if is_of_rows && phase.latency.is_none() && phase.mean_time().is_some() {
            client.at_once.push(text::plain(&phase.phase));
        }
    }
    let line = |(by, Client { columns, mut floors, at_once }): (&str, Client)| {
        floors.sort_by(f64::total_cmp);
        let floor = floors.get(floors.len() / 2).map(|floor| {
            format!("; an operation that does nothing takes {} there", format::duration(*floor))
        });
        let columns = names(text::unique(columns));
        let at_once = match names(at_once) {
            phases if phases.is_empty() => phases,
            phases => format!("; many rows in one call of the package: {phases}"),
        };
        note("", format!("{}: {columns}{}{at_once}", text::plain(by), floor.unwrap_or_default()))
    };
    clients.into_iter().map(line).collect()
}
