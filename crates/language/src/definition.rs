//! What a workload file says, checked: names are resolved to places, and every verb has what it
//! needs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use embermark_model::MemoryLimit;
use embermark_model::table::{OwnedValue, Table, TimeUnit};

/// A workload file.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Its name: letters, digits and dashes, no built-in workload's. What is written with blanks is
    /// joined by dashes.
    pub name: String,
    /// What it stands for, in a line.
    pub about: String,
    /// Its tables, the main one first: that whose rows `--scale` counts. It is the one with the
    /// most phases, of equal ones the first in the file.
    pub tables: Vec<Table>,
    /// Its phases in the order of the file, in which they run.
    pub phases: Vec<Phase>,
    /// Its variants in the order of the file; none: the file says nothing of any.
    pub variants: Vec<Variant>,
    /// `usual`: what runs where nothing else is asked for.
    pub usual: Usual,
    /// `overview`: what runs where every workload does; as `usual` where the file says nothing of it.
    pub overview: Usual,
}

/// What runs where nothing else is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usual {
    /// `scale = "1k"` or several: rows of the main table, of one that is made. None: all of them.
    pub scales: Vec<u64>,
    /// `variants = […]`, by their places; the first where it says nothing.
    pub variants: Vec<usize>,
    /// `memory-limit = "256MiB"`: the largest of the scales runs once more within that much memory.
    pub memory_limit: Option<MemoryLimit>,
}

/// The same work done in another way: `[variant.NAME]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Its name: letters, digits, dashes and underscores.
    pub name: String,
    /// What it does differently, in a line.
    pub about: String,
    /// The phases that it does differently, by their places: of the first variant, which runs all, none has
    /// to be.
    pub changes: Vec<usize>,
    /// Who does its work.
    pub client: Client,
    /// The file as this variant has it, without variants.
    pub definition: Definition,
}

/// Who does the work of a variant, and takes the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Client {
    /// This program.
    #[default]
    Own,
    /// `client = "node"`: a Node.js program beside it.
    Node,
}

/// A phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Its name: letters, digits, dashes and underscores.
    pub name: String,
    /// What it does, in a line: the file's, or made of the verb and what it is given.
    pub about: String,
    /// What it does.
    pub work: Work,
    /// Whether it runs on its own, and not only as a part of others: `only = "mix"`, `only = "sequence"`.
    pub alone: bool,
    /// `only = "variant"`: whether it runs only in variants that say something of it.
    pub apart: bool,
    /// `per = "row"`: whether an operation is a row that is found or changed, and not the whole question.
    pub per_row: bool,
    /// Of a question: how often it is asked in a run.
    pub asked: Asked,
}

/// How often a question is asked in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Asked {
    /// Again and again, for as long as the plan says.
    #[default]
    ForTime,
    /// `ops = 3`: so often.
    Times(Count),
    /// `each = "station"`: of the rows of one value of a column after the other. The values are drawn, each once.
    Each {
        /// The column.
        column: usize,
        /// How many values: all where there are fewer.
        values: Count,
    },
}

