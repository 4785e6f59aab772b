//! Takes local times of a zone to UTC.

use std::collections::HashMap;

use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use crate::table::time::clock_of;

const NANOS: i128 = 1_000_000_000;
/// Number of series whose last times are remembered.
const MOST: usize = 1 << 18;
/// Seconds from where the next row is due, beyond which rows have made a leap.
const FAR: i64 = 10_800;

/// Local times of a zone, in the order of their rows. An hour that clocks repeat is read twice: the
/// times of a series go on in it, also from the newest row to the oldest.
#[derive(Debug)]
pub(super) struct LocalTimes {
    zone: TimeZone,
    all: Course,
    of_series: HashMap<u64, Course>,
    /// Number of times that occur twice or never.
    pub(super) ambiguous: u64,
}

impl LocalTimes {
    pub(super) fn new(zone: TimeZone) -> Self {
        Self { zone, all: Course::default(), of_series: HashMap::new(), ambiguous: 0 }
    }

    /// Converts nanoseconds of a local clock to UTC. `series` is that of the row, if it is known.
    pub(super) fn in_utc(&mut self, clock: i128, series: Option<u64>) -> Option<i128> {
        let at = |offset: Offset| clock - i128::from(offset.seconds()) * NANOS;
        let seconds = |nanos: i128| nanos.div_euclid(NANOS) as i64;
        let offset = self.zone.to_ambiguous_timestamp(clock_of(clock)?).offset();
        self.ambiguous += u64::from(!matches!(offset, AmbiguousOffset::Unambiguous { .. }));
        let found = match offset {
            AmbiguousOffset::Unambiguous { offset } => at(offset),
            AmbiguousOffset::Gap { before, .. } => at(before),
            AmbiguousOffset::Fold { before, after } => {
                let known = series.and_then(|series| self.of_series.get(&series));
                let course = known.filter(|course| course.step() != 0).unwrap_or(&self.all);
                match course.is_second(seconds(at(before)), seconds(at(after))) {
                    true => at(after),
                    false => at(before),
                }
            }
        };
        self.all.add(seconds(found));
        if let Some(series) = series {
            if self.of_series.len() == MOST && !self.of_series.contains_key(&series) {
                self.of_series.clear();
            }
            self.of_series.entry(series).or_default().add(seconds(found));
        }
        Some(found)
    }
}

/// The last times of rows in their order, in seconds of UTC.
#[derive(Clone, Copy, Debug, Default)]
struct Course {
    last: Option<i64>,
    /// The last two distances between times that differ. 0 if there are fewer.
    steps: [i64; 2],
    /// Number of rows in a row with the last time, and with each of the two times before it.
    rows: [u32; 3],
}

impl Course {
    fn add(&mut self, time: i64) {
        let step = self.last.map_or(0, |last| time - last);
        if self.last.is_none() || step != 0 {
            self.rows = [0, self.rows[0], self.rows[1]];
        }
        if step != 0 {
            self.steps = [step, self.steps[0]];
        }
        self.rows[0] += 1;
        self.last = Some(time);
    }

    /// Returns the usual distance of times: the shorter one of the last two, as one may be a gap.
    fn step(&self) -> i64 {
        match self.steps {
            [last, before] if before == 0 || last.abs() <= before.abs() => last,
            [_, before] => before,
        }
    }

    /// Whether a local time that occurs at two instants is the second one.
    fn is_second(&self, first: i64, second: i64) -> bool {
        let Some(last) = self.last else { return false };
        let step = self.step();
        // Several sensors may have the same times.
        if (last == first || last == second) && self.rows[0] < self.rows[1].max(self.rows[2]) {
            return last == second;
        }
        // A row that is a little late does not begin the second hour.
        let ahead = last + step - (first + second) / 2;
        match step {
            _ if ahead.abs() > FAR => step < 0,
            0.. => first <= last && ahead >= 0,
            _ => second < last || ahead >= 0,
        }
    }
}
