//! `timescaledb`: a schema of a PostgreSQL server that is given by URL and has the extension TimescaleDB.
//!
//! A table whose key has a time is made a hypertable, and every other stays a plain table. Everything else is
//! PostgreSQL's adapter, whose name is in the errors of statements.

use embermark_model::Durability;

use super::offers::Offer;
use super::session::Session;
use super::tier::TIERS;
use super::{Postgres, external, library_for, opened};
use crate::{
    Availability, DataModel, Engine, EngineError, Info, Kind, OpenOptions, Opened, Result, Store,
    Tier,
};

/// Its name in errors.
const NAME: &str = "timescaledb";

const REMEDY: &str = "give yours as --url timescaledb=postgres://user:password@host:port/database";

/// The oldest version whose functions are those that are called here.
const OLDEST: [u32; 2] = [2, 0];

/// The first version with `by_range`
/// (<https://www.tigerdata.com/docs/reference/timescaledb/hypertables/create_hypertable>).
const BY_RANGE: [u32; 2] = [2, 13];

/// Days of a chunk: what TimescaleDB takes of a column of times. Of an integer it has to be told
/// (<https://www.tigerdata.com/docs/learn/hypertables/partitioning-hypertables>).
const CHUNK_DAYS: i64 = 7;

/// What the settings of a result say of the tables.
const TABLES: &str = "hypertables in chunks of 7 days where the key has a time, else plain tables";

/// The engine.
pub(crate) struct TimescaleDb;

impl Engine for TimescaleDb {
    fn info(&self) -> Info {
        Info {
            id: NAME,
            name: "TimescaleDB",
            kind: Kind::Server,
            family: DataModel::Sql,
            licence: "Apache-2.0 and Timescale License",
        }
    }

    fn availability(&self) -> Availability {
        Availability::Missing {
            why: "embermark installs no server of it".to_owned(),
            remedy: REMEDY.to_owned(),
        }
    }

    fn is_given(&self) -> bool {
        true
    }

    fn tier(&self, durability: Durability) -> Tier {
        TIERS.tier(durability)
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let Some(url) = &options.url else {
            let why = format!("embermark installs none; {REMEDY}");
            return Err(EngineError::failed(NAME, "start a server", why));
        };
        let mut session = external::connect(url, options)?;
        let extension = Extension::find(&mut session)?;
        let version = extension.version.clone();
        let mut opened = opened(NAME, options, session.with_hypertables(extension)?, None)?;
        opened.version = format!("{version} on PostgreSQL {}", opened.version);
        opened.settings.push(("tables".to_owned(), TABLES.to_owned()));
        Ok(opened)
    }

    fn join(&self, options: &OpenOptions, at: &str) -> Result<Store> {
        Session::join(library_for(at)?, at, options.durability)
    }

    fn check_url(&self, url: &str) -> std::result::Result<(), String> {
        Postgres.check_url(url)
    }

    fn remove_left(&self, url: &str, name: &str) -> Result<()> {
        Postgres.remove_left(url, name)
    }
}

/// What PostgreSQL's tables have and hypertables may lack: no log
/// (<https://github.com/timescale/timescaledb/issues/836>), and a COPY that stores rows as a VACUUM would leave them,
/// which partitioned tables have not (<https://www.postgresql.org/docs/18/sql-copy.html>).
pub(super) const LACKS: [Offer; 2] = [Offer::Unlogged, Offer::Fill];

/// The extension of a database.
pub(super) struct Extension {
    version: String,
    /// The schema of its functions, quoted where SQL needs it.
    schema: String,
    by_range: bool,
}

impl Extension {
    /// The one of a session's database.
    ///
    /// # Errors
    /// When there is none, or one that is too old.
    fn find(session: &mut Session) -> Result<Self> {
        let sql = "SELECT extversion, format('%I', nspname) FROM pg_extension \
                   JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'timescaledb'";
        let found = session.ask(sql)?.texts();
        let unusable =
            |why: String| Err(EngineError::failed(NAME, "use the server of its URL", why));
        let [row] = &found[..] else {
            let why = "its database lacks the extension; run CREATE EXTENSION timescaledb there";
            return unusable(why.to_owned());
        };
        let [Some(version), Some(schema)] = &row[..] else {
            return unusable("it tells no version of the extension".to_owned());
        };
        let number = number(version);
        if number < OLDEST {
            let [major, minor] = OLDEST;
            return unusable(format!(
                "its extension has version {version}; update it to {major}.{minor} or newer"
            ));
        }
        let by_range = number >= BY_RANGE;
        Ok(Self { version: version.clone(), schema: schema.clone(), by_range })
    }

    /// The statement that makes an empty table a hypertable, by an integer column of so many units a day.
    pub fn by_time(&self, table: &str, column: &str, units_per_day: i64) -> String {
        self.by_range(table, column, units_per_day.saturating_mul(CHUNK_DAYS))
    }

    /// The same, by how much of the column a chunk spans. Names are folded as those of the table were.
    pub fn by_range(&self, table: &str, column: &str, interval: i64) -> String {
        let (schema, column) = (&self.schema, column.to_lowercase());
        match self.by_range {
            true => format!(
                "SELECT {schema}.create_hypertable('{table}', \
                 {schema}.by_range('{column}', {interval}::bigint))"
            ),
            // https://www.tigerdata.com/docs/reference/timescaledb/hypertables/create_hypertable_old
            false => format!(
                "SELECT {schema}.create_hypertable('{table}', '{column}', \
                 chunk_time_interval => {interval}::bigint)"
            ),
        }
    }

    /// The statement that drops the chunks of a hypertable that end before a value
    /// (<https://www.tigerdata.com/docs/reference/timescaledb/hypertables/drop_chunks>).
    pub fn drop_before(&self, table: &str, value: i64) -> String {
        format!("SELECT {}.drop_chunks('{table}', older_than => {value}::bigint)", self.schema)
    }
}

/// The first two numbers of a version; what is no number is 0.
fn number(version: &str) -> [u32; 2] {
    let mut parts = version.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
    [parts.next().unwrap_or(0), parts.next().unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert_eq!(["2.9.3", "2.13.0-dev", "2"].map(number), [[2, 9], [2, 13], [2, 0]]);
        assert!(number("2.9.3") < BY_RANGE && number("2.13.0-dev") >= BY_RANGE);
        assert!(number("1.7.5") < OLDEST);
    }

    #[test]
    fn an_old_extension_is_asked_in_its_own_words() {
        let of = |by_range| Extension { version: String::new(), schema: "ts".to_owned(), by_range };
        assert_eq!(
            of(true).by_time("readings", "Time", 86_400),
            "SELECT ts.create_hypertable('readings', ts.by_range('time', 604800::bigint))"
        );
        assert_eq!(
            of(false).by_range("readings", "ts", 60),
            "SELECT ts.create_hypertable('readings', 'ts', chunk_time_interval => 60::bigint)"
        );
    }
}
