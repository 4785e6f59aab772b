//! Statements that group rows.

use embermark_contract::sql::Dialect;
use embermark_language::{Aggregate, Compute, Group, Grouped, OrderBy};
use embermark_model::table::{ColumnType, OwnedValue, TimeUnit, Value};

use super::Texts;
use super::conditions::{bounds, clause, function, operator, where_all};

impl Texts<'_> {
    /// Returns the expression that rows are grouped by.
    fn grouped(&self, by: Grouped) -> String {
        match by {
            Grouped::Column(column) => self.name(column),
            Grouped::Bucket { column, units } => self.bucket(&self.name(column), units),
            Grouped::Month { column, unit } => {
                let name = self.name(column);
                // Phases that need the month are refused where the dialect does not have it.
                self.dialect.month(&milliseconds(self.dialect, &name, unit)).unwrap_or(name)
            }
        }
    }

    /// Returns the expression for the beginning of a time's bucket.
    pub(super) fn bucket(&self, time: &str, units: i64) -> String {
        let units = units.to_string();
        if self.rows.early() {
            // The remainder of a negative number is negative.
            let left = format!("({} + {units})", self.dialect.remainder(time, &units));
            return format!("{time} - {}", self.dialect.remainder(&left, &units));
        }
        format!("({}) * {units}", self.dialect.integer_division(time, &units))
    }

    /// Returns whether the sum of a column of whole numbers may be beyond 64 bits.
    fn is_large_sum(&self, column: Option<usize>) -> bool {
        let Some(column) = column else { return false };
        let rows = 0..self.rows.staged.rows();
        let sizes = rows.map(|place| match self.rows.staged.value(place, column) {
            Value::Int(value) => u128::from(value.unsigned_abs()),
            _ => 0,
        });
        let ColumnType::Int { bits: 64, .. } = self.rows.column_type(column) else { return false };
        sizes.sum::<u128>() > i64::MAX as u128
    }

    fn computed(&self, compute: Compute) -> String {
        let column = compute.column.map_or("*".to_owned(), |column| self.name(column));
        match compute.aggregate {
            Aggregate::Sum => self.dialect.sum(&column, self.is_large_sum(compute.column)),
            Aggregate::Avg => self.dialect.mean(&column),
            aggregate => format!("{}({column})", function(aggregate)),
        }
    }

    /// Returns a query for groups. Columns: the group, then what is computed, named `c0`, `c1`, …
    /// Parameters: the [`bounds`] of its conditions, then the value to search, if it is one.
    pub fn group(&self, group: &Group) -> String {
        let by: Vec<String> = group.by.iter().map(|by| self.grouped(*by)).collect();
        let computed = group.compute.iter().map(|compute| self.computed(*compute));
        let columns = by.iter().cloned().chain(computed).enumerate();
        let columns: Vec<String> = columns.map(|(n, column)| format!("{column} AS c{n}")).collect();
        let mut text = format!("SELECT {} FROM {}", columns.join(", "), self.table());
        let met = (!group.conditions.is_empty()).then(|| self.meets(&group.conditions, 1));
        let asked = bounds(self.dialect, self.rows, &group.conditions).count();
        text += &where_all(met.into_iter().chain(self.is_one("", asked + 1)));
        text += &clause("GROUP BY", by, ", ");
        let having = group.having.iter().map(|having| {
            // Not a parameter: the engine would take its type from what is computed.
            let bound = match &having.bound {
                OwnedValue::Float(bound) => format!("{bound:e}"),
                OwnedValue::Int(bound) => bound.to_string(),
                _ => "NULL".to_owned(),
            };
            let computed = self.computed(group.compute[having.compute]);
            format!("{computed} {} {bound}", operator(having.operator))
        });
        text += &clause("HAVING", having, " AND ");
        let order = |order: &OrderBy| {
            // By position, because a column of the table can have the name of a column of the
            // result.
            format!("{}{}", order.column + 1, if order.descending { " DESC" } else { "" })
        };
        text += &clause("ORDER BY", group.order.iter().map(order), ", ");
        if let Some(limit) = group.limit {
            text += &format!(" {}", self.dialect.limit(&limit.to_string()));
        }
        text
    }
}

/// Returns a time of this unit in milliseconds.
fn milliseconds(dialect: &dyn Dialect, time: &str, unit: TimeUnit) -> String {
    match unit.per_second() {
        ..1_000 => format!("({time} * 1000)"),
        1_000 => time.to_owned(),
        finer => format!("({})", dialect.integer_division(time, &(finer / 1_000).to_string())),
    }
}
