//! The shards of a database: files of a span of time, which are dropped as a whole.

use jiff::Timestamp;

use super::session::Session;
use crate::Result;

/// Retention policy of a new database, which keeps everything.
const POLICY: &str = "autogen";

/// Sets the duration of new shards, in ns, at least an hour
/// (<https://docs.influxdata.com/influxdb/v1.8/query_language/manage-database/#modify-retention-policies-with-alter-retention-policy>).
pub(super) fn set_duration(session: &mut Session, span_ns: i64) -> Result<()> {
    let (database, seconds) = (session.client.database.clone(), span_ns / 1_000_000_000);
    session.execute(&format!(
        "ALTER RETENTION POLICY \"{POLICY}\" ON \"{database}\" SHARD DURATION {seconds}s DEFAULT"
    ))
}

/// Drops the shards that end at a time or before.
pub(super) fn drop_before(session: &mut Session, before_ns: i64) -> Result<()> {
    let all = session.json("SHOW SHARDS")?;
    for id in ended(&all, &session.client.database, before_ns) {
        session.execute(&format!("DROP SHARD {id}"))?;
    }
    Ok(())
}

/// Returns the ids of a database's shards that have ended by a time, from the answer of SHOW
/// SHARDS, which has a series per database.
fn ended(all: &serde_json::Value, database: &str, before_ns: i64) -> Vec<u64> {
    let series = all["series"].as_array().into_iter().flatten();
    let mut found = Vec::new();
    for one in series {
        let columns = one["columns"].as_array().into_iter().flatten();
        let names: Vec<&str> = columns.filter_map(serde_json::Value::as_str).collect();
        let place = |name: &str| names.iter().position(|known| *known == name);
        let [Some(id), Some(of), Some(end)] = ["id", "database", "end_time"].map(place) else {
            continue;
        };
        for row in one["values"].as_array().into_iter().flatten() {
            let ends = row[end].as_str().and_then(|text| text.parse::<Timestamp>().ok());
            let is_over = ends.is_some_and(|ends| ends.as_nanosecond() <= i128::from(before_ns));
            if row[of].as_str() == Some(database) && is_over {
                found.extend(row[id].as_u64());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ended;

    #[test]
    fn shards_of_the_database_that_have_ended_are_found() {
        let all = json!({"series": [
            {"name": "other", "columns": ["id", "database", "start_time", "end_time"],
             "values": [[1, "other", "2023-11-14T22:00:00Z", "2023-11-14T23:00:00Z"]]},
            {"name": "mine", "columns": ["id", "database", "start_time", "end_time"],
             "values": [[2, "mine", "2023-11-14T22:00:00Z", "2023-11-14T23:00:00Z"],
                        [3, "mine", "2023-11-14T23:00:00Z", "2023-11-15T00:00:00Z"],
                        [4, "mine", "2023-11-15T00:00:00Z", "2023-11-15T01:00:00Z"]]}
        ]});
        let midnight = 1_700_006_400_000_000_000;
        assert_eq!(ended(&all, "mine", midnight), [2, 3]);
        assert_eq!(ended(&all, "mine", midnight - 1), [2]);
    }
}
