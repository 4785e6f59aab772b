//! Tests of the oracle with rows made by hand.

mod by_hand;

use std::path::Path;
use std::sync::Arc;

use embermark_language::{Definition, Group};
use embermark_model::Scale;
use embermark_model::answer::Value as Answered;

use super::super::keep;
use super::*;

/// Seven readings of three stations. One temperature is absent, and two readings have the same
/// newest time.
const ROWS: &str = "station,time,temp,note\n\
    1,100,20.0,a\n\
    1,200,,b\n\
    2,100,-3.5,a\n\
    2,300,4.0,\n\
    3,300,10.0,c\n\
    1,300,22.0,a\n\
    2,90,0.0,b\n";

const FILE: &str = r#"
[table.readings]
file = "rows.csv"
key = ["station", "time"]
[table.readings.columns]
station = "u16"
time = { type = "timestamp", unit = "s" }
temp = "f64?"
note = "text?"
[phase.latest]
do = "latest"
by = "station"
[phase.by_note]
do = "latest"
by = "note"
[phase.window]
do = "range"
of = "station"
last = "100s"
ops = 3
[phase.hourly]
do = "group"
where = [["time", ">=", "end - 200s"], ["temp", ">", -1.0]]
by = ["station", "minute(time)"]
compute = ["count", "avg(temp)"]
[phase.means]
do = "group"
by = ["station"]
compute = ["avg(temp)", "count(temp)", "min(time)"]
order = ["-avg(temp)"]
limit = 2
[phase.times]
do = "group"
by = ["time"]
compute = ["avg(temp)"]
order = ["-avg(temp)"]
limit = 2
[phase.silent]
do = "gaps"
by = "station"
longer-than = "100s"
[phase.warm]
do = "group"
by = ["station"]
compute = ["avg(temp)", "count(temp)"]
having = [["avg(temp)", ">=", 10], ["count(temp)", "<", 3]]
[phase.old]
do = "delete"
older = "200s"
[phase.change]
do = "update"
ops = 20
set = ["temp"]
"#;

fn cell(dir: &Path) -> (Arc<Cell>, &'static Definition) {
    std::fs::write(dir.join("rows.csv"), ROWS).unwrap();
    let cell = keep::tests::cell(FILE, Scale::Full, dir).unwrap();
    let definition = cell.definition;
    (Arc::new(cell), definition)
}

fn phase(definition: &Definition, name: &str) -> usize {
    definition.phases.iter().position(|phase| phase.name == name).unwrap()
}

