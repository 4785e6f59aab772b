//! The log in a document store.

mod feed;

use embermark_contract::document::{
    Collection, CollectionDef, DocumentStore, Filter, Find, Language, Order, Value,
};
use embermark_contract::sql::Visit;
use embermark_contract::{Lifecycle, Result};
use embermark_meter::Meter;
use embermark_model::fingerprint::Checksum;
use embermark_model::result::Execution;
use embermark_model::{Key, Reading};

use super::answers::{self, Asks};
use super::phase::Phase;
use super::pipelines::Pipeline;
use super::port::{Change, SensorLog};
use super::queries::{COLUMNS, Of, Query};
use super::query_results::QueryResults;
use super::range::{Span, SpanChange};
use super::row_source::RowSource;
use super::scan::{self, Readings};
use super::variant::Variant;
use crate::Strategy;
use crate::reopenable::Reopenable;
use feed::{AsDocument, DocumentFeed};

/// The names of a reading's values.
const VALUES: [&str; 4] = ["temperature", "humidity", "light", "voltage"];

static READINGS: CollectionDef =
    CollectionDef { name: "readings", key: &["sensor", "ts"], indexes: &[], fields: &VALUES };

/// The log in a document store: one collection, a document a reading. The data model has no
/// transactions over several documents, so every change is a commit, whatever the strategy.
pub(super) struct DocumentLog {
    store: Reopenable<dyn DocumentStore>,
    collection: Collection,
    /// The sensors of which questions may be asked.
    asked: Vec<u16>,
    /// Statements of SQL and pipelines of one sensor, written before a clock starts.
    texts: Vec<((Query, Of), String)>,
}

impl DocumentLog {
    /// Questions of one sensor will be of one of `asked`.
    pub(super) fn new(mut store: Reopenable<dyn DocumentStore>, asked: &[u16]) -> Result<Self> {
        let collection = store.create(&READINGS)?;
        Ok(Self { store, collection, asked: asked.to_vec(), texts: Vec::new() })
    }

    /// A further client of a log that is there.
    pub(super) fn attach(mut store: Reopenable<dyn DocumentStore>) -> Result<Self> {
        let collection = store.collection(&READINGS)?;
        Ok(Self { store, collection, asked: Vec::new(), texts: Vec::new() })
    }

    fn find(&mut self, find: &Find<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.store.find(self.collection, find, visit)
    }
}

/// The place of a question's text, which is written unless it is there.
fn place(
    texts: &mut Vec<((Query, Of), String)>,
    query: Query,
    of: Of,
    language: Language,
) -> usize {
    texts.iter().position(|(known, _)| *known == (query, of)).unwrap_or_else(|| {
        let text = match (language, of) {
            (Language::Sql(dialect), _) => query.text(of, dialect),
            (Language::Pipeline, Of::Written(sensor)) => pipeline(query).text_of(sensor),
            (Language::Pipeline, _) => pipeline(query).text().to_owned(),
        };
        texts.push(((query, of), text));
        texts.len() - 1
    })
}

/// Whether a store of that language answers a question that is not made of others.
fn is_native(language: Language, question: Phase) -> bool {
    let Language::Sql(dialect) = language else { return true };
    match question {
        Phase::Anomalies | Phase::CompareTwo => dialect.derived_tables(),
        Phase::Outages => dialect.derived_tables() && dialect.windows(),
        Phase::DailySummary => dialect.group_by_expression(),
        _ => true,
    }
}

fn key_values(key: Key) -> [Value<'static>; 2] {
    [Value::Int(i64::from(key.sensor)), Value::Int(key.ts)]
}

impl Asks for DocumentLog {
    fn ask(&mut self, query: Query, of: Option<u16>, visit: &mut Visit<'_>) -> Result<()> {
        let language = self.store.language();
        let columns = match language {
            Language::Pipeline => pipeline(query).columns(),
            Language::Sql(_) => query.columns(),
        };
        let place = place(&mut self.texts, query, of.map_or(Of::All, Of::Written), language);
        self.store.query(self.collection, &self.texts[place].1, columns, visit)
    }

    fn correlates(&self) -> bool {
        false
    }
}

/// The pipeline of a question.
const fn pipeline(query: Query) -> Pipeline {
    match query {
        Query::HotSensors => Pipeline::HotSensors,
        Query::Anomalies => Pipeline::Anomalies,
        Query::DailySummary => Pipeline::DailySummary,
        Query::Outages => Pipeline::Outages,
        Query::MostReadings => Pipeline::MostReadings,
        Query::Hottest => Pipeline::Hottest,
        Query::CompareTwo => Pipeline::CompareTwo,
        _ => Pipeline::AvgSensor,
    }
}

/// The collection's readings in key order.
struct DocumentReadings<'a>(&'a mut DocumentLog);

impl Readings for DocumentReadings<'_> {
    fn visit(
        &mut self,
        sensor: Option<u16>,
        mut visit: impl FnMut(Key, Option<f64>),
    ) -> Result<()> {
        let (from, to) = bounds(sensor.unwrap_or(0));
        let filter = match sensor {
            None => Filter::All,
            Some(_) => Filter::Keys { from: &from, to: &to },
        };
        let columns = &COLUMNS[..3];
        let find = Find { filter, order: Order::Key, limit: None, columns };
        self.0.find(&find, &mut |row| {
            let (key, temperature) = (answers::key(row)?, row.float(2)?);
            visit(key, temperature);
            Ok(())
        })
    }
}

/// The keys of a sensor: from its shortest up to the next sensor's.
fn bounds(sensor: u16) -> ([Value<'static>; 1], [Value<'static>; 1]) {
    let sensor = i64::from(sensor);
    ([Value::Int(sensor)], [Value::Int(sensor + 1)])
}

