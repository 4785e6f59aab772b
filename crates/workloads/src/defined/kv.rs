//! The tables of a workload file in a key-value store.

mod asks;
mod kernel;
mod span;
mod walks;

use std::ops::{self, ControlFlow};
use std::sync::Arc;

use embermark_contract::kv::{self, KvStore, Operations, Pairs, Table, TableDef};
use embermark_contract::{EngineError, Lifecycle, Meanwhile, Result, Scope};
use embermark_language::{Aggregate, Compute, Correlate, Group, Range, Removed, Span, Work};
use embermark_meter::Meter;
use embermark_model::answer;
use embermark_model::fingerprint::{Checksum, Fingerprint};
use embermark_model::result::Execution;
use embermark_model::table::{ColumnType, Value};
use smallvec::SmallVec;

use super::access::{Access, By, Filter, Filters, beyond, filters, of_conditions};
use super::aggregate::Groups;
use super::arena::{Arena, Strings};
use super::cell::{Cell, Rows, rows_at_once};
use super::codec::Codec;
use super::codec::field::Test;
use super::correlate;
use super::gaps::Gaps;
use super::limits;
use super::newest::Newest;
use super::outliers::Outliers;
use super::port::{Database, Found, One, Session, SessionWork, Shared, Steps, VisitRow, with};
use super::rows::{Given, Source};
use crate::reopenable::Reopenable;
use asks::{AskingSession, Asks};

/// Rows that one transaction deletes of those that are too old.
const DELETED_AT_ONCE: usize = 10_000;

pub(super) struct KvTables {
    store: Reopenable<dyn KvStore>,
    cell: Arc<Cell>,
    codecs: Arc<[Codec]>,
    tables: Vec<Table>,
    /// Whether the engine itself keeps indexes.
    keeps_indexes: bool,
    /// Whether the store knows how many pairs a table has, so that there is nothing to look at.
    knows_count: bool,
    /// Of a store that keeps the tables in columns, too.
    asks: Option<Asks>,
    /// What the phases that are ready need.
    arena: Arc<Arena>,
    buffers: Buffers,
}

/// Bytes on their way to and from the store.
#[derive(Default)]
struct Buffers {
    key: Vec<u8>,
    value: Vec<u8>,
    /// The key of an operation that was not laid out.
    room: Vec<u8>,
    to: Vec<u8>,
    /// Keys found, to be deleted.
    found: Vec<Vec<u8>>,
    /// Pairs found, to be changed: their bytes one after the other, and where each key and each value ends.
    pairs: Vec<u8>,
    ends: Vec<(usize, usize)>,
}

impl KvTables {
    pub(super) fn new(
        store: Reopenable<dyn KvStore>,
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
        let mut columns = cell.tables.iter().flat_map(|rows| &rows.table.columns);
        if columns.any(|column| column.within.as_ref().is_some_and(|own| own.binary)) {
            let what = "JSON columns of a binary form";
            return Err(EngineError::unsupported("a key-value store", what));
        }
        let codecs: Arc<[Codec]> = cell.tables.iter().map(|rows| Codec::new(rows.table)).collect();
        limits::check_keys(&store.limits(), &cell, &codecs)?;
        let (tables, arena, buffers) = (Vec::new(), Arc::default(), Buffers::default());
        let (knows_count, asks) = (false, None);
        let mut new =
            Self { store, cell, codecs, tables, keeps_indexes, knows_count, asks, arena, buffers };
        new.open_tables()?;
        if let Some(table) = new.tables.first().copied() {
            let counted = new.store.within(Scope::Snapshot, |snapshot| snapshot.count(table))?;
            new.knows_count = counted.is_some();
        }
        if new.store.mirror().is_some() {
            new.asks = Some(Asks::new(&new.cell, &new.codecs, new.knows_count));
        }
        new.show()?;
        Ok(new)
    }

    /// Whether rows that a phase finds count by their values: those that may come from the columns of a
    /// store that keeps these, too. Others count by the bytes of their pairs.
    fn by_values(&self, phase: usize) -> bool {
        self.asks.as_ref().is_some_and(|asks| !asks.by_pairs(phase))
    }

    /// Opens the tables that the store has, or makes them.
    fn open_tables(&mut self) -> Result<()> {
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
        Ok(())
    }

    /// Has a store that keeps the tables in columns, too, show what these are.
    fn show(&mut self) -> Result<()> {
        self.asks.as_ref().map_or(Ok(()), |asks| asks.show(&mut *self.store, &self.tables))
    }

