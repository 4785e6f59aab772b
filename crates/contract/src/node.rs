//! An engine's client in JavaScript.

use std::path::PathBuf;

use crate::EngineError;

/// A client of an open database that Node.js runs, so that a workload can be driven from there. The
/// database is closed meanwhile, where the engine lets one process alone use it
/// ([`Reopener::reopen_after`](crate::Reopener::reopen_after)).
pub struct NodeClient {
    /// The program `node`.
    pub program: PathBuf,
    /// An ECMAScript module that imports what is Node.js's own alone. It exports `open(connection)`,
    /// which resolves to an object whose functions return promises:
    ///
    /// - `version`, a text: the client and its version.
    /// - `insertEach(table, rows, expired)`: inserts objects, one commit each, one after the other,
    ///   until `expired()`; resolves to their number.
    /// - `insertTogether(table, rows)`: the same in one commit.
    /// - `count(table, column)`: the number of values, as a query finds it.
    /// - `close()`.
    pub module: &'static str,
    /// The texts of the object that `open` is given, by their names. A password may be among them.
    pub connection: Vec<(&'static str, String)>,
}

/// That an engine has none.
pub fn none() -> EngineError {
    EngineError::impossible("embermark has no Node.js client for it")
}
