use embermark_language::OrderBy;

use super::super::super::tables::{compute, group_of, table};
use super::*;

/// As the database of a server of our own.
struct Harper;

impl Dialect for Harper {
    fn placeholder(&self, _: usize) -> String {
        "?".to_owned()
    }

    fn table(&self, name: &str) -> String {
        format!("data.{name}")
    }

    fn integer_division(&self, dividend: &str, divisor: &str) -> String {
        format!("FLOOR({dividend} / {divisor})")
    }
}

fn text(group: &Group, filters: &[Filter<'_>]) -> Option<String> {
    super::group(&Harper, table(&[0, 1]), group, filters)
}

#[test]
fn names_are_quoted_and_values_written_out() {
    let group = Group {
        by: vec![Grouped::Column(3), Grouped::Bucket { column: 1, units: 60 }],
        compute: vec![compute(Aggregate::Count, None), compute(Aggregate::Sum, Some(2))],
        order: vec![OrderBy { column: 2, descending: true }],
        limit: Some(3),
        ..group_of()
    };
    let filters = [
        Filter { column: 1, operator: Operator::AtLeast, bound: Value::Int(-5) },
        Filter { column: 3, operator: Operator::NotEqual, bound: Value::Text("a b") },
        Filter { column: 2, operator: Operator::Less, bound: Value::Float(0.5) },
    ];
    let expected = "SELECT `note` AS c0, FLOOR(`time` / 60) * 60 AS c1, COUNT(*) AS c2, \
                    SUM(`value`) AS c3, COUNT(`value`) AS c4 FROM data.readings WHERE `time` >= -5 \
                    AND `note` <> 'a b' AND `value` < 0.5 GROUP BY `note`, FLOOR(`time` / 60) * 60 \
                    ORDER BY c2 DESC LIMIT 3";
    assert_eq!(text(&group, &filters).as_deref(), Some(expected));
    assert_eq!(sums(&group).collect::<Vec<_>>(), [(3, 2)]);
}

#[test]
fn what_it_answers_otherwise_is_not_asked() {
    let count = Group { compute: vec![compute(Aggregate::Count, None)], ..group_of() };
    assert!(text(&count, &[]).is_some());
    for (operator, bound) in [
        (Operator::Equal, "it's"),
        (Operator::Equal, "a\\b"),
        (Operator::NotEqual, "a\nb"),
        (Operator::Less, "a"),
    ] {
        let filter = Filter { column: 3, operator, bound: Value::Text(bound) };
        assert_eq!(text(&count, &[filter]), None, "{bound}");
    }
    for aggregate in [Aggregate::Min, Aggregate::Max] {
        let extreme = Group { compute: vec![compute(aggregate, Some(2))], ..group_of() };
        assert_eq!(text(&extreme, &[]), None);
    }
    let order = vec![OrderBy { column: 0, descending: false }];
    let sorted = Group { by: vec![Grouped::Column(3)], order, ..count };
    assert_eq!(text(&sorted, &[]), None);
}
