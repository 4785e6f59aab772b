//! Generated values of columns.

use super::OwnedValue;

/// How the values of a column are generated. Each depends only on the seed, the table, the column
/// and the row's number.
#[derive(Clone, Debug, PartialEq)]
pub struct Make {
    /// What the values are.
    pub kind: MakeKind,
    /// The share of rows in which the value is absent, from 0 to 1.
    pub absent: f64,
    /// A value and the exact share of rows that have it, rounded down.
    pub often: Option<(OwnedValue, f64)>,
    /// How much later than their time rows arrive.
    pub late: Option<Late>,
}

/// Rows that arrive after rows with a later time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Late {
    /// The share of rows that arrive late, from 0 to 1.
    pub share: f64,
    /// The delay is less than this number of time units, uniformly distributed.
    pub within: i64,
}

impl Make {
    /// Values of one kind in every row.
    pub const fn new(kind: MakeKind) -> Self {
        Self { kind, absent: 0.0, often: None, late: None }
    }
}

/// The kinds of generated values.
#[derive(Clone, Debug, PartialEq)]
pub enum MakeKind {
    /// `sequence`: `from`, `from + step`, … in the order of the rows, each in `repeat` consecutive
    /// rows.
    Sequence {
        /// The first value; a timestamp in its unit since 1970.
        from: i64,
        /// The difference of two successive values.
        step: i64,
        /// The number of rows with one value; 1 by default.
        repeat: u64,
    },
    /// `cycle`: `from`, `from + 1`, … and after `distinct` values again from the first. Together
    /// with a sequence whose `repeat` equals `distinct`, this gives every sensor at every time.
    Cycle {
        /// The first.
        from: i64,
        /// The number of different values.
        distinct: u64,
    },
    /// `random` integers from `from` to `to`, both included, uniformly distributed.
    RandomInt {
        /// The least.
        from: i64,
        /// The greatest.
        to: i64,
    },
    /// `random` numbers from `from` up to, but not including, `to`.
    RandomFloat {
        /// The least.
        from: f64,
        /// The excluded upper end.
        to: f64,
    },
    /// `random` characters (printable ASCII) or bytes.
    Random {
        /// The least length.
        from: u64,
        /// The greatest length.
        to: u64,
    },
    /// `words`: one of `distinct` generated words, the k-th with a probability proportional to 1 /
    /// k^skew.
    Words {
        /// The number of different words.
        distinct: u64,
        /// 0: uniform; 0.99 as in YCSB.
        skew: f64,
    },
    /// `hashed` texts: the prefix, then the row's number scrambled by a one-to-one function of 64
    /// bits, in decimal digits. Like the keys of YCSB, they are distinct and in no order.
    Hashed {
        /// `user` in YCSB.
        prefix: String,
    },
    /// `uuid`: random UUIDs (version 4, RFC 9562) in their usual 36 characters.
    Uuid,
    /// `walk`: starts at `from` and takes a normally distributed step in each row.
    Walk {
        /// The first value.
        from: f64,
        /// The standard deviation of a step.
        step: f64,
        /// The lower end, where the walk turns back.
        lowest: f64,
        /// The upper end, where the walk turns back.
        highest: f64,
    },
    /// `choice`: one of several values, by their weights.
    Choice {
        /// The values, of the column's type.
        values: Vec<OwnedValue>,
        /// One weight per value; if empty, all are equally likely.
        weights: Vec<f64>,
    },
    /// `reference`: a value of the only key column of another made table, by skew.
    Reference {
        /// The number of that table in the file.
        table: usize,
        /// The skew, as in [`MakeKind::Words`].
        skew: f64,
    },
}
