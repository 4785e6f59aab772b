//! The folder of a site: written anew beside the one that is there, and then put in its place.

use std::fs;
use std::path::{Path, PathBuf};

use crate::ReportError;

/// The file by which a folder is known as a site of embermark, and its text.
const MARK: &str = ".embermark-site";
const MARKED: &str = "`embermark site` wrote this folder and replaces it.\n";

/// A folder that is being written. It is removed where it was not put in its place.
pub(super) struct Folder {
    new: PathBuf,
    out: PathBuf,
}

impl Folder {
    /// A new folder beside `out`, which must be a site, an empty folder, or nothing.
    ///
    /// # Errors
    /// When something else is there, or the new folder cannot be made.
    pub fn beside(out: &Path) -> Result<Self, ReportError> {
        let out = match out.exists() {
            // A link stays, and what it leads to is replaced.
            true => out.canonicalize(),
            false => std::path::absolute(out),
        };
        let out = out.map_err(|error| ReportError::Unwritable(PathBuf::from("."), error))?;
        let new = beside(&out, "new");
        // What a run left that was killed goes, too.
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

    /// Writes a file of it, in a folder there that is made where it is not yet.
    ///
    /// # Errors
    /// When that fails.
    pub fn write(&self, name: &str, text: &str) -> Result<(), ReportError> {
        let path = self.new.join(name);
        let folder = path.parent().unwrap_or(&self.new);
        fs::create_dir_all(folder).map_err(fails(folder))?;
        fs::write(&path, text).map_err(fails(&path))
    }

    /// Puts it in its place. What was there is removed after that.
    ///
    /// # Errors
    /// When a folder cannot be renamed: then what was there is there still.
    pub fn put_in_place(self) -> Result<(), ReportError> {
        let Self { new, out } = &self;
        let old = beside(out, "old");
        remove(&old)?;
        if out.exists() {
            fs::rename(out, &old).map_err(fails(out))?;
        }
        if let Err(error) = fs::rename(new, out) {
            // The error that is told is the first one.
            let _ = fs::rename(&old, out);
            return Err(fails(out)(error));
        }
        remove(&old)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // In its place it has another name. Where it cannot be removed, the next run tries again.
        let _ = remove(&self.new);
    }
}

fn fails(path: &Path) -> impl FnOnce(std::io::Error) -> ReportError + use<> {
    let path = path.to_owned();
    move |error| ReportError::Unwritable(path, error)
}

/// `.site.new` beside `site`.
fn beside(out: &Path, what: &str) -> PathBuf {
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
