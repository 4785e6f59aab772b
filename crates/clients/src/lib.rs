//! Programs in other languages that do the work of a phase in place of this one.
//!
//! A [`Tape`] lies between a workload and its store. While it records, the calls of a phase go to the tape as
//! [`Operations`], and those that read go to the store as well, so that a workload whose next call depends on an answer
//! makes the right one. A [`Process`] then does the same calls with the same values by its own clock, on the database
//! that this process has closed meanwhile. What it [answered](Answers) is played: the workload makes its calls once
//! more, gets the program's answers in place of the store's, and checks them as it checks every answer.
//!
//! `docs/clients.md` describes what passes between the two for whoever writes a program in a further language.

mod answers;
mod between;
mod bindings;
mod document;
mod kv;
mod lifecycle;
mod operations;
mod process;
mod program;
mod sql;
mod tape;

pub use answers::Answers;
pub use bindings::snippet;
pub use operations::Operations;
pub use process::{Done, Process, Run, become_program};
pub use program::{Command, Program};
pub use tape::Tape;
