//! Columns of the timeline, in files that have one.

use embermark_model::result::{Run, SteadyFigure, Timeline};

use super::column::{Column, flag, real, run, word};
use crate::{ageing, text};

/// Returns the columns: whether and when it became steady, the last rounds, and every slice.
pub(super) fn columns() -> Vec<Column> {
    let figure = |name: &str, of: &'static [&'static str], get: fn(&SteadyFigure) -> f64| {
        real(name, move |line| {
            let figures = &run_timeline(line.run?.1)?.steady.figures;
            of.iter().find_map(|name| figures.get(*name)).map(get)
        })
    };
    vec![
        flag("steady", |line| Some(run_timeline(line.run?.1)?.steady.reached)),
        real("steady_after_s", |line| Some(run_timeline(line.run?.1)?.steady.after_s)),
        real("steady_turnovers", |line| Some(run_timeline(line.run?.1)?.steady.turnovers)),
        figure("steady_spread", &["throughput", "latency"], |of| of.spread),
        figure("steady_slope", &["throughput", "latency"], |of| of.slope),
        figure("steady_space_spread", &["space"], |of| of.spread),
        figure("steady_space_slope", &["space"], |of| of.slope),
        real("steady_rows_per_second", |line| ageing::throughput(run_timeline(line.run?.1)?)),
        real("written_per_user_byte", |line| ageing::written_per_byte(line.run?.1)),
        run("space_bytes", |run| run_timeline(run)?.rounds.last()?.allocated_bytes),
        run("stalls_above_100ms", |run| Some(run_timeline(run)?.stalled)),
        word("expiry", |line| Some(text::plain(&run_timeline(line.run?.1)?.expiry))),
        word("timeline", |line| Some(slices(run_timeline(line.run?.1)?))),
    ]
}

/// Returns the timeline of a run.
pub(super) fn run_timeline(run: &Run) -> Option<&Timeline> {
    run.observed.as_ref()?.timeline.as_ref()
}

/// Formats each slice: its end, rows in, median, 99th percentile and maximum of its commits in ns,
/// bytes allocated, and bytes written to the device,
/// `1.000:52000:140000:900000:2000000:57344:61440`. Unmeasured parts are empty.
fn slices(timeline: &Timeline) -> String {
    let shown = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    let slices = timeline.slices.iter().map(|slice| {
        let commits = slice.commits;
        let parts = [
            Some(slice.rows_in),
            commits.map(|of| of.p50),
            commits.and_then(|of| of.p99),
            commits.map(|of| of.max),
            slice.allocated_bytes,
            slice.device_written_bytes,
        ];
        format!("{:.3}:{}", slice.until_s, text::joined(parts.into_iter().map(shown), ":"))
    });
    text::joined(slices, " ")
}
