//! Groups of a workload file in HarperDB's SQL, which has no parameters and accepts any column name
//! in backquotes.

use embermark_contract::sql::Dialect;
use embermark_language::{Aggregate, Compute, Group, Grouped, Operator};
use embermark_model::table::{ColumnType, Table, Value};

use super::super::Filter;
use super::super::statements::conditions::{clause, function, operator};

/// Returns a query for the groups of rows that meet the filters. Columns: `c0`, `c1`, …, then for
/// each sum the number of its values, because HarperDB returns either 0 or NULL for a sum of
/// nothing. Returns `None` where its answer differs or fails (seen with 4.7): MIN and MAX are NULL
/// where they should be 0, so conditions on groups are computed here; texts are ordered by UTF-16;
/// a quote in a text is an error.
pub(super) fn group(
    dialect: &dyn Dialect,
    table: &Table,
    group: &Group,
    filters: &[Filter<'_>],
) -> Option<String> {
    let sorts_texts = group.order.iter().any(|order| match group.by.get(order.column) {
        Some(Grouped::Column(column)) => table.columns[*column].of == ColumnType::Text,
        _ => false,
    });
    let is_extreme =
        |compute: &Compute| matches!(compute.aggregate, Aggregate::Min | Aggregate::Max);
    if sorts_texts || !group.having.is_empty() || group.compute.iter().any(is_extreme) {
        return None;
    }
    let name = |column: usize| format!("`{}`", table.columns[column].name);
    let by = group.by.iter().map(|by| match *by {
        Grouped::Column(column) => Some(name(column)),
        Grouped::Bucket { column, units } => {
            let units = units.to_string();
            Some(format!("{} * {units}", dialect.integer_division(&name(column), &units)))
        }
        Grouped::Month { .. } => None,
    });
    let by = by.collect::<Option<Vec<String>>>()?;
    let mut columns = by.clone();
    columns.extend(group.compute.iter().map(|Compute { aggregate, column }| {
        format!("{}({})", function(*aggregate), column.map_or("*".to_owned(), name))
    }));
    columns.extend(sums(group).map(|(_, column)| format!("COUNT({})", name(column))));
    let columns: Vec<String> =
        columns.iter().enumerate().map(|(n, column)| format!("{column} AS c{n}")).collect();
    let mut text = format!("SELECT {} FROM {}", columns.join(", "), dialect.table(&table.name));
    let met = filters.iter().map(|filter| {
        Some(format!("{} {} {}", name(filter.column), operator(filter.operator), literal(filter)?))
    });
    text += &clause("WHERE", met.collect::<Option<Vec<_>>>()?, " AND ");
    text += &clause("GROUP BY", by, ", ");
    let order = group
        .order
        .iter()
        .map(|order| format!("c{}{}", order.column, if order.descending { " DESC" } else { "" }));
    text += &clause("ORDER BY", order, ", ");
    text += &group.limit.map_or(String::new(), |limit| format!(" LIMIT {limit}"));
    Some(text)
}

/// Returns the sums of a group: their positions in the result, and their columns.
pub(super) fn sums(group: &Group) -> impl Iterator<Item = (usize, usize)> {
    let computed = (group.by.len()..).zip(&group.compute);
    let sums = computed.filter(|(_, compute)| compute.aggregate == Aggregate::Sum);
    sums.filter_map(|(at, compute)| Some((at, compute.column?)))
}

/// Returns the value that a column is compared with as a literal. `None` if it cannot be written or
/// is compared differently.
fn literal(filter: &Filter<'_>) -> Option<String> {
    let equality = matches!(filter.operator, Operator::Equal | Operator::NotEqual);
    match filter.bound {
        Value::Int(int) => Some(int.to_string()),
        Value::Float(float) => Some(float.to_string()),
        Value::Text(literal) if equality && !literal.contains(['\'', '\\', '\n', '\r']) => {
            Some(format!("'{literal}'"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use embermark_language::OrderBy;

    use super::super::super::tables::{compute, group_of, table};
    use super::*;

    /// The dialect for the database of a private server.
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
}
