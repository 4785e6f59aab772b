//! What a database holds between phases: brought to the state in which the next one begins.

use embermark_contract::EngineError;

/// What a database holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Not every row is there as it was loaded.
    Dirty,
    /// Every row is.
    Loaded,
    /// And maintenance was done since.
    Maintained,
}

/// A database whose phases find every row, or change rows.
pub(crate) trait Loads {
    /// What it holds.
    fn state(&mut self) -> &mut State;

    /// Empties it and loads every row by the fastest path.
    fn load_all(&mut self) -> Result<(), EngineError>;

    /// The engine's own maintenance.
    fn maintain(&mut self) -> Result<(), EngineError>;

    /// Loads every row anew and does maintenance, whatever it holds: so that all runs of a phase
    /// that changes rows find the same.
    fn rebuild(&mut self) -> Result<(), EngineError> {
        *self.state() = State::Dirty;
        self.load_all()?;
        *self.state() = State::Loaded;
        self.make_ready()
    }

    /// Does what is missing until every row is there, and maintenance done.
    fn make_ready(&mut self) -> Result<(), EngineError> {
        match *self.state() {
            State::Dirty => self.rebuild(),
            State::Loaded => self.maintain_as_left(),
            State::Maintained => Ok(()),
        }
    }

    /// Maintenance of what a phase has left.
    fn maintain_as_left(&mut self) -> Result<(), EngineError> {
        self.maintain()?;
        if *self.state() == State::Loaded {
            *self.state() = State::Maintained;
        }
        Ok(())
    }
}
