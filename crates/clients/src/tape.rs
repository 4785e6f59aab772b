//! What lies between a workload and its store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use embermark_contract::Result;
use embermark_contract::sql::QueryKind;

use crate::Answers;
use crate::operations::Operations;

/// A tape, of which every copy is the same.
#[derive(Clone, Debug, Default)]
pub struct Tape(Arc<Mutex<Inner>>);

/// What happens to calls, and what the engine was told to expect.
#[derive(Debug, Default)]
struct Inner {
    state: State,
    expected: Option<QueryKind>,
    /// Whether the store was closed, and no other has taken its place.
    is_closed: bool,
}

/// What happens to calls.
#[derive(Debug, Default)]
pub(crate) enum State {
    /// The store does them.
    #[default]
    Through,
    /// They are recorded; those that read go to the store as well.
    Record(Operations),
    /// They are answered as the program answered them.
    Play(Answers),
}

impl Tape {
    /// Begins to record.
    pub fn record(&self) {
        self.inner().state = State::Record(Operations::default());
    }

    /// The operation under way is whole.
    pub fn end_operation(&self) {
        if let State::Record(operations) = &mut self.inner().state {
            operations.end_operation();
        }
    }

    /// What was recorded; calls go through again.
    pub fn recorded(&self) -> Operations {
        self.end_operation();
        match std::mem::take(&mut self.inner().state) {
            State::Record(operations) => operations,
            State::Through | State::Play(_) => Operations::default(),
        }
    }

    /// Begins to answer calls as a program did.
    pub fn play(&self, answers: Answers) {
        self.inner().state = State::Play(answers);
    }

    /// Ends that; whether every answer was played.
    pub fn played(&self) -> bool {
        match std::mem::take(&mut self.inner().state) {
            State::Play(answers) => answers.is_over(),
            State::Through | State::Record(_) => false,
        }
    }

    /// Returns whether the store was closed since the last call.
    pub(crate) fn take_closed(&self) -> bool {
        std::mem::take(&mut self.inner().is_closed)
    }

    /// The store is about to be closed.
    pub(crate) fn close(&self) {
        self.inner().is_closed = true;
    }

    /// The store was told to expect such statements.
    pub(crate) fn expect(&self, kind: QueryKind) {
        self.inner().expected = Some(kind);
    }

    /// What statements the store was last told to expect, for a program: `point` or `analytic`.
    pub fn expected(&self) -> &'static str {
        match self.inner().expected {
            Some(QueryKind::Analytic) => "analytic",
            Some(QueryKind::Point) | None => "point",
        }
    }

    /// One thread works at a time: a lock that a panic left is as good as another.
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with what happens to calls.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.inner().state)
    }

    /// Takes rows of a load until `next` has none. `next` is given the operations where rows are recorded, each as a call
    /// of its own. Returns how many rows there were, or how many the program says that it loaded.
    pub(crate) fn load(
        &self,
        mut next: impl FnMut(Option<&mut Operations>) -> bool,
    ) -> Result<u64> {
        self.with(|state| {
            let mut given = 0;
            if let State::Record(operations) = state {
                operations.begin_load();
                while next(Some(operations)) {
                    operations.end_operation();
                    given += 1;
                }
                return Ok(given);
            }
            while next(None) {
                given += 1;
            }
            match state {
                State::Play(answers) if given > 0 => answers.loaded(),
                _ => Ok(given),
            }
        })
    }

    /// What happens to calls.
    pub(crate) fn mode(&self) -> Mode {
        match &self.inner().state {
            State::Through => Mode::Through,
            State::Record(_) => Mode::Record,
            State::Play(_) => Mode::Play,
        }
    }
}

/// A [`State`] without what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Through,
    Record,
    Play,
}
