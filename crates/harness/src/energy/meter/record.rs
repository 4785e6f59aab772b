//! The record of a meter: a CSV file with a column of times, and one of watts or two of volts and
//! amperes.

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::Curve;
use crate::{HarnessError, Result};

/// Times below this are relative to the start of the meter (1e9 is September 2001).
const FIRST_DAY: f64 = 1e9;

/// A meter's power over time.
#[derive(Clone, Debug)]
pub struct Record {
    pub(super) curve: Curve,
    /// Whether its times are relative to the start of the meter.
    pub(super) is_relative: bool,
}

/// Names of a column, with the factor for its numbers.
type Names = &'static [(f64, &'static [&'static str])];

const TIME: Names = &[
    (1.0, &["time", "timestamp", "date", "datetime", "t", "time_s", "seconds", "s"]),
    (1e-3, &["time_ms", "timestamp_ms", "ms"]),
];
const WATTS: Names = &[(1.0, &["watts", "power", "w", "power_w"]), (1e-3, &["power_mw", "mw"])];
const VOLTS: Names =
    &[(1.0, &["volts", "voltage", "v", "voltage_v"]), (1e-3, &["voltage_mv", "mv"])];
const AMPERES: Names =
    &[(1.0, &["amperes", "amps", "current", "a", "current_a"]), (1e-3, &["current_ma", "ma"])];

/// Index of a column and its unit.
#[derive(Clone, Copy)]
struct Column {
    index: usize,
    unit: f64,
}

impl Record {
    /// Reads a file.
    ///
    /// # Errors
    /// If the file cannot be read, or a line is invalid. The error gives the line.
    pub fn read(path: &Path) -> Result<Self> {
        let refused = |why: String| HarnessError::unusable(path, why);
        let text = fs::read(path).map_err(|error| refused(format!("cannot be read: {error}")))?;
        let text = String::from_utf8_lossy(&text);
        Self::parse(&text).map_err(refused)
    }

    fn parse(text: &str) -> Result<Self, String> {
        // The text after a byte order mark, which some programs write.
        let text = text.trim_start_matches('\u{feff}');
        let header = text.lines().next().unwrap_or_default();
        let separator = [b';', b'\t', b','].into_iter();
        let separator =
            separator.max_by_key(|&by| header.bytes().filter(|&byte| byte == by).count());
        let separator = separator.unwrap_or(b',');
        let mut rows = csv::ReaderBuilder::new()
            .delimiter(separator)
            .trim(csv::Trim::All)
            .flexible(true)
            .from_reader(text.as_bytes());
        let names: Vec<String> =
            rows.headers().map_err(|e| e.to_string())?.iter().map(normalized_name).collect();
        let column = |known: Names| {
            known.iter().find_map(|(unit, known)| {
                let place = |name: &&str| names.iter().position(|other| other == name);
                Some(Column { index: known.iter().find_map(place)?, unit: *unit })
            })
        };
        let lacks = |what: &str| {
            format!(
                "its first line names no column of {what}: it has {}; name one time, and watts or volts and \
                 amperes",
                names.join(", ")
            )
        };
        let time = column(TIME).ok_or_else(|| lacks("time"))?;
        let power = match (column(WATTS), column(VOLTS), column(AMPERES)) {
            (Some(watts), ..) => vec![watts],
            (None, Some(volts), Some(amperes)) => vec![volts, amperes],
            _ => return Err(lacks("watts")),
        };
        let mut samples: Vec<(f64, f64, u32)> = Vec::new();
        for row in rows.records() {
            let row = row.map_err(|error| error.to_string())?;
            let line = row.position().map_or(0, csv::Position::line);
            let wrong = |what: &str, text: &str| format!("line {line}: '{text}' is not a {what}");
            let text = |column: Column| row.get(column.index).unwrap_or_default();
            let number = |column: Column| {
                let text = text(column);
                parse_number(text, separator)
                    .map(|value| value * column.unit)
                    .ok_or_else(|| wrong("number", text))
            };
            let at = parse_time(text(time), time.unit, separator)
                .ok_or_else(|| wrong("time: write Unix seconds or RFC 3339", text(time)))?;
            let watts = power.iter().copied().map(number).product::<Result<f64, String>>()?;
            if watts < 0.0 {
                return Err(format!(
                    "line {line}: {watts} W is negative, and what a device draws is counted as positive: change the \
                     sign if the meter counts it the other way round"
                ));
            }
            match samples.last_mut() {
                Some((last, ..)) if at < *last => {
                    return Err(format!("line {line}: its time is before that of the line above"));
                }
                // If the clock is coarser than the lines, takes their mean.
                Some((last, sum, times)) if at <= *last => {
                    (*sum, *times) = (*sum + watts, *times + 1)
                }
                _ => samples.push((at, watts, 1)),
            }
        }
        if samples.len() < 2 {
            return Err("it has no two lines of different times".to_owned());
        }
        let is_relative = samples.iter().any(|(at, ..)| *at < FIRST_DAY);
        let mean = samples.into_iter().map(|(at, sum, times)| (at, sum / f64::from(times)));
        Ok(Self { curve: mean.collect(), is_relative })
    }
}

/// Normalises a name: lower case, with underscores for blanks and brackets. `Power (W)` becomes
/// `power_w`.
fn normalized_name(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_").to_lowercase()
}

/// Parses a number. A comma may be the decimal point if it does not separate columns.
fn parse_number(text: &str, separator: u8) -> Option<f64> {
    let text = if separator == b',' { text.to_owned() } else { text.replace(',', ".") };
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// Parses Unix seconds, or seconds since the meter began. A time of day without a zone is in UTC.
fn parse_time(text: &str, unit: f64, separator: u8) -> Option<f64> {
    let of = |at: Timestamp| at.as_nanosecond() as f64 / 1e9;
    let day = || {
        let civil = text.replace('/', "-").parse::<DateTime>().ok()?;
        Some(of(civil.to_zoned(TimeZone::UTC).ok()?.timestamp()))
    };
    parse_number(text, separator)
        .map(|value| value * unit)
        .or_else(|| text.parse::<Timestamp>().ok().map(of))
        .or_else(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(text: &str) -> Vec<(f64, f64)> {
        let record = Record::parse(text).unwrap();
        let [first, last] = record.curve.ends().unwrap();
        let watts: Vec<f64> = record.curve.within(first, last + 1.0).collect();
        vec![(first, watts[0]), (last, *watts.last().unwrap())]
    }

    fn refused(text: &str) -> String {
        Record::parse(text).unwrap_err()
    }

    #[test]
    fn times_and_powers_are_read_as_meters_write_them() {
        let wanted = [(1_767_225_600.0, 2.5), (1_767_225_601.0, 3.0)];
        assert_eq!(samples("time,watts\n1767225600,2.5\n1767225601,3\n"), wanted);
        assert_eq!(
            samples("Timestamp,Power (W)\n2026-01-01T00:00:00Z,2.5\n2026-01-01T01:00:01+01:00,3\n"),
            wanted
        );
        assert_eq!(
            samples(
                "date;voltage;current\n2026-01-01 00:00:00;5,0;0,5\n2026-01-01 00:00:01;6;0,5\n"
            ),
            wanted
        );
        assert_eq!(
            samples(
                "timestamp_ms\tVoltage(mV)\tCurrent(mA)\n1767225600000\t5000\t500\n1767225601000\t6000\t500\n"
            ),
            wanted
        );
        // Unused columns, and a byte order mark before the first line.
        assert_eq!(samples("\u{feff}note,s,W\nx,0.0,1\ny,0.5,2\n"), [(0.0, 1.0), (0.5, 2.0)]);
        assert!(Record::parse("s,w\n0,1\n1,1\n").unwrap().is_relative);
        assert!(!Record::parse("time,w\n1767225600,1\n1767225601,1\n").unwrap().is_relative);
    }

    #[test]
    fn lines_of_one_time_are_one_sample() {
        assert_eq!(samples("s,w\n0,1\n0,3\n1,4\n"), [(0.0, 2.0), (1.0, 4.0)]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let why = refused("when,heat\n0,1\n1,2\n");
        assert!(why.contains("no column of time") && why.contains("when, heat"), "{why}");
        assert!(refused("time,volts\n0,1\n").contains("no column of watts"));
        assert!(refused("s,w\n0,1\n1,much\n").contains("line 3: 'much' is not a number"));
        assert!(refused("s,w\n0,1\nnoon,1\n").contains("line 3: 'noon' is not a time"));
        assert!(refused("s,w\n2,1\n1,1\n").contains("line 3: its time is before"));
        assert!(refused("s,w\n0,nan\n1,1\n").contains("line 2"));
        assert!(refused("s,w\n0,1\n1,-5\n").contains("line 3: -5 W is negative"));
        assert!(refused("s,v,a\n0,5,-1\n1,5,-1\n").contains("line 2: -5 W is negative"));
        assert!(refused("s,w\n0,1\n").contains("no two lines"));
        assert!(refused("s,w\n0\n1,1\n").contains("line 2: '' is not a number"));
    }
}
