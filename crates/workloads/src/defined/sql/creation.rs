//! Definitions of tables, and creating them with their partitions and indexes.

use embermark_contract::sql::{Dialect, Nullable, QueryKind, SqlType, TableDef};
use embermark_contract::{EngineError, Result};
use embermark_language::{Asked, Keep, Query, Work};
use embermark_model::table::{Column, ColumnType, Table};

use super::super::documents::Document;
use super::super::{Stored, TimeStep};
use super::phases::texts;
use super::{ColumnTypes, SqlTables};

impl SqlTables {
    /// Returns the name of an index. No table and no other index has it.
    pub(super) fn index_name(&self, table: usize, number: usize) -> String {
        self.cell.free_name(&format!("index_{table}_{number}"))
    }

    /// Returns whether a phase reads the last of the rows that begin with one value of the key.
    fn asks_for_ends(&self, of: usize) -> bool {
        let key = &self.cell.tables[of].table.key;
        self.cell.definition.phases.iter().any(|phase| match (&phase.work, &phase.asked) {
            (
                Work::Ask { table, query: Query::Latest { by, time } },
                Asked::Each { column, .. },
            ) => *table == of && column == by && *key == [*by, *time],
            _ => false,
        })
    }

    /// Returns the types of the columns that do not have the engine's usual one. They are found at
    /// the first creation of a table, because the longest texts are those of all rows.
    fn column_types(&mut self, table: usize) -> Result<ColumnTypes> {
        if let Some(known) = self.types[table] {
            return Ok(known);
        }
        let (dialect, rows) = (self.store.dialect(), &self.cell.tables[table]);
        let Table { columns, key, indexes, .. } = rows.table;
        let plain = |at: &usize| !key.contains(at) && columns[*at].within.is_none();
        let own = columns.iter().enumerate().filter(|(at, _)| plain(at));
        let own = own.filter_map(|(at, column)| {
            let (of, name) = (sql_type(column.of), &*column.name);
            if indexes.iter().flatten().any(|column| *column == at) {
                return Some((name, dialect.indexed_type(of)));
            }
            let longest = || rows.longest(at, rows.staged.rows());
            let own = if let Some(most) = column.longest {
                // A text that an update sets has as many characters as that before has bytes.
                Some(format!("VARCHAR({})", longest().max(most as usize)))
            } else if dialect.longest().is_some() && matches!(of, SqlType::Text | SqlType::Bytes) {
                dialect.sized(of, longest().max(self.cell.longest_set(table, at)))
            } else {
                None
            };
            own.map(|of| (name, &*of.leak()))
        });
        let documents = self.written[table].iter().filter_map(Stored::document);
        let documents = documents
            .map(|document| document_type(dialect, document).map(|of| (&*document.name, of)));
        let types = own.map(Ok).chain(documents).collect::<Result<Vec<_>>>()?;
        Ok(*self.types[table].insert(types.leak()))
    }

    /// Creates a table and its indexes, empty, and drops an existing one. A table of which a window
    /// is kept gets room for its first time step.
    pub(super) fn make(&mut self, table: usize, kept: Option<(&Keep, &TimeStep)>) -> Result<()> {
        self.statements.forget_of(&self.cell, table);
        let types = self.column_types(table)?;
        let (dialect, def) = (self.store.dialect(), self.defs[table]);
        let Table { columns, indexes, .. } = self.cell.tables[table].table;
        self.store.batch(&dialect.drop_table(def.name))?;
        let parts = dialect.range_partitions().filter(|_| types.is_empty());
        let create = match (kept, parts) {
            (Some((keep, first)), Some(parts)) => {
                let column = &*columns[keep.time].name;
                parts.create(def, column, &partition(first), first.from, first.to)
            }
            _ if kept.is_some() || self.asks_for_ends(table) => {
                vec![dialect.create_table_read_backwards(def, types)]
            }
            _ => vec![dialect.create_table_of(def, types)],
        };
        create.iter().try_for_each(|statement| self.store.batch(statement))?;
        let by_time = time_in_key(self.cell.tables[table].table).filter(|_| kept.is_none());
        if let Some((time, units_per_day)) = by_time
            && let Some(part) = dialect.part_by_time(def, time, units_per_day)
        {
            self.store.batch(&part)?;
        }
        for (number, index) in indexes.iter().enumerate() {
            let of = index.iter().map(|column| dialect.column(&columns[*column].name));
            let (name, of) = (dialect.table(def.name), of.collect::<Vec<_>>().join(", "));
            let called = self.index_name(table, number);
            self.store.batch(&format!("CREATE INDEX {called} ON {name} ({of})"))?;
        }
        self.expiry = None;
        if let (Some((keep, _)), None) = (kept, parts) {
            self.store.expect(QueryKind::Point)?;
            self.expected = Some(QueryKind::Point);
            let texts = texts(self.store.dialect(), &self.cell.tables[table]);
            self.expiry = Some(self.store.prepare(&texts.delete_between(keep.time))?);
        }
        Ok(())
    }
}

