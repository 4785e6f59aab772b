//! Constants with a column's type.

use embermark_model::table::{ColumnType, OwnedValue, TimeUnit, int_range};
use toml::de::DeValue;

use crate::node::Node;
use crate::time;

/// Reads a constant of this type.
pub fn read(node: &Node<'_>, of: ColumnType) -> Option<OwnedValue> {
    match of {
        ColumnType::Bool => node.bool().map(|value| OwnedValue::Int(value.into())),
        ColumnType::Int { .. } | ColumnType::Timestamp(_) => int(node, of).map(OwnedValue::Int),
        ColumnType::Float => node.number().map(OwnedValue::Float),
        ColumnType::Text => node.text().map(|text| OwnedValue::Text(text.to_owned())),
        ColumnType::Bytes => node.text().map(|text| OwnedValue::Bytes(text.into())),
    }
}

/// Reads an integer that a column of this type can hold, or a time in its unit.
pub fn int(node: &Node<'_>, of: ColumnType) -> Option<i64> {
    if let ColumnType::Timestamp(unit) = of {
        return moment(node, unit);
    }
    let value = node.integer()?;
    let (least, greatest) = limits(of);
    if (least..=greatest).contains(&value) {
        return Some(value);
    }
    node.labelled(
        format!("{value} is no {of}"),
        "out of range",
        format!("a column of {of} holds {least} to {greatest}"),
    )
}

/// Returns the least and the greatest integer of a type.
pub fn limits(of: ColumnType) -> (i64, i64) {
    match of {
        ColumnType::Bool => (0, 1),
        ColumnType::Int { bits, signed } => int_range(bits, signed),
        _ => (i64::MIN, i64::MAX),
    }
}

fn moment(node: &Node<'_>, unit: TimeUnit) -> Option<i64> {
    let text = match node.value {
        DeValue::String(text) => text.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        _ => return node.expected("a moment, for example \"2024-01-31T12:00:00Z\""),
    };
    let Some(nanoseconds) = time::moment(&text) else {
        return node.mistake(format!("'{text}' is not a point in time"), time::MOMENT_HELP);
    };
    time::units(nanoseconds, unit)
        .or_else(|| node.mistake(format!("'{text}' is not a whole number of {}", unit.name()), ""))
}

/// Reads a length of time in a column's unit: `"1h"` for a timestamp, a number for an integer
/// column.
pub fn length(node: &Node<'_>, of: ColumnType) -> Option<i64> {
    if let ColumnType::Timestamp(unit) = of {
        let length = time::units(node.duration()?, unit);
        return length.or_else(|| {
            let label = format!("no whole number of {}", unit.name());
            node.labelled(format!("the times are in {}", unit.name()), label, "")
        });
    }
    if node.as_text().is_some() {
        return node.labelled(
            "a length of time of a column without a unit",
            format!("the column is {of}"),
            "write a plain number, or make the column a timestamp with its unit",
        );
    }
    let length = node.integer()?;
    if length > 0 { Some(length) } else { node.expected("a whole number above 0") }
}
