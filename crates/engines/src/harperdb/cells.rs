//! The values of a row, as serde reads them.

use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// A text, at this range of [`Cells::text`].
    Text(Range<usize>),
    /// A list, whose elements are at this range of [`Cells::elements`]. The range is empty for a
    /// list that is nested too deep.
    List(Range<usize>),
    Compound,
}

/// Values, and the texts and elements they refer to.
#[derive(Debug, Default)]
pub(super) struct Cells {
    pub cells: Vec<Cell>,
    pub text: String,
    /// For each element of a list, the range of its items in `items`.
    pub elements: Vec<Range<usize>>,
    pub items: Vec<Cell>,
    /// The names of the enclosing objects and of the value itself, joined by points.
    path: String,
}

impl Cells {
    /// Reads an object as one cell for each of these columns; `outer.inner` names a member of an
    /// object within. A member that the object lacks is null, and lists are at most two deep.
    pub fn columns<'a>(&'a mut self, columns: &'a [&'a str]) -> Reader<'a> {
        self.cells.clear();
        self.cells.resize(columns.len(), Cell::Null);
        self.text.clear();
        self.elements.clear();
        self.items.clear();
        self.path.clear();
        Reader { cells: self, lists: 0, columns }
    }
}

pub(super) struct Reader<'a> {
    cells: &'a mut Cells,
    /// How deep lists are read.
    lists: u8,
    /// The columns that are looked for in an object.
    columns: &'a [&'a str],
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Cell;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<Cell, D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Cell;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Cell, E> {
        Ok(Cell::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Cell, E> {
        Ok(Cell::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Cell, E> {
        Ok(Cell::Int(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "there is no larger integer among the cells")]
    fn visit_u64<E>(self, value: u64) -> Result<Cell, E> {
        Ok(i64::try_from(value).map_or(Cell::Float(value as f64), Cell::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Cell, E> {
        Ok(Cell::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Cell, E> {
        let from = self.cells.text.len();
        self.cells.text.push_str(value);
        Ok(Cell::Text(from..self.cells.text.len()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Cell, A::Error> {
        let Self { cells, lists, .. } = self;
        if lists == 0 {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(Cell::List(0..0));
        }
        let from = cells.elements.len();
        loop {
            let items = cells.items.len();
            let reader = Reader { cells, lists: lists - 1, columns: &[] };
            match list.next_element_seed(reader)? {
                None => return Ok(Cell::List(from..cells.elements.len())),
                // The items are already in `items`.
                Some(Cell::List(_)) if lists == 2 => {}
                Some(item) => cells.items.push(item),
            }
            if lists == 2 {
                cells.elements.push(items..cells.items.len());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Cell, A::Error> {
        let Self { cells, columns, .. } = self;
        if columns.is_empty() {
            while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(Cell::Compound);
        }
        let outer = cells.path.len();
        while object.next_key_seed(Name(&mut cells.path))?.is_some() {
            if let Some(column) = columns.iter().position(|column| *column == cells.path) {
                let reader = Reader { cells, lists: 2, columns: &[] };
                cells.cells[column] = object.next_value_seed(reader)?;
            } else {
                cells.path.push('.');
                if columns.iter().any(|column| column.starts_with(&cells.path)) {
                    object.next_value_seed(Reader { cells, lists: 0, columns })?;
                } else {
                    object.next_value::<IgnoredAny>()?;
                }
            }
            cells.path.truncate(outer);
        }
        Ok(Cell::Compound)
    }
}

struct Name<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, name: D) -> Result<(), D::Error> {
        name.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<(), E> {
        self.0.push_str(name);
        Ok(())
    }
}
