//! The tables of a workload file in a key-value store.

mod asks;

use std::ops::ControlFlow;
use std::sync::Arc;

use embermark_contract::kv::{self, KvStore, Operations, Pairs, Table, TableDef};
use embermark_contract::{EngineError, Lifecycle, Result, Scope};
use embermark_language::{Group, Range, Removed, Span, Work};
use embermark_meter::Meter;
use embermark_model::fingerprint::{Checksum, Fingerprint};
use embermark_model::result::Execution;
use embermark_model::table::{ColumnType, Value};
use smallvec::SmallVec;

use super::access::{Access, By, Filter, filters};
use super::aggregate::Groups;
use super::cell::{Cell, Rows, table_of};
use super::codec::Codec;
use super::limits;
use super::newest::Newest;
use super::port::{Database, Found, Session, SessionWork, VisitRow, with};
use super::rows::Source;
use crate::reopenable::Reopenable;
use asks::{AskingSession, Asks};

/// Rows that one transaction deletes of those that are too old.
const DELETED_AT_ONCE: usize = 10_000;

/// Receives pairs with the coding of their table.
type VisitPair<'a> = dyn FnMut(&Codec, &[u8], &[u8]) -> ControlFlow<()> + 'a;

pub(super) struct KvTables {
    store: Reopenable<dyn KvStore>,
    cell: Arc<Cell>,
    codecs: Arc<[Codec]>,
    tables: Vec<Table>,
    /// Whether the engine itself keeps indexes.
    keeps_indexes: bool,
    /// Of a store that keeps the tables in columns, too.
    asks: Option<Asks>,
    buffers: Buffers,
}

/// Bytes on their way to and from the store.
#[derive(Default)]
struct Buffers {
    key: Vec<u8>,
    value: Vec<u8>,
    to: Vec<u8>,
    /// Keys found, to be deleted.
    found: Vec<Vec<u8>>,
}

impl KvTables {
    pub(super) fn new(
        mut store: Reopenable<dyn KvStore>,
        cell: Arc<Cell>,
        keeps_indexes: bool,
    ) -> Result<Self> {
        let bytes_first = |rows: &Rows| {
            let key = &rows.table.key;
            key[..key.len() - 1].iter().any(|column| rows.of(*column) == ColumnType::Bytes)
        };
        if cell.tables.iter().any(bytes_first) {
            let what = "bytes in a key that are not its last column";
            return Err(EngineError::unsupported("our coding of keys", what));
        }
        let codecs: Arc<[Codec]> = cell.tables.iter().map(|rows| Codec::new(rows.table)).collect();
        limits::check_keys(&store.limits(), &cell, &codecs)?;
        let asks = store.mirror().is_some().then(|| Asks::new(&cell, &codecs));
        let (tables, buffers) = (Vec::new(), Buffers::default());
        let mut new = Self { store, cell, codecs, tables, keeps_indexes, asks, buffers };
        new.attach()?;
        Ok(new)
    }

    /// How a phase that filters finds its rows.
    fn access(&self, phase: usize) -> Access {
        let rows = self.cell.rows_of(phase);
        Access::of(rows.table, &filters(&self.cell, phase, 0))
    }
}

/// Whether the newest row of each value of a column lies at the end of its rows, in the order of keys.
fn newest_by_key(rows: &Rows, by: usize, time: usize) -> bool {
    rows.table.key.starts_with(&[by, time])
}

impl Database for KvTables {
    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn execution(&self, phase: usize) -> Result<Execution> {
        let work = self.cell.work(phase);
        let table = match (table_of(work), work, &self.asks) {
            (Some(table), ..) => table,
            (None, Work::Sql(sql), Some(_)) => {
                return self.cell.text_of(sql).map(|_| Execution::Native);
            }
            _ => return Err(EngineError::unsupported("a key-value store", "SQL")),
        };
        let rows = &self.cell.tables[table];
        let keeps = self.keeps_indexes || rows.table.indexes.is_empty();
        let native = match work {
            Work::Get { .. } => true,
            Work::Insert { .. } | Work::Update { .. } | Work::ReadModifyWrite { .. } => keeps,
            Work::Delete { removed: Removed::Keys { .. }, .. } => keeps,
            Work::Latest { by, time, .. } => newest_by_key(rows, *by, *time),
            Work::Range(Range { span: Span::Rows { .. }, .. }) => true,
            Work::Range(_) => {
                let access = self.access(phase);
                access.exact && (access.by == By::Key || keeps)
            }
            _ => false,
        };
        Ok(if native { Execution::Native } else { Execution::ClientSide })
    }

