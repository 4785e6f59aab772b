//! Events in a document store: a document each, what it tells in fields of its own.

use arrayvec::ArrayVec;
use embermark_contract::document::{
    Collection, CollectionDef, Document, DocumentStore, Documents, Field, Filter, Find, Language,
    Order, Value,
};
use embermark_contract::sql::Dialect;
use embermark_contract::{Lifecycle, Result};
use embermark_data::events::Payload;
use embermark_meter::Meter;
use embermark_model::result::Execution;

use super::phase::Phase;
use super::pipelines;
use super::port::{FIRST, Record, Stored, Telemetry, float, int, stored};
use super::query_results::{ERRORS_SINCE, QueryResults, WITHIN};
use super::variant::{Index, Variant};
use crate::reopenable::Reopenable;

const NAME: &str = "metrics";

/// Id, timestamp and bucket, then what events tell.
const COLUMNS: [&str; 11] = [
    "id",
    "timestamp",
    "bucket",
    "longitude",
    "latitude",
    "co2",
    "span_id",
    "level",
    "user",
    "message",
    "endpoint",
];

const fn collection(indexes: &'static [&'static [&'static str]]) -> CollectionDef {
    let (_, fields) = COLUMNS.split_at(1);
    CollectionDef { name: NAME, key: &["id"], indexes, fields }
}

static PLAIN: CollectionDef = collection(&[]);
static BY_TIMESTAMP: CollectionDef = collection(&[Index::Timestamp.columns()]);
static BY_BUCKET: CollectionDef = collection(&[Index::Bucket.columns()]);
static BY_BOTH: CollectionDef = collection(&[Index::Combined.columns()]);

/// A question as a store is asked it.
enum Question {
    /// In the engine's language, with the names of the result's columns.
    Native(String, &'static [&'static str]),
    /// By a search, whose documents are summed up here.
    ClientSide,
}

pub(super) struct DocumentEvents {
    store: Reopenable<dyn DocumentStore>,
    def: &'static CollectionDef,
    collection: Collection,
    /// In the order of gps, co2, logs.
    questions: [Question; 3],
}

impl DocumentEvents {
    pub(super) fn new(mut store: Reopenable<dyn DocumentStore>, variant: Variant) -> Result<Self> {
        variant.in_one_form("a document store")?;
        let def = match variant.index {
            Index::None => &PLAIN,
            Index::Timestamp => &BY_TIMESTAMP,
            Index::Bucket => &BY_BUCKET,
            Index::Combined => &BY_BOTH,
        };
        let collection = store.create(def)?;
        let language = store.language();
        let questions =
            [Phase::Gps, Phase::Co2, Phase::Logs].map(|question| asked(language, question));
        Ok(Self { store, def, collection, questions })
    }

    fn question(&self, question: Phase) -> &Question {
        &self.questions[place(question)]
    }

    /// Every value of carbon dioxide, the month of which is found out here.
    fn means(&mut self, found: &mut QueryResults) -> Result<()> {
        let filter = Filter::Equal("bucket", Value::Text("co2"));
        let columns = &["timestamp", "co2"];
        let find = Find { filter, order: Order::Any, limit: None, columns };
        self.store.find(self.collection, &find, &mut |row| {
            found.see_co2(int(row, 0)?, float(row, 1)?);
            Ok(())
        })?;
        found.conclude();
        Ok(())
    }
}

const fn place(question: Phase) -> usize {
    match question {
        Phase::Gps => 0,
        Phase::Co2 => 1,
        _ => 2,
    }
}

fn asked(language: Language, question: Phase) -> Question {
    let columns: &[&str] = match question {
        Phase::Gps => &["longitude", "latitude"],
        Phase::Co2 => &["month", "mean"],
        _ => &["endpoint", "errors"],
    };
    match language {
        Language::Pipeline => Question::Native(pipelines::text(question), columns),
        Language::Sql(sql) => match sql_text(sql, question) {
            Some(text) => Question::Native(text, columns),
            None => Question::ClientSide,
        },
    }
}