/// The keys of a range: its first, and the lowest above its last.
fn span_values(span: &Span) -> [[Value<'static>; 2]; 2] {
    let (from, to) = span.keys();
    [key_values(from), key_values(to)]
}

impl SensorLog for DocumentLog {
    fn execution(&self, step: Phase, _: Variant) -> Execution {
        let language = self.store.language();
        let native = |part: &Phase| !part.is_question() || is_native(language, *part);
        if step.parts().iter().all(native) { Execution::Native } else { Execution::ClientSide }
    }

    fn clear(&mut self) -> Result<()> {
        self.collection = self.store.create(&READINGS)?;
        Ok(())
    }

    fn ready(&mut self, step: Phase, variant: Variant) -> Result<()> {
        let Self { store, asked, texts, .. } = self;
        let language = store.language();
        let native = step.parts().iter().filter(|part| is_native(language, **part));
        for query in native.flat_map(|part| answers::queries(*part)) {
            if variant.asks_each(step) {
                let each = asked.iter().map(|sensor| Of::Written(*sensor));
                each.for_each(|of| _ = place(texts, *query, of, language));
            } else {
                place(texts, *query, Of::All, language);
            }
        }
        Ok(())
    }

    fn reopen(&mut self) -> Result<()> {
        self.store.reopen()
    }

    fn load(&mut self, rows: &[Reading], by: Strategy, meter: &mut Meter) -> Result<u64> {
        let mut next = AsDocument::EMPTY;
        if by == Strategy::Bulk {
            let mut source = DocumentFeed { source: RowSource::new(rows, false, meter), next };
            let loaded = self.store.bulk(self.collection, &mut source)?;
            source.source.count_given();
            return Ok(loaded);
        }
        meter.each(rows.len() as u64, |i| {
            next.set(&rows[i]);
            self.store.insert(self.collection, &next.document())
        })
    }

    fn read(&mut self, keys: &[Key], meter: &mut Meter) -> Result<Checksum> {
        let mut found = Checksum::default();
        meter.each(keys.len() as u64, |i| {
            let key = key_values(keys[i]);
            let find = Find {
                filter: Filter::Key(&key),
                order: Order::Any,
                limit: None,
                columns: &VALUES,
            };
            self.find(&find, &mut |row| {
                found += &Reading::new(keys[i], answers::values(row, 0)?);
                Ok(())
            })
        })?;
        Ok(found)
    }

    fn last_readings(
        &mut self,
        sensors: &[u16],
        meter: &mut Meter,
        found: &mut Vec<Reading>,
    ) -> Result<()> {
        meter.each(sensors.len() as u64, |i| {
            let (from, to) = bounds(sensors[i]);
            let find = Find {
                filter: Filter::Keys { from: &from, to: &to },
                order: Order::KeyDescending,
                limit: Some(1),
                columns: &COLUMNS,
            };
            self.find(&find, &mut |row| {
                found.push(answers::reading(row)?);
                Ok(())
            })
        })?;
        Ok(())
    }

    fn update(&mut self, changes: &[Change], _: Strategy, meter: &mut Meter) -> Result<u64> {
        let mut changed = 0;
        meter.each(changes.len() as u64, |i| {
            let Change { key, temperature } = changes[i];
            let set = [(VALUES[Reading::TEMPERATURE], Value::Float(temperature))];
            let (collection, key) = (self.collection, key_values(key));
            changed += self.store.update(collection, &Filter::Key(&key), &set)?;
            Ok(())
        })?;
        Ok(changed)
    }

    fn delete(&mut self, keys: &[Key], _: Strategy, meter: &mut Meter) -> Result<u64> {
        let mut deleted = 0;
        meter.each(keys.len() as u64, |i| {
            let key = key_values(keys[i]);
            deleted += self.store.delete(self.collection, &Filter::Key(&key))?;
            Ok(())
        })?;
        Ok(deleted)
    }

    fn update_ranges(
        &mut self,
        changes: &[SpanChange],
        _: Strategy,
        meter: &mut Meter,
    ) -> Result<u64> {
        let mut changed = 0;
        meter.each(changes.len() as u64, |i| {
            let SpanChange { span, temperature } = &changes[i];
            let set = [(VALUES[Reading::TEMPERATURE], Value::Float(*temperature))];
            let [from, to] = span_values(span);
            let filter = Filter::Keys { from: &from, to: &to };
            changed += self.store.update(self.collection, &filter, &set)?;
            Ok(())
        })?;
        Ok(changed)
    }

    fn delete_ranges(&mut self, spans: &[Span], _: Strategy, meter: &mut Meter) -> Result<u64> {
        let mut deleted = 0;
        meter.each(spans.len() as u64, |i| {
            let [from, to] = span_values(&spans[i]);
            let filter = Filter::Keys { from: &from, to: &to };
            deleted += self.store.delete(self.collection, &filter)?;
            Ok(())
        })?;
        Ok(deleted)
    }

    fn ask(&mut self, question: Phase, of: Option<u16>, found: &mut QueryResults) -> Result<()> {
        let language = self.store.language();
        for part in question.parts() {
            if is_native(language, *part) {
                answers::answer(self, *part, of, found)?;
            } else {
                scan::answer(DocumentReadings(self), *part, of, found)?;
            }
        }
        Ok(())
    }

    fn contents(&mut self, visit: &mut dyn FnMut(&Reading)) -> Result<()> {
        let find = Find { filter: Filter::All, order: Order::Key, limit: None, columns: &COLUMNS };
        self.find(&find, &mut |row| {
            visit(&answers::reading(row)?);
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
