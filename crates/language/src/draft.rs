//! A table and its columns, as far as they could be read.

use std::borrow::Cow;
use std::collections::HashMap;

use embermark_model::table::{Column, ColumnType, RowsFrom, Table};

use crate::node::{Node, all};

/// A table, as far as it could be read.
pub struct Draft<'a> {
    /// Its name.
    pub name: &'a str,
    /// Columns, including those that could not be read.
    pub columns: Vec<DraftColumn<'a>>,
    /// Index of each column by its name in SQL, in small letters.
    pub by_flat: HashMap<String, usize>,
    /// The key, if it is valid.
    pub key: Option<Vec<usize>>,
    /// The indexes, if they are valid.
    pub indexes: Option<Vec<Vec<usize>>>,
    /// Source of its rows.
    pub rows: Option<RowsFrom>,
}

/// A column, as far as it could be read.
pub struct DraftColumn<'a> {
    /// Name. For a field of a document `data.level`.
    pub name: Cow<'a, str>,
    /// Its value at the position of its name, for mistakes.
    pub at_name: Node<'a>,
    /// The column, if it is valid.
    pub column: Option<Column>,
}

impl Draft<'_> {
    /// Returns the index of the named column, and adds a mistake if there is none. `None` without a
    /// mistake if the columns could not be read.
    pub fn place(&self, node: &Node<'_>) -> Option<usize> {
        self.place_of(node, node.text()?)
    }

    /// Does the same for a name within a text.
    pub fn place_of(&self, node: &Node<'_>, name: &str) -> Option<usize> {
        if self.columns.is_empty() {
            return None;
        }
        let place = self.columns.iter().position(|column| column.name == name);
        place.or_else(|| {
            let names = self.columns.iter().map(|column| &*column.name);
            node.unknown("column", name, names)
        })
    }

    /// Reads a column to group by.
    pub fn place_of_group(&self, node: &Node<'_>) -> Option<usize> {
        self.place_of_discrete(node, "groups", "group by integers, texts, bools or times")
    }

    /// Reads a column whose values make groups: neither reals nor bytes.
    pub fn place_of_discrete(&self, node: &Node<'_>, what: &str, help: &str) -> Option<usize> {
        let place = self.place(node)?;
        match self.column(place)?.of {
            of @ (ColumnType::Float | ColumnType::Bytes) => {
                let name = &self.columns[place].name;
                node.mistake(format!("{what} of '{name}', which is {of}"), help)
            }
            _ => Some(place),
        }
    }

    /// Reads a list of columns, each once.
    pub fn places(&self, node: &Node<'_>) -> Option<Vec<usize>> {
        let mut seen = Vec::new();
        let places = node.each(|item| {
            let place = self.place(&item)?;
            if seen.contains(&place) {
                return item.mistake(format!("'{}' twice", self.columns[place].name), "");
            }
            seen.push(place);
            Some(place)
        })?;
        if places.is_empty() {
            node.mistake("no column", "name at least one")
        } else {
            Some(places)
        }
    }

    /// Returns the column with an index, if it could be read.
    pub fn column(&self, place: usize) -> Option<&Column> {
        self.columns[place].column.as_ref()
    }

    /// Whether every column was read.
    pub fn sound(&self) -> bool {
        !self.columns.is_empty() && self.columns.iter().all(|column| column.column.is_some())
    }

    /// Returns the time column: the last of the key if that is a timestamp, otherwise the only
    /// timestamp that is never absent.
    pub fn time(&self) -> Option<usize> {
        let is_time = |place: &usize| self.column(*place).is_some_and(is_time);
        time_among(self.columns.len(), self.key.as_deref().unwrap_or_default(), is_time)
    }

    /// Returns the table if nothing was wrong.
    pub fn table(self) -> Option<Table> {
        Some(Table {
            name: self.name.to_owned(),
            columns: all(self.columns.into_iter().map(|column| column.column))?,
            key: self.key?,
            indexes: self.indexes?,
            rows: self.rows?,
        })
    }
}

/// Returns the time column of a table: the last of the key if that is a timestamp, otherwise the
/// only timestamp that is never absent.
pub fn time_column(table: &Table) -> Option<usize> {
    time_among(table.columns.len(), &table.key, |place| is_time(&table.columns[*place]))
}

/// Whether a column is a timestamp that is never absent.
fn is_time(column: &Column) -> bool {
    !column.nullable && matches!(column.of, ColumnType::Timestamp(_))
}

/// Returns the time column among this number of columns: the last of the key if it is a time,
/// otherwise the only time.
pub fn time_among(
    columns: usize,
    key: &[usize],
    is_time: impl Fn(&usize) -> bool,
) -> Option<usize> {
    let mut times = (0..columns).filter(&is_time);
    key.last().copied().filter(&is_time).or_else(|| times.next().filter(|_| times.next().is_none()))
}
