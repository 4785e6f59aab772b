//! A table of what engines did when their disk was full, with a row per engine and tier.

use embermark_model::durability_result::{Fill, FullDisk, Outcome, Tested, Tried, Verdict};

use crate::Options;
use crate::document::{self, Block};
use crate::grid::{Annotated, Grid, Text};
use crate::note::{Note, note};
use crate::{format, text};

/// The columns and what they mean.
const KEY: [(&str, &str); 6] = [
    (
        "when full",
        "how the work ended, and after how long: with another file in what it left, so that not a block is free",
    ),
    ("reads", "whether the same process reads every row on the full disk"),
    (
        "with room again",
        "whether commits continue after a file was removed: in the same process, and after what time, or when the database was opened again",
    ),
    (
        "a removal",
        "whether the removal of a quarter of the rows, when the disk is full again, makes room for commits",
    ),
    (
        "opens when full",
        "whether another process opens and reads it on the full disk, when the first was killed in a commit",
    ),
    (
        "rows",
        "whether the database always has every acknowledged commit, and of a refused one all or nothing; brackets mark what breaks no promise",
    ),
];

/// Longest message that is shown, in characters. The result file has all of it.
const LONGEST: usize = 300;

/// Formats the table in lines of `width` columns. `None` if no disk was filled.
pub fn full_disk_text(run: &Outcome, width: usize) -> Option<String> {
    let blocks = [Block::Table(full_disk(&run.tested)?, Vec::new())];
    Some(document::terminal(&blocks, &Options { width, ..Options::default() }))
}

/// Formats the table as Markdown for GitHub.
pub fn full_disk_markdown(run: &Outcome) -> Option<String> {
    Some(document::markdown(&[Block::Table(full_disk(&run.tested)?, Vec::new())]))
}

/// Returns the table, its key, and the messages of engines.
pub(crate) fn full_disk<'a>(tested: impl IntoIterator<Item = &'a Tested>) -> Option<Annotated> {
    let all = tested.into_iter().filter_map(|one| Some((one, one.full_disk.as_ref()?)));
    let all: Vec<(&Tested, &FullDisk)> = all.collect();
    all.first()?;
    let rows = all.iter().map(|(one, full)| (label(one), row(one, full))).collect();
    let grid = Grid::new("When the disk is full", KEY.map(|(column, _)| column), rows);
    let key = KEY.into_iter().map(|(about, says)| note(about, says));
    let sizes = text::by_key(all.iter().map(|(one, full)| (sizes(full), label(one))));
    let sizes = sizes.into_iter().map(|(says, of)| format!("{}: {says}", of.join(", ")));
    let sizes = sizes.map(|says| note("disks", says));
    let said = all.iter().flat_map(|(one, full)| messages(&label(one), full));
    Some(Annotated { grid, notes: key.chain(sizes).chain(said).collect() })
}

fn label(tested: &Tested) -> String {
    let (engine, version) = (text::plain(&tested.engine), text::clipped(&tested.version, 24));
    format!("{engine} {version} {}", tested.durability)
}

/// Facts that differ between disks have their count.
fn row(tested: &Tested, full: &FullDisk) -> Vec<Text> {
    let each = |name: &dyn Fn(&Fill) -> String| counted(full.fills.iter().map(name));
    let times = |of: &dyn Fn(&Fill) -> Option<f64>| between(full.fills.iter().filter_map(of));
    let rows = |verdict: Verdict| match (verdict, tested.is_promised() && verdict.is_violation()) {
        (Verdict::Holds, _) => "all there".to_owned(),
        (_, true) => verdict.name().to_owned(),
        (_, false) => format!("({})", verdict.name()),
    };
    let texts = [
        each(&|fill| fill.stopped.is.name().to_owned()) + &times(&|fill| fill.stopped_ms),
        each(&|fill| fill.reads.is.name().to_owned()),
        each(&|fill| fill.goes_on.is.name().to_owned()) + &times(&|fill| fill.goes_on_ms),
        each(&|fill| fill.deletes.is.name().to_owned()),
        each(&|fill| fill.opens.is.name().to_owned()),
        each(&|fill| rows(fill.verdict)),
    ];
    texts.map(Text::new).into()
}

/// Describes the disks: `3 disks of 64 MiB, of which the work had 27 to 31; room again is 13 MiB`.
fn sizes(full: &FullDisk) -> String {
    let mib = |bytes: u64| format!("{:.0}", bytes as f64 / f64::from(1 << 20));
    let rooms = || full.fills.iter().map(|fill| fill.room_bytes);
    let (least, most) = (mib(rooms().min().unwrap_or(0)), mib(rooms().max().unwrap_or(0)));
    let had = if least == most { least } else { format!("{least} to {most}") };
    let disks = format::counted(full.fills.len() as u64, "disk");
    let (size, room) = (mib(full.disk_bytes), mib(full.ballast_bytes));
    format!("{disks} of {size} MiB, of which the work had {had}; room again is {room} MiB")
}

