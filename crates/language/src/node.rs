//! Values of a TOML file, read as what they must be.

use std::ops::Range;
use std::time::Duration;

use embermark_model::Scale;
use toml::de::{DeTable, DeValue};

use crate::mistakes::Log;
use crate::time;

/// A value of the file.
#[derive(Clone)]
pub struct Node<'a> {
    /// Where mistakes go.
    pub log: &'a Log,
    /// What it is.
    pub value: &'a DeValue<'a>,
    /// Where it stands.
    pub at: Range<usize>,
}

/// A table of the file.
#[derive(Clone)]
pub struct Fields<'a> {
    /// Where mistakes go.
    pub log: &'a Log,
    table: &'a DeTable<'a>,
    /// What stands for it where something is missing: its name or itself.
    pub at: Range<usize>,
}

/// A name in a table of the file, and what it is given.
#[derive(Clone)]
pub struct Entry<'a> {
    /// The name.
    pub name: &'a str,
    /// Where the name stands.
    pub at: Range<usize>,
    /// What it is given.
    pub node: Node<'a>,
}

impl<'a> Node<'a> {
    /// Says what stands here and what should.
    pub fn add(&self, what: impl Into<String>, label: impl Into<String>, help: impl Into<String>) {
        self.log.add(self.at.clone(), what, label, help);
    }

    /// The same, where a value was asked for.
    pub fn mistake<T>(
        &self,
        what: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) -> Option<T> {
        self.log.mistake(self.at.clone(), what, label, help)
    }

    /// Says that a value of another kind stands here.
    pub fn expected<T>(&self, right: &str) -> Option<T> {
        self.mistake(format!("expected {right}"), format!("this is {}", self.kind()), "")
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

    /// A text, without saying anything where it is none.
    pub fn as_text(&self) -> Option<&'a str> {
        self.value.as_str()
    }

    /// A text.
    pub fn text(&self) -> Option<&'a str> {
        self.as_text().or_else(|| self.expected("a text in quotes"))
    }

    /// `true` or `false`.
    pub fn bool(&self) -> Option<bool> {
        self.value.as_bool().or_else(|| self.expected("true or false"))
    }

    /// An integer.
    pub fn integer(&self) -> Option<i64> {
        let Some(integer) = self.value.as_integer() else { return self.expected("an integer") };
        i64::from_str_radix(integer.as_str(), integer.radix())
            .ok()
            .or_else(|| self.mistake("an integer out of range", "beyond 64 bits, signed", ""))
    }

    /// A finite number, whole or not.
    pub fn number(&self) -> Option<f64> {
        let number = match self.value {
            DeValue::Integer(_) => self.integer()? as f64,
            DeValue::Float(number) => number.as_str().parse().unwrap_or(f64::NAN),
            _ => return self.expected("a number"),
        };
        if number.is_finite() { Some(number) } else { self.expected("a finite number") }
    }

    /// How many of something: 1 or more, as `1000`, `"10k"` or `"1M"`.
    pub fn count(&self) -> Option<u64> {
        let text = match self.value {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(integer) => integer.to_string(),
            _ => return self.expected("a whole number such as 1000, \"10k\" or \"1M\""),
        };
        match text.parse::<Scale>() {
            Ok(Scale::Rows(count)) => Some(count),
            _ => self.mistake(
                format!("'{text}' is no count"),
                "",
                format!(
                    "write a whole number from 1 to {} such as 1000, \"10k\" or \"1M\"",
                    Scale::MOST
                ),
            ),
        }
    }

    /// A share from 0 to 1, as `0.05` or `"5%"`.
    pub fn share(&self) -> Option<f64> {
        let share = match self.as_text() {
            Some(text) => text
                .strip_suffix('%')
                .and_then(|text| text.trim().parse::<f64>().ok())
                .map(|n| n / 100.0),
            None => Some(self.number()?),
        };
        share.filter(|share| (0.0..=1.0).contains(share)).or_else(|| {
            self.mistake(
                "expected a share",
                "",
                "write a number from 0 to 1, or \"0%\" to \"100%\"",
            )
        })
    }

    /// A length of time that a clock measures.
    pub fn time(&self) -> Option<Duration> {
        let time = u64::try_from(self.duration()?).ok().map(Duration::from_nanos);
        time.or_else(|| self.expected("a shorter time"))
    }

    /// A length of time in nanoseconds, as `"30s"` or `"7d"`.
    pub fn duration(&self) -> Option<i128> {
        let text = self.text()?;
        time::duration(text).or_else(|| {
            self.mistake(format!("'{text}' is no length of time"), "", time::DURATION_HELP)
        })
    }

    /// One of some names, and what it stands for.
    pub fn one_of<T: Copy>(&self, kind: &'static str, names: &[(&str, T)]) -> Option<T> {
        let text = self.text()?;
        match names.iter().find(|(name, _)| *name == text) {
            Some((_, found)) => Some(*found),
            None => {
                self.log.unknown(self.at.clone(), kind, text, names.iter().map(|(name, _)| *name))
            }
        }
    }

    /// The values of a list.
    pub fn list(&self) -> Option<Vec<Self>> {
        let Some(list) = self.value.as_array() else { return self.expected("a list in [ ]") };
        let node = |item: &'a toml::Spanned<DeValue<'a>>| Self {
            log: self.log,
            value: item.get_ref(),
            at: item.span(),
        };
        Some(list.iter().map(node).collect())
    }

    /// Every value of a list read. All are read before one that is wrong counts.
    pub fn each<T>(&self, read: impl FnMut(Self) -> Option<T>) -> Option<Vec<T>> {
        all(self.list()?.into_iter().map(read))
    }

    /// A table, whose keys are among these.
    pub fn fields(&self, keys: &[&str]) -> Option<Fields<'a>> {
        let fields = self.open()?;
        fields.only(keys);
        Some(fields)
    }

    /// A table of any keys.
    pub fn open(&self) -> Option<Fields<'a>> {
        match self.value.as_table() {
            Some(table) => Some(Fields { log: self.log, table, at: self.at.clone() }),
            None => self.expected("a table"),
        }
    }
}