/// What a phase does. Places of tables count in [`Definition::tables`], those of columns in
/// [`Table::columns`].
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// `insert`: every row of a table, in the order of its file.
    Insert {
        /// The table.
        table: usize,
        /// What a commit covers.
        commit: Commit,
        /// `over = "http"`: rows are posted as JSON by another process, so many requests in flight, and each is answered
        /// when its row was committed. `None`: this program has them.
        requests: Option<u32>,
    },
    /// `get`: rows by their keys, whole.
    Get {
        /// The table.
        table: usize,
        /// Which keys.
        keys: Keys,
        /// What a snapshot covers.
        snapshot: Snapshot,
    },
    /// `open`: the database is closed and opened again, and a row of it read by its key.
    Open {
        /// The table.
        table: usize,
        /// How often, and which keys are read.
        keys: Keys,
        /// `read = false`: nothing is read, so that an engine that opens lazily reads little of its file.
        reads: bool,
        /// How the database was left.
        after: End,
    },
    /// `latest`: the newest row of each value of a column. One operation is the whole question.
    Latest {
        /// The table.
        table: usize,
        /// The column of which each value has a newest row.
        by: usize,
        /// The column of time: the last of the key, or the only timestamp.
        time: usize,
    },
    /// `range`: rows in the order of the key, or of time.
    Range(Range),
    /// `gaps`: where two times of one value of a column lie further apart than a length, with none between. One
    /// operation is the whole question.
    Gaps {
        /// The table.
        table: usize,
        /// The column of each value of which gaps are looked for.
        by: usize,
        /// The column of time.
        time: usize,
        /// More than so many of its units.
        longer: i64,
    },
    /// `outliers`: rows whose value lies further from the mean of their group than so many deviations. One operation is
    /// the whole question.
    Outliers {
        /// The table.
        table: usize,
        /// The column of the value.
        of: usize,
        /// The column of each value of which the rows are a group.
        by: usize,
        /// How many sample standard deviations.
        deviations: f64,
    },
    /// `correlate`: how two groups of rows go together in time. One operation is the whole question.
    Correlate(Correlate),
    /// `find`: rows that meet conditions. One operation is the whole question.
    Find {
        /// The table.
        table: usize,
        /// Conditions, at least one, all of which a row meets.
        conditions: Vec<Condition>,
        /// The columns that are read, in the order of the table.
        select: Vec<usize>,
    },
    /// `update` with `where`: columns of the rows that meet conditions.
    UpdateWhere {
        /// The table.
        table: usize,
        /// Conditions, at least one, all of which a row meets.
        conditions: Vec<Condition>,
        /// Columns with what they are set to.
        set: Vec<(usize, OwnedValue)>,
        /// How they are changed.
        by: Change,
    },
    /// `group`: rows filtered, grouped and aggregated. One operation is the whole question.
    Group(Group),
    /// `update`: columns of rows by their keys.
    Update {
        /// Which keys.
        keys: Keys,
        /// What is set.
        set: Set,
        /// What a commit covers. [`Commit::Bulk`] is refused.
        commit: Commit,
        /// The table.
        table: usize,
    },
    /// `upsert`: whole rows by their keys, in place of those that are there; a key that is absent is a new row.
    Upsert {
        /// The table.
        table: usize,
        /// Which keys.
        keys: Keys,
        /// What differs from the row as it was loaded.
        set: Set,
        /// What a commit covers. [`Commit::Bulk`] is refused.
        commit: Commit,
    },
    /// `read-modify-write`: a row is read by its key, and columns of it are set, in one transaction
    /// where the engine has transactions.
    ReadModifyWrite {
        /// The table.
        table: usize,
        /// Which keys.
        keys: Keys,
        /// What is set.
        set: Set,
        /// What a commit covers. [`Commit::Bulk`] is refused.
        commit: Commit,
    },
    /// `delete`.
    Delete {
        /// The table.
        table: usize,
        /// What goes.
        removed: Removed,
    },
    /// `sql`: a question in SQL. One operation is the whole question.
    Sql(Sql),
    /// `mix`: several phases at the same time.
    Mix(Mix),
    /// `sequence`: several phases one after the other, timed as one.
    Sequence(Sequence),
}

impl Work {
    /// The table that it is about: of every one but `sql` and a mix.
    pub const fn table(&self) -> Option<usize> {
        match self {
            Self::Insert { table, .. }
            | Self::Get { table, .. }
            | Self::Open { table, .. }
            | Self::Latest { table, .. }
            | Self::Find { table, .. }
            | Self::Gaps { table, .. }
            | Self::Outliers { table, .. }
            | Self::Update { table, .. }
            | Self::UpdateWhere { table, .. }
            | Self::Upsert { table, .. }
            | Self::ReadModifyWrite { table, .. }
            | Self::Delete { table, .. } => Some(*table),
            Self::Range(range) => Some(range.table),
            Self::Group(group) => Some(group.table),
            Self::Correlate(correlate) => Some(correlate.table),
            Self::Sql(_) | Self::Mix(_) | Self::Sequence(_) => None,
        }
    }
}

