//! A year of telemetry, generated from a seed: locations every ten minutes, carbon dioxide every
//! minute, bursts of ten log lines per hour, in order of time. It is the data of a published
//! comparison of SQLite and DuckDB on JSON documents.

use std::fmt::Write;

use arrayvec::ArrayString;
use fake::locales::{Data, EN};

use crate::draw::Draw;

/// The year: 2023-01-01 (inclusive) to 2024-01-01 (exclusive) UTC, in milliseconds since 1970.
pub const YEAR: std::ops::Range<i64> = 1_672_531_200_000..1_704_067_200_000;

/// Number of rows of a whole year at the published rate.
const PUBLISHED_ROWS: u64 = PLACES + CO2 + BURSTS * BURST;

const PLACES: u64 = 365 * 24 * 6;
const CO2: u64 = 365 * 24 * 60;
/// A burst lasts a second, and the next one begins an hour after its end.
const BURSTS: u64 = (365 * 24 * 3_600) / 3_601;
const BURST: u64 = 10;
const WITHIN_BURST_MS: i64 = 100;

/// One event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Primary key: from 1, in order of time.
    pub id: i64,
    /// Milliseconds since 1970-01-01 UTC.
    pub timestamp: i64,
    /// Content of the event.
    pub data: Payload,
}

/// Content of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "made once and read in sequence")]
pub enum Payload {
    /// Location of something.
    Location {
        /// Degrees east, -180 to 180, to a ten-thousandth.
        longitude: f64,
        /// Degrees north, -90 to 90, to a ten-thousandth.
        latitude: f64,
    },
    /// Carbon dioxide in the air.
    Co2 {
        /// Parts per million, 0 to 5,000.
        co2: f64,
    },
    /// A line of a log.
    Log(LogLine),
}

/// A line of a structured log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogLine {
    /// The span of work that it belongs to.
    pub span_id: i64,
    /// True one time in twenty. The level is then `error`, otherwise `success`.
    pub is_error: bool,
    /// The user, the same for a burst.
    pub user: ArrayString<32>,
    /// The message.
    pub message: ArrayString<64>,
    /// The endpoint, the same for a burst.
    pub endpoint: ArrayString<48>,
}

impl LogLine {
    /// Returns `error` or `success`.
    pub const fn level(&self) -> &'static str {
        if self.is_error { "error" } else { "success" }
    }
}

impl Payload {
    /// Returns the bucket of the event.
    pub const fn bucket(&self) -> &'static str {
        match self {
            Self::Location { .. } => "location",
            Self::Co2 { .. } => "co2",
            Self::Log(_) => "logs",
        }
    }
}

/// Generates `rows` events spread over the year: at the published rate for `PUBLISHED_ROWS`, with
/// longer or shorter pauses for other numbers, in the same shares. The same rows and seed give the
/// same events on every platform.
pub fn generate(rows: u64, seed: u64) -> Vec<Event> {
    let share = |of: u64| (u128::from(rows) * u128::from(of) / u128::from(PUBLISHED_ROWS)) as u64;
    let (places, logs) = (share(PLACES), share(BURSTS * BURST));
    let co2 = rows - places - logs;
    let mut events = Vec::with_capacity(rows as usize);
    let at = |place: u64, of: u64| {
        let year = u128::from((YEAR.end - YEAR.start).cast_unsigned());
        YEAR.start + (year * u128::from(place) / u128::from(of.max(1))) as i64
    };

    let event = |timestamp, data| Event { id: 0, timestamp, data };
    let mut draw = Draw::new(seed, 3);
    events.extend((0..places).map(|i| {
        let (longitude, latitude) = (degrees(&mut draw, 180), degrees(&mut draw, 90));
        event(at(i, places), Payload::Location { longitude, latitude })
    }));
    let mut draw = Draw::new(seed, 4);
    events.extend((0..co2).map(|i| event(at(i, co2), Payload::Co2 { co2: draw.unit() * 5_000.0 })));
    let mut draw = Draw::new(seed, 5);
    let (mut user, mut endpoint) = (ArrayString::<32>::new(), ArrayString::<48>::new());
    events.extend((0..logs).map(|i| {
        if i % BURST == 0 {
            user.clear();
            endpoint.clear();
            // What does not fit is cut off.
            let (name, number) = (draw.choose(EN::NAME_FIRST_NAME), draw.below(100));
            let _ = write!(user, "{name}{number}");
            let (one, two) = (draw.choose(EN::LOREM_WORD), draw.choose(EN::LOREM_WORD));
            let suffix = draw.choose(EN::INTERNET_DOMAIN_SUFFIX);
            let _ = write!(endpoint, "https://{one}-{two}.{suffix}");
        }
        let within = (i % BURST) as i64 * WITHIN_BURST_MS;
        let line = log_line(&mut draw, user, endpoint);
        event(at(i / BURST, logs.div_ceil(BURST)) + within, Payload::Log(line))
    }));
    // Stable: events of the same time stay in the order of their buckets.
    events.sort_by_key(|event| event.timestamp);
    for (event, id) in events.iter_mut().zip(1..) {
        event.id = id;
    }
    events
}

