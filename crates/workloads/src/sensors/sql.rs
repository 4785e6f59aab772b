//! The log in an SQL database.

use embermark_engines::sql::{self, Param, SqlRow, SqlStore, Statement};
use embermark_engines::{Access, EngineError, Result};
use embermark_meter::Meter;
use embermark_model::fingerprint::Checksum;
use embermark_model::{Key, Reading};

use super::feed::{self, Feed};
use super::port::{Anomaly, Change, Comparison, Day, Mean, Outage, SensorLog, Strategy, Tally};
use super::queries::{Query, TABLE};
use super::scan::pearson;
use super::step::Step;

/// The log in an SQL database: one table.
pub(super) struct SqlLog {
    store: Box<dyn SqlStore>,
    /// The sensors that `last_readings` asks for, since one statement may answer for all of them.
    newest: usize,
    /// Statements prepared since the table was created.
    prepared: Vec<(Query, Statement)>,
}

impl SqlLog {
    pub(super) fn new(store: Box<dyn SqlStore>, newest: usize) -> Self {
        Self { store, newest, prepared: Vec::new() }
    }

    fn statement(&mut self, query: Query) -> Result<Statement> {
        if let Some((_, statement)) = self.prepared.iter().find(|(known, _)| *known == query) {
            return Ok(*statement);
        }
        let statement = self.store.prepare(&query.text(self.store.dialect()))?;
        self.prepared.push((query, statement));
        Ok(statement)
    }

    fn newest_query(&self) -> Query {
        if self.store.dialect().seeks_by_key() {
            Query::Newest
        } else {
            Query::NewestOf(self.newest)
        }
    }

    fn queries(&self, step: Step, by: Strategy) -> Vec<Query> {
        match step {
            Step::Load if by == Strategy::Bulk => vec![],
            Step::Load => vec![Query::Insert],
            Step::Read => vec![Query::Read],
            Step::LastReadings => vec![self.newest_query()],
            Step::Update => vec![Query::Update],
            Step::Delete => vec![Query::Delete],
            Step::AvgSensor => vec![Query::AvgSensor],
            Step::HotSensors => vec![Query::HotSensors],
            Step::Anomalies => vec![Query::Anomalies],
            Step::DailySummary => vec![Query::DailySummary],
            Step::Outages => vec![Query::Outages],
            Step::TopkSensors => vec![Query::MostReadings, Query::Hottest],
            Step::CompareTwo => vec![Query::CompareTwo],
            Step::FullProfile => vec![
                Query::AvgSensor,
                Query::DailySummary,
                Query::Outages,
                Query::MostReadings,
                Query::Hottest,
            ],
        }
    }

    /// Runs `work` inside one transaction, unless every statement is one of its own.
    fn transaction<T>(
        &mut self,
        access: Access,
        by: Strategy,
        work: impl FnOnce(&mut dyn SqlStore) -> Result<T>,
    ) -> Result<T> {
        let whole = by != Strategy::CommitEach;
        if whole {
            self.store.begin(access)?;
        }
        let done = work(&mut *self.store)?;
        if whole {
            self.store.commit()?;
        }
        Ok(done)
    }

    /// Asks a question and keeps every row of the answer.
    fn ask<T>(
        &mut self,
        query: Query,
        found: &mut Vec<T>,
        row_of: impl Fn(&dyn SqlRow) -> Result<T>,
    ) -> Result<()> {
        let statement = self.statement(query)?;
        self.store.query(statement, &[], &mut |row| {
            found.push(row_of(row)?);
            Ok(())
        })
    }
}

/// A column that may not be NULL.
fn int(row: &dyn SqlRow, column: usize) -> Result<i64> {
    row.int(column)?.ok_or_else(|| unfit(column, "NULL"))
}

fn unfit(column: usize, value: impl ToString) -> EngineError {
    let value = value.to_string();
    EngineError::failed(
        "the SQL engine",
        "answer as the table is defined",
        format!("result column {column}, counted from 0, holds {value}"),
    )
}

fn mean(row: &dyn SqlRow) -> Result<Mean> {
    Ok((int(row, 0)?, row.float(1)?))
}

/// The four values of a reading, from column `first` on.
fn values(row: &dyn SqlRow, first: usize) -> Result<[Option<f64>; 4]> {
    Ok([row.float(first)?, row.float(first + 1)?, row.float(first + 2)?, row.float(first + 3)?])
}

fn reading(row: &dyn SqlRow) -> Result<Reading> {
    let sensor = int(row, 0)?;
    let sensor = u16::try_from(sensor).map_err(|_| unfit(0, sensor))?;
    Ok(Reading::new(Key { sensor, ts: int(row, 1)? }, values(row, 2)?))
}

const fn sensor_param(sensor: u16) -> Param<'static> {
    Param::Int(sensor as i64)
}

impl SensorLog for SqlLog {
    fn answers_questions(&self) -> bool {
        true
    }

    fn clear(&mut self) -> Result<()> {
        // Statements are prepared anew after this: an engine that keeps plans of the table that
        // was would do so inside the clock.
        self.prepared.clear();
        self.store.batch(&format!("DROP TABLE IF EXISTS {}", TABLE.name))?;
        let create = self.store.dialect().create_table(&TABLE);
        self.store.batch(&create)
    }

    fn ready(&mut self, step: Step, by: Strategy) -> Result<()> {
        let queries = self.queries(step, by);
        let many_rows =
            step.is_question() || queries.is_empty() || matches!(queries[..], [Query::NewestOf(_)]);
        self.store.expect(if many_rows { sql::Step::Analytic } else { sql::Step::Point })?;
        for query in queries {
            self.statement(query)?;
        }
        Ok(())
    }

