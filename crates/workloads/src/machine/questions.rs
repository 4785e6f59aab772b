//! The SQL texts. Columns of a time are compared one by one, `s` first and by itself, which every
//! engine answers from the primary key; a comparison of rows, `(s, ns) > (?, ?)`, is not for all.

use embermark_contract::sql::Dialect;
use embermark_data::machine::{CHANNELS, EIGHTH, HALF};

use super::port::{Layout, Seek};

/// A statement. What its parameters are stands with its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// The five rows of a sample.
    Insert,
    /// The row of a second.
    InsertSecond,
    /// The time of the nearest sample.
    Seek(Seek),
    /// The time of the smallest angle between two samples.
    Lowest,
    /// The rows of a range.
    Samples,
    /// The sums of a range.
    Sums,
    /// The rows of a range but those of the angle.
    Others,
    /// The rows of some seconds.
    Seconds,
    /// The angles of some seconds.
    Angles,
    /// The newest time.
    Newest,
    /// Some seconds, as JSON.
    SecondsJson,
    /// The newest second, as JSON.
    NewestJson,
}

/// After the first and before the last: s, s, s, ns, s, ns of both.
const RANGE: &str = "s BETWEEN @ AND @ AND (s > @ OR ns >= @) AND (s < @ OR ns < @)";

/// Every statement of a layout with its text, which has the dialect's parameters.
pub(super) fn all(layout: Layout, dialect: &dyn Dialect) -> Vec<(Question, String)> {
    let mut all = match layout {
        Layout::Samples => of_samples(),
        Layout::Seconds => vec![
            (Question::InsertSecond, "INSERT INTO second (s, data) VALUES (@, @)".to_owned()),
            (
                Question::SecondsJson,
                "SELECT s, data FROM second WHERE s BETWEEN @ AND @ ORDER BY s".to_owned(),
            ),
            (Question::NewestJson, "SELECT s, data FROM second ORDER BY s DESC LIMIT 1".to_owned()),
        ],
    };
    for (_, text) in &mut all {
        let parts = text.split('@').enumerate().map(|(place, part)| match place {
            0 => part.to_owned(),
            _ => dialect.placeholder(place) + part,
        });
        *text = parts.collect();
    }
    all
}

fn of_samples() -> Vec<(Question, String)> {
    let rows = |condition: &str| {
        format!("SELECT s, ns, number, value FROM sample WHERE {condition} ORDER BY s, ns, number")
    };
    let seconds = "s BETWEEN @ AND @";
    let row = ["(@, @, @, @)"; CHANNELS].join(", ");
    let within = RANGE.replace("ns >=", "ns >");
    let mut all = vec![
        (Question::Insert, format!("INSERT INTO sample (s, ns, number, value) VALUES {row}")),
        (
            Question::Lowest,
            format!(
                "SELECT s, ns FROM sample WHERE {within} AND number = 0 \
                 ORDER BY value, s, ns LIMIT 1"
            ),
        ),
        (
            Question::Sums,
            format!("SELECT SUM(value) FROM sample WHERE {RANGE} GROUP BY number ORDER BY number"),
        ),
        (Question::Samples, rows(RANGE)),
        (Question::Others, rows(&format!("{RANGE} AND number > 0"))),
        (Question::Seconds, rows(seconds)),
        (Question::Angles, rows(&format!("{seconds} AND number = 0"))),
        (Question::Newest, "SELECT s, ns FROM sample ORDER BY s DESC, ns DESC LIMIT 1".to_owned()),
    ];
    all.extend(Seek::ALL.map(|seek| {
        // s, s, ns
        let (of, order) = match seek.forward() {
            true => ("s >= @ AND (s > @ OR ns > @)", "s, ns"),
            false => ("s <= @ AND (s < @ OR ns < @)", "s DESC, ns DESC"),
        };
        let (than, angle) = if seek.above() { (">", HALF) } else { ("<", EIGHTH) };
        let text = format!(
            "SELECT s, ns FROM sample WHERE {of} AND number = 0 AND value {than} {angle} \
             ORDER BY {order} LIMIT 1"
        );
        (Question::Seek(seek), text)
    }));
    all
}

#[cfg(test)]
mod tests;