fn print(row: &[Value<'_>]) -> Fingerprint {
    fingerprint(row.iter().copied())
}

fn sum(cell: &Cell, places: &[usize]) -> Checksum {
    places.iter().map(|place| fingerprint(cell.tables[0].row(*place))).collect()
}

#[test]
fn the_newest_rows_of_each_value_are_known() {
    let dir = tempfile::tempdir().unwrap();
    let (cell, definition) = cell(dir.path());
    let mut oracle = Oracle::new(Arc::clone(&cell));
    let right = Found { rows: sum(&cell, &[5, 3, 4]), ..Found::default() };
    let latest = phase(definition, "latest");
    assert_eq!(oracle.check(latest, 1, &right, true, &print), Ok(()));
    for wrong in [&[5, 3][..], &[5, 3, 4, 4], &[0, 3, 4]] {
        let wrong = Found { rows: sum(&cell, wrong), ..Found::default() };
        assert!(oracle.check(latest, 1, &wrong, true, &print).is_err());
    }
    // The row without a note belongs to no group.
    let right = Found { rows: sum(&cell, &[5, 1, 4]), ..Found::default() };
    assert_eq!(oracle.check(phase(definition, "by_note"), 1, &right, true, &print), Ok(()));
}

#[test]
fn ranges_hold_the_rows_of_their_time() {
    let dir = tempfile::tempdir().unwrap();
    let (cell, definition) = cell(dir.path());
    let mut oracle = Oracle::new(Arc::clone(&cell));
    let window = phase(definition, "window");
    // In the last 100 s, from 201 to 300, each station has one row.
    let mut expected = Checksum::default();
    for i in 0..3 {
        let Some(Value::Int(station)) = cell.range_value(window, i) else { panic!("no station") };
        expected += sum(&cell, &[[5, 3, 4][station as usize - 1]]);
    }
    let right = Found { rows: expected, ..Found::default() };
    assert_eq!(oracle.check(window, 3, &right, true, &print), Ok(()));
    assert!(oracle.check(window, 2, &right, true, &print).is_err());
}

#[test]
fn groups_are_filtered_bucketed_and_computed() {
    let dir = tempfile::tempdir().unwrap();
    let (cell, definition) = cell(dir.path());
    let mut oracle = Oracle::new(cell);
    let hourly = phase(definition, "hourly");
    let row = |station, minute, count, mean| {
        [Answered::Int(station), Answered::Int(minute), Answered::Int(count), Answered::Float(mean)]
    };
    let rows =
        [row(1, 60, 1, 20.0), row(1, 300, 1, 22.0), row(2, 300, 1, 4.0), row(3, 300, 1, 10.0)];
    let found = |rows: &[[Answered; 4]]| Found { result: rows.concat(), ..Found::default() };
    assert_eq!(oracle.check(hourly, 1, &found(&rows), true, &print), Ok(()));
    let mut turned = rows.clone();
    turned.reverse();
    assert_eq!(oracle.check(hourly, 1, &found(&turned), true, &print), Ok(()));
    assert!(oracle.check(hourly, 1, &found(&rows[1..]), true, &print).is_err());
    let mut bent = rows.clone();
    bent[2][3] = Answered::Float(4.000_01);
    assert!(oracle.check(hourly, 1, &found(&bent), true, &print).is_err());
    let twice = [&rows[..3], &rows[..1]].concat();
    assert!(oracle.check(hourly, 1, &found(&twice), true, &print).is_err());
}

#[test]
fn the_best_groups_come_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let (cell, definition) = cell(dir.path());
    let mut oracle = Oracle::new(cell);
    let means = phase(definition, "means");
    let row = |station, mean, rows, first| {
        [Answered::Int(station), Answered::Float(mean), Answered::Int(rows), Answered::Int(first)]
    };
    let (one, two) = (row(1, 21.0, 2, 100), row(3, 10.0, 1, 300));
    let third = row(2, 0.5 / 3.0, 3, 90);
    let mut check = |rows: &[&[Answered; 4]]| {
        let result = rows.iter().flat_map(|row| row.iter().cloned()).collect();
        oracle.check(means, 1, &Found { result, ..Found::default() }, true, &print)
    };
    assert_eq!(check(&[&one, &two]), Ok(()));
    assert!(check(&[&two, &one]).unwrap_err().0.contains("comes before"));
    assert!(check(&[&one, &third]).unwrap_err().0.contains("is missing"));
    assert!(check(&[&one]).is_err());
}

#[test]
fn a_group_without_a_value_to_order_by_may_stand_anywhere_and_hides_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let (cell, definition) = cell(dir.path());
    let mut oracle = Oracle::new(cell);
    let times = phase(definition, "times");
    let row = |time, mean| [Answered::Int(time), mean];
    let (best, second) = (row(300, Answered::Float(12.0)), row(100, Answered::Float(8.25)));
    let (absent, last) = (row(200, Answered::Null), row(90, Answered::Float(0.0)));
    let mut check = |rows: [&[Answered; 2]; 2]| {
        let result = rows.into_iter().flatten().cloned().collect();
        let found = Found { result, ..Found::default() };
        oracle.check(times, 1, &found, true, &print)
    };
    assert_eq!(check([&best, &second]), Ok(()));
    assert_eq!(check([&absent, &best]), Ok(()));
    assert!(check([&second, &absent]).unwrap_err().0.contains("is missing"));
    assert!(check([&absent, &second]).unwrap_err().0.contains("is missing"));
    assert!(check([&best, &last]).unwrap_err().0.contains("is missing"));
}

#[test]
fn groups_are_sorted_also_where_many_have_no_value() {
    let dir = tempfile::tempdir().unwrap();
    let (_, definition) = cell(dir.path());
    let times = &definition.phases[phase(definition, "times")].work;
    let Some(Query::Group(group)) = times.query() else { panic!() };
    let all = Group { limit: None, ..group.clone() };
    let value = |n: i64| match n % 3 {
        0 => Answered::Null,
        _ => Answered::Float((n * 37 % 101) as f64),
    };
    let rows = (0..300).map(|n| [Answered::Int(n), value(n)].into_iter().collect());
    let mut sorted = Vec::new();
    super::super::aggregate::in_order(rows.collect(), &all, &mut sorted);
    let means: Vec<f64> = sorted
        .chunks(2)
        .filter_map(|row| match row[1] {
            Answered::Float(mean) => Some(mean),
            _ => None,
        })
        .collect();
    assert_eq!((sorted.len(), means.len()), (600, 200));
    assert!(means.is_sorted_by(|a, b| a >= b));
    assert!(sorted.chunks(2).skip(200).all(|row| row[1] == Answered::Null));
}