/// Several phases one after the other, timed as one. Places count in [`Definition::phases`].
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// The `insert` that it begins with, into a fresh table: its rows are the operations. `None`: one operation
    /// is every question once.
    pub insert: Option<usize>,
    /// The questions that follow, in order.
    pub questions: Vec<usize>,
}

impl Sequence {
    /// All of its phases in order.
    pub fn steps(&self) -> impl Iterator<Item = usize> + '_ {
        self.insert.iter().chain(&self.questions).copied()
    }
}

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

/// Several phases at the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix {
    /// What takes part.
    pub parts: Vec<Part>,
    /// Clients that work at the same time, in a mix by shares. In one by rates each part is a
    /// client.
    pub clients: u32,
    /// How long it goes on; `None`: until `ops` are done.
    pub lasts: Option<Duration>,
    /// Whether it ends before that when the response times of its parts are steady: of one by rates alone.
    pub until_steady: bool,
    /// Operations, in a mix by shares without a time; default as of any phase.
    pub ops: u64,
}

/// A phase in a mix. An `insert` in it inserts rows that are held back for it: the last ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The place of the phase in the file: no mix, no bulk path.
    pub phase: usize,
    /// How much of it there is.
    pub pace: Pace,
}

/// How much of a part there is. All parts of a mix have the same kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Operations a second, started on a schedule whether or not those before have ended.
    Rate(f64),
    /// A share of the operations of every client; all shares together are 1.
    Share(f64),
}

/// What a commit covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// `"each"`: every operation is one.
    Each,
    /// So many operations.
    Rows(u64),
    /// `"all"`: all of them.
    All,
    /// `{ batch = 1_000 }`: so many rows, which are given to the engine at once; of `insert` alone.
    Batch(u64),
    /// `{ batch = "10k", offered = "100000/s" }`: so many rows a second are put into a buffer by one thread, and another
    /// gives the engine what has gathered there; of `insert` alone.
    Behind {
        /// The most rows of a commit.
        batch: u64,
        /// Rows a second.
        offered: u64,
    },
    /// `"bulk"`: the engine's fastest path, of `insert` alone.
    Bulk,
    /// `"csv"`: all rows from a CSV file, which the engine reads itself where it can; of `insert` alone.
    Csv,
}

/// How a database was left that is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// `after = "close"`: maintained, and closed as its manual asks.
    #[default]
    Close,
    /// `after = "crash"`: as its process leaves it that dies after batches of inserts, with no maintenance. Once in a
    /// run.
    Crash,
    /// `after = "crash-with-log"`: the same with every row in its log, as it took no checkpoint since the first.
    CrashWithLog,
}

/// What a snapshot covers of a phase that reads, where it runs alone. In a mix every read has its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Snapshot {
    /// `"phase"`: all reads are in one, as in a program that answers many requests at once, and in the
    /// engines' own benchmarks.
    #[default]
    Phase,
    /// `"each"`: every read has one of its own, as in a program that answers one request.
    Each,
}

/// How many operations, of a table of so many rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Count {
    /// `1000`, `"10k"`: so many.
    Exactly(u64),
    /// `"50%"`: that share of the rows, rounded down, and one at least.
    Share(f64),
    /// `{ "10k" = 1, "1M" = 25 }`, in ascending order: 1 for up to 10,000 rows, 25 for up to a million, and as many
    /// as there are for more.
    BySize(Vec<(u64, u64)>),
}

impl Count {
    /// How many, of a table of so many rows.
    pub fn of(&self, rows: u64) -> u64 {
        match self {
            Self::Exactly(count) => *count,
            // Rounded up before it is rounded down: 10 % of 30 is 3, and not 2.
            Self::Share(share) => ((rows as f64 * share + 1e-6) as u64).max(1),
            Self::BySize(sizes) => {
                let size = sizes.iter().find(|(most, _)| rows <= *most);
                size.map_or(rows.max(1), |(_, count)| *count)
            }
        }
    }
}

