//! The SQL texts, written once; a dialect gives the pieces that engines write differently.

use embermark_engines::sql::{Dialect, Nullable, SqlType, TableDef};

/// The table. A sensor number needs 16 bits without a sign, for which SQL has no narrower type.
pub(super) static TABLE: TableDef = TableDef {
    name: "readings",
    columns: &[
        ("sensor", SqlType::Int, Nullable::No),
        ("ts", SqlType::Big, Nullable::No),
        ("temperature", SqlType::Double, Nullable::Yes),
        ("humidity", SqlType::Double, Nullable::Yes),
        ("light", SqlType::Double, Nullable::Yes),
        ("voltage", SqlType::Double, Nullable::Yes),
    ],
    key: &["sensor", "ts"],
};

/// A statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Query {
    /// One row; parameters: its columns in the table's order.
    Insert,
    /// The values of one key; parameters: sensor, ts.
    Read,
    /// The newest reading of a sensor; parameter: sensor.
    Newest,
    /// The newest readings of that many sensors; parameters: the sensors.
    NewestOf(usize),
    /// Parameters: temperature, sensor, ts.
    Update,
    /// Parameters: sensor, ts.
    Delete,
    /// sensor, mean.
    AvgSensor,
    /// sensor, mean.
    HotSensors,
    /// sensor, ts, temperature.
    Anomalies,
    /// sensor, day, min, max, mean, readings.
    DailySummary,
    /// sensor, from, to.
    Outages,
    /// sensor, readings.
    MostReadings,
    /// sensor, mean.
    Hottest,
    /// Buckets, correlation; without [`Dialect::correlation`]: buckets and the centred sums
    /// of xy, xx and yy.
    CompareTwo,
    /// Every column of every row in key order.
    Contents,
}

impl Query {
    /// The statement as this dialect writes it.
    pub(super) fn text(self, dialect: &dyn Dialect) -> String {
        let p = |n| dialect.placeholder(n);
        match self {
            Self::Insert => {
                let all: Vec<String> = (1..=6).map(p).collect();
                format!(
                    "INSERT INTO readings (sensor, ts, temperature, humidity, light, voltage) \
                     VALUES ({})",
                    all.join(", ")
                )
            }
            Self::Read => format!(
                "SELECT temperature, humidity, light, voltage FROM readings \
                 WHERE sensor = {} AND ts = {}",
                p(1),
                p(2)
            ),
            Self::Newest => format!(
                "SELECT sensor, ts, temperature, humidity, light, voltage FROM readings \
                 WHERE sensor = {} ORDER BY ts DESC LIMIT 1",
                p(1)
            ),
            Self::NewestOf(sensors) => {
                let all: Vec<String> = (1..=sensors).map(p).collect();
                format!(
                    "SELECT r.sensor, r.ts, r.temperature, r.humidity, r.light, r.voltage \
                     FROM readings AS r JOIN \
                     (SELECT sensor, MAX(ts) AS ts FROM readings WHERE sensor IN ({}) \
                     GROUP BY sensor) AS newest \
                     ON r.sensor = newest.sensor AND r.ts = newest.ts",
                    all.join(", ")
                )
            }
            Self::Update => format!(
                "UPDATE readings SET temperature = {} WHERE sensor = {} AND ts = {}",
                p(1),
                p(2),
                p(3)
            ),
            Self::Delete => {
                format!("DELETE FROM readings WHERE sensor = {} AND ts = {}", p(1), p(2))
            }
            Self::AvgSensor => {
                "SELECT sensor, AVG(temperature) FROM readings GROUP BY sensor".to_owned()
            }
            Self::HotSensors => "SELECT sensor, AVG(temperature) AS mean FROM readings \
                 GROUP BY sensor HAVING AVG(temperature) > 25 AND COUNT(*) >= 10 \
                 ORDER BY mean DESC, sensor LIMIT 10"
                .to_owned(),
            Self::Anomalies => anomalies(dialect),
            Self::DailySummary => {
                let day = dialect.integer_division("ts", "86400000000");
                format!(
                    "SELECT sensor, {day}, MIN(temperature), MAX(temperature), \
                     AVG(temperature), COUNT(*) FROM readings GROUP BY sensor, {day}"
                )
            }
            Self::Outages => "SELECT sensor, previous, ts FROM \
                 (SELECT sensor, ts, LAG(ts) OVER (PARTITION BY sensor ORDER BY ts) AS previous \
                 FROM readings) AS consecutive WHERE ts - previous > 3600000000"
                .to_owned(),
            Self::MostReadings => "SELECT sensor, COUNT(*) AS readings FROM readings \
                 GROUP BY sensor ORDER BY readings DESC, sensor LIMIT 10"
                .to_owned(),
            Self::Hottest => "SELECT sensor, AVG(temperature) AS mean FROM readings \
                 WHERE temperature IS NOT NULL GROUP BY sensor \
                 ORDER BY mean DESC, sensor LIMIT 10"
                .to_owned(),
            Self::CompareTwo => compare_two(dialect),
            Self::Contents => "SELECT sensor, ts, temperature, humidity, light, voltage \
                 FROM readings ORDER BY sensor, ts"
                .to_owned(),
        }
    }
}

