//! Plans of queries, as lines.

use embermark_libraries::duckdb::NAME;
use serde_json::Value;

use crate::sql::{Explain, ResultRow};
use crate::{EngineError, Result};

/// Asks for JSON, because by default DuckDB draws boxes
/// (<https://duckdb.org/docs/stable/guides/meta/explain>).
pub(super) const EXPLAIN: Explain = Explain { prefix: "EXPLAIN (FORMAT json)", read };

/// Reads the plan from the second column, an array of one step.
fn read(row: &dyn ResultRow, plan: &mut String) -> Result<()> {
    let steps = serde_json::from_str(row.text(1)?.unwrap_or_default())
        .map_err(|error| EngineError::failed(NAME, "read a plan", error))?;
    write_steps(&steps, 0, plan);
    Ok(())
}

/// Writes steps and their inputs: `HASH_GROUP_BY Groups: #0, Aggregates: avg(#1)`.
fn write_steps(steps: &Value, depth: usize, plan: &mut String) {
    for step in steps.as_array().into_iter().flatten() {
        plan.extend(std::iter::repeat_n("  ", depth));
        plan.push_str(step["name"].as_str().unwrap_or_default().trim());
        let more = step["extra_info"].as_object().into_iter().flatten();
        let more: Vec<String> =
            more.map(|(name, value)| format!("{name}: {}", text(value))).collect();
        if !more.is_empty() {
            plan.push(' ');
            plan.push_str(&more.join(", "));
        }
        plan.push('\n');
        write_steps(&step["children"], depth + 1, plan);
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_followed_by_its_inputs() {
        let steps = serde_json::json!([{
            "name": "PROJECTION", "extra_info": {"Projections": ["a", "b"]}, "children": [
                {"name": "SEQ_SCAN ", "children": [], "extra_info": {"Table": "t"}},
            ]
        }]);
        let mut plan = String::new();
        write_steps(&steps, 0, &mut plan);
        assert_eq!(plan, "PROJECTION Projections: a, b\n  SEQ_SCAN Table: t\n");
    }
}
