//! Queries over rows: conditions, groups, aggregates, correlations.

use std::cmp::Ordering;

use embermark_model::table::{OwnedValue, TimeUnit};

/// A query with a verb of its own, about one table. One operation is the whole query.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// `latest`: the newest row of each value of a column.
    Latest {
        /// Column whose values each have a newest row.
        by: usize,
        /// Time column: the last of the key, or the only timestamp.
        time: usize,
    },
    /// `find`: rows that match conditions.
    Find {
        /// Conditions, at least one, all of which a row matches.
        conditions: Vec<Condition>,
        /// Columns that are read, in the order of the table.
        select: Vec<usize>,
    },
    /// `gaps`: where two consecutive times of one value of a column are further apart than a
    /// length.
    Gaps {
        /// Column whose values are searched for gaps.
        by: usize,
        /// Time column.
        time: usize,
        /// A gap is longer than this number of its units.
        longer: i64,
    },
    /// `outliers`: rows whose value is further from the mean of their group than a number of
    /// deviations.
    Outliers {
        /// Column of the value.
        of: usize,
        /// Column whose values define the groups.
        by: usize,
        /// Number of sample standard deviations.
        deviations: f64,
    },
    /// `correlate`: how two groups of rows correlate in time.
    Correlate(Correlate),
    /// `group`: rows filtered, grouped and aggregated.
    Group(Group),
}

impl Query {
    /// Returns the conditions that rows match.
    pub fn conditions(&self) -> &[Condition] {
        match self {
            Self::Find { conditions, .. } | Self::Group(Group { conditions, .. }) => conditions,
            Self::Latest { .. }
            | Self::Gaps { .. }
            | Self::Outliers { .. }
            | Self::Correlate(_) => &[],
        }
    }

    /// Returns whether it can be about the newest rows only, so that a `keep` may ask it.
    pub const fn asks_newest(&self) -> bool {
        match self {
            Self::Latest { .. } | Self::Find { .. } | Self::Group(_) => true,
            Self::Gaps { .. } | Self::Outliers { .. } | Self::Correlate(_) => false,
        }
    }
}

/// How two groups of rows correlate: Pearson's correlation of their means in the time buckets that
/// both have, and the number of these buckets.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlate {
    /// Column of the values, which are numbers.
    pub of: usize,
    /// Column whose values define the groups.
    pub by: usize,
    /// Time column.
    pub time: usize,
    /// Length of a bucket in the time column's unit.
    pub bucket: i64,
    /// The two values of `by`. `None`: those with the most rows, and of equally many the least.
    pub between: Option<[OwnedValue; 2]>,
}

/// Rows filtered, grouped and aggregated.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Conditions, all of which a row matches.
    pub conditions: Vec<Condition>,
    /// What rows are grouped by. Empty: all are one group.
    pub by: Vec<Grouped>,
    /// What is computed for each group. At least one.
    pub compute: Vec<Compute>,
    /// Conditions on what is computed, all of which a group matches.
    pub having: Vec<Having>,
    /// Order of the groups. Empty: any order.
    pub order: Vec<OrderBy>,
    /// Largest number of groups.
    pub limit: Option<u64>,
}

/// A condition on a column. An absent value matches none.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Index of the column.
    pub column: usize,
    /// The comparison.
    pub operator: Operator,
    /// The value to compare with.
    pub bound: Bound,
}

/// A condition on what is computed for a group. An absent value matches none.
#[derive(Clone, Debug, PartialEq)]
pub struct Having {
    /// Index in [`Group::compute`].
    pub compute: usize,
    /// The comparison.
    pub operator: Operator,
    /// The value to compare with: an integer for `count`, a float for `sum` and `avg`, a constant
    /// of the column's type for `min` and `max`.
    pub bound: OwnedValue,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

impl Operator {
    /// Returns whether it accepts a value that compares so with the bound.
    #[inline]
    pub const fn accepts(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::AtLeast => order.is_ge(),
        }
    }
}

/// The value that a column is compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// A constant of the column's type.
    Constant(OwnedValue),
    /// `start + 1h`: this long after the least value of this time column, in its unit.
    Start(i64),
    /// `end - 7d`: the same (negative here) from its greatest value.
    End(i64),
}

/// What rows are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouped {
    /// A column.
    Column(usize),
    /// `minute(time)`, `hour(time)`, `day(time)`, `week(time)`, `5m(time)`: the beginning of a
    /// time's bucket, in the column's unit. Buckets are counted from 1970-01-01 UTC, and weeks thus
    /// begin on that day, a Thursday.
    Bucket {
        /// Time column.
        column: usize,
        /// The length of a bucket in the column's unit.
        units: i64,
    },
    /// `month(time)`: the beginning of the month of a time in UTC, in the column's unit.
    Month {
        /// Time column.
        column: usize,
        /// Its unit.
        unit: TimeUnit,
    },
}

impl Grouped {
    /// Returns the column that it uses.
    pub const fn column(self) -> usize {
        match self {
            Self::Column(column) | Self::Bucket { column, .. } | Self::Month { column, .. } => {
                column
            }
        }
    }
}

/// What is computed for a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compute {
    /// The aggregate.
    pub aggregate: Aggregate,
    /// Its column. `None` only for `count`, which then counts rows.
    pub column: Option<usize>,
}

/// An aggregate. Absent values are left out. If all values are absent, `count` is 0 and the others
/// are absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// `count`, `count(column)`
    Count,
    /// `sum(column)`
    Sum,
    /// `avg(column)`
    Avg,
    /// `min(column)`
    Min,
    /// `max(column)`
    Max,
}

/// Order of the groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderBy {
    /// Index of a column of the result, `by` and then `compute`.
    pub column: usize,
    /// Whether the greatest comes first: written with `-`.
    pub descending: bool,
}