    fn clear(&mut self, table: usize) -> Result<()> {
        self.store.clear(self.tables[table])
    }

    fn attach(&mut self) -> Result<()> {
        self.tables.clear();
        for (place, (rows, codec)) in self.cell.tables.iter().zip(&*self.codecs).enumerate() {
            let numbers = 0..rows.table.indexes.len();
            let names: Vec<String> = numbers.map(|number| format!("index{number}")).collect();
            // A store's names have letters and digits alone, so that the file's would not stay apart.
            let name = format!("table{place}");
            let indexes = codec.indexes(&names);
            let def = TableDef { name: &name, key_length: codec.key_length(), indexes: &indexes };
            self.tables.push(self.store.table(&def)?);
        }
        self.asks.as_ref().map_or(Ok(()), |asks| asks.show(&mut *self.store, &self.tables))
    }

    fn ready(&mut self, phase: usize) -> Result<()> {
        let Self { asks, store, cell, .. } = self;
        asks.as_mut().map_or(Ok(()), |asks| asks.ready(&mut **store, cell, phase))
    }

    fn bulk(&mut self, table: usize, rows: usize, meter: &mut Meter) -> Result<u64> {
        let source = self.cell.tables[table].source(rows, self.store.bulk_sorted(), meter);
        let codec = &self.codecs[table];
        let mut pairs = TablePairs { source, codec, key: Vec::new(), value: Vec::new() };
        let loaded = self.store.bulk(self.tables[table], &mut pairs)?;
        pairs.source.count_given();
        Ok(loaded)
    }

    fn within(&mut self, scope: Scope, work: &mut SessionWork<'_>) -> Result<()> {
        let Self { store, cell, codecs, tables, asks, buffers, .. } = self;
        if let (Some(asks), Scope::PerOperation) = (asks, scope) {
            let store = &mut **store;
            return work(&mut AskingSession { store, cell, codecs, tables, buffers, asks });
        }
        store.within(scope, |operations| {
            work(&mut KvSession { operations, cell, codecs, tables, buffers })
        })
    }

    fn contents(&mut self, table: usize, visit: &mut VisitRow<'_>) -> Result<()> {
        let (codec, number, mut broken) = (&self.codecs[table], self.tables[table], None);
        self.store.within(Scope::Snapshot, |snapshot| {
            snapshot.scan(number, kv::Range::default(), &mut |key, value| {
                let row =
                    codec.read(key, value, SmallVec::<[Value<'_>; 12]>::new(), |mut row, v| {
                        row.push(v);
                        row
                    });
                match row {
                    Some(row) => visit(&row),
                    None => {
                        broken = Some(format!("{key:?} with {value:?} is no pair that was put"))
                    }
                }
                ControlFlow::Continue(())
            })
        })?;
        broken.map_or(Ok(()), |what| Err(EngineError::failed("the store", "give back a row", what)))
    }

    fn reopen(&mut self) -> Result<()> {
        self.store.reopen()?;
        if let Some(asks) = &mut self.asks {
            asks.reopened();
        }
        self.attach()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}

/// Rows on their way into a bulk load.
struct TablePairs<'a> {
    source: Source<'a>,
    codec: &'a Codec,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Pairs for TablePairs<'_> {
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        let (rows, place) = self.source.advance()?;
        self.codec.key(rows.key(place), &mut self.key);
        self.codec.value(|column| rows.staged.value(place, column), &mut self.value);
        Some((&self.key, &self.value))
    }
}

struct KvSession<'a> {
    operations: &'a mut dyn Operations,
    cell: &'a Cell,
    codecs: &'a [Codec],
    tables: &'a [Table],
    buffers: &'a mut Buffers,
}

