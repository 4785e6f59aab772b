//! The bytes of a file to lines, and lines to readings in the order of the file.

use std::io::{self, Read};
use std::path::Path;

use embermark_model::Reading;
use flate2::bufread::MultiGzDecoder;

use super::fault::Fault;
use super::line::LineParser;
use crate::DataError;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// How much of the first line is looked at for the signs of a binary file.
const HEAD: usize = 8 * 1024;
/// Decompressed text is parsed in pieces of this size, which stay in the processor's cache.
const PIECE: usize = 256 * 1024;
/// A row of the published log has 65 bytes; shorter rows make the vector grow.
const BYTES_PER_ROW: usize = 60;
/// Compressed text is about this many times smaller.
const GZIP_RATIO: usize = 4;
const EXCERPT: usize = 60;

/// The first bad line of a file.
#[derive(Debug)]
pub(super) struct FirstFault {
    pub(super) line: u64,
    pub(super) fault: Fault,
    pub(super) excerpt: String,
}

/// What has been found in the text so far.
#[derive(Debug)]
pub(super) struct TextParser {
    pub(super) lines: LineParser,
    pub(super) line_count: u64,
    pub(super) readings: Vec<Reading>,
    /// Bad lines by kind.
    pub(super) faults: [u64; Fault::ALL.len()],
    pub(super) first_fault: Option<FirstFault>,
    /// Lines that end in CR LF.
    pub(super) crlf: u64,
}

/// Parses a whole file, decompressing it first if it is compressed.
pub(super) fn parse(path: &Path, file: &[u8]) -> Result<TextParser, DataError> {
    if !file.starts_with(&GZIP_MAGIC) {
        refuse_binary(path, file)?;
        let mut parser = TextParser::new(file.len() / BYTES_PER_ROW);
        parser.feed(file.strip_prefix(BYTE_ORDER_MARK).unwrap_or(file));
        return Ok(parser);
    }

    let mut parser = TextParser::new(file.len() * GZIP_RATIO / BYTES_PER_ROW);
    let mut decoder = MultiGzDecoder::new(file);
    let mut buffer = vec![0; PIECE];
    // The buffer begins with the part of a line that the piece before it ended in.
    let (mut held, mut total) = (0, 0);
    loop {
        if held == buffer.len() {
            buffer.resize(2 * held, 0);
        }
        let got = match decoder.read(&mut buffer[held..]) {
            Ok(got) => got,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => continue,
            Err(cause) if cause.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(DataError::TruncatedGzip { path: path.to_owned(), bytes: total });
            }
            Err(cause) => {
                return Err(DataError::DamagedGzip { path: path.to_owned(), bytes: total, cause });
            }
        };
        let mut text = &buffer[..held + got];
        if total == 0 && got > 0 {
            refuse_binary(path, text)?;
            text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        }
        total += got as u64;
        if got == 0 {
            parser.feed(text);
            return Ok(parser);
        }
        let whole_lines = memchr::memrchr(b'\n', text).map_or(0, |end| end + 1);
        parser.feed(&text[..whole_lines]);
        let (end, rest) = (held + got, text.len() - whole_lines);
        buffer.copy_within(end - rest..end, 0);
        held = rest;
    }
}

/// Refuses what does not begin like text, before all of it is read in vain. NUL bytes in a later
/// line are that line's fault: a log may have been damaged when its machine lost power.
fn refuse_binary(path: &Path, text: &[u8]) -> Result<(), DataError> {
    let head = text[..text.len().min(HEAD)].split(|&b| b == b'\n').next().unwrap_or_default();
    let what = match head {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "it begins with the mark of UTF-16",
        _ if head.contains(&0) => "its first line has NUL bytes",
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

    /// Parses whole lines; the last one may lack its end.
    fn feed(&mut self, text: &[u8]) {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', text) {
            self.line(&text[start..end]);
            start = end + 1;
        }
        if start < text.len() {
            self.line(&text[start..]);
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

    /// The kind of fault that most lines have.
    pub(super) fn commonest_fault(&self) -> Fault {
        Fault::ALL
            .into_iter()
            .max_by_key(|&fault| self.faults[fault as usize])
            .unwrap_or(Fault::NotText)
    }
}
