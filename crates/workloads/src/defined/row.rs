//! Decodes rows of results as values of a table's columns.

use embermark_contract::row::ResultRow;
use embermark_contract::{EngineError, Result};
use embermark_language::{Aggregate, Group, Grouped, Query};
use embermark_model::answer;
use embermark_model::fingerprint::Fingerprint;
use embermark_model::table::{ColumnType, OwnedValue, Table, Value};
use smallvec::SmallVec;

use super::correlate::pearson;
use super::port::with;
use super::{Found, Rows, month};

/// The values of a row, in the order of its table's columns.
pub(super) type Values<'a> = SmallVec<[Value<'a>; 12]>;

/// A key that was read.
pub(super) type OwnedKey = SmallVec<[OwnedValue; 2]>;

/// Returns a column of a result as a value of a type.
#[inline]
pub(super) fn value(row: &dyn ResultRow, column: usize, of: ColumnType) -> Result<Value<'_>> {
    Ok(match of {
        ColumnType::Bool | ColumnType::Int { .. } | ColumnType::Timestamp(_) => {
            row.int(column)?.map_or(Value::Null, Value::Int)
        }
        ColumnType::Float => row.float(column)?.map_or(Value::Null, Value::Float),
        ColumnType::Text => row.text(column)?.map_or(Value::Null, Value::Text),
        ColumnType::Bytes => row.bytes(column)?.map_or(Value::Null, Value::Bytes),
    })
}

/// Returns the values of a row with every column of a table in order.
pub(super) fn values<'a>(row: &'a dyn ResultRow, table: &Table) -> Result<Values<'a>> {
    table.columns.iter().enumerate().map(|(at, column)| value(row, at, column.of)).collect()
}

/// Returns the fingerprint of a row with every column of a table in order.
#[inline]
pub(super) fn whole(row: &dyn ResultRow, table: &Table) -> Result<Fingerprint> {
    let mut print = Fingerprint::default();
    for (column, def) in table.columns.iter().enumerate() {
        print = with(print, value(row, column, def.of)?);
    }
    Ok(print)
}

/// Returns the fingerprint of a row whose result has the columns outside the key, or all if there
/// are no others.
#[inline]
pub(super) fn beside_key(
    row: &dyn ResultRow,
    table: &Table,
    key: &[Value<'_>],
) -> Result<Fingerprint> {
    if table.key.len() == table.columns.len() {
        return whole(row, table);
    }
    let (mut print, mut at) = (Fingerprint::default(), 0);
    for (column, def) in table.columns.iter().enumerate() {
        let of_key = table.key.iter().position(|of_key| *of_key == column);
        let value = match of_key.map(|place| key[place]) {
            Some(of_key) => of_key,
            None => {
                at += 1;
                value(row, at - 1, def.of)?
            }
        };
        print = with(print, value);
    }
    Ok(print)
}

/// Adds a row of a query's answer. For a correlation, the answer has the coefficient if it is
/// `computed`, and otherwise the centred sums of xy, xx, and yy.
pub(super) fn answer(
    row: &dyn ResultRow,
    query: &Query,
    rows: &Rows,
    computed: bool,
    found: &mut Found,
) -> Result<()> {
    let Found { rows: sum, result, .. } = found;
    match query {
        Query::Latest { .. } => *sum += whole(row, rows.table)?,
        Query::Find { select, .. } => {
            let mut print = Fingerprint::default();
            for (at, column) in select.iter().enumerate() {
                print = with(print, value(row, at, rows.column_type(*column))?);
            }
            *sum += print;
        }
        // Its value, first time, and last time.
        &Query::Gaps { by, time, .. } => add(row, rows, &[by, time, time], result)?,
        // Its key and its value.
        Query::Outliers { of, .. } => add(row, rows, rows.table.key.iter().chain([of]), result)?,
        Query::Correlate(_) => {
            result.push(answer::Value::Int(row.int(0)?.unwrap_or_default()));
            result.push(if computed {
                // Some engines return NaN where others return NULL.
                let coefficient = row.float(1)?.filter(|coefficient| !coefficient.is_nan());
                coefficient.map_or(answer::Value::Null, answer::Value::Float)
            } else {
                match (row.float(1)?, row.float(2)?, row.float(3)?) {
                    (Some(xy), Some(xx), Some(yy)) => pearson(xy, xx, yy),
                    _ => answer::Value::Null,
                }
            });
        }
        Query::Group(of) => group(row, of, rows, result)?,
    }
    Ok(())
}

/// Adds the values of a row whose columns are these of its table.
fn add<'a>(
    row: &dyn ResultRow,
    rows: &Rows,
    columns: impl IntoIterator<Item = &'a usize>,
    result: &mut Vec<answer::Value>,
) -> Result<()> {
    for (at, column) in columns.into_iter().enumerate() {
        result.push(owned(value(row, at, rows.column_type(*column))?));
    }
    Ok(())
}

