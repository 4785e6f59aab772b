//! The columnar copy of the work's table, if a store keeps one.

use std::ops::ControlFlow;
use std::sync::Arc;

use embermark_contract::kv::mirror::{Decode, Row};
use embermark_contract::kv::{KvStore, Range, Table};
use embermark_contract::row::ResultRow;
use embermark_contract::sql::{Param, QueryKind, SqlStore, Statement, TableDef};
use embermark_contract::{Result, Scope};

use crate::ledger::TABLE;
use crate::work::Key;

/// Number of commits between two queries of the rows, so that changes reach them in the middle of
/// the work. It is small enough for one query in each short work of two operations, and more than
/// one, so that several commits are transferred at once.
const QUERY_INTERVAL: u64 = 3;

/// The pairs of the ledger as rows.
struct LedgerDecoder;

impl Decode for LedgerDecoder {
    fn rows(&self) -> &TableDef {
        &TABLE
    }

    fn key<'a>(&self, key: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        let key = Key::from_be_bytes(key.try_into().ok()?);
        row.push(Param::Int(key.into()));
        Some(())
    }

    fn value<'a>(&self, value: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        let (commit, content) = value.split_first_chunk()?;
        row.push(Param::Int(i64::from_be_bytes(*commit)));
        row.push(Param::Text(str::from_utf8(content).ok()?));
        Some(())
    }
}

/// The second copy of the ledger.
#[derive(Default)]
pub(super) struct ColumnarCopy {
    prepared: Option<PreparedQueries>,
}

/// Queries of the rows.
#[derive(Clone, Copy)]
struct PreparedQueries {
    /// Number of the rows that they were prepared for.
    number: u64,
    count: Statement,
    all: Statement,
}

/// A row, as either copy has it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CopyRow {
    key: i64,
    commit: i64,
    content: Vec<u8>,
}

impl ColumnarCopy {
    /// Makes the ledger available as rows. `None` if the store keeps no second copy.
    pub(super) fn open(store: &mut dyn KvStore, table: Table) -> Result<Option<Self>> {
        let Some(mirror) = store.mirror() else { return Ok(None) };
        mirror.show(table, Arc::new(LedgerDecoder))?;
        Ok(Some(Self::default()))
    }

    /// Queries the rows before a commit, if it is time.
    pub(super) fn query_before(&mut self, store: &mut dyn KvStore, commit: u64) -> Result<()> {
        if !commit.is_multiple_of(QUERY_INTERVAL) {
            return Ok(());
        }
        self.query(store, |prepared| prepared.count, |(), _| Ok(()))
    }

    /// Returns the first difference between the rows by SQL and the pairs by a scan. No
    /// client may write meanwhile.
    pub(super) fn difference(
        &mut self,
        store: &mut dyn KvStore,
        table: Table,
    ) -> Result<Option<String>> {
        let rows = self.query(
            store,
            |prepared| prepared.all,
            |rows: &mut Vec<CopyRow>, row| {
                rows.push(CopyRow::from_row(row)?);
                Ok(())
            },
        )?;
        let mut pairs = Vec::new();
        store.within(Scope::Snapshot, |operations| {
            operations.scan(table, Range::default(), &mut |key, value| {
                pairs.push(CopyRow::from_pair(key, value));
                ControlFlow::Continue(())
            })
        })?;
        Ok(difference(&pairs, &rows))
    }

    /// Queries the rows.
    fn query<T: Default>(
        &mut self,
        store: &mut dyn KvStore,
        statement: fn(PreparedQueries) -> Statement,
        add: fn(&mut T, &dyn ResultRow) -> Result<()>,
    ) -> Result<T> {
        let mut found = T::default();
        store.ask_rows(&mut found, &mut |sql, number, found| {
            *found = T::default();
            let prepared = self.prepare(sql, number)?;
            sql.query(statement(prepared), &[], &mut |row| add(found, row))
        })?;
        Ok(found)
    }

    /// Returns the prepared queries.
    fn prepare(&mut self, sql: &mut dyn SqlStore, number: u64) -> Result<PreparedQueries> {
        if let Some(prepared) = self.prepared.filter(|prepared| prepared.number == number) {
            return Ok(prepared);
        }
        sql.expect(QueryKind::Analytic)?;
        let table = sql.dialect().table(TABLE.name);
        let count = sql.prepare(&format!("SELECT COUNT(*) FROM {table}"))?;
        let all = format!("SELECT id, commit_number, content FROM {table} ORDER BY id");
        let prepared = PreparedQueries { number, count, all: sql.prepare(&all)? };
        Ok(*self.prepared.insert(prepared))
    }
}

