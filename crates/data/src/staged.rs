//! Rows in a file that worker processes map, so that a million rows are made once and shared.
//!
//! The layout is this build's own and is not kept compatible: a header of 32 bytes, then the
//! readings as they lie in memory. For files that last, see [`crate::export`].

use std::fs::File;
use std::io::{self, Write};
use std::ops::Deref;
use std::path::Path;

use bytemuck::{Pod, Zeroable};
use embermark_model::Reading;
use memmap2::Mmap;

use crate::DataError;
use crate::mapping::{Paging, map};

const MAGIC: [u8; 8] = *b"embrrows";
/// Changes with the layout of [`Reading`] or of the header. In the byte order of the machine, so
/// that a file from a machine of the other order has another version.
const VERSION: u32 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: u32,
    row_size: u32,
    rows: u64,
    padding: u64,
}

impl Header {
    /// A multiple of the alignment of [`Reading`], so that the rows behind it are aligned.
    const SIZE: usize = size_of::<Self>();

    fn new(rows: usize) -> Self {
        Self {
            magic: MAGIC,
            version: VERSION,
            row_size: size_of::<Reading>() as u32,
            rows: rows as u64,
            padding: 0,
        }
    }

    /// Checks a whole file; says what is wrong with it.
    fn check(file: &[u8]) -> Result<(), String> {
        let Some((head, rows)) = file.split_at_checked(Self::SIZE) else {
            return Err(format!("it has {} bytes, fewer than its header", file.len()));
        };
        let header: Self = bytemuck::pod_read_unaligned(head);
        if header.magic != MAGIC {
            return Err("it does not begin with the mark of staged rows".to_owned());
        }
        let expected = Self { rows: header.rows, ..Self::new(0) };
        if header != expected {
            return Err(format!(
                "it has version {} with rows of {} bytes, this build has version {VERSION} with {}",
                header.version, header.row_size, expected.row_size
            ));
        }
        if header.rows.checked_mul(size_of::<Reading>() as u64) != Some(rows.len() as u64) {
            return Err(format!(
                "it announces {} rows but holds {} bytes of them",
                header.rows,
                rows.len()
            ));
        }
        Ok(())
    }
}

/// Writes `readings` to a file for [`StagedRows::open`], in place of what was there.
///
/// # Errors
/// [`DataError::Unwritable`].
pub fn write(path: &Path, readings: &[Reading]) -> Result<(), DataError> {
    let header = Header::new(readings.len());
    let save = || -> io::Result<()> {
        let mut file = File::create(path)?;
        file.write_all(bytemuck::bytes_of(&header))?;
        file.write_all(bytemuck::cast_slice(readings))
    };
    save().map_err(|cause| DataError::Unwritable { path: path.to_owned(), cause })
}

/// The rows of a staged file, mapped and already in memory.
#[derive(Debug)]
pub struct StagedRows {
    mapping: Mmap,
}

impl StagedRows {
    /// Maps a file that [`write()`] made, and brings all of it into memory.
    ///
    /// # Errors
    /// [`DataError::NotStaged`] where the file is foreign, of another version or cut short, and
    /// those of opening a file.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let mapping = map(path, Paging::Ahead)?;
        match Header::check(&mapping) {
            Ok(()) => Ok(Self { mapping }),
            Err(what) => Err(DataError::NotStaged { path: path.to_owned(), what }),
        }
    }
}

impl Deref for StagedRows {
    type Target = [Reading];

    fn deref(&self) -> &[Reading] {
        // Does not panic: mappings begin on a page, the header keeps the alignment, and `open`
        // has checked that what follows is whole rows.
        bytemuck::cast_slice(&self.mapping[Header::SIZE..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use embermark_model::Key;

    fn rows(n: u16) -> Vec<Reading> {
        let row = |i| {
            Reading::new(
                Key { sensor: i, ts: i64::from(i) * 31 },
                [Some(f64::from(i)), None, Some(-0.5), None],
            )
        };
        (0..n).map(row).collect()
    }

    fn refusal(bytes: &[u8]) -> String {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows");
        std::fs::write(&path, bytes).unwrap();
        let error = StagedRows::open(&path).unwrap_err();
        assert!(matches!(error, DataError::NotStaged { .. }), "{error:?}");
        error.to_string()
    }

    fn staged(n: u16) -> Vec<u8> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows");
        write(&path, &rows(n)).unwrap();
        std::fs::read(&path).unwrap()
    }

    #[test]
    fn staged_rows_read_back_as_they_were_even_when_there_are_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows");
        for n in [1000, 1, 0] {
            write(&path, &rows(n)).unwrap();
            assert_eq!(*StagedRows::open(&path).unwrap(), rows(n)[..]);
        }
    }

    #[test]
    fn a_file_cut_short_or_too_long_is_refused_at_every_length() {
        let whole = staged(3);
        for end in (0..whole.len()).step_by(7) {
            let text = refusal(&whole[..end]);
            assert!(text.contains("stage the rows again"), "{text}");
        }
        assert!(refusal(&[&whole[..], &[0]].concat()).contains("announces 3 rows"));
    }

    #[test]
    fn a_foreign_file_another_version_and_an_absurd_count_are_refused() {
        let whole = staged(2);
        let with = |at: usize, byte: u8| {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            refusal(&bytes)
        };
        assert!(with(0, b'X').contains("mark of staged rows"));
        assert!(with(8, 99).contains("version 99"));
        assert!(with(12, 40).contains("rows of 40 bytes"));
        assert!(with(23, 255).contains("announces"));
    }

    #[test]
    fn a_missing_file_and_a_directory_are_named_as_such() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(
            StagedRows::open(&dir.path().join("none")),
            Err(DataError::Missing { .. })
        ));
        assert!(matches!(StagedRows::open(dir.path()), Err(DataError::Directory { .. })));
        assert!(matches!(write(dir.path(), &[]), Err(DataError::Unwritable { .. })));
    }
}
