//! Questions over rows: conditions, groups, aggregates, correlations.

use embermark_model::table::{OwnedValue, TimeUnit};

/// How two groups of rows go together: Pearson's correlation of their means in the buckets of time that both have,
/// and how many buckets these are.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlate {
    /// The table.
    pub table: usize,
    /// The column of the values, numbers.
    pub of: usize,
    /// The column of each value of which the rows are a group.
    pub by: usize,
    /// The column of time.
    pub time: usize,
    /// The length of a bucket in its unit.
    pub bucket: i64,
    /// The two values of `by`; `None`: those with the most rows, of equally many the least.
    pub between: Option<[OwnedValue; 2]>,
}

/// Rows filtered, grouped and aggregated.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The table.
    pub table: usize,
    /// Conditions, all of which a row meets.
    pub conditions: Vec<Condition>,
    /// What rows are grouped by; none: all are one group.
    pub by: Vec<Grouped>,
    /// What is computed of each group: at least one.
    pub compute: Vec<Compute>,
    /// Conditions on what is computed, all of which a group meets.
    pub having: Vec<Having>,
    /// In which order groups come; none: in any.
    pub order: Vec<OrderBy>,
    /// At most how many groups.
    pub limit: Option<u64>,
}

/// A condition on a column. An absent value meets none.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The column.
    pub column: usize,
    /// How it is compared.
    pub operator: Operator,
    /// With what.
    pub bound: Bound,
}

/// A condition on what is computed of a group. What is absent meets none.
#[derive(Clone, Debug, PartialEq)]
pub struct Having {
    /// The place among [`Group::compute`].
    pub compute: usize,
    /// How it is compared.
    pub operator: Operator,
    /// With what: an integer of `count`, a float of `sum` and `avg`, a constant of the column's type of `min`
    /// and `max`.
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

/// What a column is compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// A constant of the column's type.
    Constant(OwnedValue),
    /// `start + 1h`: so long after the least value of this column of time, in its unit.
    Start(i64),
    /// `end - 7d`: the same (negative here) from its greatest.
    End(i64),
}

/// What rows are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouped {
    /// A column.
    Column(usize),
    /// `minute(time)`, `hour(time)`, `day(time)`, `week(time)`, `5m(time)`: the beginning of the bucket of
    /// a time, in the column's unit. Buckets are counted from 1970-01-01 UTC, weeks from Thursday,
    /// the day that was.
    Bucket {
        /// The column of time.
        column: usize,
        /// The length of a bucket in the column's unit.
        units: i64,
    },
    /// `month(time)`: the beginning of the month of a time in UTC, in the column's unit.
    Month {
        /// The column of time.
        column: usize,
        /// Its unit.
        unit: TimeUnit,
    },
}

impl Grouped {
    /// The column that it is about.
    pub const fn column(self) -> usize {
        match self {
            Self::Column(column) | Self::Bucket { column, .. } | Self::Month { column, .. } => {
                column
            }
        }
    }
}

/// What is computed of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compute {
    /// How.
    pub aggregate: Aggregate,
    /// Of which column; `None` of `count` alone: of rows.
    pub column: Option<usize>,
}

/// An aggregate. Absent values are left out; of none but absent values `count` is 0, the others
/// absent.
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

/// In which order groups come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderBy {
    /// Of the columns of the result, `by` and then `compute`.
    pub column: usize,
    /// Greatest first: written with `-`.
    pub descending: bool,
}