/// Returns a random number of degrees from `-most` to `most`: the double nearest to a multiple of a
/// ten-thousandth. Computed as a difference of doubles it could be off by the last bit, which
/// HarperDB 4.7 does not keep for numbers that close to a short decimal.
fn degrees(draw: &mut Draw, most: usize) -> f64 {
    (draw.below(most * 20_000 + 1) as f64 - (most * 10_000) as f64) / 10_000.0
}

fn log_line(draw: &mut Draw, user: ArrayString<32>, endpoint: ArrayString<48>) -> LogLine {
    let mut message = ArrayString::new();
    let head = draw.choose(EN::COMPANY_BUZZWORD_HEAD);
    let middle = draw.choose(EN::COMPANY_BUZZWORD_MIDDLE);
    let _ = write!(message, "{head} {middle} {}", draw.choose(EN::COMPANY_BUZZWORD_TAIL));
    // A value that a double holds exactly, as in the published generator.
    let span_id = (draw.bits() >> 11).cast_signed();
    LogLine { span_id, is_error: draw.below(20) == 0, user, message, endpoint }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(events: &[Event]) -> [usize; 3] {
        ["location", "co2", "logs"]
            .map(|bucket| events.iter().filter(|event| event.data.bucket() == bucket).count())
    }

    #[test]
    fn a_year_has_the_published_rows() {
        let events = generate(PUBLISHED_ROWS, 42);
        assert_eq!(shares(&events), [52_560, 525_600, 87_570]);
        assert!(events.is_sorted_by_key(|event| event.timestamp));
        assert!(events.iter().zip(1..).all(|(event, id)| event.id == id));
        assert!(events.iter().all(|event| YEAR.contains(&event.timestamp)));
        let co2: Vec<i64> =
            events.iter().filter(|e| e.data.bucket() == "co2").map(|e| e.timestamp).collect();
        assert!(co2.windows(2).all(|pair| pair[1] - pair[0] == 60_000));
    }

    #[test]
    fn fewer_rows_have_the_same_shares_and_span_the_year_too() {
        let events = generate(10_000, 1);
        let [places, co2, logs] = shares(&events);
        assert_eq!(places + co2 + logs, 10_000);
        assert!((780..800).contains(&places) && (1_300..1_330).contains(&logs), "{places} {logs}");
        assert!(events[9_999].timestamp > YEAR.end - 7 * 86_400_000);
        for rows in [0, 1, 2, 15] {
            assert_eq!(generate(rows, 1).len() as u64, rows);
        }
    }

    #[test]
    fn one_log_line_in_twenty_is_an_error_and_a_burst_has_one_endpoint() {
        let events = generate(100_000, 3);
        let lines: Vec<LogLine> = events
            .iter()
            .filter_map(|event| match event.data {
                Payload::Log(line) => Some(line),
                _ => None,
            })
            .collect();
        let errors = lines.iter().filter(|line| line.is_error).count() as f64;
        assert!((0.04..0.06).contains(&(errors / lines.len() as f64)), "{errors}");
        let burst = &lines[..BURST as usize];
        assert!(burst.iter().all(|line| line.endpoint == burst[0].endpoint));
        assert_ne!(burst[0].endpoint, lines[BURST as usize].endpoint);
    }
}
