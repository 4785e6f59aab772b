//! What is between a workload and its store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use embermark_contract::Result;
use embermark_contract::sql::QueryKind;

use crate::Answers;
use crate::operations::Operations;

/// A tape. All copies share the same state.
#[derive(Clone, Debug, Default)]
pub struct Tape(Arc<Mutex<Inner>>);

/// How calls are handled, and the announced kind of statements.
#[derive(Debug, Default)]
struct Inner {
    state: State,
    expected: Option<QueryKind>,
    /// Whether the store was closed and not replaced yet.
    is_closed: bool,
}

/// How calls are handled.
#[derive(Debug, Default)]
enum State {
    /// The store executes them.
    #[default]
    Through,
    /// They are recorded. Reads also go to the store.
    Record(Operations),
    /// They get the program's answers.
    Play(Answers),
}

impl Tape {
    /// Begins to record.
    pub fn record(&self) {
        self.inner().state = State::Record(Operations::default());
    }

    /// Ends the current operation.
    pub fn end_operation(&self) {
        self.note(Operations::end_operation);
    }

    /// Returns what was recorded, and lets calls through again.
    pub fn finish_recording(&self) -> Operations {
        self.end_operation();
        match std::mem::take(&mut self.inner().state) {
            State::Record(operations) => operations,
            State::Through | State::Play(_) => Operations::default(),
        }
    }

    /// Begins to answer calls with a program's answers.
    pub fn play(&self, answers: Answers) {
        self.inner().state = State::Play(answers);
    }

    /// Ends that. Returns whether every answer was played.
    pub fn finish_playing(&self) -> bool {
        match std::mem::take(&mut self.inner().state) {
            State::Play(answers) => answers.is_over(),
            State::Through | State::Record(_) => false,
        }
    }

    /// Returns whether the store was closed since the last call.
    pub(crate) fn take_closed(&self) -> bool {
        std::mem::take(&mut self.inner().is_closed)
    }

    /// Notes that the store is about to be closed.
    pub(crate) fn close(&self) {
        self.inner().is_closed = true;
    }

    /// Notes the announced kind of statements.
    pub(crate) fn expect(&self, kind: QueryKind) {
        self.inner().expected = Some(kind);
    }

    /// Returns the last announced kind of statements, for a program: `point` or `analytic`.
    pub fn expected(&self) -> &'static str {
        match self.inner().expected {
            Some(QueryKind::Analytic) => "analytic",
            Some(QueryKind::Point) | None => "point",
        }
    }

    /// One thread works at a time, so a lock that a panic left is fine.
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds to what is recorded, if calls are recorded.
    pub(crate) fn note(&self, add: impl FnOnce(&mut Operations)) {
        if let State::Record(operations) = &mut self.inner().state {
            add(operations);
        }
    }

    /// Plays an answer. Returns nothing if no answers are played.
    pub(crate) fn answer<T: Default>(
        &self,
        play: impl FnOnce(&mut Answers) -> Result<T>,
    ) -> Result<T> {
        match &mut self.inner().state {
            State::Play(answers) => play(answers),
            State::Through | State::Record(_) => Ok(T::default()),
        }
    }

    /// Takes rows of a load until `next` has none. While rows are recorded, `next` gets the
    /// operations, with each row as its own call. Returns the number of rows, or the number that
    /// the program reports to have loaded.
    pub(crate) fn load(
        &self,
        mut next: impl FnMut(Option<&mut Operations>) -> bool,
    ) -> Result<u64> {
        let (mut inner, mut given) = (self.inner(), 0);
        if let State::Record(operations) = &mut inner.state {
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
        match &mut inner.state {
            State::Play(answers) if given > 0 => answers.loaded(),
            _ => Ok(given),
        }
    }

    /// Returns how calls are handled.
    pub(crate) fn mode(&self) -> Mode {
        match &self.inner().state {
            State::Through => Mode::Through,
            State::Record(_) => Mode::Record,
            State::Play(_) => Mode::Play,
        }
    }
}

/// A [`State`] without its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Through,
    Record,
    Play,
}
