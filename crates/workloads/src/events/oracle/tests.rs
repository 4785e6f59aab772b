//! The oracle against answers made by hand.

use arrayvec::ArrayString;
use embermark_data::events::{LogLine, YEAR};

use super::super::port::Stored;
use super::*;

const DAY: i64 = 86_400_000;

fn records(data: Vec<(i64, Payload)>) -> Vec<Record> {
    let event = |(id, (timestamp, data))| Event { id, timestamp, data };
    (1..).zip(data).map(|row| Record { event: event(row), json: String::new() }).collect()
}

fn at(longitude: f64, latitude: f64) -> (i64, Payload) {
    (YEAR.start, Payload::Location { longitude, latitude })
}

fn air(day: i64, co2: f64) -> (i64, Payload) {
    (YEAR.start + day * DAY, Payload::Co2 { co2 })
}

fn line(timestamp: i64, endpoint: &str, is_error: bool) -> (i64, Payload) {
    let log = LogLine {
        span_id: 1,
        is_error,
        user: ArrayString::new(),
        message: ArrayString::new(),
        endpoint: ArrayString::from(endpoint).unwrap(),
    };
    (timestamp, Payload::Log(log))
}

fn point(longitude: f64, latitude: f64) -> Row {
    vec![Value::Float(longitude), Value::Float(latitude)]
}

fn errors(endpoint: &str, count: i64) -> Row {
    vec![Value::Text(endpoint.to_owned()), Value::Int(count)]
}

/// What the oracle says of an answer, which is the same inside the clock and outside.
fn verdict(oracle: &Oracle, question: Phase, rows: Vec<Row>) -> Result<(), Difference> {
    let mut found = QueryResults::default();
    for row in &rows {
        match &row[..] {
            [Value::Float(x), Value::Float(y)] => found.point(*x, *y),
            [Value::Int(month), Value::Float(mean)] => found.mean(*month, *mean),
            [Value::Text(endpoint), Value::Int(count)] => found.errors(endpoint, *count),
            _ => panic!("{row:?} is of no question"),
        }
    }
    let verdict = oracle.check(question, &Answer::Rows(rows));
    assert_eq!(oracle.check_request(question, &found), verdict);
    assert_eq!(oracle.request.accepts(question, &found), verdict.is_ok());
    verdict
}

#[test]
fn points_on_the_edge_of_the_rectangle_are_outside() {
    let oracle = Oracle::new(&records(vec![
        at(6.0, 47.0),
        at(6.0001, 47.0),
        at(9.9999, 45.0001),
        at(10.0, 47.0),
        at(8.0, 45.0),
        at(8.0, 50.0),
        at(8.0, 50.5),
    ]));
    let check = |rows: Vec<Row>| verdict(&oracle, Phase::Gps, rows);
    let (a, b) = (point(6.0001, 47.0), point(9.9999, 45.0001));
    assert_eq!(check(vec![b.clone(), a.clone()]), Ok(()));
    assert!(check(vec![a.clone()]).is_err());
    assert!(check(vec![a.clone(), a.clone()]).is_err());
    assert!(check(vec![a.clone(), b, point(6.0, 47.0)]).is_err());
    assert!(check(vec![a, point(9.999_901, 45.0001)]).is_err());
}

#[test]
fn means_are_by_month_in_utc() {
    let oracle = Oracle::new(&records(vec![
        air(0, 100.0),
        air(30, 200.0),
        air(31, 400.0),
        air(58, 500.0),
        air(59, 1.0),
        air(364, 7.0),
    ]));
    let mean = |month, mean| vec![Value::Int(month), Value::Float(mean)];
    let right = vec![mean(12, 7.0), mean(1, 150.0), mean(2, 450.0), mean(3, 1.0)];
    assert_eq!(verdict(&oracle, Phase::Co2, right.clone()), Ok(()));
    let mut bent = right.clone();
    bent[1] = mean(1, 150.000_001);
    assert!(verdict(&oracle, Phase::Co2, bent).is_err());
    let other = [mean(12, 7.0), mean(1, 150.0), mean(2, 450.0), mean(0, 1.0)];
    assert!(verdict(&oracle, Phase::Co2, other.to_vec()).is_err());
    let twice = [mean(12, 7.0), mean(1, 150.0), mean(2, 450.0), mean(2, 450.0)];
    assert!(verdict(&oracle, Phase::Co2, twice.to_vec()).is_err());
    assert!(verdict(&oracle, Phase::Co2, right[..3].to_vec()).is_err());
}

#[test]
fn errors_of_the_last_ninety_days_are_counted_and_in_order() {
    let since = YEAR.end - 90 * DAY;
    let oracle = Oracle::new(&records(vec![
        line(since, "early", true),
        line(since + 1, "a", true),
        line(since + 2, "b", true),
        line(since + 3, "b", true),
        line(since + 4, "c", true),
        line(since + 5, "b", false),
        line(since + 6, "a", false),
    ]));
    let check = |rows: Vec<Row>| verdict(&oracle, Phase::Logs, rows);
    let (a, b, c) = (errors("a", 1), errors("b", 2), errors("c", 1));
    assert_eq!(check(vec![c.clone(), a.clone(), b.clone()]), Ok(()));
    assert_eq!(check(vec![b.clone(), a.clone(), c.clone()]), Ok(()));
    assert!(check(vec![a.clone(), b.clone(), c.clone()]).is_err());
    assert!(check(vec![a.clone(), b]).is_err());
    assert!(check(vec![c, a, errors("b", 3)]).is_err());
}

#[test]
fn a_store_that_holds_more_less_or_something_else_differs() {
    let rows = records(vec![at(1.0, 2.0), air(1, 5.0), line(YEAR.start, "x", false)]);
    let read_back = |events: &[Stored<'_>]| {
        let mut content = Content::new(rows.iter().map(|record| &record.event).collect());
        events.iter().for_each(|event| content.see(event));
        content.finish()
    };
    let all: Vec<Stored<'_>> = rows.iter().map(|record| Stored::of(&record.event)).collect();
    assert_eq!(read_back(&all), Ok(()));
    assert_eq!(read_back(&[all[2], all[0], all[1]]), Ok(()));
    assert!(read_back(&all[..2]).is_err());
    assert!(read_back(&[all[0], all[0], all[1], all[2]]).is_err());
    for id in [0, 4, i64::MIN + 1] {
        assert!(read_back(&[Stored { id, ..all[0] }]).is_err());
    }
    assert!(read_back(&[Stored { timestamp: 1, ..all[0] }]).is_err());
    assert!(read_back(&[Stored { numbers: [None; 4], ..all[0] }]).is_err());
    assert!(read_back(&[Stored { texts: [None; 4], ..all[2] }]).is_err());
}
