//! A connection to one database.

use std::io::BufReader;

use embermark_model::Durability;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::answer::{self, Receive, SelectedRow, Value};
use super::{NAME, failed, version_2, version_3};
use crate::http::{HttpClient, discard, reader};
use crate::row::Visit;
use crate::{EngineError, OpenOptions, Result};

/// Rows per chunk of an answer: the server's default
/// (<https://docs.influxdata.com/influxdb/v1.8/tools/api/#query-string-parameters-1>).
const CHUNK: usize = 10_000;

/// Format of answers. Unlike JSON it distinguishes integers from floats, and represents both
/// exactly.
const MESSAGE_PACK: &str = "application/x-msgpack";

/// Bytes of an answer to read at once.
const READ: usize = 64 * 1024;

/// A connection to one database. If asked to, it drops the database when it is dropped.
pub(super) struct Session {
    pub client: HttpClient,
    query_path: String,
    write_path: String,
    form: String,
    /// Places of the selected columns, in memory that is kept.
    places: Vec<usize>,
    /// Whether the database is dropped when the session ends, also after an error.
    pub drop_database: bool,
    pub version: Version,
    /// Whether a server of version 3 acknowledges writes before they are in its log, and whether
    /// there were such writes since the last flush.
    pub no_sync: bool,
    unsynced: bool,
}

/// A server's interface. Versions 2 and 3 include the version that the server reports.
pub(super) enum Version {
    First,
    Second(String),
    Third(String),
}

impl Session {
    /// Connects to a given server and creates a database, which is dropped at the end. Nothing else
    /// on the server is touched.
    pub fn given(url: &str, options: &OpenOptions) -> Result<Self> {
        let mut session = Self::reach(url, &options.guest)?;
        session.set_durability(options.durability);
        session.end()?;
        session.create_database()?;
        session.drop_database = true;
        Ok(session)
    }

    /// Connects to a given server. The database `name` is dropped at the end.
    pub fn reach(url: &str, name: &str) -> Result<Self> {
        let client = HttpClient::from_url(NAME, url, name).map_err(|why| {
            let wanted = "give it as http://user:password@host:8086, or without the user; of version 2 as \
                          http://ORGANISATION:TOKEN@host:8086, of version 3 as http://token:TOKEN@host:8181";
            EngineError::failed(NAME, "read its URL", format!("{why}; {wanted}"))
        })?;
        let doing = format!("reach the server at {}", client.address);
        let mut session = Self::connect_to_any(client).map_err(|error| {
            let advice = "is it running, and is it version 1, 2 or 3?";
            EngineError::failed(NAME, doing, format!("{error}; {advice}"))
        })?;
        session.drop_database = true;
        Ok(session)
    }

    /// Connects through a client to a server whose version is unknown.
    fn connect_to_any(mut client: HttpClient) -> Result<Self> {
        let mut version = Version::First;
        // The password in the URL is a token: https://docs.influxdata.com/influxdb/v2/admin/tokens/
        // and https://docs.influxdata.com/influxdb3/core/admin/tokens/.
        let token = client.user.as_ref().and_then(|user| Some(user.split_once(':')?.1.to_owned()));
        let authorization = |scheme: &str| token.as_ref().map(|token| format!("{scheme} {token}"));
        if let Some(second) = version_2::version(&client) {
            version = Version::Second(second);
            client.authorization = authorization("Token");
        } else {
            let of_first = std::mem::replace(&mut client.authorization, authorization("Bearer"));
            match version_3::version(&client) {
                Some(third) => version = Version::Third(third),
                None => client.authorization = of_first,
            }
        }
        let mut session = Self::connect(client)?;
        session.version = version;
        session.set_durability(Durability::Process);
        Ok(session)
    }

    /// Sets when a server of version 3 acknowledges writes, as a tier requires. In other versions
    /// this is not a setting of a request.
    pub fn set_durability(&mut self, durability: Durability) {
        if let Version::Third(_) = self.version {
            self.write_path = version_3::write_path(&self.client.database, durability);
            self.no_sync = durability == Durability::None;
        }
    }

    /// Connects through a client to a server of version 1, once it has answered.
    pub fn connect(mut client: HttpClient) -> Result<Self> {
        client.accept = Some(MESSAGE_PACK);
        let database = &client.database;
        // This request needs no permission.
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

    /// Connects to a database that another process has opened, and does not drop it.
    pub fn join(at: &str) -> Result<Self> {
        Self::connect_to_any(HttpClient::join(NAME, at)?)
    }

    /// Creates the database. Its shards span a year, so that there is one: each shard has its own
    /// cache, and the manual advises long spans for old or bulk-loaded data
    /// (<https://docs.influxdata.com/influxdb/v1.8/concepts/schema_and_data_layout/#shard-group-duration-management>).
    pub fn create_database(&mut self) -> Result<()> {
        match self.version {
            Version::First => {}
            Version::Second(_) => return version_2::create(&self.client),
            Version::Third(_) => return version_3::create(&self.client),
        }
        let sql = format!("CREATE DATABASE \"{}\" WITH SHARD DURATION 52w", self.client.database);
        self.execute(&sql)
    }

    /// Drops the database now, if it is to be dropped.
    pub fn end(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.drop_database) {
            return Ok(());
        }
        match self.version {
            Version::First => {}
            Version::Second(_) => return version_2::delete(&self.client),
            Version::Third(_) => return version_3::delete(&self.client),
        }
        let sql = format!("DROP DATABASE \"{}\"", self.client.database);
        self.execute(&sql)
    }

