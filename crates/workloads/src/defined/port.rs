//! What the workload needs of a database, in its own words: one implementation a family.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, Hash as _, Hasher as _};
use std::ops::Range;
use std::sync::Arc;

use embermark_contract::sql::CsvFile;
use embermark_contract::{EngineError, Lifecycle, Meanwhile, Result, Scope};
use embermark_language::Keep;
use embermark_meter::Meter;
use embermark_model::answer;
use embermark_model::fingerprint::{Checksum, Fingerprint};
use embermark_model::result::Execution;
use embermark_model::table::Value;

use super::arena::Arena;
use crate::strategy::Part;

/// The tables of a workload file in a database. Phases and tables are named by their places in the
/// file; which rows, keys and values an operation has, the [cell](super::cell::Cell) says, which every
/// implementation is made with.
pub(super) trait Database {
    /// What every family has.
    fn lifecycle(&mut self) -> &mut dyn Lifecycle;

    /// Who does a phase: the engine, or code of ours over its rows.
    ///
    /// # Errors
    /// Unsupported where this family, or this engine, cannot say it, with the words why. Never asked of a
    /// mix.
    fn execution(&self, phase: usize) -> Result<Execution>;

    /// Who did most of the operations of a phase since it was ready, where either of two copies could have.
    fn answered_by(&self, _phase: usize) -> Option<Execution> {
        None
    }

    /// Whether it tells how many rows an operation changed.
    fn tells_changes(&self) -> bool {
        true
    }

    /// Makes a table and its indexes anew, empty.
    fn clear(&mut self, table: usize) -> Result<()>;

    /// Opens the tables as they are, of a further client or after the database was opened again.
    fn attach(&mut self) -> Result<()>;

    /// Lays out what these operations of a phase need. Outside the clock.
    fn lay_out(&self, phase: usize, operations: Range<usize>, arena: &mut Arena);

    /// Takes what was laid out for the phases that are about to be ready, and lets go of what was before.
    fn take(&mut self, arena: Arc<Arena>);

