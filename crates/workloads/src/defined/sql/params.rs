//! Values as parameters of statements, changes of a transaction that are sent together, and bulk
//! loads.

use embermark_contract::sql::{Param, Rows as BulkRows, SqlStore, Statement, TableDef};
use embermark_contract::{Result, Scope};
use embermark_language::{Removed, Set, Work};
use embermark_model::table::Value;
use smallvec::SmallVec;

use super::super::arena::Strings;
use super::super::documents::{laid, lay};
use super::super::kind::rows_at_once;
use super::super::rows::{Given, Source};
use super::super::{Arena, Cell, Rows, Shared, Stored};
use super::phases::texts;

/// Parameters of a statement.
pub(super) type Params<'a> = SmallVec<[Param<'a>; 12]>;

/// Returns the parameters of a row as it is stored. `documents` are those laid out for it.
pub(super) fn written_params<'a, 'v: 'a>(
    written: &[Stored],
    documents: &'a [u8],
    get: impl Fn(usize) -> Value<'v>,
) -> Params<'a> {
    let mut rest = documents;
    let each = written.iter().map(|stored| match stored {
        Stored::Column(column) => get(*column),
        Stored::Document(_) => Param::Text(laid(&mut rest)),
    });
    each.collect()
}

/// Source of the parameters of changes.
#[derive(Clone, Copy)]
pub(super) struct Changes<'a> {
    pub cell: &'a Cell,
    pub arena: &'a Arena,
    /// By table. See [`SqlTables`](super::SqlTables).
    pub written: &'a [&'static [Stored]],
}

impl<'a> Changes<'a> {
    /// Returns the parameters that find the rows of a change: their key, or for several rows the
    /// first key and the last column of the last one.
    pub(super) fn key(self, phase: usize, i: usize) -> Params<'a> {
        if rows_at_once(self.cell.work(phase)) > 1 {
            let [first, last] = self.cell.ends(phase, i);
            return first.into_iter().chain(last.last().copied()).collect();
        }
        self.cell.key_in(self.arena, phase, i).into_iter().collect()
    }

    /// Returns the parameters of an update of the row of a key: the new values, then the key.
    pub(super) fn update<'k>(
        self,
        phase: usize,
        i: usize,
        key: impl IntoIterator<Item = Value<'k>>,
    ) -> Params<'k>
    where
        'a: 'k,
    {
        let columns = self.cell.set(phase, i).iter();
        let values = columns.map(|column| self.cell.update_value(phase, i, *column));
        values.chain(key).collect()
    }

    /// Returns a function from operations to parameters, if every operation of the phase runs its
    /// first statement and needs no memory for documents.
    pub(super) fn parameters(self, phase: usize) -> Option<impl Fn(usize) -> Params<'a>> {
        let work = self.cell.work(phase);
        let table = work.table().unwrap_or_default();
        let has_documents = !self.written[table].is_empty();
        let laid = self.arena.strings(phase).filter(|_| has_documents);
        match work {
            Work::Insert { .. } | Work::Upsert { .. } if has_documents && laid.is_none() => {
                return None;
            }
            Work::Insert { .. }
            | Work::Upsert { .. }
            | Work::Update { set: Set::Columns(_), .. }
            | Work::Delete { removed: Removed::Keys { .. }, .. } => {}
            _ => return None,
        }
        let documents = move |i| laid.map(|laid| laid.at(i));
        Some(move |i| match work {
            Work::Insert { .. } => {
                let rows = self.cell.rows_of(phase);
                self.row(table, documents(i), |column| rows.value(i, column))
            }
            Work::Upsert { .. } => {
                let row = self.cell.upserted(phase, i);
                self.row(table, documents(i), |column| row[column])
            }
            Work::Update { .. } => self.update(phase, i, self.key(phase, i)),
            _ => self.key(phase, i),
        })
    }

    /// Returns the parameters of a row that is written. `documents` are those laid out for it, if
    /// its table has any. `get` returns its columns.
    pub(super) fn row<'p, 'v: 'p>(
        self,
        table: usize,
        documents: Option<&'p [u8]>,
        get: impl Fn(usize) -> Value<'v>,
    ) -> Params<'p> {
        let Some(documents) = documents else {
            let columns = 0..self.cell.tables[table].table.columns.len();
            return columns.map(|column| -> Value<'p> { get(column) }).collect();
        };
        written_params(self.written[table], documents, get)
    }
}

