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