/// A question in the SQL of a document store, whose result columns have names.
fn sql_text(sql: &dyn Dialect, question: Phase) -> Option<String> {
    let table = sql.table(NAME);
    let [east, north] = WITHIN;
    Some(match question {
        Phase::Gps => format!(
            "SELECT longitude, latitude FROM {table} WHERE bucket = 'location' \
             AND longitude > {} AND longitude < {} AND latitude > {} AND latitude < {}",
            east.start, east.end, north.start, north.end
        ),
        Phase::Co2 => {
            let month = sql.month("timestamp")?;
            format!(
                "SELECT {month} AS month, AVG(co2) AS mean FROM {table} WHERE bucket = 'co2' \
                 GROUP BY {month}"
            )
        }
        _ => format!(
            "SELECT endpoint, COUNT(id) AS errors FROM {table} WHERE bucket = 'logs' \
             AND level = 'error' AND timestamp > {ERRORS_SINCE} GROUP BY endpoint ORDER BY errors"
        ),
    })
}

/// An event as a document: a field for what it tells, and no other.
struct AsDocument<'a> {
    key: [Value<'a>; 1],
    fields: ArrayVec<Field<'a>, 7>,
}

impl<'a> AsDocument<'a> {
    fn of(record: &'a Record) -> Self {
        let event = &record.event;
        let mut fields = ArrayVec::new();
        fields.push(("timestamp", Value::Int(event.timestamp)));
        fields.push(("bucket", Value::Text(event.data.bucket())));
        match &event.data {
            Payload::Location { longitude, latitude } => {
                fields.push(("longitude", Value::Float(*longitude)));
                fields.push(("latitude", Value::Float(*latitude)));
            }
            Payload::Co2 { co2 } => fields.push(("co2", Value::Float(*co2))),
            Payload::Log(line) => {
                fields.push(("span_id", Value::Int(line.span_id)));
                fields.push(("level", Value::Text(line.level())));
                fields.push(("user", Value::Text(&line.user)));
                fields.push(("message", Value::Text(&line.message)));
                fields.push(("endpoint", Value::Text(&line.endpoint)));
            }
        }
        Self { key: [Value::Int(event.id)], fields }
    }

    fn document(&self) -> Document<'_> {
        Document { key: &self.key, fields: &self.fields }
    }
}

struct EventDocuments<'a> {
    records: std::slice::Iter<'a, Record>,
    next: Option<AsDocument<'a>>,
}

impl Documents for EventDocuments<'_> {
    fn next(&mut self) -> Option<Document<'_>> {
        self.next = self.records.next().map(AsDocument::of);
        self.next.as_ref().map(AsDocument::document)
    }
}

impl Telemetry for DocumentEvents {
    fn execution(&self, step: Phase) -> Execution {
        match self.question(step) {
            Question::ClientSide if step.is_question() => Execution::ClientSide,
            _ => Execution::Native,
        }
    }

    fn clear(&mut self) -> Result<()> {
        self.collection = self.store.create(self.def)?;
        Ok(())
    }

    fn insert(&mut self, records: &[Record], meter: &mut Meter) -> Result<u64> {
        meter.each(records.len() as u64, |i| {
            self.store.insert(self.collection, &AsDocument::of(&records[i]).document())
        })
    }

    fn insert_one(&mut self, record: &Record) -> Result<u64> {
        self.store.insert(self.collection, &AsDocument::of(record).document())?;
        Ok(1)
    }

    fn insert_batch(&mut self, batch: &[Record]) -> Result<u64> {
        let mut documents = EventDocuments { records: batch.iter(), next: None };
        self.store.bulk(self.collection, &mut documents)
    }

    fn ask(&mut self, question: Phase, found: &mut QueryResults) -> Result<()> {
        let Question::Native(text, columns) = &self.questions[place(question)] else {
            return self.means(found);
        };
        self.store.query(self.collection, text, columns, &mut |row| found.keep(question, row))
    }

    fn contents(&mut self, visit: &mut dyn FnMut(&Stored<'_>)) -> Result<()> {
        let find = Find { filter: Filter::All, order: Order::Any, limit: None, columns: &COLUMNS };
        self.store.find(self.collection, &find, &mut |row| {
            visit(&stored(row)?);
            Ok(())
        })
    }

    fn reopen(&mut self) -> Result<()> {
        self.store.reopen()
    }

    fn first(&mut self) -> Result<u64> {
        let (key, columns) = ([Value::Int(FIRST)], &["bucket"]);
        let find = Find { filter: Filter::Key(&key), order: Order::Any, limit: None, columns };
        let mut found = 0;
        self.store.find(self.collection, &find, &mut |_| {
            found += 1;
            Ok(())
        })?;
        Ok(found)
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
