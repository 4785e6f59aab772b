//! Disk use over time: the growth of an empty database at some moments.

use embermark_model::result::DiskCurve;

use super::{Activity, Cost, Costs};
use crate::format;
use crate::grid::{Annotated, Grid, Text};
use crate::note::note;
use crate::statistics::median;

/// Moments that are shown, in minutes, if the time has at least two of them. A shorter time is
/// shown at its quarters.
const MINUTES: [f64; 6] = [1.0, 2.0, 5.0, 10.0, 15.0, 20.0];

/// Share of a moment that must have been sampled for it to be shown.
const NEARLY: f64 = 0.99;

/// Returns a table with a line for each engine that wrote. `None` if no disk was sampled.
pub(super) fn table(costs: &Costs<'_>) -> Option<Annotated> {
    let lines: Vec<(&Cost<'_>, Vec<&DiskCurve>)> = (costs.lines.iter())
        .filter(|line| line.activity == Activity::Writes && line.status.has_figures())
        .map(|line| (line, line.curves().filter(|curve| !curve.points.is_empty()).collect()))
        .filter(|(_, curves): &(_, Vec<_>)| !curves.is_empty())
        .collect();
    let curves = || lines.iter().flat_map(|(_, curves)| curves);
    let shortest = curves().filter_map(|curve| curve.seconds()).reduce(f64::min)?;
    let moments = moments(shortest);
    let rows = lines.iter().map(|(line, curves)| {
        let of = |value: &dyn Fn(&DiskCurve) -> Option<f64>| {
            let values: Option<Vec<f64>> = curves.iter().map(|curve| value(curve)).collect();
            median(&values?)
        };
        let bytes = |value: Option<f64>| Text::new(format::or_dash(value, signed));
        let mut texts = vec![bytes(of(&|curve| Some(curve.begin_bytes as f64)))];
        let grown = |at: f64| of(&|curve| Some(curve.growth_at(at.min(curve.seconds()?))? as f64));
        texts.extend(moments.iter().map(|at| bytes(grown(*at))));
        texts.push(bytes(of(&|curve| Some(curve.growth() as f64))));
        let cpu = of(&|curve| Some(curve.cpu_ns? as f64 / 1e9 / curve.seconds()? * 100.0));
        texts.push(Text::new(format::or_dash(cpu, |percent| format!("{percent:.2} %"))));
        (line.label(), texts)
    });
    let header = ["empty".to_owned()].into_iter().chain(moments.iter().map(|at| moment(*at)));
    let header = header.chain(["in all".to_owned(), "sampling".to_owned()]).collect();
    let title = format!("{} · growth on disk from an empty database on", costs.title());
    let says = "allocated blocks of the data directory since before the first sample, warm-up included; \
                in all: until the last one was stored, as the source has it; the page draws every point";
    let cost = "CPU of the process that counted them, which is in no figure";
    let notes = vec![note("growth", says), note("sampling", cost)];
    Some(Annotated { grid: Grid { title, header, rows: rows.collect() }, notes })
}

/// Returns the moments to show, in seconds, for a time of `lasted` seconds.
fn moments(lasted: f64) -> Vec<f64> {
    let within = |seconds: &f64| *seconds * NEARLY <= lasted;
    let minutes: Vec<f64> = MINUTES.map(|m| m * 60.0).into_iter().filter(within).collect();
    match minutes.len() {
        0 | 1 => [0.25, 0.5, 0.75, 1.0].map(|part| part * lasted).to_vec(),
        _ => minutes,
    }
}

/// Formats a moment: `5 min`, `17.5 s`.
fn moment(seconds: f64) -> String {
    let minutes = seconds / 60.0;
    if MINUTES.contains(&minutes) { format!("{minutes} min") } else { format!("{seconds:.1} s") }
}

/// Formats a number of bytes that may be negative.
pub(super) fn signed(bytes: f64) -> String {
    let sign = if bytes < 0.0 { "-" } else { "" };
    format!("{sign}{}", format::bytes(bytes.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_are_shown_of_what_has_two_of_them_and_quarters_of_what_is_shorter() {
        let shown = |lasted| moments(lasted).into_iter().map(moment).collect::<Vec<_>>();
        assert_eq!(shown(1_199.9), ["1 min", "2 min", "5 min", "10 min", "15 min", "20 min"]);
        assert_eq!(shown(130.0), ["1 min", "2 min"]);
        assert_eq!(shown(70.0), ["17.5 s", "35.0 s", "52.5 s", "70.0 s"]);
        assert_eq!(shown(60.0)[3], "1 min");
    }

    #[test]
    fn a_database_that_shrank_has_a_minus() {
        assert_eq!([signed(-1_500.0), signed(0.0), signed(2e6)], ["-1.50 kB", "0 B", "2.00 MB"]);
    }
}
