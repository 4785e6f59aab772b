//! The phases of a file, but for what `group`, `sql` and `mix` have of their own.

use embermark_model::table::ColumnType;

use crate::constant;
use crate::definition::{Commit, Keys, KeysOf, OPS, Range, Removed, SKEW, Set, Span, Work};
use crate::group;
use crate::make;
use crate::node::{Fields, Node};
use crate::sql;
use crate::table::Draft;

/// What a phase does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Insert,
    Get,
    Latest,
    Range,
    Group,
    Update,
    ReadModifyWrite,
    Delete,
    Sql,
    Mix,
}

/// What `do` is given, and the keys beside it.
const VERBS: [(&str, Verb); 8] = [
    ("insert", Verb::Insert),
    ("get", Verb::Get),
    ("latest", Verb::Latest),
    ("range", Verb::Range),
    ("group", Verb::Group),
    ("update", Verb::Update),
    ("read-modify-write", Verb::ReadModifyWrite),
    ("delete", Verb::Delete),
];

impl Verb {
    /// Reads which one it is: of `do`, `sql` and `mix` a phase has one.
    pub fn of(fields: &Fields<'_>) -> Option<Self> {
        let given = |key: &str| fields.get(key).is_some();
        let sql = fields.entries().iter().any(|entry| entry.name.starts_with("sql"));
        match (given("do"), sql, given("mix")) {
            (true, false, false) => fields.get("do")?.one_of("verb", &VERBS),
            (false, true, false) => Some(Self::Sql),
            (false, false, true) => Some(Self::Mix),
            (false, false, false) => fields.mistake(
                "a phase that does nothing",
                format!(
                    "write do = \"…\" with one of {}; or sql, or mix",
                    VERBS.map(|v| v.0).join(", ")
                ),
            ),
            _ => fields.mistake(
                "several things in one phase",
                "one of do, sql and mix: make several phases",
            ),
        }
    }

    /// The keys that stand beside it.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Insert => &["commit"],
            Self::Get => &["ops", "keys", "absent"],
            Self::Latest => &["by", "time"],
            Self::Range => &["ops", "keys", "absent", "rows", "last", "span", "of", "time"],
            Self::Group => &["where", "by", "compute", "order", "limit"],
            Self::Update | Self::ReadModifyWrite => &["ops", "keys", "absent", "set", "commit"],
            Self::Delete => &["ops", "keys", "absent", "commit", "older", "time"],
            // They read their own.
            Self::Sql | Self::Mix => &[],
        }
    }
}

/// The place of the table a phase is about.
fn table_of(fields: &Fields<'_>, drafts: &[Draft<'_>]) -> Option<usize> {
    let Some(node) = fields.get("table") else {
        return match drafts {
            [] => None,
            [_] => Some(0),
            several => fields.mistake(
                "it is not said of which table",
                format!("write table = \"{}\"", several[0].name),
            ),
        };
    };
    let name = node.text()?;
    let place = drafts.iter().position(|draft| draft.name == name);
    place.or_else(|| {
        let names = drafts.iter().map(|draft| draft.name);
        node.log.unknown(node.at.clone(), "table", name, names)
    })
}

/// A phase of a table that is being read.
pub struct Reading<'a> {
    /// What stands in it.
    pub fields: &'a Fields<'a>,
    /// The place of the table.
    pub table: usize,
    /// The table.
    pub draft: &'a Draft<'a>,
}

