//! Describes the content of a column in a few words.

use embermark_data::table::{InferredColumn, in_quotes, time_text};
use embermark_model::table::{ColumnType, OwnedValue};

/// Number of example texts that are shown, and characters of each.
const EXAMPLES: (usize, usize) = (3, 20);

/// Returns the least and the greatest value or examples, the number of different values, and the
/// number of absent ones.
pub fn column_summary(column: &InferredColumn) -> String {
    let InferredColumn { of, least, greatest, distinct, .. } = column;
    if *least == OwnedValue::Null {
        return "absent in every row".to_owned();
    }
    let values = match of {
        ColumnType::Text => Some(examples(column)),
        ColumnType::Bool | ColumnType::Bytes => None,
        _ => Some(format!("{} to {}", value(least, *of), value(greatest, *of))),
    };
    let more = if column.exact { "" } else { "more than " };
    let different = format!("{more}{distinct} different");
    let absent = (column.absent > 0).then(|| format!("{} absent", column.absent));
    values.into_iter().chain([different]).chain(absent).collect::<Vec<_>>().join("; ")
}

fn value(value: &OwnedValue, of: ColumnType) -> String {
    match (value, of) {
        (OwnedValue::Int(time), ColumnType::Timestamp(unit)) => time_text(*time, unit),
        (OwnedValue::Int(value), _) => value.to_string(),
        (OwnedValue::Float(value), _) => value.to_string(),
        (OwnedValue::Text(text), _) => short(text),
        (OwnedValue::Bytes(_) | OwnedValue::Null, _) => String::new(),
    }
}

fn examples(column: &InferredColumn) -> String {
    let shown = column.examples.iter().take(EXAMPLES.0).map(|text| value(text, column.of));
    let more = (column.distinct > EXAMPLES.0 as u64).then(|| "…".to_owned());
    shown.chain(more).collect::<Vec<_>>().join(", ")
}

/// Quotes a text on one line. A long one is cut to its beginning.
fn short(text: &str) -> String {
    match text.char_indices().nth(EXAMPLES.1) {
        Some((end, _)) => format!("{}…", in_quotes(&text[..end])),
        None => in_quotes(text),
    }
}
