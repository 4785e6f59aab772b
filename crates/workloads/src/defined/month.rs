//! Months of the civil calendar, in UTC (H. Hinnant, chrono-Compatible Low-Level Date Algorithms).

use embermark_model::table::TimeUnit;

const DAY: i64 = 86_400;

/// Returns the beginning of a time's month, in a unit since 1970-01-01.
pub(super) fn begin(time: i64, unit: TimeUnit) -> i64 {
    let of_day = DAY * unit.per_second();
    let day = time.div_euclid(of_day);
    let (_, month, of_year) = from_march(day);
    (day - (of_year - (153 * month + 2) / 5)) * of_day
}

/// Returns the year of a time in a unit since 1970-01-01.
pub(super) fn year(time: i64, unit: TimeUnit) -> i64 {
    let (year, month, _) = from_march(time.div_euclid(DAY * unit.per_second()));
    year + i64::from(month >= 10)
}

/// Returns the year, month, and day of a day since 1970-01-01, with months and days from 0. The
/// year begins in March, so that a leap day is its last.
fn from_march(day: i64) -> (i64, i64, i64) {
    let days = day + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    (era * 400 + year, (5 * of_year + 2) / 153, of_year)
}

/// Returns the beginning of the month after the one that begins at a time.
pub(super) fn next(begin_of: i64, unit: TimeUnit) -> i64 {
    begin(begin_of.saturating_add(31 * DAY * unit.per_second()), unit)
}

/// Returns the beginning of a month given as a number such as 202401, in a unit since 1970-01-01.
pub(super) fn of_number(number: i64, unit: TimeUnit) -> i64 {
    let (year, month) = (number.div_euclid(100), number.rem_euclid(100));
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * month + 2) / 5;
    (day - 719_468) * DAY * unit.per_second()
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use jiff::tz::TimeZone;

    use super::*;

    #[test]
    fn months_are_those_of_the_calendar() {
        for year in [1899, 1900, 1969, 1970, 1999, 2000, 2023, 2024, 2100] {
            for month in 1..=12 {
                let first = date(year, month, 1);
                let at = |date: jiff::civil::Date| {
                    date.to_zoned(TimeZone::UTC).unwrap().timestamp().as_millisecond()
                };
                let begin_ms = at(first);
                let number = i64::from(year) * 100 + i64::from(month);
                assert_eq!(of_number(number, TimeUnit::Milliseconds), begin_ms, "{number}");
                let end = at(first.last_of_month()) + DAY * 1_000 - 1;
                for time in [begin_ms, begin_ms + 1, end] {
                    assert_eq!(begin(time, TimeUnit::Milliseconds), begin_ms, "{number}");
                    assert_eq!(super::year(time, TimeUnit::Milliseconds), i64::from(year));
                }
                assert_eq!(next(begin_ms, TimeUnit::Milliseconds), end + 1, "{number}");
                assert_eq!(begin(begin_ms / 1_000, TimeUnit::Seconds), begin_ms / 1_000);
            }
        }
    }
}
