//! How fast the time of one operation grows with the rows: time goes as a power of the rows, and
//! the exponent of that power is measured.

use embermark_model::Scale;
use serde::Serialize;

use super::series::Series;
use crate::statistics::mean;
use crate::text;

/// From so much on between the steepest and the flattest step a line bends: one exponent does not
/// tell of it.
const BEND: f64 = 0.5;

/// How the time of one operation of an engine grows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Growth<'a> {
    /// The engine's id.
    #[serde(serialize_with = "super::plain")]
    pub engine: &'a str,
    /// The slope of the line of least squares through the logarithms of time and rows: 0 where
    /// more rows cost nothing, 1 where ten times the rows cost ten times the time.
    pub exponent: f64,
    /// The same from each of its scales to the next.
    pub steps: Vec<Step>,
    /// The steps differ by so much that the exponent says little.
    pub bends: bool,
    /// Some time is of a run that was stopped at the longest run time: of a load that is the time
    /// at fewer rows.
    pub stopped: bool,
}

/// From one scale to the next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Step {
    /// The smaller scale.
    pub from: Scale,
    /// The larger scale.
    pub to: Scale,
    /// The slope between them.
    pub exponent: f64,
}

/// The growth of every engine that has a time at two scales or more. One whose cell failed has none
/// there.
pub(super) fn of<'a>(series: &Series<'a, '_>) -> Vec<Growth<'a>> {
    let times = series.points.iter().flat_map(|point| &point.times);
    let engines = text::unique(times.map(|time| time.engine));
    engines.into_iter().filter_map(|engine| of_engine(series, engine)).collect()
}

fn of_engine<'a>(series: &Series<'a, '_>, engine: &'a str) -> Option<Growth<'a>> {
    let known = series.points.iter().filter_map(|point| {
        let time = point.of(engine).filter(|time| !time.tainted)?;
        Some((point, time.figure))
    });
    let known: Vec<_> = known.collect();
    let at = |(point, figure): &(&super::series::Point<'_, '_>, &crate::summary::Figure<'_>)| {
        (point.rows as f64, figure.per_op_ns)
    };
    let points: Vec<(f64, f64)> = known.iter().map(at).collect();
    let steps: Vec<Step> = known
        .windows(2)
        .zip(points.windows(2))
        .filter_map(|(pair, points)| {
            let [from, to] = [pair[0].0.scale, pair[1].0.scale];
            Some(Step { from, to, exponent: exponent(points)? })
        })
        .collect();
    let ends = |end: fn(f64, f64) -> f64| steps.iter().map(|step| step.exponent).reduce(end);
    let bends =
        ends(f64::max).zip(ends(f64::min)).is_some_and(|(most, least)| most - least >= BEND);
    let stopped = known.iter().any(|(_, figure)| figure.stop.is_some());
    Some(Growth { engine, exponent: exponent(&points)?, steps, bends, stopped })
}

/// The slope of the line of least squares through the logarithms of (rows, time); `None` of fewer
/// than two numbers of rows.
pub(super) fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> = points.iter().map(|(rows, ns)| (rows.ln(), ns.ln())).collect();
    let [x, y] = [
        mean(&logs.iter().map(|log| log.0).collect::<Vec<f64>>())?,
        mean(&logs.iter().map(|log| log.1).collect::<Vec<f64>>())?,
    ];
    let spread: f64 = logs.iter().map(|log| (log.0 - x).powi(2)).sum();
    let together: f64 = logs.iter().map(|log| (log.0 - x) * (log.1 - y)).sum();
    let slope = together / spread;
    slope.is_finite().then_some(slope)
}
