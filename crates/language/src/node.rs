//! Values of a TOML file, read as the required type.

use std::ops::Range;
use std::time::Duration;

use embermark_model::{Scale, choice};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::mistakes::Log;
use crate::time;

/// A value of the file.
#[derive(Clone)]
pub struct Node<'a> {
    /// Collects mistakes.
    pub log: &'a Log,
    /// The value.
    pub value: &'a DeValue<'a>,
    /// Position in the text.
    pub at: Range<usize>,
}

/// A table of the file.
#[derive(Clone)]
pub struct Fields<'a> {
    /// Collects mistakes.
    pub log: &'a Log,
    table: &'a DeTable<'a>,
    /// Position that represents it if something is missing: that of its name or itself.
    pub at: Range<usize>,
}

/// A key of a table in the file, and its value.
#[derive(Clone)]
pub struct Entry<'a> {
    /// The name.
    pub name: &'a str,
    /// Position of the name.
    pub at: Range<usize>,
    /// The value.
    pub node: Node<'a>,
}

impl<'a> Entry<'a> {
    /// Returns the value at the position of its name, for mistakes about the name.
    pub fn at_name(&self) -> Node<'a> {
        Node { at: self.at.clone(), ..self.node }
    }
}

impl<'a> Node<'a> {
    fn new(log: &'a Log, value: &'a Spanned<DeValue<'a>>) -> Self {
        Self { log, value: value.get_ref(), at: value.span() }
    }

    /// Adds a mistake: what is here, and what should be.
    pub fn add(&self, what: impl Into<String>, label: impl Into<String>, help: impl Into<String>) {
        self.log.add(self.at.clone(), what, label, help);
    }

    /// Does the same and returns `None` for the value.
    pub fn labelled<T>(
        &self,
        what: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) -> Option<T> {
        self.add(what, label, help);
        None
    }

    /// Does the same without a label.
    pub fn mistake<T>(&self, what: impl Into<String>, help: impl Into<String>) -> Option<T> {
        self.labelled(what, "", help)
    }

    /// Adds the mistake that a name is not among the valid ones.
    pub fn unknown<'n, T>(
        &self,
        kind: &'static str,
        given: &str,
        valid: impl IntoIterator<Item = &'n str>,
    ) -> Option<T> {
        let unknown = choice::unknown(kind, given, valid);
        let help = match &unknown.valid[..] {
            [] => String::new(),
            valid => format!("valid: {}", valid.join(", ")),
        };
        let label = did_you_mean(unknown.nearest.as_deref());
        self.labelled(format!("unknown {kind} '{given}'"), label, help)
    }

    /// Adds the mistake that the value has another kind.
    pub fn expected<T>(&self, right: &str) -> Option<T> {
        self.labelled(format!("expected {right}"), format!("this is {}", self.kind()), "")
    }

    fn kind(&self) -> &'static str {
        match self.value {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a time",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        }
    }

    /// Returns a text, without a mistake if it is not one.
    pub fn as_text(&self) -> Option<&'a str> {
        self.value.as_str()
    }

    /// Reads a text.
    pub fn text(&self) -> Option<&'a str> {
        self.as_text().or_else(|| self.expected("a text in quotes"))
    }

    /// Reads `true` or `false`.
    pub fn bool(&self) -> Option<bool> {
        self.value.as_bool().or_else(|| self.expected("true or false"))
    }

    /// Reads an integer.
    pub fn integer(&self) -> Option<i64> {
        let Some(integer) = self.value.as_integer() else { return self.expected("an integer") };
        i64::from_str_radix(integer.as_str(), integer.radix())
            .ok()
            .or_else(|| self.labelled("an integer out of range", "beyond 64 bits, signed", ""))
    }

    /// Reads a finite number, whole or not.
    pub fn number(&self) -> Option<f64> {
        let number = match self.value {
            DeValue::Integer(_) => self.integer()? as f64,
            DeValue::Float(number) => number.as_str().parse().unwrap_or(f64::NAN),
            _ => return self.expected("a number"),
        };
        if number.is_finite() { Some(number) } else { self.expected("a finite number") }
    }

    /// Reads a count of 1 or more: `1000`, `"10k"` or `"1M"`.
    pub fn count(&self) -> Option<u64> {
        let text = match self.value {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(integer) => integer.to_string(),
            _ => return self.expected("a whole number such as 1000, \"10k\" or \"1M\""),
        };
        match text.parse::<Scale>() {
            Ok(Scale::Rows(count)) => Some(count),
            _ => self.mistake(
                format!("'{text}' is not a count"),
                format!(
                    "write a whole number from 1 to {} such as 1000, \"10k\" or \"1M\"",
                    Scale::MOST
                ),
            ),
        }
    }

    /// Reads a share from 0 to 1: `0.05` or `"5%"`.
    pub fn share(&self) -> Option<f64> {
        let share = match self.as_text() {
            Some(text) => text
                .strip_suffix('%')
                .and_then(|text| text.trim().parse::<f64>().ok())
                .map(|n| n / 100.0),
            None => Some(self.number()?),
        };
        share.filter(|share| (0.0..=1.0).contains(share)).or_else(|| {
            self.mistake("expected a share", "write a number from 0 to 1, or \"0%\" to \"100%\"")
        })
    }

    /// Reads a length of time that a clock measures.
    pub fn time(&self) -> Option<Duration> {
        let time = u64::try_from(self.duration()?).ok().map(Duration::from_nanos);
        time.or_else(|| self.expected("a shorter time"))
    }

    /// Reads a length of time in nanoseconds: `"30s"` or `"7d"`.
    pub fn duration(&self) -> Option<i128> {
        let text = self.text()?;
        time::duration(text).or_else(|| {
            self.mistake(format!("'{text}' is not a length of time"), time::DURATION_HELP)
        })
    }

    /// Reads one of several names, and returns what it stands for.
    pub fn one_of<T: Copy>(&self, kind: &'static str, names: &[(&str, T)]) -> Option<T> {
        let place = self.place_in(kind, names.iter().map(|(name, _)| *name))?;
        Some(names[place].1)
    }

    /// Returns the values of a list.
    pub fn list(&self) -> Option<Vec<Self>> {
        let Some(list) = self.value.as_array() else { return self.expected("a list in [ ]") };
        Some(list.iter().map(|item| Self::new(self.log, item)).collect())
    }

    /// Reads one of these names. Returns its place.
    pub fn place_in<'n>(
        &self,
        kind: &'static str,
        names: impl Iterator<Item = &'n str> + Clone,
    ) -> Option<usize> {
        let text = self.text()?;
        let place = names.clone().position(|name| name == text);
        place.or_else(|| self.unknown(kind, text, names))
    }

    /// Reads every value of a list, even after a wrong one.
    pub fn each<T>(&self, read: impl FnMut(Self) -> Option<T>) -> Option<Vec<T>> {
        all(self.list()?.into_iter().map(read))
    }

    /// Reads a table that has only these keys.
    pub fn fields(&self, keys: &[&str]) -> Option<Fields<'a>> {
        let fields = self.open()?;
        fields.only(keys);
        Some(fields)
    }

    /// Reads a table with any keys.
    pub fn open(&self) -> Option<Fields<'a>> {
        match self.value.as_table() {
            Some(table) => Some(Fields { log: self.log, table, at: self.at.clone() }),
            None => self.expected("a table"),
        }
    }
}

