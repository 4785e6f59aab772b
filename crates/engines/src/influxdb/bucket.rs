//! What a server of version 2 has other ways to than version 1: its name for itself, and databases, which are buckets of an
//! organisation there. Writes and questions are those of version 1
//! (<https://docs.influxdata.com/influxdb/v2/reference/api/influxdb-1x/>).

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::NAME;
use super::session::Session;
use crate::http::{HttpClient, discard, reader};
use crate::{EngineError, Result};

/// Seconds that a shard spans: a year, as of a database of version 1.
const SHARD_SECONDS: u64 = 52 * 7 * 24 * 3600;

/// The version of a server that is of version 2 (<https://docs.influxdata.com/influxdb/v2/api/#operation/GetHealth>).
/// Version 1 has no such path, or another version there.
pub(super) fn version(client: &HttpClient) -> Option<String> {
    let health = read(client.get("/health").ok()?).ok()?;
    let version = health["version"].as_str()?;
    let version = version.strip_prefix('v').unwrap_or(version);
    version.starts_with("2.").then(|| version.to_owned())
}

/// How requests say who asks: the user of the URL is the organisation, the password a token
/// (<https://docs.influxdata.com/influxdb/v2/admin/tokens/>).
pub(super) fn authorization(client: &HttpClient) -> Option<String> {
    let (_, token) = client.user.as_ref()?.split_once(':')?;
    Some(format!("Token {token}"))
}

/// Creates the bucket by whose name the database is asked for.
///
/// # Errors
/// The server's message; when the URL names no organisation.
pub(super) fn create(client: &HttpClient) -> Result<()> {
    let rule =
        json!({"type": "expire", "everySeconds": 0, "shardGroupDurationSeconds": SHARD_SECONDS});
    let bucket = json!({
        "orgID": organisation(client)?, "name": client.database, "retentionRules": [rule],
    });
    let bucket = bucket.to_string();
    let made = client.post("/api/v2/buckets", "application/json", bucket.as_bytes())?;
    discard(NAME, made)
}

/// Deletes it, where it is there.
///
/// # Errors
/// The server's message.
pub(super) fn delete(client: &HttpClient) -> Result<()> {
    let of = organisation(client)?;
    // One that is not there is an error to a search by name, and not to a list.
    let path = format!("/api/v2/buckets?orgID={of}&limit=100");
    let buckets = read(client.get(&path)?)?;
    let mut buckets = buckets["buckets"].as_array().into_iter().flatten();
    let own = buckets.find(|bucket| bucket["name"] == client.database.as_str());
    let Some(id) = own.and_then(|bucket| bucket["id"].as_str()) else { return Ok(()) };
    discard(NAME, client.delete(&format!("/api/v2/buckets/{id}"))?)
}

/// The settings of its storage, which the server tells only to an operator's token; without one there are none here
/// (<https://docs.influxdata.com/influxdb/v2/api/#operation/GetConfig>).
pub(super) fn settings(client: &HttpClient) -> Vec<(String, String)> {
    let told = client.get("/api/v2/config").and_then(read).unwrap_or_default();
    let told = told["config"].as_object().into_iter().flatten();
    let storage = told.filter(|(name, _)| name.starts_with("storage-"));
    storage.map(|(name, value)| (name.clone(), text(value))).collect()
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Compactions that run, by the server's metrics (<https://docs.influxdata.com/influxdb/v2/reference/internals/metrics/>).
///
/// # Errors
/// When the server does not tell them.
pub(super) fn compactions(client: &HttpClient) -> Result<f64> {
    let mut metrics = String::new();
    std::io::Read::read_to_string(&mut reader(client.get("/metrics")?), &mut metrics)
        .map_err(|error| Session::failed("end its metrics", error))?;
    Ok(active(&metrics))
}

fn active(metrics: &str) -> f64 {
    let lines = metrics.lines().filter(|line| line.starts_with("storage_compactions_active"));
    lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}

/// The number of the organisation.
fn organisation(client: &HttpClient) -> Result<String> {
    let name = client.user.as_ref().and_then(|user| Some(user.split_once(':')?.0));
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        let wanted =
            "its URL names no organisation: give it as http://ORGANISATION:TOKEN@host:8086";
        return Err(EngineError::failed(NAME, "use a server of version 2", wanted));
    };
    let path = format!("/api/v2/orgs?org={}", utf8_percent_encode(name, NON_ALPHANUMERIC));
    let found = read(client.get(&path)?)?;
    let id = found["orgs"][0]["id"].as_str();
    id.map(str::to_owned).ok_or_else(|| {
        Session::failed("find the organisation of its URL", "it has none of that name")
    })
}

fn read(body: ureq::Body) -> Result<Value> {
    serde_json::from_reader(reader(body)).map_err(|error| Session::failed("end its answer", error))
}

#[cfg(test)]
mod tests {
    use super::active;

    #[test]
    fn compactions_that_run_are_added_up_over_shards_and_levels() {
        let metrics = "# TYPE storage_compactions_active gauge\n\
                       storage_compactions_active{bucket=\"a b\",level=\"1\"} 1\n\
                       storage_compactions_active{bucket=\"a b\",level=\"full\"} 2\n\
                       storage_compactions_queued{level=\"1\"} 7\n";
        assert_eq!(active(metrics), 3.0);
        assert_eq!(active(""), 0.0);
    }
}