#[test]
fn gaps_are_known() {
    let dir = tempfile::tempdir().unwrap();
    let (cell, definition) = cell(dir.path());
    let mut oracle = Oracle::new(cell);
    let silent = phase(definition, "silent");
    let gap = |of, from, until| [of, from, until].map(Answered::Int);
    let mut check = |gaps: &[[Answered; 3]]| {
        let found = Found { result: gaps.concat(), ..Found::default() };
        oracle.check(silent, 1, &found, true, &print)
    };
    let right = [gap(2, 100, 300)];
    assert_eq!(check(&right), Ok(()));
    assert!(check(&right[1..]).unwrap_err().0.contains("is missing"));
    let more = [&right[..], &[gap(1, 100, 200)]].concat();
    assert!(check(&more).unwrap_err().0.contains("should not be"));
    assert!(check(&[&right[..], &right[..1]].concat()).is_err());
}

#[test]
fn groups_that_meet_no_condition_are_left_out_and_one_at_its_bound_may_be() {
    let dir = tempfile::tempdir().unwrap();
    let (cell, definition) = cell(dir.path());
    let mut oracle = Oracle::new(cell);
    let warm = phase(definition, "warm");
    let row =
        |station, mean, rows| [Answered::Int(station), Answered::Float(mean), Answered::Int(rows)];
    // 10 is the bound, so rounding can put it on either side.
    let (one, at, cold) = (row(1, 21.0, 2), row(3, 10.0, 1), row(2, 0.5 / 3.0, 3));
    let mut check = |rows: &[&[Answered; 3]]| {
        let result = rows.iter().flat_map(|row| row.iter().cloned()).collect();
        oracle.check(warm, 1, &Found { result, ..Found::default() }, true, &print)
    };
    assert_eq!(check(&[&one, &at]), Ok(()));
    assert_eq!(check(&[&one]), Ok(()));
    assert!(check(&[&at]).unwrap_err().0.contains("is missing"));
    assert!(check(&[&one, &cold]).unwrap_err().0.contains("should not be in the answer"));
    assert!(check(&[]).is_err());
}

#[test]
fn what_is_deleted_and_set_is_known() {
    let dir = tempfile::tempdir().unwrap();
    let (cell, definition) = cell(dir.path());
    let oracle = Oracle::new(Arc::clone(&cell));
    let old = oracle.touched(phase(definition, "old"), 1);
    assert_eq!(old.gone(), 3);
    assert_eq!(oracle.after(0, &old), sum(&cell, &[1, 3, 4, 5]));

    let change = phase(definition, "change");
    let touched = oracle.touched(change, 20);
    let mut content = Content::new(&cell, 0, &touched, 7);
    let (mut rows, mut as_loaded) = (Checksum::default(), true);
    for place in 0..7 {
        let last = (0..20).rev().find(|i| cell.place(change, *i) == place);
        let mut row: Vec<Value<'_>> = cell.tables[0].row(place).collect();
        if let Some(i) = last {
            row[2] = cell.update_value(change, i, 2);
            as_loaded = false;
        }
        rows += fingerprint(row.iter().copied());
        content.see(&row);
    }
    assert!(!as_loaded);
    assert_eq!(oracle.after(0, &touched), rows);
    assert_eq!(content.finish(true), Ok(()));
}

#[test]
fn a_wrong_row_is_told_by_its_key() {
    let dir = tempfile::tempdir().unwrap();
    let (cell, _) = cell(dir.path());
    let none = Touched::default();
    let told = |rows: &[usize], bend: bool| {
        let mut content = Content::new(&cell, 0, &none, 7);
        for place in rows {
            let mut row: Vec<Value<'_>> = cell.tables[0].row(*place).collect();
            if bend {
                row[2] = Value::Float(99.0);
            }
            content.see(&row);
        }
        content.finish(true).unwrap_err().0
    };
    let all = [0, 1, 2, 3, 4, 5, 6];
    assert!(told(&all[..6], false).ends_with("with station Int(2), time Int(90) is missing"));
    assert!(told(&[0, 0], false).contains("twice"));
    assert!(told(&[0], true).contains("temp is Float(99.0), expected Float(20.0)"));
}
