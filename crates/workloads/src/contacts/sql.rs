//! Contacts in an SQL database.

use embermark_contract::sql::{
    self, Dialect, Nullable, Param, Rows, SqlStore, SqlType, Statement, TableDef,
};
use embermark_contract::{Lifecycle, Result};
use embermark_data::contacts::Contact;
use embermark_meter::Meter;
use embermark_model::fingerprint::Checksum;

use super::phase::{Column, Phase};
use super::port::{AddressBook, COLUMNS, Changes, Stored};
use crate::Strategy;
use crate::reopenable::Reopenable;
use crate::row_source::RowSource;

pub(super) static TABLE: TableDef = TableDef {
    name: "contacts",
    columns: &[
        ("id", SqlType::Int, Nullable::No),
        ("lastname", SqlType::Text, Nullable::No),
        ("firstname", SqlType::Text, Nullable::No),
        ("street", SqlType::Text, Nullable::No),
        ("city", SqlType::Text, Nullable::No),
        ("state", SqlType::Text, Nullable::No),
        ("zip", SqlType::Text, Nullable::No),
        ("country", SqlType::Text, Nullable::No),
        ("phone", SqlType::Text, Nullable::No),
    ],
    key: &["id"],
};

/// The widths of the published table; standard SQL, and so the same in every dialect.
const TYPES: [(&str, &str); 8] = [
    ("lastname", "VARCHAR(25)"),
    ("firstname", "VARCHAR(25)"),
    ("street", "VARCHAR(30)"),
    ("city", "VARCHAR(30)"),
    ("state", "VARCHAR(2)"),
    ("zip", "VARCHAR(10)"),
    ("country", "VARCHAR(20)"),
    ("phone", "VARCHAR(13)"),
];

/// A statement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Query {
    Insert,
    /// The row of an id.
    One,
    Select(Column),
    Update(Column),
    Delete(Column),
    /// The ids of the rows chosen by a column.
    Ids(Column),
    /// Parameters: the value, an id.
    UpdateOne(Column),
    /// Parameter: an id.
    DeleteOne,
    Contents,
}

/// The statement as this dialect writes it.
pub(super) fn text(dialect: &dyn Dialect, query: Query) -> String {
    let (table, columns) = (dialect.table(TABLE.name), COLUMNS.join(", "));
    let place = |n| dialect.placeholder(n);
    match query {
        Query::Insert => {
            let values: Vec<String> = (1..=COLUMNS.len()).map(place).collect();
            format!("INSERT INTO {table} ({columns}) VALUES ({})", values.join(", "))
        }
        Query::One => format!("SELECT {columns} FROM {table} WHERE id = {}", place(1)),
        Query::Select(by) => {
            format!("SELECT {columns} FROM {table} WHERE {} = {}", by.name(), place(1))
        }
        Query::Update(by) => {
            let (sets, by) = (by.sets().name(), by.name());
            format!("UPDATE {table} SET {sets} = {} WHERE {by} = {}", place(1), place(2))
        }
        Query::Delete(by) => format!("DELETE FROM {table} WHERE {} = {}", by.name(), place(1)),
        Query::Ids(by) => format!("SELECT id FROM {table} WHERE {} = {}", by.name(), place(1)),
        Query::UpdateOne(by) => {
            let column = by.sets().name();
            format!("UPDATE {table} SET {column} = {} WHERE id = {}", place(1), place(2))
        }
        Query::DeleteOne => format!("DELETE FROM {table} WHERE id = {}", place(1)),
        Query::Contents => format!("SELECT {columns} FROM {table}"),
    }
}

pub(super) struct SqlBook {
    store: Reopenable<dyn SqlStore>,
    /// The text of [`Query::One`], which is prepared after every opening.
    one: String,
    /// Statements prepared since the table was made and the database opened.
    prepared: Vec<(Query, Statement)>,
    /// Ids found, to be changed one by one.
    found: Vec<i64>,
}

impl SqlBook {
    /// Of a table that holds at most so many rows.
    pub(super) fn new(store: Reopenable<dyn SqlStore>, rows: usize) -> Self {
        let one = text(store.dialect(), Query::One);
        Self { store, one, prepared: Vec::new(), found: Vec::with_capacity(rows) }
    }

    fn statement(&mut self, query: Query) -> Result<Statement> {
        if let Some((_, statement)) = self.prepared.iter().find(|(known, _)| *known == query) {
            return Ok(*statement);
        }
        let text = text(self.store.dialect(), query);
        let statement = self.store.prepare(&text)?;
        self.prepared.push((query, statement));
        Ok(statement)
    }

    /// Finds the ids of the rows chosen by a column, then changes each in a commit of its own; how many
    /// rows were changed.
    fn one_by_one(
        &mut self,
        by: Column,
        meter: &mut Meter,
        mut change: impl FnMut(&mut dyn SqlStore, i64) -> Result<u64>,
    ) -> Result<Option<u64>> {
        let select = self.statement(Query::Ids(by))?;
        let Self { store, found, .. } = self;
        found.clear();
        store.query(select, &[Param::Text(by.chosen())], &mut |row| {
            found.extend(row.int(0)?);
            Ok(())
        })?;
        let mut changed = 0;
        Strategy::CommitEach.each(found.len(), meter, |scope, part| {
            store.within(scope, |store| {
                part.each(|i| {
                    changed += change(store, found[i])?;
                    Ok(())
                })
            })
        })?;
        Ok(Some(changed))
    }
}

