//! Dates and times of results as text.

use std::fmt::Write;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// What is written of a time.
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

/// Writes so many nanoseconds since 1970, of a time since midnight; `None` where the year is none of
/// -9999 to 9999, which no text of ISO 8601 has.
pub(crate) fn write(nanoseconds: i128, form: Form, room: &mut String) -> Option<()> {
    let at = Timestamp::from_nanosecond(nanoseconds).ok()?.to_zoned(TimeZone::UTC).datetime();
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
mod tests;
