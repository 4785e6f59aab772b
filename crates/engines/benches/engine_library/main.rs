//! What the C interface of engines in libraries costs: the same calls of the same engine, compiled in and in a
//! library. `null` and `null-sql` do nothing, so that nothing but the interface is left; redb
//! (`examples/engine-rust`) is driven by the same code both ways, SQLite (`examples/engine-sql-c`) by the same calls,
//! but the library's is the system's, of another version.
//!
//! Both take turns, so that the machine's moods hit them alike; printed is the difference for each call, the
//! median over the turns with its quartiles. It should not be above 10 ns.

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
        add(Described::of(&library).unwrap()).unwrap();
    }
    key_value::measure();
    sql::measure(sqlite.is_some());
}
