//! The analytical questions in an engine's own language: which statements they are, and what their
//! rows mean.

use embermark_contract::sql::{ResultRow, Visit};
use embermark_contract::{EngineError, Result};
use embermark_model::{Key, Reading};

use super::phase::Phase;
use super::port::{Anomaly, Comparison, Day, Mean, Outage, Tally};
use super::queries::Query;
use super::query_results::QueryResults;
use super::scan::pearson;

/// A store that answers questions.
pub(super) trait Asks {
    /// Asks, `of` one sensor where there is one, and visits the rows, whose columns stand in the order of
    /// [`Query::columns`].
    fn ask(&mut self, query: Query, of: Option<u16>, visit: &mut Visit<'_>) -> Result<()>;

    /// Whether [`Query::CompareTwo`] comes with the correlation, and not with the sums it is of.
    fn correlates(&self) -> bool;
}

/// The statements of a question that is not made of others.
pub(super) const fn queries(question: Phase) -> &'static [Query] {
    match question {
        Phase::AvgSensor => &[Query::AvgSensor],
        Phase::HotSensors => &[Query::HotSensors],
        Phase::Anomalies => &[Query::Anomalies],
        Phase::DailySummary => &[Query::DailySummary],
        Phase::Outages => &[Query::Outages],
        Phase::TopkSensors => &[Query::MostReadings, Query::Hottest],
        Phase::CompareTwo => &[Query::CompareTwo],
        _ => &[],
    }
}

/// Answers a question, `of` one sensor where there is one.
pub(super) fn answer(
    asks: &mut dyn Asks,
    question: Phase,
    of: Option<u16>,
    found: &mut QueryResults,
) -> Result<()> {
    for query in question.parts().iter().flat_map(|part| queries(*part)).copied() {
        let asked = (query, of);
        match query {
            Query::AvgSensor | Query::HotSensors => keep(asks, asked, &mut found.means, mean)?,
            Query::Hottest => keep(asks, asked, &mut found.hottest, mean)?,
            Query::MostReadings => keep(asks, asked, &mut found.tallies, tally)?,
            Query::Anomalies => keep(asks, asked, &mut found.anomalies, anomaly)?,
            Query::DailySummary => keep(asks, asked, &mut found.days, day)?,
            Query::Outages => keep(asks, asked, &mut found.outages, outage)?,
            _ => found.comparison = compare_two(asks)?,
        }
    }
    Ok(())
}

/// Asks a question and keeps every row of the answer.
fn keep<T>(
    asks: &mut dyn Asks,
    (query, of): (Query, Option<u16>),
    found: &mut Vec<T>,
    row_of: impl Fn(&dyn ResultRow) -> Result<T>,
) -> Result<()> {
    asks.ask(query, of, &mut |row| {
        found.push(row_of(row)?);
        Ok(())
    })
}

fn compare_two(asks: &mut dyn Asks) -> Result<Comparison> {
    let computed = asks.correlates();
    let mut comparison = Comparison::default();
    asks.ask(Query::CompareTwo, None, &mut |row| {
        let correlation = if computed {
            // Some engines say NaN where others say NULL.
            row.float(1)?.filter(|correlation| !correlation.is_nan())
        } else {
            match (row.float(1)?, row.float(2)?, row.float(3)?) {
                (Some(xy), Some(xx), Some(yy)) => pearson(xy, xx, yy),
                _ => None,
            }
        };
        comparison = Comparison { buckets: int(row, 0)?, correlation };
        Ok(())
    })?;
    Ok(comparison)
}

/// A column that may not be NULL.
pub(super) fn int(row: &dyn ResultRow, column: usize) -> Result<i64> {
    row.int(column)?.ok_or_else(|| unfit(column, "NULL"))
}

pub(super) fn unfit(column: usize, value: impl ToString) -> EngineError {
    let value = value.to_string();
    EngineError::failed(
        "the engine",
        "answer as the table is defined",
        format!("result column {column}, counted from 0, holds {value}"),
    )
}

fn mean(row: &dyn ResultRow) -> Result<Mean> {
    Ok((int(row, 0)?, row.float(1)?))
}

/// The four values of a reading, from column `first` on.
pub(super) fn values(row: &dyn ResultRow, first: usize) -> Result<[Option<f64>; 4]> {
    Ok([row.float(first)?, row.float(first + 1)?, row.float(first + 2)?, row.float(first + 3)?])
}

pub(super) fn reading(row: &dyn ResultRow) -> Result<Reading> {
    Ok(Reading::new(key(row)?, values(row, 2)?))
}

/// The key of a reading, in the first two columns.
pub(super) fn key(row: &dyn ResultRow) -> Result<Key> {
    let sensor = int(row, 0)?;
    let sensor = u16::try_from(sensor).map_err(|_| unfit(0, sensor))?;
    Ok(Key { sensor, ts: int(row, 1)? })
}

fn tally(row: &dyn ResultRow) -> Result<Tally> {
    Ok((int(row, 0)?, int(row, 1)?))
}

fn anomaly(row: &dyn ResultRow) -> Result<Anomaly> {
    let temperature = row.float(2)?.ok_or_else(|| unfit(2, "NULL"))?;
    Ok(Anomaly { sensor: int(row, 0)?, ts: int(row, 1)?, temperature })
}

fn day(row: &dyn ResultRow) -> Result<Day> {
    Ok(Day {
        sensor: int(row, 0)?,
        day: int(row, 1)?,
        min: row.float(2)?,
        max: row.float(3)?,
        mean: row.float(4)?,
        readings: int(row, 5)?,
    })
}

fn outage(row: &dyn ResultRow) -> Result<Outage> {
    Ok(Outage { sensor: int(row, 0)?, from: int(row, 1)?, to: int(row, 2)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of integers, each of them also to be had as a float.
    struct Fixed([Option<i64>; 6]);

    impl ResultRow for Fixed {
        fn int(&self, column: usize) -> Result<Option<i64>> {
            Ok(self.0[column])
        }

        fn float(&self, column: usize) -> Result<Option<f64>> {
            Ok(self.0[column].map(|n| n as f64))
        }

        fn text(&self, _: usize) -> Result<Option<&str>> {
            Ok(None)
        }
    }

    #[test]
    fn a_row_is_read_with_its_nulls() {
        let row = Fixed([Some(65_535), Some(-7), None, Some(0), Some(3), None]);
        let key = Key { sensor: 65_535, ts: -7 };
        let expected = Reading::new(key, [None, Some(0.0), Some(3.0), None]);
        assert_eq!(reading(&row).unwrap(), expected);
    }

    #[test]
    fn a_row_that_the_table_cannot_hold_is_an_error_that_names_the_column() {
        let says = |sensor, ts| {
            let row = Fixed([sensor, ts, None, None, None, None]);
            reading(&row).unwrap_err().to_string()
        };
        assert!(says(Some(65_536), Some(1)).contains("column 0, counted from 0, holds 65536"));
        assert!(says(None, Some(1)).contains("column 0"), "{}", says(None, Some(1)));
        assert!(says(Some(1), None).contains("column 1, counted from 0, holds NULL"));
    }
}
