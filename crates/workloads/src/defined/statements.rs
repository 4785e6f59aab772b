//! SQL statements of a workload file's phases. The dialect provides what engines write differently.

pub(super) mod conditions;
mod groups;
pub(super) mod reads;
pub(super) mod statistics;

use embermark_contract::sql::Dialect;
use embermark_language::{Change, Query, Removed, Work};
use embermark_model::table::ColumnType;

use super::{Rows, Stored};

/// Writes statements about a table in a dialect.
#[derive(Clone, Copy)]
pub(super) struct Texts<'a> {
    pub dialect: &'a dyn Dialect,
    pub rows: &'a Rows,
    /// Whether columns that are fields of documents are stored in the documents instead of as
    /// columns.
    pub documents: bool,
    /// Column of which each operation asks about one value.
    pub each: Option<usize>,
}

impl Texts<'_> {
    fn name(&self, column: usize) -> String {
        self.name_of("", column)
    }

    /// Returns a column with a table prefix, or the expression that reads it from its document.
    fn name_of(&self, prefix: &str, column: usize) -> String {
        let column = &self.rows.table.columns[column];
        if let Some(within) = column.within.as_deref().filter(|_| self.documents)
            && let document = format!("{prefix}{}", self.dialect.column(&within.document))
            && let Some(field) = self.field(&document, &within.field, column.of)
        {
            return field;
        }
        format!("{prefix}{}", self.dialect.column(&column.name))
    }

    /// Returns the expression that reads a field of a document, if the engine has one.
    fn field(&self, document: &str, field: &str, of: ColumnType) -> Option<String> {
        match of {
            ColumnType::Text | ColumnType::Bytes => self.dialect.json_text(document, field),
            ColumnType::Float => self.dialect.json_number(document, field),
            ColumnType::Bool | ColumnType::Int { .. } | ColumnType::Timestamp(_) => {
                self.dialect.json_integer(document, field)
            }
        }
    }

    /// Returns the name of a stored column.
    fn written_name<'a>(&'a self, stored: &'a Stored) -> &'a str {
        match stored {
            Stored::Column(column) => &self.rows.table.columns[*column].name,
            Stored::Document(document) => &document.name,
        }
    }

    /// Returns the placeholders of the stored columns.
    fn places(&self, written: &[Stored]) -> String {
        let place = |(stored, n): (&Stored, usize)| match stored {
            Stored::Document(document) if document.binary => {
                self.dialect.binary_json_of(&self.place(n))
            }
            _ => self.place(n),
        };
        written.iter().zip(1..).map(place).collect::<Vec<_>>().join(", ")
    }

    fn names<'a>(&self, columns: impl IntoIterator<Item = &'a usize>) -> Vec<String> {
        columns.into_iter().map(|column| self.name(*column)).collect()
    }

    fn all(&self) -> String {
        self.all_of("")
    }

    /// Returns every column with a table prefix.
    fn all_of(&self, prefix: &str) -> String {
        let columns = 0..self.rows.table.columns.len();
        columns.map(|column| self.name_of(prefix, column)).collect::<Vec<_>>().join(", ")
    }

    fn table(&self) -> String {
        self.dialect.table(&self.rows.table.name)
    }

    fn place(&self, n: usize) -> String {
        self.dialect.placeholder(n)
    }

    /// Returns the statements of a phase, in the order in which its operations number them.
    pub(super) fn statements(&self, work: &Work, seeks: bool, values: usize) -> Vec<String> {
        match work {
            Work::Insert { .. } => vec![self.insert()],
            Work::Get { .. } | Work::Open { .. } => vec![self.get()],
            Work::Range(range) => vec![self.range(range)],
            Work::Ask { query, .. } => match query {
                &Query::Latest { by, time } => self.latest_statements((by, time), seeks, values),
                Query::Find { conditions, select } => vec![self.find(conditions, select)],
                &Query::Gaps { by, time, longer } => vec![self.gaps((by, time), longer)],
                &Query::Outliers { of, by, deviations } => {
                    vec![self.outliers((of, by), deviations)]
                }
                Query::Correlate(question) => vec![self.correlate(question)],
                Query::Group(group) => vec![self.group(group)],
            },
            Work::UpdateWhere { conditions, set, by: Change::OneByOne(_), .. } => {
                let columns: Vec<usize> = set.iter().map(|(column, _)| *column).collect();
                vec![self.update(&columns, false), self.find(conditions, &self.rows.table.key)]
            }
            Work::UpdateWhere { conditions, set, .. } => vec![self.update_where(conditions, set)],
            Work::Update { set, keys, .. } => self.updates(set, keys.rows > 1),
            Work::Upsert { .. } => vec![self.upsert()],
            Work::ReadModifyWrite { set, .. } => {
                let mut all = self.updates(set, false);
                all.push(self.get());
                all
            }
            Work::Delete { removed, .. } => {
                let mut all = vec![self.delete(removed)];
                if let Removed::Where { conditions, by: Change::OneByOne(_) } = removed {
                    all.push(self.find(conditions, &self.rows.table.key));
                }
                all
            }
            Work::Sql(_) | Work::Mix(_) | Work::Sequence(_) | Work::Keep(_) | Work::Arrive(_) => {
                Vec::new()
            }
        }
    }

    /// Returns the statements of a `latest` of these columns: by, and time.
    fn latest_statements(&self, of: (usize, usize), seeks: bool, values: usize) -> Vec<String> {
        let (by, time) = of;
        match self.each {
            Some(each) if each == by && seeks => vec![self.latest_of(of)],
            Some(each) if each == by => vec![self.latest_of(of), self.latest_of_all(of, values)],
            Some(each) => vec![self.latest_among(of, each)],
            None => vec![self.latest(by, time, seeks)],
        }
    }
}
