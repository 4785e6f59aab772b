//! A column of CSV and Parquet, and the header of several results.

use embermark_model::result::{Maintenance, Resources, Run, Trial};

use super::lines::Line;
use crate::text::plain;

/// A column, and the function that gets its value from a line.
pub(super) struct Column {
    pub name: String,
    pub get: Get,
}

impl Get {
    /// Returns the type of its values in SQL.
    const fn sql_type(&self) -> &'static str {
        match self {
            Self::Text(_) => "VARCHAR",
            Self::Flag(_) => "BOOLEAN",
            Self::Whole(_) => "BIGINT",
            Self::Real(_) => "DOUBLE",
        }
    }

    /// Returns the value of a line as a text, from which its type reads back the same value.
    pub fn text(&self, line: &Line<'_>) -> Option<String> {
        match self {
            Self::Text(get) => get(line),
            Self::Flag(get) => get(line).map(|flag| flag.to_string()),
            Self::Whole(get) => get(line).map(|number| number.to_string()),
            Self::Real(get) => get(line).map(|number| number.to_string()),
        }
    }
}

type Getter<T> = Box<dyn Fn(&Line<'_>) -> Option<T>>;

/// A function for values of one type. It returns `None` if the value was not measured or does not
/// apply to the line.
pub(super) enum Get {
    Text(Getter<String>),
    Flag(Getter<bool>),
    Whole(Getter<i64>),
    Real(Getter<f64>),
}

pub(super) type Figure<T> = fn(&T) -> Option<u64>;

/// The columns of several results by name and SQL type: those of the first, then further ones of
/// the others.
#[derive(Debug, Default)]
pub(super) struct Header(pub Vec<(String, &'static str)>);

impl Header {
    /// Adds the columns that the header does not have.
    pub fn add(&mut self, columns: &[Column]) {
        for column in columns {
            if !self.0.iter().any(|(name, _)| *name == column.name) {
                self.0.push((column.name.clone(), column.get.sql_type()));
            }
        }
    }

    /// Returns for each column of the header the one that a result has, if it has it.
    pub fn matching<'a>(&self, columns: &'a [Column]) -> Vec<Option<&'a Get>> {
        let of = |(name, sql_type): &(String, &str)| {
            let own = columns.iter().find(|column| column.name == *name)?;
            // A column with the same name and another type is not this column.
            (own.get.sql_type() == *sql_type).then_some(&own.get)
        };
        self.0.iter().map(of).collect()
    }
}

pub(super) fn column(name: &str, get: Get) -> Column {
    Column { name: plain(name).replace('-', "_"), get }
}

pub(super) fn word(name: &str, get: impl Fn(&Line<'_>) -> Option<String> + 'static) -> Column {
    column(name, Get::Text(Box::new(get)))
}

pub(super) fn flag(name: &str, get: impl Fn(&Line<'_>) -> Option<bool> + 'static) -> Column {
    column(name, Get::Flag(Box::new(get)))
}

pub(super) fn real(name: &str, get: impl Fn(&Line<'_>) -> Option<f64> + 'static) -> Column {
    column(name, Get::Real(Box::new(get)))
}

pub(super) fn whole(name: &str, get: impl Fn(&Line<'_>) -> Option<u64> + 'static) -> Column {
    column(name, Get::Whole(Box::new(move |line| i64::try_from(get(line)?).ok())))
}

pub(super) fn trial(name: &str, get: Figure<Trial>) -> Column {
    whole(name, move |line| get(line.trial?))
}

pub(super) fn run(name: &str, get: Figure<Run>) -> Column {
    whole(name, move |line| get(line.run?.1))
}

/// Returns every resource, by the end of the names of its columns.
fn resources(of: &Resources) -> [(&'static str, Option<u64>); 5] {
    let Resources { cpu_ns, peak_bytes, mean_bytes, read_bytes, written_bytes } = *of;
    [
        ("cpu_ns", cpu_ns),
        ("peak_bytes", peak_bytes),
        (SAMPLED, mean_bytes),
        ("read_bytes", read_bytes),
        ("written_bytes", written_bytes),
    ]
}

/// The resource that is sampled: of the engine in a run, and of roles.
const SAMPLED: &str = "mean_bytes";

/// Returns the columns of the resources of a part of a run.
pub(super) fn used(
    prefix: &str,
    part: impl Fn(&Run) -> Option<&Resources> + Clone + 'static,
) -> Vec<Column> {
    let names = resources(&Resources::default()).map(|(name, _)| name);
    let column = |(at, name): (usize, &str)| {
        let part = part.clone();
        whole(&format!("{prefix}{name}"), move |line| resources(part(line.run?.1)?)[at].1)
    };
    names.into_iter().enumerate().map(column).collect()
}

/// Leaves out the resource that is sampled.
pub(super) fn unsampled(columns: Vec<Column>) -> impl Iterator<Item = Column> {
    columns.into_iter().filter(|column| !column.name.ends_with(SAMPLED))
}

pub(super) fn maintenance(name: &str, get: Figure<Maintenance>) -> Column {
    whole(name, move |line| get(line.run?.1.maintenance()?))
}
