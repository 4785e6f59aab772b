//! Tables of an SQL database: embermark's design, and the published one.

use embermark_contract::sql::{
    Dialect,
    Nullable::{No, Yes},
    SqlType::{Big, Int, Text},
    TableDef,
};

use super::machine_log::{Form, Layout};

/// Five rows per sample: second, nanosecond, channel number, value.
static SAMPLE: TableDef = TableDef {
    name: "sample",
    columns: &[("s", Big, No), ("ns", Int, No), ("number", Int, No), ("value", Int, No)],
    key: &["s", "ns", "number"],
};

/// A row per second: the second and its samples as JSON.
static SECOND: TableDef =
    TableDef { name: "second", columns: &[("s", Big, No), ("data", Text, No)], key: &["s"] };

/// Table I of the source, with an index of times and no primary key.
static PUBLISHED_SAMPLE: TableDef = TableDef {
    name: "datapoint",
    columns: &[
        ("second", Big, Yes),
        ("nanosecond", Int, Yes),
        ("number", Int, Yes),
        ("measurement", Int, Yes),
    ],
    key: &[],
};

/// Table II of the source, likewise. It has the length of the JSON before it.
static PUBLISHED_SECOND: TableDef = TableDef {
    name: "datapoints",
    columns: &[("second", Big, Yes), ("size", Int, Yes), ("measurements", Text, Yes)],
    key: &[],
};

/// Returns the table of a design and a layout.
pub(super) const fn table(form: Form, layout: Layout) -> &'static TableDef {
    match (form, layout) {
        (Form::Own, Layout::Samples) => &SAMPLE,
        (Form::Own, Layout::Seconds) => &SECOND,
        (Form::Published, Layout::Samples) => &PUBLISHED_SAMPLE,
        (Form::Published, Layout::Seconds) => &PUBLISHED_SECOND,
    }
}

/// Returns the statements that create the table of a design and a layout.
pub(super) fn create(form: Form, layout: Layout, dialect: &dyn Dialect) -> Vec<String> {
    let table = table(form, layout);
    let json = dialect.json().unwrap_or(dialect.long_text());
    let own: Vec<(&str, &str)> = match (form, layout) {
        (Form::Own, Layout::Samples) => Vec::new(),
        (Form::Own, Layout::Seconds) => vec![("data", json)],
        (Form::Published, Layout::Samples) => {
            let small = dialect.unsigned(16);
            vec![("number", small), ("measurement", small)]
        }
        (Form::Published, Layout::Seconds) => {
            vec![("measurements", json), ("size", dialect.unsigned(32))]
        }
    };
    let mut statements = vec![dialect.create_table_of(table, &own)];
    if form == Form::Own {
        // The time is in seconds.
        statements.extend(dialect.part_by_time(table, "s", 86_400));
        return statements;
    }
    let (name, times) = (table.name, if layout == Layout::Samples { 2 } else { 1 });
    let times = table.columns[..times].iter().map(|(column, ..)| dialect.column(column));
    let times = times.collect::<Vec<_>>().join(", ");
    statements.push(format!("CREATE INDEX {name}_time ON {} ({times})", dialect.table(name)));
    statements
}
