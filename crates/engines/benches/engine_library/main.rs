//! The cost of the C interface of engines in libraries: the same calls of the same engine, compiled
//! in and in a library. `null` and `null-sql` do nothing, so that only the interface is left. redb
//! (`examples/engine-rust`) is driven by the same code both ways, and SQLite
//! (`examples/engine-sql-c`) by the same calls, but the library's is the system's, which is another
//! version.
//!
//! The two take turns, so that changes of the machine's speed affect both. The output is the
//! difference for each call, as the median over the turns with its quartiles. It should not be
//! above 10 ns.

#![allow(clippy::unwrap_used, reason = "a benchmark has nobody to hand an error to")]

#[path = "../../../../examples/compiled.rs"]
mod compiled;
mod key_value;
mod sql;
mod turns;

use std::path::Path;

use embermark_engines::engine_library::{Described, add};

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/engine_library");
    let [null, null_sql] = ["null", "null_sql"]
        .map(|name| compiled::compiled(name, &here.join(name).with_extension("c"), &[]));
    let (Some(null), Some(null_sql)) = (null, null_sql) else { return };
    let sqlite = compiled::sqlite();
    for library in [null, null_sql, compiled::redb()].into_iter().chain(sqlite.clone()) {
        add(Described::load(&library).unwrap()).unwrap();
    }
    key_value::measure();
    sql::measure(sqlite.is_some());
}
