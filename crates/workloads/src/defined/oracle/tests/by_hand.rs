//! Questions of the workload `sensors` on readings that are few enough to count by hand. Verbs that
//! it does not have are tested beside this file.

use std::fmt::Write as _;

use embermark_language::PUBLISHED;
use embermark_model::Scale;
use embermark_model::answer::Value as Answered;

use super::super::super::keep;
use super::super::*;

const SECOND: i64 = 1_000_000;
const HOUR: i64 = 3_600 * SECOND;
const DAY: i64 = 24 * HOUR;
const BUCKET: i64 = 300 * SECOND;

/// A sensor, a time, and a temperature.
type Row = (u16, i64, Option<f64>);

fn row(sensor: u16, ts: i64, temperature: impl Into<Option<f64>>) -> Row {
    (sensor, ts, temperature.into())
}

/// Returns readings of a sensor, 31 s apart.
fn series(sensor: u16, temperatures: &[f64]) -> Vec<Row> {
    (0..).zip(temperatures).map(|(n, t)| row(sensor, n * 31 * SECOND, *t)).collect()
}

const fn int(value: i64) -> Answered {
    Answered::Int(value)
}

const fn float(value: f64) -> Answered {
    Answered::Float(value)
}

/// Returns a cell of `sensors` with these rows.
fn cell(rows: &[Row]) -> Arc<Cell> {
    let dir = tempfile::tempdir().unwrap();
    let mut csv = "sensor,ts,temperature,humidity,light,voltage\n".to_owned();
    for (sensor, ts, temperature) in rows {
        let temperature = temperature.map_or(String::new(), |value| format!("{value:?}"));
        writeln!(csv, "{sensor},{ts},{temperature},40,,2.7").unwrap();
    }
    std::fs::write(dir.path().join("rows.csv"), csv).unwrap();
    let (_, text) = PUBLISHED.iter().find(|(name, _)| *name == "sensors").unwrap();
    let from_file = "file = \"rows.csv\"\nread = { delim = \",\" }";
    let text = text.replace("rows = \"100k\"\nmake = \"sensor-log\"", from_file);
    let of_rows = |line: &&str| !line.starts_with("usual") && !line.starts_with("overview");
    let text: Vec<&str> = text.lines().filter(of_rows).collect();
    Arc::new(keep::tests::cell(&text.join("\n"), Scale::Full, dir.path()).unwrap())
}

/// Checks an answer to a question with the oracle.
fn check<const N: usize>(
    rows: &[Row],
    question: &str,
    answer: &[[Answered; N]],
) -> Result<(), String> {
    check_in(&cell(rows), question, answer)
}

