//! Folders of libraries and programs that `make deps` and `make servers` fetch.

use std::env;
use std::path::{Path, PathBuf};

use embermark_contract::Origin;

/// The folder in the source tree that the program was built from. `None` if it was built for a
/// package.
const SOURCES: Option<&str> = option_env!("EMBERMARK_DEPENDENCIES");

/// Returns the hint how to install a missing dependency: `make` for a program in its source tree,
/// `packaged` for a program that was built for a package.
pub const fn install_hint(make: &'static str, packaged: &'static str) -> &'static str {
    if SOURCES.is_some() { make } else { packaged }
}

/// Returns the folder of an engine's own files, which may not exist. For an installed program it is
/// `lib/embermark/ID` next to the program's `bin`, otherwise `.deps/ID` of the source tree that it
/// was built from.
pub fn folder(id: &str) -> PathBuf {
    // The path of the program has its links resolved.
    let exe = env::current_exe().ok();
    let prefix = exe.as_deref().and_then(|exe| exe.parent()?.parent());
    let installed = prefix.map(|prefix| prefix.join("lib/embermark").join(id));
    match (installed, SOURCES) {
        (Some(folder), None) => folder,
        (Some(folder), _) if folder.is_dir() => folder,
        (_, sources) => Path::new(sources.unwrap_or_default()).join(id),
    }
}

/// Returns the origin of an engine's library or program that was found at this path. `variable` is
/// the environment variable by which a user may name another. Files that were unpacked from Debian's
/// packages, without root, count as the system's version too.
pub fn origin(id: &str, path: PathBuf, variable: Option<&'static str>) -> Origin {
    let folder = folder(id);
    let is_within = path.starts_with(&folder)
        || folder.canonicalize().is_ok_and(|folder| path.starts_with(folder));
    match variable.filter(|variable| env::var_os(variable).is_some()) {
        Some(variable) => Origin::Named(variable, path),
        None if is_within && !folder.join("packages").is_file() => Origin::Fetched(path),
        None => Origin::System(path),
    }
}
