//! A phase of a table that is being read, and the keys that several verbs share: keys, commits,
//! snapshots.

use embermark_model::Scale;
use embermark_model::table::ColumnType;

use crate::definition::{Commit, Count, Keys, KeysOf, OPS, SKEW, Snapshot};
use crate::draft::{Draft, DraftColumn};
use crate::make;
use crate::node::{Fields, Node, all};
use crate::time;

/// Default and largest value of `in-flight`.
const IN_FLIGHT: u32 = 10;
const MOST_IN_FLIGHT: u32 = 1_000;

/// A phase of a table that is being read.
pub struct Reading<'a> {
    /// Its fields.
    pub fields: &'a Fields<'a>,
    /// Index of the table.
    pub table: usize,
    /// The table.
    pub draft: &'a Draft<'a>,
}

impl Reading<'_> {
    /// Reads which keys are used, and how many.
    pub fn keys(&self) -> Option<Keys> {
        let ops = self.fields.or("ops", Count::Exactly(OPS), |node| count(&node));
        let of = self.fields.or("keys", KeysOf::Uniform, |node| keys_of(&node));
        let absent = self.fields.or("absent", 0.0, |node| node.share());
        if of == Some(KeysOf::Distinct) {
            self.none_beside("keys", &["absent"], "keys that are distinct are those of rows");
        }
        Some(Keys { ops: ops?, of: of?, absent: absent?, rows: 1 })
    }

    /// Reads which keys a change uses, and the number of rows per key.
    pub fn keys_of_rows(&self) -> Option<Keys> {
        let keys = self.keys();
        let Some(node) = self.fields.get("rows") else { return keys };
        let rows = node.count()?;
        let evenly = "rows that follow each other are drawn evenly";
        // Each of them is changed once, which makes the keys distinct.
        let is_even = |keys: &Keys| matches!(keys.of, KeysOf::Uniform | KeysOf::Distinct);
        let beside: &[&str] =
            if keys.as_ref().is_some_and(is_even) { &["absent"] } else { &["keys", "absent"] };
        self.none_beside("rows", beside, evenly);
        let last = self.draft.key.as_ref()?.last().and_then(|last| self.draft.column(*last))?;
        if !matches!(last.of, ColumnType::Int { .. } | ColumnType::Timestamp(_)) {
            let what = format!("rows in the order of '{}', which is {}", last.name, last.of);
            return node.mistake(what, "the last column of the key is an integer or a timestamp");
        }
        Some(Keys { rows, ..keys? })
    }

    /// Reads what a snapshot covers.
    pub fn snapshot(&self) -> Option<Snapshot> {
        let covers = [("phase", Snapshot::Phase), ("each", Snapshot::Each)];
        self.fields
            .or("snapshot", Snapshot::Phase, |node| node.one_of("extent of a snapshot", &covers))
    }

    /// Reads what a commit covers. With `bulk` the fastest path is allowed.
    pub fn commit(&self, bulk: bool) -> Option<Commit> {
        const OTHERS: &str = "write \"each\", a number of rows, or \"all\"";
        self.fields.or("commit", Commit::Each, |node| match node.as_text() {
            Some("each") => Some(Commit::Each),
            Some("all") => Some(Commit::All),
            Some("bulk") if bulk => Some(Commit::Bulk),
            Some("csv") if bulk => {
                let is_text = |column: &&DraftColumn<'_>| {
                    column.column.as_ref().is_some_and(|column| {
                        let is_text = matches!(column.of, ColumnType::Text | ColumnType::Bytes);
                        is_text || column.within.is_some()
                    })
                };
                match self.draft.columns.iter().find(is_text) {
                    None => Some(Commit::Csv),
                    Some(column) => node.labelled(
                        format!("'{}' in a CSV file", column.name),
                        "a text, bytes, or a document",
                        "engines quote texts in different ways: only numbers and times go in from one",
                    ),
                }
            }
            Some("bulk" | "csv") => node.mistake("only an insert takes the fastest path", OTHERS),
            Some(text) if !text.starts_with(|c: char| c.is_ascii_digit()) => {
                node.unknown("commit", text, ["each", "all", "bulk", "csv"])
            }
            None if node.value.is_table() && bulk => {
                let fields = node.fields(&["batch", "offered"])?;
                let batch = fields.need("batch", "batch = 1_000", |node| node.count());
                let offered = fields.maybe("offered", |node| offered(&node));
                Some(match (batch?, offered?) {
                    (batch, Some(offered)) => Commit::Behind { batch, offered },
                    (batch, None) => Commit::Batch(batch),
                })
            }
            None if node.value.is_table() => {
                node.mistake("only an insert gives rows in batches", OTHERS)
            }
            _ => node.count().map(Commit::Rows),
        })
    }

    /// Reads the number of requests in flight for rows that come over HTTP.
    pub fn requests(&self) -> Option<Option<u32>> {
        let over = self.fields.maybe("over", |node| node.one_of("way", &[("http", ())]));
        let Some(node) = self.fields.get("in-flight") else {
            return over.map(|over| over.map(|()| IN_FLIGHT));
        };
        let requests = node.count().and_then(|count| {
            let few = u32::try_from(count).ok().filter(|count| *count <= MOST_IN_FLIGHT);
            few.or_else(|| node.expected(&format!("at most {MOST_IN_FLIGHT} requests")))
        });
        if over?.is_none() {
            return node.mistake("'in-flight' without 'over'", "write over = \"http\" beside it");
        }
        requests.map(Some)
    }

    /// Reads the time column and its type: as specified, or that of the table.
    pub fn time(&self) -> Option<(usize, ColumnType)> {
        let Some(node) = self.fields.get("time") else {
            let Some(place) = self.draft.time() else {
                return self.draft.sound().then(|| self.no_time()).flatten();
            };
            return Some((place, self.draft.column(place)?.of));
        };
        let place = self.draft.place(&node)?;
        let column = self.draft.column(place)?;
        if !matches!(column.of, ColumnType::Timestamp(_) | ColumnType::Int { .. }) {
            return node.mistake(
                format!("'{}' is {} and no time", column.name, column.of),
                "a column of time is a timestamp or an integer",
            );
        }
        if column.nullable {
            let what = format!("'{}' may be absent", column.name);
            return node.mistake(what, "every row has a value in the column of time");
        }
        Some((place, column.of))
    }

    pub fn no_time<T>(&self) -> Option<T> {
        self.fields.mistake(
            format!("which column of '{}' is the time?", self.draft.name),
            "the last of the key where it is a timestamp, or the only timestamp that is never \
             absent; else write time = \"…\"",
        )
    }

    /// Adds a mistake for each of the `others` that is present together with a key.
    pub fn none_beside(&self, key: &str, others: &[&str], why: &str) {
        for (other, node) in
            others.iter().filter_map(|other| Some((other, self.fields.get(other)?)))
        {
            node.add(format!("'{other}' beside '{key}'"), "", why);
        }
    }
}

