//! The SQL texts, written once; a dialect gives the pieces that engines write differently.

use embermark_contract::sql::{Dialect, Nullable, SqlType, TableDef};

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

/// The names of the table's columns.
pub(super) const COLUMNS: [&str; 6] =
    ["sensor", "ts", "temperature", "humidity", "light", "voltage"];

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
    /// Parameters: temperature, sensor, first and last ts.
    UpdateRange,
    /// Parameters: sensor, first and last ts.
    DeleteRange,
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

/// Whose readings a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// Every sensor's.
    All,
    /// One's, a parameter at every place of [`Query::sensors`].
    One,
    /// One's, written into the text, for a store whose texts have no parameters.
    Written(u16),
}

impl Of {
    /// Of a sensor that is a parameter, or of all.
    pub(super) const fn given(sensor: Option<u16>) -> Self {
        if sensor.is_some() { Self::One } else { Self::All }
    }

    /// The condition on a column, the `n`-th in its statement; empty of every sensor. `before` stands
    /// between it and what comes before.
    fn condition(self, dialect: &dyn Dialect, before: &str, column: &str, n: usize) -> String {
        match self {
            Self::All => String::new(),
            Self::One => format!(" {before} {column} = {}", dialect.placeholder(n)),
            Self::Written(sensor) => format!(" {before} {column} = {sensor}"),
        }
    }
}

impl Query {
    /// The largest number of [`sensors`](Self::sensors).
    pub(super) const MOST_SENSORS: usize = 3;

    /// How often the sensor is a parameter of the question, asked of one.
    pub(super) fn sensors(self, dialect: &dyn Dialect) -> usize {
        match self {
            Self::Anomalies if dialect.sample_deviation("temperature").is_none() => 3,
            Self::Anomalies => 2,
            _ => 1,
        }
    }

