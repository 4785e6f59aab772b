//! Programs in other languages that do the work of a phase instead of this one.
//!
//! A [`Tape`] is between a workload and its store. While it records, the calls of a phase go to the
//! tape as [`Operations`]. Reads also go to the store, so that a workload whose next call depends
//! on an answer makes the right one. A [`Process`] then makes the same calls with the same values
//! by its own clock, on the database, which this process has closed meanwhile. Its
//! [answers](Answers) are played: the workload makes its calls again, gets the program's answers
//! instead of the store's, and checks them like every answer.
//!
//! `docs/client-protocol.md` describes the protocol for authors of programs in further languages.

mod answers;
mod bindings;
mod document;
mod kv;
mod operations;
mod process;
mod program;
mod sql;
mod tape;
mod taped;

pub use answers::Answers;
pub use bindings::snippet;
pub use operations::Operations;
pub use process::{Done, Process, Run, become_program};
pub use program::{Command, Program};
pub use tape::Tape;
