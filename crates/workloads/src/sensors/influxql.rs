//! The InfluxQL texts: measurement `readings`, tag `sensor` (decimal), fields `temperature`,
//! `humidity`, `light` and `voltage` (absent when NULL) and `reading`, which is 1 in every row, so
//! that one whose values are all NULL exists and rows can be counted. Time is `ts`, in ns.
//!
//! What InfluxQL cannot say is left to its client: an order by anything but time (its `TOP` takes
//! ties as they come, so it cannot cut at ten either), a join, and a correlation. Tags come as
//! text, and groups in the order of their text: `1`, `10`, `2`.

use std::fmt::{self, Write};

use embermark_model::Key;

use super::range::Span;

/// Nanoseconds in a microsecond: what a `ts` is multiplied with.
pub(super) const NANOS: i64 = 1_000;

/// Nanoseconds in a UTC day, by which `time` of [`Query::DailySummary`] is divided. Days and
/// buckets of `GROUP BY time` begin where those counted from 1970 do.
pub(super) const DAY: i64 = 86_400 * 1_000_000_000;

/// A sensor, and the temperatures in °C between which it has no anomaly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Band {
    pub sensor: i64,
    pub low: f64,
    pub high: f64,
}

/// A statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Query<'a> {
    /// Whole: the values of one key; no row when it is not there.
    Read(Key),
    /// Whole: the newest readings of sensors, at least one; in no order.
    NewestOf(&'a [u16]),
    /// Whole; says nothing of how many it deleted.
    Delete(Key),
    /// The times of a range, whose points its client writes: there is no update.
    TimesIn(Span),
    /// Whole; says nothing of how many it deleted.
    DeleteRange(Span),
    /// Whole: the mean, NULL for a sensor without a temperature. (`MEAN` alone would leave that
    /// sensor out, which is why the readings are counted too.) Of every sensor or one, as others are.
    AvgSensor(Option<u16>),
    /// All but the order and the first ten.
    HotSensors,
    /// First half of the anomalies: mean and sample deviation, NULL of less than two.
    Spread(Option<u16>),
    /// Second half: the temperatures outside the bands, at least one, that the client makes of
    /// the first.
    Outside(&'a [Band]),
    /// Whole: days in which there are readings.
    DailySummary(Option<u16>),
    /// Whole: the end of each gap, and its length in µs.
    Outages(Option<u16>),
    /// All but the order and the first ten.
    MostReadings,
    /// All but the order and the first ten.
    Hottest,
    /// The means of two sensors' five-minute buckets; their join and correlation are missing, and
    /// which two by [`Query::MostReadings`].
    Buckets([i64; 2]),
    /// Every row of a sensor in the order of time. Which sensors there are, in the order of their
    /// numbers, by [`Query::MostReadings`].
    Contents(i64),
}

/// The values of a reading, `reading` so that a row of NULLs is one.
const VALUES: &str = "reading, temperature, humidity, light, voltage";

impl Query<'_> {
    /// Writes the statement into `text`, in place of what it held.
    pub(super) fn write(&self, text: &mut String) {
        text.clear();
        // Writing to a string cannot fail.
        let _ = self.try_write(text);
    }

    fn try_write(&self, text: &mut String) -> fmt::Result {
        match self {
            Self::Read(Key { sensor, ts }) => write!(
                text,
                "SELECT {VALUES} FROM readings WHERE sensor = '{sensor}' AND time = {}",
                ts * NANOS
            ),
            Self::NewestOf(sensors) => {
                write!(text, "SELECT {VALUES} FROM readings WHERE ")?;
                any(text, sensors, |text, sensor| write!(text, "sensor = '{sensor}'"))?;
                text.write_str(" GROUP BY sensor ORDER BY time DESC LIMIT 1")
            }
            Self::Delete(Key { sensor, ts }) => write!(
                text,
                "DELETE FROM readings WHERE sensor = '{sensor}' AND time = {}",
                ts * NANOS
            ),
            Self::TimesIn(span) => {
                write!(text, "SELECT reading FROM readings WHERE {}", Within(span))
            }
            Self::DeleteRange(span) => {
                write!(text, "DELETE FROM readings WHERE {}", Within(span))
            }
            Self::AvgSensor(of) => write!(
                text,
                "SELECT MEAN(temperature) AS mean, COUNT(reading) AS readings FROM readings{} \
                 GROUP BY sensor",
                Of(*of)
            ),
            Self::HotSensors => text.write_str(
                "SELECT mean, sensor FROM \
                 (SELECT MEAN(temperature) AS mean, COUNT(reading) AS readings FROM readings \
                 GROUP BY sensor) WHERE mean > 25 AND readings >= 10",
            ),
            Self::Spread(of) => write!(
                text,
                "SELECT MEAN(temperature) AS mean, STDDEV(temperature) AS deviation \
                 FROM readings{} GROUP BY sensor",
                Of(*of)
            ),
            Self::Outside(bands) => {
                text.write_str("SELECT temperature FROM readings WHERE ")?;
                any(text, bands, |text, Band { sensor, low, high }| {
                    let (low, high) = (Decimal(*low), Decimal(*high));
                    write!(
                        text,
                        "(sensor = '{sensor}' AND (temperature < {low} OR temperature > {high}))"
                    )
                })?;
                text.write_str(" GROUP BY sensor")
            }
            Self::DailySummary(of) => write!(
                text,
                "SELECT MIN(temperature) AS min, MAX(temperature) AS max, \
                 MEAN(temperature) AS mean, COUNT(reading) AS readings FROM readings{} \
                 GROUP BY time(1d), sensor fill(none)",
                Of(*of)
            ),
            Self::Outages(of) => write!(
                text,
                "SELECT gap, sensor FROM \
                 (SELECT ELAPSED(reading, 1u) AS gap FROM readings{} GROUP BY sensor) \
                 WHERE gap > 3600000000",
                Of(*of)
            ),
            Self::MostReadings => {
                text.write_str("SELECT COUNT(reading) AS readings FROM readings GROUP BY sensor")
            }
            Self::Hottest => {
                text.write_str("SELECT MEAN(temperature) AS mean FROM readings GROUP BY sensor")
            }
            Self::Buckets([a, b]) => write!(
                text,
                "SELECT MEAN(temperature) AS mean FROM readings \
                 WHERE sensor = '{a}' OR sensor = '{b}' GROUP BY time(5m), sensor fill(none)"
            ),
            Self::Contents(sensor) => {
                write!(text, "SELECT {VALUES} FROM readings WHERE sensor = '{sensor}'")
            }
        }
    }

    /// The columns of its answer, by name, in the order of the row that the workload makes of it:
    /// `sensor` is text, `time` in ns and `gap` in µs are integers, as are `readings`.
    pub(super) const fn columns(&self) -> &'static [&'static str] {
        match self {
            Self::Read(_) => &["temperature", "humidity", "light", "voltage"],
            Self::Contents(_) => &["time", "temperature", "humidity", "light", "voltage"],
            Self::NewestOf(_) => &["sensor", "time", "temperature", "humidity", "light", "voltage"],
            Self::Delete(_) | Self::DeleteRange(_) => &[],
            Self::TimesIn(_) => &["time"],
            Self::AvgSensor(_) | Self::HotSensors | Self::Hottest => &["sensor", "mean"],
            Self::Spread(_) => &["sensor", "mean", "deviation"],
            Self::Outside(_) => &["sensor", "time", "temperature"],
            Self::DailySummary(_) => &["sensor", "time", "min", "max", "mean", "readings"],
            Self::Outages(_) => &["sensor", "time", "gap"],
            Self::MostReadings => &["sensor", "readings"],
            Self::Buckets(_) => &["sensor", "time", "mean"],
        }
    }
}