    /// The names of the columns of a question's result, in order, where a store goes by names.
    pub(super) const fn columns(self) -> &'static [&'static str] {
        match self {
            Self::AvgSensor | Self::HotSensors | Self::Hottest => &["sensor", "mean"],
            Self::Anomalies => &["sensor", "ts", "temperature"],
            Self::DailySummary => &["sensor", "day", "lowest", "highest", "mean", "readings"],
            Self::Outages => &["sensor", "previous", "ts"],
            Self::MostReadings => &["sensor", "readings"],
            Self::CompareTwo => &["buckets", "xy", "xx", "yy"],
            _ => &COLUMNS,
        }
    }

    /// The statement as this dialect writes it, a question `of` all sensors or one.
    pub(super) fn text(self, of: Of, dialect: &dyn Dialect) -> String {
        let p = |n| dialect.placeholder(n);
        let own = of.condition(dialect, "WHERE", "sensor", 1);
        let table = dialect.table(TABLE.name);
        match self {
            Self::Insert => {
                let all: Vec<String> = (1..=6).map(p).collect();
                format!(
                    "INSERT INTO {table} (sensor, ts, temperature, humidity, light, voltage) \
                     VALUES ({})",
                    all.join(", ")
                )
            }
            Self::Read => format!(
                "SELECT temperature, humidity, light, voltage FROM {table} \
                 WHERE sensor = {} AND ts = {}",
                p(1),
                p(2)
            ),
            Self::Newest => format!(
                "SELECT sensor, ts, temperature, humidity, light, voltage FROM {table} \
                 WHERE sensor = {} ORDER BY ts DESC {}",
                p(1),
                dialect.limit("1")
            ),
            Self::NewestOf(sensors) => {
                let all: Vec<String> = (1..=sensors).map(p).collect();
                format!(
                    "SELECT r.sensor, r.ts, r.temperature, r.humidity, r.light, r.voltage \
                     FROM {table} AS r JOIN \
                     (SELECT sensor, MAX(ts) AS ts FROM {table} WHERE sensor IN ({}) \
                     GROUP BY sensor) AS newest \
                     ON r.sensor = newest.sensor AND r.ts = newest.ts",
                    all.join(", ")
                )
            }
            Self::Update => format!(
                "UPDATE {table} SET temperature = {} WHERE sensor = {} AND ts = {}",
                p(1),
                p(2),
                p(3)
            ),
            Self::Delete => {
                format!("DELETE FROM {table} WHERE sensor = {} AND ts = {}", p(1), p(2))
            }
            Self::UpdateRange => format!(
                "UPDATE {table} SET temperature = {} WHERE sensor = {} AND ts BETWEEN {} AND {}",
                p(1),
                p(2),
                p(3),
                p(4)
            ),
            Self::DeleteRange => format!(
                "DELETE FROM {table} WHERE sensor = {} AND ts BETWEEN {} AND {}",
                p(1),
                p(2),
                p(3)
            ),
            Self::AvgSensor => {
                format!("SELECT sensor, AVG(temperature) AS mean FROM {table}{own} GROUP BY sensor")
            }
            Self::HotSensors => format!(
                "SELECT sensor, AVG(temperature) AS mean FROM {table} \
                 GROUP BY sensor HAVING AVG(temperature) > 25 AND COUNT(*) >= 10 \
                 ORDER BY mean DESC, sensor {}",
                dialect.limit("10")
            ),
            Self::Anomalies => anomalies(of, dialect, &table),
            Self::DailySummary => {
                let day = dialect.integer_division("ts", "86400000000");
                let named = dialect.column("day");
                format!(
                    "SELECT sensor, {day} AS {named}, MIN(temperature) AS lowest, \
                     MAX(temperature) AS highest, AVG(temperature) AS mean, \
                     COUNT(*) AS readings FROM {table}{own} GROUP BY sensor, {day}"
                )
            }
            Self::Outages => format!(
                "SELECT sensor, previous, ts FROM \
                 (SELECT sensor, ts, LAG(ts) OVER (PARTITION BY sensor ORDER BY ts) AS previous \
                 FROM {table}{own}) AS consecutive WHERE ts - previous > 3600000000"
            ),
            Self::MostReadings => format!(
                "SELECT sensor, COUNT(*) AS readings FROM {table} \
                 GROUP BY sensor ORDER BY readings DESC, sensor {}",
                dialect.limit("10")
            ),
            Self::Hottest => format!(
                "SELECT sensor, AVG(temperature) AS mean FROM {table} \
                 WHERE temperature IS NOT NULL GROUP BY sensor \
                 ORDER BY mean DESC, sensor {}",
                dialect.limit("10")
            ),
            Self::CompareTwo => compare_two(dialect, &table),
            Self::Contents => format!(
                "SELECT sensor, ts, temperature, humidity, light, voltage \
                 FROM {table} ORDER BY sensor, ts"
            ),
        }
    }
}

/// Where the engine has no standard deviation, squares of distances are compared with four times
/// the variance, in two passes: the same question, without a root.
fn anomalies(of: Of, dialect: &dyn Dialect, table: &str) -> String {
    let own = of.condition(dialect, "WHERE", "sensor", 1);
    if let Some(deviation) = dialect.sample_deviation("temperature") {
        let far = of.condition(dialect, "AND", "r.sensor", 2);
        return format!(
            "SELECT r.sensor, r.ts, r.temperature FROM {table} AS r JOIN \
             (SELECT sensor, AVG(temperature) AS mean, {deviation} AS deviation FROM {table}{own} \
             GROUP BY sensor) AS s ON s.sensor = r.sensor \
             WHERE ABS(r.temperature - s.mean) > 2 * s.deviation{far}"
        );
    }
    let spread = of.condition(dialect, "WHERE", "r.sensor", 2);
    let far = of.condition(dialect, "AND", "r.sensor", 3);
    format!(
        "WITH means AS (SELECT sensor, AVG(temperature) AS mean FROM {table}{own} GROUP BY sensor), \
     spreads AS (SELECT r.sensor AS sensor, MAX(m.mean) AS mean, \
     SUM((r.temperature - m.mean) * (r.temperature - m.mean)) \
     / NULLIF(COUNT(r.temperature) - 1, 0) AS variance \
     FROM {table} AS r JOIN means AS m ON m.sensor = r.sensor{spread} GROUP BY r.sensor) \
     SELECT r.sensor, r.ts, r.temperature FROM {table} AS r \
     JOIN spreads AS s ON s.sensor = r.sensor \
     WHERE (r.temperature - s.mean) * (r.temperature - s.mean) > 4 * s.variance{far}"
    )
}

