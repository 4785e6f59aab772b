//! Where `make deps` and `make servers` put what no package of the system brings.

use std::path::PathBuf;

const DEPENDENCIES: &str = env!("EMBERMARK_DEPENDENCIES");

/// The folder of an engine's own files, whether it is there or not: `deps/ID` beside the program,
/// for an installed one, else `.deps/ID` of the source tree that it was built from.
pub(crate) fn folder(id: &str) -> PathBuf {
    let beside = std::env::current_exe().ok();
    let beside =
        beside.as_deref().and_then(|exe| exe.parent()).map(|dir| dir.join("deps").join(id));
    match beside {
        // Cargo has a folder of that name beside its programs too, with nothing of ours in it.
        Some(dir) if dir.is_dir() => dir,
        _ => PathBuf::from(DEPENDENCIES).join(id),
    }
}
