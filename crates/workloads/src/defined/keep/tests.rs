use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use embermark_contract::{EngineError, Reopener};
use embermark_engines::{OpenOptions, registry};
use embermark_language::{Definition, PUBLISHED, Query, Work, parse};
use embermark_meter::Meter;
use embermark_model::fingerprint::{Checksum, Fingerprint};
use embermark_model::plan::DataSource;
use embermark_model::result::Latency;
use embermark_model::table::Value;
use embermark_model::{Durability, Scale};

use super::super::Defined;
use super::super::cell::Cell;
use super::super::oracle::check_newest;
use super::super::port::{Found, fingerprint};
use super::super::row::owned;
use super::super::{phases, source};
use super::{Calendar, Content};
use crate::{PhaseObserver, Source as _, Spec, WorkloadError};

fn retention() -> &'static str {
    PUBLISHED.iter().find(|(name, _)| *name == "retention").unwrap().1
}

/// Returns the cell of a workload file whose rows are in a folder.
pub fn cell(text: &str, scale: Scale, folder: &Path) -> Result<Cell, WorkloadError> {
    let definition = parse("kept.toml", text, &[]).unwrap_or_else(|e| panic!("{e}"));
    let definition: &'static Definition = Box::leak(Box::new(definition));
    let staged = folder.join("staged");
    let folder = folder.to_owned();
    let rows = source::FileRows { definition, folder, seed: 3, lenient: 0.0, log: None };
    rows.stage(scale, &staged)?;
    let tables = source::open(definition, &staged)?;
    phases::cell(definition, tables, 3)
}

/// Returns a day of this many rows.
fn day(rows: u64) -> (tempfile::TempDir, Cell) {
    let dir = tempfile::tempdir().unwrap();
    let cell = cell(retention(), Scale::Rows(rows), dir.path()).unwrap();
    (dir, cell)
}

fn calendar(cell: &Cell) -> Calendar<'_> {
    let keep = cell.definition.keep().unwrap();
    Calendar { keep, rows: &cell.tables[keep.table] }
}

#[test]
fn a_window_has_as_many_rows_as_asked_for_and_they_come_again_in_the_order_of_their_keys() {
    for asked in [20, 480, 1_000, 5_000, 100_000] {
        let (_dir, cell) = day(asked);
        let calendar = calendar(&cell);
        // A moment in a day repeats an hour later.
        let kept = if asked == 20 { 480 } else { asked };
        assert_eq!(calendar.window() as u64, kept, "{asked}");
        let key = |place: usize| {
            let key: Vec<Value<'_>> = calendar.rows.key(place).into_iter().collect();
            let [Value::Int(time), Value::Int(sensor)] = key[..] else { panic!("{key:?}") };
            (time, sensor)
        };
        for place in 0..4 * asked.min(2_000) as usize {
            assert!(key(place) < key(place + 1), "{asked}: {place}");
            let time = calendar.time(place);
            assert_eq!(calendar.first_from(time), place - place % 20, "{asked}: {place}");
            assert_eq!(calendar.first_from(time + 1), place - place % 20 + 20, "{asked}: {place}");
        }
        assert_eq!(calendar.first_from(calendar.time(0) - 1), 0);
    }
}

#[test]
fn an_hour_goes_when_all_of_it_is_older_than_a_day() {
    let (_dir, cell) = day(480);
    let calendar = calendar(&cell);
    for (came, there) in [
        (0, 0..0),
        (480, 0..480),
        (500, 0..500),
        (501, 20..501),
        (520, 20..520),
        (521, 40..521),
        (1_001, 520..1_001),
    ] {
        assert_eq!(calendar.there(came), there, "{came}");
    }
    let begin = calendar.step_at(calendar.time(0));
    assert_eq!((begin.to - begin.from, begin.from), (3_600_000, calendar.time(0)));
    assert_eq!(calendar.expiring_at(begin.number + 25), begin);
}

/// Returns what a database with these rows finds when it is asked row by row.
fn answered(cell: &Cell, (phase, i): (usize, usize), there: &[usize]) -> Found {
    let mut found = Found::default();
    let rows = cell.rows_of(phase);
    let print = |place: &usize| fingerprint(rows.row(*place));
    let time = |place: &usize| calendar(cell).time(*place);
    let newest = calendar(cell).rows.end(0);
    match cell.work(phase) {
        Work::Ask { query: Query::Latest { .. }, .. } => {
            let (column, value) = cell.each(phase, i).unwrap();
            let own = there.iter().rev().find(|place| rows.value(**place, column) == value);
            found.rows = own.into_iter().map(print).collect();
        }
        Work::Range(_) => {
            let value = cell.range_value(phase, i).unwrap();
            let own = there.iter().filter(|place| {
                rows.value(**place, 1) == value && time(place) > newest - 35 * 60_000
            });
            found.rows = own.map(print).collect();
        }
        Work::Ask { query: Query::Group(_), .. } => {
            let own = there.iter().filter(|place| time(place) >= newest - 17 * 60_000);
            let values = own.map(|place| match rows.value(*place, 2) {
                Value::Float(value) => value,
                other => panic!("{other:?}"),
            });
            let values: Vec<f64> = values.collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            found.result.push(owned(Value::Float(mean)));
        }
        other => panic!("{other:?}"),
    }
    found
}

