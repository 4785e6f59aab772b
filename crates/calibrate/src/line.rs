//! A comparison and its presentation.

use comfy_table::{CellAlignment, Table, TableStyle};
use embermark_report::format;
use embermark_report::statistics::{interval, median};

/// Ratios that count as equal.
const SAME: std::ops::RangeInclusive<f64> = 0.95..=1.05;

/// Where other ratios are explained.
const EXPLAINED: &str = "docs/calibration.md";

/// One piece of work done by both sides, in pairs.
#[derive(Clone, Debug)]
pub struct Line {
    engine: String,
    work: &'static str,
    tool: &'static str,
    /// Time per operation in ns.
    ours: Vec<f64>,
    theirs: Vec<f64>,
}

impl Line {
    /// Makes a comparison without measurements.
    pub fn new(engine: &str, version: &str, work: &'static str, tool: &'static str) -> Self {
        let engine = format!("{engine} {version}");
        Self { engine, work, tool, ours: Vec::new(), theirs: Vec::new() }
    }

    /// Adds a pair of embermark's time and the other one's, in ns per operation.
    pub fn push(&mut self, [ours, theirs]: [f64; 2]) {
        self.ours.push(ours);
        self.theirs.push(theirs);
    }

    /// Whether anything was measured.
    pub fn has_figures(&self) -> bool {
        !self.ours.is_empty()
    }

    /// Returns embermark's time over the other one's for each pair, which cancels what slows both.
    fn ratios(&self) -> Vec<f64> {
        self.ours.iter().zip(&self.theirs).map(|(ours, theirs)| ours / theirs).collect()
    }

    /// Returns the median of the pairs' ratios.
    pub fn ratio(&self) -> Option<f64> {
        median(&self.ratios())
    }

    /// Describes the result in one line.
    pub fn brief(&self) -> String {
        let ratio = format::or_dash(self.ratio(), |ratio| format!("{ratio:.3}"));
        format!("  {}: {ratio} of {}", self.work, self.tool)
    }

    fn verdict(&self) -> String {
        match self.ratio() {
            Some(ratio) if SAME.contains(&ratio) => "within 5 %".to_owned(),
            Some(_) => format!("see {EXPLAINED}"),
            None => "not measured".to_owned(),
        }
    }

    fn cells(&self) -> [String; 7] {
        let ratio = |ratio: f64| format!("{ratio:.3}");
        let interval = interval(&self.ratios());
        let [ours, theirs] =
            [&self.ours, &self.theirs].map(|side| format::or_dash(median(side), format::duration));
        [
            self.engine.clone(),
            self.work.to_owned(),
            ours,
            format!("{theirs} {}", self.tool),
            format::or_dash(self.ratio(), ratio),
            format::or_dash(interval, |[low, high]| format!("{low:.3}-{high:.3}")),
            self.verdict(),
        ]
    }
}

/// Formats all comparisons as a table.
pub fn table(lines: &[Line]) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_header(["engine", "work", "ours", "theirs", "ratio", "95 %", "verdict"]);
    for line in lines {
        table.add_row(line.cells());
    }
    for number in [2, 4, 5] {
        if let Some(column) = table.column_mut(number) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(ours: [f64; 3], theirs: [f64; 3]) -> Line {
        let mut line = Line::new("lmdb", "0.9.70", "read", "bare C loop");
        ours.into_iter().zip(theirs).for_each(|(ours, theirs)| line.push([ours, theirs]));
        line
    }

    #[test]
    fn a_ratio_within_five_percent_is_the_same_and_others_are_explained() {
        let same = line([104.0, 180.0, 900.0], [100.0, 200.0, 300.0]);
        assert_eq!(same.ratio(), Some(1.04), "the median of 1.04, 0.9 and 3");
        assert_eq!(same.verdict(), "within 5 %");
        assert_eq!(same.brief(), "  read: 1.040 of bare C loop");
        assert_eq!(line([106.0; 3], [100.0; 3]).verdict(), "see docs/calibration.md");
        assert_eq!(line([94.0; 3], [100.0; 3]).verdict(), "see docs/calibration.md");
    }

    #[test]
    fn the_table_shows_both_sides_their_ratio_and_its_interval() {
        let shown = table(&[line([104.0, 104.0, 106.0], [100.0; 3])]);
        for part in ["lmdb 0.9.70", "104 ns", "100 ns bare C loop", "1.040", "1.040-1.060"] {
            assert!(shown.contains(part), "{part} is not in\n{shown}");
        }
    }

    #[test]
    fn what_was_not_measured_is_no_number() {
        let nothing = Line::new("x", "1", "read", "tool");
        assert_eq!((nothing.ratio(), nothing.has_figures()), (None, false));
        assert!(table(&[nothing]).contains("not measured"));
    }
}
