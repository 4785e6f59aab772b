//! Conditions on rows and their values, and statements that insert, change, and delete rows.

use embermark_contract::sql::Dialect;
use embermark_language::{Aggregate, Bound, Change, Condition, Operator, Removed, Set};
use embermark_model::table::{OwnedValue, Value};

use super::super::Rows;
use super::super::documents::stored;
use super::Texts;

impl Texts<'_> {
    /// Returns `a = ? AND b = ?` for the key, with parameters from `n` on.
    pub(super) fn is_key(&self, n: usize) -> String {
        let names = self.names(&self.rows.table.key);
        let each = names.iter().zip(n..).map(|(name, n)| format!("{name} = {}", self.place(n)));
        each.collect::<Vec<_>>().join(" AND ")
    }

    /// Returns the condition that a column has the operation's value, which is parameter `n`.
    pub(super) fn is_one(&self, prefix: &str, n: usize) -> Option<String> {
        self.each.map(|column| format!("{} = {}", self.name_of(prefix, column), self.place(n)))
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

    /// Returns an INSERT. Parameters: every stored column in order.
    pub fn insert(&self) -> String {
        let written = stored(self.rows.table);
        let names = written.iter().map(|stored| self.dialect.column(self.written_name(stored)));
        let (table, all) = (self.table(), names.collect::<Vec<_>>().join(", "));
        format!("INSERT INTO {table} ({all}) VALUES ({})", self.places(&written))
    }

    /// Returns an upsert. Parameters: every stored column in order.
    pub(super) fn upsert(&self) -> String {
        let (written, columns) = (stored(self.rows.table), &self.rows.table.columns);
        let names: Vec<&str> = written.iter().map(|stored| self.written_name(stored)).collect();
        let key: Vec<&str> =
            self.rows.table.key.iter().map(|column| &*columns[*column].name).collect();
        let upsert = self.dialect.upsert(&self.rows.table.name, &names, &key);
        let plain: Vec<String> = (1..=written.len()).map(|n| self.place(n)).collect();
        upsert.replacen(
            &format!("({})", plain.join(", ")),
            &format!("({})", self.places(&written)),
            1,
        )
    }

    /// Returns an UPDATE. Parameters: the columns, then the key, or with `at_once` those of
    /// [`is_between`](Self::is_between).
    pub fn update(&self, columns: &[usize], at_once: bool) -> String {
        let n = columns.len() + 1;
        self.update_rows(columns, &if at_once { self.is_between(n) } else { self.is_key(n) })
    }

    /// Returns an UPDATE of the rows that meet a condition. Its first parameters are the columns.
    fn update_rows(&self, columns: &[usize], condition: &str) -> String {
        let set = self.names(columns);
        let set = set.iter().zip(1..).map(|(name, n)| format!("{name} = {}", self.place(n)));
        let set = set.collect::<Vec<_>>().join(", ");
        format!("UPDATE {} SET {set} WHERE {condition}", self.table())
    }

    /// Returns the condition for rows between two keys that differ only in their last column.
    /// Parameters from `n` on: the first key, then the last column of the last key.
    fn is_between(&self, n: usize) -> String {
        let names = self.names(&self.rows.table.key);
        let last = names.len() - 1;
        let own = names[..last].iter().zip(n..);
        let own = own.map(|(name, n)| format!("{name} = {}", self.place(n)));
        let (from, to) = (self.place(n + last), self.place(n + last + 1));
        let between = format!("{} BETWEEN {from} AND {to}", names[last]);
        own.chain([between]).collect::<Vec<_>>().join(" AND ")
    }

    /// Returns the statements of an update: one, or one per column if each operation sets one of
    /// them.
    pub fn updates(&self, set: &Set, at_once: bool) -> Vec<String> {
        match set {
            Set::Columns(columns) => vec![self.update(columns, at_once)],
            Set::OneOf(columns) => {
                let each = columns.iter().map(std::slice::from_ref);
                each.map(|column| self.update(column, at_once)).collect()
            }
        }
    }

    /// Returns an UPDATE by conditions. Parameters: the values, then the
    /// [`bounds`](super::conditions::bounds) of the conditions.
    pub fn update_where(&self, conditions: &[Condition], set: &[(usize, OwnedValue)]) -> String {
        let columns: Vec<usize> = set.iter().map(|(column, _)| *column).collect();
        self.update_rows(&columns, &self.meets(conditions, set.len() + 1))
    }

    /// Returns a DELETE. Parameters: the key, the [`bounds`](super::conditions::bounds) of the
    /// conditions, or the time of the last row to delete.
    pub fn delete(&self, removed: &Removed) -> String {
        let condition = match removed {
            Removed::Keys { keys, .. } if keys.rows > 1 => self.is_between(1),
            Removed::Keys { .. } => self.is_key(1),
            Removed::Where { by: Change::OneByOne(_), .. } => self.is_key(1),
            Removed::Where { conditions, .. } => self.meets(conditions, 1),
            Removed::Older { time, .. } => format!("{} <= {}", self.name(*time), self.place(1)),
        };
        format!("DELETE FROM {} WHERE {condition}", self.table())
    }

    /// Returns a DELETE of a range of time. Parameters: its first time, and the first time after
    /// it.
    pub fn delete_between(&self, time: usize) -> String {
        let (time, from, to) = (self.name(time), self.place(1), self.place(2));
        format!("DELETE FROM {} WHERE {time} >= {from} AND {time} < {to}", self.table())
    }
}

/// Returns the bounds of conditions that are parameters, and not literals in the statement.
pub fn bounds<'a>(
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
pub(super) fn where_all(conditions: impl IntoIterator<Item = String>) -> String {
    clause("WHERE", conditions, " AND ")
}

/// Returns a clause of these parts, or nothing if there are none.
pub fn clause(keyword: &str, parts: impl IntoIterator<Item = String>, between: &str) -> String {
    let parts = Vec::from_iter(parts);
    if parts.is_empty() { String::new() } else { format!(" {keyword} {}", parts.join(between)) }
}

/// Returns the function of an aggregate as SQL writes it.
pub const fn function(aggregate: Aggregate) -> &'static str {
    match aggregate {
        Aggregate::Count => "COUNT",
        Aggregate::Sum => "SUM",
        Aggregate::Avg => "AVG",
        Aggregate::Min => "MIN",
        Aggregate::Max => "MAX",
    }
}

/// Returns an operator as SQL and InfluxQL write it.
pub const fn operator(operator: Operator) -> &'static str {
    match operator {
        Operator::Equal => "=",
        Operator::NotEqual => "<>",
        Operator::Less => "<",
        Operator::AtMost => "<=",
        Operator::Greater => ">",
        Operator::AtLeast => ">=",
    }
}
