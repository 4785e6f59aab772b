//! Pieces that repeat a source, and which of them were run.

use embermark_model::result::{Cell, Manifest, ResultFile};
use embermark_published::{Piece, Source};

use super::lookup::{Results, window_of};
use crate::cost;
use crate::grid::{Grid, Text};
use crate::statistics::total;
use crate::{format, text};

/// Returns one row per piece.
pub(super) fn table(source: &Source, results: &Results<'_>) -> Grid {
    let row = |piece: &Piece| {
        let files: Vec<&ResultFile> = results.of_piece(source, &piece.name).collect();
        let texts = [
            piece.role.to_string(),
            piece.about.clone(),
            scales(&files),
            engines(&files).join("; "),
            took(&files),
            text::unique(files.iter().filter_map(|file| file.manifest.tool.commit.clone()))
                .join(", "),
            format!("embermark reproduce {} --pieces {}", source.id, piece.name),
        ];
        (piece.name.clone(), texts.map(Text::new).to_vec())
    };
    let header = ["for", "what it does", "scales run", "engines", "took", "commit", "command"];
    let rows = source.pieces.iter().map(row).collect();
    Grid::new(format!("{}: what repeats it", source.id), header, rows)
}

/// Lists the scales, `1k, 10k`, or the samples that were written in place of a scale. Then the
/// windows, which may differ from those of the piece.
fn scales(files: &[&ResultFile]) -> String {
    let samples = text::unique(files.iter().filter_map(|file| cost::samples(&file.plan)));
    let mut scales: Vec<_> =
        files.iter().flat_map(|file| file.cells.iter().map(|cell| cell.id.scale)).collect();
    scales.sort_unstable();
    scales.dedup();
    let sizes: Vec<String> = match samples.is_empty() {
        true => scales.iter().map(ToString::to_string).collect(),
        false => samples.iter().map(|samples| format::counted(*samples, "sample")).collect(),
    };
    if sizes.is_empty() {
        return "not run".to_owned();
    }
    let windows = text::unique(files.iter().filter_map(|file| window_of(file)));
    sizes.into_iter().chain(windows).collect::<Vec<_>>().join(", ")
}

/// Lists the engines with the versions that ran. A client in another language has what it reports
/// of itself: `Python 3.11.7, sqlite3, SQLite 3.40.1`.
fn engines(files: &[&ResultFile]) -> Vec<String> {
    text::unique(files.iter().flat_map(|file| {
        file.cells.iter().filter_map(move |cell| {
            let trial = cell.trials.first()?;
            let client = trial.phases.iter().find_map(|phase| phase.timed_by.clone());
            client.or_else(|| engine_version(file, cell))
        })
    }))
}

/// Returns the name of a cell's engine and its version: `SQLite 3.54.1`.
pub(super) fn engine_version(file: &ResultFile, cell: &Cell) -> Option<String> {
    let engine = file.plan.engine_of(&cell.id.engine);
    let name = file.manifest.engines.get(&cell.id.engine).map_or(engine, |facts| &*facts.name);
    Some(format!("{name} {}", cell.trials.first()?.version.as_ref()?))
}

/// Formats the total time from start to finish, including what is not part of a trial.
fn took(files: &[&ResultFile]) -> String {
    let second = |text: &str| text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second);
    let took = files.iter().filter_map(|file| {
        let Manifest { started, finished, .. } = &file.manifest;
        u64::try_from(second(finished.as_deref()?)? - second(started)?).ok()
    });
    let seconds = total(took);
    if seconds == 0 { String::new() } else { format::duration(seconds as f64 * 1e9) }
}
