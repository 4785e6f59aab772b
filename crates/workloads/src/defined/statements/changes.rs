//! Statements that insert, change, and delete rows.

use embermark_language::{Change, Condition, Removed, Set};
use embermark_model::table::OwnedValue;

use super::Texts;

impl Texts<'_> {
    /// Returns an INSERT. Parameters: every stored column in order.
    pub(in super::super) fn insert(&self) -> String {
        let written = self.written();
        let names = written.iter().map(|stored| self.dialect.column(self.written_name(stored)));
        let (table, all) = (self.table(), names.collect::<Vec<_>>().join(", "));
        format!("INSERT INTO {table} ({all}) VALUES ({})", self.places(&written))
    }

    /// Returns an upsert. Parameters: every stored column in order.
    pub(super) fn upsert(&self) -> String {
        let (written, columns) = (self.written(), &self.rows.table.columns);
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
    pub(in super::super) fn update(&self, columns: &[usize], at_once: bool) -> String {
        let set = self.names(columns);
        let set = set.iter().zip(1..).map(|(name, n)| format!("{name} = {}", self.place(n)));
        let (set, n) = (set.collect::<Vec<_>>().join(", "), columns.len() + 1);
        let is = if at_once { self.is_between(n) } else { self.is_key(n) };
        format!("UPDATE {} SET {set} WHERE {is}", self.table())
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
    pub(in super::super) fn updates(&self, set: &Set, at_once: bool) -> Vec<String> {
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
    pub(in super::super) fn update_where(
        &self,
        conditions: &[Condition],
        set: &[(usize, OwnedValue)],
    ) -> String {
        let each = set.iter().zip(1..);
        let each =
            each.map(|((column, _), n)| format!("{} = {}", self.name(*column), self.place(n)));
        let each = each.collect::<Vec<_>>().join(", ");
        let meets = self.meets(conditions, set.len() + 1);
        format!("UPDATE {} SET {each} WHERE {meets}", self.table())
    }

    /// Returns a DELETE. Parameters: the key, the [`bounds`](super::conditions::bounds) of the
    /// conditions, or the time of the last row to delete.
    pub(in super::super) fn delete(&self, removed: &Removed) -> String {
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
    pub(in super::super) fn delete_between(&self, time: usize) -> String {
        let (time, from, to) = (self.name(time), self.place(1), self.place(2));
        format!("DELETE FROM {} WHERE {time} >= {from} AND {time} < {to}", self.table())
    }
}
