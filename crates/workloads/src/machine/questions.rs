//! The SQL texts. Columns of a time are compared one by one, `s` first and by itself, which every
//! engine answers from the primary key; a comparison of rows, `(s, ns) > (?, ?)`, is not for all.

use embermark_contract::sql::Dialect;
use embermark_data::machine::{CHANNELS, EIGHTH, HALF};

use super::port::{Form, Layout, Seek};
use super::schema::Schema;

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

/// Every statement of a layout with its text, which has the dialect's parameters.
pub(super) fn all(
    layout: Layout,
    schema: &Schema,
    dialect: &dyn Dialect,
) -> Vec<(Question, String)> {
    let mut all = match layout {
        Layout::Samples => of_samples(schema),
        Layout::Seconds => of_seconds(schema),
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

fn of_seconds(schema: &Schema) -> Vec<(Question, String)> {
    let (table, names) = schema.names(Layout::Seconds);
    let (s, columns) = (names[0], names.join(", "));
    let values = vec!["@"; names.len()].join(", ");
    vec![
        (Question::InsertSecond, format!("INSERT INTO {table} ({columns}) VALUES ({values})")),
        (
            Question::SecondsJson,
            format!("SELECT {columns} FROM {table} WHERE {s} BETWEEN @ AND @ ORDER BY {s}"),
        ),
        (Question::NewestJson, format!("SELECT {columns} FROM {table} ORDER BY {s} DESC LIMIT 1")),
    ]
}

fn of_samples(schema: &Schema) -> Vec<(Question, String)> {
    let (table, names) = schema.names(Layout::Samples);
    let (s, ns, number, value, columns) =
        (names[0], names[1], names[2], names[3], names.join(", "));
    // After the first and before the last: s, s, s, ns, s, ns of both.
    let range = format!("{s} BETWEEN @ AND @ AND ({s} > @ OR {ns} >= @) AND ({s} < @ OR {ns} < @)");
    let within = range.replace(&format!("{ns} >="), &format!("{ns} >"));
    // The index of the source's table has no numbers: rows of a sample come in any order of them.
    let order = match schema.form() {
        Form::Own => format!("{s}, {ns}, {number}"),
        Form::Published => format!("{s}, {ns}"),
    };
    let rows = |condition: &str| {
        format!("SELECT {columns} FROM {table} WHERE {condition} ORDER BY {order}")
    };
    let seconds = format!("{s} BETWEEN @ AND @");
    let row = ["(@, @, @, @)"; CHANNELS].join(", ");
    let mut all = vec![
        (Question::Insert, format!("INSERT INTO {table} ({columns}) VALUES {row}")),
        (
            Question::Lowest,
            format!(
                "SELECT {s}, {ns} FROM {table} WHERE {within} AND {number} = 0 \
                 ORDER BY {value}, {s}, {ns} LIMIT 1"
            ),
        ),
        (
            Question::Sums,
            format!(
                "SELECT SUM({value}) FROM {table} WHERE {range} GROUP BY {number} \
                 ORDER BY {number}"
            ),
        ),
        (Question::Samples, rows(&range)),
        (Question::Others, rows(&format!("{range} AND {number} > 0"))),
        (Question::Seconds, rows(&seconds)),
        (Question::Angles, rows(&format!("{seconds} AND {number} = 0"))),
        (
            Question::Newest,
            format!("SELECT {s}, {ns} FROM {table} ORDER BY {s} DESC, {ns} DESC LIMIT 1"),
        ),
    ];
    all.extend(Seek::ALL.map(|seek| {
        // s, s, ns
        let (of, order) = match seek.forward() {
            true => (format!("{s} >= @ AND ({s} > @ OR {ns} > @)"), format!("{s}, {ns}")),
            false => {
                (format!("{s} <= @ AND ({s} < @ OR {ns} < @)"), format!("{s} DESC, {ns} DESC"))
            }
        };
        let (than, angle) = if seek.above() { (">", HALF) } else { ("<", EIGHTH) };
        let text = format!(
            "SELECT {s}, {ns} FROM {table} WHERE {of} AND {number} = 0 AND {value} {than} {angle} \
             ORDER BY {order} LIMIT 1"
        );
        (Question::Seek(seek), text)
    }));
    all
}

#[cfg(test)]
mod tests;