/// Returns the time column of a table's key and its units per day.
fn time_in_key(table: &Table) -> Option<(&str, i64)> {
    let mut key = table.key.iter().map(|column| &table.columns[*column]);
    key.find_map(|column| match column.of {
        ColumnType::Timestamp(unit) => Some((&*column.name, unit.per_second() * SECONDS_PER_DAY)),
        _ => None,
    })
}

const SECONDS_PER_DAY: i64 = 86_400;

/// Returns a table's definition with its columns as they are stored: documents instead of the
/// columns that are their fields.
pub(super) fn with_documents(
    table: &'static Table,
    written: &'static [Stored],
) -> &'static TableDef {
    let columns = written.iter().map(|stored| match stored {
        Stored::Column(column) => of_column(&table.columns[*column]),
        Stored::Document(document) => (&*document.name, SqlType::Text, Nullable::No),
    });
    definition(table, &table.name, columns)
}

type ColumnDef = (&'static str, SqlType, Nullable);

pub fn of_column(column: &'static Column) -> ColumnDef {
    let nullable = if column.nullable { Nullable::Yes } else { Nullable::No };
    (&*column.name, sql_type(column.of), nullable)
}

/// Returns a table's definition with a name and columns. It is never freed, because the process has
/// one workload.
pub fn definition(
    table: &'static Table,
    name: &'static str,
    columns: impl Iterator<Item = ColumnDef>,
) -> &'static TableDef {
    let key = table.key.iter().map(|column| &*table.columns[*column].name);
    let (columns, key) = (Vec::leak(columns.collect()), Vec::leak(key.collect()));
    Box::leak(Box::new(TableDef { name, columns, key }))
}

pub const fn sql_type(of: ColumnType) -> SqlType {
    match of {
        ColumnType::Bool | ColumnType::Int { bits: 8 | 16, .. } => SqlType::Int,
        ColumnType::Int { bits: 32, signed: true } => SqlType::Int,
        ColumnType::Int { .. } | ColumnType::Timestamp(_) => SqlType::Big,
        ColumnType::Float => SqlType::Double,
        ColumnType::Text => SqlType::Text,
        ColumnType::Bytes => SqlType::Bytes,
    }
}

/// Returns the name of the partition of a time step.
pub(super) fn partition(step: &TimeStep) -> String {
    format!("part_{}", step.number).replace('-', "m")
}

/// Returns the type of a column of documents.
pub(super) fn document_type(dialect: &dyn Dialect, document: &Document) -> Result<&'static str> {
    let unsupported = |what| EngineError::unsupported("this SQL engine", what);
    let reads = dialect.json_text("a", "b").and(dialect.json_number("a", "b"));
    if reads.is_none() {
        return Err(unsupported("reading the fields of JSON documents"));
    }
    match document.binary {
        true => dialect.binary_json().ok_or_else(|| unsupported("JSON columns of a binary form")),
        false => dialect.json().ok_or_else(|| unsupported("columns of JSON")),
    }
}
