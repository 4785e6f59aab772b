//! Results of the experiments, for a terminal.

mod notes;

use std::cmp::Ordering;

use comfy_table::{ColumnConstraint, ContentArrangement, Table};
use embermark_durability::journal::Outcome;
use embermark_durability::{Experiment, Loss, Tested};
use embermark_report::evidence::{findings, full_disk_text};

use crate::output;

/// Smallest width of the tables. A narrower terminal wraps their lines.
const NARROWEST: usize = 100;

/// Index of the column in the first table that takes the remaining width.
const FOUND_COLUMN: usize = 5;

/// Formats the findings, the times to open and to commit, the key, and the folders of violations in
/// lines of `width` columns.
pub(super) fn text(outcome: &Outcome, width: usize) -> String {
    let (head, width) = (&outcome.head, width.max(NARROWEST));
    let mut text = format!(
        "What was left of acknowledged commits\n{} on {}, {}, seed {}\n",
        head.begun, head.file_system, head.kernel, head.seed,
    );
    if let Some(storage) = &head.storage {
        let imitated = embermark_report::imitated(storage.name.as_str());
        text.push_str(&format!("killed on {}, {imitated}\n", storage.name));
    }
    if outcome.tested.iter().any(is_interrupted) {
        for table in [findings_table(outcome, width), times_table(outcome)] {
            text.push_str(&format!("\n{}\n", table.trim_fmt()));
        }
    }
    if let Some(full_disk) = full_disk_text(outcome, width) {
        text.push_str(&format!("\n{}\n", full_disk.trim_end()));
    }
    text.push('\n');
    notes::write(outcome, width, &mut text);
    text
}

/// Whether an experiment belongs to the tables of interruptions. A full disk has its own table.
fn is_interrupted(tested: &Tested) -> bool {
    tested.experiment != Experiment::FullDisk
}

