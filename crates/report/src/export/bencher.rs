//! Bencher Metric Format, <https://bencher.dev/docs/reference/bencher-metric-format>: for each
//! benchmark its latency in ns, with a value and the ends of its interval.

use std::collections::BTreeMap;

use embermark_model::result::ResultFile;
use serde::Serialize;

use crate::{ReportError, summary, text};

/// Longest name that Bencher accepts, in characters.
const LONGEST_NAME: usize = 1024;

/// Measures of one benchmark.
#[derive(Serialize)]
struct Measures {
    latency: Metric,
}

/// One measure.
#[derive(Serialize)]
struct Metric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

/// Returns the time per operation of every phase of a cell that completed and kept up: the median
/// over the trials with its 95 % interval. References are left out, and so are figures that may not
/// be published, because Bencher is a web site.
///
/// # Errors
/// If a value has no JSON form, which does not happen here.
pub(super) fn render(file: &ResultFile) -> Result<String, ReportError> {
    let file = file.clone().publishable();
    let comparison = summary::compare(&file, &[]);
    let mut benchmarks: BTreeMap<String, Measures> = BTreeMap::new();
    for group in &comparison.groups {
        for (row, engine, measured) in group.measured() {
            let Some(phase) = row.phase.filter(|_| measured.competes()) else { continue };
            if engine.reference {
                continue;
            }
            let (extent, tier) = (group.extent(), group.durability);
            let variant = row.variant.unwrap_or(group.variant);
            let name =
                format!("{} {} {extent} {tier} {variant} {phase}", engine.id, group.workload);
            let [lower_value, upper_value] = match measured.figure.interval_ns {
                Some([low, high]) => [Some(low), Some(high)],
                None => [None, None],
            };
            let latency = Metric { value: measured.figure.per_op_ns, lower_value, upper_value };
            benchmarks.insert(text::clipped(&name, LONGEST_NAME), Measures { latency });
        }
    }
    Ok(serde_json::to_string_pretty(&benchmarks)? + "\n")
}
