//! Events in an SQL database.

use arrayvec::ArrayVec;
use embermark_contract::sql::{self, Param, Rows, SqlStore, Statement};
use embermark_contract::{Lifecycle, Result, Scope};
use embermark_data::events::Payload;
use embermark_meter::Meter;

use super::phase::Phase;
use super::port::{FIRST, Record, Stored, Telemetry, stored};
use super::queries::Texts;
use super::query_results::QueryResults;
use super::variant::{Form, Variant};
use crate::reopenable::Reopenable;

pub(super) struct SqlEvents {
    store: Reopenable<dyn SqlStore>,
    variant: Variant,
    texts: Texts,
    /// The statement that reads the row of an id, which is prepared after every opening.
    by_id: String,
    /// Prepared since the table was made or the database opened.
    prepared: Vec<(Phase, Statement)>,
}

impl SqlEvents {
    pub(super) fn new(store: Reopenable<dyn SqlStore>, variant: Variant) -> Result<Self> {
        let texts = Texts::new(store.dialect(), variant.form)?;
        Ok(Self { store, variant, texts, by_id: texts.by_id(), prepared: Vec::new() })
    }

    /// The statement that a phase repeats.
    fn prepared(&mut self, step: Phase) -> Result<Statement> {
        if let Some((_, statement)) = self.prepared.iter().find(|(known, _)| *known == step) {
            return Ok(*statement);
        }
        let text = match step {
            question if question.is_question() => self.texts.question(question)?,
            _ => self.texts.insert(),
        };
        let statement = self.store.prepare(&text)?;
        self.prepared.push((step, statement));
        Ok(statement)
    }

    /// Whether a batch goes in by statements, a transaction around them: a bulk path takes values as
    /// they are, and what makes the binary form of a document is a function.
    fn by_statements(&self) -> bool {
        self.variant.form == Form::Binary
    }
}

/// A row of the table.
type RowOf<'a> = ArrayVec<Param<'a>, 11>;

fn params(record: &Record, form: Form) -> RowOf<'_> {
    let event = &record.event;
    let mut row = RowOf::new();
    row.push(Param::Int(event.id));
    row.push(Param::Int(event.timestamp));
    row.push(Param::Text(event.data.bucket()));
    if form != Form::Typed {
        row.push(Param::Text(&record.json));
        return row;
    }
    match &event.data {
        Payload::Location { longitude, latitude } => {
            row.extend([Param::Float(*longitude), Param::Float(*latitude)]);
        }
        Payload::Co2 { co2 } => row.extend([Param::Null, Param::Null, Param::Float(*co2)]),
        Payload::Log(line) => {
            row.extend([Param::Null; 3]);
            row.push(Param::Int(line.span_id));
            let texts = [line.level(), &line.user, &line.message, &line.endpoint];
            row.extend(texts.map(Param::Text));
        }
    }
    while !row.is_full() {
        row.push(Param::Null);
    }
    row
}

struct EventRows<'a> {
    records: std::slice::Iter<'a, Record>,
    form: Form,
    row: RowOf<'a>,
}

impl Rows for EventRows<'_> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        self.row = params(self.records.next()?, self.form);
        Some(&self.row)
    }
}

impl Telemetry for SqlEvents {
    fn clear(&mut self) -> Result<()> {
        self.prepared.clear();
        let drop = self.store.dialect().drop_table(self.texts.table().name);
        self.store.batch(&drop)?;
        self.store.batch(&self.texts.create()?)?;
        match self.variant.index.columns() {
            [] => Ok(()),
            columns => self.store.batch(&self.texts.create_index(columns)),
        }
    }

    fn ready(&mut self, step: Phase) -> Result<()> {
        let point = step.commits_each();
        self.store.expect(if point { sql::QueryKind::Point } else { sql::QueryKind::Analytic })?;
        if point {
            self.prepared(Phase::Insert)?;
        } else if step.is_question() {
            self.prepared(step)?;
        } else if step.inserts() && self.by_statements() {
            self.prepared(Phase::InsertBuffered)?;
        }
        Ok(())
    }

    fn insert(&mut self, records: &[Record], meter: &mut Meter) -> Result<u64> {
        let insert = self.prepared(Phase::Insert)?;
        let mut stored = 0;
        meter.each(records.len() as u64, |i| {
            stored += self.store.run(insert, &params(&records[i], self.variant.form))?;
            Ok(())
        })?;
        Ok(stored)
    }

    fn insert_one(&mut self, record: &Record) -> Result<u64> {
        let insert = self.prepared(Phase::Insert)?;
        self.store.run(insert, &params(record, self.variant.form))
    }

    fn insert_batch(&mut self, batch: &[Record]) -> Result<u64> {
        let form = self.variant.form;
        if !self.by_statements() {
            let mut rows = EventRows { records: batch.iter(), form, row: RowOf::new() };
            return self.store.bulk_insert(self.texts.table(), &mut rows);
        }
        let insert = self.prepared(Phase::InsertBuffered)?;
        self.store.within(Scope::Batch, |store| {
            let mut stored = 0;
            for record in batch {
                stored += store.run(insert, &params(record, form))?;
            }
            Ok(stored)
        })
    }

    fn ask(&mut self, question: Phase, found: &mut QueryResults) -> Result<()> {
        let statement = self.prepared(question)?;
        self.store.query(statement, &[], &mut |row| found.keep(question, row))
    }

    fn contents(&mut self, visit: &mut dyn FnMut(&Stored<'_>)) -> Result<()> {
        let all = self.store.prepare(&self.texts.contents()?)?;
        self.store.query(all, &[], &mut |row| {
            visit(&stored(row)?);
            Ok(())
        })
    }

    fn reopen(&mut self) -> Result<()> {
        self.prepared.clear();
        self.store.reopen()
    }

    fn first(&mut self) -> Result<u64> {
        let first = self.store.prepare(&self.by_id)?;
        let mut found = 0;
        self.store.query(first, &[Param::Int(FIRST)], &mut |_| {
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

#[cfg(test)]
mod tests {
    use embermark_data::events;

    use super::*;

    #[test]
    fn a_typed_row_has_every_column_and_the_values_of_its_bucket_alone() {
        let event = |data| Record {
            event: events::Event { id: 1, timestamp: 2, data },
            json: String::new(),
        };
        let air = event(Payload::Co2 { co2: 3.0 });
        let row = params(&air, Form::Typed);
        assert_eq!(row[..3], [Param::Int(1), Param::Int(2), Param::Text("co2")]);
        assert_eq!(row[3..6], [Param::Null, Param::Null, Param::Float(3.0)]);
        assert_eq!(row[6..], [Param::Null; 5]);
        assert_eq!(params(&air, Form::Json).len(), 4);
    }
}
