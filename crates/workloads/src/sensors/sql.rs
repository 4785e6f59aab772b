//! The log in an SQL database.

use embermark_contract::sql::{self, CsvFile, Param, SqlStore, Statement};
use embermark_contract::{Lifecycle, Result, Scope};
use embermark_meter::Meter;
use embermark_model::fingerprint::Checksum;
use embermark_model::{Key, Reading};

use super::answers::{self, Asks, reading, values};
use super::phase::Phase;
use super::port::{Change, SensorLog};
use super::queries::{Of, Query, TABLE};
use super::query_results::QueryResults;
use super::range::{Span, SpanChange};
use super::row_source::{self, RowSource};
use super::variant::Variant;
use crate::Strategy;
use crate::reopenable::Reopenable;

/// The log in an SQL database: one table.
pub(super) struct SqlLog {
    store: Reopenable<dyn SqlStore>,
    /// The sensors that `last_readings` asks for, since one statement may answer for all of them.
    newest: usize,
    /// Statements prepared since the table was created or the database opened.
    prepared: Vec<((Query, Of), Statement)>,
}

impl SqlLog {
    pub(super) fn new(store: Reopenable<dyn SqlStore>, newest: usize) -> Self {
        Self { store, newest, prepared: Vec::new() }
    }

    fn statement(&mut self, query: Query) -> Result<Statement> {
        self.statement_of(query, Of::All)
    }

    fn statement_of(&mut self, query: Query, of: Of) -> Result<Statement> {
        let known = self.prepared.iter().find(|(known, _)| *known == (query, of));
        if let Some((_, statement)) = known {
            return Ok(*statement);
        }
        let text = query.text(of, self.store.dialect());
        let statement = self.store.prepare(&text)?;
        self.prepared.push(((query, of), statement));
        Ok(statement)
    }

    fn newest_query(&self) -> Query {
        if self.store.dialect().seeks_by_key() {
            Query::Newest
        } else {
            Query::NewestOf(self.newest)
        }
    }

    fn queries(&self, step: Phase, of: Variant) -> Vec<Query> {
        match step {
            Phase::Load if of.strategy() == Strategy::Bulk => vec![],
            Phase::Load => vec![Query::Insert],
            Phase::Read => vec![Query::Read],
            Phase::LastReadings => vec![self.newest_query()],
            Phase::Update if of.changes_ranges(step) => vec![Query::UpdateRange],
            Phase::Update => vec![Query::Update],
            Phase::Delete if of.changes_ranges(step) => vec![Query::DeleteRange],
            Phase::Delete => vec![Query::Delete],
            question => {
                question.parts().iter().flat_map(|part| answers::queries(*part)).copied().collect()
            }
        }
    }
}

impl Asks for SqlLog {
    fn ask(&mut self, query: Query, of: Option<u16>, visit: &mut sql::Visit<'_>) -> Result<()> {
        let statement = self.statement_of(query, Of::given(of))?;
        ask(&mut *self.store, statement, (query, of), visit)
    }

    fn correlates(&self) -> bool {
        self.store.dialect().correlation("y", "x").is_some()
    }
}

/// Asks by the statement of a question, `of` one sensor where there is one.
pub(super) fn ask(
    store: &mut dyn SqlStore,
    statement: Statement,
    (query, of): (Query, Option<u16>),
    visit: &mut sql::Visit<'_>,
) -> Result<()> {
    let Some(sensor) = of else { return store.query(statement, &[], visit) };
    let params = [sensor_param(sensor); Query::MOST_SENSORS];
    let count = query.sensors(store.dialect());
    store.query(statement, &params[..count], visit)
}

/// Sensor, first and last time.
const fn span_params(span: &Span) -> [Param<'static>; 3] {
    [sensor_param(span.sensor), Param::Int(span.from), Param::Int(span.to)]
}

const fn sensor_param(sensor: u16) -> Param<'static> {
    Param::Int(sensor as i64)
}

impl SensorLog for SqlLog {
    fn clear(&mut self) -> Result<()> {
        // Statements are prepared anew after this: an engine that keeps plans of the table that
        // was would do so inside the clock.
        self.prepared.clear();
        let dialect = self.store.dialect();
        self.store.batch(&dialect.drop_table(TABLE.name))?;
        self.store.batch(&dialect.create_table_read_backwards(&TABLE))
    }

