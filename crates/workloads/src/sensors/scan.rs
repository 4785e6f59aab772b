//! The analytical questions where the engine has no language for them: code over its readings in
//! key order.

use std::cmp::Ordering;

use embermark_contract::Result;
use embermark_model::Key;

use super::phase::Phase;
use super::port::{Anomaly, Comparison, Day, Mean, Outage, Tally};
use super::query_results::QueryResults;

const HOUR_US: i64 = 3_600_000_000;
const DAY_US: i64 = 24 * HOUR_US;
const BUCKET_US: i64 = 300_000_000;
pub(super) const MOST: usize = 10;

/// The readings of a store, as it gives them in key order.
pub(super) trait Readings {
    /// Visits the key and the temperature of every reading, or of every one of a sensor, in key
    /// order.
    fn visit(&mut self, sensor: Option<u16>, visit: impl FnMut(Key, Option<f64>)) -> Result<()>;
}

/// Answers a question by scans, of every reading or of those `of` one sensor.
pub(super) fn answer(
    readings: impl Readings,
    question: Phase,
    of: Option<u16>,
    found: &mut QueryResults,
) -> Result<()> {
    let mut scan = Scan { readings, of };
    for part in question.parts() {
        match part {
            Phase::AvgSensor => scan.avg_sensor(&mut found.means)?,
            Phase::HotSensors => scan.hot_sensors(&mut found.means)?,
            Phase::Anomalies => scan.anomalies(&mut found.anomalies)?,
            Phase::DailySummary => scan.daily_summary(&mut found.days)?,
            Phase::Outages => scan.outages(&mut found.outages)?,
            Phase::TopkSensors => scan.topk_sensors(&mut found.tallies, &mut found.hottest)?,
            Phase::CompareTwo => found.comparison = scan.compare_two()?,
            _ => {}
        }
    }
    Ok(())
}

/// The questions, as code over readings in key order.
struct Scan<R> {
    readings: R,
    /// Of which sensor, where it is one.
    of: Option<u16>,
}

/// Sum and count of the temperatures of a group, and the count of its readings.
#[derive(Clone, Copy, Default)]
struct Sum {
    sum: f64,
    temperatures: i64,
    readings: i64,
}

impl Sum {
    fn add(&mut self, temperature: Option<f64>) {
        self.readings += 1;
        if let Some(temperature) = temperature {
            self.sum += temperature;
            self.temperatures += 1;
        }
    }

    fn mean(&self) -> Option<f64> {
        (self.temperatures > 0).then(|| self.sum / self.temperatures as f64)
    }
}

impl<R: Readings> Scan<R> {
    /// Folds the readings of each group, which must stand together in key order.
    fn fold<G: PartialEq + Copy, A: Default>(
        &mut self,
        sensor: Option<u16>,
        group: impl Fn(Key) -> G,
        mut add: impl FnMut(&mut A, Key, Option<f64>),
        mut finish: impl FnMut(G, &mut A),
    ) -> Result<()> {
        let mut current: Option<(G, A)> = None;
        self.readings.visit(sensor, |key, temperature| {
            let of = group(key);
            match &mut current {
                Some((known, folded)) if *known == of => add(folded, key, temperature),
                other => {
                    if let Some((known, folded)) = other {
                        finish(*known, folded);
                    }
                    let (_, folded) = other.insert((of, A::default()));
                    add(folded, key, temperature);
                }
            }
        })?;
        if let Some((known, folded)) = &mut current {
            finish(*known, folded);
        }
        Ok(())
    }

    fn sums(&mut self, mut each: impl FnMut(u16, &Sum)) -> Result<()> {
        self.fold(
            self.of,
            |key| key.sensor,
            |sum: &mut Sum, _, temperature| sum.add(temperature),
            |sensor, sum| each(sensor, sum),
        )
    }

    fn avg_sensor(&mut self, found: &mut Vec<Mean>) -> Result<()> {
        self.sums(|sensor, sum| found.push((i64::from(sensor), sum.mean())))
    }

    fn hot_sensors(&mut self, found: &mut Vec<Mean>) -> Result<()> {
        self.sums(|sensor, sum| {
            if sum.readings >= 10 && sum.mean().is_some_and(|mean| mean > 25.0) {
                found.push((i64::from(sensor), sum.mean()));
            }
        })?;
        hottest_first(found);
        Ok(())
    }

    fn anomalies(&mut self, found: &mut Vec<Anomaly>) -> Result<()> {
        // One sensor's temperatures at a time, for a second pass over them.
        let mut held: Vec<(i64, f64)> = Vec::new();
        let mut held_of = None;
        self.readings.visit(self.of, |key, temperature| {
            if held_of != Some(key.sensor) {
                outliers(held_of, &held, found);
                held.clear();
                held_of = Some(key.sensor);
            }
            if let Some(temperature) = temperature {
                held.push((key.ts, temperature));
            }
        })?;
        outliers(held_of, &held, found);
        Ok(())
    }

