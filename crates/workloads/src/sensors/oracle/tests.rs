//! Answers worked out by hand.

use embermark_model::answer::{Answer, Expected, Required, Row, Value};
use embermark_model::{Key, Reading};

use super::super::phase::Phase;
use super::{Content, Oracle};

const SECOND: i64 = 1_000_000;
const HOUR: i64 = 3_600 * SECOND;
const DAY: i64 = 24 * HOUR;

fn row(sensor: u16, ts: i64, temperature: impl Into<Option<f64>>) -> Reading {
    Reading::new(Key { sensor, ts }, [temperature.into(), Some(40.0), None, Some(2.7)])
}

fn series(sensor: u16, temperatures: &[f64]) -> Vec<Reading> {
    (0..).zip(temperatures).map(|(i, &t)| row(sensor, i * 31 * SECOND, t)).collect()
}

fn answer(rows: &[Reading], step: Phase) -> Expected {
    Oracle::new(rows).answer(step).unwrap().clone()
}

/// Rows that must be in the answer, and rows that may be.
fn rows_of(rows: &[Reading], step: Phase) -> (Vec<Row>, Vec<Row>) {
    match answer(rows, step) {
        Expected::Set { rows, optional } => (rows, optional),
        Expected::Top(top) => {
            let (yes, no): (Vec<_>, Vec<_>) =
                top.candidates.into_iter().partition(|(_, required)| *required == Required::Yes);
            let rows = |of: Vec<(Row, Required)>| of.into_iter().map(|(row, _)| row).collect();
            (rows(yes), rows(no))
        }
        other => panic!("no list: {other:?}"),
    }
}

fn int(n: i64) -> Value {
    Value::Int(n)
}

fn float(x: f64) -> Value {
    Value::Float(x)
}

#[test]
fn means_are_over_temperatures_that_are_there_and_null_without_any() {
    let rows = [
        row(7, 3, 22.0),
        row(2, 1, 10.0),
        row(2, 2, None),
        row(2, 3, 21.0),
        row(9, 1, None),
        row(2, 4, 2.0),
    ];
    let means = [(2, float(11.0)), (7, float(22.0)), (9, Value::Null)];
    assert_eq!(
        rows_of(&rows, Phase::AvgSensor).0,
        means.map(|(sensor, mean)| vec![int(sensor), mean])
    );
}

#[test]
fn hot_sensors_need_ten_readings_and_a_mean_above_25() {
    let mut rows = series(1, &[26.0; 10]);
    rows.extend(series(2, &[40.0; 9]));
    rows.extend(series(3, &[25.0; 12]));
    rows.extend(series(4, &[24.9; 12]));
    // Nine temperatures, but ten readings.
    rows.extend(series(5, &[30.0; 9]));
    rows.push(row(5, DAY, None));
    rows.extend((0..20).map(|i| row(6, i, None)));
    let (sure, at_threshold) = rows_of(&rows, Phase::HotSensors);
    assert_eq!(sure, [vec![int(1), float(26.0)], vec![int(5), float(30.0)]]);
    assert_eq!(at_threshold, [vec![int(3), float(25.0)]]);
    let [mild, hot] = [vec![int(1), float(26.0)], vec![int(5), float(30.0)]];
    let verdict = |order: [&Row; 2]| {
        answer(&rows, Phase::HotSensors).check(&Answer::Rows(order.map(Clone::clone).to_vec()))
    };
    assert_eq!(verdict([&hot, &mild]), Ok(()));
    assert!(verdict([&mild, &hot]).is_err());
}

