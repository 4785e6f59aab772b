//! Answers of the workload `sensors`' pipelines on readings small enough to be checked by hand.

use std::slice;

use embermark_engines::document::{Collection, Document, DocumentStore, Value};
use embermark_engines::sql::ResultRow;
use embermark_model::Durability;

use super::pipelines::Pipeline;
use super::{MONGODB, READINGS};

const MINUTE: i64 = 60_000_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Values of a row, all as doubles: each of them is exact here.
type Row = Vec<Option<f64>>;

fn ask(store: &mut dyn DocumentStore, of: Collection, question: Pipeline) -> Vec<Row> {
    answers(store, of, question, question.text())
}

/// The same of one sensor.
fn ask_of(
    store: &mut dyn DocumentStore,
    of: Collection,
    question: Pipeline,
    sensor: u16,
) -> Vec<Row> {
    answers(store, of, question, &question.text_of(sensor))
}

fn answers(
    store: &mut dyn DocumentStore,
    of: Collection,
    question: Pipeline,
    text: &str,
) -> Vec<Row> {
    let mut rows = Vec::new();
    let columns = question.columns();
    let mut visit = |row: &dyn ResultRow| {
        let whole = ["sensor", "ts", "day", "from", "to", "readings", "buckets"];
        let value = |(n, column): (usize, &&str)| match whole.contains(column) {
            true => row.int(n).map(|int| int.map(|int| int as f64)),
            false => row.float(n),
        };
        rows.push(columns.iter().enumerate().map(value).collect::<Result<_, _>>()?);
        Ok(())
    };
    store.query(of, text, columns, &mut visit).unwrap();
    rows
}

fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
    rows
}

fn some<const N: usize>(values: [f64; N]) -> Row {
    values.map(Some).to_vec()
}

fn put(store: &mut dyn DocumentStore, into: Collection, sensor: i64, ts: i64, t: Option<f64>) {
    let t = t.map_or(Value::Null, Value::Float);
    let fields = [("temperature", t), ("light", Value::Float(1.0))];
    let key = [Value::Int(sensor), Value::Int(ts)];
    store.insert(into, &Document { key: &key, fields: &fields }).unwrap();
}

#[test]
fn every_question_is_answered_as_counted_by_hand() {
    let Some((_dir, mut store)) = MONGODB.documents(Durability::None) else { return };
    let store = &mut *store;
    let readings = store.create(&READINGS).unwrap();
    // Nothing yet: no rows, but one for the pair of sensors.
    for question in [Pipeline::AvgSensor, Pipeline::Anomalies, Pipeline::Outages] {
        assert_eq!(ask(store, readings, question), [] as [Row; 0]);
    }
    let none = vec![Some(0.0), None, None, None];
    assert_eq!(ask(store, readings, Pipeline::CompareTwo), [none]);
    // Sensor 1: a reading a minute, 20 and 22 in turn, then 50; two of them without a value,
    // the last after an hour and a microsecond. Sensor 2: hot, the same minutes, on the day
    // before 1970 as well. Sensor 3 without a value. Sensor 4: one reading.
    for n in 0..20 {
        put(store, readings, 1, n * MINUTE, Some([20.0, 22.0][n as usize % 2]));
        put(store, readings, 2, n * MINUTE, Some(30.0 + (n / 5) as f64));
    }
    put(store, readings, 1, 20 * MINUTE, Some(50.0));
    put(store, readings, 1, 20 * MINUTE + 1, None);
    put(store, readings, 1, 20 * MINUTE + 2 + HOUR, None);
    put(store, readings, 2, -1, Some(34.0));
    put(store, readings, 2, 19 * MINUTE + HOUR, None);
    put(store, readings, 3, DAY - 1, None);
    put(store, readings, 3, DAY, None);
    put(store, readings, 4, 5, Some(26.0));

    let mean_1 = 470.0 / 21.0;
    let mean_2 = (30.0 + 31.0 + 32.0 + 33.0) * 5.0 / 21.0 + 34.0 / 21.0;
    let close = |found: &Row, expected: &Row| {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            match (found, expected) {
                (Some(a), Some(b)) => assert!((a - b).abs() <= 1e-9 * b.abs(), "{a} {b}"),
                pair => assert_eq!(pair.0, pair.1),
            }
        }
    };
    let all_close = |found: Vec<Row>, expected: &[Row]| {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        found.iter().zip(expected).for_each(|(found, expected)| close(found, expected));
    };
    let means = [some([1.0, mean_1]), some([2.0, mean_2]), vec![Some(3.0), None]];
    let mut expected = means.to_vec();
    expected.push(some([4.0, 26.0]));
    all_close(sorted(ask(store, readings, Pipeline::AvgSensor)), &expected);
    all_close(ask(store, readings, Pipeline::HotSensors), &[some([2.0, mean_2])]);
    let hottest = [some([2.0, mean_2]), some([4.0, 26.0]), some([1.0, mean_1])];
    all_close(ask(store, readings, Pipeline::Hottest), &hottest);
    let most = [some([1.0, 23.0]), some([2.0, 22.0]), some([3.0, 2.0]), some([4.0, 1.0])];
    all_close(ask(store, readings, Pipeline::MostReadings), &most);
    let anomaly = some([1.0, (20 * MINUTE) as f64, 50.0]);
    all_close(ask(store, readings, Pipeline::Anomalies), slice::from_ref(&anomaly));
    let outages = [some([1.0, (20 * MINUTE + 1) as f64, (20 * MINUTE + 2 + HOUR) as f64])];
    all_close(ask(store, readings, Pipeline::Outages), &outages);
    let summary = [
        some([1.0, 0.0, 20.0, 50.0, mean_1, 23.0]),
        some([2.0, -1.0, 34.0, 34.0, 34.0, 1.0]),
        some([2.0, 0.0, 30.0, 33.0, 31.5, 21.0]),
        vec![Some(3.0), Some(0.0), None, None, None, Some(1.0)],
        vec![Some(3.0), Some(1.0), None, None, None, Some(1.0)],
        some([4.0, 0.0, 26.0, 26.0, 26.0, 1.0]),
    ];
    all_close(sorted(ask(store, readings, Pipeline::DailySummary)), &summary);
    // Of one sensor the same rows without the others'.
    all_close(ask_of(store, readings, Pipeline::AvgSensor, 2), &means[1..2]);
    all_close(ask_of(store, readings, Pipeline::AvgSensor, 3), &means[2..]);
    all_close(ask_of(store, readings, Pipeline::Anomalies, 1), &[anomaly]);
    all_close(ask_of(store, readings, Pipeline::Anomalies, 2), &[]);
    all_close(ask_of(store, readings, Pipeline::Outages, 1), &outages);
    all_close(ask_of(store, readings, Pipeline::Outages, 2), &[]);
    let days = sorted(ask_of(store, readings, Pipeline::DailySummary, 2));
    all_close(days, &summary[1..3]);
    // Buckets of sensor 1: 20.8, 21.2, 20.8, 21.2, and 50 alone; of sensor 2: 30 to 33.
    let pair = some([4.0, 0.4, 0.16, 5.0]);
    let found = ask(store, readings, Pipeline::CompareTwo);
    all_close(found, &[pair]);
}
