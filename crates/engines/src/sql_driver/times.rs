//! Writes dates and times of results as text.

use std::fmt::Write;

use jiff::SignedDuration;
use jiff::civil::DateTime;

/// The beginning of 1970. A `jiff::Timestamp` ends a day before the year 9999 does.
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// The parts of a time that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `2024-02-29`
    Date,
    /// `23:59:59.5`
    Time,
    /// `2024-02-29 23:59:59.5`
    DateTime,
    /// `2024-02-29 23:59:59.5+00`
    Instant,
}

/// Writes a time in nanoseconds since 1970, or since midnight. Returns `None` for years outside of
/// -9999 to 9999, which ISO 8601 cannot express.
pub(crate) fn write(nanoseconds: i128, form: Form, room: &mut String) -> Option<()> {
    let seconds = i64::try_from(nanoseconds.div_euclid(1_000_000_000)).ok()?;
    let of_second = nanoseconds.rem_euclid(1_000_000_000) as i32;
    let at = EPOCH.checked_add(SignedDuration::new(seconds, of_second)).ok()?;
    let (date, time) = (at.date(), at.time());
    room.clear();
    let written = match form {
        Form::Date => write!(room, "{date}"),
        Form::Time => write!(room, "{time}"),
        Form::DateTime => write!(room, "{date} {time}"),
        Form::Instant => write!(room, "{date} {time}+00"),
    };
    written.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_iso_8601_has_them_without_idle_zeros() {
        let written = |nanoseconds, form| {
            let mut room = "before".to_owned();
            write(nanoseconds, form, &mut room).map(|()| room)
        };
        let leap = 1_709_251_199_500_000_000;
        assert_eq!(written(leap, Form::Date).as_deref(), Some("2024-02-29"));
        assert_eq!(written(leap, Form::Time).as_deref(), Some("23:59:59.5"));
        assert_eq!(written(leap, Form::DateTime).as_deref(), Some("2024-02-29 23:59:59.5"));
        assert_eq!(written(leap, Form::Instant).as_deref(), Some("2024-02-29 23:59:59.5+00"));
        assert_eq!(written(-1, Form::DateTime).as_deref(), Some("1969-12-31 23:59:59.999999999"));
        assert_eq!(written(0, Form::Time).as_deref(), Some("00:00:00"));
        let last = 253_402_300_799_000_000_000;
        assert_eq!(written(last, Form::DateTime).as_deref(), Some("9999-12-31 23:59:59"));
        assert_eq!(written(last + 1_000_000_000, Form::Date), None);
        assert_eq!(written(i128::MAX, Form::Date), None);
    }
}
