//! The SQL texts, written once; a dialect gives the pieces that engines write differently.

use embermark_contract::sql::{Dialect, Nullable, SqlType, TableDef};
use embermark_contract::{EngineError, Result};

use super::phase::Phase;
use super::port::{NUMBERS, TEXTS};
use super::query_results::{ERRORS_SINCE, WITHIN};
use super::variant::Form;

/// Events with their data as JSON.
static AS_JSON: TableDef = TableDef {
    name: "metrics",
    columns: &[
        ("id", SqlType::Big, Nullable::No),
        ("timestamp", SqlType::Big, Nullable::No),
        ("bucket", SqlType::Text, Nullable::No),
        ("data", SqlType::Text, Nullable::No),
    ],
    key: &["id"],
};

/// Events with their data in columns. `user` is a word of SQL's own.
pub(super) static TYPED: TableDef = TableDef {
    name: "metrics",
    columns: &[
        ("id", SqlType::Big, Nullable::No),
        ("timestamp", SqlType::Big, Nullable::No),
        ("bucket", SqlType::Text, Nullable::No),
        ("longitude", SqlType::Double, Nullable::Yes),
        ("latitude", SqlType::Double, Nullable::Yes),
        ("co2", SqlType::Double, Nullable::Yes),
        ("span_id", SqlType::Big, Nullable::Yes),
        ("level", SqlType::Text, Nullable::Yes),
        (USER, SqlType::Text, Nullable::Yes),
        ("message", SqlType::Text, Nullable::Yes),
        ("endpoint", SqlType::Text, Nullable::Yes),
    ],
    key: &["id"],
};

const USER: &str = "user_name";

/// How one engine writes the statements over one form of the table.
#[derive(Clone, Copy)]
pub(super) struct Texts {
    dialect: &'static dyn Dialect,
    form: Form,
}

impl Texts {
    /// Of a dialect that can say them all.
    pub(super) fn new(dialect: &'static dyn Dialect, form: Form) -> Result<Self> {
        let texts = Self { dialect, form };
        texts.data_type()?;
        [texts.gps(), texts.co2(), texts.logs(), texts.contents()]
            .into_iter()
            .try_for_each(|text| text.map(drop))?;
        Ok(texts)
    }

    pub(super) const fn table(&self) -> &'static TableDef {
        match self.form {
            Form::Json | Form::Binary => &AS_JSON,
            Form::Typed => &TYPED,
        }
    }

    /// The type of the column of documents, if there is one.
    fn data_type(&self) -> Result<Option<&'static str>> {
        let without = |what| move || EngineError::unsupported("this SQL engine", what);
        let of = match self.form {
            Form::Json => self.dialect.json().ok_or_else(without("columns of JSON"))?,
            Form::Binary => {
                let binary = self.dialect.binary_json();
                binary.ok_or_else(without("JSON columns of a binary form"))?
            }
            Form::Typed => return Ok(None),
        };
        Ok(Some(of))
    }

    pub(super) fn create(&self) -> Result<String> {
        let mut types = vec![("bucket", self.dialect.indexed_type(SqlType::Text))];
        types.extend(self.data_type()?.map(|of| ("data", of)));
        Ok(self.dialect.create_table_of(self.table(), &types))
    }

    pub(super) fn create_index(&self, columns: &[&str]) -> String {
        let (name, table) = (columns.join("_"), self.table().name);
        let columns: Vec<String> = columns.iter().map(|name| self.dialect.column(name)).collect();
        format!("CREATE INDEX {table}_{name} ON {table} ({})", columns.join(", "))
    }

    /// Parameters: the table's columns in order, the document as text.
    pub(super) fn insert(&self) -> String {
        let columns = self.table().columns;
        let mut places: Vec<String> =
            (1..=columns.len()).map(|n| self.dialect.placeholder(n)).collect();
        if self.form == Form::Binary
            && let Some(data) = places.last_mut()
        {
            *data = self.dialect.binary_json_of(data);
        }
        let names: Vec<String> =
            columns.iter().map(|(name, ..)| self.dialect.column(name)).collect();
        let (table, names, places) = (self.table().name, names.join(", "), places.join(", "));
        format!("INSERT INTO {table} ({names}) VALUES ({places})")
    }

    fn number(&self, name: &str) -> Result<String> {
        match self.form {
            Form::Typed => Ok(name.to_owned()),
            _ => self.dialect.json_number("data", name).ok_or_else(unreadable),
        }
    }

    fn text(&self, name: &str) -> Result<String> {
        match self.form {
            Form::Typed if name == "user" => Ok(USER.to_owned()),
            Form::Typed => Ok(name.to_owned()),
            _ => self.dialect.json_text("data", name).ok_or_else(unreadable),
        }
    }

    /// Longitude, latitude.
    fn gps(&self) -> Result<String> {
        let (x, y) = (self.number("longitude")?, self.number("latitude")?);
        let [east, north] = WITHIN;
        Ok(format!(
            "SELECT {x}, {y} FROM metrics WHERE bucket = 'location' \
             AND {x} > {} AND {x} < {} AND {y} > {} AND {y} < {}",
            east.start, east.end, north.start, north.end
        ))
    }

    /// Month, mean.
    fn co2(&self) -> Result<String> {
        let month = self.dialect.month(&self.dialect.column("timestamp")).ok_or_else(|| {
            EngineError::unsupported("this SQL engine", "the month of a point in time")
        })?;
        let (month, co2) = (self.dialect.remainder(&month, "100"), self.number("co2")?);
        Ok(format!("SELECT {month}, AVG({co2}) FROM metrics WHERE bucket = 'co2' GROUP BY {month}"))
    }

    /// Endpoint, errors.
    fn logs(&self) -> Result<String> {
        let (level, endpoint) = (self.text("level")?, self.text("endpoint")?);
        Ok(format!(
            "SELECT {endpoint}, COUNT(*) FROM metrics WHERE bucket = 'logs' AND {level} = 'error' \
             AND {} > {ERRORS_SINCE} GROUP BY {endpoint} ORDER BY COUNT(*)",
            self.dialect.column("timestamp")
        ))
    }

    /// The text of a question.
    pub(super) fn question(&self, question: Phase) -> Result<String> {
        match question {
            Phase::Gps => self.gps(),
            Phase::Co2 => self.co2(),
            _ => self.logs(),
        }
    }

    /// Bucket; parameter: the id.
    pub(super) fn by_id(&self) -> String {
        format!("SELECT bucket FROM metrics WHERE id = {}", self.dialect.placeholder(1))
    }

    /// Id, timestamp, bucket, then [`NUMBERS`] and [`TEXTS`].
    pub(super) fn contents(&self) -> Result<String> {
        let mut columns =
            ["id", "timestamp", "bucket"].map(|name| self.dialect.column(name)).to_vec();
        for name in NUMBERS {
            columns.push(self.number(name)?);
        }
        for name in TEXTS {
            columns.push(self.text(name)?);
        }
        Ok(format!("SELECT {} FROM metrics", columns.join(", ")))
    }
}

fn unreadable() -> EngineError {
    EngineError::unsupported("this SQL engine", "reading the fields of JSON documents")
}
