//! Where `make deps` and `make servers` put what no package of the system brings.

use std::env;
use std::path::PathBuf;

use crate::Origin;

const DEPENDENCIES: &str = env!("EMBERMARK_DEPENDENCIES");

/// The folder of an engine's own files, whether it is there or not: `deps/ID` beside the program,
/// for an installed one, else `.deps/ID` of the source tree that it was built from.
pub(crate) fn folder(id: &str) -> PathBuf {
    let beside = env::current_exe().ok();
    let beside =
        beside.as_deref().and_then(|exe| exe.parent()).map(|dir| dir.join("deps").join(id));
    match beside {
        // Cargo has a folder of that name beside its programs too, with nothing of ours in it.
        Some(dir) if dir.is_dir() => dir,
        _ => PathBuf::from(DEPENDENCIES).join(id),
    }
}

/// Where a library or a program of an engine comes from that was found at this path. `variable` is the
/// one that a user may name another by. What was unpacked of Debian's packages, for want of root, is the
/// system's version too.
pub(crate) fn origin(id: &str, path: PathBuf, variable: Option<&'static str>) -> Origin {
    let folder = folder(id);
    let is_within = path.starts_with(&folder)
        || folder.canonicalize().is_ok_and(|folder| path.starts_with(folder));
    match variable.filter(|variable| env::var_os(variable).is_some()) {
        Some(variable) => Origin::Named(variable, path),
        None if is_within && !folder.join("packages").is_file() => Origin::Fetched(path),
        None => Origin::System(path),
    }
}
