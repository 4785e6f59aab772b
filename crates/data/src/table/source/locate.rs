//! Finds the line of a row for messages, by reading the file again up to that row.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::Rejected;
use super::dialect::{Dialect, is_open};
use crate::{DataError, compressed};

/// Number of bytes that DuckDB keeps of a line that is not a row.
pub(super) const CUT: usize = 10_000;

/// Returns the file and line of a row of text. With the default of [`Dialect`] each line that is
/// not blank is a row. Rows count from 0 over all files. Lines count from 1 in each file.
pub(super) fn line_of(
    paths: &[PathBuf],
    dialect: &Dialect,
    row: u64,
    rejected: &[Rejected],
) -> Option<(PathBuf, u64)> {
    let quote = dialect.quote.chars().next();
    let mut left = row;
    for path in paths {
        let gone: Vec<(u64, u64)> = rejected
            .iter()
            .filter(|line| Path::new(&line.file) == path)
            .map(|line| (line.line, line.line + line.lines))
            .collect();
        let mut lines = BufReader::new(compressed::open_text(path).ok()?).split(b'\n');
        let (mut number, mut begins, mut quoted, mut skip) = (0_u64, 0, false, dialect.skip);
        while let Some(Ok(text)) = lines.next() {
            number += 1;
            if gone.iter().any(|(a, b)| (*a..*b).contains(&number)) {
                continue;
            }
            if !quoted && skip == 0 {
                begins = number;
                let is_comment =
                    dialect.comment.as_ref().is_some_and(|c| text.starts_with(c.as_bytes()));
                if text.trim_ascii().is_empty() || is_comment {
                    continue;
                }
            }
            let text = String::from_utf8_lossy(&text);
            quoted = quote.is_some_and(|quote| is_open(&text, quote, quoted));
            if !quoted && skip > 0 {
                skip -= 1;
            } else if !quoted {
                if left == 0 {
                    return Some((path.clone(), begins));
                }
                left -= 1;
            }
        }
    }
    None
}

/// Returns the number of lines of a file from one on.
pub(super) fn lines_from(path: &Path, line: u64) -> Result<u64, DataError> {
    let lines = BufReader::new(compressed::open_text(path)?).split(b'\n').count() as u64;
    Ok((lines + 1).saturating_sub(line).max(1))
}
