//! Templates of initialised data directories, for servers that take seconds to initialise one.

use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

use nix::unistd::syncfs;

use crate::{EngineError, Result};

/// Fills the new folder `data` with a copy of the template `name`. If this user does not have it
/// yet, `make` creates it in a folder. The name contains everything that a template depends on:
/// the engine, its version, and the settings of the initialisation.
///
/// Templates are in the user's cache folder, where one rename puts them, so that concurrent runs
/// can create the same one. Without such a folder, `data` itself is initialised.
pub(crate) fn fill(
    engine: &'static str,
    name: &str,
    data: &Path,
    mut make: impl FnMut(&Path) -> Result<()>,
) -> Result<()> {
    let Some(template) = folder().map(|folder| folder.join(name)) else { return make(data) };
    if !template.exists() && !try_to_keep(&template, &mut make)? {
        return make(data);
    }
    copy(&template, data).map_err(|error| EngineError::file(engine, "copy", template, error))
}

/// Creates a template. Returns false if it could not be stored.
fn try_to_keep(template: &Path, make: &mut impl FnMut(&Path) -> Result<()>) -> Result<bool> {
    let Some(folder) = template.parent() else { return Ok(false) };
    let Ok(unfinished) = tempfile::tempdir_in(folder) else { return Ok(false) };
    let data = unfinished.path().join("data");
    if fs::create_dir(&data).is_err() {
        return Ok(false);
    }
    make(&data)?;
    // Every later run would trust a template that a power cut emptied.
    if File::open(&data).and_then(|data| Ok(syncfs(data)?)).is_err() {
        return Ok(false);
    }
    // Another run can have been faster, and its template is as good.
    Ok(fs::rename(&data, template).is_ok() || template.exists())
}

/// Moves what a server has made in a folder of its home to a template's folder `dir`, which its user
/// may be unable to reach. Only the owner may read `dir` from then on.
pub(crate) fn take(engine: &'static str, made: &Path, dir: &Path) -> Result<()> {
    fs::set_permissions(dir, Permissions::from_mode(0o700))
        .and_then(|()| copy(made, dir))
        .and_then(|()| fs::remove_dir_all(made))
        .map_err(|error| EngineError::file(engine, "make a template in", dir, error))
}

/// Returns `$XDG_CACHE_HOME/embermark/templates`, or the same below `$HOME/.cache`, if it can be
/// created.
fn folder() -> Option<PathBuf> {
    let set = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    let folder = cache.join("embermark/templates");
    fs::create_dir_all(&folder).ok().map(|()| folder)
}

/// Copies the content of a folder into another, with owners, modes, and holes. Shares blocks if
/// the file system can.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    // `cp` cannot use a path below `/proc/self/fd`, because it does not inherit the folder.
    let (from, to) = (from.canonicalize()?, to.canonicalize()?);
    let mut command = Command::new("cp");
    command.args(["-a", "--reflink=auto", "--"]).arg(from.join(".")).arg(to);
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}
