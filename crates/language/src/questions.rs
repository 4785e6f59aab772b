//! Reads the keys of the query verbs besides `do`.

use embermark_model::table::{ColumnType, OwnedValue};

use crate::constant;
use crate::definition::{Asked, Correlate, Count, End, OPS, Query, Range, Sequence, Span, Work};
use crate::draft::Draft;
use crate::make;
use crate::node::{Fields, Node};
use crate::reading::{Reading, count};

impl Reading<'_> {
    /// Reads a `latest`.
    pub fn latest(&self) -> Option<Query> {
        let by = self.fields.need("by", "by = \"station\"", |node| self.draft.place(&node));
        let time = self.time();
        let (by, (time, _)) = (by?, time?);
        self.check_by(by, time, "the newest row of each time")?;
        Some(Query::Latest { by, time })
    }

    /// Reads a `find`.
    pub fn find(&self) -> Option<Query> {
        let conditions = self.some_conditions();
        let all = (0..self.draft.columns.len()).collect();
        let select = self.fields.or("select", all, |node| {
            let mut places = self.draft.places(&node)?;
            places.sort_unstable();
            places.dedup();
            Some(places)
        });
        Some(Query::Find { conditions: conditions?, select: select? })
    }

    /// Reads an `open`.
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
            self.none_beside("after", &["ops"], "a run opens the database once after a crash");
            keys.ops = Count::Exactly(1);
        }
        Some(Work::Open { table: self.table, keys, reads: reads?, after: after? })
    }

    /// Reads a `gaps`.
    pub fn gaps(&self) -> Option<Query> {
        let by = self.fields.need("by", "by = \"station\"", |node| self.draft.place(&node));
        let time = self.time();
        let longer = self
            .fields
            .need("longer-than", "longer-than = \"10m\"", |node| constant::length(&node, time?.1));
        let (by, (time, _), longer) = (by?, time?, longer?);
        self.check_by(by, time, "gaps of each time")?;
        Some(Query::Gaps { by, time, longer })
    }

    /// Reads the column whose values define the groups.
    fn by(&self) -> Option<usize> {
        self.fields.need("by", "by = \"station\"", |node| self.draft.place_of_group(&node))
    }

    /// Refuses what is asked of each value of the time.
    fn check_by(&self, by: usize, time: usize, what: &str) -> Option<()> {
        if by != time {
            return Some(());
        }
        self.fields.get("by")?.mistake(what, "write the column that names what has rows")
    }

    /// Reads the column of numbers of a query.
    fn of(&self) -> Option<usize> {
        self.fields.need("of", "of = \"temp\"", |node| {
            let place = self.draft.place(&node)?;
            match self.draft.column(place)?.of {
                ColumnType::Int { .. } | ColumnType::Float => Some(place),
                of => node.mistake(
                    format!("'{}' is {of} and no number", self.draft.columns[place].name),
                    "name a column of integers or of f64",
                ),
            }
        })
    }

    /// Reads an `outliers`.
    pub fn outliers(&self) -> Option<Query> {
        let (of, by) = (self.of(), self.by());
        let deviations = self.fields.need("deviations", "deviations = 3", |node| {
            let deviations = node.number()?;
            if deviations > 0.0 { Some(deviations) } else { node.expected("a number above 0") }
        });
        Some(Query::Outliers { of: of?, by: by?, deviations: deviations? })
    }

    /// Reads a `correlate`.
    pub fn correlate(&self) -> Option<Query> {
        let (of, by, time) = (self.of(), self.by(), self.time());
        let bucket =
            self.fields.need("bucket", "bucket = \"5m\"", |node| constant::length(&node, time?.1));
        let between = self.fields.maybe("between", |node| {
            let column = self.draft.column(by?)?.of;
            let values = node.each(|item| constant::read(&item, column))?;
            let two: Result<[OwnedValue; 2], _> = values.try_into();
            match two {
                Ok([a, b]) if a == b => node.mistake("a group with itself", "name two values"),
                Ok(two) => Some(two),
                Err(_) => node.expected("two values, as in [3, 7]"),
            }
        });
        let (of, by, (time, _), bucket) = (of?, by?, time?, bucket?);
        self.check_by(by, time, "groups of one time")?;
        Some(Query::Correlate(Correlate { of, by, time, bucket, between: between? }))
    }

    /// Reads a `range`.
    pub fn range(&self) -> Option<Work> {
        let keys = self.keys();
        let given = ["rows", "last", "span"].map(|key| self.fields.get(key));
        let span = match given {
            [Some(rows), None, None] => {
                let why = "a number of rows is in the order of the key; the other ends are times";
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
}

/// Reads how often a query runs in a run of its phase.
pub fn asked(fields: &Fields<'_>, work: &Work, drafts: &[Draft<'_>]) -> Option<Asked> {
    if !matches!(work, Work::Ask { .. } | Work::Sequence(Sequence { insert: None, .. })) {
        return Some(Asked::ForTime);
    }
    let ops = fields.maybe("ops", |node| count(&node));
    let each = fields.maybe("each", |node| {
        let help = "name a column of integers, texts, bools or times";
        drafts[work.table()?].place_of_discrete(&node, "rows of one value", help)
    });
    Some(match (each?, ops?) {
        (Some(column), values) => {
            Asked::Each { column, values: values.unwrap_or(Count::Exactly(OPS)) }
        }
        (None, Some(ops)) => Asked::Times(ops),
        (None, None) => Asked::ForTime,
    })
}