    /// Deletes a measurement, if it exists.
    pub fn drop_measurement(&mut self, measurement: &str) -> Result<()> {
        match self.version {
            Version::Third(_) => version_3::delete_table(&self.client, measurement),
            _ => self.execute(&format!("DROP MEASUREMENT \"{measurement}\"")),
        }
    }

    /// Waits until everything written can be read.
    pub fn flush(&mut self) -> Result<()> {
        if std::mem::take(&mut self.unsynced) { version_3::flush(&self.client) } else { Ok(()) }
    }

    /// Writes lines. They are in the log when this returns, except with `no_sync`.
    ///
    /// # Errors
    /// Returns the engine's message, also when only some lines were refused.
    pub fn write(&mut self, lines: &[u8]) -> Result<()> {
        self.unsynced = self.no_sync;
        let answer = self.client.post(&self.write_path, "text/plain; charset=utf-8", lines)?;
        discard(NAME, answer)
    }

    /// Runs a query and visits its rows with these columns.
    pub fn query(&mut self, influxql: &str, columns: &[&str], visit: &mut Visit<'_>) -> Result<()> {
        if let Version::Third(_) = self.version {
            return version_3::query(&self.client, influxql, columns, visit);
        }
        let mut places = std::mem::take(&mut self.places);
        let answered = self.series(influxql, &mut |row, first| {
            if first {
                answer::find_columns(columns, &row.names, &mut places)?;
            }
            visit(&SelectedRow { row, places: &places })
        });
        self.places = places;
        answered
    }

    /// Runs a statement without a result.
    ///
    /// # Errors
    /// Returns the engine's message. Unsupported in version 3, which cannot delete points
    /// (<https://docs.influxdata.com/influxdb3/core/reference/influxql/feature-support/>).
    pub fn execute(&mut self, influxql: &str) -> Result<()> {
        if let Version::Third(_) = self.version {
            let what = "deleting points in version 3, which can only delete whole tables";
            return Err(EngineError::unsupported(NAME, what));
        }
        self.series(influxql, &mut |_, _| Ok(()))
    }

    /// Runs a query and passes on its rows as they arrive, with their series.
    fn series(&mut self, influxql: &str, receive: &mut Receive<'_>) -> Result<()> {
        let answer = self.send_statement(influxql)?;
        answer::read(BufReader::with_capacity(READ, reader(answer)), receive)
    }

    /// Runs a statement and returns its answer as one chunk of JSON. In MessagePack, version 1.6
    /// omits durations and sizes, so that the values of a row do not match its columns. Only the
    /// list of its settings has such values.
    pub fn json(&mut self, influxql: &str) -> Result<serde_json::Value> {
        self.client.accept = Some("application/json");
        let answer = self.send_statement(influxql);
        self.client.accept = Some(MESSAGE_PACK);
        let json = answer::read_json(answer?)?;
        let result = &json["results"][0];
        match json["error"].as_str().or_else(|| result["error"].as_str()) {
            None => Ok(result.clone()),
            Some(message) => Err(failed(format!("answer `{influxql}`"), message)),
        }
    }

    /// Sends a statement. Uses POST for every statement, because changes require it, and because it
    /// has no limit for long statements.
    fn send_statement(&mut self, influxql: &str) -> Result<ureq::Body> {
        self.form.clear();
        self.form.push_str("q=");
        self.form.extend(utf8_percent_encode(influxql, NON_ALPHANUMERIC));
        let form = "application/x-www-form-urlencoded";
        self.client.post(&self.query_path, form, self.form.as_bytes())
    }

    /// Sums a counter of the server's statistics
    /// (<https://docs.influxdata.com/influxdb/v1.8/query_language/spec/#show-stats>) over every
    /// series that `of` selects. `add` is called with the counter's name.
    pub fn statistics(&mut self, of: &str, add: &mut dyn FnMut(&str, i64)) -> Result<()> {
        let database = self.client.database.clone();
        self.series(&format!("SHOW STATS FOR '{of}'"), &mut |row, _| {
            let named = || row.names.iter().zip(&row.values);
            let is_of_another = named().any(|(name, value)| match value {
                Value::Text(text) => name == "database" && row.text(text) != database,
                _ => false,
            });
            for (name, value) in named() {
                if let (Value::Int(value), false) = (value, is_of_another) {
                    add(name, *value);
                }
            }
            Ok(())
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // No caller can receive the error.
        let _ = self.end();
    }
}
