//! A table of key, commit and text.

use std::slice;

use embermark_contract::sql::{Access, Param, Rows, SqlStore, Statement};
use embermark_contract::{Lifecycle, Result};

use super::{Ledger, TABLE, add_row};
use crate::oracle::TableContent;
use crate::work::{Abilities, Change, Commit, Key, text};

pub(super) struct SqlLedger {
    store: Box<dyn SqlStore>,
    insert: Statement,
    /// Statements to update and to delete, if rows change.
    changes: Option<[Statement; 2]>,
    all: Statement,
    /// Whether the table existed when the database was opened.
    was_there: bool,
}

impl SqlLedger {
    pub(super) fn new(mut store: Box<dyn SqlStore>, abilities: Abilities) -> Result<Self> {
        let dialect = store.dialect();
        let all = format!("SELECT id, commit_number, content FROM {}", dialect.table(TABLE.name));
        // Creating the table distinguishes a missing one from one that cannot be read, because it
        // fails if the table exists.
        let (all, was_there) = match store.prepare(&all) {
            Ok(all) => (all, true),
            Err(error) => {
                store.batch(&dialect.create_table(&TABLE)).map_err(|_| error)?;
                (store.prepare(&all)?, false)
            }
        };
        let (table, place) = (dialect.table(TABLE.name), |n| dialect.placeholder(n));
        let (first, second, third) = (place(1), place(2), place(3));
        let insert = store.prepare(&format!(
            "INSERT INTO {table} (id, commit_number, content) VALUES ({first}, {second}, {third})"
        ))?;
        let changes = match abilities.updates {
            false => None,
            true => Some([
                store.prepare(&format!(
                    "UPDATE {table} SET commit_number = {first}, content = {second} WHERE id = {third}"
                ))?,
                store.prepare(&format!("DELETE FROM {table} WHERE id = {first}"))?,
            ]),
        };
        Ok(Self { store, insert, changes, all, was_there })
    }

    fn change(&mut self, change: Change, commit: u64) -> Result<()> {
        let (key, content) = (Param::Int(change.key().into()), text(change.key(), commit));
        let (number, content) = (Param::Int(commit.cast_signed()), Param::Text(&content));
        match (change, self.changes) {
            (Change::Update(_), Some([update, _])) => {
                self.store.run(update, &[number, content, key])
            }
            (Change::Delete(_), Some([_, delete])) => self.store.run(delete, &[key]),
            _ => self.store.run(self.insert, &[key, number, content]),
        }
        .map(drop)
    }
}

/// Rows of a bulk load.
struct BulkRows<'a> {
    rows: slice::Iter<'a, (Key, String)>,
    commit: u64,
    row: [Param<'a>; 3],
}

impl Rows for BulkRows<'_> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        let (key, content) = self.rows.next()?;
        let number = Param::Int(self.commit.cast_signed());
        self.row = [Param::Int((*key).into()), number, Param::Text(content)];
        Some(&self.row)
    }
}

impl Ledger for SqlLedger {
    fn commit(&mut self, commit: &Commit) -> Result<()> {
        let number = commit.number;
        if commit.bulk {
            let keys = commit.changes.iter().map(|change| change.key());
            let rows: Vec<_> = keys.map(|key| (key, text(key, number))).collect();
            let mut rows = BulkRows { rows: rows.iter(), commit: number, row: [Param::Null; 3] };
            return self.store.bulk_insert(&TABLE, &mut rows).map(drop);
        }
        if let [alone] = commit.changes[..] {
            // The engine's own commit of one statement.
            return self.change(alone, number);
        }
        self.store.begin(Access::Write)?;
        let changed = commit.changes.iter().try_for_each(|change| self.change(*change, number));
        changed.and_then(|()| self.store.commit()).inspect_err(|_| {
            // The error that led here is the one to report. If the engine has rolled back itself,
            // there is no transaction any more.
            let _ = self.store.roll_back();
        })
    }

    fn read_all(&mut self) -> Result<TableContent> {
        let mut found = TableContent { table: self.was_there, ..TableContent::default() };
        self.store.query(self.all, &[], &mut |row| add_row(&mut found, row))?;
        Ok(found)
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