/// Reads the rows that a statement with one parameter gives.
pub(super) fn read(
    store: &mut dyn SqlStore,
    statement: Statement,
    param: Param<'_>,
) -> Result<Checksum> {
    let mut found = Checksum::default();
    store.query(statement, &[param], &mut |row| {
        found += Stored::in_row(row)?.fingerprint();
        Ok(())
    })?;
    Ok(found)
}

fn params(contact: &Contact) -> [Param<'_>; 9] {
    let [lastname, firstname, street, city, state, zip, country, phone] =
        Stored::of(contact).texts.map(Param::Text);
    [Param::Int(contact.id), lastname, firstname, street, city, state, zip, country, phone]
}

struct ContactRows<'a> {
    source: RowSource<'a, Contact>,
    row: [Param<'a>; 9],
}

impl Rows for ContactRows<'_> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        self.row = params(self.source.advance()?);
        Some(&self.row)
    }
}

impl AddressBook for SqlBook {
    fn clear(&mut self) -> Result<()> {
        self.prepared.clear();
        let dialect = self.store.dialect();
        let table = dialect.table(TABLE.name);
        self.store.batch(&dialect.drop_table(TABLE.name))?;
        self.store.batch(&dialect.create_table_of(&TABLE, &TYPES))?;
        self.store.batch(&format!("CREATE INDEX contacts_state ON {table} (state)"))
    }

    fn ready(&mut self, step: Phase, by: Strategy) -> Result<()> {
        let (many_rows, query) = match step {
            // Every opening prepares its own.
            Phase::OpenClose => (false, None),
            Phase::Insert if by == Strategy::Bulk => (true, None),
            Phase::Insert => (false, Some(Query::Insert)),
            Phase::Select(by) => (true, Some(Query::Select(by))),
            Phase::Update(by) => (true, Some(Query::Update(by))),
            Phase::Delete(by) => (true, Some(Query::Delete(by))),
        };
        self.store.expect(if many_rows {
            sql::QueryKind::Analytic
        } else {
            sql::QueryKind::Point
        })?;
        query.map_or(Ok(()), |query| self.statement(query).map(drop))
    }

    fn open_close(&mut self, id: i64) -> Result<Checksum> {
        self.reopen()?;
        let statement = self.store.prepare(&self.one)?;
        read(&mut *self.store, statement, Param::Int(id))
    }

    fn reopen(&mut self) -> Result<()> {
        self.prepared.clear();
        self.store.reopen()
    }

    fn insert(&mut self, contacts: &[Contact], by: Strategy, meter: &mut Meter) -> Result<u64> {
        if by == Strategy::Bulk {
            let sorted = self.store.bulk_sorted();
            let source = RowSource::by_key(contacts, sorted, |contact| contact.id, meter);
            let mut rows = ContactRows { source, row: [Param::Null; 9] };
            let inserted = self.store.bulk_insert(&TABLE, &mut rows)?;
            rows.source.count_given();
            return Ok(inserted);
        }
        let insert = self.statement(Query::Insert)?;
        let mut inserted = 0;
        by.each(contacts.len(), meter, |scope, part| {
            self.store.within(scope, |store| {
                part.each(|i| {
                    inserted += store.run(insert, &params(&contacts[i]))?;
                    Ok(())
                })
            })
        })?;
        Ok(inserted)
    }

    fn select(&mut self, by: Column) -> Result<Checksum> {
        let select = self.statement(Query::Select(by))?;
        read(&mut *self.store, select, Param::Text(by.chosen()))
    }

    fn update(&mut self, by: Column, how: Changes, meter: &mut Meter) -> Result<Option<u64>> {
        if how == Changes::RowByRow {
            let update = self.statement(Query::UpdateOne(by))?;
            let value = Param::Text(by.sets().fresh());
            return self
                .one_by_one(by, meter, |store, id| store.run(update, &[value, Param::Int(id)]));
        }
        let update = self.statement(Query::Update(by))?;
        let params = [Param::Text(by.sets().fresh()), Param::Text(by.chosen())];
        self.store.run(update, &params).map(Some)
    }

    fn delete(&mut self, by: Column, how: Changes, meter: &mut Meter) -> Result<Option<u64>> {
        if how == Changes::RowByRow {
            let delete = self.statement(Query::DeleteOne)?;
            return self.one_by_one(by, meter, |store, id| store.run(delete, &[Param::Int(id)]));
        }
        let delete = self.statement(Query::Delete(by))?;
        self.store.run(delete, &[Param::Text(by.chosen())]).map(Some)
    }

    fn contents(&mut self, visit: &mut dyn FnMut(&Stored<'_>)) -> Result<()> {
        let contents = self.statement(Query::Contents)?;
        self.store.query(contents, &[], &mut |row| {
            visit(&Stored::in_row(row)?);
            Ok(())
        })
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