#[test]
fn anomalies_lie_more_than_two_sample_deviations_from_the_mean() {
    // Mean 21, squares 9 * 1 + 81 = 90, variance 90 / 9 = 10, deviation 3.162: 30 is 9 away.
    let mut rows = series(1, &[20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 30.0]);
    rows.push(row(1, DAY, None));
    // One temperature has no deviation; of two none is ever two deviations off.
    rows.extend(series(2, &[50.0]));
    rows.extend(series(3, &[0.0, 100.0]));
    let (sure, at_threshold) = rows_of(&rows, Phase::Anomalies);
    assert_eq!(sure, [vec![int(1), int(9 * 31 * SECOND), float(30.0)]]);
    assert_eq!(at_threshold, Vec::<Row>::new());
}

#[test]
fn a_reading_at_exactly_two_deviations_may_be_an_anomaly_or_not() {
    // Eight readings at distance 1 from the mean and two at distance 2d, of ten: the variance is
    // (8 + 8d²) / 9, and d² itself when d² = 8.
    let d = 8.0_f64.sqrt();
    let t = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 2.0 * d, -2.0 * d];
    let rows = series(1, &t.map(|x| x + 20.0));
    let (sure, at_threshold) = rows_of(&rows, Phase::Anomalies);
    assert_eq!((sure.len(), at_threshold.len()), (0, 2));
}

#[test]
fn readings_of_a_stuck_sensor_may_be_anomalies_or_not() {
    let rows = series(1, &[122.153; 7]);
    let (sure, at_threshold) = rows_of(&rows, Phase::Anomalies);
    assert_eq!((sure.len(), at_threshold.len()), (0, 7));
}

#[test]
fn a_day_ends_at_midnight_utc_and_counts_readings_without_temperature() {
    let rows = [
        row(1, 5 * DAY - 1, 10.0),
        row(1, 5 * DAY, 20.0),
        row(1, 5 * DAY + 1, None),
        row(1, 6 * DAY - 1, -4.0),
        row(1, 6 * DAY, None),
        row(2, 5 * DAY, 1.5),
    ];
    assert_eq!(
        rows_of(&rows, Phase::DailySummary).0,
        [
            vec![int(1), int(4), float(10.0), float(10.0), float(10.0), int(1)],
            vec![int(1), int(5), float(-4.0), float(20.0), float(8.0), int(3)],
            vec![int(1), int(6), Value::Null, Value::Null, Value::Null, int(1)],
            vec![int(2), int(5), float(1.5), float(1.5), float(1.5), int(1)],
        ]
    );
}

#[test]
fn an_outage_is_longer_than_an_hour_and_between_readings_of_one_sensor() {
    let rows = [
        row(1, 0, 1.0),
        row(1, HOUR, None),
        row(1, 2 * HOUR + 1, 1.0),
        row(2, 0, 1.0),
        // Sensor 1's silence is not ended by sensor 2, nor the other way round.
        row(2, HOUR / 2, 1.0),
        row(1, 9 * HOUR, 1.0),
        row(3, 20 * HOUR, 1.0),
    ];
    assert_eq!(
        rows_of(&rows, Phase::Outages).0,
        [
            vec![int(1), int(HOUR), int(2 * HOUR + 1)],
            vec![int(1), int(2 * HOUR + 1), int(9 * HOUR)],
        ]
    );
}

#[test]
fn a_question_of_some_sensors_is_answered_from_theirs_alone() {
    let rows = [
        row(7, 3, 22.0),
        row(2, 1, 10.0),
        row(2, 2 * HOUR, 21.0),
        row(9, 1, None),
        row(7, DAY, 4.0),
    ];
    let of = |step, sensors: &[u16]| match Oracle::new(&rows).answer_of(&rows, step, sensors) {
        Some(Expected::Set { rows, .. }) => rows,
        other => panic!("no list: {other:?}"),
    };
    let [cold, mild] = [vec![int(2), float(15.5)], vec![int(7), float(13.0)]];
    assert_eq!(of(Phase::AvgSensor, &[7, 2]), [cold, mild.clone()]);
    assert_eq!(of(Phase::AvgSensor, &[7]), [mild]);
    assert_eq!(of(Phase::AvgSensor, &[9]), [vec![int(9), Value::Null]]);
    assert_eq!(of(Phase::Outages, &[2]), [vec![int(2), int(1), int(2 * HOUR)]]);
    assert_eq!(of(Phase::Outages, &[9]), Vec::<Row>::new());
    assert_eq!(of(Phase::DailySummary, &[7]).len(), 2);
    assert!(Oracle::new(&rows).answer_of(&rows, Phase::TopkSensors, &[7]).is_none());
}

