//! The tables of a workload file in a key-value store.

mod bulk;
mod changes;
mod kernel;
mod latest;
mod native;
mod query_router;
mod questions;
mod session;
mod walks;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use embermark_contract::kv::{self, KvStore, Table, TableDef};
use embermark_contract::{EngineError, Lifecycle, OfflineTask, Result, Scope};
use embermark_language::{Keep, Query, Work};
use embermark_meter::Meter;
use embermark_model::fingerprint::Fingerprint;
use embermark_model::result::Execution;
use embermark_model::table::{ColumnType, Value};
use smallvec::SmallVec;

use super::documents::has_binary;
use super::kv::bulk::{LaidPairs, TablePairs, pair, pair_of_row};
use super::kv::native::is_native;
use super::kv::query_router::{QueryRouter, RoutedSession};
use super::kv::session::{Buffers, KvSession};
use super::rows::Given;
use super::{Arena, Cell, Codec, Database, Rows, SessionWork, TimeStep, VisitRow, limits};
use crate::reopenable::Reopenable;

pub(super) struct KvTables {
    store: Reopenable<dyn KvStore>,
    cell: Arc<Cell>,
    codecs: Vec<Codec>,
    tables: Vec<Table>,
    /// Whether the engine itself maintains indexes.
    keeps_indexes: bool,
    /// Whether the store knows the number of pairs of a table without a scan.
    knows_count: bool,
    /// Router for a store that also keeps its tables in columns.
    router: Option<QueryRouter>,
    /// Encoded operations of the phases that run next.
    arena: Arc<Arena>,
    buffers: Buffers,
}

impl KvTables {
    pub(super) fn new(
        mut store: Reopenable<dyn KvStore>,
        cell: Arc<Cell>,
        keeps_indexes: bool,
    ) -> Result<Self> {
        let bytes_first = |rows: &Rows| {
            let key = &rows.table.key;
            key[..key.len() - 1].iter().any(|column| rows.column_type(*column) == ColumnType::Bytes)
        };
        if cell.tables.iter().any(bytes_first) {
            let what = "bytes in a key that are not its last column";
            return Err(EngineError::unsupported("our coding of keys", what));
        }
        if cell.tables.iter().any(|rows| has_binary(rows.table)) {
            let what = "JSON columns of a binary form";
            return Err(EngineError::unsupported("a key-value store", what));
        }
        let codecs: Vec<Codec> = cell.tables.iter().map(|rows| Codec::new(rows.table)).collect();
        limits::check_keys(&store.limits(), &cell, &codecs)?;
        let tables = open_tables(&mut *store, &cell, &codecs)?;
        let counted = store.within(Scope::Snapshot, |snapshot| snapshot.count(tables[0]))?;
        let knows_count = counted.is_some();
        let is_mirrored = store.mirror().is_some();
        let router = is_mirrored.then(|| QueryRouter::new(&cell, knows_count));
        let (arena, buffers) = (Arc::default(), Buffers::default());
        router.iter().try_for_each(|router| router.show(&mut *store, &tables))?;
        Ok(Self { store, cell, codecs, tables, keeps_indexes, knows_count, router, arena, buffers })
    }

    /// Returns whether the rows that a phase finds are compared by their values, because they can
    /// come from the columns of a store that has both forms. Otherwise the bytes of their pairs are
    /// compared.
    fn by_values(&self, phase: usize) -> bool {
        self.router.as_ref().is_some_and(|router| !router.by_pairs(phase))
    }
}

/// Opens the store's tables, or creates them.
fn open_tables(store: &mut dyn KvStore, cell: &Cell, codecs: &[Codec]) -> Result<Vec<Table>> {
    let mut tables = Vec::new();
    for (place, (rows, codec)) in cell.tables.iter().zip(codecs).enumerate() {
        let numbers = 0..rows.table.indexes.len();
        let names: Vec<String> = numbers.map(|number| format!("index{number}")).collect();
        // Names in a store have only letters and digits, so the file's names could collide.
        let name = format!("table{place}");
        let indexes = codec.indexes(&names);
        let def = TableDef { name: &name, key_length: codec.key_length, indexes: &indexes };
        tables.push(store.table(&def)?);
    }
    Ok(tables)
}

impl Database for KvTables {
    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn execution(&self, phase: usize) -> Result<Execution> {
        let work = self.cell.work(phase);
        let table = match (work.table(), work, &self.router) {
            (Some(table), ..) => table,
            (None, Work::Sql(sql), Some(_)) => {
                return self.cell.text_of(sql).map(|_| Execution::Native);
            }
            _ => return Err(EngineError::unsupported("a key-value store", "SQL")),
        };
        let keeps = self.keeps_indexes || self.cell.tables[table].table.indexes.is_empty();
        Ok(match is_native(&self.cell, phase, keeps, self.knows_count) {
            true => Execution::Native,
            false => Execution::ClientSide,
        })
    }

    fn answered_by(&self, phase: usize) -> Option<Execution> {
        let [by_pairs, by_rows] = self.router.as_ref()?.answered;
        match by_rows > by_pairs {
            true => Some(Execution::Native),
            false if by_pairs > 0 => self.execution(phase).ok(),
            false => None,
        }
    }

    fn clear(&mut self, table: usize) -> Result<()> {
        self.store.clear(self.tables[table])
    }

    fn expire(&mut self, keep: &Keep, step: &TimeStep) -> Result<()> {
        let codec = &self.codecs[keep.table];
        let Buffers { key: from, to, .. } = &mut self.buffers;
        codec.key([Value::Int(step.from)], from);
        codec.key([Value::Int(step.to)], to);
        self.store.delete_range(self.tables[keep.table], from, to)
    }

