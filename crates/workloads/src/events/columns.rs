//! Events in columns: the second copy of a key-value store's table.

use embermark_contract::Result;
use embermark_contract::kv::mirror::{Decode, Row};
use embermark_contract::sql::{Param, SqlStore, TableDef};

use super::pair;
use super::phase::Phase;
use super::queries::{TYPED, Texts};
use super::query_results::QueryResults;
use super::variant::Form;
use crate::mirrored::Mirrored;

/// What the pairs are as rows.
pub(super) struct Columns;

impl Decode for Columns {
    fn rows(&self) -> &TableDef {
        &TYPED
    }

    fn key<'a>(&self, key: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        row.push(Param::Int(pair::id(key)?));
        Some(())
    }

    fn value<'a>(&self, value: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        let event = pair::stored(0, value)?;
        row.extend([Param::Int(event.timestamp), Param::Text(event.bucket)]);
        let [longitude, latitude, co2, span] = event.numbers;
        row.extend([longitude, latitude, co2].map(|n| n.map_or(Param::Null, Param::Float)));
        // An integer, read as every number is.
        row.push(span.map_or(Param::Null, |span| Param::Int(span as i64)));
        row.extend(event.texts.map(|text| text.map_or(Param::Null, Param::Text)));
        Some(())
    }
}

/// The statements of the questions.
pub(super) type Statements = Mirrored<Phase>;

/// Answers a question from the rows, over the connection of a number.
pub(super) fn ask(
    (sql, number): (&mut dyn SqlStore, u64),
    statements: &mut Statements,
    question: Phase,
    found: &mut QueryResults,
) -> Result<()> {
    let statement = statements.statement(sql, number, question, |dialect| {
        Texts::new(dialect, Form::Typed)?.question(question)
    })?;
    sql.query(statement, &[], &mut |row| found.keep(question, row))
}

#[cfg(test)]
mod tests {
    use embermark_data::events::{Payload, generate};

    use super::super::port::{Record, Stored};
    use super::*;

    /// The columns of a row as the questions know an event.
    fn event<'a>(row: &[Param<'a>]) -> Stored<'a> {
        let [Param::Int(id), Param::Int(timestamp), Param::Text(bucket), ref rest @ ..] = *row
        else {
            panic!("{row:?}")
        };
        let number = |param: &Param<'_>| match *param {
            Param::Null => None,
            Param::Int(value) => Some(value as f64),
            Param::Float(value) => Some(value),
            _ => panic!("{param:?}"),
        };
        let text = |param: &Param<'a>| match *param {
            Param::Null => None,
            Param::Text(text) => Some(text),
            _ => panic!("{param:?}"),
        };
        let numbers = std::array::from_fn(|i| number(&rest[i]));
        let texts = std::array::from_fn(|i| text(&rest[4 + i]));
        Stored { id, timestamp, bucket, numbers, texts }
    }

    #[test]
    fn a_pair_is_a_row_of_its_columns() {
        for generated in generate(3_000, 1) {
            let record = Record::of(generated);
            let (key, mut value) = (record.event.id.to_be_bytes(), Vec::new());
            pair::encode(&record, &mut value);
            let mut row = Row::new();
            Columns.key(&key, &mut row).unwrap();
            Columns.value(&value, &mut row).unwrap();
            assert_eq!(row.len(), TYPED.columns.len());
            assert_eq!(event(&row), Stored::of(&record.event));
            if let Payload::Log(line) = &record.event.data {
                assert_eq!(row[6], Param::Int(line.span_id));
            }
        }
    }

    #[test]
    fn what_is_no_event_is_no_row() {
        let is_value = |value: &[u8]| Columns.value(value, &mut Row::new()).is_some();
        assert_eq!(Columns.key(&[0; 7], &mut Row::new()), None);
        let head = [1_u8, 0, 0, 0, 0, 0, 0, 0, 9];
        for (json, known) in [("{\"co2\":4}", true), ("{\"co2\":4", false), ("", false)] {
            let value = [&head[..], json.as_bytes()].concat();
            assert_eq!(is_value(&value), known, "{json}");
        }
        let bucket = [&[3][..], &head[1..], b"{}"].concat();
        assert!(!is_value(&bucket));
        assert!(!is_value(&head[..8]));
    }
}
