//! Splits the bytes of a file into lines, and parses lines as readings in the order of the file.

use std::io::{BufRead, BufReader};
use std::path::Path;

use embermark_model::Reading;

use super::fault::Fault;
use super::line::LineParser;
use crate::DataError;
use crate::compressed;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Bytes of the first line that are checked for signs of a binary file.
const HEAD: usize = 8 * 1024;
/// Size of the pieces in which text is read. They stay in the processor's cache.
const PIECE: usize = 256 * 1024;
/// A row of the published log has 65 bytes. Shorter rows make the vector grow.
const BYTES_PER_ROW: usize = 60;
const EXCERPT: usize = 60;

/// The first bad line of a file.
#[derive(Debug)]
pub(super) struct FirstFault {
    pub(super) line: u64,
    pub(super) fault: Fault,
    pub(super) excerpt: String,
}

/// Parser of a whole text, with the results so far.
#[derive(Debug)]
pub(super) struct TextParser {
    pub(super) lines: LineParser,
    pub(super) line_count: u64,
    pub(super) readings: Vec<Reading>,
    /// Number of bad lines by kind.
    pub(super) faults: [u64; Fault::ALL.len()],
    pub(super) first_fault: Option<FirstFault>,
    /// Number of lines that end in CR LF.
    pub(super) crlf: u64,
}

/// Parses a file of `bytes` bytes, decompressed if it is compressed.
pub(super) fn parse(path: &Path, bytes: usize) -> Result<TextParser, DataError> {
    let mut text = BufReader::with_capacity(PIECE, compressed::open_text(path)?);
    let mut parser = TextParser::new(bytes / BYTES_PER_ROW);
    let (mut line, mut total) = (Vec::new(), 0);
    loop {
        line.clear();
        match text.read_until(b'\n', &mut line) {
            Ok(0) => return Ok(parser),
            Ok(read) => total += read as u64,
            Err(cause) => return Err(compressed::damaged(path, total + line.len() as u64, cause)),
        }
        let mut line = line.strip_suffix(b"\n").unwrap_or(&line);
        if parser.line_count == 0 {
            refuse_binary(path, line)?;
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        parser.line(line);
    }
}

/// Refuses a file that does not begin like text before reading all of it. NUL bytes in a later line
/// are that line's fault: a log may have been damaged when its machine lost power.
fn refuse_binary(path: &Path, line: &[u8]) -> Result<(), DataError> {
    let what = match &line[..line.len().min(HEAD)] {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "it begins with the mark of UTF-16",
        head if head.contains(&0) => "its first line has NUL bytes",
        _ => return Ok(()),
    };
    Err(DataError::Binary { path: path.to_owned(), what })
}

impl TextParser {
    fn new(rows: usize) -> Self {
        Self {
            lines: LineParser::new(),
            line_count: 0,
            readings: Vec::with_capacity(rows),
            faults: [0; Fault::ALL.len()],
            first_fault: None,
            crlf: 0,
        }
    }

    #[inline]
    fn line(&mut self, mut line: &[u8]) {
        self.line_count += 1;
        if let [bare @ .., b'\r'] = line {
            line = bare;
            self.crlf += 1;
        }
        match self.lines.parse(line) {
            Ok(reading) => self.readings.push(reading),
            Err(fault) => self.fault(line, fault),
        }
    }

    #[cold]
    fn fault(&mut self, line: &[u8], fault: Fault) {
        self.faults[fault as usize] += 1;
        if self.first_fault.is_none() {
            let excerpt = String::from_utf8_lossy(&line[..line.len().min(EXCERPT)]).into_owned();
            self.first_fault = Some(FirstFault { line: self.line_count, fault, excerpt });
        }
    }

    /// Returns the most frequent kind of fault.
    pub(super) fn commonest_fault(&self) -> Fault {
        Fault::ALL
            .into_iter()
            .max_by_key(|&fault| self.faults[fault as usize])
            .unwrap_or(Fault::NotText)
    }
}