    /// What a row counts as in what a phase finds, [`Found::rows`]: by the bytes of its pair, or `None`: by
    /// the values that the phase reads.
    fn print(&self, _phase: usize, _row: &[Value<'_>]) -> Option<Fingerprint> {
        None
    }

    /// Prepares what an operation of the phase runs, in a run whose settings are those of `lead`: the same phase, or
    /// the insert that a sequence begins with. Outside the clock.
    fn ready(&mut self, phase: usize, lead: usize) -> Result<()>;

    /// Loads the first rows of a table by the engine's fastest path, as long as the meter has time, and
    /// counts them in it; how many there were. Those of a phase may have been laid out.
    fn bulk(
        &mut self,
        table: usize,
        rows: usize,
        phase: Option<usize>,
        meter: &mut Meter,
    ) -> Result<u64>;

    /// Puts rows of a table in that are not there, all at once, as one commit where the engine has transactions; how
    /// many it says there were. Those of a phase may have been laid out.
    fn batch(&mut self, table: usize, rows: Range<usize>, phase: Option<usize>) -> Result<u64>;

    /// Whether the engine itself puts the rows of a CSV file in.
    fn loads_csv(&self) -> bool {
        false
    }

    /// Has it do so, into an empty table; how many rows it says that there were.
    ///
    /// # Errors
    /// Unsupported where it does not.
    fn load_csv(&mut self, _table: usize, _file: &CsvFile<'_>) -> Result<u64> {
        Err(EngineError::unsupported("this engine", "to load a CSV file by itself"))
    }

    /// Whether old rows of a table can go by such steps of time here.
    ///
    /// # Errors
    /// Unsupported, with the words why.
    fn keeps(&self, _keep: &Keep) -> Result<()> {
        Ok(())
    }

    /// Makes a table anew, empty, of which a window is kept, with the place of its first stretch of time.
    fn clear_kept(&mut self, keep: &Keep, first: &Stretch) -> Result<()>;

    /// A stretch of time begins: its place is made where there are places of stretches. Not of the first.
    fn begin(&mut self, _keep: &Keep, _stretch: &Stretch) -> Result<()> {
        Ok(())
    }

    /// The rows of a stretch of time go, the oldest that are there, by what the engine's manual has for that.
    fn expire(&mut self, keep: &Keep, stretch: &Stretch) -> Result<()>;

    /// By which means they go, for a reader.
    fn expires_by(&self, keep: &Keep) -> String;

    /// Checkpoints that the engine has begun, where it counts them.
    fn checkpoints(&mut self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// How many rows a table has, where the engine is quick to tell.
    fn count(&mut self, table: usize) -> Result<Option<u64>>;

    /// Makes the words of question `i` of a phase anew, where they say how new rows are. Outside the clock.
    fn word(&mut self, _phase: usize, _i: usize) {}

    /// What plan the engine has for the query of a phase, as it tells it; `None` where it tells none or the phase has none. Outside
    /// the clock.
    fn plan(&mut self, _phase: usize) -> Result<Option<String>> {
        Ok(None)
    }

    /// Enters a scope for the `work` of a phase, which is called once, and ends it.
    fn within(&mut self, phase: usize, scope: Scope, work: &mut SessionWork<'_>) -> Result<()>;

    /// Waits until all that was written can be read. Inside the clock.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// Visits every row of a table, in any order: its values in the order of the columns.
    fn contents(&mut self, table: usize, visit: &mut VisitRow<'_>) -> Result<()>;

    /// The columns of an index of a table that the engine does not know of, by its own catalog; `None`: there is
    /// none such, or nothing that tells.
    fn lacks_index(&mut self, _table: usize) -> Result<Option<String>> {
        Ok(None)
    }

    /// Closes the database and opens it again; [`ready`](Self::ready) follows.
    fn reopen(&mut self) -> Result<()> {
        self.reopen_after(&mut || Ok(()))
    }

    /// The same, with something done in between, while another process may have the database alone.
    fn reopen_after(&mut self, meanwhile: &mut Meanwhile<'_>) -> Result<()>;

    /// Closes the database.
    fn close(self: Box<Self>) -> Result<()>;
}

/// Lays out what these operations need, each of its phase, in place of what was laid out before. Outside the clock.
pub(super) fn lay_out(
    database: &mut dyn Database,
    arena: &mut Arc<Arena>,
    phases: impl IntoIterator<Item = (usize, Range<usize>)>,
) {
    database.take(Arc::default());
    let mut own = Arc::try_unwrap(std::mem::take(arena)).unwrap_or_default();
    own.clear();
    for (phase, operations) in phases {
        database.lay_out(phase, operations, &mut own);
    }
    *arena = Arc::new(own);
    database.take(Arc::clone(arena));
}

/// A stretch of time, of rows that go as a whole, in the unit of their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    /// Counted from 1970: the next one has the next number.
    pub number: i64,
    /// Its first time.
    pub from: i64,
    /// The first time after it.
    pub to: i64,
}

/// What is done in a scope.
pub(super) type SessionWork<'a> = dyn FnMut(&mut dyn Session) -> Result<()> + 'a;

/// Receives the rows of a table.
pub(super) type VisitRow<'a> = dyn FnMut(&[Value<'_>]) + 'a;

/// A scope that is entered.
pub(super) trait Session {
    /// Does operation `i` of a phase and adds what it finds. Of an `insert` that is the row of that place,
    /// of a question the whole question: what an earlier one found of it goes.
    fn perform(&mut self, phase: usize, i: usize, found: &mut Found) -> Result<()>;

    /// Finds the rows that meet the conditions of a phase, which [`change`](Self::change) then changes; how many.
    /// What was found is kept until the next phase looks.
    fn look(&mut self, phase: usize) -> Result<usize>;

    /// Changes the `n`th row that a phase has found, and counts it, if it is there.
    fn change(&mut self, phase: usize, n: usize, found: &mut Found) -> Result<()>;

    /// Changes many of the rows that a phase has found, as [`change`](Self::change) does one; how many were done.
    fn change_each(&mut self, phase: usize, part: Shared<'_>, found: &mut Found) -> Result<u64> {
        part.each(|n| self.change(phase, n, found))
    }

    /// Does many operations of a phase, as [`perform`](Self::perform) does one; how many were done.
    fn each(&mut self, phase: usize, part: Shared<'_>, found: &mut Found) -> Result<u64> {
        part.each(|i| self.perform(phase, i, found))
    }
}

/// Operations one after the other.
pub(super) trait Steps {
    /// Does each of them; how many were done.
    fn each(self, op: impl FnMut(usize) -> Result<()>) -> Result<u64>;
}

/// A part of a run's operations, those of one client of several: every `clients`-th from `client` on.
pub(super) struct Shared<'a> {
    pub part: Part<'a>,
    pub client: usize,
    pub clients: usize,
}

impl<'a> Shared<'a> {
    /// That of the only client.
    pub(super) const fn alone(part: Part<'a>) -> Self {
        Self { part, client: 0, clients: 1 }
    }
}

impl Steps for Shared<'_> {
    #[inline]
    fn each(self, mut op: impl FnMut(usize) -> Result<()>) -> Result<u64> {
        let Self { part, client, clients } = self;
        part.each(|i| op(client + i * clients))
    }
}

