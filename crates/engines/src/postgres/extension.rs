//! The extension TimescaleDB of a database, and its statements.

use super::features::Feature;

/// Oldest version with the functions that are used here.
pub(super) const OLDEST: [u32; 2] = [2, 0];

/// The first version with `by_range`
/// (<https://www.tigerdata.com/docs/reference/timescaledb/hypertables/create_hypertable>).
const BY_RANGE: [u32; 2] = [2, 13];

/// Days per chunk: TimescaleDB's default for a column of times. For an integer column it must be
/// given (<https://www.tigerdata.com/docs/learn/hypertables/partitioning-hypertables>).
const CHUNK_DAYS: i64 = 7;

/// Features of PostgreSQL's tables that hypertables lack: tables without a log
/// (<https://github.com/timescale/timescaledb/issues/836>), and a COPY that stores rows as a VACUUM
/// would leave them, which partitioned tables lack
/// (<https://www.postgresql.org/docs/18/sql-copy.html>).
pub(super) const LACKS: [Feature; 2] = [Feature::Unlogged, Feature::Fill];

pub(super) struct Extension {
    pub version: String,
    /// Schema of its functions, quoted where SQL needs it.
    schema: String,
    by_range: bool,
}

impl Extension {
    /// Creates it for a version in a schema. Returns `None` for a version that is too old.
    pub fn new(version: &str, schema: &str) -> Option<Self> {
        let number = number(version);
        let by_range = number >= BY_RANGE;
        let (version, schema) = (version.to_owned(), schema.to_owned());
        (number >= OLDEST).then_some(Self { version, schema, by_range })
    }

    /// Returns the statement that makes an empty table a hypertable by an integer column with this
    /// many units per day.
    pub fn by_time(&self, table: &str, column: &str, units_per_day: i64) -> String {
        self.by_range(table, column, units_per_day.saturating_mul(CHUNK_DAYS))
    }

    /// Returns the same statement for the span of a chunk. Names are folded like those of the
    /// table.
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

    /// Returns the statement that drops the chunks of a hypertable that end before a value
    /// (<https://www.tigerdata.com/docs/reference/timescaledb/hypertables/drop_chunks>).
    pub fn drop_before(&self, table: &str, value: i64) -> String {
        format!("SELECT {}.drop_chunks('{table}', older_than => {value}::bigint)", self.schema)
    }
}

/// Returns the first two numbers of a version. What is not a number counts as 0.
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
