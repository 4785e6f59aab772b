//! Conclusions of a source, and whether they hold here.

use embermark_published::{Source, Verdict};

use super::headlines::Row;
use crate::grid::{Grid, Text};

/// Whether a conclusion holds here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// All headlines that decide it were measured, and are on the same side of 1 as in the source.
    Same,
    /// Not all of them are.
    Other {
        /// Number of those on the same side.
        same: usize,
        /// Number of those that were measured.
        decided: usize,
        /// Number of all that decide it.
        all: usize,
    },
    /// None of them was run, or nothing here decides it.
    Unknown,
}

/// Returns one row per conclusion of a source. `rows` are its headlines.
pub(super) fn table(source: &Source, rows: &[Row]) -> Grid {
    let row = |verdict: &Verdict| {
        let answer = answer(source, verdict, rows);
        let here = match answer {
            Answer::Same => "the same".to_owned(),
            Answer::Other { same, decided, all } => {
                let same = match same {
                    0 => "not the same".to_owned(),
                    same => format!("the same in {same} of {decided}"),
                };
                match all - decided {
                    0 => same,
                    open => format!("{same}, {open} undecided"),
                }
            }
            Answer::Unknown => "not repeated".to_owned(),
        };
        let because = verdict.because.clone().unwrap_or_default();
        (verdict.says.clone(), [here, because].map(Text::new).to_vec())
    };
    let rows = source.verdicts.iter().map(row).collect();
    Grid::new(format!("{}: what it concludes", source.id), ["here, as published", "because"], rows)
}

/// Decides whether a conclusion holds here.
pub(super) fn answer(source: &Source, verdict: &Verdict, rows: &[Row]) -> Answer {
    let decides = |says: &String| {
        let place = source.headlines.iter().position(|headline| headline.says == *says)?;
        // A headline in words means that the first engine takes more.
        let printed = source.headlines[place].compared();
        let there = printed.map_or([f64::MAX; 2], |printed| printed.ratio().ends());
        let here = rows[place].as_published()?;
        let is_greater = there.map(|there| there > 1.0);
        (is_greater[0] == is_greater[1]).then_some(is_greater[0] == (here > 1.0))
    };
    let decided: Vec<bool> = verdict.by.iter().filter_map(decides).collect();
    let all = verdict.by.len();
    match decided.iter().filter(|same| **same).count() {
        _ if decided.is_empty() => Answer::Unknown,
        same if same == all => Answer::Same,
        same => Answer::Other { same, decided: decided.len(), all },
    }
}
