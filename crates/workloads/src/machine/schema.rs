//! Tables of an SQL database: embermark's design, and the published one.

use embermark_contract::sql::{
    Dialect,
    Nullable::{self, No, Yes},
    SqlType::{self, Big, Int, Text},
    TableDef,
};

use super::machine_log::{Form, Layout};

type Column = (&'static str, SqlType, Nullable);

/// Two tables, one per layout.
pub(super) struct Schema {
    /// Five rows per sample: second, nanosecond, channel number, value.
    samples: TableDef,
    /// A row per second: the second and its samples as JSON. If there are three columns, the length
    /// of the JSON is between them.
    seconds: TableDef,
    /// Design of the tables.
    pub form: Form,
}

const SAMPLE: [Column; 4] =
    [("s", Big, No), ("ns", Int, No), ("number", Int, No), ("value", Int, No)];

static OWN: Schema = Schema {
    samples: TableDef { name: "sample", columns: &SAMPLE, key: &["s", "ns", "number"] },
    seconds: TableDef {
        name: "second",
        columns: &[("s", Big, No), ("data", Text, No)],
        key: &["s"],
    },
    form: Form::Own,
};

/// Tables I and II of the source, with an index of times and no primary key.
static PUBLISHED: Schema = Schema {
    samples: TableDef {
        name: "datapoint",
        columns: &[
            ("second", Big, Yes),
            ("nanosecond", Int, Yes),
            ("number", Int, Yes),
            ("measurement", Int, Yes),
        ],
        key: &[],
    },
    seconds: TableDef {
        name: "datapoints",
        columns: &[("second", Big, Yes), ("size", Int, Yes), ("measurements", Text, Yes)],
        key: &[],
    },
    form: Form::Published,
};

impl Schema {
    pub(super) const fn for_form(form: Form) -> &'static Self {
        match form {
            Form::Own => &OWN,
            Form::Published => &PUBLISHED,
        }
    }

    /// Returns the table of a layout.
    pub(super) const fn table(&self, layout: Layout) -> &TableDef {
        match layout {
            Layout::Samples => &self.samples,
            Layout::Seconds => &self.seconds,
        }
    }

    /// Returns the column names of a layout.
    pub(super) fn columns(&self, layout: Layout) -> Vec<&'static str> {
        self.table(layout).columns.iter().map(|(name, ..)| *name).collect()
    }

    /// Returns the statements that create the table of a layout.
    pub(super) fn create(&self, layout: Layout, dialect: &dyn Dialect) -> Vec<String> {
        let table = self.table(layout);
        let json = dialect.json().unwrap_or(dialect.long_text());
        let own: Vec<(&str, &str)> = match (self.form, layout) {
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
        if self.form == Form::Own {
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
}