    /// How a phase that filters finds its rows.
    fn access(&self, phase: usize) -> Access {
        let rows = self.cell.rows_of(phase);
        Access::of(rows.table, &filters(&self.cell, phase, 0))
    }
}

/// Whether a question is how many rows a table has, and nothing else.
pub(super) fn counts_rows(group: &Group, table: &embermark_model::table::Table) -> bool {
    let is_of_rows = |compute: &Compute| {
        let all_are_there = |column: usize| !table.columns[column].nullable;
        compute.aggregate == Aggregate::Count && compute.column.is_none_or(all_are_there)
    };
    let plain = group.conditions.is_empty() && group.by.is_empty() && group.having.is_empty();
    plain && group.compute.iter().all(is_of_rows)
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
        let table = match (work.table(), work, &self.asks) {
            (Some(table), ..) => table,
            (None, Work::Sql(sql), Some(_)) => {
                return self.cell.text_of(sql).map(|_| Execution::Native);
            }
            _ => return Err(EngineError::unsupported("a key-value store", "SQL")),
        };
        let rows = &self.cell.tables[table];
        let keeps = self.keeps_indexes || rows.table.indexes.is_empty();
        let native = match work {
            work if rows_at_once(work) > 1 => false,
            Work::Get { .. } | Work::Open { .. } => true,
            Work::Insert { .. }
            | Work::Update { .. }
            | Work::Upsert { .. }
            | Work::ReadModifyWrite { .. } => keeps,
            Work::Delete { removed: Removed::Keys { .. }, .. } => keeps,
            Work::Latest { by, time, .. } => newest_by_key(rows, *by, *time),
            Work::Range(Range { span: Span::Rows { .. }, .. }) => true,
            Work::Range(_) | Work::Find { .. } => {
                let access = self.access(phase);
                access.exact && (access.by == By::Key || keeps)
            }
            Work::Group(group) => self.knows_count && counts_rows(group, rows.table),
            _ => false,
        };
        Ok(if native { Execution::Native } else { Execution::ClientSide })
    }

    fn answered_by(&self, phase: usize) -> Option<Execution> {
        let [by_pairs, by_rows] = self.asks.as_ref()?.answered;
        match by_rows > by_pairs {
            true => Some(Execution::Native),
            false if by_pairs > 0 => self.execution(phase).ok(),
            false => None,
        }
    }

    fn clear(&mut self, table: usize) -> Result<()> {
        self.store.clear(self.tables[table])
    }

    fn attach(&mut self) -> Result<()> {
        self.open_tables()?;
        self.show()
    }

    fn lay_out(&self, phase: usize, operations: ops::Range<usize>, arena: &mut Arena) {
        let work = self.cell.work(phase);
        let Some(table) = work.table() else { return };
        let codec = &self.codecs[table];
        let (mut key, mut value) = (Vec::new(), Vec::new());
        if let Work::Insert { .. } | Work::Upsert { .. } = work {
            let rows = &self.cell.tables[table];
            let sorted = operations == (0..rows.loaded)
                && self.cell.takes_fastest_path(phase)
                && self.store.bulk_sorted();
            let mut by_key = sorted.then(|| rows.by_key(rows.loaded));
            arena.lay(phase, operations, codec.pair_length(), |i, to| {
                let i = by_key.as_mut().and_then(Iterator::next).unwrap_or(i);
                pair(&self.cell, codec, (phase, i), &mut key, &mut value);
                codec.lay_pair(&key, &value, to);
            });
        } else if self.cell.knows_keys(phase) {
            arena.lay(phase, operations, codec.key_length(), |i, to| {
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
            Work::Find { select, .. } => !self.cell.tables[table].is_whole(select),
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
        let Self { asks, store, cell, .. } = self;
        asks.as_mut().map_or(Ok(()), |asks| asks.ready(&mut **store, cell, phase))
    }

    fn bulk(
        &mut self,
        table: usize,
        rows: usize,
        phase: Option<usize>,
        meter: &mut Meter,
    ) -> Result<u64> {
        let codec = &self.codecs[table];
        if let Some(pairs) = phase.and_then(|phase| self.arena.of(phase)) {
            let mut pairs = LaidPairs { pairs, codec, given: Given::new(rows, meter) };
            let loaded = self.store.bulk(self.tables[table], &mut pairs)?;
            pairs.given.count();
            return Ok(loaded);
        }
        let source = self.cell.tables[table].source(rows, self.store.bulk_sorted(), meter);
        let mut pairs = TablePairs { source, codec, key: Vec::new(), value: Vec::new() };
        let loaded = self.store.bulk(self.tables[table], &mut pairs)?;
        pairs.source.count_given();
        Ok(loaded)
    }

    /// In a transaction: the bulk path is for an empty table.
    fn batch(
        &mut self,
        table: usize,
        rows: ops::Range<usize>,
        phase: Option<usize>,
    ) -> Result<u64> {
        let Self {
            store, cell, codecs, tables, arena, buffers: Buffers { key, value, .. }, ..
        } = self;
        let (of, codec, number) = (&cell.tables[table], &codecs[table], tables[table]);
        let (laid, put) = (phase.and_then(|phase| arena.of(phase)), rows.len() as u64);
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
        let Self { store, cell, codecs, tables, asks, arena, buffers, .. } = self;
        if let (Some(asks), true) = (asks, by_values) {
            let store = &mut **store;
            return work(&mut AskingSession { store, cell, codecs, tables, arena, buffers, asks });
        }
        store.within(scope, |operations| {
            work(&mut KvSession {
                operations,
                cell,
                codecs,
                tables,
                arena,
                buffers,
                by_values: false,
            })
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

    fn reopen_after(&mut self, meanwhile: &mut Meanwhile<'_>) -> Result<()> {
        self.store.reopen_after(meanwhile)?;
        if let Some(asks) = &mut self.asks {
            asks.reopened();
        }
        self.attach()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}

/// Rows that were laid out, on their way into a bulk load.
struct LaidPairs<'a> {
    pairs: Strings<'a>,
    codec: &'a Codec,
    given: Given<'a>,
}

impl Pairs for LaidPairs<'_> {
    #[inline]
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        let n = self.given.next()?;
        Some(self.codec.laid_pair(self.pairs.at(n)))
    }
}

/// Rows on their way into a bulk load, which are encoded one by one.
struct TablePairs<'a> {
    source: Source<'a>,
    codec: &'a Codec,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Pairs for TablePairs<'_> {
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        let (rows, place) = self.source.advance()?;
        pair_of_row(rows, place, self.codec, &mut self.key, &mut self.value);
        Some((&self.key, &self.value))
    }
}

struct KvSession<'a> {
    operations: &'a mut dyn Operations,
    cell: &'a Cell,
    codecs: &'a [Codec],
    tables: &'a [Table],
    arena: &'a Arena,
    buffers: &'a mut Buffers,
    /// See [`KvTables::by_values`].
    by_values: bool,
}

/// The keys of a phase's operations.
#[derive(Clone, Copy)]
struct Keys<'a> {
    cell: &'a Cell,
    codec: &'a Codec,
    phase: usize,
    laid: Option<Strings<'a>>,
}

