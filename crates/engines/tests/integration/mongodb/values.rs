//! Values that are stored and read: every kind of value, and answers of many parts.

use serde_json::json;

use embermark_engines::document::{
    Collection, CollectionDef, Document, DocumentStore, Documents, Filter, Find, Order, Value,
};
use embermark_engines::sql::ResultRow;
use embermark_engines::{EngineError, Result};
use embermark_model::Durability;
use tempfile::TempDir;

use super::client::Client;
use super::{MONGODB, READINGS, url_of};

static KINDS: CollectionDef =
    CollectionDef { name: "kinds", key: &["id"], indexes: &[], fields: &["value"] };

fn find_one(
    store: &mut dyn DocumentStore,
    of: Collection,
    id: i64,
    visit: &mut dyn FnMut(&dyn ResultRow) -> Result<()>,
) -> Result<()> {
    let key = [Value::Int(id)];
    let columns: &[&str] = &["id", "value"];
    let find = Find { filter: Filter::Key(&key), order: Order::Any, limit: None, columns };
    store.find(of, &find, visit)
}

#[test]
fn every_kind_of_value_comes_back_a_date_finds_documents_and_a_large_answer_comes_in_parts() {
    let Some((dir, mut store)) = MONGODB.documents(Durability::None) else { return };
    every_kind_of_value_is_stored_as_what_it_is_and_comes_back(&mut *store, &dir);
    documents_without_a_key_are_found_by_a_date_in_its_order_and_then_as_they_came(&mut *store);
    a_large_answer_comes_in_parts_and_one_that_is_left_is_forgotten(&mut *store, &dir);
}

