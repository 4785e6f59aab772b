//! Conditions on pairs. Those on columns with a known offset come first, then those on fields of
//! documents, each of which is read once.

use smallvec::SmallVec;

use super::super::{Codec, Filter};
use super::Place;
use super::field::Test;

/// Conditions that must all hold for a pair.
#[derive(Default)]
pub struct Conditions<'a> {
    tests: SmallVec<[Test<'a>; 4]>,
    /// By document: the conditions on its fields.
    documents: SmallVec<[(usize, Fields<'a>); 1]>,
    others: SmallVec<[Filter<'a>; 1]>,
}

/// Fields of a document by index, with their conditions.
type Fields<'a> = SmallVec<[(usize, Filter<'a>); 4]>;

impl<'a> Conditions<'a> {
    pub fn new(codec: &Codec, filters: &[Filter<'a>]) -> Self {
        let mut new = Self::default();
        for filter in filters {
            if let Place::Field { document, field } = codec.places[filter.column] {
                let own = (field, *filter);
                match new.documents.iter_mut().find(|(of, _)| *of == document) {
                    Some((_, fields)) => fields.push(own),
                    None => new.documents.push((document, SmallVec::from_iter([own]))),
                }
            } else if let Some(test) = Test::new(codec, filter) {
                new.tests.push(test);
            } else {
                new.others.push(*filter);
            }
        }
        new
    }

    /// Returns whether all conditions hold for a pair. They do not for bytes that are not a pair of
    /// the table.
    #[inline]
    pub fn are_met(&self, codec: &Codec, key: &[u8], value: &[u8]) -> bool {
        let other = |filter: &Filter<'_>| {
            codec.column(key, value, filter.column).is_some_and(|value| filter.is_met(&value))
        };
        let in_document = |(document, fields): &(usize, Fields<'_>)| {
            within(codec, value, *document, fields).unwrap_or(false)
        };
        self.tests.iter().all(|test| test.is_met(key, value))
            && self.documents.iter().all(in_document)
            && self.others.iter().all(other)
    }
}

/// Returns whether the conditions on a document's fields hold. They do not for absent fields.
fn within(
    codec: &Codec,
    value: &[u8],
    document: usize,
    fields: &[(usize, Filter<'_>)],
) -> Option<bool> {
    let (mut left, mut fails) = (fields.len(), false);
    codec.documents[document].0.read(codec.document(value, document)?, |at, value| {
        for (_, filter) in fields.iter().filter(|(field, _)| *field == at) {
            left -= 1;
            fails |= !filter.is_met(&value);
        }
        left > 0 && !fails
    })?;
    Some(left == 0 && !fails)
}

#[cfg(test)]
mod tests {
    use embermark_language::Operator;
    use embermark_model::table::{Column, ColumnType, RowsFrom, Table, Value};

    use super::*;
    use crate::defined::documents::tests::within;

    fn table() -> Table {
        let int = ColumnType::Int { bits: 64, signed: true };
        Table {
            name: "t".to_owned(),
            columns: vec![
                Column::new("id", int),
                Column::new("kind", ColumnType::Text),
                within("a", "x", ColumnType::Float),
                within("a", "y", ColumnType::Float),
                within("a", "name", ColumnType::Text),
                within("b", "n", int),
            ],
            key: vec![0],
            indexes: Vec::new(),
            rows: RowsFrom::Made(1),
        }
    }

    #[test]
    fn conditions_are_met_where_every_filter_is() {
        let (table, null) = (table(), Value::Null);
        let codec = Codec::new(&table);
        let filter = |column, operator, bound| Filter { column, operator, bound };
        let filters = [
            filter(0, Operator::Greater, Value::Int(1)),
            filter(1, Operator::Equal, Value::Text("k")),
            filter(2, Operator::Greater, Value::Float(1.0)),
            filter(2, Operator::Less, Value::Float(9.0)),
            filter(3, Operator::NotEqual, Value::Float(2.0)),
            filter(4, Operator::AtLeast, Value::Text("m")),
            filter(5, Operator::AtMost, Value::Int(4)),
            // A value of another kind than the column.
            filter(0, Operator::Less, Value::Float(2.5)),
        ];
        let mut met = 0;
        for number in 0..1_u32 << 8 {
            let chosen: Vec<Filter<'_>> =
                (0..8).filter(|n| number >> n & 1 == 1).map(|n| filters[n]).collect();
            let conditions = Conditions::new(&codec, &chosen);
            for x in [null, Value::Float(0.5), Value::Float(5.0), Value::Float(9.0)] {
                for (kind, y, name, n) in [
                    ("k", null, null, null),
                    ("k", Value::Float(2.0), Value::Text("n"), Value::Int(4)),
                    ("k", Value::Float(3.0), Value::Text("n"), Value::Int(4)),
                    ("k", Value::Float(3.0), Value::Text("\"l"), Value::Int(5)),
                    ("other", Value::Float(3.0), Value::Text("n"), null),
                ] {
                    let row = [Value::Int(2), Value::Text(kind), x, y, name, n];
                    let (mut key, mut value) = (Vec::new(), Vec::new());
                    codec.key([row[0]], &mut key);
                    codec.value(|column| row[column], &mut value);
                    let all = chosen.iter().all(|filter| filter.is_met(&row[filter.column]));
                    let said = conditions.are_met(&codec, &key, &value);
                    assert_eq!(said, all, "{chosen:?} {row:?}");
                    met += usize::from(all);
                }
            }
            assert!(chosen.is_empty() || !conditions.are_met(&codec, &[], &[]));
        }
        assert!(met > 100);
    }
}
