//! Events as they are posted over HTTP: JSON of what an event tells, its bucket and its time.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io;

use arrayvec::ArrayString;
use embermark_data::events::{Event, LogLine, Payload};
use embermark_model::answer::Difference;
use jiff::Timestamp;
use serde::Deserialize;

use super::port::Record;

/// By what a row is known that has no id: when it happened, and its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Known(i64, u64);

impl Known {
    pub(super) fn of(record: &Record) -> Self {
        let mut hasher = DefaultHasher::new();
        record.json.hash(&mut hasher);
        Self(record.event.timestamp, hasher.finish())
    }
}

/// What is posted of an event.
pub(super) fn body(record: &Record) -> io::Result<String> {
    let (data, bucket) = (&record.json, record.event.data.bucket());
    let time = Timestamp::from_millisecond(record.event.timestamp).map_err(io::Error::other)?;
    Ok(format!(r#"{{"data":{data},"bucket":"{bucket}","timestamp":"{time:.3}"}}"#))
}

/// The events in the order in which they came.
///
/// # Errors
/// When one came that nobody posted, or twice.
pub(super) fn in_order<'a>(
    records: &'a [Record],
    arrived: &[Known],
) -> Result<Vec<&'a Event>, Difference> {
    let mut posted: HashMap<Known, Vec<&Event>> = HashMap::with_capacity(records.len());
    for record in records {
        posted.entry(Known::of(record)).or_default().push(&record.event);
    }
    let came = arrived.iter().enumerate().map(|(place, known)| {
        let event = posted.get_mut(known).and_then(Vec::pop);
        event.ok_or_else(|| {
            Difference(format!("the row that came as number {} was not posted", place + 1))
        })
    });
    came.collect()
}

/// A row as it is posted.
#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    data: Data<'a>,
    bucket: &'a str,
    timestamp: &'a str,
}

/// What a row tells, of its bucket.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Data<'a> {
    longitude: Option<f64>,
    latitude: Option<f64>,
    co2: Option<f64>,
    span_id: Option<i64>,
    level: Option<&'a str>,
    user: Option<&'a str>,
    message: Option<&'a str>,
    endpoint: Option<&'a str>,
}

/// Reads the body of a request into a record, whose room is used again; its id is the store's to give.
pub(super) fn read(body: &[u8], into: &mut Record) -> io::Result<()> {
    let row: Row<'_> = serde_json::from_slice(body)?;
    let time: Timestamp = row.timestamp.parse().map_err(io::Error::other)?;
    into.event.timestamp = time.as_millisecond();
    into.event.data = payload(&row)
        .ok_or_else(|| io::Error::other(format!("no row of the bucket '{}'", row.bucket)))?;
    into.json.clear();
    into.event.data.json(&mut into.json);
    Ok(())
}

fn payload(Row { data, bucket, .. }: &Row<'_>) -> Option<Payload> {
    Some(match *bucket {
        "location" => Payload::Location { longitude: data.longitude?, latitude: data.latitude? },
        "co2" => Payload::Co2 { co2: data.co2? },
        "logs" => Payload::Log(LogLine {
            span_id: data.span_id?,
            is_error: match data.level? {
                "error" => true,
                "success" => false,
                _ => return None,
            },
            user: ArrayString::from(data.user?).ok()?,
            message: ArrayString::from(data.message?).ok()?,
            endpoint: ArrayString::from(data.endpoint?).ok()?,
        }),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use embermark_data::events::generate;

    use super::*;

    #[test]
    fn every_event_reads_back_as_it_was_posted() {
        let events = generate(700, 7);
        let mut read_back = Record::of(events[9]);
        for event in events {
            let record = Record::of(event);
            read(body(&record).unwrap().as_bytes(), &mut read_back).unwrap();
            let read = (read_back.event.data, &read_back.json, read_back.event.timestamp);
            assert_eq!(read, (event.data, &record.json, event.timestamp));
        }
    }

    #[test]
    fn a_row_that_came_twice_or_from_nobody_is_a_difference() {
        let records: Vec<Record> = generate(700, 7).into_iter().map(Record::of).collect();
        let twice = [Known::of(&records[0]), Known::of(&records[1]), Known::of(&records[0])];
        assert!(in_order(&records, &twice).unwrap_err().0.contains("number 3"));
        let other = Record::of(generate(1, 8)[0]);
        assert!(in_order(&records, &[Known::of(&other)]).is_err());
        assert_eq!(in_order(&records, &twice[1..]).unwrap()[0].id, 2);
    }

    #[test]
    fn what_is_no_event_is_refused() {
        let mut row = Record::of(generate(1, 7)[0]);
        for body in [
            "no json",
            r#"{"data":{"co2":1.5},"bucket":"weather","timestamp":"2023-01-01T00:00:00.000Z"}"#,
            r#"{"data":{"co2":1.5},"bucket":"location","timestamp":"2023-01-01T00:00:00.000Z"}"#,
            r#"{"data":{"co2":1.5},"bucket":"co2","timestamp":"yesterday"}"#,
        ] {
            assert!(read(body.as_bytes(), &mut row).is_err(), "{body}");
        }
    }
}