fn every_kind_of_value_is_stored_as_what_it_is_and_comes_back(
    store: &mut dyn DocumentStore,
    dir: &TempDir,
) {
    let kinds = store.create(&KINDS).unwrap();
    let (long, other) = ("long, ü ".repeat(200_000), "a\0b \u{1f525}");
    let list = [Value::Int(1), Value::Null, Value::Text("x")];
    let within = [("f", Value::Float(0.5)), ("l", Value::List(&list)), ("", Value::Null)];
    let integers = [0, -1, i64::from(i32::MAX) + 1, i64::MIN, i64::MAX];
    let floats = [0.0, -0.0, 0.1, f64::MIN_POSITIVE, f64::MAX, -1e-300, f64::INFINITY];
    let texts = ["", "a", other, long.as_str()];
    let mut values = vec![Value::Null];
    values.extend(integers.map(Value::Int));
    values.extend(floats.map(Value::Float));
    values.extend(texts.map(Value::Text));
    values.extend([&b""[..], &[0, 255, 1, 128]].map(Value::Bytes));
    values.extend([0, -1, 1_518_465_409_135].map(Value::Date));
    values.extend([Value::List(&[]), Value::List(&list), Value::Fields(&within)]);
    let client = Client::new(&url_of(dir));
    for (id, value) in (0..).zip(&values) {
        let document = Document { key: &[Value::Int(id)], fields: &[("value", *value)] };
        store.insert(kinds, &document).unwrap();
        let find = format!(
            r#"{{"find": "kinds", "filter": {{"_id": {id}}}, "projection": {{"_id": 0}}}}"#
        );
        let found = client.run_typed("embermark", &find);
        let found = &found["cursor"]["firstBatch"][0];
        let long_json = |n: i64| json!({"$numberLong": n.to_string()});
        let mut rows = 0;
        find_one(store, kinds, id, &mut |row: &dyn ResultRow| {
            rows += 1;
            assert_eq!(row.int(0)?, Some(id));
            match *value {
                Value::Null => {
                    assert_eq!(*found, json!({}));
                    assert_eq!((row.int(1)?, row.float(1)?, row.text(1)?), (None, None, None));
                }
                Value::Int(int) => {
                    assert_eq!(found["value"], long_json(int));
                    assert_eq!((row.int(1)?, row.float(1)?), (Some(int), Some(int as f64)));
                    let error = row.text(1).unwrap_err().to_string();
                    assert!(
                        error.contains("column `value`: Integer is not of type text"),
                        "{error}"
                    );
                }
                Value::Float(float) => {
                    assert!(found["value"]["$numberDouble"].is_string(), "{found}");
                    assert_eq!(row.float(1)?.unwrap().to_bits(), float.to_bits());
                    assert_eq!(row.int(1).is_ok(), float == 0.0);
                }
                Value::Text(text) => {
                    assert_eq!(found["value"], json!(text));
                    assert_eq!(row.text(1)?, Some(text));
                    assert!(row.int(1).is_err() && row.float(1).is_err());
                }
                Value::Bytes(bytes) => {
                    let base64 = if bytes.is_empty() { "" } else { "AP8BgA==" };
                    let binary = json!({"$binary": {"base64": base64, "subType": "00"}});
                    assert_eq!(found["value"], binary);
                    assert_eq!(row.bytes(1)?, Some(bytes));
                    assert!(row.int(1).is_err() && row.text(1).is_err());
                }
                Value::Date(ms) => {
                    assert_eq!(found["value"]["$date"], json!({"$numberLong": ms.to_string()}));
                    assert_eq!(row.int(1)?, Some(ms));
                    assert!(row.text(1).is_err() && row.float(1).is_err());
                }
                Value::List(items) => {
                    let expected = [long_json(1), json!(null), json!("x")];
                    assert_eq!(found["value"], json!(expected[..items.len()]));
                    let mut seen = 0;
                    assert!(row.list(1, &mut |item: &dyn ResultRow| {
                        match items[seen] {
                            Value::Text(text) => assert_eq!(item.text(0)?, Some(text)),
                            Value::Int(int) => assert_eq!(item.int(0)?, Some(int)),
                            _ => assert_eq!(item.int(0)?, None),
                        }
                        seen += 1;
                        Ok(())
                    })?);
                    assert_eq!(seen, items.len());
                }
                Value::Fields(_) => {
                    let list = json!([long_json(1), null, "x"]);
                    let expected = json!({"f": {"$numberDouble": "0.5"}, "l": list, "": null});
                    assert_eq!(found["value"], expected);
                }
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(rows, 1, "{value:?}");
    }
}

static DATED: CollectionDef =
    CollectionDef { name: "dated", key: &[], indexes: &[&["time"]], fields: &["time", "parts"] };

/// The workload `machine` relies on this order if many documents have the same date.
fn documents_without_a_key_are_found_by_a_date_in_its_order_and_then_as_they_came(
    store: &mut dyn DocumentStore,
) {
    let dated = store.create(&DATED).unwrap();
    for (number, time) in (0..).zip([5, 3, 5, 4, 5, 3]) {
        let channels = [Value::Int(number), Value::Int(7)];
        let part = [("time", Value::Date(time)), ("channels", Value::List(&channels))];
        let parts = [Value::Fields(&part)];
        let fields = [("time", Value::Date(time)), ("parts", Value::List(&parts))];
        store.insert(dated, &Document { key: &[], fields: &fields }).unwrap();
    }
    let mut found = |filter, order, limit| {
        let mut rows: Vec<(i64, i64)> = Vec::new();
        let find = Find { filter, order, limit, columns: DATED.fields };
        let mut see = |row: &dyn ResultRow| {
            let (time, mut first) = (row.int(0)?.unwrap(), None);
            // The values of a document in a list are its columns.
            assert!(row.list(1, &mut |part: &dyn ResultRow| {
                assert_eq!(part.int(0)?, Some(time));
                assert!(part.list(1, &mut |channel: &dyn ResultRow| {
                    first = first.or(channel.int(0)?);
                    Ok(())
                })?);
                Ok(())
            })?);
            rows.push((time, first.unwrap()));
            Ok(())
        };
        store.find(dated, &find, &mut see).unwrap();
        rows
    };
    let all = [(3, 1), (3, 5), (4, 3), (5, 0), (5, 2), (5, 4)];
    assert_eq!(found(Filter::All, Order::By("time"), None), all);
    let newest = found(Filter::All, Order::ByDescending("time"), Some(1));
    assert_eq!(newest, [(5, 4)]);
    let (from, to) = (Value::Date(4), Value::Date(6));
    let range = Filter::Between { field: "time", from, to };
    assert_eq!(found(range, Order::By("time"), None), all[2..]);
}

/// Readings of one sensor, from the first stamp up to the second, which is excluded.
pub struct Readings(pub i64, pub i64);

impl Documents for Readings {
    fn next(&mut self) -> Option<Document<'_>> {
        if self.0 == self.1 {
            return None;
        }
        self.0 += 1;
        // The key is leaked, which a test may do.
        let key = Box::leak(Box::new([Value::Int(1), Value::Int(self.0 - 1)]));
        let fields = Box::leak(Box::new([("light", Value::Float(self.0 as f64))]));
        Some(Document { key, fields })
    }
}

fn a_large_answer_comes_in_parts_and_one_that_is_left_is_forgotten(
    store: &mut dyn DocumentStore,
    dir: &TempDir,
) {
    const MANY: i64 = 25_000;
    let readings = store.create(&READINGS).unwrap();
    assert_eq!(store.bulk(readings, &mut Readings(0, MANY)).unwrap(), MANY as u64);
    let client = Client::new(&url_of(dir));
    let metric = |path: &str| {
        let status = client.run("admin", r#"{"serverStatus": 1}"#);
        status.pointer(path).unwrap_or_else(|| panic!("no {path}")).as_i64().unwrap()
    };
    let parts = || metric("/metrics/commands/getMore/total");
    let left = || metric("/metrics/cursor/open/total");
    let at_first = parts();
    let columns: &[&str] = &["ts", "light"];
    let find = |limit| Find { filter: Filter::All, order: Order::Key, limit, columns };
    let mut stamps = 0;
    let mut check = |row: &dyn ResultRow| {
        assert_eq!(row.int(0)?, Some(stamps));
        stamps += 1;
        assert_eq!(row.float(1)?, Some(stamps as f64));
        Ok(())
    };
    store.find(readings, &find(None), &mut check).unwrap();
    assert_eq!((stamps, parts() - at_first, left()), (MANY, 2, 0));
    // With a limit that is reached at the end of a part, and in the middle of one.
    for (limit, more) in [(10_000, 0), (9_999, 0), (10_001, 1), (20_500, 2)] {
        let (before, mut rows) = (parts(), 0);
        let mut count = |_: &dyn ResultRow| {
            rows += 1;
            Ok(())
        };
        store.find(readings, &find(Some(limit)), &mut count).unwrap();
        assert_eq!((rows, parts() - before, left()), (limit, more, 0), "{limit}");
    }
    let mut stop = |_: &dyn ResultRow| Err(EngineError::unsupported("the test", "more"));
    assert!(store.find(readings, &find(None), &mut stop).unwrap_err().is_unsupported());
    assert_eq!(left(), 0);
    // Answers to questions also come in parts.
    let (before, mut rows) = (parts(), 0);
    let mut count = |_: &dyn ResultRow| {
        rows += 1;
        Ok(())
    };
    store.query(readings, r#"[{"$match": {}}]"#, &["light"], &mut count).unwrap();
    assert_eq!((rows, parts() - before, left()), (MANY, 2, 0));
}
