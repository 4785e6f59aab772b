//! Pieces that repeat a source, and which of them were run.

use embermark_model::result::{Manifest, ResultFile};
use embermark_published::{Piece, Source};

use super::lookup::{Results, window_of};
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
            took(&files),
            text::unique(files.iter().filter_map(|file| file.manifest.tool.commit.clone()))
                .join(", "),
            format!("embermark reproduce {} --pieces {}", source.id, piece.name),
        ];
        (piece.name.clone(), texts.map(Text::new).to_vec())
    };
    let header = ["for", "what it does", "scales run", "took", "commit", "command"];
    Grid {
        title: format!("{}: what repeats it", source.id),
        header: header.map(str::to_owned).to_vec(),
        rows: source.pieces.iter().map(row).collect(),
    }
}

/// Lists the scales, `1k, 10k`, and the windows, which may differ from those of the piece.
fn scales(files: &[&ResultFile]) -> String {
    let mut scales: Vec<_> =
        files.iter().flat_map(|file| file.cells.iter().map(|cell| cell.id.scale)).collect();
    scales.sort_unstable();
    scales.dedup();
    match scales.as_slice() {
        [] => "not run".to_owned(),
        scales => {
            let scales = scales.iter().map(ToString::to_string);
            scales
                .chain(text::unique(files.iter().filter_map(|file| window_of(file))))
                .collect::<Vec<_>>()
                .join(", ")
        }
    }
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
