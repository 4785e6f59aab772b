//! A connection to one database.

use std::io::BufReader;

use embermark_model::Durability;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::NAME;
use super::answer::{self, Receive, Row, Value};
use super::bucket;
use super::selected::{self, Chosen, Place};
use super::third;
use crate::http::{HttpClient, discard, reader};
use crate::row::Visit;
use crate::{EngineError, Result};

/// Rows that the server puts into one piece of an answer: its default
/// (<https://docs.influxdata.com/influxdb/v1.8/tools/api/#query-string-parameters-1>).
const CHUNK: usize = 10_000;

/// What answers come in: unlike JSON it tells integers from floats, and holds both exactly.
const MESSAGE_PACK: &str = "application/x-msgpack";

/// Bytes of an answer that are read at once.
const READ: usize = 64 * 1024;

/// Speaks to one database; dropped, it drops the database where it was asked to.
pub(super) struct Session {
    pub client: HttpClient,
    query_path: String,
    write_path: String,
    form: String,
    places: Vec<Place>,
    drop_database: bool,
    version: Version,
    /// Whether a server of version 3 acknowledges writes before they are in its log, and whether there are such since
    /// the last flush.
    no_sync: bool,
    unsynced: bool,
}

/// Which interface a server has; of those of versions 2 and 3 with the version that it tells.
enum Version {
    First,
    Second(String),
    Third(String),
}

impl Session {
    /// Speaks through a client to a server that may be of version 2 or 3, which is asked for.
    pub fn connect_to_any(mut client: HttpClient) -> Result<Self> {
        let mut version = Version::First;
        if let Some(second) = bucket::version(&client) {
            version = Version::Second(second);
            client.authorization = bucket::authorization(&client);
        } else {
            let of_third = third::authorization(&client);
            let of_first = std::mem::replace(&mut client.authorization, of_third);
            match third::version(&client) {
                Some(third) => version = Version::Third(third),
                None => client.authorization = of_first,
            }
        }
        let mut session = Self::connect(client)?;
        session.version = version;
        session.keep(Durability::Process);
        Ok(session)
    }

    /// Has a server of version 3 acknowledge writes as a tier needs it; with the others that is no setting of a
    /// request.
    pub fn keep(&mut self, durability: Durability) {
        if self.third().is_some() {
            self.write_path = third::write_path(&self.client.database, durability);
            self.no_sync = durability == Durability::None;
        }
    }

    /// Speaks through a client to a server of version 1, once it has answered.
    pub fn connect(mut client: HttpClient) -> Result<Self> {
        client.accept = Some(MESSAGE_PACK);
        let database = &client.database;
        // This needs no right.
        discard(NAME, client.get("/ping")?)?;
        Ok(Self {
            query_path: format!("/query?db={database}&epoch=ns&chunked=true&chunk_size={CHUNK}"),
            write_path: format!("/write?db={database}&precision=n"),
            client,
            form: String::new(),
            places: Vec::new(),
            drop_database: false,
            version: Version::First,
            no_sync: false,
            unsynced: false,
        })
    }

    /// Speaks to a database that another process has opened, which stays.
    pub fn join(at: &str) -> Result<Self> {
        Self::connect_to_any(HttpClient::join(NAME, at)?)
    }

    /// Creates the database. Its shards span a year, so that there is one: the cache is one for
    /// each shard, and the manual advises long spans for data that lie far back or are loaded in
    /// bulk (<https://docs.influxdata.com/influxdb/v1.8/concepts/schema_and_data_layout/#shard-group-duration-management>).
    pub fn create_database(&mut self) -> Result<()> {
        match self.version {
            Version::First => {}
            Version::Second(_) => return bucket::create(&self.client),
            Version::Third(_) => return third::create(&self.client),
        }
        let sql = format!("CREATE DATABASE \"{}\" WITH SHARD DURATION 52w", self.client.database);
        self.execute(&sql)
    }

    /// The version of a server of version 2; `None` of another.
    pub fn second(&self) -> Option<&str> {
        if let Version::Second(version) = &self.version { Some(version) } else { None }
    }

    /// The version of a server of version 3; `None` of another.
    pub fn third(&self) -> Option<&str> {
        if let Version::Third(version) = &self.version { Some(version) } else { None }
    }

    /// Whether writes are acknowledged before they are in the log of a server of version 3.
    pub fn no_sync(&self) -> bool {
        self.no_sync
    }

    /// Creates the first user, who may do everything.
    ///
    /// # Errors
    /// The engine's message: there is one already, too.
    pub fn create_user(&mut self, name: &str, password: &str) -> Result<()> {
        let sql = format!("CREATE USER {name} WITH PASSWORD '{password}' WITH ALL PRIVILEGES");
        self.execute(&sql)
    }

    /// Drops the database when the session ends, however it does.
    pub fn drop_database_at_end(&mut self) {
        self.drop_database = true;
    }