/// Keys of rows, drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Keys {
    /// How many operations.
    pub ops: Count,
    /// Which rows are drawn.
    pub of: KeysOf,
    /// The share of keys that are not in the table, from 0 to 1.
    pub absent: f64,
    /// `rows = 10`: how many rows that follow each other in the order of keys, and have all columns of the key but the
    /// last in common, an operation changes as one. Of more than one every row is changed once.
    pub rows: u64,
}

/// Which rows are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeysOf {
    /// All as likely.
    Uniform,
    /// The same, and no row twice.
    Distinct,
    /// Zipf's law, scrambled over the table as in YCSB.
    Zipfian {
        /// 0.99 in YCSB.
        skew: f64,
    },
    /// Zipf's law from the newest row back: the last inserted.
    Newest {
        /// 0.99 in YCSB.
        skew: f64,
    },
}

/// Rows in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The table.
    pub table: usize,
    /// From which keys: of [`Span::Rows`] a key that is drawn, of the others the value of `of` in a
    /// row that is drawn.
    pub keys: Keys,
    /// How far.
    pub span: Span,
    /// What a snapshot covers.
    pub snapshot: Snapshot,
}

/// How far a range goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    /// `rows = 100` or `rows = [1, 100]`: from the key on in key order, so many rows, drawn evenly.
    Rows {
        /// The least.
        from: u64,
        /// The most.
        to: u64,
    },
    /// `last = "1h"`: rows of one value of a column whose time is within so long before the newest
    /// time of the table.
    Last {
        /// The column whose value is drawn; `None`: rows of all.
        of: Option<usize>,
        /// The column of time.
        time: usize,
        /// How long, in the column's unit.
        units: i64,
    },
    /// `span = "1h"`: the same from the time of the row that is drawn on.
    From {
        /// The column whose value is drawn; `None`: rows of all.
        of: Option<usize>,
        /// The column of time.
        time: usize,
        /// How long, in the column's unit.
        units: i64,
    },
}

/// How the rows that meet conditions are changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Change {
    /// All at once. One operation.
    #[default]
    Together,
    /// `commit = "each"`, or another: their keys are found first, and then each row is an operation. Not
    /// [`Commit::Bulk`].
    OneByOne(Commit),
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

/// What is set in a row: in operation `n` a value that follows from the seed and `n`, unlike the
/// one before.
#[derive(Clone, Debug, PartialEq)]
pub enum Set {
    /// These columns, none of them of the key.
    Columns(Vec<usize>),
    /// One of these, drawn: as YCSB writes one field.
    OneOf(Vec<usize>),
}

/// What is deleted.
#[derive(Clone, Debug, PartialEq)]
pub enum Removed {
    /// Rows by their keys; each is drawn once.
    Keys {
        /// Which.
        keys: Keys,
        /// What a commit covers. [`Commit::Bulk`] is refused.
        commit: Commit,
    },
    /// `where = […]`: every row that meets these conditions.
    Where {
        /// At least one.
        conditions: Vec<Condition>,
        /// How they are deleted.
        by: Change,
    },
    /// `older = "7d"`: every row whose time is so long before the newest, or longer. One operation.
    Older {
        /// The column of time.
        time: usize,
        /// How long, in the column's unit.
        units: i64,
    },
}

/// A question in SQL.
#[derive(Clone, Debug, PartialEq)]
pub struct Sql {
    /// Its text, where it is the same for all that have none of their own.
    pub text: Option<String>,
    /// Its text for an engine, by its id.
    pub by_engine: BTreeMap<String, String>,
    /// A file with the right answer, as the workload file names it: CSV, a column for each of the
    /// result.
    pub answer: Option<PathBuf>,
    /// Whether the order of the rows is part of the answer: it is where the text has an ORDER BY of
    /// its own outermost.
    pub ordered: bool,
}

/// The default of [`Keys::ops`] and [`Mix::ops`].
pub const OPS: u64 = 1_000;

/// The default of [`KeysOf`]'s skews, that of YCSB.
pub const SKEW: f64 = 0.99;

/// The default of [`Mix::lasts`] where it goes by rates.
pub const LASTS: Duration = Duration::from_secs(30);

/// The default of [`Mix::lasts`] where it goes on until it is steady.
pub const UNTIL_STEADY: Duration = Duration::from_mins(10);
