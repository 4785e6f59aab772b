//! Differences of a server of version 2: how it reports its version, and its databases, which are
//! buckets of an organisation. Writes and queries are those of version 1
//! (<https://docs.influxdata.com/influxdb/v2/reference/api/influxdb-1x/>).

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::answer::read_json;
use super::{NAME, failed};
use crate::http::{HttpClient, discard, reader};
use crate::{EngineError, Result};

/// Seconds per shard: a year, as for a database of version 1.
const SHARD_SECONDS: u64 = 52 * 7 * 24 * 3600;

/// Buckets in an answer, of which the server returns at most 100
/// (<https://docs.influxdata.com/influxdb/v2/api/#operation/GetBuckets>).
const BUCKETS_PER_PAGE: usize = 100;

/// Returns the version of a server of version 2
/// (<https://docs.influxdata.com/influxdb/v2/api/#operation/GetHealth>). Version 1 does not have
/// this path, or reports another version there.
pub(super) fn version(client: &HttpClient) -> Option<String> {
    let health = read_json(client.get("/health").ok()?).ok()?;
    let version = health["version"].as_str()?;
    let version = version.strip_prefix('v').unwrap_or(version);
    version.starts_with("2.").then(|| version.to_owned())
}

/// Creates the bucket with the database's name.
///
/// # Errors
/// Returns the server's message, or an error when the URL names no organisation.
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

/// Deletes the bucket, if it exists.
pub(super) fn delete(client: &HttpClient) -> Result<()> {
    let of = organisation(client)?;
    for page in 0.. {
        // A missing bucket is an error in a search by name, but not in a list.
        let skipped = page * BUCKETS_PER_PAGE;
        let path = format!("/api/v2/buckets?orgID={of}&limit={BUCKETS_PER_PAGE}&offset={skipped}");
        let listed = read_json(client.get(&path)?)?;
        let buckets = listed["buckets"].as_array().map_or(&[][..], Vec::as_slice);
        let own = buckets.iter().find(|bucket| bucket["name"] == client.database.as_str());
        if let Some(id) = own.and_then(|bucket| bucket["id"].as_str()) {
            return client.delete(&format!("/api/v2/buckets/{id}"));
        }
        if buckets.len() < BUCKETS_PER_PAGE {
            break;
        }
    }
    Ok(())
}

/// Returns the settings of its storage. The server reports them only for an operator's token, so
/// without one there are none (<https://docs.influxdata.com/influxdb/v2/api/#operation/GetConfig>).
pub(super) fn settings(client: &HttpClient) -> Vec<(String, String)> {
    let answer = client.get("/api/v2/config").and_then(read_json).unwrap_or_default();
    let settings = answer["config"].as_object().into_iter().flatten();
    let storage = settings.filter(|(name, _)| name.starts_with("storage-"));
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    storage.map(|(name, value)| (name.clone(), text(value))).collect()
}

/// Returns the number of running compactions, from the server's metrics
/// (<https://docs.influxdata.com/influxdb/v2/reference/internals/metrics/>).
///
/// # Errors
/// Fails when the server does not report them.
pub(super) fn compactions(client: &HttpClient) -> Result<f64> {
    let metrics = std::io::read_to_string(reader(client.get("/metrics")?));
    metrics.map(|text| active(&text)).map_err(|e| failed("end its metrics", e))
}

fn active(metrics: &str) -> f64 {
    let lines = metrics.lines().filter(|line| line.starts_with("storage_compactions_active"));
    lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}

/// Returns the id of the organisation, which is the user in the URL.
fn organisation(client: &HttpClient) -> Result<String> {
    let name = client.user.as_ref().and_then(|user| Some(user.split_once(':')?.0));
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        let wanted =
            "its URL names no organisation: give it as http://ORGANISATION:TOKEN@host:8086";
        return Err(EngineError::failed(NAME, "use a server of version 2", wanted));
    };
    let path = format!("/api/v2/orgs?org={}", utf8_percent_encode(name, NON_ALPHANUMERIC));
    let found = read_json(client.get(&path)?)?;
    let id = found["orgs"][0]["id"].as_str();
    id.map(str::to_owned).ok_or_else(|| {
        failed("find the organisation of its URL", "it has no organisation with that name")
    })
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
