use std::sync::{Arc, Mutex};

use embermark_contract::document::{Order, Value};
use embermark_contract::{Checked, ClientOpener, Join, Lifecycle, Store};

use super::*;
use crate::{Answers, Tape};

static READINGS: CollectionDef = CollectionDef {
    name: "readings",
    key: &["sensor", "ts"],
    indexes: &[],
    fields: &["value", "data.level", "data.unit", "raw"],
};

/// The names of calls.
type Did = Arc<Mutex<Vec<&'static str>>>;

/// A store that records its calls, and finds one document.
struct Fake(Did);

impl Fake {
    fn did(&self, what: &'static str) {
        self.0.lock().unwrap().push(what);
    }
}

/// A row of integers: the number of each column.
struct Numbers;

impl embermark_contract::row::ResultRow for Numbers {
    fn int(&self, column: usize) -> Result<Option<i64>> {
        Ok(Some(column as i64))
    }

    fn float(&self, _: usize) -> Result<Option<f64>> {
        Ok(None)
    }

    fn text(&self, _: usize) -> Result<Option<&str>> {
        Ok(None)
    }
}

impl Lifecycle for Fake {
    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        Ok(Vec::new())
    }

    fn maintain(&mut self) -> Result<()> {
        Ok(())
    }

    fn join(&self) -> Join {
        Join::At(String::new())
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        Err(EngineError::impossible("no further client"))
    }

    fn check(&mut self) -> Result<Checked> {
        Ok(Checked::new("nothing"))
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl DocumentStore for Fake {
    fn create(&mut self, _: &'static CollectionDef) -> Result<Collection> {
        Ok(Collection(0))
    }

    fn collection(&mut self, _: &'static CollectionDef) -> Result<Collection> {
        Ok(Collection(0))
    }

    fn insert(&mut self, _: Collection, _: &Document<'_>) -> Result<()> {
        self.did("insert");
        Ok(())
    }

    fn upsert(&mut self, _: Collection, _: &Document<'_>) -> Result<()> {
        self.did("upsert");
        Ok(())
    }

    fn bulk(&mut self, _: Collection, _: &mut dyn Documents) -> Result<u64> {
        self.did("bulk");
        Ok(0)
    }

    fn find(&mut self, _: Collection, _: &Find<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.did("find");
        visit(&Numbers)
    }

    fn update(&mut self, _: Collection, _: &Filter<'_>, _: &[Field<'_>]) -> Result<u64> {
        self.did("update");
        Ok(7)
    }

    fn delete(&mut self, _: Collection, _: &Filter<'_>) -> Result<u64> {
        self.did("delete");
        Ok(7)
    }

    fn indexed_fields(&mut self, _: Collection) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn language(&self) -> Language {
        Language::Pipeline
    }

    fn query(&mut self, _: Collection, _: &str, _: &[&str], visit: &mut Visit<'_>) -> Result<()> {
        self.did("query");
        visit(&Numbers)
    }
}

const KEY: &[Value<'_>] = &[Value::Int(3), Value::Text("a\"")];
const FIELDS: &[Field<'_>] = &[
    ("value", Value::Float(1.0)),
    ("data.level", Value::Int(1 << 60)),
    ("data.unit", Value::Null),
    ("raw", Value::Bytes(&[0, 255])),
];

struct Two(u8);

impl Documents for Two {
    fn next(&mut self) -> Option<Document<'_>> {
        self.0 = self.0.checked_sub(1)?;
        Some(Document { key: KEY, fields: FIELDS })
    }
}

/// Makes each call. Returns the reported changes, and the first integer of each row.
fn work(store: &mut dyn DocumentStore) -> Result<(Vec<u64>, Vec<i64>)> {
    let collection = store.collection(&READINGS)?;
    let (mut changed, mut rows) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        changed.push(store.bulk(collection, &mut Two(2))?);
    }
    let document = Document { key: KEY, fields: FIELDS };
    store.insert(collection, &document)?;
    store.upsert(collection, &document)?;
    let mut see = |row: &dyn embermark_contract::row::ResultRow| {
        rows.extend(row.int(0)?);
        Ok(())
    };
    let columns = &["ts", "data.level"];
    let find = Find { filter: Filter::Key(KEY), order: Order::Key, limit: Some(5), columns };
    store.find(collection, &find, &mut see)?;
    store.find(collection, &Find { limit: Some(0), ..find }, &mut see)?;
    changed.push(store.update(collection, &Filter::All, FIELDS)?);
    let every = [
        Filter::Equal("value", Value::Date(5)),
        Filter::Between { field: "value", from: Value::Int(1), to: Value::Float(f64::INFINITY) },
        Filter::Keys { from: &KEY[..1], to: &[] },
    ];
    changed.push(store.delete(collection, &Filter::Every(&every))?);
    store.query(collection, "[]", columns, &mut see)?;
    Ok((changed, rows))
}

fn taped() -> (Box<dyn DocumentStore>, Tape, Did) {
    let (tape, did) = (Tape::default(), Arc::default());
    let fake = Store::Document(Box::new(Fake(Arc::clone(&did))));
    let Ok(Store::Document(store)) = tape.wrap(fake) else { panic!("another family") };
    (store, tape, did)
}

#[test]
fn calls_go_through_until_they_are_recorded() {
    let (mut store, _, did) = taped();
    assert_eq!(work(&mut *store).unwrap(), (vec![0, 0, 7, 7], vec![0, 0]));
    let all = ["bulk", "bulk", "insert", "upsert", "find", "update", "delete", "query"];
    assert_eq!(*did.lock().unwrap(), all);
}

