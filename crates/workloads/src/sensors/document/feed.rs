//! Readings as documents, one at a time.

use embermark_contract::document::{Document, Documents, Field, Value};
use embermark_model::Reading;

use super::super::row_source::RowSource;
use super::{VALUES, key_values};

/// A reading as a document: what is NULL has no field.
#[derive(Clone, Copy)]
pub(super) struct AsDocument {
    key: [Value<'static>; 2],
    fields: [Field<'static>; 4],
    present: usize,
}

impl AsDocument {
    pub(super) const EMPTY: Self =
        Self { key: [Value::Null; 2], fields: [("", Value::Null); 4], present: 0 };

    pub(super) fn set(&mut self, reading: &Reading) {
        self.key = key_values(reading.key());
        self.present = 0;
        for (column, name) in VALUES.into_iter().enumerate() {
            if let Some(value) = reading.get(column) {
                self.fields[self.present] = (name, Value::Float(value));
                self.present += 1;
            }
        }
    }

    pub(super) fn document(&self) -> Document<'_> {
        Document { key: &self.key, fields: &self.fields[..self.present] }
    }
}

/// Readings on their way into a bulk load.
pub(super) struct DocumentFeed<'a> {
    pub source: RowSource<'a>,
    pub next: AsDocument,
}

impl Documents for DocumentFeed<'_> {
    fn next(&mut self) -> Option<Document<'_>> {
        self.next.set(self.source.advance()?);
        Some(self.next.document())
    }
}
