//! An event as key and value: the key is the id in 8 bytes, the value a byte for the bucket, the
//! timestamp in 8, and the document as JSON text. All numbers are big-endian, whose bytes are in their
//! order.

use super::json::{self, Value as Json};
use super::port::{NUMBERS, Record, Stored, TEXTS};

/// Each bucket stands in a value as its place in this list.
const BUCKETS: [&str; 3] = ["location", "co2", "logs"];
pub(super) const LOCATION: u8 = 0;
pub(super) const CO2: u8 = 1;
pub(super) const LOGS: u8 = 2;

/// Bytes before the document.
pub(super) const HEAD: usize = 9;

/// The value of an event.
pub(super) fn encode(record: &Record, value: &mut Vec<u8>) {
    let event = &record.event;
    let bucket = match event.data.bucket() {
        "location" => LOCATION,
        "co2" => CO2,
        _ => LOGS,
    };
    value.clear();
    value.push(bucket);
    value.extend(event.timestamp.to_be_bytes());
    value.extend(record.json.as_bytes());
}

/// Bucket, timestamp and document of a value, if it is one.
pub(super) fn decode(value: &[u8]) -> Option<(u8, i64, &str)> {
    let (head, json) = value.split_first_chunk::<HEAD>()?;
    let (bucket, timestamp) = head.split_first_chunk::<1>()?;
    let timestamp = i64::from_be_bytes(timestamp.try_into().ok()?);
    Some((bucket[0], timestamp, str::from_utf8(json).ok()?))
}

/// The id of a key, if it is one.
pub(super) fn id(key: &[u8]) -> Option<i64> {
    key.try_into().ok().map(i64::from_be_bytes)
}

/// The event of an id, if the value is one.
pub(super) fn stored(id: i64, value: &[u8]) -> Option<Stored<'_>> {
    let (bucket, timestamp, json) = decode(value)?;
    let bucket = BUCKETS.get(usize::from(bucket))?;
    let mut event = Stored { id, timestamp, bucket, numbers: [None; 4], texts: [None; 4] };
    let place = |names: [&str; 4], name| names.iter().position(|known| *known == name);
    json::members(json, |name, value| match value {
        Json::Number(number) => {
            if let Some(place) = place(NUMBERS, name) {
                event.numbers[place] = Some(number);
            }
        }
        Json::Text(text) => {
            if let Some(place) = place(TEXTS, name) {
                event.texts[place] = Some(text);
            }
        }
    })
    .then_some(event)
}

#[cfg(test)]
mod tests {
    use embermark_data::events::generate;

    use super::*;

    #[test]
    fn every_event_comes_back_from_its_key_and_value() {
        for event in generate(3_000, 1) {
            let mut json = String::new();
            event.data.json(&mut json);
            let record = Record { event, json };
            let mut value = vec![7];
            encode(&record, &mut value);
            let key = record.event.id.to_be_bytes();
            assert_eq!(id(&key).and_then(|id| stored(id, &value)), Some(Stored::of(&record.event)));
        }
    }
}
