//! Names of tables and columns for files and fields with arbitrary names.

use crate::names::is_plain;
use crate::reserved::is_reserved;

/// Names that have been used, which differ not only in case.
#[derive(Default)]
pub struct Names(Vec<String>);

impl Names {
    /// Returns a name for the table of these rows.
    pub fn table(&mut self, label: &str) -> String {
        self.add(&snake(label), true)
    }

    /// Returns a column name for a field: the field's own name if it is valid.
    pub fn column(&mut self, field: &str) -> String {
        if is_plain(field) { self.add(field, false) } else { self.add(&snake(field), false) }
    }

    /// Adds a name, with a suffix if it is used or reserved.
    fn add(&mut self, name: &str, table: bool) -> String {
        let taken = |name: &str| {
            name == "_id"
                || is_reserved(name, table)
                || self.0.iter().any(|other| other.eq_ignore_ascii_case(name))
        };
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut names = [name.to_owned(), format!("{name}_")].into_iter().chain(numbered);
        let name = names.find(|name| !taken(name)).unwrap_or_default();
        self.0.push(name.clone());
        name
    }
}

/// Converts to letters, digits and underscores: `Station ID` becomes `station_id`.
fn snake(name: &str) -> String {
    let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' });
    let joined = letters.collect::<String>().split_whitespace().collect::<Vec<_>>().join("_");
    // Adds a prefix before a digit, and leaves room for a suffix.
    let joined: String = joined.to_ascii_lowercase().chars().take(50).collect();
    match joined.bytes().next() {
        None => "column".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("n{joined}"),
        Some(_) => joined,
    }
}
