//! Bulk loads of rows into tables.

use embermark_contract::sql::{Param, Rows as BulkRows, SqlStore, TableDef};
use embermark_contract::{Result, Scope};

use super::params::{Params, param, written_params};
use super::phases::texts;
use crate::defined::arena::Strings;
use crate::defined::documents::{Stored, lay};
use crate::defined::rows::Source;
use crate::defined::table_rows::Rows;

/// Rows for a bulk load.
struct TableRows<'s, 'a> {
    source: &'s mut Source<'a>,
    row: Params<'a>,
}

impl BulkRows for TableRows<'_, '_> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        let (rows, place) = self.source.advance()?;
        self.row.clear();
        self.row.extend(rows.row(place).map(param));
        Some(&self.row)
    }
}

/// Rows whose documents are created at once, if they were not laid out beforehand.
const PIECE: usize = 65_536;

/// Returns the position of the next row, and its documents.
type Next<'n, 'd> = dyn FnMut() -> Option<(usize, &'d [u8])> + 'n;

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
            return self.store.bulk_insert(self.def, &mut TableRows { source, row: Params::new() });
        }
        if let Some(laid) = laid {
            return self.some(&mut || source.advance().map(|(_, place)| (place, laid.at(place))));
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
            loaded += self.some(&mut || {
                let (place, end) = each.next()?;
                Some((*place, &room[std::mem::replace(&mut from, *end)..*end]))
            })?;
        }
        Ok(loaded)
    }

    /// Loads rows with documents. Documents in a binary form go by statements in one transaction,
    /// because a bulk path takes values as they are and that form needs a function.
    fn some<'d>(&mut self, next: &mut Next<'_, 'd>) -> Result<u64>
    where
        'a: 'd,
    {
        let Self { store, def, rows, written } = self;
        let mut each = DocumentRows { rows, written, next, row: Params::new() };
        if !written.iter().filter_map(Stored::document).any(|document| document.binary) {
            return store.bulk_insert(def, &mut each);
        }
        let insert = store.prepare(&texts(store.dialect(), rows, true).insert())?;
        store.within(Scope::Batch, |store| store.run_each(insert, &mut each))
    }
}

/// Rows with documents for a bulk load.
struct DocumentRows<'n, 'd> {
    rows: &'d Rows,
    written: &'static [Stored],
    next: &'n mut (dyn FnMut() -> Option<(usize, &'d [u8])> + 'n),
    row: Params<'d>,
}

impl BulkRows for DocumentRows<'_, '_> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        let (place, documents) = (self.next)()?;
        self.row = written_params(self.written, documents, |column| self.rows.value(place, column));
        Some(&self.row)
    }
}