fn plain(row: &[Value<'_>]) -> Fingerprint {
    fingerprint(row.iter().copied())
}

#[test]
fn answers_of_the_rows_that_are_there_are_right_at_any_time() {
    let (_dir, cell) = day(5_000);
    let calendar = calendar(&cell);
    for came in [1, 19, 20, 21, 333, 5_000, 5_200, 5_777, 10_000, 12_345] {
        calendar.rows.there.store(came, Ordering::Relaxed);
        let there = calendar.there(came);
        let held: Vec<usize> = there.clone().collect();
        for i in 0..20 {
            for phase in &calendar.keep.ask {
                let found = answered(&cell, (*phase, i), &held);
                check_newest(&cell, (*phase, i), there.clone(), &found, &plain)
                    .unwrap_or_else(|wrong| panic!("{phase} {i} {came}: {wrong:?}"));
            }
        }
    }
}

#[test]
fn a_row_too_many_or_too_few_or_another_value_is_wrong() {
    let (_dir, cell) = day(5_000);
    let (calendar, came) = (calendar(&cell), 7_777);
    calendar.rows.there.store(came, Ordering::Relaxed);
    let there = calendar.there(came);
    let held: Vec<usize> = there.clone().collect();
    let [newest, range, mean] = calendar.keep.ask[..] else { panic!() };
    let refused = |phase: usize, spoil: &dyn Fn(&mut Found)| {
        let mut found = answered(&cell, (phase, 0), &held);
        spoil(&mut found);
        let said = check_newest(&cell, (phase, 0), there.clone(), &found, &plain);
        assert!(said.is_err(), "{phase}");
    };
    let one: Checksum = [fingerprint(calendar.rows.row(came - 1))].into_iter().collect();
    for phase in [newest, range] {
        refused(phase, &|found| found.rows = Checksum::default());
        refused(phase, &|found| found.rows += one);
    }
    refused(mean, &|found| found.result.clear());
    refused(mean, &|found| found.result[0] = owned(Value::Float(18.001)));
    // Removed rows are in no answer: the day before, a row was the newest.
    let before: Vec<usize> = (0..there.start).collect();
    let found = answered(&cell, (newest, 0), &before);
    assert!(check_newest(&cell, (newest, 0), there, &found, &plain).is_err());
}

#[test]
fn the_whole_content_is_compared() {
    let (_dir, cell) = day(480);
    let calendar = calendar(&cell);
    let there = calendar.there(777);
    let verdict = |spoil: &dyn Fn(&mut Vec<Vec<Value<'static>>>)| {
        let row = |place| calendar.rows.row(place).map(fixed).collect();
        let mut held: Vec<Vec<Value<'static>>> = there.clone().map(row).collect();
        spoil(&mut held);
        let mut content = Content::new(calendar.rows, there.clone());
        held.iter().for_each(|row| content.see(row));
        content.finish().err().map(|wrong| wrong.0)
    };
    assert_eq!(verdict(&|_| {}), None);
    assert!(verdict(&|held| _ = held.pop()).unwrap().contains("missing"));
    assert!(verdict(&|held| held.push(held[3].clone())).unwrap().contains("duplicate row"));
    let bent = verdict(&|held| held[7][3] = Value::Float(1.5)).unwrap();
    assert!(bent.contains("1.5") && bent.contains("expected"), "{bent}");
    let old = calendar.rows.row(there.start - 1).map(fixed).collect::<Vec<_>>();
    let old = verdict(&|held| held.push(old.clone())).unwrap();
    assert!(old.contains("unexpected or duplicate row"), "{old}");
}

/// Returns a value that borrows nothing.
fn fixed(value: Value<'_>) -> Value<'static> {
    match value {
        Value::Int(value) => Value::Int(value),
        Value::Float(value) => Value::Float(value),
        _ => Value::Null,
    }
}

/// Keeps ten minutes of the rows of `t.csv`.
const FILE: &str = r#"
[table.t]
file = "t.csv"
key = ["seen", "of"]
[table.t.columns]
seen = { type = "timestamp", unit = "s" }
of = "u8"
[phase.rows]
only = "keep"
do = "insert"
[phase.kept]
keep = "10m"
step = "1m"
insert = "rows"
"#;

#[test]
fn rows_of_a_file_come_in_the_order_of_their_times_or_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let made = |rows: &str| {
        std::fs::write(dir.path().join("t.csv"), format!("seen,of\n{rows}")).unwrap();
        cell(FILE, Scale::Full, dir.path())
    };
    let kept = made("90,1\n100,1\n100,2\n250,1\n").unwrap();
    let calendar = calendar(&kept);
    // From 90 to 250 are 160 s: in 3 minutes they repeat.
    let times: Vec<i64> = (0..6).map(|place| calendar.time(place)).collect();
    assert_eq!(times, [90, 100, 100, 250, 270, 280]);
    let refused = made("90,1\n100,1\n95,2\n").err().unwrap().to_string();
    assert!(refused.contains("row 3 is older than the one before it"), "{refused}");
}

/// Writes rows of these times to `t.csv`.
fn write_times(folder: &Path, times: impl IntoIterator<Item = i64>) {
    let rows: Vec<String> = times.into_iter().map(|time| format!("{time},1")).collect();
    std::fs::write(folder.join("t.csv"), format!("seen,of\n{}\n", rows.join("\n"))).unwrap();
}

/// What a run counts.
#[derive(Default)]
struct Counts {
    rows: u64,
    expiries: u64,
}

impl PhaseObserver for Counts {
    fn count(&mut self, name: &'static str, count: u64) {
        if name == "rows" {
            self.rows = count;
        }
    }

    fn latency(&mut self, name: &'static str, latency: Latency) {
        if name == "expiry" {
            self.expiries = latency.samples;
        }
    }
}

/// Keeps the rows of a file in memory for 20 ms, and compares what is left.
fn run(text: &str, folder: &Path) -> Result<Counts, EngineError> {
    let definition = parse("kept.toml", text, &[]).unwrap_or_else(|e| panic!("{e}"));
    let workload = Defined::leak(definition, folder.to_owned(), 0.0);
    let staged = folder.join("staged");
    let source = workload.source(&DataSource::Synthetic, 5).unwrap();
    source.stage(Scale::Full, &staged).unwrap();
    let spec = Spec { window: Duration::from_millis(20), ..Spec::of(staged, "as-written", 5) };
    let options = OpenOptions::new(folder.join("database"), Durability::None, 64 << 20);
    let store = registry::find("memory").unwrap().open(&options).unwrap().store;
    let never = Reopener::new(|_, _| panic!("nobody opens it again"));
    let mut bench = workload.prepare(&spec).unwrap().open(store, never).unwrap();
    let phase = bench.phases().iter().position(|phase| phase.name == "kept").unwrap();
    let (mut meter, mut counts) = (Meter::new(None), Counts::default());
    bench.ready(phase).unwrap();
    let outcome = bench.observe(phase, &mut meter, &mut counts)?;
    let checked = bench.check(phase, &outcome, meter.measured());
    checked.unwrap_or_else(|wrong| panic!("{wrong}"));
    Ok(counts)
}

/// Times in seconds of a log whose clock was not set before its second row.
fn late_clock() -> impl Iterator<Item = i64> {
    std::iter::once(0).chain((0..300).map(|minute| 6_000_000 + 60 * minute))
}

#[test]
fn a_step_expires_when_the_next_one_with_rows_is_a_window_later() {
    let dir = tempfile::tempdir().unwrap();
    write_times(dir.path(), late_clock());
    let cell = cell(FILE, Scale::Full, dir.path()).unwrap();
    let calendar = calendar(&cell);
    let step = |place: usize| calendar.step_at(calendar.time(place));
    let expiring = |place, newest| calendar.expiring(place, step(newest).number);
    assert_eq!(expiring(0, 1), Some((step(0), 1)));
    assert_eq!([expiring(1, 1), expiring(1, 11)], [None, None]);
    assert_eq!(expiring(1, 12), Some((step(1), 2)));
}

#[test]
fn steps_without_rows_are_passed_over_and_what_is_old_goes_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    write_times(dir.path(), late_clock());
    let Counts { rows, expiries } = run(FILE, dir.path()).unwrap();
    // The first row goes with the second one. In between are 100,000 steps.
    assert!(rows > 1 && (1..=rows).contains(&expiries), "{expiries} for {rows} rows");
}

#[test]
fn rows_that_run_out_of_times_are_an_error_that_says_what_to_write() {
    let dir = tempfile::tempdir().unwrap();
    // New Year's Day of 2024 and of 2124. They can come again once before 2262.
    write_times(dir.path(), [1_704_067_200, 4_859_740_800].map(|second| second * 1_000_000_000));
    let text = FILE.replace("unit = \"s\"", "unit = \"ns\"");
    let refused = run(&text, dir.path()).err().unwrap();
    assert!(refused.is_unsupported(), "{refused}");
    for word in ["table 't'", "after 4 rows", "unit = \"us\"", "a shorter 'at-most'"] {
        assert!(refused.to_string().contains(word), "no {word} in: {refused}");
    }
}
