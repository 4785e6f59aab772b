//! Measures lines of delimited text. DuckDB leaves out a row that does not fit into its buffer, and
//! counts it nowhere.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use memchr::memchr3_iter;

use super::Rejected;
use super::database::BUFFER;
use super::file_states::FileState;
use crate::table::fault::Fault;
use crate::table::layout::LONGEST;
use crate::{DataError, compressed};

/// Largest number of bytes of a line that is read. It has room for a value of the largest size.
const LONGEST_LINE: usize = LONGEST + (1 << 20);
/// Largest factor by which a compressed file may grow.
const MAX_RATIO: u64 = 1 << 16;
/// Number of bytes that are kept of a line that is too long.
const EXCERPT: usize = 100;

/// Files measured by this process: `init` opens each several times. A file that has changed since
/// has another state.
static MEASURED: LazyLock<Mutex<HashMap<(PathBuf, FileState), LineLengths>>> =
    LazyLock::new(Mutex::default);

/// What the lines of some files need.
#[derive(Debug, Clone)]
pub(super) struct LineLengths {
    /// Bytes of the buffer into which every row fits that is not too long.
    pub(super) buffer: usize,
    /// The lines that are too long to be read.
    pub(super) too_long: Vec<Rejected>,
}

impl Default for LineLengths {
    fn default() -> Self {
        Self { buffer: BUFFER, too_long: Vec::new() }
    }
}

impl LineLengths {
    /// Reads the files to their ends, except for those that are smaller than a buffer.
    pub(super) fn measure(paths: &[PathBuf]) -> Result<Self, DataError> {
        let mut all = Self::default();
        for path in paths {
            let Some(state) = FileState::read(path) else { continue };
            let known = (path.clone(), state);
            let measured = || MEASURED.lock().unwrap_or_else(PoisonError::into_inner);
            let found = measured().get(&known).cloned();
            let one = match found {
                Some(one) => one,
                None => {
                    let one = Self::measure_file(path, state.bytes)?;
                    measured().insert(known, one.clone());
                    one
                }
            };
            all.buffer = all.buffer.max(one.buffer);
            all.too_long.extend(one.too_long);
        }
        Ok(all)
    }

    /// Measures a file of this many bytes.
    fn measure_file(path: &Path, bytes: u64) -> Result<Self, DataError> {
        let mut one = Self::default();
        let is_plain = compressed::detect(path)? == compressed::Compression::None;
        let most = if is_plain { bytes } else { bytes.saturating_mul(MAX_RATIO) };
        if most > BUFFER as u64 {
            let longest = one.longest_row(path)?;
            one.buffer = one.buffer.max((longest + 2).min(LONGEST_LINE));
        }
        Ok(one)
    }

    /// Returns the bytes of the longest row, whose quoted texts may have several lines. A quote that
    /// is not closed makes it seem longer than it is.
    fn longest_row(&mut self, path: &Path) -> Result<usize, DataError> {
        let mut text = compressed::open_text(path)?;
        let (mut piece, mut read, mut number) = (vec![0; 1 << 20], 0_usize, 1);
        // Where the row and the line began, and the beginning of the line.
        let (mut row, mut line, mut begins) = (0, 0, Vec::new());
        let (mut quoted, mut longest) = (false, 0);
        loop {
            // An incomplete file is reported by those who read its rows.
            let bytes = text.read(&mut piece).unwrap_or_default();
            let ends = memchr3_iter(b'\n', b'\r', b'"', &piece[..bytes]);
            let end_of_file = (bytes == 0).then_some(0);
            for at in ends.chain(end_of_file) {
                let at = read + at;
                if bytes > 0 && piece[at - read] == b'"' {
                    quoted = !quoted;
                    continue;
                }
                if at - line > LONGEST_LINE {
                    self.too_long.push(Rejected {
                        fault: Fault::TooLong,
                        file: path.display().to_string(),
                        line: number,
                        lines: 1,
                        text: String::from_utf8_lossy(&begins).into_owned(),
                    });
                }
                if !quoted || bytes == 0 {
                    longest = longest.max(at - row);
                    row = at + 1;
                }
                number += u64::from(bytes > 0 && piece[at - read] == b'\n');
                line = at + 1;
                begins.clear();
            }
            if bytes == 0 {
                return Ok(longest);
            }
            if begins.is_empty() {
                let from = line.saturating_sub(read).min(bytes);
                begins.extend(piece[from..bytes].iter().take(EXCERPT));
            }
            read += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_fits_the_longest_row_and_what_is_too_long_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.csv");
        let measured = |text: &str| {
            std::fs::write(&path, text).unwrap();
            LineLengths::measure(std::slice::from_ref(&path)).unwrap()
        };
        let short = measured(&"id,v\n1,2\n".repeat(600_000));
        assert_eq!((short.buffer, short.too_long.len()), (BUFFER, 0));
        let six = "x".repeat(6_000_000);
        let long = measured(&format!("id,v\n1,{six}\n2,y\n"));
        assert_eq!((long.buffer, long.too_long.len()), (6_000_004, 0));
        // A quoted text of two lines is one row.
        let quoted = measured(&format!("id,v\n1,\"{six}\n{six}\"\n2,y"));
        assert_eq!((quoted.buffer, quoted.too_long.len()), (12_000_007, 0));
        let huge = measured(&format!("id,v\n1,{}\n2,y\n", "x".repeat(20_000_000)));
        assert_eq!(huge.buffer, LONGEST_LINE);
        let [line] = &huge.too_long[..] else { panic!("{huge:?}") };
        assert_eq!((line.line, line.fault), (2, Fault::TooLong));
        assert!(line.text.starts_with("1,xxx"), "{}", line.text);
    }
}