impl<'a> Fields<'a> {
    /// Makes the fields of the whole file.
    pub fn of_file(log: &'a Log, table: &'a DeTable<'a>) -> Self {
        Self { log, table, at: 0..0 }
    }

    /// Adds a mistake for every other key.
    pub fn only(&self, keys: &[&str]) {
        for entry in self.entries().into_iter().filter(|entry| !keys.contains(&entry.name)) {
            let _: Option<()> = entry.at_name().unknown("key", entry.name, keys.iter().copied());
        }
    }

    /// Returns its entries in the order of the file.
    pub fn entries(&self) -> Vec<Entry<'a>> {
        let mut entries: Vec<_> = self
            .table
            .iter()
            .map(|(name, value)| Entry {
                name: name.get_ref(),
                at: name.span(),
                node: Node::new(self.log, value),
            })
            .collect();
        entries.sort_by_key(|entry| entry.at.start);
        entries
    }

    /// Uses another position for missing keys.
    pub fn named(self, at: Range<usize>) -> Self {
        Self { at, ..self }
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        self.table.get(key).map(|value| Node::new(self.log, value))
    }

    /// Reads the value of a key, or returns the default if it is missing.
    pub fn or<T>(
        &self,
        key: &str,
        default: T,
        read: impl FnOnce(Node<'a>) -> Option<T>,
    ) -> Option<T> {
        self.get(key).map_or(Some(default), read)
    }

    /// Reads the value of a key. `Some(None)` if it is missing.
    pub fn maybe<T>(
        &self,
        key: &str,
        read: impl FnOnce(Node<'a>) -> Option<T>,
    ) -> Option<Option<T>> {
        self.get(key).map_or(Some(None), |node| read(node).map(Some))
    }

    /// Reads the value of a key. Adds a mistake if it is missing.
    pub fn need<T>(
        &self,
        key: &str,
        example: &str,
        read: impl FnOnce(Node<'a>) -> Option<T>,
    ) -> Option<T> {
        match self.get(key) {
            Some(node) => read(node),
            None => {
                self.mistake(format!("'{key}' is missing"), format!("write for example {example}"))
            }
        }
    }

    /// Adds a mistake about the whole table.
    pub fn mistake<T>(&self, what: impl Into<String>, help: impl Into<String>) -> Option<T> {
        self.log.add(self.at.clone(), what, "", help);
        None
    }
}

/// Returns a label with the name that is nearest to an unknown one.
pub fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!("did you mean '{nearest}'?"))
}

/// Returns all items. `None` if any is missing, after every one was read.
pub fn all<T>(items: impl Iterator<Item = Option<T>>) -> Option<Vec<T>> {
    items.collect::<Vec<_>>().into_iter().collect()
}
