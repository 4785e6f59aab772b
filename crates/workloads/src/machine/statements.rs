//! SQL statements of the machine workload. The columns of a time are compared one by one, `s` first
//! and on its own, because every engine answers that from the primary key. Not every engine has
//! comparisons of rows such as `(s, ns) > (?, ?)`.

use embermark_contract::sql::{Dialect, TableDef};
use embermark_data::machine::{CHANNELS, EIGHTH, HALF};

use super::machine_log::{Form, Layout, Seek};
use super::schema::table;

/// Kind of a statement. Its parameters are described next to its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatementKind {
    /// The five rows of a sample, or the row of a second.
    Insert,
    /// The time of the nearest sample.
    Seek(Seek),
    /// The time of the smallest angle between two samples.
    Lowest,
    /// The rows of a range.
    Samples,
    /// The sums of a range.
    Sums,
    /// The rows of a range, except those of the angle.
    Others,
    /// The rows of some seconds: channels, or JSON.
    Seconds,
    /// The angles of some seconds.
    Angles,
    /// The newest time, or the newest second as JSON.
    Newest,
}

/// Returns every statement of a design and a layout, with its text in the dialect.
pub(super) fn all(
    form: Form,
    layout: Layout,
    dialect: &dyn Dialect,
) -> Vec<(StatementKind, String)> {
    let TableDef { name, columns, .. } = table(form, layout);
    let columns: Vec<&str> = columns.iter().map(|(name, ..)| *name).collect();
    let named: Vec<String> = columns.iter().map(|name| dialect.column(name)).collect();
    let (table, first) = (dialect.table(name), dialect.limit("1"));
    let (rows, questions) = match layout {
        Layout::Samples => (CHANNELS, of_samples(form, &table, &named, &first)),
        Layout::Seconds => (1, of_seconds(&table, &named, &first)),
    };
    let numbered = |(kind, text): (StatementKind, String)| {
        let parts = text.split('@').enumerate().map(|(place, part)| match place {
            0 => part.to_owned(),
            _ => dialect.placeholder(place) + part,
        });
        (kind, parts.collect::<String>())
    };
    let insert = (StatementKind::Insert, dialect.insert_rows(name, &columns, rows));
    std::iter::once(insert).chain(questions.into_iter().map(numbered)).collect()
}

/// Returns the questions about seconds, with `@` for each parameter.
fn of_seconds(table: &str, names: &[String], first: &str) -> Vec<(StatementKind, String)> {
    let (s, columns) = (&names[0], names.join(", "));
    vec![
        (
            StatementKind::Seconds,
            format!("SELECT {columns} FROM {table} WHERE {s} BETWEEN @ AND @ ORDER BY {s}"),
        ),
        (StatementKind::Newest, format!("SELECT {columns} FROM {table} ORDER BY {s} DESC {first}")),
    ]
}

/// Returns the questions about samples, with `@` for each parameter.
fn of_samples(
    form: Form,
    table: &str,
    names: &[String],
    first: &str,
) -> Vec<(StatementKind, String)> {
    let (s, ns, number, value, columns) =
        (&names[0], &names[1], &names[2], &names[3], names.join(", "));
    // After the first and before the last: s, s, s, ns, s, ns of both.
    let range = format!("{s} BETWEEN @ AND @ AND ({s} > @ OR {ns} >= @) AND ({s} < @ OR {ns} < @)");
    let within = range.replace(&format!("{ns} >="), &format!("{ns} >"));
    // The index of the source's table has no channel numbers, so the rows of a sample come in any
    // order of them.
    let order = match form {
        Form::Own => format!("{s}, {ns}, {number}"),
        Form::Published => format!("{s}, {ns}"),
    };
    let rows = |condition: &str| {
        format!("SELECT {columns} FROM {table} WHERE {condition} ORDER BY {order}")
    };
    let seconds = format!("{s} BETWEEN @ AND @");
    let mut all = vec![
        (
            StatementKind::Lowest,
            format!(
                "SELECT {s}, {ns} FROM {table} WHERE {within} AND {number} = 0 \
                 ORDER BY {value}, {s}, {ns} {first}"
            ),
        ),
        (
            StatementKind::Sums,
            format!(
                "SELECT SUM({value}) FROM {table} WHERE {range} GROUP BY {number} \
                 ORDER BY {number}"
            ),
        ),
        (StatementKind::Samples, rows(&range)),
        (StatementKind::Others, rows(&format!("{range} AND {number} > 0"))),
        (StatementKind::Seconds, rows(&seconds)),
        (StatementKind::Angles, rows(&format!("{seconds} AND {number} = 0"))),
        (
            StatementKind::Newest,
            format!("SELECT {s}, {ns} FROM {table} ORDER BY {s} DESC, {ns} DESC {first}"),
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
             ORDER BY {order} {first}"
        );
        (StatementKind::Seek(seek), text)
    }));
    all
}

#[cfg(test)]
mod tests {
    use super::super::schema::create;
    use super::*;

    struct Dollars;

    impl Dialect for Dollars {
        fn placeholder(&self, n: usize) -> String {
            format!("${n}")
        }
    }

    #[test]
    fn every_statement_is_once_in_a_layout_and_has_its_parameters_in_order() {
        let layouts =
            [Layout::Samples, Layout::Seconds].map(|layout| all(Form::Own, layout, &Dollars));
        for all in &layouts {
            for (place, (question, text)) in all.iter().enumerate() {
                let is_new = all[..place].iter().all(|(other, _)| other != question);
                assert!(is_new && !text.is_empty(), "{question:?}");
            }
        }
        let text = |question| {
            let found = layouts[0].iter().find(|(other, _)| *other == question);
            found.unwrap().1.as_str()
        };
        assert_eq!(
            text(StatementKind::Seek(Seek::LastBelow)),
            "SELECT s, ns FROM sample WHERE s <= $1 AND (s < $2 OR ns < $3) AND number = 0 \
         AND value < 511 ORDER BY s DESC, ns DESC LIMIT 1"
        );
        assert!(text(StatementKind::Insert).ends_with("($17, $18, $19, $20)"));
    }

    #[test]
    fn the_tables_of_the_source_have_its_columns_an_index_of_times_and_no_primary_key() {
        let create = |layout| create(Form::Published, layout, &Dollars).join("; ");
        assert_eq!(
            create(Layout::Samples),
            "CREATE TABLE datapoint (second BIGINT, nanosecond INTEGER, number SMALLINT, \
         measurement SMALLINT); CREATE INDEX datapoint_time ON datapoint (second, nanosecond)"
        );
        assert_eq!(
            create(Layout::Seconds),
            "CREATE TABLE datapoints (second BIGINT, size INTEGER, measurements TEXT); \
         CREATE INDEX datapoints_time ON datapoints (second)"
        );
        let all = [Layout::Samples, Layout::Seconds]
            .map(|layout| all(Form::Published, layout, &Dollars))
            .concat();
        let seek =
            all.iter().find(|(question, _)| *question == StatementKind::Seek(Seek::LastBelow));
        assert_eq!(
            seek.unwrap().1,
            "SELECT second, nanosecond FROM datapoint WHERE second <= $1 AND (second < $2 \
         OR nanosecond < $3) AND number = 0 AND measurement < 511 \
         ORDER BY second DESC, nanosecond DESC LIMIT 1"
        );
    }
}
