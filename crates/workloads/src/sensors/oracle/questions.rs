//! The answers of the analytical questions.

use std::collections::BTreeMap;

use embermark_model::Reading;
use embermark_model::answer::{Expected, Required, Row, TOLERANCE, Top, Value};

use super::super::phase::Phase;
use super::statistics::{self, Correlation};

const SECOND: i64 = 1_000_000;
const HOT_CELSIUS: f64 = 25.0;

/// One sensor's readings in order of time.
type Series<'a> = &'a [&'a Reading];

/// The answer of every question; `series` ascend by sensor.
pub(super) fn answers(series: &[Series<'_>]) -> Vec<(Phase, Expected)> {
    let (avg, daily) = (avg_sensor(series), daily_summary(series));
    let (outages, topk) = (outages(series), topk_sensors(series));
    let profile = [
        (Phase::AvgSensor, &avg),
        (Phase::DailySummary, &daily),
        (Phase::Outages, &outages),
        (Phase::TopkSensors, &topk),
    ];
    let profile =
        Expected::Parts(profile.map(|(step, answer)| (step.name(), answer.clone())).to_vec());
    vec![
        (Phase::AvgSensor, avg),
        (Phase::HotSensors, hot_sensors(series)),
        (Phase::Anomalies, anomalies(series)),
        (Phase::DailySummary, daily),
        (Phase::Outages, outages),
        (Phase::TopkSensors, topk),
        (Phase::CompareTwo, compare_two(series)),
        (Phase::FullProfile, profile),
    ]
}

/// The answer of a question whose rows are each of one sensor; `series` ascend by sensor.
pub(super) fn answer(step: Phase, series: &[Series<'_>]) -> Option<Expected> {
    match step {
        Phase::AvgSensor => Some(avg_sensor(series)),
        Phase::Anomalies => Some(anomalies(series)),
        Phase::DailySummary => Some(daily_summary(series)),
        Phase::Outages => Some(outages(series)),
        _ => None,
    }
}

fn id(series: Series<'_>) -> Value {
    Value::Int(i64::from(series[0].sensor))
}

fn count(series: Series<'_>) -> Value {
    Value::Int(series.len() as i64)
}

fn temperatures(series: Series<'_>) -> Vec<f64> {
    series.iter().filter_map(|reading| reading.temperature()).collect()
}

fn float_or_null(value: Option<f64>) -> Value {
    value.map_or(Value::Null, Value::Float)
}

fn set(rows: impl IntoIterator<Item = Row>) -> Expected {
    Expected::Set { rows: rows.into_iter().collect(), optional: Vec::new() }
}

fn top_ten(candidates: Vec<(Row, Required)>) -> Expected {
    Expected::Top(Top { candidates, limit: 10 })
}

fn avg_sensor(series: &[Series<'_>]) -> Expected {
    set(series.iter().map(|s| vec![id(s), float_or_null(statistics::mean(&temperatures(s)))]))
}

fn hot_sensors(series: &[Series<'_>]) -> Expected {
    let candidates = series.iter().filter(|s| s.len() >= 10).filter_map(|s| {
        let mean = statistics::mean(&temperatures(s))?;
        let at_threshold = (mean - HOT_CELSIUS).abs() <= TOLERANCE * HOT_CELSIUS;
        let required = if at_threshold { Required::No } else { Required::Yes };
        (at_threshold || mean > HOT_CELSIUS).then(|| (vec![id(s), Value::Float(mean)], required))
    });
    top_ten(candidates.collect())
}

fn anomalies(series: &[Series<'_>]) -> Expected {
    let (mut rows, mut optional) = (Vec::new(), Vec::new());
    for s in series {
        let Some((mean, deviation)) = statistics::mean_and_deviation(&temperatures(s)) else {
            continue;
        };
        for reading in s.iter() {
            let Some(t) = reading.temperature() else { continue };
            let beyond = (t - mean).abs() - 2.0 * deviation;
            let slack = TOLERANCE * t.abs().max(mean.abs());
            let row = || vec![id(s), Value::Int(reading.ts), Value::Float(t)];
            if beyond > slack {
                rows.push(row());
            } else if beyond >= -slack {
                optional.push(row());
            }
        }
    }
    Expected::Set { rows, optional }
}

fn daily_summary(series: &[Series<'_>]) -> Expected {
    const DAY: i64 = 86_400 * SECOND;
    let day = |reading: &Reading| reading.ts.div_euclid(DAY);
    set(series.iter().flat_map(|s| s.chunk_by(|a, b| day(a) == day(b))).map(|s| {
        let t = temperatures(s);
        vec![
            id(s),
            Value::Int(day(s[0])),
            float_or_null(t.iter().copied().reduce(f64::min)),
            float_or_null(t.iter().copied().reduce(f64::max)),
            float_or_null(statistics::mean(&t)),
            count(s),
        ]
    }))
}

fn outages(series: &[Series<'_>]) -> Expected {
    let pairs = series.iter().flat_map(|s| s.windows(2));
    let gaps = pairs.filter(|pair| pair[1].ts.saturating_sub(pair[0].ts) > 3_600 * SECOND);
    set(gaps.map(|pair| vec![id(pair), Value::Int(pair[0].ts), Value::Int(pair[1].ts)]))
}

fn topk_sensors(series: &[Series<'_>]) -> Expected {
    let readings = series.iter().map(|s| (vec![id(s), count(s)], Required::Yes));
    let hottest = series.iter().filter_map(|s| {
        let mean = statistics::mean(&temperatures(s))?;
        Some((vec![id(s), Value::Float(mean)], Required::Yes))
    });
    Expected::Parts(vec![
        ("readings", top_ten(readings.collect())),
        ("hottest", top_ten(hottest.collect())),
    ])
}

fn compare_two(series: &[Series<'_>]) -> Expected {
    // A stable sort: of equally many rows the lower id stays ahead.
    let mut busiest = series.to_vec();
    busiest.sort_by_key(|s| std::cmp::Reverse(s.len()));
    let [a, b, ..] = busiest[..] else {
        return set([vec![Value::Int(0), Value::Null]]);
    };
    let (a, b) = (bucket_means(a), bucket_means(b));
    let pairs: Vec<(f64, f64)> =
        a.iter().filter_map(|(bucket, x)| Some((*x, *b.get(bucket)?))).collect();
    let correlation = match statistics::correlation(&pairs) {
        Correlation::Undefined => Value::Null,
        Correlation::Unstable => Value::Any,
        Correlation::Coefficient(r) => Value::Unit(r),
    };
    set([vec![Value::Int(pairs.len() as i64), correlation]])
}

fn bucket_means(series: Series<'_>) -> BTreeMap<i64, f64> {
    let mut buckets: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    for reading in series {
        let bucket = reading.ts.div_euclid(300 * SECOND);
        buckets.entry(bucket).or_default().extend(reading.temperature());
    }
    buckets.into_iter().filter_map(|(bucket, t)| Some((bucket, statistics::mean(&t)?))).collect()
}
