//! Statements that read rows: by their key, by conditions, and as a range.

use embermark_contract::sql::Dialect;
use embermark_language::{Condition, Range, Span};
use embermark_model::table::Table;
use smallvec::SmallVec;

use super::Texts;

impl Texts<'_> {
    /// Returns a query for the row of a key. Columns: those [outside the key](beside_key), which
    /// the caller knows. Parameters: the key.
    pub(in super::super) fn get(&self) -> String {
        let columns = self.names(&beside_key(self.rows.table)).join(", ");
        format!("SELECT {columns} FROM {} WHERE {}", self.table(), self.is_key(1))
    }

    /// Returns a query by conditions. Parameters: their [`bounds`](super::conditions::bounds).
    pub(in super::super) fn find(&self, conditions: &[Condition], select: &[usize]) -> String {
        let (columns, table) = (self.names(select).join(", "), self.table());
        format!("SELECT {columns} FROM {table} WHERE {}", self.meets(conditions, 1))
    }

    /// Returns a query for every row.
    pub(in super::super) fn contents(&self) -> String {
        format!("SELECT {} FROM {}", self.all(), self.table())
    }

    /// Returns a query for a range. Parameters of a range by rows: the first key and the number of
    /// rows. Parameters of a range by time: the value of the column, if it is about one, the first
    /// time, and the time after the last.
    pub(in super::super) fn range(&self, range: &Range) -> String {
        let (all, table) = (self.all(), self.table());
        match range.span {
            Span::Rows { .. } => {
                let (from, key) = (self.begins_at(), self.names(&self.rows.table.key).join(", "));
                let last = begins_at_parameters(self.dialect, self.rows.table).len() + 1;
                let limit = self.dialect.limit(&self.place(last));
                format!("SELECT {all} FROM {table} WHERE {from} ORDER BY {key} {limit}")
            }
            Span::Last { of, time, .. } | Span::From { of, time, .. } => {
                let mut n = 0;
                let mut next = || {
                    n += 1;
                    self.place(n)
                };
                let of = of.map(|of| format!("{} = {} AND ", self.name(of), next()));
                let of = of.unwrap_or_default();
                let time = self.name(time);
                let (from, to) = (next(), next());
                format!("SELECT {all} FROM {table} WHERE {of}{time} >= {from} AND {time} < {to}")
            }
        }
    }

    /// Returns the condition for keys from a key on.
    fn begins_at(&self) -> String {
        let names = self.names(&self.rows.table.key);
        if let [name] = &names[..] {
            return format!("{name} >= {}", self.place(1));
        }
        if self.dialect.row_values() {
            let places: Vec<String> = (1..=names.len()).map(|n| self.place(n)).collect();
            return format!("({}) >= ({})", names.join(", "), places.join(", "));
        }
        // a >= ? AND (a > ? OR (a = ? AND (b > ? OR (b = ? AND c >= ?)))). The first condition
        // finds the position.
        let mut n = 0;
        let mut next = |name: &str, operator: &str| {
            n += 1;
            format!("{name} {operator} {}", self.place(n))
        };
        let mut text = next(&names[0], ">=");
        for (at, name) in names.iter().enumerate() {
            if at + 1 == names.len() {
                text += &format!(" AND {}", next(name, ">="));
            } else {
                text += &format!(" AND ({} OR ({}", next(name, ">"), next(name, "="));
            }
        }
        text + &"))".repeat(names.len() - 1)
    }
}

/// Returns the columns of a table outside its key, or all columns if there are no others.
pub(in super::super) fn beside_key(table: &Table) -> SmallVec<[usize; 12]> {
    let all = 0..table.columns.len();
    if table.key.len() == table.columns.len() {
        return all.collect();
    }
    all.filter(|column| !table.key.contains(column)).collect()
}

/// Returns the positions in the key of the first parameters of a range by rows.
pub(in super::super) fn begins_at_parameters(
    dialect: &dyn Dialect,
    table: &Table,
) -> SmallVec<[usize; 8]> {
    let keys = table.key.len();
    if keys == 1 || dialect.row_values() {
        return (0..keys).collect();
    }
    let others = (0..keys - 1).flat_map(|at| [at, at]);
    std::iter::once(0).chain(others).chain([keys - 1]).collect()
}