/// Where the engine has no standard deviation, squares of distances are compared with four times
/// the variance, in two passes: the same question, without a root.
fn anomalies(dialect: &dyn Dialect) -> String {
    if let Some(deviation) = dialect.sample_deviation("temperature") {
        return format!(
            "SELECT r.sensor, r.ts, r.temperature FROM readings AS r JOIN \
             (SELECT sensor, AVG(temperature) AS mean, {deviation} AS deviation FROM readings \
             GROUP BY sensor) AS s ON s.sensor = r.sensor \
             WHERE ABS(r.temperature - s.mean) > 2 * s.deviation"
        );
    }
    "WITH means AS (SELECT sensor, AVG(temperature) AS mean FROM readings GROUP BY sensor), \
     spreads AS (SELECT r.sensor AS sensor, MAX(m.mean) AS mean, \
     SUM((r.temperature - m.mean) * (r.temperature - m.mean)) \
     / NULLIF(COUNT(r.temperature) - 1, 0) AS variance \
     FROM readings AS r JOIN means AS m ON m.sensor = r.sensor GROUP BY r.sensor) \
     SELECT r.sensor, r.ts, r.temperature FROM readings AS r \
     JOIN spreads AS s ON s.sensor = r.sensor \
     WHERE (r.temperature - s.mean) * (r.temperature - s.mean) > 4 * s.variance"
        .to_owned()
}

fn compare_two(dialect: &dyn Dialect) -> String {
    let bucket = dialect.integer_division("r.ts", "300000000");
    let pairs = format!(
        "WITH busiest AS (SELECT sensor, COUNT(*) AS readings FROM readings GROUP BY sensor \
         ORDER BY readings DESC, sensor LIMIT 2), \
         buckets AS (SELECT r.sensor AS sensor, {bucket} AS bucket, AVG(r.temperature) AS mean \
         FROM readings AS r JOIN busiest AS b ON b.sensor = r.sensor \
         WHERE r.temperature IS NOT NULL GROUP BY r.sensor, {bucket}), \
         pairs AS (SELECT a.mean AS x, b.mean AS y FROM buckets AS a \
         JOIN buckets AS b ON b.bucket = a.bucket AND b.sensor > a.sensor)"
    );
    if let Some(correlation) = dialect.correlation("y", "x") {
        return format!("{pairs} SELECT COUNT(*), {correlation} FROM pairs");
    }
    format!(
        "{pairs}, centre AS (SELECT AVG(x) AS mx, AVG(y) AS my FROM pairs) \
         SELECT COUNT(*), SUM((x - mx) * (y - my)), SUM((x - mx) * (x - mx)), \
         SUM((y - my) * (y - my)) FROM pairs CROSS JOIN centre"
    )
}