/// Lists the messages of an engine without duplicates.
fn messages(label: &str, full: &FullDisk) -> Option<Note> {
    let of = |message: &dyn Fn(&Fill) -> Option<&String>| {
        let said = full.fills.iter().filter_map(message);
        text::unique(said.filter(|said| !said.is_empty()).map(|said| text::clipped(said, LONGEST)))
    };
    let all = [
        of(&|fill| fill.stopped.message.as_ref()),
        of(&|fill| fill.reads.message.as_ref().filter(|_| fill.reads.is != Tried::NotAsked)),
        of(&|fill| fill.goes_on.message.as_ref()),
        of(&|fill| fill.deletes.message.as_ref()),
        of(&|fill| fill.opens.message.as_ref()),
        of(&|fill| fill.found.as_ref()),
    ];
    let told = KEY.into_iter().zip(all).filter(|(_, said)| !said.is_empty());
    let told = told.map(|((column, _), said)| format!("{column}: {}", said.join(" | ")));
    let told = text::joined(told, "; ");
    (!told.is_empty()).then(|| note(label, told))
}

/// Lists the values, with their counts if they differ.
fn counted(all: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = all.collect();
    let times = |one: &String| all.iter().filter(|other| *other == one).count();
    match &text::unique(all.iter())[..] {
        [one] => (*one).clone(),
        several => text::joined(several.iter().map(|one| format!("{} {one}", times(one))), ", "),
    }
}

/// Formats the shortest and the longest time: ` (0.8 to 2.0 ms)`.
fn between(all: impl Iterator<Item = f64>) -> String {
    let all: Vec<f64> = all.collect();
    let end = |of: fn(f64, f64) -> f64| all.iter().copied().reduce(of).map(time);
    match (end(f64::min), end(f64::max)) {
        (Some(least), Some(most)) if least == most => format!(" ({least})"),
        (Some(least), Some(most)) => format!(" ({least} to {most})"),
        _ => String::new(),
    }
}

/// Formats a time in ms, or in s from 1 s.
fn time(ms: f64) -> String {
    match ms {
        ..10.0 => format!("{ms:.1} ms"),
        ..1000.0 => format!("{ms:.0} ms"),
        _ => format!("{:.1} s", ms / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use embermark_model::Durability;
    use embermark_model::durability_result::{
        CommitRecovery, DeleteOutcome, Experiment, Observation, Stopped,
    };

    use super::*;

    fn fill(ms: f64, goes_on: CommitRecovery, verdict: Verdict) -> Fill {
        Fill {
            seed: 1,
            room_bytes: 30 << 20,
            commits: 900,
            free_bytes: 0,
            stopped: Observation::with_message(Stopped::Error, "database or disk is full"),
            stopped_ms: Some(ms),
            reads: Observation::new(Tried::Yes),
            goes_on: Observation::new(goes_on),
            goes_on_ms: None,
            deletes: Observation::with_message(DeleteOutcome::Refused, "database or disk is full"),
            opens: Observation::new(Tried::Yes),
            verdict,
            found: (verdict != Verdict::Holds).then(|| "read on the full disk".to_owned()),
        }
    }

    fn tested(durability: Durability, fills: Vec<Fill>) -> Tested {
        let (disk_bytes, ballast_bytes) = (64 << 20, 12 << 20);
        Tested {
            engine: "alpha".to_owned(),
            configuration: None,
            version: "1.2".to_owned(),
            durability,
            effective_durability: None,
            experiment: Experiment::FullDisk,
            tried: 2,
            second: 0,
            not_mounted: 0,
            torn_blocks: 0,
            exhaustive: None,
            verdicts: BTreeMap::new(),
            loss: None,
            open_ns: None,
            clean_open_ns: None,
            commit: None,
            full_disk: Some(FullDisk { disk_bytes, ballast_bytes, fills }),
            took_ms: 0,
            examples: Vec::new(),
        }
    }

    fn cells(tested: &Tested) -> Vec<String> {
        let table = full_disk([tested]).unwrap();
        table.grid.rows[0].1.iter().map(|text| text.value.clone()).collect()
    }

    #[test]
    fn what_every_disk_did_is_told_once_and_what_differs_with_how_often() {
        let same = [0.84, 12.3].map(|ms| fill(ms, CommitRecovery::ByItself, Verdict::Holds));
        let cells_of_same = cells(&tested(Durability::Power, same.into()));
        let expected =
            ["an error (0.8 ms to 12 ms)", "yes", "by itself", "refused", "yes", "all there"];
        assert_eq!(cells_of_same, expected);
        let other = [
            fill(2000.0, CommitRecovery::No, Verdict::LostCommits),
            fill(2000.0, CommitRecovery::Reopened, Verdict::Holds),
        ];
        let cells_of_other = cells(&tested(Durability::Power, other.clone().into()));
        assert_eq!(cells_of_other[0], "an error (2.0 s)");
        assert_eq!(cells_of_other[2], "1 no, 1 opened again");
        assert_eq!(cells_of_other[5], "1 lost acknowledged commits, 1 all there");
        let unpromised = cells(&tested(Durability::None, other.into()));
        assert_eq!(unpromised[5], "1 (lost acknowledged commits), 1 all there");
    }

    #[test]
    fn what_an_engine_said_stands_below_once() {
        let lost = fill(1.0, CommitRecovery::ByItself, Verdict::LostCommits);
        let table = full_disk([&tested(Durability::Power, vec![lost.clone(), lost])]).unwrap();
        let of = |about: &str| table.notes.iter().find(|note| note.about == about).unwrap();
        let expected = "when full: database or disk is full; a removal: database or disk is full; rows: read on the full disk";
        assert_eq!(of("alpha 1.2 power").says, expected);
        let disks =
            "alpha 1.2 power: 2 disks of 64 MiB, of which the work had 30; room again is 12 MiB";
        assert_eq!(of("disks").says, disks);
        let mut none = tested(Durability::Power, Vec::new());
        none.full_disk = None;
        assert!(full_disk([&none]).is_none());
    }
}