#[test]
fn top_sensors_are_counted_over_all_readings_and_ranked_over_temperatures() {
    let mut rows: Vec<Reading> = (1..=12).flat_map(|s| series(s, &[f64::from(s); 3])).collect();
    rows.push(row(12, DAY, None));
    rows.push(row(13, 0, None));
    let topk = answer(&rows, Phase::TopkSensors);
    let of = |first: &[(i64, i64)], second: &[i64]| {
        let readings = first.iter().map(|&(s, n)| vec![int(s), int(n)]).collect();
        let hottest = second.iter().map(|&s| vec![int(s), float(s as f64)]).collect();
        Answer::Parts(vec![
            ("readings", Answer::Rows(readings)),
            ("hottest", Answer::Rows(hottest)),
        ])
    };
    // Of equally many readings the lower id comes first, so 10 and 11 are left out.
    let most: Vec<(i64, i64)> = [(12, 4)].into_iter().chain((1..=9).map(|s| (s, 3))).collect();
    let hottest: Vec<i64> = (3..=12).rev().collect();
    assert_eq!(topk.check(&of(&most, &hottest)), Ok(()));

    let mut other = most.clone();
    other[9] = (10, 3);
    assert!(topk.check(&of(&other, &hottest)).is_err());
    assert!(topk.check(&of(&most, &hottest[..9])).is_err());
}

/// Answer of `compare_two` as buckets and correlation.
fn comparison(rows: &[Reading]) -> (Value, Value) {
    let (rows, _) = rows_of(rows, Phase::CompareTwo);
    (rows[0][0].clone(), rows[0][1].clone())
}

#[test]
fn two_sensors_are_compared_over_the_five_minute_buckets_they_share() {
    const BUCKET: i64 = 300 * SECOND;
    let mut rows = Vec::new();
    // Bucket means of sensor 4: 1, 2, 3, 4; of sensor 8: 2, 1, 4, 3 (correlation 0.6).
    for (bucket, x, y) in [(0, 1.0, 2.0), (1, 2.0, 1.0), (2, 3.0, 4.0), (3, 4.0, 3.0)] {
        rows.push(row(4, bucket * BUCKET, x - 0.5));
        rows.push(row(4, (bucket + 1) * BUCKET - 1, x + 0.5));
        rows.push(row(8, bucket * BUCKET + 7, y));
        rows.push(row(8, bucket * BUCKET + 8, None));
    }
    // Buckets of only one of them, or without a temperature, do not count.
    rows.push(row(4, 50 * BUCKET, 99.0));
    rows.push(row(8, 51 * BUCKET, 99.0));
    rows.push(row(4, 52 * BUCKET, 99.0));
    rows.push(row(8, 52 * BUCKET, None));
    // A third sensor with fewer rows, and one with as many as these but a higher id.
    rows.extend(series(1, &[5.0; 9]));
    rows.extend(series(9, &[5.0; 10]));
    let (buckets, correlation) = comparison(&rows);
    assert_eq!(buckets, int(4));
    let Value::Unit(r) = correlation else { panic!("{correlation:?}") };
    assert!((r - 0.6).abs() < 1e-12, "{r}");
}

#[test]
fn a_correlation_over_fewer_than_two_buckets_is_null() {
    assert_eq!(comparison(&[]), (int(0), Value::Null));
    assert_eq!(comparison(&series(1, &[1.0, 2.0])), (int(0), Value::Null));
    assert_eq!(comparison(&[row(1, 0, 1.0), row(2, 0, 2.0)]), (int(1), Value::Null));
    assert_eq!(comparison(&[row(1, 0, 1.0), row(2, HOUR, 2.0)]), (int(0), Value::Null));
}