/// Returns a value as an answer's value, with its own text. Bytes are in hexadecimal.
pub(super) fn owned(value: Value<'_>) -> answer::Value {
    match value {
        Value::Null => answer::Value::Null,
        Value::Int(value) => answer::Value::Int(value),
        Value::Float(value) => answer::Value::Float(value),
        Value::Text(text) => answer::Value::Text(text.to_owned()),
        Value::Bytes(bytes) => {
            answer::Value::Text(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
        }
    }
}

/// Adds every column of a row, and notes their number. A float that is not a number becomes
/// PostgreSQL's text for it, because JSON has none.
pub(super) fn every(row: &dyn ResultRow, room: &mut String, found: &mut Found) -> Result<()> {
    let columns = row.columns()?;
    for column in 0..columns {
        found.result.push(match row.any(column, room)? {
            Value::Float(value) if value.is_nan() => answer::Value::Text("NaN".to_owned()),
            Value::Float(value) if value.is_infinite() => {
                let sign = if value < 0.0 { "-" } else { "" };
                answer::Value::Text(format!("{sign}Infinity"))
            }
            value => owned(value),
        });
    }
    found.columns = columns;
    Ok(())
}

/// Adds a row of a group's result: the group, then what is computed.
fn group(
    row: &dyn ResultRow,
    group: &Group,
    rows: &Rows,
    result: &mut Vec<answer::Value>,
) -> Result<()> {
    for (at, by) in group.by.iter().enumerate() {
        result.push(match by {
            Grouped::Column(column) | Grouped::Bucket { column, .. } => {
                owned(value(row, at, rows.column_type(*column))?)
            }
            Grouped::Month { unit, .. } => {
                let month = row.int(at)?.map(|number| month::of_number(number, *unit));
                month.map_or(answer::Value::Null, answer::Value::Int)
            }
        });
    }
    for (compute, at) in group.compute.iter().zip(group.by.len()..) {
        let of = compute.column.map(|column| rows.column_type(column));
        result.push(aggregate(row, at, compute.aggregate, of)?);
    }
    Ok(())
}

/// Returns an aggregate of a column of this type. Sums and means become numbers, so that engines
/// agree whose sums are decimals or wide integers.
pub(super) fn aggregate(
    row: &dyn ResultRow,
    column: usize,
    aggregate: Aggregate,
    of: Option<ColumnType>,
) -> Result<answer::Value> {
    Ok(match (aggregate, of) {
        (Aggregate::Count, _) => answer::Value::Int(row.int(column)?.unwrap_or_default()),
        (Aggregate::Sum | Aggregate::Avg, _) => owned(value(row, column, ColumnType::Float)?),
        (Aggregate::Min | Aggregate::Max, Some(of)) => owned(value(row, column, of)?),
        (Aggregate::Min | Aggregate::Max, None) => {
            return Err(EngineError::unsupported("a workload file", "the least of no column"));
        }
    })
}
