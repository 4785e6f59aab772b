//! Growth of the time of one operation with the number of rows. Time is modelled as a power of the
//! rows, and the exponent is measured.

use embermark_model::Scale;
use serde::Serialize;

use super::series::Series;
use crate::statistics::mean;
use crate::text;

/// Smallest difference of the steepest and the flattest step at which a line bends. One exponent
/// does not describe such a line.
const BEND: f64 = 0.5;

/// Growth of the time of one operation of an engine.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Growth<'a> {
    /// The engine's id.
    #[serde(serialize_with = "super::plain")]
    pub engine: &'a str,
    /// Slope of the least-squares line through the logarithms of time and rows. 0: more rows cost
    /// nothing. 1: ten times the rows take ten times the time.
    pub exponent: f64,
    /// The slope from each of its scales to the next.
    pub steps: Vec<Step>,
    /// Whether the steps differ so much that the exponent says little.
    pub bends: bool,
    /// Whether a time is from a run that was stopped at the longest run time. For a load, that is
    /// the time at fewer rows.
    pub stopped: bool,
}

/// Growth from one scale to the next.
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

/// Returns the growth of every engine that has a time at two scales or more. An engine has no time
/// at a scale where its cell failed.
pub(super) fn growths<'a>(series: &Series<'a, '_>) -> Vec<Growth<'a>> {
    let times = series.points.iter().flat_map(|point| &point.times);
    let engines = text::unique(times.map(|time| time.engine));
    engines.into_iter().filter_map(|engine| engine_growth(series, engine)).collect()
}

fn engine_growth<'a>(series: &Series<'a, '_>, engine: &'a str) -> Option<Growth<'a>> {
    let known = series.points.iter().filter_map(|point| {
        let figure = point.time(engine).filter(|time| !time.tainted)?.figure;
        Some((point.scale, figure, (point.rows as f64, figure.per_op_ns)))
    });
    let known: Vec<_> = known.collect();
    let points: Vec<(f64, f64)> = known.iter().map(|(.., point)| *point).collect();
    let step = |(pair, points): (&[(Scale, _, _)], &[(f64, f64)])| {
        Some(Step { from: pair[0].0, to: pair[1].0, exponent: exponent(points)? })
    };
    let steps: Vec<Step> = known.windows(2).zip(points.windows(2)).filter_map(step).collect();
    let ends = |end: fn(f64, f64) -> f64| steps.iter().map(|step| step.exponent).reduce(end);
    let bends = ends(f64::max).zip(ends(f64::min)).is_some_and(|(high, low)| high - low >= BEND);
    let stopped = known.iter().any(|(_, figure, _)| figure.stop.is_some());
    Some(Growth { engine, exponent: exponent(&points)?, steps, bends, stopped })
}

/// Returns the slope of the least-squares line through the logarithms of (rows, time). `None` if
/// there are fewer than two different numbers of rows.
pub(super) fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let logs = || points.iter().map(|(rows, ns)| (rows.ln(), ns.ln()));
    let (rows, times): (Vec<f64>, Vec<f64>) = logs().unzip();
    let (x, y) = (mean(&rows)?, mean(&times)?);
    let spread: f64 = rows.iter().map(|row| (row - x).powi(2)).sum();
    let together: f64 = logs().map(|(row, time)| (row - x) * (time - y)).sum();
    let slope = together / spread;
    slope.is_finite().then_some(slope)
}
