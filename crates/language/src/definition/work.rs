//! What a phase does: its verbs, and combinations of phases at the same time or one after the
//! other.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use embermark_model::table::OwnedValue;

use super::{Change, Commit, Condition, Keys, Query, Range, Removed, Set, Span};

/// What a phase does. Indexes of tables refer to [`super::Definition::tables`], those of columns to
/// [`embermark_model::table::Table::columns`].
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// `insert`: every row of a table, in the order of its file.
    Insert {
        /// Index of the table.
        table: usize,
        /// What a commit covers.
        commit: Commit,
        /// `over = "http"`: another process posts rows as JSON, with this number of requests in
        /// flight. Each is answered once its row was committed. `None`: this program has the rows.
        requests: Option<u32>,
    },
    /// `get`: whole rows by their keys.
    Get {
        /// Index of the table.
        table: usize,
        /// The keys.
        keys: Keys,
        /// What a snapshot covers.
        snapshot: Snapshot,
    },
    /// `open`: closes the database, opens it again, and reads one of its rows by key.
    Open {
        /// Index of the table.
        table: usize,
        /// How often, and which keys are read.
        keys: Keys,
        /// `read = false`: reads nothing, so that an engine that opens lazily reads little of its
        /// file.
        reads: bool,
        /// How the database was left.
        after: End,
    },
    /// `range`: rows in the order of the key, or of time.
    Range(Range),
    /// A query with a verb of its own. One operation is the whole query.
    Ask {
        /// Index of the table.
        table: usize,
        /// The query.
        query: Query,
    },
    /// `update` with `where`: columns of the rows that match conditions.
    UpdateWhere {
        /// Index of the table.
        table: usize,
        /// Conditions, at least one, all of which a row matches.
        conditions: Vec<Condition>,
        /// Columns and their new values.
        set: Vec<(usize, OwnedValue)>,
        /// How they are changed.
        by: Change,
    },
    /// `update`: columns of rows by their keys.
    Update {
        /// The keys.
        keys: Keys,
        /// What is set.
        set: Set,
        /// What a commit covers. [`Commit::Bulk`] is refused.
        commit: Commit,
        /// Index of the table.
        table: usize,
    },
    /// `upsert`: whole rows by their keys, replacing existing ones. An absent key is a new row.
    Upsert {
        /// Index of the table.
        table: usize,
        /// The keys.
        keys: Keys,
        /// What differs from the row as it was loaded.
        set: Set,
        /// What a commit covers. [`Commit::Bulk`] is refused.
        commit: Commit,
    },
    /// `read-modify-write`: reads a row by its key and sets columns of it, in one transaction if
    /// the engine has transactions.
    ReadModifyWrite {
        /// Index of the table.
        table: usize,
        /// The keys.
        keys: Keys,
        /// What is set.
        set: Set,
        /// What a commit covers. [`Commit::Bulk`] is refused.
        commit: Commit,
    },
    /// `delete`.
    Delete {
        /// Index of the table.
        table: usize,
        /// What is deleted.
        removed: Removed,
    },
    /// `sql`: a query in SQL. One operation is the whole query.
    Sql(Sql),
    /// `mix`: several phases at the same time.
    Mix(Mix),
    /// `sequence`: several phases one after the other, timed as one.
    Sequence(Sequence),
    /// `keep`: rows arrive without end, and those older than a window are removed.
    Keep(Keep),
    /// `arrive`: rows arrive at a rate, from a sensor that never waits.
    Arrive(Arrive),
}

impl Work {
    /// Returns the query, if it is a single one with a verb of its own.
    pub const fn query(&self) -> Option<&Query> {
        match self {
            Self::Ask { query, .. } => Some(query),
            _ => None,
        }
    }

    /// Returns whether it is a query that can be about the newest rows only, and which a `keep` may
    /// thus ask.
    pub const fn asks_newest(&self) -> bool {
        match self {
            Self::Ask { query, .. } => query.asks_newest(),
            _ => matches!(self, Self::Range(Range { span: Span::Last { .. }, .. })),
        }
    }

    /// Returns what a commit covers if it inserts rows or changes them by their keys.
    pub const fn commit(&self) -> Option<Commit> {
        match self {
            Self::Insert { commit, .. }
            | Self::Update { commit, .. }
            | Self::Upsert { commit, .. }
            | Self::ReadModifyWrite { commit, .. }
            | Self::Delete { removed: Removed::Keys { commit, .. }, .. } => Some(*commit),
            _ => None,
        }
    }

    /// Returns the index of its table. `None` for `sql` and a mix.
    pub const fn table(&self) -> Option<usize> {
        match self {
            Self::Insert { table, .. }
            | Self::Get { table, .. }
            | Self::Open { table, .. }
            | Self::Ask { table, .. }
            | Self::Update { table, .. }
            | Self::UpdateWhere { table, .. }
            | Self::Upsert { table, .. }
            | Self::ReadModifyWrite { table, .. }
            | Self::Delete { table, .. } => Some(*table),
            Self::Range(range) => Some(range.table),
            Self::Arrive(arrive) => Some(arrive.table),
            Self::Sql(_) | Self::Mix(_) | Self::Sequence(_) | Self::Keep(_) => None,
        }
    }
}