#[test]
fn a_correlation_with_a_stuck_sensor_may_be_anything() {
    let mut rows: Vec<Reading> = (0..20).map(|i| row(1, i * HOUR, 122.153)).collect();
    rows.extend((0..20).map(|i| row(2, i * HOUR, i as f64)));
    assert_eq!(comparison(&rows), (int(20), Value::Any));
}

#[test]
fn the_profile_is_its_four_parts_in_sequence() {
    let Expected::Parts(parts) = answer(&series(1, &[1.0, 2.0]), Phase::FullProfile) else {
        panic!("no parts")
    };
    let names: Vec<_> = parts.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["avg_sensor", "daily_summary", "outages", "topk_sensors"]);
}

#[test]
fn places_and_newest_rows_are_found_whatever_the_order() {
    let rows = [row(3, 5, 1.0), row(1, 9, 1.0), row(3, 4, 1.0), row(1, 2, 1.0)];
    let oracle = Oracle::new(&rows);
    assert_eq!(oracle.sensors(), [1, 3]);
    for (place, row) in (0..).zip(&rows) {
        assert_eq!(oracle.place(&rows, row.key()), Some(place));
    }
    assert_eq!(oracle.place(&rows, Key { sensor: 1, ts: 3 }), None);
    assert_eq!([1, 2, 3].map(|s| oracle.newest(&rows, s)), [Some(1), None, Some(0)]);
}

/// The difference found when `got` is read back of a store that should hold `rows`, with `spare`
/// rows allowed to be absent.
fn difference(rows: &[Reading], got: &[Reading], spare: u64) -> Result<(), String> {
    let oracle = Oracle::new(rows);
    let all = |place: u32| Some(rows[place as usize]);
    let mut content = Content::new(&oracle, &all, spare);
    got.iter().for_each(|row| content.see(row));
    content.finish().map_err(|difference| difference.0)
}

#[test]
fn what_is_read_back_must_be_every_row_once_in_key_order_and_unchanged() {
    let rows = [row(1, 1, 1.0), row(1, 2, None), row(2, 1, 3.0)];
    let [a, b, c] = rows;
    assert_eq!(difference(&rows, &rows, 0), Ok(()));
    let says = |got: &[Reading]| difference(&rows, got, 0).unwrap_err();
    assert_eq!(
        says(&[a, c]),
        "row (sensor 1, ts 2, temperature NULL, humidity 40, light NULL, voltage 2.7) \
         is missing from the store"
    );
    assert!(says(&[a, b]).contains("sensor 2, ts 1") && says(&[a, b]).contains("missing"));
    assert!(says(&[a, b, b, c]).ends_with("should not be in the store"));
    assert!(says(&[a, b, c, row(9, 9, 9.0)]).ends_with("should not be in the store"));
    assert!(says(&[b, a, c]).contains("missing"));
    assert!(says(&[a, row(1, 2, 0.0), c]).starts_with("expected row (sensor 1, ts 2"));
}

#[test]
fn of_a_load_cut_short_any_rows_may_be_absent_but_only_so_many() {
    let rows = [row(1, 1, 1.0), row(1, 2, None), row(2, 1, 3.0)];
    let [a, b, c] = rows;
    for got in [[a, b], [a, c], [b, c]] {
        assert_eq!(difference(&rows, &got, 1), Ok(()));
    }
    assert!(difference(&rows, &[a], 1).unwrap_err().contains("missing"));
    assert!(difference(&rows, &[a, b, c], 1).unwrap_err().contains("more than were loaded"));
    assert!(difference(&rows, &[a, row(2, 1, 4.0)], 1).unwrap_err().starts_with("expected"));
}