/// Returns the findings, one row per experiment.
fn findings_table(outcome: &Outcome, width: usize) -> Table {
    let header =
        ["engine", "version", "tier", "experiment", "tried", "found", "lost: median, worst"];
    let mut table = output::table(header);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width as u16);
    for tested in outcome.tested.iter().filter(|one| is_interrupted(one)) {
        table.add_row([
            tested.engine.clone(),
            tested.version.clone(),
            tier(tested),
            tested.experiment.name().to_owned(),
            tested.tried.to_string(),
            findings(tested, "").join(", "),
            tested.loss.as_ref().map_or_else(dash, lost),
        ]);
    }
    for (at, column) in table.column_iter_mut().enumerate() {
        if at != FOUND_COLUMN {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    table
}

/// Returns how long a database takes to open after each experiment, and what a commit writes, one
/// row per tier.
fn times_table(outcome: &Outcome) -> Table {
    let of = |experiment| move |tested: &&Tested| tested.experiment == experiment;
    let all = [Experiment::Kill, Experiment::PowerCut, Experiment::DeviceLies];
    let made = || all.into_iter().filter(|one| outcome.tested.iter().any(|t| of(*one)(&t)));
    let opens = made().map(|one| format!("opens after a {}\n(after a close)", one.name()));
    let header = ["engine", "tier"].map(str::to_owned).into_iter().chain(opens);
    let mut table = output::table(header.chain(["a commit writes".to_owned()]));
    let interrupted: Vec<&Tested> =
        outcome.tested.iter().filter(|one| is_interrupted(one)).collect();
    for (at, first) in interrupted.iter().enumerate() {
        let is_same =
            |one: &&Tested| one.engine == first.engine && one.durability == first.durability;
        if interrupted[..at].iter().any(is_same) {
            continue;
        }
        let same = || interrupted.iter().copied().filter(is_same);
        let opens = made().map(|one| same().find(of(one)).map_or_else(dash, opens_in));
        let row = [first.engine.clone(), tier(first)].into_iter().chain(opens);
        let commit = same().find_map(|tested| tested.commit).map_or_else(dash, |io| {
            let each = |n: u64| n as f64 / io.commits.max(1) as f64;
            format!("{:.1} KB, {:.2} flushes", each(io.bytes) / 1e3, each(io.flushes))
        });
        table.add_row(row.chain([commit]));
    }
    table
}

fn tier(tested: &Tested) -> String {
    match tested.effective_durability {
        Some(effective) => format!("{} ({effective})", tested.durability),
        None => tested.durability.to_string(),
    }
}

fn lost(loss: &Loss) -> String {
    let at_least = if loss.everything { ">=" } else { "" };
    let commits = format!("{}, {at_least}{} commits", loss.median_commits, loss.worst_commits);
    format!("{commits}\n{}, {at_least}{}", ms(loss.median_ms), ms(loss.worst_ms))
}

fn opens_in(tested: &Tested) -> String {
    let opens = |ns: Option<u64>| ns.map_or_else(dash, |ns| ms(ns as f64 / 1e6));
    match (tested.open_ns, tested.clean_open_ns) {
        (None, None) => dash(),
        (open, clean) => format!("{} ({})", opens(open), opens(clean)),
    }
}

fn ms(ms: f64) -> String {
    match ms.partial_cmp(&1000.0) {
        Some(Ordering::Less) => format!("{ms:.1} ms"),
        _ => format!("{:.1} s", ms / 1e3),
    }
}

fn dash() -> String {
    "-".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture() -> Outcome {
        let path = "../report/tests/fixtures/durability-1.json";
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        serde_json::from_str(&text).unwrap()
    }

    fn width(line: &str) -> usize {
        line.chars().count()
    }

    /// Commands are copied by the reader, so they are not wrapped.
    fn is_command(line: &str) -> bool {
        ["cp ", "mount ", "ls "].iter().any(|begin| line.trim_start().starts_with(begin))
    }

    #[test]
    fn it_fits_the_width_and_wraps_nothing_but_what_was_found() {
        let outcome = fixture();
        for columns in [100, 120, 200] {
            let text = text(&outcome, columns);
            for line in text.lines().filter(|line| !is_command(line)) {
                assert!(width(line) <= columns, "{} columns: {line}", width(line));
            }
            for tested in &outcome.tested {
                let words = [&tested.engine, &tested.version, tested.durability.name()];
                let is_row = |line: &str| {
                    let row: Vec<&str> = line.split_whitespace().collect();
                    row.len() > 4 && row[..3] == words && row.contains(&&*tested.tried.to_string())
                };
                assert!(text.lines().any(is_row), "{words:?} in\n{text}");
            }
        }
        assert_eq!(text(&outcome, 40), text(&outcome, NARROWEST));
    }

    #[test]
    fn what_is_rare_stands_below_with_what_it_is_of() {
        let mut outcome = fixture();
        let text_of = |outcome: &Outcome| text(outcome, 120);
        for tested in &mut outcome.tested {
            (tested.not_mounted, tested.exhaustive) = (0, None);
        }
        outcome.not_tried.clear();
        let without = text_of(&outcome);
        for word in ["not mounted", "exhaustive", "not tried", "failed"] {
            assert!(!without.contains(word), "{word} in\n{without}");
        }
        outcome.tested[0].not_mounted = 29;
        let (engine, tier) = (&outcome.tested[0].engine, outcome.tested[0].durability);
        let not = |experiment, failed| embermark_durability::journal::NotTried {
            engine: "zen".into(),
            durability: tier,
            experiment,
            why: "it is not here".into(),
            failed,
        };
        let all = [Experiment::Kill, Experiment::PowerCut].map(|one| not(one, false));
        let said = format!("{engine} {tier} 29");
        outcome.not_tried.extend(all);
        outcome.not_tried.push(not(Experiment::DeviceLies, true));
        let with = text_of(&outcome);
        // Line breaks do not matter here.
        let in_a_row = with.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(in_a_row.contains(&said), "{with}");
        let lines = [
            format!("  not tried    zen {tier}, kill and power cut: it is not here"),
            format!("  failed       zen {tier}, {}: it is not here", Experiment::DeviceLies.name()),
        ];
        for line in lines {
            assert!(with.lines().any(|other| *other == line), "{line} in\n{with}");
        }
    }

    #[test]
    fn a_row_has_the_time_to_open_after_each_experiment() {
        let outcome = fixture();
        let text = text(&outcome, 120);
        let (_, takes) = text.split_once("(after a close)").unwrap();
        let rows = takes.lines().filter(|line| line.contains("flushes")).count();
        let commits = outcome.tested.iter().filter(|tested| tested.commit.is_some());
        let tiers: std::collections::BTreeSet<_> =
            commits.map(|tested| (&tested.engine, tested.durability.name())).collect();
        assert_eq!(rows, tiers.len(), "{text}");
    }
}
