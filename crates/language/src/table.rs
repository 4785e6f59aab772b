//! The tables of a file.

use std::borrow::Cow;
use std::collections::HashMap;

use embermark_model::table::Column;

use crate::alike;
use crate::checks;
use crate::column::{self, Form};
use crate::draft::{Draft, DraftColumn};
use crate::names;
use crate::node::{Entry, Fields};
use crate::rows;

impl<'a> Draft<'a> {
    /// Reads a table. `tables` are the names of all tables.
    pub fn read(entry: &Entry<'a>, tables: &[&str]) -> Self {
        let _ = names::check(&entry.at_name(), true, entry.name, "rename it");
        let mut draft = Self {
            name: entry.name,
            columns: Vec::new(),
            by_flat: HashMap::new(),
            key: None,
            indexes: None,
            rows: None,
        };
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
            node.add("no column of documents", "", "'json' sets how documents are stored");
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
                    format!("write index = [[\"{text}\"]]"),
                ),
                None => draft.places(&index),
            })
        });
        checks::indexes(&draft, &fields);
        checks::key(&draft, &fields);
        checks::documents(&draft, &fields);
        checks::time(&draft);
        checks::made(&draft);
        checks::late(&draft);
        checks::whole(&draft, &fields);
        draft
    }

    fn add(&mut self, entry: &Entry<'a>, form: Form, tables: &[&str]) {
        // What is made has no field, and one with a `from` keeps it.
        let is_named = ["from", "make"].iter().any(|key| entry.node.value.get(*key).is_some());
        let rename = match is_named {
            true => "rename it".to_owned(),
            false => format!("rename it and write from = \"{}\" beside its type", entry.name),
        };
        let check = |name: &str| names::check(&entry.at_name(), false, name, &rename);
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
            entry.node.log.add(from.span(), "many columns from one", "", help);
        }
        for name in all {
            let own = column.clone().map(|column| Column { name: name.clone(), ..column });
            self.push(entry, Cow::Owned(name.clone()), &name, &rename, own);
        }
    }

    /// Adds a column, which is named `flat` if fields of documents are columns.
    fn push(
        &mut self,
        entry: &Entry<'a>,
        name: Cow<'a, str>,
        flat: &str,
        rename: &str,
        column: Option<Column>,
    ) {
        let flat = flat.replace('.', "_").to_ascii_lowercase();
        let first = *self.by_flat.entry(flat).or_insert(self.columns.len());
        if let Some(other) = self.columns.get(first) {
            let what = format!("'{}' and '{name}' are one name in SQL", other.name);
            entry.at_name().add(what, "", rename);
        }
        self.columns.push(DraftColumn { name, at_name: entry.at_name(), column });
    }
}
