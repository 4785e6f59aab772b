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

impl Question {
    /// Those of a layout.
    pub const fn of(layout: Layout) -> &'static [Self] {
        match layout {
            Layout::Samples => &[
                Self::Insert,
                Self::Seek(Seek::FirstAbove),
                Self::Seek(Seek::FirstBelow),
                Self::Seek(Seek::LastAbove),
                Self::Seek(Seek::LastBelow),
                Self::Lowest,
                Self::Samples,
                Self::Sums,
                Self::Others,
                Self::Seconds,
                Self::Angles,
                Self::Newest,
            ],
            Layout::Seconds => &[Self::InsertSecond, Self::SecondsJson, Self::NewestJson],
        }
    }
}

/// After the first and before the last: s, s, s, ns, s, ns of both.
const RANGE: &str = "s BETWEEN @ AND @ AND (s > @ OR ns >= @) AND (s < @ OR ns < @)";

/// The text of a statement, with the dialect's parameters.
pub(super) fn text(question: Question, dialect: &dyn Dialect) -> String {
    let template = match question {
        Question::Insert => {
            let row = "(@, @, @, @)";
            format!(
                "INSERT INTO sample (s, ns, number, value) VALUES {}",
                [row; CHANNELS].join(", ")
            )
        }
        Question::InsertSecond => "INSERT INTO second (s, data) VALUES (@, @)".to_owned(),
        Question::Seek(seek) => {
            let wanted = match seek.above() {
                true => format!("value > {HALF}"),
                false => format!("value < {EIGHTH}"),
            };
            // s, s, ns
            let (of, order) = match seek.forward() {
                true => ("s >= @ AND (s > @ OR ns > @)", "s, ns"),
                false => ("s <= @ AND (s < @ OR ns < @)", "s DESC, ns DESC"),
            };
            format!(
                "SELECT s, ns FROM sample WHERE {of} AND number = 0 AND {wanted} \
                 ORDER BY {order} LIMIT 1"
            )
        }
        Question::Lowest => {
            let range = RANGE.replace("ns >=", "ns >");
            format!(
                "SELECT s, ns FROM sample WHERE {range} AND number = 0 \
                 ORDER BY value, s, ns LIMIT 1"
            )
        }
        Question::Samples => {
            format!("SELECT s, ns, number, value FROM sample WHERE {RANGE} ORDER BY s, ns, number")
        }
        Question::Sums => {
            format!("SELECT SUM(value) FROM sample WHERE {RANGE} GROUP BY number ORDER BY number")
        }
        Question::Others => format!(
            "SELECT s, ns, number, value FROM sample WHERE {RANGE} AND number > 0 \
             ORDER BY s, ns, number"
        ),
        Question::Seconds => "SELECT s, ns, number, value FROM sample WHERE s BETWEEN @ AND @ \
             ORDER BY s, ns, number"
            .to_owned(),
        Question::Angles => "SELECT s, ns, number, value FROM sample WHERE s BETWEEN @ AND @ \
             AND number = 0 ORDER BY s, ns"
            .to_owned(),
        Question::Newest => "SELECT s, ns FROM sample ORDER BY s DESC, ns DESC LIMIT 1".to_owned(),
        Question::SecondsJson => {
            "SELECT s, data FROM second WHERE s BETWEEN @ AND @ ORDER BY s".to_owned()
        }
        Question::NewestJson => "SELECT s, data FROM second ORDER BY s DESC LIMIT 1".to_owned(),
    };
    let mut text = String::with_capacity(template.len() + 16);
    for (place, part) in template.split('@').enumerate() {
        if place > 0 {
            text.push_str(&dialect.placeholder(place));
        }
        text.push_str(part);
    }
    text
}

#[cfg(test)]
mod tests;