    fn expires_by(&self, keep: &Keep) -> String {
        self.store.deletes_range(self.tables[keep.table]).to_owned()
    }

    fn count(&mut self, table: usize) -> Result<Option<u64>> {
        let number = self.tables[table];
        self.store.within(Scope::Snapshot, |snapshot| snapshot.count(number))
    }

    fn lay_out(&self, phase: usize, operations: Range<usize>, arena: &mut Arena) {
        let work = self.cell.work(phase);
        let Some(table) = work.table() else { return };
        let codec = &self.codecs[table];
        let (mut key, mut value) = (Vec::new(), Vec::new());
        if let Work::Insert { .. } | Work::Upsert { .. } = work {
            let rows = &self.cell.tables[table];
            let sorted = operations == (0..rows.loaded)
                && self.cell.takes_fastest_path(phase)
                && self.store.bulk_sorted();
            let mut by_key = sorted.then(|| rows.in_key_order_from(0));
            arena.lay(phase, operations, codec.pair_length(), |i, to| {
                let i = by_key.as_mut().and_then(Iterator::next).unwrap_or(i);
                pair(&self.cell, codec, (phase, i), &mut key, &mut value);
                codec.lay_pair(&key, &value, to);
            });
        } else if self.cell.knows_keys(phase) {
            arena.lay(phase, operations, codec.key_length, |i, to| {
                codec.key(self.cell.key(phase, i), &mut key);
                to.extend_from_slice(&key);
            });
        }
    }

    fn take(&mut self, arena: Arc<Arena>) {
        self.arena = arena;
    }

    fn print(&self, phase: usize, row: &[Value<'_>]) -> Option<Fingerprint> {
        let table = self.cell.work(phase).table().unwrap_or_default();
        let in_part = match self.cell.work(phase) {
            Work::Ask { query: Query::Find { select, .. }, .. } => {
                !self.cell.tables[table].is_whole(select)
            }
            _ => false,
        };
        if in_part || self.by_values(phase) {
            return None;
        }
        let (codec, of) = (&self.codecs[table], &self.cell.tables[table].table.key);
        let (mut key, mut value) = (Vec::new(), Vec::new());
        codec.key(of.iter().map(|column| row[*column]), &mut key);
        codec.value(|column| row[column], &mut value);
        Some(Fingerprint::of_pair(&key, &value))
    }

    fn ready(&mut self, phase: usize, _: usize) -> Result<()> {
        let Self { router, store, cell, .. } = self;
        router.as_mut().map_or(Ok(()), |router| router.ready(&mut **store, cell, phase))
    }

    fn bulk(&mut self, table: usize, phase: Option<usize>, meter: &mut Meter) -> Result<u64> {
        let (codec, rows) = (&self.codecs[table], &self.cell.tables[table]);
        if let Some(pairs) = phase.and_then(|phase| self.arena.strings(phase)) {
            let mut pairs = LaidPairs { pairs, codec, given: Given::new(rows.loaded, meter) };
            let loaded = self.store.bulk(self.tables[table], &mut pairs)?;
            pairs.given.count();
            return Ok(loaded);
        }
        let source = rows.source(self.store.bulk_sorted(), meter);
        let mut pairs = TablePairs { source, codec, key: Vec::new(), value: Vec::new() };
        let loaded = self.store.bulk(self.tables[table], &mut pairs)?;
        pairs.source.count_given();
        Ok(loaded)
    }

    /// In a transaction, because the bulk path needs an empty table.
    fn batch(&mut self, table: usize, rows: Range<usize>, phase: Option<usize>) -> Result<u64> {
        let Self {
            store, cell, codecs, tables, arena, buffers: Buffers { key, value, .. }, ..
        } = self;
        let (of, codec, number) = (&cell.tables[table], &codecs[table], tables[table]);
        let (laid, put) = (phase.and_then(|phase| arena.strings(phase)), rows.len() as u64);
        store.within(Scope::Batch, |batch| {
            rows.clone().try_for_each(|place| {
                if let Some(laid) = laid {
                    let (key, value) = codec.laid_pair(laid.at(place));
                    return batch.put(number, key, value);
                }
                pair_of_row(of, place, codec, key, value);
                batch.put(number, key, value)
            })
        })?;
        Ok(put)
    }

    fn within(&mut self, phase: usize, scope: Scope, work: &mut SessionWork<'_>) -> Result<()> {
        let by_values = self.by_values(phase);
        let Self { store, cell, codecs, tables, router, arena, buffers, .. } = self;
        if let (Some(router), true) = (router, by_values) {
            let store = &mut **store;
            let mut session = RoutedSession { store, cell, codecs, tables, arena, buffers, router };
            return work(&mut session);
        }
        store.within(scope, |operations| {
            work(&mut KvSession { operations, cell, codecs, tables, arena, buffers, by_values })
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
                    None => broken = Some(format!("{key:?} with {value:?} was never written")),
                }
                ControlFlow::Continue(())
            })
        })?;
        broken.map_or(Ok(()), |what| Err(EngineError::failed("the store", "give back a row", what)))
    }

    fn reopen_after(&mut self, meanwhile: &mut OfflineTask<'_>) -> Result<()> {
        self.store.reopen_after(meanwhile)?;
        self.tables = open_tables(&mut *self.store, &self.cell, &self.codecs)?;
        self.router.as_mut().map_or(Ok(()), |router| {
            router.number = None;
            router.show(&mut *self.store, &self.tables)
        })
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
