//! The work's table in a database, for every family.

mod document;
mod kv;
mod series;
mod sql;

use embermark_contract::row::ResultRow;
use embermark_contract::sql::{Nullable, SqlType, TableDef};
use embermark_contract::{Lifecycle, Result, Store};

use crate::oracle::TableContent;
use crate::work::{Abilities, Commit, Key, text};

/// The work's table where rows have columns.
const TABLE: TableDef = TableDef {
    name: "ledger",
    columns: &[
        ("id", SqlType::Big, Nullable::No),
        ("commit_number", SqlType::Big, Nullable::No),
        ("content", SqlType::Text, Nullable::No),
    ],
    key: &["id"],
};

/// The work's table.
pub(crate) trait Ledger {
    /// Does a commit's changes as one commit, by the bulk path if the commit says so. [`open`]
    /// makes the table itself.
    fn commit(&mut self, commit: &Commit) -> Result<()>;

    /// Reads every row and checks each against what its commit wrote.
    fn read_all(&mut self) -> Result<TableContent>;

    /// Returns what every store has.
    fn lifecycle(&mut self) -> &mut dyn Lifecycle;

    /// Closes the database.
    fn close(self: Box<Self>) -> Result<()>;
}

/// Opens the table in an open database, and creates it if it does not exist. If the store cannot
/// tell, `is_there` does.
pub(crate) fn open(store: Store, abilities: Abilities, is_there: bool) -> Result<Box<dyn Ledger>> {
    Ok(match store {
        Store::Kv(store) => Box::new(kv::KvLedger::new(store)?),
        Store::Sql(store) => Box::new(sql::SqlLedger::new(store, abilities)?),
        Store::Document(store) => Box::new(document::DocumentLedger::new(store, is_there)?),
        Store::Series(store) => Box::new(series::SeriesLedger::new(store)),
    })
}

/// Adds a row of key, commit and content, with its commit if the row is what that commit wrote, and
/// with the largest key, which no client writes, for an invalid one.
fn add_row(found: &mut TableContent, row: &dyn ResultRow) -> Result<()> {
    let key = row.int(0)?.and_then(|key| Key::try_from(key).ok()).unwrap_or(Key::MAX);
    let commit = row.int(1)?.map(i64::cast_unsigned);
    let content = row.text(2)?;
    found.add_row(key, commit.filter(|commit| content == Some(&*text(key, *commit))));
    Ok(())
}
