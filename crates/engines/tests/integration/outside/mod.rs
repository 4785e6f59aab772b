//! The engines of this build, and the examples of engines in libraries.

#![allow(dead_code, reason = "each test file uses its part")]

#[cfg(feature = "engine-library")]
#[path = "../../../../../examples/compiled.rs"]
pub mod compiled;

use embermark_engines::Engine;
use embermark_engines::registry::all;

/// Returns every engine.
pub fn engines() -> &'static [&'static dyn Engine] {
    #[cfg(feature = "engine-library")]
    add();
    all()
}

#[cfg(feature = "engine-library")]
fn add() {
    use std::path::Path;
    use std::sync::LazyLock;

    use embermark_engines::engine_library::{Described, add};

    static ADDED: LazyLock<()> = LazyLock::new(|| {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/integration/outside");
        let of_c = [
            compiled::logmap(),
            compiled::compiled("bare", &here.join("bare.c"), &["-lpthread"]),
            compiled::sqlite(),
            compiled::with_sqlite("sqlite-plain", &here.join("plain.c")),
        ];
        for library in of_c.into_iter().flatten().chain([compiled::redb()]) {
            let described = Described::load(&library).unwrap();
            add(described).unwrap();
        }
    });
    LazyLock::force(&ADDED);
}