    fn load(&mut self, rows: &[Reading], by: Strategy, meter: &mut Meter) -> Result<u64> {
        if by == Strategy::Bulk {
            let mut feed = Feed::new(rows, self.store.bulk_sorted(), meter);
            let loaded = self.store.bulk_insert(&TABLE, &mut feed)?;
            let given = feed.given();
            meter.count(given);
            return Ok(loaded);
        }
        let insert = self.statement(Query::Insert)?;
        self.transaction(Access::Write, by, |store| {
            let mut loaded = 0;
            meter.each(rows.len() as u64, |i| {
                loaded += store.run(insert, &feed::params(&rows[i]))?;
                Ok(())
            })?;
            Ok(loaded)
        })
    }

    fn read(&mut self, keys: &[Key], meter: &mut Meter) -> Result<Checksum> {
        let read = self.statement(Query::Read)?;
        self.transaction(Access::Read, Strategy::Single, |store| {
            let mut found = Checksum::default();
            meter.each(keys.len() as u64, |i| {
                let key = keys[i];
                store.query(read, &[sensor_param(key.sensor), Param::Int(key.ts)], &mut |row| {
                    found += &Reading::new(key, values(row, 0)?);
                    Ok(())
                })
            })?;
            Ok(found)
        })
    }

    fn last_readings(
        &mut self,
        sensors: &[u16],
        meter: &mut Meter,
        found: &mut Vec<Reading>,
    ) -> Result<()> {
        let query = self.newest_query();
        let statement = self.statement(query)?;
        if query != Query::Newest {
            let params: Vec<Param<'_>> = sensors.iter().copied().map(sensor_param).collect();
            self.store.query(statement, &params, &mut |row| {
                found.push(reading(row)?);
                Ok(())
            })?;
            meter.count(sensors.len() as u64);
            return Ok(());
        }
        self.transaction(Access::Read, Strategy::Single, |store| {
            meter.each(sensors.len() as u64, |i| {
                store.query(statement, &[sensor_param(sensors[i])], &mut |row| {
                    found.push(reading(row)?);
                    Ok(())
                })
            })?;
            Ok(())
        })
    }

    fn update(&mut self, changes: &[Change], by: Strategy, meter: &mut Meter) -> Result<u64> {
        let update = self.statement(Query::Update)?;
        self.transaction(Access::Write, by, |store| {
            let mut changed = 0;
            meter.each(changes.len() as u64, |i| {
                let Change { key, temperature } = changes[i];
                let params =
                    [Param::Float(temperature), sensor_param(key.sensor), Param::Int(key.ts)];
                changed += store.run(update, &params)?;
                Ok(())
            })?;
            Ok(changed)
        })
    }

    fn delete(&mut self, keys: &[Key], by: Strategy, meter: &mut Meter) -> Result<u64> {
        let delete = self.statement(Query::Delete)?;
        self.transaction(Access::Write, by, |store| {
            let mut deleted = 0;
            meter.each(keys.len() as u64, |i| {
                let key = keys[i];
                deleted += store.run(delete, &[sensor_param(key.sensor), Param::Int(key.ts)])?;
                Ok(())
            })?;
            Ok(deleted)
        })
    }

    fn avg_sensor(&mut self, found: &mut Vec<Mean>) -> Result<()> {
        self.ask(Query::AvgSensor, found, mean)
    }

    fn hot_sensors(&mut self, found: &mut Vec<Mean>) -> Result<()> {
        self.ask(Query::HotSensors, found, mean)
    }

    fn anomalies(&mut self, found: &mut Vec<Anomaly>) -> Result<()> {
        self.ask(Query::Anomalies, found, |row| {
            let temperature = row.float(2)?.ok_or_else(|| unfit(2, "NULL"))?;
            Ok(Anomaly { sensor: int(row, 0)?, ts: int(row, 1)?, temperature })
        })
    }

    fn daily_summary(&mut self, found: &mut Vec<Day>) -> Result<()> {
        self.ask(Query::DailySummary, found, |row| {
            Ok(Day {
                sensor: int(row, 0)?,
                day: int(row, 1)?,
                min: row.float(2)?,
                max: row.float(3)?,
                mean: row.float(4)?,
                readings: int(row, 5)?,
            })
        })
    }

    fn outages(&mut self, found: &mut Vec<Outage>) -> Result<()> {
        self.ask(Query::Outages, found, |row| {
            Ok(Outage { sensor: int(row, 0)?, from: int(row, 1)?, to: int(row, 2)? })
        })
    }

    fn topk_sensors(&mut self, readings: &mut Vec<Tally>, hottest: &mut Vec<Mean>) -> Result<()> {
        self.ask(Query::MostReadings, readings, |row| Ok((int(row, 0)?, int(row, 1)?)))?;
        self.ask(Query::Hottest, hottest, mean)
    }

    fn compare_two(&mut self) -> Result<Comparison> {
        let computed = self.store.dialect().correlation("y", "x").is_some();
        let statement = self.statement(Query::CompareTwo)?;
        let mut comparison = Comparison::default();
        self.store.query(statement, &[], &mut |row| {
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

    fn contents(&mut self, visit: &mut dyn FnMut(&Reading)) -> Result<()> {
        let contents = self.statement(Query::Contents)?;
        self.store.query(contents, &[], &mut |row| {
            visit(&reading(row)?);
            Ok(())
        })
    }

    fn settle(&mut self) -> Result<()> {
        self.store.settle()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of integers, each of them also to be had as a float.
    struct Fixed([Option<i64>; 6]);

    impl SqlRow for Fixed {
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
