//! Conditions on rows, and their values.

use embermark_contract::sql::Dialect;
use embermark_language::{Bound, Condition, Operator};
use embermark_model::table::Value;

use super::super::table_rows::Rows;
use super::Texts;

impl Texts<'_> {
    /// Returns `a = ? AND b = ?` for the key, with parameters from `n` on.
    pub(super) fn is_key(&self, n: usize) -> String {
        let names = self.names(&self.rows.table.key);
        let each = names.iter().zip(n..).map(|(name, n)| format!("{name} = {}", self.place(n)));
        each.collect::<Vec<_>>().join(" AND ")
    }

    /// Returns the condition that a column has one value, which is parameter `n`.
    pub(super) fn is_one(&self, each: Option<usize>, prefix: &str, n: usize) -> Option<String> {
        each.map(|column| format!("{} = {}", self.name_of(prefix, column), self.place(n)))
    }

    /// Returns the conjunction of conditions. Their [`bounds`] are parameters from `n` on.
    pub(super) fn meets(&self, conditions: &[Condition], n: usize) -> String {
        let mut places = n..;
        let conditions = conditions.iter().map(|condition| {
            let bound = match is_written(self.dialect, self.rows, condition) {
                true => literal(self.rows.bound(condition)),
                false => self.place(places.next().unwrap_or_default()),
            };
            let operator = operator(condition.operator);
            format!("{} {operator} {bound}", self.name(condition.column))
        });
        conditions.collect::<Vec<_>>().join(" AND ")
    }
}

/// Returns the bounds of conditions that are parameters, and not literals in the statement.
pub(in super::super) fn bounds<'a>(
    dialect: &'a dyn Dialect,
    rows: &'a Rows,
    conditions: &'a [Condition],
) -> impl Iterator<Item = Value<'a>> {
    let conditions = conditions.iter();
    let asked = conditions.filter(move |condition| !is_written(dialect, rows, condition));
    asked.map(|condition| rows.bound(condition))
}

/// Returns whether a condition's bound is a literal in the statement. Bounds that move while rows
/// arrive are parameters.
fn is_written(dialect: &dyn Dialect, rows: &Rows, condition: &Condition) -> bool {
    if rows.repetition.is_some() && matches!(condition.bound, Bound::End(_)) {
        return false;
    }
    let has_literal = match rows.bound(condition) {
        Value::Null | Value::Bytes(_) => false,
        Value::Int(_) => true,
        Value::Float(float) => float.is_finite(),
        Value::Text(text) => !text.contains('\0'),
    };
    dialect.plans_with_constants() && has_literal
}

/// Returns a bound as a literal of standard SQL.
fn literal(bound: Value<'_>) -> String {
    match bound {
        Value::Int(int) => int.to_string(),
        // With an exponent, because without one it is a decimal.
        Value::Float(float) => format!("{float:e}"),
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Null | Value::Bytes(_) => "NULL".to_owned(),
    }
}

/// Returns a `WHERE` of conditions that must all hold, or nothing if there are none.
pub(super) fn where_all(conditions: &[String]) -> String {
    if conditions.is_empty() {
        String::new()
    } else {
        format!(" WHERE {}", conditions.join(" AND "))
    }
}

/// Returns an operator as SQL and InfluxQL write it.
pub(in super::super) const fn operator(operator: Operator) -> &'static str {
    match operator {
        Operator::Equal => "=",
        Operator::NotEqual => "<>",
        Operator::Less => "<",
        Operator::AtMost => "<=",
        Operator::Greater => ">",
        Operator::AtLeast => ">=",
    }
}