    fn ready(&mut self, step: Phase, variant: Variant) -> Result<()> {
        let queries = self.queries(step, variant);
        let of = if variant.asks_each(step) { Of::One } else { Of::All };
        let many_rows =
            step.is_question() || queries.is_empty() || matches!(queries[..], [Query::NewestOf(_)]);
        self.store.expect(if many_rows {
            sql::QueryKind::Analytic
        } else {
            sql::QueryKind::Point
        })?;
        for query in queries {
            self.statement_of(query, of)?;
        }
        Ok(())
    }

    fn loads_csv(&self) -> bool {
        self.store.loads_csv()
    }

    fn load_csv(&mut self, file: &CsvFile<'_>) -> Result<u64> {
        self.store.load_csv(&TABLE, file)
    }

    fn reopen(&mut self) -> Result<()> {
        self.prepared.clear();
        self.store.reopen()
    }

    fn load(&mut self, rows: &[Reading], by: Strategy, meter: &mut Meter) -> Result<u64> {
        if by == Strategy::Bulk {
            let mut source = RowSource::new(rows, self.store.bulk_sorted(), meter);
            let loaded = self.store.bulk_insert(&TABLE, &mut source)?;
            source.count_given();
            return Ok(loaded);
        }
        let insert = self.statement(Query::Insert)?;
        let mut loaded = 0;
        by.each(rows.len(), meter, |scope, part| {
            self.store.within(scope, |store| {
                part.each(|i| {
                    loaded += store.run(insert, &row_source::params(&rows[i]))?;
                    Ok(())
                })
            })
        })?;
        Ok(loaded)
    }

    fn read(&mut self, keys: &[Key], meter: &mut Meter) -> Result<Checksum> {
        let read = self.statement(Query::Read)?;
        self.store.within(Scope::Snapshot, |store| {
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
        self.store.within(Scope::Snapshot, |store| {
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
        let mut changed = 0;
        by.each(changes.len(), meter, |scope, part| {
            self.store.within(scope, |store| {
                part.each(|i| {
                    let Change { key, temperature } = changes[i];
                    let params =
                        [Param::Float(temperature), sensor_param(key.sensor), Param::Int(key.ts)];
                    changed += store.run(update, &params)?;
                    Ok(())
                })
            })
        })?;
        Ok(changed)
    }

    fn delete(&mut self, keys: &[Key], by: Strategy, meter: &mut Meter) -> Result<u64> {
        let delete = self.statement(Query::Delete)?;
        let mut deleted = 0;
        by.each(keys.len(), meter, |scope, part| {
            self.store.within(scope, |store| {
                part.each(|i| {
                    let key = keys[i];
                    deleted +=
                        store.run(delete, &[sensor_param(key.sensor), Param::Int(key.ts)])?;
                    Ok(())
                })
            })
        })?;
        Ok(deleted)
    }

    fn update_ranges(
        &mut self,
        changes: &[SpanChange],
        by: Strategy,
        meter: &mut Meter,
    ) -> Result<u64> {
        let update = self.statement(Query::UpdateRange)?;
        let mut changed = 0;
        by.each(changes.len(), meter, |scope, part| {
            self.store.within(scope, |store| {
                part.each(|i| {
                    let SpanChange { span, temperature } = &changes[i];
                    let [sensor, from, to] = span_params(span);
                    changed +=
                        store.run(update, &[Param::Float(*temperature), sensor, from, to])?;
                    Ok(())
                })
            })
        })?;
        Ok(changed)
    }

    fn delete_ranges(&mut self, spans: &[Span], by: Strategy, meter: &mut Meter) -> Result<u64> {
        let delete = self.statement(Query::DeleteRange)?;
        let mut deleted = 0;
        by.each(spans.len(), meter, |scope, part| {
            self.store.within(scope, |store| {
                part.each(|i| {
                    deleted += store.run(delete, &span_params(&spans[i]))?;
                    Ok(())
                })
            })
        })?;
        Ok(deleted)
    }

    fn ask(&mut self, question: Phase, of: Option<u16>, found: &mut QueryResults) -> Result<()> {
        answers::answer(self, question, of, found)
    }

    fn contents(&mut self, visit: &mut dyn FnMut(&Reading)) -> Result<()> {
        let contents = self.statement(Query::Contents)?;
        self.store.query(contents, &[], &mut |row| {
            visit(&reading(row)?);
            Ok(())
        })
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
