//! Reads files that may be compressed.

use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::DataError;

/// Largest number of bytes of text that [`head`] returns. They are enough to recognise a format.
const HEAD: u64 = 256 * 1024;

/// Compressions that embermark reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Compression {
    /// Returns the name that DuckDB's readers of CSV and JSON use.
    pub(crate) const fn duckdb_name(self) -> &'static str {
        match self {
            Self::None => "uncompressed",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// Returns the beginning of a file, decompressed.
pub(crate) fn head(path: &Path) -> Result<Vec<u8>, DataError> {
    let mut head = Vec::new();
    let read = open_text(path)?.take(HEAD).read_to_end(&mut head);
    match read {
        Ok(_) => Ok(head),
        // A truncated file is reported when it is read to its end.
        Err(cause) if head.is_empty() => Err(unreadable(path, cause)),
        Err(_) => Ok(head),
    }
}

/// Refuses what is not a regular file.
pub(crate) fn check_regular(path: &Path, kind: &Metadata) -> Result<(), DataError> {
    match kind.is_file() {
        true => Ok(()),
        false if kind.is_dir() => Err(DataError::Folder(path.to_owned())),
        false => Err(DataError::NotAFile(path.to_owned())),
    }
}

/// Opens a file for reading, decompressed if it is compressed.
pub(crate) fn open_text(path: &Path) -> Result<Box<dyn Read>, DataError> {
    // Checked before opening, because opening a pipe would wait for a writer.
    let kind = std::fs::metadata(path).map_err(|cause| unreadable(path, cause))?;
    check_regular(path, &kind)?;
    let mut file = open(path)?;
    Ok(match detect_open(path, &mut file)? {
        Compression::None => Box::new(file),
        Compression::Gzip => Box::new(MultiGzDecoder::new(file)),
        Compression::Zstd => {
            let decoder = zstd::Decoder::with_buffer(file);
            Box::new(decoder.map_err(|cause| unreadable(path, cause))?)
        }
    })
}

/// Reads a compressed file to its end, because DuckDB 1.5 does not notice that one is truncated.
pub(crate) fn check_complete(path: &Path) -> Result<(), DataError> {
    if detect(path)? == Compression::None {
        return Ok(());
    }
    let (mut text, mut piece, mut bytes) = (open_text(path)?, vec![0; 1 << 16], 0);
    loop {
        match text.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(read) => bytes += read as u64,
            Err(cause) => return Err(damaged(path, bytes, cause)),
        }
    }
}

/// Returns the error for a file whose reading failed after `bytes` bytes of its text.
pub(crate) fn damaged(path: &Path, bytes: u64, cause: io::Error) -> DataError {
    let is_plain = detect(path).is_ok_and(|compression| compression == Compression::None);
    let path = path.to_owned();
    match cause.kind() {
        _ if is_plain => DataError::Unreadable { path, cause },
        io::ErrorKind::UnexpectedEof => DataError::TruncatedCompression { path, bytes },
        _ => DataError::DamagedCompression { path, bytes, cause },
    }
}

/// Recognises the compression of a file by its first bytes.
pub(crate) fn detect(path: &Path) -> Result<Compression, DataError> {
    detect_open(path, &mut open(path)?)
}

/// Recognises the compression of a file that is open at its beginning.
fn detect_open(path: &Path, file: &mut BufReader<File>) -> Result<Compression, DataError> {
    Ok(match file.fill_buf().map_err(|cause| unreadable(path, cause))? {
        [0x1f, 0x8b, ..] => Compression::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Compression::Zstd,
        _ => Compression::None,
    })
}

fn open(path: &Path) -> Result<BufReader<File>, DataError> {
    let file = File::open(path).map_err(|cause| unreadable(path, cause))?;
    Ok(BufReader::with_capacity(1 << 16, file))
}

pub(crate) fn unreadable(path: &Path, cause: io::Error) -> DataError {
    let path = path.to_owned();
    match cause.kind() {
        io::ErrorKind::NotFound => DataError::NoTableFile(path),
        _ => DataError::Unreadable { path, cause },
    }
}
