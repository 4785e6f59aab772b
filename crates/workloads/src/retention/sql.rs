//! Rows in an SQL database: a table whose key is time and sensor. What goes is a range of its key: a partition
//! where the engine's manual advises those for rows that go by their age, else what a DELETE takes.

use std::ops::Range;

use embermark_contract::sql::{
    Nullable, Param, QueryKind, ResultRow, Rows as SqlRows, SqlStore, SqlType, Statement, TableDef,
};
use embermark_contract::{Lifecycle, Result, Scope};

use super::port::{RetentionLog, Visit, broken};
use super::questions::{Found, Question};
use super::rows::{Row, Rows};

static TABLE: TableDef = TableDef {
    name: "reading",
    columns: &[
        ("time_ms", SqlType::Big, Nullable::No),
        ("sensor", SqlType::Int, Nullable::No),
        ("temperature", SqlType::Double, Nullable::No),
        ("humidity", SqlType::Double, Nullable::No),
        ("battery", SqlType::Int, Nullable::No),
    ],
    key: &["time_ms", "sensor"],
};

/// What is prepared before a clock starts.
#[derive(Clone, Copy)]
struct Prepared {
    insert: Statement,
    newest: Statement,
    range: Statement,
    mean: Statement,
    /// Of a store without partitions.
    delete: Option<Statement>,
    count: Statement,
    all: Statement,
}

pub(super) struct SqlLog {
    store: Box<dyn SqlStore>,
    prepared: Option<Prepared>,
}

impl SqlLog {
    pub(super) const fn new(store: Box<dyn SqlStore>) -> Self {
        Self { store, prepared: None }
    }

    fn prepared(&self) -> Result<Prepared> {
        self.prepared.ok_or_else(|| broken("its statements were not prepared"))
    }

    fn prepare(&mut self) -> Result<Prepared> {
        let dialect = self.store.dialect();
        let (name, at) = (dialect.table(TABLE.name), |n| dialect.placeholder(n));
        let names: Vec<&str> = TABLE.columns.iter().map(|(name, ..)| *name).collect();
        let insert = dialect.insert_rows(TABLE.name, &names, 1);
        let columns: Vec<String> = names.iter().map(|name| dialect.column(name)).collect();
        let [time, sensor, temperature] = [0, 1, 2].map(|place| columns[place].clone());
        let (columns, one) = (columns.join(", "), dialect.limit("1"));
        let newest = format!(
            "SELECT {columns} FROM {name} WHERE {sensor} = {} ORDER BY {time} DESC {one}",
            at(1)
        );
        let within = format!("{time} >= {} AND {time} < {}", at(1), at(2));
        let range = format!(
            "SELECT {columns} FROM {name} WHERE {within} AND {sensor} = {} ORDER BY {time}",
            at(3)
        );
        let mean = format!("SELECT AVG({temperature}) FROM {name} WHERE {within}");
        let delete = format!("DELETE FROM {name} WHERE {within}");
        let parted = dialect.range_partitions().is_some();
        self.store.expect(QueryKind::Point)?;
        let mut prepare = |text: &str| self.store.prepare(text);
        Ok(Prepared {
            insert: prepare(&insert)?,
            newest: prepare(&newest)?,
            range: prepare(&range)?,
            mean: prepare(&mean)?,
            delete: if parted { None } else { Some(prepare(&delete)?) },
            count: prepare(&format!("SELECT COUNT(*) FROM {name}"))?,
            all: prepare(&format!("SELECT {columns} FROM {name}"))?,
        })
    }
}

/// The name of the partition of an hour.
fn partition(hour: u64) -> String {
    format!("hour_{hour}")
}

fn params(row: &Row) -> [Param<'static>; 5] {
    [
        Param::Int(row.time_ms),
        Param::Int(i64::from(row.sensor)),
        Param::Float(row.temperature),
        Param::Float(row.humidity),
        Param::Int(i64::from(row.battery)),
    ]
}

fn row_of(row: &dyn ResultRow) -> Result<Row> {
    let absent = || broken("a column is NULL");
    let int = |column| row.int(column)?.ok_or_else(absent);
    let narrow = |column| {
        i32::try_from(int(column)?).map_err(|_| broken("a number is larger than its column"))
    };
    Ok(Row {
        time_ms: int(0)?,
        sensor: narrow(1)?,
        temperature: row.float(2)?.ok_or_else(absent)?,
        humidity: row.float(3)?.ok_or_else(absent)?,
        battery: narrow(4)?,
    })
}