    fn daily_summary(&mut self, found: &mut Vec<Day>) -> Result<()> {
        #[derive(Default)]
        struct Extent {
            sum: Sum,
            min: Option<f64>,
            max: Option<f64>,
        }
        self.fold(
            self.of,
            |key| (key.sensor, key.ts.div_euclid(DAY_US)),
            |extent: &mut Extent, _, temperature| {
                extent.sum.add(temperature);
                if let Some(temperature) = temperature {
                    extent.min = Some(extent.min.map_or(temperature, |min| min.min(temperature)));
                    extent.max = Some(extent.max.map_or(temperature, |max| max.max(temperature)));
                }
            },
            |(sensor, day), &mut Extent { sum, min, max }| {
                let (sensor, mean) = (i64::from(sensor), sum.mean());
                found.push(Day { sensor, day, min, max, mean, readings: sum.readings });
            },
        )
    }

    fn outages(&mut self, found: &mut Vec<Outage>) -> Result<()> {
        let mut last: Option<Key> = None;
        self.readings.visit(self.of, |key, _| {
            if let Some(last) = last
                && last.sensor == key.sensor
                && key.ts.saturating_sub(last.ts) > HOUR_US
            {
                found.push(Outage { sensor: i64::from(key.sensor), from: last.ts, to: key.ts });
            }
            last = Some(key);
        })
    }

    fn topk_sensors(&mut self, readings: &mut Vec<Tally>, hottest: &mut Vec<Mean>) -> Result<()> {
        self.sums(|sensor, sum| {
            readings.push((i64::from(sensor), sum.readings));
            if sum.temperatures > 0 {
                hottest.push((i64::from(sensor), sum.mean()));
            }
        })?;
        most_first(readings);
        readings.truncate(MOST);
        hottest_first(hottest);
        Ok(())
    }

    fn compare_two(&mut self) -> Result<Comparison> {
        let mut tallies = Vec::new();
        self.sums(|sensor, sum| tallies.push((i64::from(sensor), sum.readings)))?;
        most_first(&mut tallies);
        let [(a, _), (b, _), ..] = tallies[..] else { return Ok(Comparison::default()) };
        let (a, b) = (self.buckets(a as u16)?, self.buckets(b as u16)?);
        Ok(compare(&a, &b))
    }

    /// Mean temperature in each five-minute bucket in which the sensor has one, in time order.
    fn buckets(&mut self, sensor: u16) -> Result<Vec<(i64, f64)>> {
        let mut buckets = Vec::new();
        self.fold(
            Some(sensor),
            |key| key.ts.div_euclid(BUCKET_US),
            |sum: &mut Sum, _, temperature| sum.add(temperature),
            |bucket, sum| buckets.extend(sum.mean().map(|mean| (bucket, mean))),
        )?;
        Ok(buckets)
    }
}

/// Keeps the hottest sensors, in order.
pub(super) fn hottest_first(means: &mut Vec<Mean>) {
    means.sort_unstable_by(|a, b| {
        b.1.partial_cmp(&a.1).unwrap_or(Ordering::Equal).then(a.0.cmp(&b.0))
    });
    means.truncate(MOST);
}

pub(super) fn most_first(tallies: &mut [Tally]) {
    tallies.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
}

/// Adds the readings further than two sample standard deviations from the mean. Squares are
/// compared, so that no root needs to be drawn.
fn outliers(sensor: Option<u16>, held: &[(i64, f64)], found: &mut Vec<Anomaly>) {
    let Some(sensor) = sensor.map(i64::from) else { return };
    if held.len() < 2 {
        return;
    }
    let n = held.len() as f64;
    let mean = held.iter().map(|(_, temperature)| temperature).sum::<f64>() / n;
    let square = |temperature: f64| (temperature - mean) * (temperature - mean);
    let variance =
        held.iter().map(|(_, temperature)| square(*temperature)).sum::<f64>() / (n - 1.0);
    let far = |temperature: f64| square(temperature) > 4.0 * variance;
    found.extend(
        held.iter()
            .filter(|(_, temperature)| far(*temperature))
            .map(|&(ts, temperature)| Anomaly { sensor, ts, temperature }),
    );
}

/// The means of the buckets that both have.
fn common(a: &[(i64, f64)], b: &[(i64, f64)]) -> Vec<(f64, f64)> {
    let mut pairs = Vec::with_capacity(a.len().min(b.len()));
    let (mut i, mut j) = (0, 0);
    while let (Some(&(x_bucket, x)), Some(&(y_bucket, y))) = (a.get(i), b.get(j)) {
        if x_bucket == y_bucket {
            pairs.push((x, y));
        }
        i += usize::from(x_bucket <= y_bucket);
        j += usize::from(y_bucket <= x_bucket);
    }
    pairs
}

fn correlate(pairs: &[(f64, f64)]) -> Comparison {
    let n = pairs.len() as f64;
    let (x_sum, y_sum) = pairs.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    let (x_mean, y_mean) = (x_sum / n, y_sum / n);
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        let (x, y) = (x - x_mean, y - y_mean);
        xy += x * y;
        xx += x * x;
        yy += y * y;
    }
    Comparison { buckets: pairs.len() as i64, correlation: pearson(xy, xx, yy) }
}

/// Mean temperatures of two sensors by bucket, each in time order: how many buckets both have, and
/// their correlation.
pub(super) fn compare(a: &[(i64, f64)], b: &[(i64, f64)]) -> Comparison {
    correlate(&common(a, b))
}

/// Pearson's correlation from centred sums; `None` without variance.
pub(super) fn pearson(xy: f64, xx: f64, yy: f64) -> Option<f64> {
    (xx > 0.0 && yy > 0.0).then(|| xy / (xx.sqrt() * yy.sqrt()))
}
