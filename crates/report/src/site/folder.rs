//! The folder of a site. It is written next to the existing one, and then replaces it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::ReportError;

/// Name and text of the file that marks a folder as a site of embermark.
const MARK: &str = ".embermark-site";
const MARKED: &str = "`embermark site` wrote this folder and replaces it.\n";

/// A folder that is being written. It is removed unless it is put in its place.
pub(super) struct Folder {
    new: PathBuf,
    out: PathBuf,
}

impl Folder {
    /// Makes a new folder next to `out`, which must be a site, an empty folder, or missing.
    ///
    /// # Errors
    /// If something else is there, or if the new folder cannot be made.
    pub fn next_to(out: &Path) -> Result<Self, ReportError> {
        // A symbolic link stays, and its target is replaced.
        let out = if out.exists() { out.canonicalize() } else { std::path::absolute(out) };
        let out = out.map_err(|error| ReportError::Unwritable(PathBuf::from("."), error))?;
        let new = sibling(&out, "new");
        // A folder that a killed run left is removed.
        for path in [&out, &new] {
            if !may_be_replaced(path) {
                return Err(ReportError::NotASite(path.clone()));
            }
        }
        remove(&new)?;
        let folder = Self { new, out };
        folder.write(MARK, MARKED)?;
        Ok(folder)
    }

    /// Writes a file, and makes its folder if it does not exist.
    ///
    /// # Errors
    /// If that fails.
    pub fn write(&self, name: &str, text: &str) -> Result<(), ReportError> {
        let path = self.new.join(name);
        let folder = path.parent().unwrap_or(&self.new);
        fs::create_dir_all(folder).map_err(fails(folder))?;
        fs::write(&path, text).map_err(fails(&path))
    }

    /// Puts the folder in its place, and then removes the old one.
    ///
    /// # Errors
    /// If a folder cannot be renamed. The old one is then still there.
    pub fn put_in_place(self) -> Result<(), ReportError> {
        let Self { new, out } = &self;
        let old = sibling(out, "old");
        remove(&old)?;
        if out.exists() {
            fs::rename(out, &old).map_err(fails(out))?;
        }
        if let Err(error) = fs::rename(new, out) {
            // The first error is reported.
            let _ = fs::rename(&old, out);
            return Err(fails(out)(error));
        }
        remove(&old)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder in its place no longer has this name. If it cannot be removed, the next run
        // tries again.
        let _ = remove(&self.new);
    }
}

fn fails(path: &Path) -> impl FnOnce(std::io::Error) -> ReportError + use<> {
    let path = path.to_owned();
    move |error| ReportError::Unwritable(path, error)
}

/// Returns a path like `.site.new` next to `site`.
fn sibling(out: &Path, what: &str) -> PathBuf {
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    out.with_file_name(format!(".{name}.{what}"))
}

/// Whether a path is a site, an empty folder, or nothing.
fn may_be_replaced(path: &Path) -> bool {
    match fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_none() || path.join(MARK).is_file(),
        Err(_) => !path.exists(),
    }
}

/// Removes a site, if there is one.
fn remove(path: &Path) -> Result<(), ReportError> {
    if path.exists() && may_be_replaced(path) {
        fs::remove_dir_all(path).map_err(fails(path))?;
    }
    Ok(())
}