fn check_in<const N: usize>(
    cell: &Arc<Cell>,
    question: &str,
    answer: &[[Answered; N]],
) -> Result<(), String> {
    let phase = cell.definition.phases.iter().position(|phase| phase.name == question).unwrap();
    let found = Found { result: answer.concat(), ..Found::default() };
    let print = |row: &[Value<'_>]| fingerprint(row.iter().copied());
    let checked = Oracle::new(Arc::clone(cell)).check(phase, 1, &found, true, &print);
    checked.map_err(|Difference(what)| what)
}

fn is_right<const N: usize>(rows: &[Row], question: &str, answer: &[[Answered; N]]) {
    let cell = cell(rows);
    assert_eq!(check_in(&cell, question, answer), Ok(()));
    for without in 0..answer.len() {
        let mut fewer = answer.to_vec();
        fewer.remove(without);
        assert!(check_in(&cell, question, &fewer).is_err(), "{question} without {without}");
    }
}

#[test]
fn means_are_of_the_temperatures_that_are_there() {
    let rows = [
        row(7, 3, 22.0),
        row(2, 1, 10.0),
        row(2, 2, None),
        row(2, 3, 21.0),
        row(9, 1, None),
        row(2, 4, 2.0),
    ];
    let means = [[int(2), float(11.0)], [int(7), float(22.0)], [int(9), Answered::Null]];
    is_right(&rows, "avg_sensor", &means);
}

#[test]
fn a_mean_whose_sum_overflows_is_infinite() {
    let rows = [row(1, 1, 1e308), row(1, 2, 1e308), row(2, 1, 3.0)];
    is_right(&rows, "avg_sensor", &[[int(1), float(f64::INFINITY)], [int(2), float(3.0)]]);
}

#[test]
fn hot_sensors_need_ten_readings_and_a_mean_above_25() {
    let mut rows = series(1, &[26.0; 10]);
    rows.extend(series(2, &[40.0; 9]));
    rows.extend(series(4, &[24.9; 12]));
    // Nine temperatures, but ten readings.
    rows.extend(series(5, &[30.0; 9]));
    rows.push(row(5, DAY, None));
    rows.extend((0..20).map(|i| row(6, i, None)));
    let [mild, hot] = [(1, 26.0), (5, 30.0)].map(|(of, mean)| [int(of), float(mean), int(10)]);
    is_right(&rows, "hot_sensors", &[hot.clone(), mild.clone()]);
    assert!(check(&rows, "hot_sensors", &[mild.clone(), hot.clone()]).is_err());
    // A group at the threshold can be in the answer or not.
    rows.extend(series(3, &[25.0; 12]));
    let at = [int(3), float(25.0), int(12)];
    assert_eq!(check(&rows, "hot_sensors", &[hot.clone(), mild.clone()]), Ok(()));
    assert_eq!(check(&rows, "hot_sensors", &[hot, mild, at]), Ok(()));
}

#[test]
fn anomalies_lie_more_than_two_sample_deviations_from_the_mean() {
    // Mean 21, squares 9 * 1 + 81 = 90, variance 90 / 9 = 10, deviation 3.162: 30 is 9 away.
    let mut rows = series(1, &[20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 30.0]);
    rows.push(row(1, DAY, None));
    // One temperature has no deviation. Of two temperatures, none is ever two deviations off.
    rows.extend(series(2, &[50.0]));
    rows.extend(series(3, &[0.0, 100.0]));
    let anomaly = [int(1), int(9 * 31 * SECOND), float(30.0)];
    is_right(&rows, "anomalies", std::slice::from_ref(&anomaly));
    let more = [anomaly, [int(3), int(0), float(0.0)]];
    assert!(check(&rows, "anomalies", &more).is_err());
}

#[test]
fn a_reading_at_exactly_two_deviations_or_of_a_stuck_sensor_may_be_an_anomaly_or_not() {
    // Eight readings at distance 1 from the mean and two at distance 2d, of ten: the variance is
    // (8 + 8d²) / 9, and d² itself when d² = 8.
    let d = 8.0_f64.sqrt();
    let t = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 2.0 * d, -2.0 * d].map(|x| x + 20.0);
    let rows = series(1, &t);
    assert_eq!(check::<3>(&rows, "anomalies", &[]), Ok(()));
    let at = |n: i64| [int(1), int(n * 31 * SECOND), float(t[n as usize])];
    assert_eq!(check(&rows, "anomalies", &[at(8), at(9)]), Ok(()));
    assert!(check(&rows, "anomalies", &[at(7)]).is_err());
    let stuck = series(1, &[122.153; 7]);
    assert_eq!(check::<3>(&stuck, "anomalies", &[]), Ok(()));
    assert_eq!(check(&stuck, "anomalies", &[[int(1), int(0), float(122.153)]]), Ok(()));
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
    let day = |of, day: i64, [min, max, mean]: [f64; 3], count| {
        [int(of), int(day * DAY), float(min), float(max), float(mean), int(count)]
    };
    let none = Answered::Null;
    let days = [
        day(1, 4, [10.0, 10.0, 10.0], 1),
        day(1, 5, [-4.0, 20.0, 8.0], 3),
        [int(1), int(6 * DAY), none.clone(), none.clone(), none, int(1)],
        day(2, 5, [1.5, 1.5, 1.5], 1),
    ];
    is_right(&rows, "daily_summary", &days);
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
    let outages = [[1, HOUR, 2 * HOUR + 1], [1, 2 * HOUR + 1, 9 * HOUR]].map(|gap| gap.map(int));
    is_right(&rows, "outages", &outages);
}