/// Reads the rows per second that are put into a buffer.
fn offered(node: &Node<'_>) -> Option<u64> {
    let rate = time::rate(node.text()?).map(|rate| rate as u64);
    rate.filter(|rate| *rate > 0).or_else(|| node.expected("rows per second, as in \"100000/s\""))
}

/// Reads a count: `1000`, `"50%"` of the rows, or by the number of rows.
pub fn count(node: &Node<'_>) -> Option<Count> {
    if node.as_text().is_some_and(|text| text.ends_with('%')) {
        return match node.share()? {
            0.0 => node.mistake("a share of nothing", "leave the phase out"),
            share => Some(Count::Share(share)),
        };
    }
    if !node.value.is_table() {
        return node.count().map(Count::Exactly);
    }
    let entries = node.open()?.entries();
    let mut sizes = all(entries.iter().map(|entry| {
        let size = match entry.name.parse::<Scale>() {
            Ok(Scale::Rows(rows)) => Some(rows),
            _ => entry.at_name().mistake(
                format!("'{}' is not a number of rows", entry.name),
                "write for example { \"10k\" = 1, \"1M\" = 25 }",
            ),
        };
        let count = entry.node.count();
        Some((size?, count?))
    }))?;
    sizes.sort_unstable();
    if sizes.is_empty() {
        return node.mistake("no number", "write for example { \"10k\" = 1, \"1M\" = 25 }");
    }
    Some(Count::BySize(sizes))
}

fn keys_of(node: &Node<'_>) -> Option<KeysOf> {
    let names = [
        ("uniform", KeysOf::Uniform),
        ("distinct", KeysOf::Distinct),
        ("zipfian", KeysOf::Zipfian { skew: SKEW }),
        ("newest", KeysOf::Newest { skew: SKEW }),
    ];
    if !node.value.is_table() {
        return node.one_of("distribution of keys", &names);
    }
    let fields = node.fields(&["distribution", "skew"])?;
    let example = "{ distribution = \"zipfian\", skew = 0.5 }";
    let of =
        fields.need("distribution", example, |node| node.one_of("distribution of keys", &names));
    let skew = make::skew(&fields, SKEW);
    match (of?, skew?) {
        (KeysOf::Zipfian { .. }, skew) => Some(KeysOf::Zipfian { skew }),
        (KeysOf::Newest { .. }, skew) => Some(KeysOf::Newest { skew }),
        (even, _) => match fields.get("skew") {
            Some(node) => node.mistake("uniform keys have no skew", ""),
            None => Some(even),
        },
    }
}