/// Rows of a commit.
struct Batch<'a> {
    rows: &'a Rows,
    numbers: Range<u64>,
    next: [Param<'static>; 5],
}

impl SqlRows for Batch<'_> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        self.next = params(&self.rows.row(self.numbers.next()?));
        Some(&self.next)
    }
}

impl RetentionLog for SqlLog {
    fn create(&mut self) -> Result<()> {
        self.prepared = None;
        let dialect = self.store.dialect();
        self.store.batch(&dialect.drop_table(TABLE.name))?;
        let create = match dialect.range_partitions() {
            None => vec![dialect.create_table_read_backwards(&TABLE, &[])],
            Some(parts) => {
                let [from, to] = [0, 1].map(Rows::hour_ms);
                parts.create(&TABLE, TABLE.key[0], &partition(0), from, to)
            }
        };
        create.iter().try_for_each(|statement| self.store.batch(statement))?;
        self.prepared = Some(self.prepare()?);
        Ok(())
    }

    fn begin(&mut self, hour: u64) -> Result<()> {
        let dialect = self.store.dialect();
        let Some(parts) = dialect.range_partitions() else { return Ok(()) };
        let [from, to] = [hour, hour + 1].map(Rows::hour_ms);
        self.store.batch(&parts.add(TABLE.name, &partition(hour), from, to))
    }

    fn insert(&mut self, row: &Row) -> Result<()> {
        let insert = self.prepared()?.insert;
        self.store.run(insert, &params(row)).map(drop)
    }

    /// By the fastest documented path for rows, in a transaction.
    fn insert_all(&mut self, rows: &Rows, numbers: Range<u64>) -> Result<()> {
        let mut batch = Batch { rows, numbers, next: [Param::Null; 5] };
        self.store.within(Scope::Batch, |store| store.bulk_insert(&TABLE, &mut batch)).map(drop)
    }

    fn expire(&mut self, hour: u64) -> Result<()> {
        if let Some(delete) = self.prepared()?.delete {
            let within = [hour, hour + 1].map(|hour| Param::Int(Rows::hour_ms(hour)));
            return self.store.run(delete, &within).map(drop);
        }
        let dialect = self.store.dialect();
        let Some(parts) = dialect.range_partitions() else { return Ok(()) };
        self.store.batch(&parts.remove(TABLE.name, &partition(hour)))
    }

    fn expiry(&self) -> String {
        let parts = self.store.dialect().range_partitions();
        parts.map_or("DELETE of a range of the key", |parts| parts.about()).to_owned()
    }

    fn ask(&mut self, question: &Question, found: &mut Found) -> Result<()> {
        let prepared = self.prepared()?;
        let mut rows = |row: &dyn ResultRow| {
            found.rows.push(row_of(row)?);
            Ok(())
        };
        match *question {
            Question::Newest { sensor } => {
                let params = [Param::Int(i64::from(sensor))];
                self.store.query(prepared.newest, &params, &mut rows)
            }
            Question::Range { sensor, from_ms, to_ms } => {
                let (from, to) = (Param::Int(from_ms), Param::Int(to_ms));
                let params = [from, to, Param::Int(i64::from(sensor))];
                self.store.query(prepared.range, &params, &mut rows)
            }
            Question::Mean { from_ms, to_ms } => {
                let params = [Param::Int(from_ms), Param::Int(to_ms)];
                self.store.query(prepared.mean, &params, &mut |row| {
                    found.mean = row.float(0)?;
                    Ok(())
                })
            }
        }
    }

    fn count(&mut self) -> Result<Option<u64>> {
        let (count, mut found) = (self.prepared()?.count, None);
        self.store.query(count, &[], &mut |row| {
            found = row.int(0)?.and_then(|count| u64::try_from(count).ok());
            Ok(())
        })?;
        Ok(found)
    }

    fn visit(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        let all = self.prepared()?.all;
        self.store.query(all, &[], &mut |row| visit(row_of(row)?))
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