#[test]
fn recorded_calls_change_nothing_and_their_parameters_are_json() {
    let (mut store, tape, did) = taped();
    tape.record();
    assert_eq!(work(&mut *store).unwrap(), (vec![2, 2, 1, 1], vec![0, 0]));
    assert_eq!(*did.lock().unwrap(), ["find", "query"]);
    let operations = tape.finish_recording();
    let table = &operations.tables[0];
    assert_eq!((&*table.name, &*table.key), ("readings", &["sensor".into(), "ts".into()][..]));
    assert_eq!(table.columns, READINGS.fields);
    // Each load is its own block, although it makes the same calls as the one before.
    let shape = operations.shape();
    assert_eq!(shape[..2], [(2, vec![Code::Bulk]), (2, vec![Code::Bulk])]);
    let mut file = Vec::new();
    operations.write(&mut file).unwrap();
    let file = String::from_utf8_lossy(&file);
    let texts = [
        r#"{"sensor": 3, "ts": "a\""}"#,
        r#"{"value": 1.0, "data": {"level": 1152921504606846976, "unit": null}, "raw": {"$binary":"AP8="}}"#,
        r#"{"filter": {"key": {"sensor": 3, "ts": "a\""}}, "order": [null,1], "limit": 5, "columns": ["ts","data.level"]}"#,
        r#"{"all": true}"#,
        r#"{"value": 1.0, "data.level": 1152921504606846976, "data.unit": null, "raw": {"$binary":"AP8="}}"#,
        r#"{"every": [{"equal": {"value": {"$date":5}}}, {"between": {"value": [1, {"$numberDouble":"Infinity"}]}}, {"keys": {"from": {"sensor": 3}, "to": {}}}]}"#,
        r#"[]["ts","data.level"]"#,
    ];
    for text in texts {
        // The texts of consecutive parameters have words between them.
        let is_there = match text.strip_prefix("[][") {
            Some(columns) => file.contains(columns) && file.contains("[]"),
            None => file.contains(text),
        };
        assert!(is_there, "{text} is not in {file}");
    }
}

/// A file of answers that ends with the words of its last block.
fn answers(blocks: &[&[u64]]) -> Vec<u8> {
    let mut file = b"embmans1".to_vec();
    let words = [0, blocks.len() as u64].into_iter().chain(blocks.concat());
    words.for_each(|word| file.extend(word.to_le_bytes()));
    file
}

#[test]
fn played_calls_get_the_answers_of_the_program() {
    let (mut store, tape, did) = taped();
    tape.record();
    work(&mut *store).unwrap();
    let shape = tape.finish_recording().shape();
    did.lock().unwrap().clear();
    assert_eq!(shape.len(), 3);
    // Two loads, and one operation: what each of its calls changed, or one row of one integer.
    let mut file = answers(&[&[1, 2, 2], &[1, 2, 2], &[0, 1, 1, 1]]);
    let words =
        |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    let row = |value: u8| [words(&[1, 1]), vec![1, value, 0, 0, 0, 0, 0, 0, 0]].concat();
    file.extend([row(40), words(&[5, 6]), row(41)].concat());
    tape.play(Answers::new(file, shape).unwrap());
    assert_eq!(work(&mut *store).unwrap(), (vec![2, 2, 5, 6], vec![40, 41]));
    assert!(tape.finish_playing());
    assert!(did.lock().unwrap().is_empty());
}

#[test]
fn a_list_of_an_answer_has_elements_of_columns() {
    let mut file = answers(&[&[0, 1, 1, 2]]);
    // Two lists, with two integers and with one, and null.
    let int = |value: u8| [1, value, 0, 0, 0, 0, 0, 0, 0];
    file.extend([5, 2, 0, 0, 0, 5, 2, 0, 0, 0]);
    [int(7), int(8), int(9)].iter().for_each(|int| file.extend(int));
    file.push(0);
    let mut answers = Answers::new(file.clone(), vec![(1, vec![Code::Find])]).unwrap();
    let mut seen = Vec::new();
    let read = |row: &dyn embermark_contract::row::ResultRow, seen: &mut Vec<_>| {
        let there = row.list(0, &mut |element| {
            seen.push((element.int(0)?, element.columns()?));
            Ok(())
        })?;
        assert!(there && !row.list(1, &mut |_| Ok(()))? && row.int(0).is_err());
        Ok(())
    };
    answers.rows(Code::Find, &mut |row| read(row, &mut seen)).unwrap();
    assert_eq!(seen, [(Some(7), 2), (Some(9), 1)]);
    // Deeply nested lists, and a truncated one.
    let mut deep = answers_of_lists(1000);
    assert!(deep.rows(Code::Find, &mut |_| Ok(())).is_err());
    file.truncate(file.len() - 4);
    let mut cut = Answers::new(file, vec![(1, vec![Code::Find])]).unwrap();
    assert!(cut.rows(Code::Find, &mut |_| Ok(())).is_err());
}

fn answers_of_lists(depth: usize) -> Answers {
    let mut file = answers(&[&[0, 1, 1, 1]]);
    (0..depth).for_each(|_| file.extend([5, 1, 0, 0, 0]));
    file.push(0);
    Answers::new(file, vec![(1, vec![Code::Find])]).unwrap()
}
