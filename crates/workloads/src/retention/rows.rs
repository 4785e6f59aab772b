//! The rows, made from the seed and their number: whoever knows the number knows the row.

use std::ops::Range;

/// Sensors that report at the same moments.
pub(super) const SENSORS: u64 = 20;

/// Hours of rows that are kept: a day.
pub(super) const HOURS: u64 = 24;

/// An hour in ms.
pub(super) const HOUR_MS: i64 = 3_600_000;

/// When the first sensor reports first: a whole hour, in ms since 1970-01-01 UTC, November 2023.
const BEGIN_MS: i64 = 472_222 * HOUR_MS;

/// What a sensor reports.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Row {
    /// In ms since 1970-01-01 UTC.
    pub time_ms: i64,
    pub sensor: i32,
    /// In degrees, in steps of a quarter: sums of it are exact.
    pub temperature: f64,
    /// In percent, in steps of a quarter.
    pub humidity: f64,
    /// In mV.
    pub battery: i32,
}

impl Row {
    /// Bytes of its values at the width of their types.
    pub const BYTES: u64 = 8 + 4 + 8 + 8 + 4;
}

/// Makes rows: all sensors report at the same moments, as often in an hour as makes the rows of a day.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    seed: u64,
    /// Moments in an hour.
    moments: u64,
}

impl Rows {
    /// Rows in a day at most: a moment each millisecond.
    pub const MOST: u64 = SENSORS * HOURS * HOUR_MS as u64;

    /// Of a day of about so many rows: the next lower number that parts evenly, and 480 at least. `None` where
    /// they are too many.
    pub fn new(seed: u64, kept: u64) -> Option<Self> {
        let moments = (kept / (SENSORS * HOURS)).max(1);
        (moments <= HOUR_MS as u64).then_some(Self { seed, moments })
    }

    /// Rows of an hour.
    pub const fn hour(&self) -> u64 {
        self.moments * SENSORS
    }

    /// Rows that are kept.
    pub const fn kept(&self) -> u64 {
        self.hour() * HOURS
    }

    /// When a moment is, counted from the first: hours begin at whole hours.
    pub const fn time_of(&self, moment: u64) -> i64 {
        let (hour, within) = ((moment / self.moments) as i64, (moment % self.moments) as i64);
        BEGIN_MS + hour * HOUR_MS + within * (HOUR_MS / self.moments as i64)
    }

    /// The first time of an hour.
    pub const fn hour_ms(hour: u64) -> i64 {
        BEGIN_MS + hour as i64 * HOUR_MS
    }

    /// The row of a number.
    pub fn row(&self, number: u64) -> Row {
        let bits = mixed(self.seed, number);
        Row {
            time_ms: self.time_of(number / SENSORS),
            sensor: (number % SENSORS) as i32,
            temperature: (bits & 0xff) as f64 * 0.25 - 16.0,
            humidity: ((bits >> 8) % 401) as f64 * 0.25,
            battery: 2_500 + ((bits >> 32) % 1_200) as i32,
        }
    }

    /// The number of the row at a time of a sensor; `None` where there is no such row.
    pub fn number_of(&self, time_ms: i64, sensor: i32) -> Option<u64> {
        let since = u64::try_from(time_ms - BEGIN_MS).ok()?;
        let (hour, within) = (since / HOUR_MS as u64, since % HOUR_MS as u64);
        let step = HOUR_MS as u64 / self.moments;
        let moment = hour * self.moments + within / step;
        let sensor = u64::try_from(sensor).ok().filter(|sensor| *sensor < SENSORS)?;
        (within % step == 0 && within / step < self.moments).then_some(moment * SENSORS + sensor)
    }

    /// The numbers of the rows that are there when so many came in: an hour goes when all of it is older than
    /// a day, so that there are the hour under way and the 24 before it.
    pub const fn there(&self, came: u64) -> Range<u64> {
        let newest = came.saturating_sub(1) / self.hour();
        newest.saturating_sub(HOURS) * self.hour()..came
    }
}

/// 64 bits for a number, by the finaliser of SplitMix64 (G. Steele, D. Lea, C. Flood, *Fast Splittable
/// Pseudorandom Number Generators*, OOPSLA 2014).
const fn mixed(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::{HOUR_MS, HOURS, Rows, SENSORS};

    #[test]
    fn a_day_has_about_as_many_rows_as_asked_for_and_hours_that_are_alike() {
        for (asked, kept) in [(1, 480), (480, 480), (1_000, 960), (100_000, 99_840)] {
            let rows = Rows::new(1, asked).unwrap();
            assert_eq!((rows.kept(), rows.hour() * HOURS), (kept, kept), "{asked}");
            for hour in 0..30 {
                let first = rows.row(hour * rows.hour());
                assert_eq!(first.time_ms, Rows::hour_ms(hour));
                assert_eq!(first.time_ms % HOUR_MS, 0);
                assert!(rows.row((hour + 1) * rows.hour() - 1).time_ms < Rows::hour_ms(hour + 1));
            }
        }
        assert!(Rows::new(1, Rows::MOST).is_some());
        assert!(Rows::new(1, Rows::MOST + SENSORS * HOURS).is_none());
    }

    #[test]
    fn rows_come_in_the_order_of_their_keys_and_are_known_by_them() {
        let rows = Rows::new(7, 100_000).unwrap();
        let key = |number| (rows.row(number).time_ms, rows.row(number).sensor);
        for number in 0..20_000 {
            assert!(key(number) < key(number + 1), "{number}");
            assert_eq!(rows.number_of(key(number).0, key(number).1), Some(number));
        }
        assert_eq!(rows.number_of(key(0).0 - 1, 0), None);
        assert_eq!(rows.number_of(key(0).0 + 1, 0), None);
        assert_eq!(rows.number_of(key(0).0, SENSORS as i32), None);
    }

    #[test]
    fn the_same_seed_makes_the_same_rows_and_another_one_others() {
        let [one, same, other] = [7, 7, 8].map(|seed| Rows::new(seed, 1_000).unwrap());
        assert_eq!(one.row(5), same.row(5));
        assert!((0..100).any(|number| one.row(number) != other.row(number)));
        for number in 0..10_000 {
            let row = one.row(number);
            assert!(
                (-16.0..=47.75).contains(&row.temperature) && (0.0..=100.0).contains(&row.humidity)
            );
            assert_eq!(row.temperature * 4.0, (row.temperature * 4.0).round());
        }
    }

    #[test]
    fn an_hour_goes_when_all_of_it_is_older_than_a_day() {
        let rows = Rows::new(7, 480).unwrap();
        assert_eq!(rows.there(0), 0..0);
        assert_eq!(rows.there(480), 0..480);
        assert_eq!(rows.there(500), 0..500);
        assert_eq!(rows.there(501), 20..501);
        assert_eq!(rows.there(520), 20..520);
        assert_eq!(rows.there(521), 40..521);
    }
}