#[test]
fn top_sensors_are_counted_over_all_readings_and_ranked_over_temperatures() {
    let mut rows: Vec<Row> = (1..=12).flat_map(|s| series(s, &[f64::from(s); 3])).collect();
    rows.push(row(12, DAY, None));
    rows.push(row(13, 0, None));
    // With equally many readings the lower id comes first, so 10 and 11 are left out.
    let most = [(12, 4)].into_iter().chain((1..=9).map(|s| (s, 3)));
    let most: Vec<_> = most.map(|(s, n)| [int(s), int(n)]).collect();
    is_right(&rows, "most_readings", &most);
    let mut other = most;
    other[9] = [int(10), int(3)];
    assert!(check(&rows, "most_readings", &other).is_err());
    let hottest: Vec<_> = (3..=12).rev().map(|s| [int(s), float(s as f64)]).collect();
    is_right(&rows, "hottest", &hottest);
}

#[test]
fn two_sensors_are_compared_over_the_five_minute_buckets_they_share() {
    let mut rows = Vec::new();
    // Bucket means of sensor 4: 1, 2, 3, 4; of sensor 8: 2, 1, 4, 3 (correlation 0.6).
    for (bucket, x, y) in [(0, 1.0, 2.0), (1, 2.0, 1.0), (2, 3.0, 4.0), (3, 4.0, 3.0)] {
        rows.push(row(4, bucket * BUCKET, x - 0.5));
        rows.push(row(4, (bucket + 1) * BUCKET - 1, x + 0.5));
        rows.push(row(8, bucket * BUCKET + 7, y));
        rows.push(row(8, bucket * BUCKET + 8, None));
    }
    // Buckets of only one sensor, or without a temperature, do not count.
    rows.push(row(4, 50 * BUCKET, 99.0));
    rows.push(row(8, 51 * BUCKET, 99.0));
    rows.push(row(4, 52 * BUCKET, 99.0));
    rows.push(row(8, 52 * BUCKET, None));
    // A third sensor with fewer rows, and one with as many as these but a higher id.
    rows.extend(series(1, &[5.0; 9]));
    rows.extend(series(9, &[5.0; 10]));
    is_right(&rows, "compare_two", &[[int(4), float(0.6)]]);
    assert!(check(&rows, "compare_two", &[[int(5), float(0.6)]]).is_err());
    assert!(check(&rows, "compare_two", &[[int(4), float(0.600_001)]]).is_err());
    assert!(check(&rows, "compare_two", &[[int(4), Answered::Null]]).is_err());
}

#[test]
fn a_correlation_over_fewer_than_two_buckets_is_null_and_with_a_stuck_sensor_may_be_anything() {
    let null = |buckets| [[int(buckets), Answered::Null]];
    is_right(&series(1, &[1.0, 2.0]), "compare_two", &null(0));
    is_right(&[row(1, 0, 1.0), row(2, 0, 2.0)], "compare_two", &null(1));
    is_right(&[row(1, 0, 1.0), row(2, HOUR, 2.0)], "compare_two", &null(0));
    let mut rows: Vec<Row> = (0..20).map(|i| row(1, i * HOUR, 122.153)).collect();
    rows.extend((0..20).map(|i| row(2, i * HOUR, i as f64)));
    is_right(&rows, "compare_two", &null(20));
    is_right(&rows, "compare_two", &[[int(20), float(0.3)]]);
}
