//! The phases of a table: what each verb reads beside `do`.

use embermark_model::Scale;
use embermark_model::table::{ColumnType, OwnedValue};

use crate::constant;
use crate::definition::{
    Asked, Change, Commit, Condition, Correlate, Count, End, Keys, KeysOf, OPS, Range, Removed,
    SKEW, Sequence, Set, Snapshot, Span, Work,
};
use crate::group;
use crate::make;
use crate::node::{Fields, Node, all};
use crate::table::{Draft, DraftColumn};
use crate::time;

/// The default of `in-flight`, and the most.
const IN_FLIGHT: u32 = 10;
const MOST_IN_FLIGHT: u32 = 1_000;

/// A phase of a table that is being read.
pub struct Reading<'a> {
    /// What stands in it.
    pub fields: &'a Fields<'a>,
    /// The place of the table.
    pub table: usize,
    /// The table.
    pub draft: &'a Draft<'a>,
}

impl Reading<'_> {
    /// Which keys, and how many.
    pub fn keys(&self) -> Option<Keys> {
        let ops = self.fields.or("ops", Count::Exactly(OPS), |node| count(&node));
        let of = self.fields.or("keys", KeysOf::Uniform, |node| keys_of(&node));
        let absent = self.fields.or("absent", 0.0, |node| node.share());
        if of == Some(KeysOf::Distinct) {
            self.none_beside("keys", &["absent"], "keys that are distinct are those of rows");
        }
        Some(Keys { ops: ops?, of: of?, absent: absent?, rows: 1 })
    }

    /// Which keys a change has, and how many rows from each on.
    fn keys_of_rows(&self) -> Option<Keys> {
        let keys = self.keys();
        let Some(node) = self.fields.get("rows") else { return keys };
        let rows = node.count()?;
        let evenly = "rows that follow each other are drawn evenly";
        // Of them each is changed once, so that distinct keys are what they have.
        let is_even = |keys: &Keys| matches!(keys.of, KeysOf::Uniform | KeysOf::Distinct);
        let beside: &[&str] =
            if keys.as_ref().is_some_and(is_even) { &["absent"] } else { &["keys", "absent"] };
        self.none_beside("rows", beside, evenly);
        let last = self.draft.key.as_ref()?.last().and_then(|last| self.draft.column(*last))?;
        if !matches!(last.of, ColumnType::Int { .. } | ColumnType::Timestamp(_)) {
            let what = format!("rows in the order of '{}', which is {}", last.name, last.of);
            return node.mistake(
                what,
                "",
                "the last column of the key is an integer or a timestamp",
            );
        }
        Some(Keys { rows, ..keys? })
    }

    /// What a snapshot covers.
    pub fn snapshot(&self) -> Option<Snapshot> {
        let covers = [("phase", Snapshot::Phase), ("each", Snapshot::Each)];
        self.fields
            .or("snapshot", Snapshot::Phase, |node| node.one_of("extent of a snapshot", &covers))
    }

    /// What a commit covers; `bulk` where the fastest path may be taken.
    pub fn commit(&self, bulk: bool) -> Option<Commit> {
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
                    Some(column) => node.mistake(
                        format!("'{}' in a CSV file", column.name),
                        "a text, bytes, or a document",
                        "engines quote texts in different ways: only numbers and times go in from one",
                    ),
                }
            }
            Some("bulk" | "csv") => node.mistake(
                "only an insert takes the fastest path",
                "",
                "write \"each\", a number of rows, or \"all\"",
            ),
            Some(text) if !text.starts_with(|c: char| c.is_ascii_digit()) => {
                let valid = ["each", "all", "bulk", "csv"];
                node.log.unknown(node.at.clone(), "commit", text, valid)
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
            None if node.value.is_table() => node.mistake(
                "only an insert gives rows in batches",
                "",
                "write \"each\", a number of rows, or \"all\"",
            ),
            _ => node.count().map(Commit::Rows),
        })
    }

    /// How many requests are in flight of rows that come over HTTP.
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
            return node.mistake(
                "'in-flight' without 'over'",
                "",
                "write over = \"http\" beside it",
            );
        }
        requests.map(Some)
    }

    /// The column of time and its type: as said, or that of the table.
    fn time(&self) -> Option<(usize, ColumnType)> {
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
                "",
                "a column of time is a timestamp or an integer",
            );
        }
        if column.nullable {
            let what = format!("'{}' may be absent", column.name);
            return node.mistake(what, "", "every row has a value in the column of time");
        }
        Some((place, column.of))
    }

    fn no_time<T>(&self) -> Option<T> {
        self.fields.mistake(
            format!("which column of '{}' is the time?", self.draft.name),
            "the last of the key where it is a timestamp, or the only timestamp that is never \
             absent; else write time = \"…\"",
        )
    }

    /// A `latest`.
    pub fn latest(&self) -> Option<Work> {
        let by = self.fields.need("by", "by = \"station\"", |node| self.draft.place(&node));
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

    /// An `open`.
    pub fn open(&self) -> Option<Work> {
        let reads = self.fields.or("read", true, |node| node.bool());
        if reads == Some(false) {
            self.none_beside("read", &["keys", "absent"], "nothing is read");
        }
        let lefts =
            [("close", End::Close), ("crash", End::Crash), ("crash-with-log", End::CrashWithLog)];
        let after = self.fields.or("after", End::Close, |node| node.one_of("end", &lefts));
        let mut keys = self.keys()?;
        if after? != End::Close {
            self.none_beside(
                "after",
                &["ops"],
                "of what a crash has left there is one opening a run",
            );
            keys.ops = Count::Exactly(1);
        }
        Some(Work::Open { table: self.table, keys, reads: reads?, after: after? })
    }

    /// A `gaps`.
    pub fn gaps(&self) -> Option<Work> {
        let by = self.fields.need("by", "by = \"station\"", |node| self.draft.place(&node));
        let time = self.time();
        let longer = self
            .fields
            .need("longer-than", "longer-than = \"10m\"", |node| constant::length(&node, time?.1));
        let (by, (time, _), longer) = (by?, time?, longer?);
        if by == time {
            let node = self.fields.get("by")?;
            return node.mistake(
                "gaps of each time",
                "",
                "write the column that names what has rows",
            );
        }
        Some(Work::Gaps { table: self.table, by, time, longer })
    }

    /// The column of whose values each has a group of rows.
    fn by(&self) -> Option<usize> {
        self.fields.need("by", "by = \"station\"", |node| {
            let place = self.draft.place(&node)?;
            match self.draft.column(place)?.of {
                of @ (ColumnType::Float | ColumnType::Bytes) => node.mistake(
                    format!("groups of '{}', which is {of}", self.draft.columns[place].name),
                    "",
                    "group by integers, texts, bools or times",
                ),
                _ => Some(place),
            }
        })
    }

    /// The column of numbers that a question is about.
    fn of(&self) -> Option<usize> {
        self.fields.need("of", "of = \"temp\"", |node| {
            let place = self.draft.place(&node)?;
            match self.draft.column(place)?.of {
                ColumnType::Int { .. } | ColumnType::Float => Some(place),
                of => node.mistake(
                    format!("'{}' is {of} and no number", self.draft.columns[place].name),
                    "",
                    "name a column of integers or of f64",
                ),
            }
        })
    }

    /// An `outliers`.
    pub fn outliers(&self) -> Option<Work> {
        let (of, by) = (self.of(), self.by());
        let deviations = self.fields.need("deviations", "deviations = 3", |node| {
            let deviations = node.number()?;
            if deviations > 0.0 { Some(deviations) } else { node.expected("a number above 0") }
        });
        Some(Work::Outliers { table: self.table, of: of?, by: by?, deviations: deviations? })
    }

    /// A `correlate`.
    pub fn correlate(&self) -> Option<Work> {
        let (of, by, time) = (self.of(), self.by(), self.time());
        let bucket =
            self.fields.need("bucket", "bucket = \"5m\"", |node| constant::length(&node, time?.1));
        let between = self.fields.maybe("between", |node| {
            let column = self.draft.column(by?)?.of;
            let values = node.each(|item| constant::read(&item, column))?;
            let two: Result<[OwnedValue; 2], _> = values.try_into();
            match two {
                Ok([a, b]) if a == b => node.mistake("a group with itself", "", "name two values"),
                Ok(two) => Some(two),
                Err(_) => node.expected("two values, as in [3, 7]"),
            }
        });
        let (of, by, (time, _), bucket) = (of?, by?, time?, bucket?);
        if by == time {
            let node = self.fields.get("by")?;
            return node.mistake(
                "groups of one time",
                "",
                "write the column that names what has rows",
            );
        }
        let (table, between) = (self.table, between?);
        Some(Work::Correlate(Correlate { table, of, by, time, bucket, between }))
    }

    /// A `range`.
    pub fn range(&self) -> Option<Work> {
        let keys = self.keys();
        let given = ["rows", "last", "span"].map(|key| self.fields.get(key));
        let span = match given {
            [Some(rows), None, None] => {
                let why = "so many rows come in the order of the key; the others are of time";
                self.none_beside("rows", &["of", "time"], why);
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
        let snapshot = self.snapshot();
        let (keys, span, snapshot) = (keys?, span?, snapshot?);
        Some(Work::Range(Range { table: self.table, keys, span, snapshot }))
    }

    fn units(&self, node: &Node<'_>) -> Option<(Option<usize>, usize, i64)> {
        let of = self.fields.maybe("of", |node| self.draft.place(&node));
        let (time, kind) = self.time()?;
        let units = constant::length(node, kind);
        Some((of?, time, units?))
    }

    /// Says of each key that does not stand beside another.
    fn none_beside(&self, key: &str, others: &[&str], why: &str) {
        for (other, node) in
            others.iter().filter_map(|other| Some((other, self.fields.get(other)?)))
        {
            node.add(format!("'{other}' beside '{key}'"), "", why);
        }
    }

    /// What `update`, `upsert` and `read-modify-write` have; `whole`: rows are written as a whole.
    pub fn set_by_keys(&self, whole: bool) -> Option<(Keys, Set, Commit)> {
        let keys = self.keys_of_rows();
        let commit = self.commit(false);
        let set = self.set(whole);
        Some((keys?, set?, commit?))
    }

    /// Whether a column cannot be set: one of the key, or the time of rows.
    fn is_fixed(&self, place: usize) -> bool {
        self.draft.key.iter().flatten().any(|key| *key == place) || self.draft.time() == Some(place)
    }

    /// Whether a column is written with the others of its document alone.
    fn is_field(&self, place: usize) -> bool {
        self.draft.column(place).is_some_and(|column| column.within.is_some())
    }

    /// Says that a field of a document is not set by itself.
    fn no_field<T>(&self, node: &Node<'_>, place: usize) -> Option<T> {
        let what = format!("'{}' cannot be set by itself", self.draft.columns[place].name);
        let help = "an upsert writes whole rows, and their documents; json = \"columns\" has it be a column";
        node.mistake(what, "a field of a document", help)
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
            match places.iter().find(|place| !may(place)) {
                Some(place) if !self.is_fixed(*place) => self.no_field(node, *place),
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

    /// Conditions, at least one.
    fn conditions(&self) -> Option<Vec<Condition>> {
        self.fields.need("where", "where = [[\"temp\", \">\", 20]]", |node| {
            let conditions = node.each(|item| group::condition(self, &item))?;
            if conditions.is_empty() {
                return node.mistake(
                    "no condition",
                    "",
                    "write for example [[\"temp\", \">\", 20]]",
                );
            }
            Some(conditions)
        })
    }

    /// A `find`.
    pub fn find(&self) -> Option<Work> {
        let conditions = self.conditions();
        let all = (0..self.draft.columns.len()).collect();
        let select = self.fields.or("select", all, |node| {
            let mut places = self.draft.places(&node)?;
            places.sort_unstable();
            places.dedup();
            Some(places)
        });
        Some(Work::Find { table: self.table, conditions: conditions?, select: select? })
    }

    /// An `update` of the rows that meet conditions.
    pub fn update_where(&self) -> Option<Work> {
        let others = ["ops", "keys", "absent", "rows"];
        self.none_beside("where", &others, "all that meet it are changed");
        let (conditions, by) = (self.conditions(), self.change());
        let example = "set = { note = \"seen\" }";
        let set = self.fields.need("set", example, |node| {
            if !node.value.is_table() {
                return node.mistake("no values to set", "", format!("write {example}"));
            }
            let entries = node.open()?;
            let each = entries.entries().into_iter().map(|entry| {
                let place = self.draft.place_of(&entry.node, entry.name)?;
                let column = self.draft.column(place)?;
                if self.is_fixed(place) {
                    let what = format!("'{}' cannot be set", column.name);
                    let label = "of the key, or the time";
                    return entry.node.mistake(what, label, "a row keeps its key and its time");
                }
                if self.is_field(place) {
                    return self.no_field(&entry.node, place);
                }
                Some((place, constant::read(&entry.node, column.of)?))
            });
            all(each)
        });
        Some(Work::UpdateWhere { table: self.table, conditions: conditions?, set: set?, by: by? })
    }

    /// How rows that meet conditions are changed.
    fn change(&self) -> Option<Change> {
        if self.fields.get("commit").is_none() {
            return Some(Change::Together);
        }
        self.commit(false).map(Change::OneByOne)
    }

    /// What a `delete` removes.
    pub fn removed(&self) -> Option<Removed> {
        if self.fields.get("where").is_some() {
            let others = ["ops", "keys", "absent", "rows", "older", "time"];
            self.none_beside("where", &others, "all that meet it go");
            let (conditions, by) = (self.conditions(), self.change());
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

/// How often a question is asked in a run.
pub fn asked(fields: &Fields<'_>, work: &Work, drafts: &[Draft<'_>]) -> Option<Asked> {
    let is_question = matches!(
        work,
        Work::Latest { .. }
            | Work::Gaps { .. }
            | Work::Outliers { .. }
            | Work::Correlate(_)
            | Work::Find { .. }
            | Work::Group(_)
            | Work::Sequence(Sequence { insert: None, .. })
    );
    if !is_question {
        return Some(Asked::ForTime);
    }
    let ops = fields.maybe("ops", |node| count(&node));
    let each = fields.maybe("each", |node| {
        let draft = &drafts[work.table()?];
        let place = draft.place(&node)?;
        match draft.column(place)?.of {
            of @ (ColumnType::Float | ColumnType::Bytes) => node.mistake(
                format!("rows of one value of '{}', which is {of}", draft.columns[place].name),
                "",
                "name a column of integers, texts, bools or times",
            ),
            _ => Some(place),
        }
    });
    Some(match (each?, ops?) {
        (Some(column), values) => {
            Asked::Each { column, values: values.unwrap_or(Count::Exactly(OPS)) }
        }
        (None, Some(ops)) => Asked::Times(ops),
        (None, None) => Asked::ForTime,
    })
}

/// Rows a second that are put into a buffer.
fn offered(node: &Node<'_>) -> Option<u64> {
    let rate = time::rate(node.text()?).map(|rate| rate as u64);
    rate.filter(|rate| *rate > 0).or_else(|| node.expected("rows a second, as in \"100000/s\""))
}

/// How many: `1000`, `"50%"` of the rows, or by how many rows there are.
fn count(node: &Node<'_>) -> Option<Count> {
    if node.as_text().is_some_and(|text| text.ends_with('%')) {
        return match node.share()? {
            0.0 => node.mistake("a share of nothing", "", "leave the phase out"),
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
            _ => entry.node.log.mistake(
                entry.at.clone(),
                format!("'{}' is no number of rows", entry.name),
                "",
                "write for example { \"10k\" = 1, \"1M\" = 25 }",
            ),
        };
        let count = entry.node.count();
        Some((size?, count?))
    }))?;
    sizes.sort_unstable();
    if sizes.is_empty() {
        return node.mistake("no number", "", "write for example { \"10k\" = 1, \"1M\" = 25 }");
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
        (KeysOf::Uniform | KeysOf::Distinct, _) if fields.get("skew").is_some() => {
            fields.get("skew")?.mistake("uniform keys have no skew", "", "")
        }
        (even @ (KeysOf::Uniform | KeysOf::Distinct), _) => Some(even),
        (KeysOf::Zipfian { .. }, skew) => Some(KeysOf::Zipfian { skew }),
        (KeysOf::Newest { .. }, skew) => Some(KeysOf::Newest { skew }),
    }
}
