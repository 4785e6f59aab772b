//! The tables of a file.

use std::ops::Range;
use std::path::PathBuf;

use embermark_model::table::{Column, ColumnType, MakeKind, RowsFrom, Table};

use crate::column;
use crate::constant;
use crate::mistakes::Log;
use crate::names;
use crate::node::{Entry, Fields, Node, all};

/// A table as far as it could be read.
pub struct Draft<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its columns, those that could not be read too.
    pub columns: Vec<DraftColumn<'a>>,
    /// The key, where it is right.
    pub key: Option<Vec<usize>>,
    indexes: Option<Vec<Vec<usize>>>,
    rows: Option<RowsFrom>,
}

/// A column as far as it could be read.
pub struct DraftColumn<'a> {
    /// Its name.
    pub name: &'a str,
    at: Range<usize>,
    /// What it is.
    pub column: Option<Column>,
}

impl<'a> Draft<'a> {
    /// Reads one. `tables` are the names of all.
    pub fn read(entry: &Entry<'a>, tables: &[&str]) -> Self {
        let log = entry.node.log;
        let rename = "write another name here";
        let _ = names::check(log, entry.at.clone(), "table", entry.name, rename);
        let mut draft =
            Self { name: entry.name, columns: Vec::new(), key: None, indexes: None, rows: None };
        let keys = ["file", "rows", "key", "index", "columns"];
        let Some(fields) = entry.node.fields(&keys) else { return draft };
        let fields = fields.named(entry.at.clone());
        let example = "[table.NAME.columns] with a line for each column, such as temp = \"f64?\"";
        let columns = fields.need("columns", example, |node| node.open());
        draft.rows = rows(&fields);
        for entry in columns.iter().flat_map(Fields::entries) {
            draft.add(&entry, tables);
        }
        if draft.columns.is_empty() && columns.is_some() {
            let _: Option<()> =
                fields.mistake("a table without columns", "write a line for each column");
        }
        if draft.columns.is_empty() {
            return draft;
        }
        draft.key =
            fields.need("key", "key = [\"id\"]: the columns that are unique together", |node| {
                draft.places(&node)
            });
        draft.indexes = fields.or("index", Vec::new(), |node| {
            node.each(|index| match index.as_text() {
                Some(text) => index.mistake(
                    "an index is a list of columns",
                    "",
                    format!("write index = [[\"{text}\"]]"),
                ),
                None => draft.places(&index),
            })
        });
        draft.check_key(&fields);
        draft.check_made(log);
        draft
    }

    fn add(&mut self, entry: &Entry<'a>, tables: &[&str]) {
        let log = entry.node.log;
        let rename = format!("write another name, and from = \"{}\" in its braces", entry.name);
        let name = names::check(log, entry.at.clone(), "column", entry.name, &rename);
        let same = |other: &&DraftColumn<'_>| other.name.eq_ignore_ascii_case(entry.name);
        if let Some(other) = self.columns.iter().find(same) {
            let _: Option<()> = log.mistake(
                entry.at.clone(),
                format!("'{}' and '{}' are one name in SQL", other.name, entry.name),
                "",
                rename,
            );
        }
        let column = column::read(entry, tables);
        let column = name.and(column);
        self.columns.push(DraftColumn { name: entry.name, at: entry.at.clone(), column });
    }

    /// The place of the column that is named; says so where there is none. `None` without a word
    /// where the columns could not be read.
    pub fn place(&self, node: &Node<'_>) -> Option<usize> {
        self.place_of(node, node.text()?)
    }

    /// The same, of a name within a text.
    pub fn place_of(&self, node: &Node<'_>, name: &str) -> Option<usize> {
        if self.columns.is_empty() {
            return None;
        }
        let place = self.columns.iter().position(|column| column.name == name);
        place.or_else(|| {
            let names = self.columns.iter().map(|column| column.name);
            node.log.unknown(node.at.clone(), "column", name, names)
        })
    }

    /// Columns in a list, each once.
    pub fn places(&self, node: &Node<'_>) -> Option<Vec<usize>> {
        let mut seen = Vec::new();
        let places = node.each(|item| {
            let place = self.place(&item)?;
            if seen.contains(&place) {
                return item.mistake(format!("'{}' twice", self.columns[place].name), "", "");
            }
            seen.push(place);
            Some(place)
        })?;
        if places.is_empty() {
            node.mistake("no column", "", "name at least one")
        } else {
            Some(places)
        }
    }

    /// What is known of the column at a place.
    pub fn column(&self, place: usize) -> Option<&Column> {
        self.columns[place].column.as_ref()
    }

    /// Whether every column was read.
    pub fn sound(&self) -> bool {
        !self.columns.is_empty() && self.columns.iter().all(|column| column.column.is_some())
    }

    /// Its column of time: the last of the key where that is a timestamp, else the only timestamp.
    pub fn time(&self) -> Option<usize> {
        let columns: Vec<_> = self.columns.iter().map(|column| column.column.as_ref()).collect();
        time(&columns, self.key.as_deref().unwrap_or_default())
    }