fn compare_two(dialect: &dyn Dialect, table: &str) -> String {
    let (bucket, two) = (dialect.integer_division("r.ts", "300000000"), dialect.limit("2"));
    // Of a bucket that both have, the row of the lower sensor is the one that another follows.
    let pairs = if dialect.joins_derived_tables() {
        "SELECT a.mean AS x, b.mean AS y FROM buckets AS a \
         JOIN buckets AS b ON b.bucket = a.bucket AND b.sensor > a.sensor"
    } else {
        "SELECT x, y FROM (SELECT mean AS x, \
         LEAD(mean) OVER (PARTITION BY bucket ORDER BY sensor) AS y FROM buckets) AS shared \
         WHERE y IS NOT NULL"
    };
    let pairs = format!(
        "WITH busiest AS (SELECT sensor, COUNT(*) AS readings FROM {table} GROUP BY sensor \
         ORDER BY readings DESC, sensor {two}), \
         buckets AS (SELECT r.sensor AS sensor, {bucket} AS bucket, AVG(r.temperature) AS mean \
         FROM {table} AS r JOIN busiest AS b ON b.sensor = r.sensor \
         WHERE r.temperature IS NOT NULL GROUP BY r.sensor, {bucket}), \
         pairs AS ({pairs})"
    );
    if let Some(correlation) = dialect.correlation("y", "x") {
        return format!(
            "{pairs} SELECT COUNT(*) AS buckets, {correlation} AS correlation FROM pairs"
        );
    }
    format!(
        "{pairs}, centre AS (SELECT AVG(x) AS mx, AVG(y) AS my FROM pairs) \
         SELECT COUNT(*) AS buckets, SUM((x - mx) * (y - my)) AS xy, \
         SUM((x - mx) * (x - mx)) AS xx, SUM((y - my) * (y - my)) AS yy FROM pairs CROSS JOIN centre"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Standard SQL, with or without a standard deviation.
    struct Plain(bool);

    impl Dialect for Plain {
        fn placeholder(&self, n: usize) -> String {
            format!("${n}")
        }

        fn sample_deviation(&self, column: &str) -> Option<String> {
            self.0.then(|| format!("STDDEV_SAMP({column})"))
        }
    }

    const ASKED: [Query; 4] =
        [Query::AvgSensor, Query::Anomalies, Query::DailySummary, Query::Outages];

    #[test]
    fn a_question_of_one_sensor_has_it_as_a_parameter_at_each_of_its_places() {
        for dialect in [Plain(true), Plain(false)] {
            for query in ASKED {
                let text = query.text(Of::One, &dialect);
                let sensors = query.sensors(&dialect);
                assert!(sensors <= Query::MOST_SENSORS);
                for n in 1..=Query::MOST_SENSORS {
                    let has = text.contains(&format!("sensor = ${n}"));
                    assert_eq!(has, n <= sensors, "{n}: {text}");
                }
                assert_eq!(text.matches('$').count(), sensors, "{text}");
                assert!(!query.text(Of::All, &dialect).contains('$'));
                let written = text.split('$').map(|part| part.trim_start_matches(['1', '2', '3']));
                let written = written.collect::<Vec<_>>().join("17");
                assert_eq!(query.text(Of::Written(17), &dialect), written);
            }
        }
    }
}