impl KvSession<'_> {
    /// Reads the row of the key in the buffer.
    fn get(&mut self, table: usize, found: &mut Found) -> Result<()> {
        let key = &self.buffers.key;
        if let Some(value) = self.operations.get(self.tables[table], key)? {
            found.rows += read(&self.codecs[table], key, value)?;
        }
        Ok(())
    }

    /// Sets columns of the row of the key in the buffer, where it lies.
    fn update(&mut self, phase: usize, i: usize, table: usize) -> Result<bool> {
        let (cell, codec) = (self.cell, &self.codecs[table]);
        self.operations.modify(self.tables[table], &self.buffers.key, &mut |bytes| {
            for column in cell.set(phase, i) {
                codec.set(bytes, *column, cell.fresh(phase, i, *column));
            }
        })
    }

    /// Visits the rows that meet the conditions of operation `i`.
    fn filtered(
        &mut self,
        phase: usize,
        i: usize,
        table: usize,
        visit: &mut VisitPair<'_>,
    ) -> Result<()> {
        let rows = &self.cell.tables[table];
        let filters = filters(self.cell, phase, i);
        let access = Access::of(rows.table, &filters);
        let codec = &self.codecs[table];
        let Buffers { key: from, to, .. } = self.buffers;
        let ends = access.bounds(rows.table, codec, &filters, from, to);
        let range = kv::Range::between(from, ends.then_some(&**to));
        let mut each = |key: &[u8], value: &[u8]| {
            let meets = |f: &Filter<'_>| {
                codec.column(key, value, f.column).is_some_and(|value| f.is_met(&value))
            };
            if access.exact || filters.iter().all(meets) {
                return visit(codec, key, value);
            }
            ControlFlow::Continue(())
        };
        match access.by {
            By::Index(number) => self.operations.find(self.tables[table], number, range, &mut each),
            By::All | By::Key => self.operations.scan(self.tables[table], range, &mut each),
        }
    }

    /// The newest rows of each value of a column, each found from the end of its rows.
    fn newest_by_key(&mut self, table: usize, found: &mut Checksum) -> Result<()> {
        let codec = &self.codecs[table];
        // The rows of one value, and of its newest time, begin with these bytes of its newest key.
        let (mut of_value, mut of_time) = (0, 0);
        let Buffers { key: newest, to, .. } = self.buffers;
        let (mut ended, mut first) = (false, true);
        while !ended {
            ended = true;
            let mut unread = false;
            let before = if first { None } else { Some(&to[..of_value]) };
            let range = kv::Range { from: None, to: before, ..Default::default() }.backward();
            newest.clear();
            self.operations.scan(self.tables[table], range, &mut |key, value| {
                if newest.is_empty() {
                    newest.extend_from_slice(key);
                    (of_value, of_time) = (codec.prefix(key, 1), codec.prefix(key, 2));
                    ended = false;
                } else if key.get(..of_time) != Some(&newest[..of_time]) {
                    return ControlFlow::Break(());
                }
                match codec.read(key, value, Fingerprint::default(), with) {
                    Some(print) => *found += print,
                    None => unread = true,
                }
                ControlFlow::Continue(())
            })?;
            if unread {
                return Err(foreign());
            }
            std::mem::swap(newest, to);
            first = false;
        }
        Ok(())
    }

    /// The same from all rows.
    fn newest_of_all(
        &mut self,
        table: usize,
        by: usize,
        time: usize,
        found: &mut Checksum,
    ) -> Result<()> {
        let codec = &self.codecs[table];
        let (mut newest, mut broken) = (Newest::default(), false);
        self.operations.scan(self.tables[table], kv::Range::default(), &mut |key, value| {
            let columns = (codec.column(key, value, by), codec.column(key, value, time));
            let row = codec.read(key, value, Fingerprint::default(), with);
            let ((Some(of), Some(at)), Some(row)) = (columns, row) else {
                broken = true;
                return ControlFlow::Break(());
            };
            newest.add(of, at, row);
            ControlFlow::Continue(())
        })?;
        if broken {
            return Err(foreign());
        }
        *found += newest.rows();
        Ok(())
    }

    fn range(&mut self, phase: usize, i: usize, range: &Range, found: &mut Found) -> Result<()> {
        let mut broken = false;
        let table = range.table;
        if let Span::Rows { .. } = range.span {
            let codec = &self.codecs[table];
            codec.key(self.cell.key(phase, i), &mut self.buffers.key);
            let mut left = self.cell.wanted(phase, i);
            let from = kv::Range::between(&self.buffers.key, None);
            self.operations.scan(self.tables[table], from, &mut |key, value| {
                match codec.read(key, value, Fingerprint::default(), with) {
                    Some(print) => found.rows += print,
                    None => broken = true,
                }
                left -= 1;
                if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
        } else {
            self.filtered(phase, i, table, &mut |codec, key, value| {
                match codec.read(key, value, Fingerprint::default(), with) {
                    Some(print) => found.rows += print,
                    None => broken = true,
                }
                ControlFlow::Continue(())
            })?;
        }
        if broken { Err(foreign()) } else { Ok(()) }
    }

    fn group(&mut self, phase: usize, group: &Group, found: &mut Found) -> Result<()> {
        let mut groups = Groups::new(group);
        self.filtered(phase, 0, group.table, &mut |codec, key, value| {
            groups.add(|column| codec.column(key, value, column).unwrap_or(Value::Null));
            ControlFlow::Continue(())
        })?;
        found.result.clear();
        groups.result(&mut found.result);
        Ok(())
    }

    /// Deletes some of the rows that are too old.
    fn delete_older(&mut self, phase: usize, table: usize, found: &mut Found) -> Result<()> {
        let mut keys = std::mem::take(&mut self.buffers.found);
        keys.clear();
        self.filtered(phase, 0, table, &mut |_, key, _| {
            keys.push(key.to_vec());
            if keys.len() == DELETED_AT_ONCE {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        for key in &keys {
            found.changed += u64::from(self.operations.delete(self.tables[table], key)?);
        }
        found.more = keys.len() == DELETED_AT_ONCE;
        self.buffers.found = keys;
        Ok(())
    }
}

#[inline]
fn read(codec: &Codec, key: &[u8], value: &[u8]) -> Result<Fingerprint> {
    codec.read(key, value, Fingerprint::default(), with).ok_or_else(foreign)
}

#[cold]
fn foreign() -> EngineError {
    EngineError::failed("the store", "give back a row", "it is no pair that was put")
}

impl Session for KvSession<'_> {
    fn perform(&mut self, phase: usize, i: usize, found: &mut Found) -> Result<()> {
        let cell = self.cell;
        let work = cell.work(phase);
        let table = table_of(work).unwrap_or_default();
        match work {
            Work::Insert { .. } => {
                let (rows, codec) = (&cell.tables[table], &self.codecs[table]);
                codec.key(rows.key(i), &mut self.buffers.key);
                codec.value(|column| rows.staged.value(i, column), &mut self.buffers.value);
                let Buffers { key, value, .. } = &*self.buffers;
                self.operations.put(self.tables[table], key, value)?;
                found.changed += 1;
            }
            Work::Get { .. } => {
                self.codecs[table].key(cell.key(phase, i), &mut self.buffers.key);
                self.get(table, found)?;
            }
            Work::Latest { by, time, .. } => {
                found.rows = Checksum::default();
                if newest_by_key(&cell.tables[table], *by, *time) {
                    self.newest_by_key(table, &mut found.rows)?;
                } else {
                    self.newest_of_all(table, *by, *time, &mut found.rows)?;
                }
            }
            Work::Range(range) => self.range(phase, i, range, found)?,
            Work::Group(group) => self.group(phase, group, found)?,
            Work::Update { .. } | Work::ReadModifyWrite { .. } => {
                self.codecs[table].key(cell.key(phase, i), &mut self.buffers.key);
                if matches!(work, Work::ReadModifyWrite { .. }) {
                    self.get(table, found)?;
                }
                found.changed += u64::from(self.update(phase, i, table)?);
            }
            Work::Delete { removed: Removed::Keys { .. }, .. } => {
                self.codecs[table].key(cell.key(phase, i), &mut self.buffers.key);
                let there = self.operations.delete(self.tables[table], &self.buffers.key)?;
                found.changed += u64::from(there);
            }
            Work::Delete { .. } => self.delete_older(phase, table, found)?,
            Work::Sql(_) | Work::Mix(_) => {}
        }
        Ok(())
    }
}