/// Reads what a phase does that is no mix.
pub fn read(
    fields: &Fields<'_>,
    verb: Verb,
    drafts: &[Draft<'_>],
    engines: &[&str],
) -> Option<Work> {
    if verb == Verb::Sql {
        return sql::read(fields, engines);
    }
    fields.only(&[&["do", "about", "only", "table"], verb.keys()].concat());
    let table = table_of(fields, drafts)?;
    let reading = Reading { fields, table, draft: &drafts[table] };
    match verb {
        Verb::Insert => {
            let commit = reading.commit(true)?;
            Some(Work::Insert { table, commit })
        }
        Verb::Get => Some(Work::Get { table, keys: reading.keys()? }),
        Verb::Latest => reading.latest(),
        Verb::Range => reading.range(),
        Verb::Group => group::read(&reading).map(Work::Group),
        Verb::Update => {
            let (keys, set, commit) = reading.set_by_keys()?;
            Some(Work::Update { keys, set, commit, table })
        }
        Verb::ReadModifyWrite => {
            let (keys, set, commit) = reading.set_by_keys()?;
            Some(Work::ReadModifyWrite { table, keys, set, commit })
        }
        Verb::Delete => Some(Work::Delete { table, removed: reading.removed()? }),
        Verb::Sql | Verb::Mix => None,
    }
}

impl Reading<'_> {
    fn keys(&self) -> Option<Keys> {
        let ops = self.fields.or("ops", OPS, |node| node.count());
        let of = self.fields.or("keys", KeysOf::Uniform, |node| keys_of(&node));
        let absent = self.fields.or("absent", 0.0, |node| node.share());
        Some(Keys { ops: ops?, of: of?, absent: absent? })
    }

    fn commit(&self, bulk: bool) -> Option<Commit> {
        self.fields.or("commit", Commit::Each, |node| match node.as_text() {
            Some("each") => Some(Commit::Each),
            Some("all") => Some(Commit::All),
            Some("bulk") if bulk => Some(Commit::Bulk),
            Some("bulk") => node.mistake(
                "only an insert takes the fastest path",
                "",
                "write \"each\", a number of rows, or \"all\"",
            ),
            Some(text) if !text.starts_with(|c: char| c.is_ascii_digit()) => {
                let valid = ["each", "all", "bulk"];
                node.log.unknown(node.at.clone(), "commit", text, valid)
            }
            _ => node.count().map(Commit::Rows),
        })
    }

    /// The column of a key of the phase; it must be there.
    fn column(&self, key: &str, example: &str) -> Option<usize> {
        self.fields.need(key, example, |node| self.draft.place(&node))
    }

    /// The column of time: as said, or that of the table.
    fn time(&self) -> Option<(usize, ColumnType)> {
        let place = match self.fields.get("time") {
            Some(node) => {
                let place = self.draft.place(&node)?;
                let of = self.draft.column(place)?.of;
                if !matches!(of, ColumnType::Timestamp(_) | ColumnType::Int { .. }) {
                    return node.mistake(
                        format!("'{}' is {of} and no time", self.draft.columns[place].name),
                        "",
                        "a column of time is a timestamp or an integer",
                    );
                }
                place
            }
            None => match self.draft.time() {
                Some(place) => place,
                None if !self.draft.sound() => return None,
                None => {
                    return self.fields.mistake(
                        format!("which column of '{}' is the time?", self.draft.name),
                        "the last of the key where it is a timestamp, or the only timestamp; else \
                         write time = \"…\"",
                    );
                }
            },
        };
        Some((place, self.draft.column(place)?.of))
    }

    fn latest(&self) -> Option<Work> {
        let by = self.column("by", "by = \"station\"");
        let time = self.time();
        let (by, (time, _)) = (by?, time?);
        if by == time {
            let node = self.fields.get("by")?;
            return node.mistake(
                "the newest row of each time",
                "",
                "write the column that names what has rows",
            );
        }
        Some(Work::Latest { table: self.table, by, time })
    }

    fn range(&self) -> Option<Work> {
        let keys = self.keys();
        let given = ["rows", "last", "span"].map(|key| self.fields.get(key));
        let span = match given {
            [Some(rows), None, None] => {
                for key in ["of", "time"] {
                    if let Some(node) = self.fields.get(key) {
                        let _: Option<()> = node.mistake(
                            format!("'{key}' beside 'rows'"),
                            "",
                            "so many rows come in the order of the key; 'last' and 'span' are of time",
                        );
                    }
                }
                make::span(&rows).map(|(from, to)| Span::Rows { from, to })
            }
            [None, Some(last), None] => {
                self.units(&last).map(|(of, time, units)| Span::Last { of, time, units })
            }
            [None, None, Some(span)] => {
                self.units(&span).map(|(of, time, units)| Span::From { of, time, units })
            }
            [None, None, None] => self.fields.mistake(
                "a range without an end",
                "write rows = 100, last = \"1h\" or span = \"1h\"",
            ),
            _ => self.fields.mistake("several ends of a range", "one of rows, last and span"),
        };
        Some(Work::Range(Range { table: self.table, keys: keys?, span: span? }))
    }

    fn units(&self, node: &Node<'_>) -> Option<(Option<usize>, usize, i64)> {
        let of = self.fields.maybe("of", |node| self.draft.place(&node));
        let (time, kind) = self.time()?;
        let units = constant::length(node, kind);
        Some((of?, time, units?))
    }

    fn set_by_keys(&self) -> Option<(Keys, Set, Commit)> {
        let keys = self.keys();
        let commit = self.commit(false);
        let set = self.set();
        Some((keys?, set?, commit?))
    }

    /// Columns that may be set: none of the key, and not the time of rows.
    fn is_fixed(&self, place: usize) -> bool {
        self.draft.key.iter().flatten().any(|key| *key == place) || self.draft.time() == Some(place)
    }

    fn set(&self) -> Option<Set> {
        let Some(node) = self.fields.get("set") else {
            let free =
                (0..self.draft.columns.len()).filter(|place| !self.is_fixed(*place)).collect();
            return match free {
                _ if !self.draft.sound() || self.draft.key.is_none() => None,
                columns if columns == [] as [usize; 0] => {
                    self.fields.mistake("nothing to set", "every column is of the key or the time")
                }
                columns => Some(Set::Columns(columns)),
            };
        };
        let columns = |node: &Node<'_>| {
            let places = self.draft.places(node)?;
            match places.iter().find(|place| self.is_fixed(**place)) {
                Some(place) => node.mistake(
                    format!("'{}' cannot be set", self.draft.columns[*place].name),
                    "of the key, or the time",
                    "a row keeps its key and its time",
                ),
                None => Some(places),
            }
        };
        if node.value.is_table() {
            let fields = node.fields(&["one-of"])?;
            return fields
                .need("one-of", "set = { one-of = [\"field0\"] }", |node| columns(&node))
                .map(Set::OneOf);
        }
        columns(&node).map(Set::Columns)
    }

    fn removed(&self) -> Option<Removed> {
        let Some(older) = self.fields.get("older") else {
            let keys = self.keys();
            let commit = self.commit(false);
            return Some(Removed::Keys { keys: keys?, commit: commit? });
        };
        for key in ["ops", "keys", "absent", "commit"] {
            if let Some(node) = self.fields.get(key) {
                let _: Option<()> = node.mistake(
                    format!("'{key}' beside 'older'"),
                    "",
                    "a delete is by keys, or of all that is older",
                );
            }
        }
        let (time, of) = self.time()?;
        Some(Removed::Older { time, units: constant::length(&older, of)? })
    }
}

fn keys_of(node: &Node<'_>) -> Option<KeysOf> {
    let names = [
        ("uniform", KeysOf::Uniform),
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
        (KeysOf::Uniform, _) if fields.get("skew").is_some() => {
            fields.get("skew")?.mistake("uniform keys have no skew", "", "")
        }
        (KeysOf::Uniform, _) => Some(KeysOf::Uniform),
        (KeysOf::Zipfian { .. }, skew) => Some(KeysOf::Zipfian { skew }),
        (KeysOf::Newest { .. }, skew) => Some(KeysOf::Newest { skew }),
    }
}