impl<'a> Fields<'a> {
    /// The whole file.
    pub fn of_file(log: &'a Log, table: &'a DeTable<'a>) -> Self {
        Self { log, table, at: 0..0 }
    }

    /// Says of every key that is none of these.
    pub fn only(&self, keys: &[&str]) {
        for entry in self.entries().into_iter().filter(|entry| !keys.contains(&entry.name)) {
            let _: Option<()> = self.log.unknown(entry.at, "key", entry.name, keys.iter().copied());
        }
    }

    /// What stands in it, in the order of the file.
    pub fn entries(&self) -> Vec<Entry<'a>> {
        let mut entries: Vec<_> = self
            .table
            .iter()
            .map(|(name, value)| Entry {
                name: name.get_ref(),
                at: name.span(),
                node: Node { log: self.log, value: value.get_ref(), at: value.span() },
            })
            .collect();
        entries.sort_by_key(|entry| entry.at.start);
        entries
    }

    /// The same, but with another place for what is missing.
    pub fn named(self, at: Range<usize>) -> Self {
        Self { at, ..self }
    }

    /// What a key is given.
    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        self.table.get(key).map(|value| Node {
            log: self.log,
            value: value.get_ref(),
            at: value.span(),
        })
    }

    /// What a key is given, read; the default where it is not there.
    pub fn or<T>(
        &self,
        key: &str,
        default: T,
        read: impl FnOnce(Node<'a>) -> Option<T>,
    ) -> Option<T> {
        self.get(key).map_or(Some(default), read)
    }

    /// What a key is given, read; `Some(None)` where it is not there.
    pub fn maybe<T>(
        &self,
        key: &str,
        read: impl FnOnce(Node<'a>) -> Option<T>,
    ) -> Option<Option<T>> {
        self.get(key).map_or(Some(None), |node| read(node).map(Some))
    }

    /// What a key is given, read; a mistake where it is not there.
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

    /// Says what is wrong with the whole.
    pub fn mistake<T>(&self, what: impl Into<String>, help: impl Into<String>) -> Option<T> {
        self.log.mistake(self.at.clone(), what, "", help)
    }
}

/// All of them, or `None` after every one was read.
pub fn all<T>(items: impl Iterator<Item = Option<T>>) -> Option<Vec<T>> {
    items.collect::<Vec<_>>().into_iter().collect()
}
