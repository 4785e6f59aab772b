//! Columns of energy.

use embermark_model::result::{Energy, Run};

use super::column::{Column, real, whole, word};
use crate::text::plain;

/// Returns the columns of the energy of a run.
pub(super) fn columns() -> Vec<Column> {
    let energy = |name: &str, get: fn(&Energy, &Run) -> Option<f64>| {
        real(name, move |line| {
            let run = line.run?.1;
            get(run.energy.as_ref()?, run)
        })
    };
    vec![
        word("began", |line| Some(plain(&line.run?.1.period.as_ref()?.began))),
        whole("lasted_ns", |line| Some(line.run?.1.period.as_ref()?.lasted_ns)),
        word("energy_source", |line| Some(plain(&line.run?.1.energy.as_ref()?.source))),
        energy("energy_joules", |energy, _| Some(energy.joules)),
        energy("energy_over_idle_joules", |energy, _| energy.over_idle_joules),
        energy("energy_idle_error_joules", |energy, _| energy.idle_error_joules),
        energy("energy_over_idle_per_op_joules", |of, run| of.over_idle_per_operation(run.ops)),
        word("energy_beside", |line| {
            let others = line.run?.1.energy_beside.iter();
            let others: Vec<String> =
                others.map(|of| format!("{}:{}", plain(&of.source), of.joules)).collect();
            (!others.is_empty()).then(|| others.join("; "))
        }),
        word("no_energy", |line| Some(plain(line.run?.1.no_energy.as_deref()?))),
    ]
}
