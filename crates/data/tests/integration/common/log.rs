//! Readings as text in the format of the sensor log, for benchmarks and tests.

use std::fmt::Write;

use embermark_model::Reading;
use jiff::Timestamp;

/// Microseconds per epoch of the log, and the number after which its epochs restart.
const EPOCH: i64 = 31_000_000;
const EPOCHS: i64 = 1 << 16;

/// Writes the lines that `lab::read` reads, in the given order. Readings do not keep epochs, so
/// they are counted from the first reading's time.
pub fn log(readings: &[Reading]) -> Vec<u8> {
    let start = readings.first().map_or(0, |reading| reading.ts);
    let mut text = String::new();
    for reading in readings {
        let time = Timestamp::from_microsecond(reading.ts).expect("a time within 10,000 years");
        let epoch = ((reading.ts - start).div_euclid(EPOCH) + 1).rem_euclid(EPOCHS);
        write!(text, "{}", time.strftime("%Y-%m-%d %H:%M:%S%.f")).expect("a string");
        write!(text, " {epoch} {}", reading.sensor).expect("a string");
        for column in 0..Reading::COLUMNS.len() {
            text.push(' ');
            if let Some(value) = reading.get(column) {
                write!(text, "{value}").expect("a string");
            }
        }
        text.push('\n');
    }
    text.into_bytes()
}