impl<'a> Keys<'a> {
    /// That of operation `i`, in `room` where it was not laid out.
    #[inline]
    fn at<'b>(&self, i: usize, room: &'b mut Vec<u8>) -> &'b [u8]
    where
        'a: 'b,
    {
        if let Some(keys) = self.laid {
            return keys.at(i);
        }
        self.codec.key(self.cell.key(self.phase, i), room);
        room
    }
}

impl<'a> KvSession<'a> {
    fn keys(&self, phase: usize, table: usize) -> Keys<'a> {
        let (cell, codec) = (self.cell, &self.codecs[table]);
        Keys { cell, codec, phase, laid: self.arena.of(phase) }
    }

    /// Reads the row of a key.
    #[inline]
    fn get(&mut self, table: usize, key: &[u8], found: &mut Found) -> Result<()> {
        if let Some(value) = self.operations.get(self.tables[table], key)? {
            found.rows += Fingerprint::of_pair(key, value);
        }
        Ok(())
    }

    /// Puts rows in: as they were laid out, or made now.
    fn put(&mut self, phase: usize, table: usize, steps: impl Steps) -> Result<u64> {
        let (cell, codec, number) = (self.cell, &self.codecs[table], self.tables[table]);
        let Self { operations, buffers: Buffers { key, value, .. }, .. } = self;
        let pairs = self.arena.of(phase);
        steps.each(|i| {
            let (key, value) = match pairs {
                Some(pairs) => codec.laid_pair(pairs.at(i)),
                None => {
                    pair(cell, codec, (phase, i), key, value);
                    (&**key, &**value)
                }
            };
            operations.put(number, key, value)
        })
    }

    /// Sets columns of the row of a key, where it lies.
    fn update(&mut self, phase: usize, i: usize, table: usize, key: &[u8]) -> Result<bool> {
        let (cell, codec) = (self.cell, &self.codecs[table]);
        self.operations.modify(self.tables[table], key, &mut |bytes| {
            for column in cell.set(phase, i) {
                codec.set(bytes, *column, cell.fresh(phase, i, *column));
            }
        })
    }

    /// Changes rows that follow each other: they are found first, as an engine may not go on from a pair that is changed.
    fn change_span(
        &mut self,
        phase: usize,
        i: usize,
        table: usize,
        found: &mut Found,
    ) -> Result<()> {
        let (cell, codec, number) = (self.cell, &self.codecs[table], self.tables[table]);
        let Buffers { key: from, to, pairs, ends, value, .. } = &mut *self.buffers;
        let [first, last] = cell.ends(phase, i);
        codec.key(first, from);
        codec.key(last, to);
        let range = kv::Range::between(from, beyond(to).then_some(&**to));
        pairs.clear();
        ends.clear();
        self.operations.scan(number, range, &mut |key, value| {
            pairs.extend_from_slice(key);
            let end_of_key = pairs.len();
            pairs.extend_from_slice(value);
            ends.push((end_of_key, pairs.len()));
            ControlFlow::Continue(())
        })?;
        let (set, mut at) = (cell.set(phase, i), 0);
        for (end_of_key, end) in &*ends {
            let (key, bytes) = pairs[at..*end].split_at_mut(*end_of_key - at);
            at = *end;
            if let Work::Delete { .. } = cell.work(phase) {
                found.changed += u64::from(self.operations.delete(number, key)?);
                continue;
            }
            let fresh = |column: &usize| (*column, cell.fresh(phase, i, *column));
            if set.iter().map(fresh).all(|(column, value)| codec.fits(bytes, column, value)) {
                set.iter().map(fresh).for_each(|(column, value)| codec.set(bytes, column, value));
                self.operations.put(number, key, bytes)?;
            } else {
                let columns = 0..cell.tables[table].table.columns.len();
                let row = columns.map(|column| match set.contains(&column) {
                    true => Some(cell.fresh(phase, i, column)),
                    false => codec.column(key, bytes, column),
                });
                let row = row.collect::<Option<SmallVec<[Value<'_>; 12]>>>().ok_or_else(foreign)?;
                codec.value(|column| row[column], value);
                self.operations.put(number, key, value)?;
            }
            found.changed += 1;
        }
        Ok(())
    }

    /// Does operations of a phase: what they have in common is looked up before the first.
    fn work(&mut self, phase: usize, steps: impl Steps, found: &mut Found) -> Result<u64> {
        let cell = self.cell;
        let work = cell.work(phase);
        let table = work.table().unwrap_or_default();
        let (keys, mut room) = (self.keys(phase, table), std::mem::take(&mut self.buffers.room));
        let done = match work {
            Work::Insert { .. } | Work::Upsert { .. } => {
                self.put(phase, table, steps).inspect(|rows| found.changed += rows)
            }
            Work::Get { .. } | Work::Open { .. } => {
                steps.each(|i| self.get(table, keys.at(i, &mut room), found))
            }
            work if rows_at_once(work) > 1 => {
                steps.each(|i| self.change_span(phase, i, table, found))
            }
            Work::Update { .. } => steps.each(|i| {
                let there = self.update(phase, i, table, keys.at(i, &mut room))?;
                found.changed += u64::from(there);
                Ok(())
            }),
            Work::ReadModifyWrite { .. } => steps.each(|i| {
                let key = keys.at(i, &mut room);
                self.get(table, key, found)?;
                found.changed += u64::from(self.update(phase, i, table, key)?);
                Ok(())
            }),
            Work::Delete { removed: Removed::Keys { .. }, .. } => steps.each(|i| {
                let key = keys.at(i, &mut room);
                found.changed += u64::from(self.operations.delete(self.tables[table], key)?);
                Ok(())
            }),
            Work::Delete { .. } => steps.each(|_| self.delete_older(phase, table, found)),
            Work::Range(Range { span: Span::Rows { .. }, .. }) => {
                steps.each(|i| self.rows_from(phase, i, table, keys.at(i, &mut room), found))
            }
            Work::Range(_) => steps.each(|i| self.between(phase, i, table, found)),
            Work::Latest { by, time, .. } if cell.adds_up(phase) => steps.each(|i| {
                let is_last = cell.each(phase, i).is_some_and(|(column, _)| column == *by);
                if is_last && newest_by_key(&cell.tables[table], *by, *time) {
                    self.newest_of_value(phase, i, table, &mut found.rows)
                } else {
                    self.newest_of_all((phase, i), table, (*by, *time), &mut found.rows)
                }
            }),
            Work::Latest { by, time, .. } => steps.each(|i| {
                found.rows = Checksum::default();
                if newest_by_key(&cell.tables[table], *by, *time) {
                    self.newest_by_key(table, &mut found.rows)
                } else {
                    self.newest_of_all((phase, i), table, (*by, *time), &mut found.rows)
                }
            }),
            Work::Gaps { by, time, longer, .. } => {
                steps.each(|i| self.gaps((phase, i), table, (*by, *time), *longer, found))
            }
            Work::Outliers { of, by, deviations, .. } => {
                steps.each(|i| self.outliers((phase, i), table, (*of, *by), *deviations, found))
            }
            Work::Correlate(question) => steps.each(|_| self.correlate(phase, question, found)),
            Work::Find { select, .. } => steps.each(|_| self.find(phase, table, select, found)),
            Work::UpdateWhere { .. } => steps.each(|_| self.update_where(phase, table, found)),
            Work::Group(group) => steps.each(|i| {
                cell.begin_question(phase, found);
                self.group(group, &filters(cell, phase, i), &mut found.result)
            }),
            Work::Sql(_) | Work::Mix(_) | Work::Sequence(_) => Ok(0),
        };
        self.buffers.room = room;
        done
    }

    /// Visits the rows that meet the conditions of operation `i`.
    fn filtered(
        &mut self,
        phase: usize,
        i: usize,
        table: usize,
        visit: impl FnMut(&Codec, &[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        self.filtered_by(&filters(self.cell, phase, i), table, visit)
    }

    /// Visits the rows that meet conditions.
    fn filtered_by(
        &mut self,
        filters: &Filters<'_>,
        table: usize,
        mut visit: impl FnMut(&Codec, &[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        let rows = &self.cell.tables[table];
        let access = Access::of(rows.table, filters);
        let codec = &self.codecs[table];
        let Buffers { key: from, to, .. } = self.buffers;
        let ends = access.bounds(rows.table, codec, filters, from, to);
        let range = kv::Range::between(from, ends.then_some(&**to));
        let (operations, number) = (&mut *self.operations, self.tables[table]);
        let mut search = |each: &mut kv::Visit<'_>| match access.by {
            By::Index(index) => operations.find(number, index, range, each),
            By::All | By::Key => operations.scan(number, range, each),
        };
        if access.exact {
            // Called for each of all rows: as little as can be.
            return search(&mut |key, value| visit(codec, key, value));
        }
        // First those of which is known where the column lies: the others may have a document read.
        let tests: Vec<Test<'_>> = filters.iter().filter_map(|f| Test::of(codec, f)).collect();
        let is_other = |f: &&Filter<'_>| Test::of(codec, f).is_none();
        let others: Vec<&Filter<'_>> = filters.iter().filter(is_other).collect();
        search(&mut |key, value| {
            let meets = |f: &&Filter<'_>| {
                codec.column(key, value, f.column).is_some_and(|value| f.is_met(&value))
            };
            let is_met =
                tests.iter().all(|test| test.is_met(key, value)) && others.iter().all(meets);
            if is_met { visit(codec, key, value) } else { ControlFlow::Continue(()) }
        })
    }

    /// The newest rows of each value of a column, each found from the end of its rows.
    fn newest_by_key(&mut self, table: usize, found: &mut Checksum) -> Result<()> {
        let (codec, by_values) = (&self.codecs[table], self.by_values);
        // The rows of one value, and of its newest time, begin with these bytes of its newest key.
        let (mut of_value, mut of_time) = (0, 0);
        let Buffers { key: newest, to, .. } = self.buffers;
        let (mut ended, mut first) = (false, true);
        while !ended {
            ended = true;
            let mut unread = None;
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
                match print(by_values, codec, key, value) {
                    Ok(print) => *found += print,
                    Err(error) => unread = Some(error),
                }
                ControlFlow::Continue(())
            })?;
            if let Some(error) = unread {
                return Err(error);
            }
            std::mem::swap(newest, to);
            first = false;
        }
        Ok(())
    }

    /// The newest rows of the value of question `i`, found from the end of its rows.
    fn newest_of_value(
        &mut self,
        phase: usize,
        i: usize,
        table: usize,
        found: &mut Checksum,
    ) -> Result<()> {
        let (codec, of, by_values) =
            (&self.codecs[table], &self.cell.tables[table], self.by_values);
        let filters = filters(self.cell, phase, i);
        let Buffers { key: from, to, room: newest, .. } = self.buffers;
        let access = Access::of(of.table, &filters);
        let ends = access.bounds(of.table, codec, &filters, from, to);
        let range = kv::Range::between(from, ends.then_some(&**to)).backward();
        // Its newest time has one row where the key ends with the time.
        let is_one = of.table.key.len() == 2;
        let (mut of_time, mut unread) = (0, None);
        newest.clear();
        self.operations.scan(self.tables[table], range, &mut |key, value| {
            if newest.is_empty() {
                of_time = codec.prefix(key, 2);
                newest.extend_from_slice(key);
            } else if key.get(..of_time) != Some(&newest[..of_time]) {
                return ControlFlow::Break(());
            }
            match print(by_values, codec, key, value) {
                Ok(print) => *found += print,
                Err(error) => unread = Some(error),
            }
            if is_one { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        unread.map_or(Ok(()), Err)
    }

    /// The newest rows of each value from all rows that a question is about.
    fn newest_of_all(
        &mut self,
        (phase, i): (usize, usize),
        table: usize,
        (by, time): (usize, usize),
        found: &mut Checksum,
    ) -> Result<()> {
        let by_values = self.by_values;
        let (mut newest, mut broken) = (Newest::default(), false);
        self.filtered(phase, i, table, |codec, key, value| {
            let columns = (codec.column(key, value, by), codec.column(key, value, time));
            let row = print(by_values, codec, key, value);
            let ((Some(of), Some(at)), Ok(row)) = (columns, row) else {
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

    /// Reads so many rows from a key on.
    fn rows_from(
        &mut self,
        phase: usize,
        i: usize,
        table: usize,
        key: &[u8],
        found: &mut Found,
    ) -> Result<()> {
        let (codec, by_values) = (&self.codecs[table], self.by_values);
        let (mut left, mut broken) = (self.cell.wanted(phase, i), None);
        let from = kv::Range::between(key, None);
        self.operations.scan(self.tables[table], from, &mut |key, value| {
            match print(by_values, codec, key, value) {
                Ok(print) => found.rows += print,
                Err(error) => broken = Some(error),
            }
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        broken.map_or(Ok(()), Err)
    }

    /// Reads the rows of a time.
    fn between(&mut self, phase: usize, i: usize, table: usize, found: &mut Found) -> Result<()> {
        let (by_values, mut broken) = (self.by_values, None);
        self.filtered(phase, i, table, |codec, key, value| {
            match print(by_values, codec, key, value) {
                Ok(print) => found.rows += print,
                Err(error) => broken = Some(error),
            }
            ControlFlow::Continue(())
        })?;
        broken.map_or(Ok(()), Err)
    }

    /// Groups the rows that meet conditions.
    fn group(
        &mut self,
        group: &Group,
        filters: &Filters<'_>,
        result: &mut Vec<answer::Value>,
    ) -> Result<()> {
        let (codec, table) = (&self.codecs[group.table], self.cell.tables[group.table].table);
        if counts_rows(group, table) {
            let rows = self.count(group.table)?;
            result.clear();
            result.extend(group.compute.iter().map(|_| answer::Value::Int(rows.cast_signed())));
            return Ok(());
        }
        let by_key = !matches!(Access::of(table, filters).by, By::Index(_));
        let in_order = by_key.then_some(&*table.key);
        if let Some(mut groups) = kernel::Groups::new(group, codec, in_order) {
            self.filtered_by(filters, group.table, |_, key, value| {
                groups.add(key, value);
                ControlFlow::Continue(())
            })?;
            groups.result(result);
            return Ok(());
        }
        let mut groups = Groups::new(group);
        self.filtered_by(filters, group.table, |codec, key, value| {
            groups.add(|column| codec.column(key, value, column).unwrap_or(Value::Null));
            ControlFlow::Continue(())
        })?;
        groups.result(result);
        Ok(())
    }

    /// How many rows a table has, as the store knows it or a scan finds it.
    fn count(&mut self, table: usize) -> Result<u64> {
        if let Some(rows) = self.operations.count(self.tables[table])? {
            return Ok(rows);
        }
        let mut rows = 0;
        self.operations.scan(self.tables[table], kv::Range::default(), &mut |_, _| {
            rows += 1;
            ControlFlow::Continue(())
        })?;
        Ok(rows)
    }

    /// Correlates two groups, by the means of each.
    fn correlate(&mut self, phase: usize, question: &Correlate, found: &mut Found) -> Result<()> {
        let cell = self.cell;
        let rows = &cell.tables[question.table];
        cell.begin_question(phase, found);
        correlate::answer(question, &mut found.result, &mut |group, result| {
            self.group(group, &of_conditions(rows, &group.conditions), result)
        })
    }

    /// Finds values far from the mean of their group.
    fn outliers(
        &mut self,
        (phase, i): (usize, usize),
        table: usize,
        (of, by): (usize, usize),
        deviations: f64,
        found: &mut Found,
    ) -> Result<()> {
        let (cell, codec) = (self.cell, &self.codecs[table]);
        let (table_of, filters) = (cell.tables[table].table, filters(cell, phase, i));
        let together = table_of.key.first() == Some(&by)
            && !matches!(Access::of(table_of, &filters).by, By::Index(_));
        cell.begin_question(phase, found);
        let (columns, key) = ((of, by), &*table_of.key);
        if let Some(mut outliers) = walks::Outliers::new(codec, key, columns, deviations, together)
        {
            self.filtered_by(&filters, table, |_, key, value| {
                outliers.add(key, value, &mut found.result);
                ControlFlow::Continue(())
            })?;
            outliers.end(&mut found.result);
            return Ok(());
        }
        let (mut outliers, mut broken) = (Outliers::new(deviations, together), false);
        self.filtered_by(&filters, table, |codec, pair_key, value| {
            let column = |column: usize| codec.column(pair_key, value, column);
            let own: Option<SmallVec<[Value<'_>; 4]>> = key.iter().map(|at| column(*at)).collect();
            match (column(by), column(of), own) {
                (Some(of_group), Some(number), Some(own)) => outliers.add(of_group, number, own),
                _ => broken = true,
            }
            ControlFlow::Continue(())
        })?;
        outliers.result(&mut found.result);
        if broken { Err(foreign()) } else { Ok(()) }
    }

    /// Finds gaps in the times of each value of a column.
    fn gaps(
        &mut self,
        (phase, i): (usize, usize),
        table: usize,
        (by, time): (usize, usize),
        longer: i64,
        found: &mut Found,
    ) -> Result<()> {
        let (cell, codec, mut broken) = (self.cell, &self.codecs[table], false);
        let (rows, filters) = (&cell.tables[table], filters(cell, phase, i));
        let in_order = newest_by_key(rows, by, time)
            && !matches!(Access::of(rows.table, &filters).by, By::Index(_));
        cell.begin_question(phase, found);
        let columns = (by, time);
        if let (true, Some(mut gaps)) = (in_order, walks::Gaps::new(codec, columns, longer)) {
            self.filtered_by(&filters, table, |_, key, _| {
                broken |= gaps.add(key, &mut found.result).is_none();
                ControlFlow::Continue(())
            })?;
            return if broken { Err(foreign()) } else { Ok(()) };
        }
        let mut gaps = Gaps::new(longer, in_order);
        self.filtered_by(&filters, table, |codec, key, value| {
            match (codec.column(key, value, by), codec.column(key, value, time)) {
                (Some(of), Some(at)) => gaps.add(of, at),
                _ => broken = true,
            }
            ControlFlow::Continue(())
        })?;
        if broken {
            return Err(foreign());
        }
        gaps.result(&mut found.result);
        Ok(())
    }

    /// Reads columns of the rows that meet conditions.
    fn find(
        &mut self,
        phase: usize,
        table: usize,
        select: &[usize],
        found: &mut Found,
    ) -> Result<()> {
        let (mut rows, mut broken) = (Checksum::default(), false);
        let (whole, by_values) = (self.cell.tables[table].is_whole(select), self.by_values);
        self.filtered(phase, 0, table, |codec, key, value| {
            if whole {
                match print(by_values, codec, key, value) {
                    Ok(print) => rows += print,
                    Err(_) => broken = true,
                }
                return ControlFlow::Continue(());
            }
            let read =
                |print, column: &usize| Some(with(print, codec.column(key, value, *column)?));
            match select.iter().try_fold(Fingerprint::default(), read) {
                Some(print) => rows += print,
                None => broken = true,
            }
            ControlFlow::Continue(())
        })?;
        found.rows = rows;
        if broken { Err(foreign()) } else { Ok(()) }
    }

    /// Sets columns of some of the rows that meet conditions. All are found before any is changed, as a change
    /// may have them meet the conditions no more, or others.
    fn update_where(&mut self, phase: usize, table: usize, found: &mut Found) -> Result<()> {
        if !found.more {
            self.look(phase)?;
        }
        let mut keys = std::mem::take(&mut self.buffers.found);
        let some = keys.len().saturating_sub(DELETED_AT_ONCE);
        for key in keys.drain(some..) {
            found.changed += u64::from(self.set_row(phase, table, &key)?);
        }
        found.more = !keys.is_empty();
        self.buffers.found = keys;
        Ok(())
    }

    /// Sets columns of a row that meets the conditions of a phase; whether it is there. Where the new values
    /// are as long as the old ones, they are set where they lie.
    fn set_row(&mut self, phase: usize, table: usize, key: &[u8]) -> Result<bool> {
        let (cell, codec, number) = (self.cell, &self.codecs[table], self.tables[table]);
        let (set, mut fits) = (cell.set(phase, 0), true);
        let is_there = self.operations.modify(number, key, &mut |bytes| {
            let value = |column: &usize| (*column, cell.fresh(phase, 0, *column));
            fits = set.iter().map(value).all(|(column, value)| codec.fits(bytes, column, value));
            if fits {
                set.iter().map(value).for_each(|(column, value)| codec.set(bytes, column, value));
            }
        })?;
        if fits {
            return Ok(is_there);
        }
        let Some(value) = self.operations.get(number, key)? else { return Ok(false) };
        let columns = 0..cell.tables[table].table.columns.len();
        let row = columns.map(|column| match set.contains(&column) {
            true => Some(cell.fresh(phase, 0, column)),
            false => codec.column(key, value, column),
        });
        let row = row.collect::<Option<SmallVec<[Value<'_>; 12]>>>().ok_or_else(foreign)?;
        codec.value(|column| row[column], &mut self.buffers.value);
        drop(row);
        self.operations.put(number, key, &self.buffers.value)?;
        Ok(true)
    }

    /// Deletes some of the rows that are too old, or meet conditions.
    fn delete_older(&mut self, phase: usize, table: usize, found: &mut Found) -> Result<()> {
        let mut keys = std::mem::take(&mut self.buffers.found);
        keys.clear();
        self.filtered(phase, 0, table, |_, key, _| {
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

/// The pair that operation `i` of an insert or an upsert puts in.
fn pair(
    cell: &Cell,
    codec: &Codec,
    (phase, i): (usize, usize),
    key: &mut Vec<u8>,
    value: &mut Vec<u8>,
) {
    let rows = cell.rows_of(phase);
    if let Work::Insert { .. } = cell.work(phase) {
        return pair_of_row(rows, i, codec, key, value);
    }
    let row = cell.upserted(phase, i);
    codec.key(rows.table.key.iter().map(|column| row[*column]), key);
    codec.value(|column| row[column], value);
}

/// The pair of a row of a table.
#[inline]
fn pair_of_row(rows: &Rows, place: usize, codec: &Codec, key: &mut Vec<u8>, value: &mut Vec<u8>) {
    codec.key(rows.key(place), key);
    codec.value(|column| rows.staged.value(place, column), value);
}

/// What a pair counts as: its bytes, or the values of its row.
#[inline]
fn print(by_values: bool, codec: &Codec, key: &[u8], value: &[u8]) -> Result<Fingerprint> {
    if !by_values {
        return Ok(Fingerprint::of_pair(key, value));
    }
    codec.read(key, value, Fingerprint::default(), with).ok_or_else(foreign)
}

#[cold]
fn foreign() -> EngineError {
    EngineError::failed("the store", "give back a row", "it is no pair that was put")
}

impl Session for KvSession<'_> {
    fn look(&mut self, phase: usize) -> Result<usize> {
        let table = self.cell.work(phase).table().unwrap_or_default();
        let mut keys = std::mem::take(&mut self.buffers.found);
        keys.clear();
        self.filtered(phase, 0, table, |_, key, _| {
            keys.push(key.to_vec());
            ControlFlow::Continue(())
        })?;
        self.buffers.found = keys;
        Ok(self.buffers.found.len())
    }

    fn change(&mut self, phase: usize, n: usize, found: &mut Found) -> Result<()> {
        let work = self.cell.work(phase);
        let table = work.table().unwrap_or_default();
        let key = std::mem::take(&mut self.buffers.found[n]);
        let changed = match work {
            Work::Delete { .. } => self.operations.delete(self.tables[table], &key),
            _ => self.set_row(phase, table, &key),
        };
        self.buffers.found[n] = key;
        found.changed += u64::from(changed?);
        Ok(())
    }

    fn perform(&mut self, phase: usize, i: usize, found: &mut Found) -> Result<()> {
        self.work(phase, One(i), found).map(drop)
    }

    fn each(&mut self, phase: usize, part: Shared<'_>, found: &mut Found) -> Result<u64> {
        self.work(phase, part, found)
    }
}
