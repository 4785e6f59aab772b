//! Points of one series, with the key as their time, and the commit and the text as their fields. A
//! point that is written again replaces the existing one.

use std::slice;

use embermark_contract::series::{FieldValue, Point, Points, SeriesStore};
use embermark_contract::{EngineError, Lifecycle, Result};

use super::{Ledger, add_row};
use crate::oracle::TableContent;
use crate::work::{Change, Commit, Key, text};

const LEDGER: &str = "ledger";

pub(super) struct SeriesLedger {
    store: Box<dyn SeriesStore>,
}

impl SeriesLedger {
    /// The first point creates a measurement.
    pub(super) fn new(store: Box<dyn SeriesStore>) -> Self {
        Self { store }
    }
}

type Row = (Key, String);

fn fields((_, content): &Row, commit: u64) -> [(&'static str, FieldValue<'_>); 2] {
    let number = FieldValue::Int(commit.cast_signed());
    [("commit_number", number), ("content", FieldValue::Text(content))]
}

/// Points of a request.
struct BulkPoints<'a> {
    rows: slice::Iter<'a, Row>,
    commit: u64,
    fields: [(&'static str, FieldValue<'a>); 2],
}

impl Points for BulkPoints<'_> {
    fn next(&mut self) -> Option<Point<'_>> {
        let row = self.rows.next()?;
        self.fields = fields(row, self.commit);
        Some(Point { tags: &[], fields: &self.fields, time_ns: row.0.into() })
    }
}

impl Ledger for SeriesLedger {
    fn commit(&mut self, commit: &Commit) -> Result<()> {
        let number = commit.number;
        let written = |change: &Change| match change {
            Change::Insert(key) | Change::Update(key) => Ok((*key, text(*key, number))),
            Change::Delete(_) => Err(EngineError::unsupported("this family", "a lasting deletion")),
        };
        let rows = commit.changes.iter().map(written).collect::<Result<Vec<Row>>>()?;
        if let ([row], false) = (&rows[..], commit.bulk) {
            let fields = fields(row, number);
            let point = Point { tags: &[], fields: &fields, time_ns: row.0.into() };
            return self.store.write(LEDGER, &point);
        }
        let none = ("content", FieldValue::Int(0));
        let mut points = BulkPoints { rows: rows.iter(), commit: number, fields: [none, none] };
        self.store.bulk(LEDGER, &mut points).map(drop)
    }

    fn read_all(&mut self) -> Result<TableContent> {
        let mut found = TableContent { table: true, ..TableContent::default() };
        let columns = ["time", "commit_number", "content"];
        self.store.flush()?;
        let all = format!("SELECT commit_number, content FROM {LEDGER}");
        self.store.query(&all, &columns, &mut |row| add_row(&mut found, row))?;
        Ok(found)
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
