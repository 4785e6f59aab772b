//! Files as they are when they are decompressed.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::DataError;

/// How much of a text is looked at to tell what it is.
const HEAD: u64 = 256 * 1024;

/// The beginning of a file, decompressed.
pub(crate) fn head(path: &Path) -> Result<Vec<u8>, DataError> {
    let mut head = Vec::new();
    let read = text(path)?.take(HEAD).read_to_end(&mut head);
    match read {
        Ok(_) => Ok(head),
        // What is cut short is told by whoever reads it whole.
        Err(cause) if head.is_empty() => Err(unreadable(path, cause)),
        Err(_) => Ok(head),
    }
}

/// The bytes of a file, decompressed.
pub(crate) fn text(path: &Path) -> Result<Box<dyn Read>, DataError> {
    // Asked before opening: opening a pipe would wait for somebody to write to it.
    let kind = std::fs::metadata(path).map_err(|cause| unreadable(path, cause))?;
    if kind.is_dir() {
        return Err(DataError::Directory(path.to_owned()));
    }
    if !kind.is_file() {
        return Err(DataError::NotAFile(path.to_owned()));
    }
    let open = || File::open(path).map_err(|cause| unreadable(path, cause));
    let mut magic = [0; 4];
    let read = open()?.read(&mut magic).map_err(|cause| unreadable(path, cause))?;
    let file = BufReader::with_capacity(1 << 16, open()?);
    Ok(match magic[..read] {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(file)),
        [0x28, 0xb5, 0x2f, 0xfd] => {
            Box::new(zstd::Decoder::new(file).map_err(|cause| unreadable(path, cause))?)
        }
        _ => Box::new(file),
    })
}

/// Reads a compressed file to its end: DuckDB takes one that is cut short for whole.
pub(crate) fn check_whole(path: &Path) -> Result<(), DataError> {
    if compression(path)? == "none" {
        return Ok(());
    }
    let (mut text, mut piece, mut bytes) = (text(path)?, vec![0; 1 << 16], 0);
    loop {
        match text.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(read) => bytes += read as u64,
            Err(cause) => return Err(damaged(path, bytes, cause)),
        }
    }
}

/// What is wrong with a file that cannot be read on after so many bytes of its text.
pub(crate) fn damaged(path: &Path, bytes: u64, cause: io::Error) -> DataError {
    let is_plain = compression(path).is_ok_and(|of| of == "none");
    let path = path.to_owned();
    match cause.kind() {
        _ if is_plain => DataError::Unreadable { path, cause },
        io::ErrorKind::UnexpectedEof => DataError::TruncatedGzip { path, bytes },
        _ => DataError::DamagedGzip { path, bytes, cause },
    }
}

/// How DuckDB calls the compression of a file.
pub(crate) fn compression(path: &Path) -> Result<&'static str, DataError> {
    let mut magic = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read(&mut magic));
    let read = read.map_err(|cause| unreadable(path, cause))?;
    Ok(match magic[..read] {
        [0x1f, 0x8b, ..] => "gzip",
        [0x28, 0xb5, 0x2f, 0xfd] => "zstd",
        _ => "none",
    })
}

pub(crate) fn unreadable(path: &Path, cause: io::Error) -> DataError {
    let path = path.to_owned();
    match cause.kind() {
        io::ErrorKind::NotFound => DataError::NoTableFile(path),
        _ => DataError::Unreadable { path, cause },
    }
}
