//! The part of a result that is the same in every run of a plan. The tests of `embermark` use this
//! file too.

use embermark_model::result::ResultFile;
use serde_json::Value;

/// Returns the content of the cells without the measured values: whether there is one remains.
pub(super) fn shape(result: &ResultFile) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                // Only a long run has a mean of samples, and only a short one repetitions.
                fields.remove("mean_bytes");
                fields.remove("repeated");
                for (name, value) in fields.iter_mut() {
                    if is_measured(name) {
                        *value = Value::Bool(!value.is_null());
                    } else {
                        strip(value);
                    }
                }
            }
            Value::Array(values) => values.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut shape = serde_json::to_value(&result.cells).unwrap();
    strip(&mut shape);
    shape
}

/// Whether a field of a result differs from run to run.
fn is_measured(name: &str) -> bool {
    let ends = ["_ns", "_bytes"];
    let names = ["latency", "began", "flushes"];
    ends.iter().any(|end| name.ends_with(end)) || names.contains(&name)
}