/// Runs a statement for each operation of a part, with that operation's parameters, while the meter
/// has time. Returns the number of operations and of rows changed.
pub(super) fn send<'a>(
    store: &mut dyn SqlStore,
    statement: Statement,
    part: Shared<'_>,
    make: impl Fn(usize) -> Params<'a>,
) -> Result<(u64, u64)> {
    let Shared { part, client, clients } = part;
    let mut given = Given::of_part(part);
    let mut sent = Filled::new(|params| {
        *params = make(client + given.next()? * clients);
        Some(())
    });
    let changed = store.run_each(statement, &mut sent)?;
    Ok((given.count(), changed))
}

/// Rows that a function writes one after the other. It returns `None` after the last.
struct Filled<'a, F> {
    fill: F,
    row: Params<'a>,
}

impl<'a, F: FnMut(&mut Params<'a>) -> Option<()>> Filled<'a, F> {
    fn new(fill: F) -> Self {
        Self { fill, row: Params::new() }
    }
}

impl<'a, F: FnMut(&mut Params<'a>) -> Option<()>> BulkRows for Filled<'a, F> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        (self.fill)(&mut self.row)?;
        Some(&self.row)
    }
}

/// Rows whose documents are created at once, if they were not laid out beforehand.
const PIECE: usize = 65_536;

/// Loads rows into a table.
pub(super) struct Loads<'a> {
    pub store: &'a mut dyn SqlStore,
    pub def: &'static TableDef,
    pub rows: &'a Rows,
    /// See [`SqlTables`](super::SqlTables).
    pub written: &'static [Stored],
}

impl<'a> Loads<'a> {
    /// Loads all rows of a source. Returns the number that the engine reports.
    pub(super) fn all(
        mut self,
        source: &mut Source<'_>,
        laid: Option<Strings<'_>>,
        room: &mut Vec<u8>,
    ) -> Result<u64> {
        if self.written.is_empty() {
            let mut each = Filled::new(|row| {
                let (rows, place) = source.advance()?;
                row.clear();
                row.extend(rows.row(place));
                Some(())
            });
            return self.store.bulk_insert(self.def, &mut each);
        }
        if let Some(laid) = laid {
            return self.some(|| source.advance().map(|(_, place)| (place, laid.at(place))));
        }
        let (mut places, mut ends, mut loaded) = (Vec::new(), Vec::new(), 0);
        loop {
            places.clear();
            ends.clear();
            room.clear();
            for place in std::iter::from_fn(|| source.advance()).map(|(_, at)| at).take(PIECE) {
                lay(self.written, |column| self.rows.value(place, column), room);
                places.push(place);
                ends.push(room.len());
            }
            if places.is_empty() {
                break;
            }
            let (mut from, mut each) = (0, places.iter().zip(&ends));
            loaded += self.some(|| {
                let (place, end) = each.next()?;
                Some((*place, &room[std::mem::replace(&mut from, *end)..*end]))
            })?;
        }
        Ok(loaded)
    }

    /// Loads rows with documents. `next` returns the position of the next row, and its documents.
    /// Documents in a binary form go by statements in one transaction, because a bulk path takes
    /// values as they are and that form needs a function.
    fn some<'d>(&mut self, mut next: impl FnMut() -> Option<(usize, &'d [u8])>) -> Result<u64>
    where
        'a: 'd,
    {
        let (rows, written) = (self.rows, self.written);
        let mut each = Filled::new(|row| {
            let (place, documents) = next()?;
            *row = written_params(written, documents, |column| rows.value(place, column));
            Some(())
        });
        if !written.iter().filter_map(Stored::document).any(|document| document.binary) {
            return self.store.bulk_insert(self.def, &mut each);
        }
        let insert = self.store.prepare(&texts(self.store.dialect(), rows).insert())?;
        self.store.within(Scope::Batch, |store| store.run_each(insert, &mut each))
    }
}
