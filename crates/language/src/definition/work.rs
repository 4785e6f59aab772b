//! What a phase does: its verbs, and phases at the same time or one after the other.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use embermark_model::table::OwnedValue;

use super::{Change, Commit, Condition, Correlate, Group, Keys, Range, Removed, Set};

/// What a phase does. Places of tables count in [`super::Definition::tables`], those of columns in
/// [`embermark_model::table::Table::columns`].
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
    /// `keep`: rows come in without end, and those that are older than a window go.
    Keep(Keep),
    /// `arrive`: rows come at a rate from a sensor that waits for nobody.
    Arrive(Arrive),
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
            Self::Arrive(arrive) => Some(arrive.table),
            Self::Sql(_) | Self::Mix(_) | Self::Sequence(_) | Self::Keep(_) => None,
        }
    }
}

/// Rows come in without end, again and again those of a table, each time later; those that are older than a window go;
/// and questions are asked all the while, until what it costs is steady. Places count in
/// [`super::Definition::phases`].
#[derive(Clone, Debug, PartialEq)]
pub struct Keep {
    /// The table, whose key begins with the time.
    pub table: usize,
    /// The column of time.
    pub time: usize,
    /// How long before the newest row rows are kept, in the column's unit: a multiple of `step`.
    pub window: i64,
    /// The rows of so long go at a time.
    pub step: i64,
    /// The `insert` by which rows come in, one a commit or a batch.
    pub insert: usize,
    /// The questions, which are asked in turn.
    pub ask: Vec<usize>,
    /// Rows that come in from one question to the next.
    pub every: u64,
    /// How long it goes on at most.
    pub at_most: Duration,
}

impl Keep {
    /// All of its phases.
    pub fn parts(&self) -> impl Iterator<Item = usize> + '_ {
        std::iter::once(self.insert).chain(self.ask.iter().copied())
    }
}

/// Rows come at a rate from a sensor that waits for nobody, through a queue of bounded length: what does not fit is lost. They
/// come behind those of a table, and are its rows again and again, each time later.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrive {
    /// The table, whose key has a time.
    pub table: usize,
    /// The column of time.
    pub time: usize,
    /// The place of the `insert` by which rows are stored, one a commit or a batch, in [`super::Definition::phases`].
    pub insert: usize,
    /// Rows a second.
    pub rate: u64,
    /// Rows that wait in the queue at most.
    pub queue: usize,
    /// `collect`: the rows of so long are one commit, and another thread collects the next ones meanwhile. `None`: the
    /// insert says what a commit covers.
    pub collect: Option<Duration>,
    /// How long it is measured.
    pub lasts: Duration,
}

/// Several phases one after the other, timed as one. Places count in [`super::Definition::phases`].
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

/// The default of [`Mix::lasts`] where it goes by rates, and of [`Arrive::lasts`].
pub const LASTS: Duration = Duration::from_secs(30);

/// The default of [`Mix::lasts`] where it goes on until it is steady, and of [`Keep::at_most`].
pub const UNTIL_STEADY: Duration = Duration::from_mins(10);