/// Rows arrive without end: those of a table repeatedly, with later times. Rows older than a window
/// are removed, and queries run meanwhile, until the cost is steady. Indexes refer to
/// [`super::Definition::phases`].
#[derive(Clone, Debug, PartialEq)]
pub struct Keep {
    /// Index of the table, whose key begins with the time.
    pub table: usize,
    /// Time column.
    pub time: usize,
    /// How long before the newest row rows are kept, in the column's unit: a multiple of `step`.
    pub window: i64,
    /// Rows of this length of time are removed at once.
    pub step: i64,
    /// Index of the `insert` for arriving rows, with one per commit or a batch.
    pub insert: usize,
    /// Indexes of the queries, which run in turn.
    pub ask: Vec<usize>,
    /// Number of rows that arrive between two queries.
    pub every: u64,
    /// Longest duration.
    pub at_most: Duration,
}

impl Keep {
    /// Returns the indexes of all of its phases.
    pub fn parts(&self) -> impl Iterator<Item = usize> + '_ {
        std::iter::once(self.insert).chain(self.ask.iter().copied())
    }
}

/// Rows arrive at a rate from a sensor that never waits, through a bounded queue: rows that do not
/// fit are lost. They follow those of a table and are its rows repeatedly, with later times.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrive {
    /// Index of the table, whose key has a time.
    pub table: usize,
    /// Time column.
    pub time: usize,
    /// Index of the `insert` that stores rows, one per commit or a batch, in
    /// [`super::Definition::phases`].
    pub insert: usize,
    /// Rows per second.
    pub rate: u64,
    /// Largest number of rows that wait in the queue.
    pub queue: usize,
    /// `collect`: the rows of this duration are one commit, while another thread collects the next
    /// ones. `None`: the insert specifies what a commit covers.
    pub collect: Option<Duration>,
    /// Duration of the measurement.
    pub lasts: Duration,
}

impl Arrive {
    /// Returns how many rows come in a period at this many rows per second: at least one.
    pub fn rows_in(period: Duration, rate: u64) -> u64 {
        (period.as_secs_f64() * rate as f64).round().max(1.0) as u64
    }
}

/// Several phases one after the other, timed as one. Indexes refer to
/// [`super::Definition::phases`].
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// The `insert` that it begins with, into a new table: its rows are the operations. `None`: one
    /// operation is every query once.
    pub insert: Option<usize>,
    /// The queries that follow, in order.
    pub questions: Vec<usize>,
}

impl Sequence {
    /// Returns the indexes of all of its phases in order.
    pub fn steps(&self) -> impl Iterator<Item = usize> + '_ {
        self.insert.iter().chain(&self.questions).copied()
    }
}

/// Several phases at the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix {
    /// The parts.
    pub parts: Vec<Part>,
    /// Number of clients that work at the same time, in a mix by shares. In a mix by rates each
    /// part is a client.
    pub clients: u32,
    /// Duration. `None`: until `ops` are done.
    pub lasts: Option<Duration>,
    /// Whether it ends earlier if the response times of its parts are steady. Only for a mix by
    /// rates.
    pub until_steady: bool,
    /// Number of operations, in a mix by shares without a duration. The default is that of any
    /// phase.
    pub ops: u64,
}

/// A phase in a mix. An `insert` inserts rows that are reserved for it: the last ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Index of the phase in the file. It is not a mix and has no bulk path.
    pub phase: usize,
    /// How often it runs.
    pub pace: Pace,
}

/// How often a part runs. All parts of a mix have the same kind of pace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Operations per second, started on a schedule whether or not earlier ones have ended.
    Rate(f64),
    /// Share of the operations of every client. All shares add up to 1.
    Share(f64),
}

/// What a snapshot covers in a phase that reads, if it runs alone. In a mix every read has its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Snapshot {
    /// `"phase"`: all reads share one, as in a program that answers many requests at once, and in
    /// the engines' own benchmarks.
    #[default]
    Phase,
    /// `"each"`: every read has its own, as in a program that answers one request.
    Each,
}

/// How a database was left before it is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// `after = "close"`: maintained, and closed as its manual asks.
    #[default]
    Close,
    /// `after = "crash"`: like a process that dies after batches of inserts, without maintenance.
    /// Once per run.
    Crash,
    /// `after = "crash-with-log"`: the same, with every row in the log, because there was no
    /// checkpoint since the first.
    CrashWithLog,
}

/// A query in SQL.
#[derive(Clone, Debug, PartialEq)]
pub struct Sql {
    /// Text for every engine without its own.
    pub text: Option<String>,
    /// Text for an engine, by its id.
    pub by_engine: BTreeMap<String, String>,
    /// File with the right answer, as the workload file names it: CSV, with a column for each
    /// column of the result.
    pub answer: Option<PathBuf>,
    /// Whether the order of the rows is part of the answer: if the outermost query has an ORDER BY.
    pub ordered: bool,
}

/// Default of [`Mix::lasts`] with rates, and of [`Arrive::lasts`].
pub const LASTS: Duration = Duration::from_secs(30);

/// Default of [`Mix::lasts`] until it is steady, and of [`Keep::at_most`].
pub const UNTIL_STEADY: Duration = Duration::from_mins(10);
