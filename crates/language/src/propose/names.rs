//! Names of tables and columns for files and fields that may be called anything.

use crate::names::is_plain;
use crate::reserved::is_reserved;

/// Names that are given, of which each is another whatever the case of its letters.
#[derive(Default)]
pub struct Names(Vec<String>);

impl Names {
    /// The name of a table for what its rows are called.
    pub fn table(&mut self, label: &str) -> String {
        self.add(&snake(label), true)
    }

    /// The name of a column for a field: the field's own where that can be one.
    pub fn column(&mut self, field: &str) -> String {
        if is_plain(field) { self.add(field, false) } else { self.add(&snake(field), false) }
    }

    /// Takes a name, with something behind it where it is taken or reserved.
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

/// Letters, digits and underscores: `Station ID` is `station_id`.
fn snake(name: &str) -> String {
    let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' });
    let joined = letters.collect::<String>().split_whitespace().collect::<Vec<_>>().join("_");
    // What must stand before a digit, and behind the longest name.
    let joined: String = joined.to_ascii_lowercase().chars().take(50).collect();
    match joined.bytes().next() {
        None => "column".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("n{joined}"),
        Some(_) => joined,
    }
}
