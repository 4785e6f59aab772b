//! Filters, written as the conditions of a search.

use super::{key, request};
use crate::Result;
use crate::document::{CollectionDef, Filter, Value};

/// Appends the conditions of a filter, all of which have to hold, separated by commas.
pub(super) fn conditions(
    out: &mut Vec<u8>,
    def: &CollectionDef,
    filter: &Filter<'_>,
) -> Result<()> {
    let primary = key::attribute(def);
    match *filter {
        // Truth values sort before numbers and texts.
        Filter::All | Filter::Keys { from: [], to: [] } => {
            condition(out, primary, "greater_than_equal", |out| {
                out.extend_from_slice(b"false");
                Ok(())
            })
        }
        Filter::Key(values) => {
            condition(out, primary, "equals", |out| key::write(def, out, values))
        }
        Filter::Keys { from, to: [] } => {
            condition(out, primary, "greater_than_equal", lowest(def, from))
        }
        Filter::Keys { from: [], to } => condition(out, primary, "less_than", lowest(def, to)),
        Filter::Keys { from, to } => range(out, primary, lowest(def, from), lowest(def, to)),
        Filter::Equal(field, of) if key::begins_with(def, field) => {
            range(out, primary, lowest(def, &[of]), |out| key::write_above(out, &[of]))
        }
        Filter::Between { field, from, to } if key::begins_with(def, field) => {
            range(out, primary, lowest(def, &[from]), lowest(def, &[to]))
        }
        Filter::Every(filters) => filters.iter().enumerate().try_for_each(|(n, filter)| {
            out.extend_from_slice(if n == 0 { b"" } else { b"," });
            conditions(out, def, filter)
        }),
        Filter::Equal(field, of) => condition(out, field, "equals", value(of)),
        Filter::Between { field, from, to } => range(out, field, value(from), value(to)),
    }
}

/// Writes the lowest key that begins with these values.
fn lowest<'a>(
    def: &'a CollectionDef,
    values: &'a [Value<'a>],
) -> impl FnOnce(&mut Vec<u8>) -> Result<()> + 'a {
    move |out| key::write_from(def, out, values)
}

fn value(of: Value<'_>) -> impl FnOnce(&mut Vec<u8>) -> Result<()> {
    move |out| request::write_value(out, of)
}

/// Appends the condition for a range from one value up to another, without the latter.
fn range(
    out: &mut Vec<u8>,
    field: &str,
    from: impl FnOnce(&mut Vec<u8>) -> Result<()>,
    to: impl FnOnce(&mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    condition(out, field, "greater_than_equal", from)?;
    out.push(b',');
    condition(out, field, "less_than", to)
}

fn condition(
    out: &mut Vec<u8>,
    field: &str,
    comparator: &str,
    value: impl FnOnce(&mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    out.extend_from_slice(b"{\"attribute\":");
    request::write_string(out, field);
    out.extend_from_slice(b",\"comparator\":");
    request::write_string(out, comparator);
    out.extend_from_slice(b",\"value\":");
    value(out)?;
    out.push(b'}');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    static READINGS: CollectionDef =
        CollectionDef { name: "readings", key: &["sensor", "ts"], indexes: &[], fields: &[] };

    fn written(filter: Filter<'_>) -> serde_json::Value {
        let mut out = b"[".to_vec();
        conditions(&mut out, &READINGS, &filter).unwrap();
        out.push(b']');
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn the_first_field_of_a_key_is_searched_by_a_range_of_the_key() {
        let found = written(Filter::Equal("sensor", Value::Int(7)));
        assert_eq!(found[0]["attribute"], "_id");
        assert_eq!(found[0]["value"], "8000000000000007");
        assert_eq!(found[1]["comparator"], "less_than");
        let (from, to) = (Value::Int(-1), Value::Int(2));
        let found = written(Filter::Between { field: "sensor", from, to });
        assert_eq!(found[0]["value"], "7fffffffffffffff");
        let found = written(Filter::Between { field: "ts", from, to });
        assert_eq!((&found[0]["attribute"], &found[1]["value"]), (&"ts".into(), &2.into()));
    }
}
