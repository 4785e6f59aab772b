//! Dates of the Gregorian calendar as days since 1970-01-01.

/// Microseconds in a second.
pub(crate) const SECOND: i64 = 1_000_000;
/// Microseconds in a day.
pub(crate) const DAY: i64 = 86_400 * SECOND;

/// Days from 1970-01-01 to a date, or `None` where the calendar has no such date.
///
/// Counts years from March, so that the leap day ends a year, in cycles of 400 years of 146,097
/// days (E. G. Richards, *Mapping Time*, 1998, ch. 25).
pub(crate) fn days_from_epoch(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=9999).contains(&year) || !(1..=longest).contains(&day) {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    Some(365 * year + year / 4 - year / 100 + year / 400 + day_of_year - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_agree_with_another_calendar_for_nine_centuries() {
        let epoch = jiff::civil::date(1970, 1, 1);
        let mut date = jiff::civil::date(1583, 1, 1);
        while date.year() < 2484 {
            let (year, month, day) = (date.year().into(), date.month().into(), date.day().into());
            let expected = i64::from((date - epoch).get_days());
            assert_eq!(days_from_epoch(year, month, day), Some(expected), "{date}");
            date = date.tomorrow().unwrap();
        }
    }

    #[test]
    fn dates_that_do_not_exist_are_refused() {
        assert!(days_from_epoch(2000, 2, 29).is_some());
        for (y, m, d) in [(2003, 2, 29), (1900, 2, 29), (2004, 4, 31), (2004, 1, 32), (2004, 1, 0)]
        {
            assert_eq!(days_from_epoch(y, m, d), None, "{y}-{m}-{d}");
        }
        for (y, m, d) in [(2004, 13, 1), (2004, 0, 1), (0, 1, 1), (10_000, 1, 1)] {
            assert_eq!(days_from_epoch(y, m, d), None, "{y}-{m}-{d}");
        }
    }
}