    fn check_key(&self, fields: &Fields<'_>) {
        let (Some(key), Some(node)) = (&self.key, fields.get("key")) else { return };
        for column in key.iter().filter_map(|place| self.column(*place)) {
            if column.nullable {
                let _: Option<()> = node.mistake(
                    format!("'{}' is of the key and may be absent", column.name),
                    "",
                    "every column of the key is there in every row: take the '?' away, or another key",
                );
            }
        }
    }

    fn check_made(&self, log: &Log) {
        for DraftColumn { at, column, .. } in &self.columns {
            let Some(column) = column else { continue };
            let kind = column.make.as_ref().map(|make| &make.kind);
            let _: Option<()> = match (&self.rows, kind) {
                (Some(RowsFrom::Made(_)), None) => log.mistake(
                    at.clone(),
                    format!("it is not said how '{}' is made", column.name),
                    "",
                    "the rows of this table are made: write for example { type = \"u32\", make = \
                     \"random\" }",
                ),
                (Some(RowsFrom::File(_)), Some(kind)) if !is_row_number(kind) => log.mistake(
                    at.clone(),
                    format!("'{}' is made, and the rows of its table come from a file", column.name),
                    "",
                    "only make = \"sequence\" stands beside the columns of a file: the number of the \
                     row",
                ),
                (Some(RowsFrom::Made(rows)), Some(kind)) => match overflow(column.of, kind, *rows) {
                    true => log.mistake(
                        at.clone(),
                        format!("'{}' counts beyond what {} holds", column.name, column.of),
                        format!("within {rows} rows"),
                        "take a wider type",
                    ),
                    false => None,
                },
                _ => None,
            };
        }
    }

    /// Says so where a reference has another type than what it refers to.
    pub fn check_references(&self, all: &[Self], log: &Log) {
        for DraftColumn { at, column, .. } in &self.columns {
            let Some(column) = column else { continue };
            let Some(MakeKind::Reference { table, .. }) =
                column.make.as_ref().map(|make| &make.kind)
            else {
                continue;
            };
            let other = &all[*table];
            let problem = match (&other.rows, other.key.as_deref()) {
                (Some(RowsFrom::File(_)), _) => "its rows come from a file".to_owned(),
                (_, Some([key])) => match other.column(*key) {
                    Some(key) if key.of != column.of => format!("its key is {}", key.of),
                    Some(key) if key.make.as_ref().is_some_and(|make| is_no_target(&make.kind)) => {
                        "its key is a walk or refers itself".to_owned()
                    }
                    _ => continue,
                },
                (_, Some(_)) => "its key has several columns".to_owned(),
                _ => continue,
            };
            let _: Option<()> = log.mistake(
                at.clone(),
                format!("'{}' cannot refer to '{}'", column.name, other.name),
                problem,
                "a reference has the type of the only key column of a made table",
            );
        }
    }

    /// The table, where nothing was wrong.
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

/// The column of time of a table: the last of the key where that is a timestamp, else the only
/// timestamp there is.
pub fn time_column(table: &Table) -> Option<usize> {
    time(&table.columns.iter().map(Some).collect::<Vec<_>>(), &table.key)
}

fn time(columns: &[Option<&Column>], key: &[usize]) -> Option<usize> {
    let is_time =
        |place: &usize| columns[*place].is_some_and(|c| matches!(c.of, ColumnType::Timestamp(_)));
    let mut times = (0..columns.len()).filter(is_time);
    key.last().copied().filter(is_time).or_else(|| times.next().filter(|_| times.next().is_none()))
}

fn rows(fields: &Fields<'_>) -> Option<RowsFrom> {
    match (fields.get("file"), fields.get("rows")) {
        (Some(file), None) => file.text().map(|file| RowsFrom::File(PathBuf::from(file))),
        (None, Some(rows)) => rows.count().map(RowsFrom::Made),
        (Some(_), Some(rows)) => rows.mistake(
            "both 'file' and 'rows'",
            "its rows come from the file",
            "a table has its rows from a file, or so many are made",
        ),
        (None, None) => fields.mistake(
            "a table without rows",
            "write file = \"rows.csv\", or rows = \"1M\" to have them made",
        ),
    }
}

fn is_row_number(kind: &MakeKind) -> bool {
    matches!(kind, MakeKind::Sequence { .. })
}

fn is_no_target(kind: &MakeKind) -> bool {
    matches!(kind, MakeKind::Walk { .. } | MakeKind::Reference { .. })
}

/// Whether made integers go beyond their type.
fn overflow(of: ColumnType, kind: &MakeKind, rows: u64) -> bool {
    let (least, greatest) = constant::limits(of);
    let last = match kind {
        MakeKind::Sequence { from, step, repeat } => {
            i128::from(*from) + i128::from(*step) * i128::from((rows - 1) / repeat)
        }
        MakeKind::Cycle { from, distinct } => i128::from(*from) + i128::from(*distinct) - 1,
        _ => return false,
    };
    !(i128::from(least)..=i128::from(greatest)).contains(&last)
}
