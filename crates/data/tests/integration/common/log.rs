//! Readings as text in the format of the sensor log, of which benchmarks and tests read them.

use std::fmt::Write;

use embermark_model::Reading;
use jiff::Timestamp;

/// Microseconds of an epoch of the log, and the number after which its epochs start again.
const EPOCH: i64 = 31_000_000;
const EPOCHS: i64 = 1 << 16;

/// The lines that `lab::read` reads, in the order given. Epochs, which readings do not keep, are counted anew from
/// the first reading's time.
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
