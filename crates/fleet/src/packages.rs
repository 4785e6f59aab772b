//! The packages for devices: `embermark-VERSION-linux-ARCHITECTURE.tar.zst`, as `make dist` makes
//! them.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::error::at;
use crate::{FleetError, Result};

/// Folder of a fleet's packages.
pub(crate) const FOLDER: &str = "packages";

/// Returns the packages in a folder, in the order of names.
pub(crate) fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|why| match why.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            FleetError::NoPackages(folder.to_owned())
        }
        _ => at(folder)(why),
    })?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(at(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_package = name.starts_with("embermark-") && name.contains("-linux-");
        if is_package && (name.ends_with(".tar.zst") || name.ends_with(".tar.gz")) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Recompresses each package with gzip, which every device can unpack, unlike zstd. The new file is
/// next to the package and has its time, so that it follows a package that is replaced by an older
/// one.
pub(crate) fn prepare(folder: &Path) -> Result<()> {
    let found = list(folder)?;
    if found.is_empty() {
        return Err(FleetError::NoPackages(folder.to_owned()));
    }
    let zst = found.iter().filter(|path| path.extension().is_some_and(|end| end == "zst"));
    for from in zst {
        let to = from.with_extension("gz");
        let time = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
        if time(&to).is_some_and(|made| Some(made) == time(from)) {
            continue;
        }
        recompress(from, &to).map_err(|error| FleetError::Package(from.clone(), error))?;
    }
    Ok(())
}

fn recompress(from: &Path, to: &Path) -> io::Result<()> {
    // Completely or not at all.
    let mut new = tempfile::NamedTempFile::new_in(to.parent().unwrap_or(Path::new(".")))?;
    let mut tar = zstd::Decoder::new(BufReader::new(File::open(from)?))?;
    let mut gz = GzEncoder::new(BufWriter::new(new.as_file_mut()), Compression::fast());
    io::copy(&mut tar, &mut gz)?;
    gz.finish()?.flush()?;
    new.as_file().set_modified(fs::metadata(from)?.modified()?)?;
    new.persist(to).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn an_older_package_that_is_put_back_is_the_one_for_the_devices() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("embermark-0.1.0-linux-x86_64.tar.zst");
        let prepared = |content: &str, age: Duration| {
            fs::write(&package, zstd::encode_all(content.as_bytes(), 1).unwrap()).unwrap();
            let file = File::options().write(true).open(&package).unwrap();
            file.set_modified(SystemTime::now() - age).unwrap();
            prepare(folder.path()).unwrap();
            let gz = File::open(package.with_extension("gz")).unwrap();
            io::read_to_string(GzDecoder::new(gz)).unwrap()
        };
        assert_eq!(prepared("new", Duration::ZERO), "new");
        assert_eq!(prepared("old", Duration::from_secs(86_400)), "old");
    }
}
