//! The stage that filters rows by conditions.

use embermark_language::Operator;
use embermark_model::table::{Table, Value};

use super::paths::path;
use super::values::value;
use crate::defined::access::Filter;

/// Returns the stage that passes rows which meet all filters. `None` where bytes would be compared.
pub(super) fn matching(table: &Table, filters: &[Filter<'_>]) -> Option<Option<String>> {
    if filters.is_empty() {
        return Some(None);
    }
    let mut conditions: Vec<String> = Vec::new();
    conditions.extend(key_range(table, filters));
    for filter in filters {
        let condition = condition(filter.operator, &value(filter.bound)?);
        conditions.push(format!(r#"{{"{}": {condition}}}"#, path(table, filter.column)));
    }
    Some(Some(format!(r#"{{"$match": {{"$and": [{}]}}}}"#, conditions.join(", "))))
}

/// Returns a comparison with a bound.
pub(super) fn condition(operator: Operator, bound: &str) -> String {
    match operator {
        Operator::Equal => format!(r#"{{"$eq": {bound}}}"#),
        // An absent value is unequal too, but meets no condition.
        Operator::NotEqual => format!(r#"{{"$nin": [{bound}, null]}}"#),
        Operator::Less => format!(r#"{{"$lt": {bound}}}"#),
        Operator::AtMost => format!(r#"{{"$lte": {bound}}}"#),
        Operator::Greater => format!(r#"{{"$gt": {bound}}}"#),
        Operator::AtLeast => format!(r#"{{"$gte": {bound}}}"#),
    }
}

/// Returns the range of keys of the rows that meet the filters, as a condition. MongoDB only orders
/// whole keys, if they have several columns.
pub(super) fn key_range(table: &Table, filters: &[Filter<'_>]) -> Option<String> {
    if table.key.len() < 2 {
        return None;
    }
    let bound = |column: usize, is: &dyn Fn(Operator) -> bool| {
        filters.iter().find(|f| f.column == column && is(f.operator)).map(|f| f.bound)
    };
    let (mut from, mut to) = (Vec::new(), Vec::new());
    let field = |column: usize, of: Value<'_>| {
        Some(format!(r#""{}": {}"#, table.columns[column].name, value(of)?))
    };
    for column in &table.key {
        if let Some(equal) = bound(*column, &|is| is == Operator::Equal) {
            from.push(field(*column, equal)?);
            to.push(field(*column, equal)?);
            continue;
        }
        let low = bound(*column, &|is| matches!(is, Operator::Greater | Operator::AtLeast));
        let high = bound(*column, &|is| matches!(is, Operator::Less | Operator::AtMost));
        from.extend(low.and_then(|low| field(*column, low)));
        to.extend(high.and_then(|high| field(*column, high)));
        break;
    }
    if to.len() < table.key.len() && !to.is_empty() {
        // Everything that follows in a key is below the greatest value.
        let next = &table.columns[table.key[to.len()]].name;
        to.push(format!(r#""{next}": {{"$maxKey": 1}}"#));
    }
    let mut ends = Vec::new();
    if !from.is_empty() {
        ends.push(format!(r#""$gte": {{{}}}"#, from.join(", ")));
    }
    if !to.is_empty() {
        ends.push(format!(r#""$lte": {{{}}}"#, to.join(", ")));
    }
    (!ends.is_empty()).then(|| format!(r#"{{"_id": {{{}}}}}"#, ends.join(", ")))
}
