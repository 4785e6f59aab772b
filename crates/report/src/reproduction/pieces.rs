//! The pieces that repeat a source, and which of them were run.

use embermark_model::result::ResultFile;
use embermark_published::{Piece, Source};

use super::found::Results;
use crate::grid::{Grid, Text};
use crate::statistics::total;
use crate::{format, text};

/// A row for each piece.
pub(super) fn table(source: &Source, results: &Results<'_>) -> Grid {
    let row = |piece: &Piece| {
        let files: Vec<&ResultFile> = results.of_piece(source, &piece.name).collect();
        let texts = [
            piece.role.to_string(),
            piece.about.clone(),
            scales(&files),
            took(&files),
            text::unique(files.iter().filter_map(|file| file.manifest.tool.commit.clone()))
                .join(", "),
            format!("embermark reproduce {} --pieces {}", source.id, piece.name),
        ];
        (piece.name.clone(), texts.map(Text::of).to_vec())
    };
    let header = ["for", "what it does", "scales run", "took", "commit", "command"];
    Grid {
        title: format!("{}: what repeats it", source.id),
        header: header.map(str::to_owned).to_vec(),
        rows: source.pieces.iter().map(row).collect(),
    }
}

/// `1k, 10k`, and the windows, of which a run may have others than its piece.
fn scales(files: &[&ResultFile]) -> String {
    let mut scales: Vec<_> =
        files.iter().flat_map(|file| file.cells.iter().map(|cell| cell.id.scale)).collect();
    scales.sort_unstable();
    scales.dedup();
    match scales.as_slice() {
        [] => "not run".to_owned(),
        scales => {
            let scales = scales.iter().map(ToString::to_string);
            scales.chain(windows(files)).collect::<Vec<_>>().join(", ")
        }
    }
}

/// `a window of 15 min after 5 min`, where phases last by the clock.
fn windows(files: &[&ResultFile]) -> Vec<String> {
    let of_ms = |ms: u64| format::duration(ms as f64 * 1e6);
    text::unique(files.iter().filter_map(|file| {
        let window = format!("a window of {}", of_ms(file.plan.window_ms?));
        let warm_up = file.plan.warm_up_ms.filter(|ms| *ms > 0);
        Some(warm_up.map_or(window.clone(), |ms| format!("{window} after {}", of_ms(ms))))
    }))
}

/// The time of all trials together.
fn took(files: &[&ResultFile]) -> String {
    let trials = files.iter().flat_map(|file| &file.cells).flat_map(|cell| &cell.trials);
    let ns = total(trials.map(|trial| trial.wall_ns));
    if ns == 0 { String::new() } else { format::duration(ns as f64) }
}