/// A number as InfluxQL reads it: without an exponent, which is how `Display` writes it, and with a
/// point, because without one it has to fit an integer.
struct Decimal(f64);

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let point = if self.0.fract() == 0.0 { ".0" } else { "" };
        write!(f, "{}{point}", self.0)
    }
}

/// The condition of a question of one sensor, with what begins it; nothing of every sensor.
struct Of(Option<u16>);

impl fmt::Display for Of {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |sensor| write!(f, " WHERE sensor = '{sensor}'"))
    }
}

/// The condition of a range.
struct Within<'a>(&'a Span);

impl fmt::Display for Within<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Span { sensor, from, to, .. } = self.0;
        let (from, to) = (from * NANOS, to * NANOS);
        write!(f, "sensor = '{sensor}' AND time >= {from} AND time <= {to}")
    }
}

/// Conditions of which one has to hold.
fn any<T>(
    text: &mut String,
    items: &[T],
    condition: impl Fn(&mut String, &T) -> fmt::Result,
) -> fmt::Result {
    for (n, item) in items.iter().enumerate() {
        if n > 0 {
            text.write_str(" OR ")?;
        }
        condition(text, item)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(query: Query<'_>) -> String {
        let mut text = "left over".to_owned();
        query.write(&mut text);
        text
    }

    #[test]
    fn keys_are_written_as_the_tag_s_text_and_nanoseconds() {
        let key = Key { sensor: 7, ts: -3 };
        let expected = "DELETE FROM readings WHERE sensor = '7' AND time = -3000";
        assert_eq!(text(Query::Delete(key)), expected);
        assert!(text(Query::Read(key)).ends_with("WHERE sensor = '7' AND time = -3000"));
        let expected =
            "WHERE sensor = '1' OR sensor = '20' GROUP BY sensor ORDER BY time DESC LIMIT 1";
        assert!(text(Query::NewestOf(&[1, 20])).ends_with(expected));
    }

    #[test]
    fn bounds_are_written_in_full_and_without_exponents() {
        let bands = [
            Band { sensor: 1, low: -0.1, high: 1e-7 },
            Band { sensor: 2, low: 1.0 / 3.0, high: 1e20 },
        ];
        let expected = "WHERE (sensor = '1' AND (temperature < -0.1 OR temperature > 0.0000001)) \
                    OR (sensor = '2' AND (temperature < 0.3333333333333333 \
                    OR temperature > 100000000000000000000.0)) GROUP BY sensor";
        assert!(text(Query::Outside(&bands)).ends_with(expected));
    }

    #[test]
    fn ranges_and_questions_of_one_sensor_are_bounded() {
        let span = Span { sensor: 7, from: -3, to: 5, readings: 9 };
        let expected = "FROM readings WHERE sensor = '7' AND time >= -3000 AND time <= 5000";
        assert_eq!(text(Query::DeleteRange(span)), format!("DELETE {expected}"));
        assert_eq!(text(Query::TimesIn(span)), format!("SELECT reading {expected}"));
        assert!(
            text(Query::AvgSensor(Some(7)))
                .ends_with("FROM readings WHERE sensor = '7' GROUP BY sensor")
        );
        assert!(text(Query::AvgSensor(None)).ends_with("FROM readings GROUP BY sensor"));
        assert!(
            text(Query::Outages(Some(7))).contains("readings WHERE sensor = '7' GROUP BY sensor)")
        );
    }
}
