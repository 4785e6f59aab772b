//! What the verbs that change rows by keys or conditions read besides `do`.

use embermark_model::table::Value;

use crate::constant;
use crate::definition::{Change, Commit, Keys, Removed, Set, Work};
use crate::node::{Node, all};
use crate::reading::Reading;

impl Reading<'_> {
    /// Reads what `update`, `upsert` and `read-modify-write` have. With `whole`, rows are written
    /// as a whole.
    pub fn set_by_keys(&self, whole: bool) -> Option<(Keys, Set, Commit)> {
        let keys = self.keys_of_rows();
        let commit = self.commit(false);
        let set = self.set(whole);
        Some((keys?, set?, commit?))
    }

    /// Whether a column cannot be set, because it is part of the key or the time of rows.
    fn is_fixed(&self, place: usize) -> bool {
        self.draft.key.iter().flatten().any(|key| *key == place) || self.draft.time() == Some(place)
    }

    /// Whether a column is only written together with the others of its document.
    fn is_field(&self, place: usize) -> bool {
        self.draft.column(place).is_some_and(|column| column.within.is_some())
    }

    /// Adds a mistake if a column cannot be set, or only as a part of a `whole` row.
    fn check_set(&self, node: &Node<'_>, place: usize, whole: bool) -> Option<()> {
        let name = &self.draft.columns[place].name;
        let what = format!("'{name}' cannot be set");
        if self.is_fixed(place) {
            let help = "a row keeps its key and its time";
            return node.labelled(what, "of the key, or the time", help);
        }
        if whole || !self.is_field(place) {
            return Some(());
        }
        let help = "an upsert writes whole rows, and their documents; json = \"columns\" has it be a column";
        node.labelled(format!("{what} by itself"), "a field of a document", help)
    }

    fn set(&self, whole: bool) -> Option<Set> {
        let may = |place: &usize| !self.is_fixed(*place) && (whole || !self.is_field(*place));
        let Some(node) = self.fields.get("set") else {
            let free = (0..self.draft.columns.len()).filter(may).collect();
            return match free {
                _ if !self.draft.sound() || self.draft.key.is_none() => None,
                columns if columns == [] as [usize; 0] => {
                    let help = "every column is of the key or the time, or a field of a document";
                    self.fields.mistake("nothing to set", help)
                }
                columns => Some(Set::Columns(columns)),
            };
        };
        let columns = |node: &Node<'_>| {
            let places = self.draft.places(node)?;
            places.iter().try_for_each(|place| self.check_set(node, *place, whole))?;
            Some(places)
        };
        if node.value.is_table() {
            if node.value.get("one-of").is_none() {
                let help = "constants are for all rows that meet a 'where'. For rows by their keys, \
                            name the columns: set = [\"temp\"]";
                return node.mistake("constants without 'where'", help);
            }
            let fields = node.fields(&["one-of"])?;
            return fields
                .need("one-of", "set = { one-of = [\"field0\"] }", |node| columns(&node))
                .map(Set::OneOf);
        }
        columns(&node).map(Set::Columns)
    }

    /// Reads an `update` of the rows that match conditions.
    pub fn update_where(&self) -> Option<Work> {
        let others = ["ops", "keys", "absent", "rows"];
        self.none_beside("where", &others, "all that meet it are changed");
        let (conditions, by) = (self.some_conditions(), self.change());
        let example = "set = { note = \"seen\" }";
        let set = self.fields.need("set", example, |node| {
            if !node.value.is_table() {
                return node.mistake("no values to set", format!("write {example}"));
            }
            let entries = node.open()?;
            let each = entries.entries().into_iter().map(|entry| {
                let place = self.draft.place_of(&entry.node, entry.name)?;
                let column = self.draft.column(place)?;
                self.check_set(&entry.node, place, false)?;
                let value = constant::read(&entry.node, column.of)?;
                let length = match value.as_value() {
                    Value::Text(text) => text.chars().count(),
                    _ => 0,
                };
                if let Some(longest) = column.longest.filter(|longest| length > *longest as usize) {
                    let label = format!("{length} characters");
                    let help = format!("'{}' has at most {longest}", column.name);
                    return entry.node.labelled("a text that is too long", label, help);
                }
                Some((place, value))
            });
            all(each)
        });
        Some(Work::UpdateWhere { table: self.table, conditions: conditions?, set: set?, by: by? })
    }

    /// Reads how rows that match conditions are changed.
    fn change(&self) -> Option<Change> {
        if self.fields.get("commit").is_none() {
            return Some(Change::Together);
        }
        self.commit(false).map(Change::OneByOne)
    }

    /// Reads what a `delete` removes.
    pub fn removed(&self) -> Option<Removed> {
        if self.fields.get("where").is_some() {
            let others = ["ops", "keys", "absent", "rows", "older", "time"];
            self.none_beside("where", &others, "all that meet it go");
            let (conditions, by) = (self.some_conditions(), self.change());
            return Some(Removed::Where { conditions: conditions?, by: by? });
        }
        let Some(older) = self.fields.get("older") else {
            let keys = self.keys_of_rows();
            let commit = self.commit(false);
            return Some(Removed::Keys { keys: keys?, commit: commit? });
        };
        let why = "a delete is by keys, or of all that is older";
        self.none_beside("older", &["ops", "keys", "absent", "rows", "commit"], why);
        let (time, of) = self.time()?;
        Some(Removed::Older { time, units: constant::length(&older, of)? })
    }
}
