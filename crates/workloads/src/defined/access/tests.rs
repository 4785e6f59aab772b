use embermark_model::table::{Column, RowsFrom, TimeUnit};

use super::*;

fn table() -> Table {
    let column = |name: &str, of| Column::new(name, of);
    Table {
        name: "readings".to_owned(),
        columns: vec![
            column("station", ColumnType::Int { bits: 16, signed: false }),
            column("time", ColumnType::Timestamp(TimeUnit::Seconds)),
            column("temp", ColumnType::Float),
            column("city", ColumnType::Text),
        ],
        key: vec![0, 1],
        indexes: vec![vec![2], vec![3, 1]],
        rows: RowsFrom::Made(0),
    }
}

const fn filter(column: usize, operator: Operator, bound: Value<'static>) -> Filter<'static> {
    Filter { column, operator, bound }
}

#[test]
fn the_order_that_narrows_most_is_taken() {
    let station = filter(0, Operator::Equal, Value::Int(3));
    let after = filter(1, Operator::AtLeast, Value::Int(100));
    let before = filter(1, Operator::Less, Value::Int(200));
    let warm = filter(2, Operator::Greater, Value::Float(20.0));
    let city = filter(3, Operator::Equal, Value::Text("Ulm"));
    let unlike = filter(0, Operator::NotEqual, Value::Int(3));
    let of = |filters: &[Filter<'_>]| {
        let access = Access::best(&table(), filters);
        (access.by, access.exact)
    };
    assert_eq!(of(&[]), (By::All, true));
    assert_eq!(of(&[station, after, before]), (By::Key, true));
    assert_eq!(of(&[station, warm]), (By::Key, false));
    assert_eq!(of(&[after, before]), (By::All, false));
    // Rows that are greater begin where equal ones do.
    assert_eq!(of(&[warm]), (By::Index(0), false));
    let warm = filter(2, Operator::AtLeast, Value::Float(20.0));
    assert_eq!(of(&[warm]), (By::Index(0), true));
    // Texts are cut in an index.
    assert_eq!(of(&[city, after]), (By::Index(1), false));
    assert_eq!(of(&[unlike]), (By::All, false));
}

#[test]
fn bounds_hold_what_meets_the_conditions_and_nothing_far_from_it() {
    let (table, codec) = (table(), Codec::new(&table()));
    let filters = [
        filter(0, Operator::Equal, Value::Int(3)),
        filter(1, Operator::Greater, Value::Int(100)),
        filter(1, Operator::AtMost, Value::Int(200)),
    ];
    let access = Access::best(&table, &filters);
    let (mut from, mut to) = (Vec::new(), Vec::new());
    assert!(access.bounds(&table, &codec, &filters, &mut from, &mut to));
    let key = |station: i64, time: i64| {
        let mut key = Vec::new();
        codec.key([Value::Int(station), Value::Int(time)], &mut key);
        key
    };
    let within = |station, time| (&from..&to).contains(&&key(station, time));
    assert!(within(3, 101) && within(3, 200));
    assert!(!within(3, 99) && !within(3, 201) && !within(2, 150) && !within(4, 150));
}

#[test]
fn a_bound_beyond_the_range_of_its_column_finds_no_rows() {
    let (table, codec) = (table(), Codec::new(&table()));
    let below = filter(0, Operator::AtMost, Value::Int(-501));
    let above = filter(0, Operator::AtLeast, Value::Int(1 << 16));
    for of in [below, above, filter(0, Operator::Equal, Value::Int(-1))] {
        assert_eq!(Access::best(&table, &[of]).by, By::All);
        let access = Access::best(&table, &[of, filter(0, Operator::Less, Value::Int(9))]);
        let left = access.left(&table, &Filters::from_iter([of]));
        assert_eq!((access.by, access.exact, left.len()), (By::Key, false, 1));
    }
    // Rows from below the lowest value begin with the lowest.
    let last = [
        filter(0, Operator::AtLeast, Value::Int(-501)),
        filter(0, Operator::Less, Value::Int(500)),
    ];
    let (mut from, mut to) = (Vec::new(), Vec::new());
    Access::best(&table, &last).bounds(&table, &codec, &last, &mut from, &mut to);
    let mut first = Vec::new();
    codec.key([Value::Int(0), Value::Int(0)], &mut first);
    assert!((&from..&to).contains(&&first));
}

#[test]
fn rows_below_a_bound_begin_with_the_first_value_of_an_index_that_is_not_absent() {
    let (table, codec) = (table(), Codec::new(&table()));
    let entry = |value: Value<'static>| {
        let mut entry = Vec::new();
        codec.index(&[2], [value], &mut entry);
        entry
    };
    for operator in [Operator::Less, Operator::AtMost] {
        let cold = [filter(2, operator, Value::Float(20.0))];
        let (mut from, mut to) = (Vec::new(), Vec::new());
        let access = Access::best(&table, &cold);
        assert_eq!(access.by, By::Index(0));
        assert!(access.bounds(&table, &codec, &cold, &mut from, &mut to));
        let within = |value| (&from..&to).contains(&&entry(value));
        assert!(within(Value::Float(f64::MIN)) && within(Value::Float(19.0)));
        assert!(!within(Value::Null) && !within(Value::Float(21.0)));
    }
}

#[test]
fn the_last_of_all_has_no_end() {
    let mut bytes = vec![7, 255, 255];
    assert!(beyond(&mut bytes));
    assert_eq!(bytes, [8]);
    let mut bytes = vec![255, 255];
    assert!(!beyond(&mut bytes));
}

#[test]
fn an_absent_bound_is_decided_by_no_order() {
    let table = table();
    let warm = filter(2, Operator::Equal, Value::Float(20.0));
    let absent = filter(2, Operator::Equal, Value::Null);
    let after = filter(1, Operator::AtLeast, Value::Int(100));
    for (filters, left) in [
        ([warm, after], Filters::from_iter([after])),
        ([absent, after], Filters::from_iter([absent, after])),
    ] {
        let filters = Filters::from_iter(filters);
        let access = Access::best(&table, &filters);
        let columns = |all: &Filters<'_>| all.iter().map(|f| f.column).collect::<Vec<_>>();
        assert_eq!(columns(&access.left(&table, &filters)), columns(&left));
        assert!(!access.exact && access.by == By::Index(0));
    }
}

#[test]
fn an_absent_value_meets_nothing() {
    for operator in [Operator::Equal, Operator::NotEqual, Operator::Less, Operator::AtLeast] {
        assert!(!filter(2, operator, Value::Float(1.0)).is_met(&Value::Null));
    }
    assert!(filter(2, Operator::NotEqual, Value::Float(1.0)).is_met(&Value::Float(2.0)));
}