impl CopyRow {
    /// Reads a row of SQL. An absent value becomes one that no pair has.
    fn from_row(row: &dyn ResultRow) -> Result<Self> {
        let (key, commit) = (row.int(0)?.unwrap_or(-1), row.int(1)?.unwrap_or(-1));
        let content = row.text(2)?.unwrap_or_default().as_bytes().to_vec();
        Ok(Self { key, commit, content })
    }

    /// Reads a pair. A key of another length becomes one that no client writes.
    fn from_pair(key: &[u8], value: &[u8]) -> Self {
        let key = key.try_into().map_or(Key::MAX, Key::from_be_bytes).into();
        let (commit, content) = value.split_first_chunk().unwrap_or((&[0xff; 8], value));
        Self { key, commit: i64::from_be_bytes(*commit), content: content.to_vec() }
    }
}

/// Returns the first difference between the pairs and the rows, which are both in the order of
/// keys.
fn difference(pairs: &[CopyRow], rows: &[CopyRow]) -> Option<String> {
    let same = pairs.iter().zip(rows).take_while(|(pair, row)| pair == row).count();
    let message = |what: String| Some(format!("the rows differ from the pairs: {what}"));
    match (pairs.get(same), rows.get(same)) {
        (None, None) => None,
        (Some(pair), Some(row)) if pair.key == row.key && pair.commit == row.commit => {
            message(format!("key {} of commit {} has another text by SQL", pair.key, pair.commit))
        }
        (Some(pair), Some(row)) if pair.key == row.key => {
            let CopyRow { key, commit, .. } = pair;
            message(format!("key {key} is of commit {commit}, by SQL of commit {}", row.commit))
        }
        (Some(pair), row) if row.is_none_or(|row| pair.key < row.key) => {
            message(format!("key {} of commit {} is missing by SQL", pair.key, pair.commit))
        }
        (_, Some(CopyRow { key, commit, .. })) => {
            message(format!("key {key} of commit {commit} is present only by SQL"))
        }
        (Some(_), None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::value;
    use super::*;
    use crate::work::text;

    fn pair(key: Key, commit: u64) -> CopyRow {
        CopyRow::from_pair(&key.to_be_bytes(), &value(key, commit))
    }

    #[test]
    fn a_pair_is_a_row_of_its_key_commit_and_text() {
        let (key, bytes, content) = (70_000_u32.to_be_bytes(), value(70_000, 5), text(70_000, 5));
        let mut row = Row::new();
        assert_eq!(LedgerDecoder.key(&key, &mut row), Some(()));
        assert_eq!(LedgerDecoder.value(&bytes, &mut row), Some(()));
        assert_eq!(*row, [Param::Int(70_000), Param::Int(5), Param::Text(&content)]);
        assert_eq!(row.len(), TABLE.columns.len());
    }

    #[test]
    fn other_bytes_are_no_row() {
        for key in [&[0; 3][..], &[0; 5], &[]] {
            assert_eq!(LedgerDecoder.key(key, &mut Row::new()), None);
        }
        let not_text = [&[0; 8][..], &[0xff]].concat();
        for value in [&[0; 7][..], &[], &not_text] {
            assert_eq!(LedgerDecoder.value(value, &mut Row::new()), None);
        }
    }

    #[test]
    fn the_first_difference_is_told() {
        let pairs = [pair(1, 2), pair(2, 3), pair(4, 3)];
        let says = |rows: &[CopyRow], what: &str| {
            let told = difference(&pairs, rows).unwrap();
            assert!(told.ends_with(what), "{told}");
        };
        assert_eq!(difference(&pairs, &pairs), None);
        assert_eq!(difference(&[], &[]), None);
        let [first, second, third] = pairs.clone();
        says(&[first.clone(), second.clone()], "key 4 of commit 3 is missing by SQL");
        says(&[second.clone(), third.clone()], "key 1 of commit 2 is missing by SQL");
        says(
            &[first.clone(), pair(2, 2), third.clone()],
            "key 2 is of commit 3, by SQL of commit 2",
        );
        let twice = [first.clone(), first.clone(), second.clone(), third.clone()];
        says(&twice, "key 1 of commit 2 is present only by SQL");
        let more = [first.clone(), second.clone(), third.clone(), pair(9, 9)];
        says(&more, "key 9 of commit 9 is present only by SQL");
        let other = CopyRow { content: b"x".to_vec(), ..second };
        says(&[first, other, third], "key 2 of commit 3 has another text by SQL");
    }
}
