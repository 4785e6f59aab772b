//! The tables of a file.

use std::borrow::Cow;
use std::ops::Range;

use embermark_model::table::{Column, ColumnType, RowsFrom, Table};

use crate::alike;
use crate::checks;
use crate::column::{self, Form};
use crate::names;
use crate::node::{Entry, Fields, Node, all};
use crate::rows;

/// A table as far as it could be read.
pub struct Draft<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its columns, those that could not be read too.
    pub columns: Vec<DraftColumn<'a>>,
    /// The key, where it is right.
    pub key: Option<Vec<usize>>,
    /// The indexes, where they are right.
    pub indexes: Option<Vec<Vec<usize>>>,
    /// Where its rows come from.
    pub rows: Option<RowsFrom>,
}

/// A column as far as it could be read.
pub struct DraftColumn<'a> {
    /// Its name; of a field of a document `data.level`.
    pub name: Cow<'a, str>,
    /// Where that stands.
    pub at: Range<usize>,
    /// What it is.
    pub column: Option<Column>,
}

impl<'a> Draft<'a> {
    /// Reads one. `tables` are the names of all.
    pub fn read(entry: &Entry<'a>, tables: &[&str]) -> Self {
        let log = entry.node.log;
        let rename = "rename it";
        let _ = names::check(log, entry.at.clone(), true, entry.name, rename);
        let mut draft =
            Self { name: entry.name, columns: Vec::new(), key: None, indexes: None, rows: None };
        let keys = [&rows::KEYS[..], &["key", "index", "json", "columns"]].concat();
        let Some(fields) = entry.node.fields(&keys) else { return draft };
        let fields = fields.named(entry.at.clone());
        let example = "[table.NAME.columns] with a line for each column, such as temp = \"f64?\"";
        let columns = fields.need("columns", example, |node| node.open());
        draft.rows = rows::read(&fields);
        let form = fields.or("json", Form::Text, |node| node.one_of("form", &column::FORMS));
        let (columns_at, mut documents) = (columns.as_ref(), 0);
        for entry in columns_at.into_iter().flat_map(Fields::entries) {
            documents += usize::from(column::is_json(&entry));
            draft.add(&entry, form.unwrap_or(Form::Text), tables);
        }
        if let (0, Some(node), true) = (documents, fields.get("json"), columns.is_some()) {
            node.add("no column of documents", "", "'json' says how these are kept");
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
        checks::indexes(&draft, &fields);
        checks::key(&draft, &fields);
        checks::documents(&draft, &fields);
        checks::time(&draft, log);
        checks::made(&draft, log);
        checks::late(&draft, log);
        checks::whole(&draft, &fields);
        draft
    }

    fn add(&mut self, entry: &Entry<'a>, form: Form, tables: &[&str]) {
        let log = entry.node.log;
        let rename = format!("rename it and write from = \"{}\" beside its type", entry.name);
        let check = |name: &str| names::check(log, entry.at.clone(), false, name, &rename);
        if column::is_json(entry) {
            let name = check(entry.name);
            let fields = column::fields(entry, form, tables);
            for (field, column) in fields.into_iter().flatten() {
                let shown = format!("{}.{}", entry.name, field.name);
                let flat = format!("{}_{}", entry.name, field.name);
                self.push(&field, Cow::Owned(shown), &flat, "rename it", name.and(column));
            }
            return;
        }
        let Some(all) = alike::names(entry) else { return };
        // The last of them is the longest.
        let name = all.last().and_then(|name| check(name));
        let column = name.and(column::read(entry, tables));
        let of_file = entry.node.value.get("make").is_none();
        let one = entry.node.value.get("from").filter(|_| of_file && all.len() > 1);
        if let Some(from) = one {
            let help = "leave it out: each column has the values below its own name";
            log.add(from.span(), "many columns from one", "", help);
        }
        for name in all {
            let own = column.clone().map(|column| Column { name: name.clone(), ..column });
            self.push(entry, Cow::Owned(name.clone()), &name, &rename, own);
        }
    }

    /// Adds a column, which is called `flat` where fields of documents are columns.
    fn push(
        &mut self,
        entry: &Entry<'a>,
        name: Cow<'a, str>,
        flat: &str,
        rename: &str,
        column: Option<Column>,
    ) {
        let same =
            |other: &&DraftColumn<'_>| other.name.replace('.', "_").eq_ignore_ascii_case(flat);
        if let Some(other) = self.columns.iter().find(same) {
            let what = format!("'{}' and '{name}' are one name in SQL", other.name);
            entry.node.log.add(entry.at.clone(), what, "", rename);
        }
        self.columns.push(DraftColumn { name, at: entry.at.clone(), column });
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
            let names = self.columns.iter().map(|column| &*column.name);
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

    /// Its column of time: the last of the key where that is a timestamp, else the only timestamp
    /// that is never absent.
    pub fn time(&self) -> Option<usize> {
        let columns: Vec<_> = self.columns.iter().map(|column| column.column.as_ref()).collect();
        time(&columns, self.key.as_deref().unwrap_or_default())
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
/// timestamp that is never absent.
pub fn time_column(table: &Table) -> Option<usize> {
    time(&table.columns.iter().map(Some).collect::<Vec<_>>(), &table.key)
}

fn time(columns: &[Option<&Column>], key: &[usize]) -> Option<usize> {
    let is_time = |place: &usize| {
        columns[*place].is_some_and(|c| !c.nullable && matches!(c.of, ColumnType::Timestamp(_)))
    };
    let mut times = (0..columns.len()).filter(is_time);
    key.last().copied().filter(is_time).or_else(|| times.next().filter(|_| times.next().is_none()))
}