/// One operation.
pub(super) struct One(pub usize);

impl Steps for One {
    #[inline]
    fn each(self, mut op: impl FnMut(usize) -> Result<()>) -> Result<u64> {
        op(self.0).map(|()| 1)
    }
}

/// What operations found. Questions replace what the one before has found; the rest adds up.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Found {
    /// Rows read.
    pub rows: Checksum,
    /// Rows changed or deleted, where the engine tells; a row that was not there is none.
    pub changed: u64,
    /// The result of a question, row after row.
    pub result: Vec<answer::Value>,
    /// How many columns it has, where only the engine knows.
    pub columns: usize,
    /// Where the result of each question ends, of those that are asked one after the other.
    pub ends: Vec<usize>,
    /// Whether changes were sent without waiting for the answer to each.
    pub pipelined: bool,
    /// Whether there are more rows to change or delete than the transactions before took: the next one goes on.
    pub more: bool,
}

/// What the requests of a question found that was asked again and again: each different answer once.
#[derive(Debug, Default)]
pub(super) struct Different {
    digests: HashSet<u64>,
    /// With the number of the request.
    answers: Vec<(usize, Found)>,
}

/// The most that are kept: what is added up in another order each time is another answer each time.
const MOST_KEPT: usize = 256;

impl Different {
    /// Takes down what a request found, where no one before has found the same.
    #[inline]
    pub(super) fn see(&mut self, request: usize, found: &Found) {
        if self.answers.len() < MOST_KEPT && self.digests.insert(found.digest()) {
            self.answers.push((request, found.clone()));
        }
    }

    /// Forgets them.
    pub(super) fn clear(&mut self) {
        self.digests.clear();
        self.answers.clear();
    }

    /// Each with the number of its request.
    pub(super) fn answers(&self) -> &[(usize, Found)] {
        &self.answers
    }
}

impl Found {
    /// A hash of all that was found.
    pub(super) fn digest(&self) -> u64 {
        let mut hash = foldhash::fast::FixedState::default().build_hasher();
        (self.rows.rows, self.rows.sum, self.changed, self.columns, &self.ends).hash(&mut hash);
        for value in &self.result {
            match value {
                answer::Value::Int(value) => (0, value).hash(&mut hash),
                answer::Value::Float(value) => (1, value.to_bits()).hash(&mut hash),
                answer::Value::Text(value) => (2, value).hash(&mut hash),
                // The others are of answers that are computed.
                answer::Value::Null | answer::Value::Unit(_) | answer::Value::Any => {
                    3.hash(&mut hash);
                }
            }
        }
        hash.finish()
    }

    /// Has found nothing, and keeps its room.
    pub(super) fn empty(&mut self) {
        (self.rows, self.changed) = (Checksum::default(), 0);
        self.result.clear();
        self.ends.clear();
        (self.pipelined, self.more) = (false, false);
    }
}

/// A fingerprint with one more value of a row.
#[inline]
pub(super) fn with(print: Fingerprint, value: Value<'_>) -> Fingerprint {
    match value {
        Value::Null => print.int(i64::MIN + 1),
        Value::Int(value) => print.int(value),
        Value::Float(value) => print.int((value + 0.0).to_bits().cast_signed()),
        Value::Text(text) => print.text(text),
        Value::Bytes(bytes) => print.bytes(bytes),
    }
}

/// The fingerprint of a row's values.
pub(super) fn fingerprint<'a>(values: impl IntoIterator<Item = Value<'a>>) -> Fingerprint {
    values.into_iter().fold(Fingerprint::default(), with)
}
