//! Conditions on rows, and the values that they compare columns with.

use embermark_contract::sql::Dialect;
use embermark_language::{Bound, Condition, Operator};
use embermark_model::table::Value;

use super::super::table_rows::Rows;
use super::Texts;

impl Texts<'_> {
    /// `a = ? AND b = ?` of the key, its parameters from `n` on.
    pub(super) fn is_key(&self, n: usize) -> String {
        let names = self.names(&self.rows.table.key);
        let each = names.iter().zip(n..).map(|(name, n)| format!("{name} = {}", self.place(n)));
        each.collect::<Vec<_>>().join(" AND ")
    }

    /// The condition that rows are of one value of a column, the `n`th parameter.
    pub(super) fn is_one(&self, each: Option<usize>, prefix: &str, n: usize) -> Option<String> {
        each.map(|column| format!("{} = {}", self.name_of(prefix, column), self.place(n)))
    }

    /// Conditions that all hold, their [`bounds`] parameters from `n` on.
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

/// The bounds of conditions that are parameters of a statement: those that are not written in it.
pub(in super::super) fn bounds<'a>(
    dialect: &'a dyn Dialect,
    rows: &'a Rows,
    conditions: &'a [Condition],
) -> impl Iterator<Item = Value<'a>> {
    let conditions = conditions.iter();
    let asked = conditions.filter(move |condition| !is_written(dialect, rows, condition));
    asked.map(|condition| rows.bound(condition))
}

/// Whether the bound of a condition is written in a statement: not one that moves while rows come in.
fn is_written(dialect: &dyn Dialect, rows: &Rows, condition: &Condition) -> bool {
    if rows.again.is_some() && matches!(condition.bound, Bound::End(_)) {
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

/// A bound as standard SQL writes it.
fn literal(bound: Value<'_>) -> String {
    match bound {
        Value::Int(int) => int.to_string(),
        // With an exponent, without which it is a decimal.
        Value::Float(float) => format!("{float:e}"),
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Null | Value::Bytes(_) => "NULL".to_owned(),
    }
}

/// `WHERE` with conditions that all hold; nothing where there is none.
pub(super) fn where_all(conditions: &[String]) -> String {
    if conditions.is_empty() {
        String::new()
    } else {
        format!(" WHERE {}", conditions.join(" AND "))
    }
}

/// As SQL, and InfluxQL, write it.
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
