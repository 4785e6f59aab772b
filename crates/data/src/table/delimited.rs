//! Reads CSV: fields between delimiters, quoted where need be, under a line of names.

use csv::{ByteRecord, ErrorKind, ReaderBuilder};

use super::fault::Fault;
use super::record::{Field, Names, Record, Sink};
use super::source::Source;
use crate::DataError;

/// Text that is read at once.
const PIECE: usize = 256 * 1024;

/// The delimiter of a line of names: of comma, semicolon, tab and bar that which it has most often
/// outside quotes.
pub(super) fn delimiter(header: &[u8]) -> u8 {
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0), (b'|', 0)];
    let mut quoted = false;
    for &byte in header {
        quoted ^= byte == b'"';
        for (delimiter, count) in &mut counts {
            *count += u32::from(!quoted && byte == *delimiter);
        }
    }
    // Of equals the last one has it, hence from the back.
    counts.iter().rev().max_by_key(|(_, count)| count).map_or(b',', |(delimiter, _)| *delimiter)
}

impl Record for ByteRecord {
    #[inline]
    fn field(&self, place: usize) -> Field<'_> {
        match self.get(place) {
            None | Some([]) => Field::Absent,
            Some(text) => Field::Text(text),
        }
    }

    fn width(&self) -> usize {
        self.len()
    }

    fn line(&self) -> u64 {
        self.position().map_or(0, csv::Position::line)
    }
}

pub(super) fn read(
    source: &Source,
    delimiter: u8,
    sink: &mut impl Sink,
) -> Result<Names, DataError> {
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .buffer_capacity(PIECE)
        .from_reader(source.text());
    let failed = |error: csv::Error, bytes| match error.into_kind() {
        ErrorKind::Io(cause) => source.unreadable(cause, bytes),
        other => source.not_tabular(format!("{other:?}")),
    };
    let header = match reader.byte_headers() {
        Ok(header) => header.clone(),
        Err(error) => return Err(failed(error, reader.get_ref().bytes)),
    };
    let mut names = names(source, &header)?;
    sink.begin(&mut names).map_err(|unknown| source.no_field(unknown))?;
    let mut record = ByteRecord::new();
    loop {
        match reader.read_byte_record(&mut record) {
            Ok(true) => {}
            Ok(false) => return Ok(names),
            Err(error) => return Err(failed(error, reader.get_ref().bytes)),
        }
        if record.len() == header.len() {
            if !sink.record(&record)? {
                return Ok(names);
            }
        } else {
            let few = record.len() < header.len();
            let fault = if few { Fault::TooFewFields } else { Fault::TooManyFields };
            let fields: Vec<_> = record.iter().collect();
            sink.broken(record.line(), fault, &fields.join(&delimiter));
        }
    }
}

/// The names of a header, without blanks around them.
fn names(source: &Source, header: &ByteRecord) -> Result<Names, DataError> {
    let mut names = Vec::with_capacity(header.len());
    for name in header {
        let Ok(name) = str::from_utf8(name.trim_ascii()) else {
            return Err(source.not_tabular("the names in its first line are not UTF-8"));
        };
        if !name.is_empty() && names.iter().any(|other| other == name) {
            return Err(source.not_tabular(format!("its first line has the name '{name}' twice")));
        }
        names.push(name.to_owned());
    }
    Ok(Names::new(names))
}
