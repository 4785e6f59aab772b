//! The files of the chunks.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use embermark_contract::{EngineError, Result};

use super::tables::ArchivedTable;
use crate::NAME;
use crate::shared::Shared;

/// Suffix of an incomplete file.
const PART: &str = ".part";

/// Creates the folder of the files, which then survives a power cut like them.
pub(super) fn create_folder(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(|e| EngineError::file(NAME, "make", folder, e))?;
    sync_parent(folder)
}

/// Removes files that no query reads.
pub(super) fn remove(folder: &Path, names: &[String]) -> Result<()> {
    names.iter().try_for_each(|name| {
        let path = folder.join(name);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != ErrorKind::NotFound => {
                Err(EngineError::file(NAME, "remove", path, e))
            }
            _ => Ok(()),
        }
    })
}

/// Lets `write` write a file under another name, and renames it once it is on disk. Returns its size
/// in bytes.
pub(crate) fn write_atomically(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<()>,
) -> Result<u64> {
    let mut part = path.as_os_str().to_owned();
    part.push(PART);
    let part = PathBuf::from(part);
    let written = write(&part).and_then(|()| sync_and_rename(&part, path));
    if written.is_err() {
        // The error that led here is the one to report.
        let _ = fs::remove_file(&part);
    }
    written
}

fn sync_and_rename(part: &Path, path: &Path) -> Result<u64> {
    let file = File::open(part).map_err(|e| EngineError::file(NAME, "open", part, e))?;
    file.sync_all().map_err(|e| EngineError::file(NAME, "sync", part, e))?;
    let bytes =
        file.metadata().map_err(|e| EngineError::file(NAME, "read the size of", part, e))?.len();
    fs::rename(part, path).map_err(|e| EngineError::file(NAME, "rename", part, e))?;
    sync_parent(path)?;
    Ok(bytes)
}

/// Syncs the folder that has the name of a file or folder.
fn sync_parent(path: &Path) -> Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = parent.unwrap_or(Path::new("."));
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|e| EngineError::file(NAME, "sync", folder, e))
}

/// Checks when the front is opened that every chunk has its file, and removes files without a
/// chunk.
pub(crate) fn check_files(shared: &Shared, archived: &[(u8, ArchivedTable)]) -> Result<()> {
    let folder = &shared.options.cold;
    let chunks = || archived.iter().flat_map(|(_, archived)| archived.chunks());
    for chunk in chunks() {
        let path = folder.join(&chunk.file);
        if let Err(error) = fs::metadata(&path) {
            let message = format!(
                "its {} rows are in {}, which cannot be read ({error}): put the file back, from a copy \
                 if need be",
                chunk.rows,
                path.display()
            );
            return Err(EngineError::failed(NAME, "open a cold chunk", message));
        }
    }
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_chunk_file = name.ends_with(".parquet") || name.ends_with(".parquet.part");
        if is_chunk_file && chunks().all(|chunk| chunk.file != name) {
            shared.report(&format!("{name} does not belong to a cold chunk and is removed"));
            remove(folder, &[name])?;
        }
    }
    Ok(())
}
