//! Initialised data directories, kept where initialising one takes seconds.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

use nix::unistd::syncfs;

use crate::{EngineError, Result};

/// Fills the new directory `data` with a copy of the template `name`, which `make` creates in the
/// directory it is given if this user has none yet. A name says everything that a template depends
/// on: the engine, its version, settings of the initialisation.
///
/// Templates lie in the user's cache folder and are put there by one rename, so that runs side by
/// side may make the same. Where no such folder can be had, `data` itself is initialised.
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

/// Makes a template; false where it could not be kept.
fn try_to_keep(template: &Path, make: &mut impl FnMut(&Path) -> Result<()>) -> Result<bool> {
    let Some(folder) = template.parent() else { return Ok(false) };
    let Ok(unfinished) = tempfile::tempdir_in(folder) else { return Ok(false) };
    let data = unfinished.path().join("data");
    if fs::create_dir(&data).is_err() {
        return Ok(false);
    }
    make(&data)?;
    // A template that a power cut emptied would look whole to every later run.
    if File::open(&data).and_then(|data| Ok(syncfs(data)?)).is_err() {
        return Ok(false);
    }
    // Another run may have been faster: its template is as good.
    Ok(fs::rename(&data, template).is_ok() || template.exists())
}

/// `$XDG_CACHE_HOME/embermark/templates`, or the same below `$HOME/.cache`, if it can be had.
fn folder() -> Option<PathBuf> {
    let set = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    let folder = cache.join("embermark/templates");
    fs::create_dir_all(&folder).ok().map(|()| folder)
}

/// Copies what is in one directory into another, with owners, modes and holes; where the file
/// system can, by sharing blocks.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    // A path below `/proc/self/fd` means nothing to `cp`, which inherits no directory of ours.
    let (from, to) = (from.canonicalize()?, to.canonicalize()?);
    let mut command = Command::new("cp");
    command.args(["-a", "--reflink=auto", "--"]).arg(from.join(".")).arg(to);
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}