    /// Drops the database now, if it was to be dropped at the end.
    pub fn end(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.drop_database) {
            return Ok(());
        }
        match self.version {
            Version::First => {}
            Version::Second(_) => return bucket::delete(&self.client),
            Version::Third(_) => return third::delete(&self.client),
        }
        let sql = format!("DROP DATABASE \"{}\"", self.client.database);
        self.execute(&sql)
    }

    /// Deletes a measurement, where it is there.
    pub fn drop_measurement(&mut self, measurement: &str) -> Result<()> {
        match self.version {
            Version::Third(_) => third::delete_table(&self.client, measurement),
            _ => self.execute(&format!("DROP MEASUREMENT \"{measurement}\"")),
        }
    }

    /// Waits until what was written can be read.
    pub fn flush(&mut self) -> Result<()> {
        match std::mem::take(&mut self.unsynced) {
            true => third::flush(&self.client),
            false => Ok(()),
        }
    }

    /// Writes lines; they are in the log when this returns, but for [`no_sync`](Self::no_sync).
    ///
    /// # Errors
    /// The engine's message, also when only some of the lines were refused.
    pub fn write(&mut self, lines: &[u8]) -> Result<()> {
        self.unsynced = self.no_sync;
        let answer = self.client.post(&self.write_path, "text/plain; charset=utf-8", lines)?;
        discard(NAME, answer)
    }

    /// Asks a question and visits its rows as the columns asked for.
    pub fn query(&mut self, influxql: &str, columns: &[&str], visit: &mut Visit<'_>) -> Result<()> {
        if self.third().is_some() {
            return third::query(&self.client, influxql, columns, visit);
        }
        let mut found = std::mem::take(&mut self.places);
        let answered = self.series(influxql, &mut |row, first, series| {
            if first {
                selected::places(columns, series, &mut found)?;
            }
            visit(&Chosen { row, series, places: &found })
        });
        self.places = found;
        answered
    }

    /// Runs a statement without a result.
    ///
    /// # Errors
    /// The engine's message. Unsupported in version 3, which deletes no points
    /// (<https://docs.influxdata.com/influxdb3/core/reference/influxql/feature-support/>).
    pub fn execute(&mut self, influxql: &str) -> Result<()> {
        if self.third().is_some() {
            let what = "deleting points in version 3, which deletes whole tables alone";
            return Err(EngineError::unsupported(NAME, what));
        }
        self.series(influxql, &mut |_, _, _| Ok(()))
    }

    /// Asks a question and gives its rows as they come, with their series.
    fn series(&mut self, influxql: &str, receive: &mut Receive<'_>) -> Result<()> {
        let answer = self.ask(influxql)?;
        answer::read(BufReader::with_capacity(READ, reader(answer)), receive)
    }

    /// Asks for an answer of one piece as JSON: in MessagePack version 1.6 leaves out durations
    /// and sizes, which only the account of its settings holds, and with them the order of a row.
    pub fn json(&mut self, influxql: &str) -> Result<serde_json::Value> {
        self.client.accept = Some("application/json");
        let answer = self.ask(influxql);
        self.client.accept = Some(MESSAGE_PACK);
        let mut answer = reader(answer?);
        let json: serde_json::Value = serde_json::from_reader(&mut answer)
            .map_err(|error| Self::failed("end its answer", error))?;
        let result = &json["results"][0];
        match json["error"].as_str().or_else(|| result["error"].as_str()) {
            None => Ok(result.clone()),
            Some(message) => Err(Self::failed(&format!("answer `{influxql}`"), message)),
        }
    }

    /// POST for all: the statements that change something have to come by it, and no question is
    /// too long for it.
    fn ask(&mut self, influxql: &str) -> Result<ureq::Body> {
        self.form.clear();
        self.form.push_str("q=");
        self.form.extend(utf8_percent_encode(influxql, NON_ALPHANUMERIC));
        let form = "application/x-www-form-urlencoded";
        self.client.post(&self.query_path, form, self.form.as_bytes())
    }

    /// Sums a counter of the server's statistics
    /// (<https://docs.influxdata.com/influxdb/v1.8/query_language/spec/#show-stats>) over every
    /// series that `of` lets pass: given the counter's name.
    pub fn statistics(&mut self, of: &str, add: &mut dyn FnMut(&str, i64)) -> Result<()> {
        let database = self.client.database.clone();
        self.series(&format!("SHOW STATS FOR '{of}'"), &mut |row: &Row, _, series| {
            let tag = series.tags.iter().find(|(name, _)| name == "database");
            if tag.is_none_or(|(_, value)| *value == database) {
                for (name, value) in series.columns.iter().zip(&row.values) {
                    if let Value::Int(value) = value {
                        add(name, *value);
                    }
                }
            }
            Ok(())
        })
    }

    /// An error about this session's server.
    pub fn failed(doing: &str, why: impl ToString) -> EngineError {
        EngineError::failed(NAME, doing, why)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = self.end();
    }
}
