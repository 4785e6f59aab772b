//! A server of version 3: its version, databases, tables, writes, and queries
//! (<https://docs.influxdata.com/influxdb3/core/api/>). Rows arrive as JSON objects, with the tags
//! among the values.

use std::io::{BufRead, BufReader};

use embermark_model::Durability;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::answer::read_json;
use super::{NAME, failed};
use crate::http::{HttpClient, discard, reader};
use crate::row::{ResultRow, Visit};
use crate::{EngineError, Result};

/// Setting of whether a write is acknowledged before it is in the log.
pub(super) const NO_SYNC: &str = "no_sync";

/// The column of times, and the field with the table of a row.
const TIME: &str = "time";

/// An additional table with one point, whose write waits for those before it.
const FLUSHED: &str = "embermark_flushed";

/// Returns the version of a server of version 3, with the request its users make
/// (<https://docs.influxdata.com/influxdb3/core/api/server-information/#operation/GetPing>).
/// Version 1 gives no answer there.
pub(super) fn version(client: &HttpClient) -> Option<String> {
    let pong = read_json(client.get("/ping").ok()?).ok()?;
    let version = pong["version"].as_str()?;
    version.starts_with("3.").then(|| version.to_owned())
}

pub(super) fn create(client: &HttpClient) -> Result<()> {
    let database = json!({"db": client.database}).to_string();
    let made =
        client.post("/api/v3/configure/database", "application/json", database.as_bytes())?;
    discard(NAME, made)
}

/// Deletes the database, if it exists.
pub(super) fn delete(client: &HttpClient) -> Result<()> {
    let listed = read_json(client.get("/api/v3/configure/database?format=json")?)?;
    let mut databases = listed.as_array().into_iter().flatten();
    if !databases.any(|database| database["iox::database"] == client.database.as_str()) {
        return Ok(());
    }
    let path = format!("/api/v3/configure/database?db={}&hard_delete_at=now", client.database);
    client.delete(&path)
}

/// Deletes a table, if it exists.
pub(super) fn delete_table(client: &HttpClient, table: &str) -> Result<()> {
    let path =
        format!("/api/v3/configure/table?db={}&table={table}&hard_delete_at=now", client.database);
    client.delete(&path)
}

/// Returns the path for lines with times in ns. A request is written completely or not at all. A
/// write is acknowledged once it is in the log, which by default is written once per second. In the
/// tier `none` it is acknowledged before
/// (<https://docs.influxdata.com/influxdb3/core/reference/internals/durability/>).
pub(super) fn write_path(database: &str, durability: Durability) -> String {
    let no_sync = durability == Durability::None;
    format!(
        "/api/v3/write_lp?db={database}&precision=nanosecond&accept_partial=false&{NO_SYNC}={no_sync}"
    )
}

/// Waits until everything written without waiting can be read. A later write that waits for the log
/// shows that.
pub(super) fn flush(client: &HttpClient) -> Result<()> {
    let path = write_path(&client.database, Durability::Process);
    let line = format!("{FLUSHED} at=1i 1");
    discard(NAME, client.post(&path, "text/plain; charset=utf-8", line.as_bytes())?)
}

/// Runs a query and visits its rows with these columns.
pub(super) fn query(
    client: &HttpClient,
    influxql: &str,
    columns: &[&str],
    visit: &mut Visit<'_>,
) -> Result<()> {
    let asked = json!({"db": client.database, "q": influxql, "format": "jsonl"}).to_string();
    let answer = client.post("/api/v3/query_influxql", "application/json", asked.as_bytes())?;
    for line in BufReader::new(reader(answer)).lines() {
        let unread = |error: &dyn ToString| failed("end its answer", error.to_string());
        let line = line.map_err(|error| unread(&error))?;
        if line.is_empty() {
            continue;
        }
        let values = serde_json::from_str(&line).map_err(|error| unread(&error))?;
        visit(&Row { values, columns })?;
    }
    Ok(())
}

/// A row by the names of its values. A missing value is NULL.
struct Row<'a> {
    values: Map<String, Value>,
    columns: &'a [&'a str],
}

impl Row<'_> {
    fn value(&self, column: usize) -> &Value {
        let named = self.columns.get(column).and_then(|name| self.values.get(*name));
        named.unwrap_or(&Value::Null)
    }

    fn wrong_type(&self, column: usize, what: &str) -> EngineError {
        let name = self.columns.get(column).copied().unwrap_or_default();
        let doing = format!("read column `{name}` as {what}");
        EngineError::failed(NAME, doing, format!("it holds {}", self.value(column)))
    }
}

impl ResultRow for Row<'_> {
    fn int(&self, column: usize) -> Result<Option<i64>> {
        let value = match self.value(column) {
            Value::Null => return Ok(None),
            Value::String(time) if self.columns.get(column) == Some(&TIME) => nanoseconds(time),
            value => value.as_i64(),
        };
        value.map(Some).ok_or_else(|| self.wrong_type(column, "an integer"))
    }

    fn float(&self, column: usize) -> Result<Option<f64>> {
        match self.value(column) {
            Value::Null => Ok(None),
            value => value.as_f64().map(Some).ok_or_else(|| self.wrong_type(column, "a number")),
        }
    }

    fn text(&self, column: usize) -> Result<Option<&str>> {
        match self.value(column) {
            Value::Null => Ok(None),
            value => value.as_str().map(Some).ok_or_else(|| self.wrong_type(column, "text")),
        }
    }
}

/// Returns a time as nanoseconds since 1970. It is in UTC, with or without a zone.
fn nanoseconds(time: &str) -> Option<i64> {
    let at = match time.strip_suffix('Z') {
        Some(_) => time.parse::<Timestamp>().ok()?,
        None => time.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp(),
    };
    i64::try_from(at.as_nanosecond()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_to_the_nanosecond_with_and_without_its_zone() {
        let times = [
            "1970-01-01T00:00:01.000000002",
            "1970-01-01T00:00:01.000000002Z",
            "1969-12-31T23:59:59",
        ];
        assert_eq!(
            times.map(nanoseconds),
            [Some(1_000_000_002), Some(1_000_000_002), Some(-1_000_000_000)]
        );
        assert_eq!(nanoseconds("yesterday"), None);
    }

    #[test]
    fn a_row_is_read_by_the_names_of_its_values() {
        let line = r#"{"iox::measurement":"m","time":"1970-01-01T00:00:00","a":7,"b":2.0,"c":"x"}"#;
        let columns = ["b", "a", "c", "time", "absent"];
        let row = Row { values: serde_json::from_str(line).unwrap(), columns: &columns };
        assert_eq!((row.float(0).unwrap(), row.int(1).unwrap()), (Some(2.0), Some(7)));
        assert_eq!((row.text(2).unwrap(), row.int(3).unwrap()), (Some("x"), Some(0)));
        assert_eq!((row.int(4).unwrap(), row.text(4).unwrap()), (None, None));
        let error = row.int(2).unwrap_err().to_string();
        assert!(error.contains("column `c` as an integer") && error.contains("\"x\""), "{error}");
    }
}
