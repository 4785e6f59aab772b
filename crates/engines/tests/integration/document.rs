//! What every document engine must do, in every tier it offers. An engine that cannot run here is
//! skipped.

use std::slice;

use embermark_engines::document::{
    Collection, CollectionDef, Document, DocumentStore, Documents, Field, Filter, Find, Language,
    Order, Value,
};
use embermark_engines::sql::ResultRow;
use embermark_engines::{DataModel, Engine, OpenOptions, Result, Store, Tier, registry};
use embermark_model::Durability;
use embermark_skips::{is_here, sampled};

/// Returns a collection whose documents are found by place and stamp.
const fn pairs(name: &'static str) -> CollectionDef {
    let fields = &["number", "words", "kind", "more"];
    CollectionDef { name, key: &["place", "stamp"], indexes: &[&["kind"]], fields }
}

static VALUES: CollectionDef = pairs("conformvalues");
static FOUND: CollectionDef = pairs("conformfound");
static CHANGED: CollectionDef = pairs("conformchanged");
static LOADED: CollectionDef = pairs("conformloaded");
static EMPTIED: CollectionDef = pairs("conformemptied");
static AGAIN: CollectionDef = pairs("conformagain");
static NESTED: CollectionDef = pairs("conformnested");

/// Documents found by one value, a text.
static NAMED: CollectionDef = CollectionDef {
    name: "conformnamed",
    key: &["id"],
    indexes: &[],
    fields: &["number", "words", "kind", "more"],
};

/// An open store and its engine.
struct Subject {
    engine: &'static dyn Engine,
    store: Box<dyn DocumentStore>,
}

type Row = (Option<i64>, Option<i64>, Option<f64>, Option<String>);

const COLUMNS: [&str; 4] = ["place", "stamp", "number", "words"];

fn key(place: i64, stamp: i64) -> [Value<'static>; 2] {
    [Value::Int(place), Value::Int(stamp)]
}

impl Subject {
    fn insert(
        &mut self,
        collection: Collection,
        key: &[Value<'_>],
        fields: &[Field<'_>],
    ) -> Result<()> {
        self.store.insert(collection, &Document { key, fields })
    }

    /// Returns the documents found, sorted.
    fn find(&mut self, collection: Collection, filter: Filter<'_>) -> Vec<Row> {
        let mut rows = self.ordered(collection, filter, Order::Any, None);
        rows.sort_by_key(|row| (row.0, row.1));
        rows
    }

    fn ordered(
        &mut self,
        collection: Collection,
        filter: Filter<'_>,
        order: Order,
        limit: Option<u32>,
    ) -> Vec<Row> {
        let (mut rows, find) = (Vec::new(), Find { filter, order, limit, columns: &COLUMNS });
        let mut visit = |row: &dyn ResultRow| {
            let words = row.text(3)?.map(str::to_owned);
            rows.push((row.int(0)?, row.int(1)?, row.float(2)?, words));
            Ok(())
        };
        self.store.find(collection, &find, &mut visit).unwrap();
        rows
    }

    fn stamps(&mut self, collection: Collection, filter: Filter<'_>) -> Vec<i64> {
        self.find(collection, filter).into_iter().map(|row| row.1.unwrap()).collect()
    }

    fn count(&mut self, collection: Collection) -> usize {
        self.find(collection, Filter::All).len()
    }

    /// Returns a question in the store's own language; `TABLE` stands for the collection.
    fn question(&self, of: &CollectionDef, pipeline: &str, sql: &str) -> String {
        match self.store.language() {
            Language::Pipeline => pipeline.to_owned(),
            Language::Sql(dialect) => sql.replace("TABLE", &dialect.table(of.name)),
        }
    }
}

/// Checks one topic, on its own collections.
type Check = fn(&mut Subject);

/// Topics, in the order in which they are run on one store.
const TOPICS: &[(&str, Check)] = &[
    ("a store settles before it holds anything", settles),
    ("every kind of value comes back as it went in", values_round_trip),
    ("integers of 64 bits come back, if the engine has them", integers_round_trip),
    ("a key of one value, a text, finds its document", keys_may_be_one_text),
    ("bytes come back as they went in, or are refused with the reason", bytes_round_trip),
    ("everyday names of fields are taken", names_are_taken),
    ("a duplicate key is an error, and the store stays usable", duplicates_are_refused),
    ("every filter finds its documents", filters_find),
    ("order and limit are kept", order_and_limit_are_kept),
    ("columns come in the order asked for, absent ones as NULL", columns_are_as_asked_for),
    ("changes are counted and kept", changes_are_counted),
    ("a bulk load holds every document, also added to others", bulk_loads_everything),
    ("a collection created anew is empty", creating_anew_empties),
    ("documents and lists within are read by the language", nested_values_are_read),
    ("a question is answered with its columns by name", questions_are_answered),
    ("an error names the engine, and the store stays usable", errors_name_the_engine),
    ("a visitor's error ends the search and nothing else", visitors_may_stop),
    ("a reopened store has every document and stays usable", opens_again),
    ("a store settles after all that", settles),
];

fn conform(engine: &'static dyn Engine, tier: Durability) {
    let folder = tempfile::tempdir().unwrap();
    #[cfg(unix)]
    {
        // A private server may run as another user.
        use std::os::unix::fs::PermissionsExt;
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).unwrap();
    }
    let dir = folder.path().to_owned();
    let options = OpenOptions::new(dir, tier, 64 << 20);
    let opened = engine.open(&options).unwrap();
    assert!(!opened.version.is_empty() && !opened.settings.is_empty());
    let Store::Document(store) = opened.store else {
        panic!("an engine of family document opened another store");
    };
    let mut subject = Subject { engine, store };
    for (topic, check) in TOPICS {
        eprintln!("{}, tier {tier}: {topic}", engine.info().id);
        check(&mut subject);
    }
    subject.store.close().unwrap();
}

#[test]
fn every_document_engine_conforms_in_its_tiers() {
    let of_family = registry::ENGINES
        .iter()
        .copied()
        .filter(|engine| engine.info().family == DataModel::Document);
    for engine in sampled(of_family.filter(|engine| is_here(*engine)), 1) {
        let offered = |tier: &Durability| !matches!(engine.tier(*tier), Tier::Unsupported { .. });
        for tier in sampled(Durability::ALL.into_iter().filter(offered), 1) {
            conform(engine, tier);
        }
    }
}

#[test]
fn no_document_engine_keeps_less_than_its_tier_promises() {
    let engines = registry::ENGINES.iter().filter(|e| e.info().family == DataModel::Document);
    for (engine, tier) in engines.flat_map(|e| Durability::ALL.map(|tier| (e, tier))) {
        if let Tier::Offered { effective_durability: keeps, .. } = engine.tier(tier) {
            assert!(keeps >= tier, "{} keeps {keeps} in tier {tier}", engine.info().id);
        }
    }
}

fn settles(subject: &mut Subject) {
    subject.store.maintain().unwrap();
    subject.store.maintain().unwrap();
}

fn values_round_trip(subject: &mut Subject) {
    let values = subject.store.create(&VALUES).unwrap();
    let long = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. ".repeat(90);
    let numbers = [0.1, -1.0 / 3.0, 5e-324, f64::MAX, f64::MIN, 1e15, 3.0, 2.5e-300];
    let texts = [
        "",
        "a",
        "it's \"so\"; -- $1 ? `x` %s {} [1]",
        "back\\slash \\n \\u0041 \\\" end\\",
        "日本語 🦆 naïve",
        "line\nbreak\ttab",
        "$match",
        &long,
    ];
    let mut expected: Vec<Row> = Vec::new();
    for (stamp, (number, words)) in (0..).zip(numbers.into_iter().zip(texts)) {
        expected.push((Some(1), Some(stamp), Some(number), Some(words.to_owned())));
    }
    expected.push((Some(1), Some(100), None, None));
    expected.push((Some(1), Some(101), None, Some("only words".to_owned())));
    expected.push((Some(1), Some(102), Some(2.5), None));
    for (place, stamp, number, words) in &expected {
        let fields = [
            ("number", number.map_or(Value::Null, Value::Float)),
            ("words", words.as_deref().map_or(Value::Null, Value::Text)),
        ];
        subject.insert(values, &key(place.unwrap(), stamp.unwrap()), &fields).unwrap();
    }
    for wanted in &expected {
        let found = subject.find(values, Filter::Key(&key(1, wanted.1.unwrap())));
        assert_eq!(found, slice::from_ref(wanted));
        assert_eq!(found[0].2.map(f64::to_bits), wanted.2.map(f64::to_bits));
        if let Some(words) = &wanted.3 {
            let found = subject.find(values, Filter::Equal("words", Value::Text(words)));
            assert_eq!(found, slice::from_ref(wanted));
        }
    }
    let number = Filter::Equal("number", Value::Float(0.1));
    assert_eq!(subject.find(values, number), expected[..1]);
    assert_eq!(subject.find(values, Filter::All), expected);
    assert_eq!(subject.find(values, Filter::Key(&key(2, 0))), []);
}

fn integers_round_trip(subject: &mut Subject) {
    const EXACT: i64 = 1 << 53;
    let values = subject.store.create(&VALUES).unwrap();
    let mut check = |stamps: &[i64]| {
        for &stamp in stamps {
            let fields = [("kind", Value::Int(stamp))];
            subject.insert(values, &key(-7, stamp), &fields).unwrap();
            let found = subject.find(values, Filter::Key(&key(-7, stamp)));
            assert_eq!(found, [(Some(-7), Some(stamp), None, None)]);
            let found = subject.find(values, Filter::Equal("kind", Value::Int(stamp)));
            assert_eq!(found.len(), 1, "{stamp}");
        }
    };
    check(&[0, -1, i64::from(i32::MAX) + 1, EXACT, -EXACT, 1_077_926_400_123_456]);
    // One more distinguishes engines with integers from those with only doubles.
    let _ = subject.insert(values, &key(-8, EXACT + 1), &[]);
    if subject.stamps(values, Filter::Key(&key(-8, EXACT + 1))) == [EXACT + 1] {
        let extremes = [i64::MIN, i64::MAX, EXACT + 1, -EXACT - 1];
        for stamp in extremes {
            let fields = [("kind", Value::Int(stamp))];
            subject.insert(values, &key(-7, stamp), &fields).unwrap();
            assert_eq!(subject.stamps(values, Filter::Key(&key(-7, stamp))), [stamp]);
            assert_eq!(subject.stamps(values, Filter::Equal("kind", Value::Int(stamp))), [stamp]);
        }
    } else {
        eprintln!("{} knows integers up to 2^53", subject.engine.info().id);
    }
}

fn keys_may_be_one_text(subject: &mut Subject) {
    let named = subject.store.create(&NAMED).unwrap();
    let names = ["0d4f", "1a", "a \"quoted\\ name\"", "größer"];
    for (n, name) in (0..).zip(names) {
        let fields = [("number", Value::Int(n)), ("words", Value::Text(name))];
        subject.insert(named, &[Value::Text(name)], &fields).unwrap();
    }
    let error = subject.insert(named, &[Value::Text("1a")], &[]).unwrap_err().to_string();
    assert!(error.starts_with(subject.engine.info().id), "{error}");
    let mut look = |filter: Filter<'_>, order| {
        let find = Find { filter, order, limit: None, columns: &["number", "id"] };
        let mut found = Vec::new();
        let mut visit = |row: &dyn ResultRow| {
            found.push((row.int(0)?.unwrap(), row.text(1)?.unwrap().to_owned()));
            Ok(())
        };
        subject.store.find(named, &find, &mut visit).unwrap();
        found
    };
    for (n, name) in (0..).zip(names) {
        let found = look(Filter::Key(&[Value::Text(name)]), Order::Any);
        assert_eq!(found, [(n, name.to_owned())]);
    }
    let (from, to) = ([Value::Text("1a")], [Value::Text("b")]);
    let found = look(Filter::Keys { from: &from, to: &to }, Order::KeyDescending);
    assert_eq!(found.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [2, 1]);
}

static BINARY: CollectionDef = CollectionDef {
    name: "conformbinary",
    key: &["place", "raw"],
    indexes: &[&["hash"]],
    fields: &["hash"],
};

fn bytes_round_trip(subject: &mut Subject) {
    let binary = subject.store.create(&BINARY).unwrap();
    let every: Vec<u8> = (0..=255).collect();
    let contents = [&b""[..], b"a", b"\0", &[0xff, 0xfe], &every];
    for (place, content) in (0..).zip(contents) {
        let content = Value::Bytes(content);
        let done = subject.insert(binary, &[Value::Int(place), content], &[("hash", content)]);
        if let Err(error) = done {
            assert!(error.is_unsupported() && error.to_string().contains("ytes"), "{error}");
            let error = subject.insert(binary, &key(place, 0), &[("hash", content)]).unwrap_err();
            assert!(error.is_unsupported() && error.to_string().contains("ytes"), "{error}");
            return assert_eq!(subject.engine.info().id, "harperdb");
        }
    }
    for (place, content) in (0..).zip(contents) {
        let (of, columns) = (Value::Bytes(content), &["place", "raw", "hash"]);
        for filter in [Filter::Key(&[Value::Int(place), of]), Filter::Equal("hash", of)] {
            let (mut rows, find) = (0, Find { filter, order: Order::Any, limit: None, columns });
            let mut visit = |row: &dyn ResultRow| {
                rows += 1;
                assert_eq!(row.int(0)?, Some(place));
                assert_eq!((row.bytes(1)?, row.bytes(2)?), (Some(content), Some(content)));
                Ok(())
            };
            subject.store.find(binary, &find, &mut visit).unwrap();
            assert_eq!(rows, 1);
        }
    }
    let all =
        Find { filter: Filter::All, order: Order::Any, limit: None, columns: &["place", "no"] };
    let mut visit = |row: &dyn ResultRow| {
        assert!(row.bytes(0).is_err());
        assert_eq!(row.bytes(1)?, None);
        Ok(())
    };
    subject.store.find(binary, &all, &mut visit).unwrap();
    let set = [("hash", Value::Bytes(b"new"))];
    let old = Filter::Equal("hash", Value::Bytes(&every));
    assert_eq!(subject.store.update(binary, &old, &set).unwrap(), 1);
    assert_eq!(subject.store.delete(binary, &Filter::Equal("hash", set[0].1)).unwrap(), 1);
}

/// Names as they are found in the headers of people's files.
static NAMES: CollectionDef = CollectionDef {
    name: "events",
    key: &["station_id", "time"],
    indexes: &[&["level"], &["name"]],
    fields: &["value", "name", "level", "type", "count", "date", "order", "key", "Temp_C"],
};

fn names_are_taken(subject: &mut Subject) {
    let named = subject.store.create(&NAMES).unwrap();
    for n in 0..4 {
        let fields: Vec<Field<'_>> =
            NAMES.fields.iter().map(|name| (*name, Value::Int(n))).collect();
        subject.insert(named, &key(n, n), &fields).unwrap();
    }
    for name in NAMES.fields.iter().chain(NAMES.key) {
        let (filter, columns) = (Filter::Equal(name, Value::Int(2)), &[*name]);
        let (mut rows, find) =
            (Vec::new(), Find { filter, order: Order::Any, limit: None, columns });
        let mut visit = |row: &dyn ResultRow| {
            rows.push(row.int(0)?);
            Ok(())
        };
        subject.store.find(named, &find, &mut visit).unwrap();
        assert_eq!(rows, [Some(2)], "{name}");
        let set = [(*name, Value::Int(7))];
        if !NAMES.key.contains(name) {
            assert_eq!(subject.store.update(named, &Filter::Key(&key(3, 3)), &set).unwrap(), 1);
        }
        let pipeline = format!(
            r#"[{{"$group": {{"_id": null, "{name}": {{"$max": "${}{name}"}}}}}}]"#,
            if NAMES.key.contains(name) { "_id." } else { "" },
        );
        let sql = format!("SELECT MAX(`{name}`) AS `{name}` FROM TABLE WHERE `{name}` >= 0");
        let question = subject.question(&NAMES, &pipeline, &sql);
        let mut greatest = None;
        let mut visit = |row: &dyn ResultRow| {
            greatest = row.int(0)?;
            Ok(())
        };
        subject.store.query(named, &question, &[name], &mut visit).unwrap();
        assert_eq!(greatest, Some(if NAMES.key.contains(name) { 3 } else { 7 }), "{name}");
    }
}

fn duplicates_are_refused(subject: &mut Subject) {
    let (changed, id) = (subject.store.create(&CHANGED).unwrap(), subject.engine.info().id);
    subject.insert(changed, &key(1, 1), &[("number", Value::Float(1.0))]).unwrap();
    let error = subject.insert(changed, &key(1, 1), &[("number", Value::Float(2.0))]);
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with(id), "{error}");
    subject.insert(changed, &key(1, 2), &[]).unwrap();
    let expected = [(Some(1), Some(1), Some(1.0), None), (Some(1), Some(2), None, None)];
    assert_eq!(subject.find(changed, Filter::All), expected);
}

/// Inserts places 0 to 4 with the stamps 0, 10 … 90 each.
fn filled(subject: &mut Subject, def: &'static CollectionDef) -> Collection {
    let collection = subject.store.create(def).unwrap();
    for (place, stamp) in (0..5).flat_map(|place| (0..10).map(move |n| (place, n * 10))) {
        let kind = ["even", "odd"][(stamp / 10 % 2) as usize];
        let fields = [("number", Value::Float(stamp as f64 / 4.0)), ("kind", Value::Text(kind))];
        subject.insert(collection, &key(place, stamp), &fields).unwrap();
    }
    collection
}

fn filters_find(subject: &mut Subject) {
    let found = filled(subject, &FOUND);
    assert_eq!(subject.count(found), 50);
    assert_eq!(subject.stamps(found, Filter::Key(&key(3, 20))), [20]);
    assert_eq!(subject.stamps(found, Filter::Key(&key(3, 21))), [] as [i64; 0]);
    let keys = |from: [i64; 2], to: [i64; 2]| (key(from[0], from[1]), key(to[0], to[1]));
    let mut ranges = |from, to| {
        let (from, to) = keys(from, to);
        let rows = subject.find(found, Filter::Keys { from: &from, to: &to });
        rows.iter().map(|row| [row.0.unwrap(), row.1.unwrap()]).collect::<Vec<_>>()
    };
    // From its first key to its last one, which is excluded, within a place and across the border
    // of two.
    assert_eq!(ranges([2, 30], [2, 60]), [[2, 30], [2, 40], [2, 50]]);
    assert_eq!(ranges([2, 31], [2, 41]), [[2, 40]]);
    assert_eq!(ranges([1, 80], [2, 11]), [[1, 80], [1, 90], [2, 0], [2, 10]]);
    assert_eq!(ranges([2, 30], [2, 30]), [] as [[i64; 2]; 0]);
    assert_eq!(ranges([4, 91], [9, 0]), [] as [[i64; 2]; 0]);
    let whole = ranges([3, i64::from(i32::MIN)], [4, i64::from(i32::MIN)]);
    assert_eq!(whole.len(), 10);
    assert!(whole.iter().all(|key| key[0] == 3));
    assert_eq!(subject.find(found, Filter::Equal("kind", Value::Text("odd"))).len(), 25);
    assert_eq!(subject.find(found, Filter::Equal("kind", Value::Text("none"))).len(), 0);
    assert_eq!(subject.find(found, Filter::Equal("number", Value::Float(7.5))).len(), 5);
    assert_eq!(subject.find(found, Filter::Equal("place", Value::Int(1))).len(), 10);
    let (from, to) = (Value::Float(5.0), Value::Float(10.0));
    let between = Filter::Between { field: "number", from, to };
    assert_eq!(subject.stamps(found, between)[..2], [20, 30]);
    assert_eq!(subject.find(found, between).len(), 10);
    let (from, to) = (Value::Int(80), Value::Int(1000));
    let between = Filter::Between { field: "stamp", from, to };
    assert_eq!(subject.find(found, between).len(), 10);
    let (from, to) = (Value::Text("f"), Value::Text("p"));
    assert_eq!(subject.find(found, Filter::Between { field: "kind", from, to }).len(), 25);
    // Keys without an upper bound, and conditions that all hold.
    assert_eq!(subject.find(found, Filter::Keys { from: &key(3, 70), to: &[] }).len(), 13);
    assert_eq!(subject.find(found, Filter::Keys { from: &[], to: &key(3, 70) }).len(), 37);
    assert_eq!(
        subject.count(found),
        subject.find(found, Filter::Keys { from: &[], to: &[] }).len()
    );
    let odd = Filter::Equal("kind", Value::Text("odd"));
    let late = Filter::Between { field: "stamp", from: Value::Int(50), to: Value::Int(80) };
    let of = Filter::Equal("place", Value::Int(2));
    assert_eq!(subject.stamps(found, Filter::Every(&[odd, of])), [10, 30, 50, 70, 90]);
    assert_eq!(subject.stamps(found, Filter::Every(&[of, late])), [50, 60, 70]);
    assert_eq!(subject.stamps(found, Filter::Every(&[late, odd, of])), [50, 70]);
    let below = Filter::Keys { from: &[], to: &key(1, 0) };
    assert_eq!(subject.stamps(found, Filter::Every(&[odd, below])), [10, 30, 50, 70, 90]);
    let changed = [("number", Value::Float(-1.0))];
    assert_eq!(subject.store.update(found, &Filter::Every(&[late, of]), &changed).unwrap(), 3);
    assert_eq!(subject.store.delete(found, &Filter::Every(&[late, of])).unwrap(), 3);
    assert_eq!(subject.count(found), 47);
}

fn order_and_limit_are_kept(subject: &mut Subject) {
    let found = filled(subject, &FOUND);
    let (from, to) = (key(1, 50), key(3, 30));
    let range = Filter::Keys { from: &from, to: &to };
    let mut stamps = |filter, order, limit| {
        let rows = subject.ordered(found, filter, order, limit);
        rows.iter().map(|row| (row.0.unwrap(), row.1.unwrap())).collect::<Vec<_>>()
    };
    let all: Vec<_> = (0..5).flat_map(|place| (0..10).map(move |n| (place, n * 10))).collect();
    assert_eq!(stamps(Filter::All, Order::Key, None), all);
    let backwards: Vec<_> = all.iter().rev().copied().collect();
    assert_eq!(stamps(Filter::All, Order::KeyDescending, None), backwards);
    assert_eq!(stamps(Filter::All, Order::Key, Some(3)), all[..3]);
    assert_eq!(stamps(Filter::All, Order::KeyDescending, Some(1)), [(4, 90)]);
    assert_eq!(stamps(Filter::All, Order::Key, Some(50)), all);
    assert_eq!(stamps(Filter::All, Order::Key, Some(51)), all);
    assert_eq!(stamps(Filter::All, Order::Key, Some(0)), []);
    assert_eq!(stamps(Filter::All, Order::Any, Some(7)).len(), 7);
    assert_eq!(stamps(range, Order::Key, None), all[15..33]);
    assert_eq!(stamps(range, Order::KeyDescending, Some(2)), [(3, 20), (3, 10)]);
    let odd = Filter::Equal("kind", Value::Text("odd"));
    assert_eq!(stamps(odd, Order::KeyDescending, Some(2)), [(4, 90), (4, 70)]);
    assert_eq!(stamps(Filter::Key(&key(2, 20)), Order::Key, Some(5)), [(2, 20)]);
}

fn columns_are_as_asked_for(subject: &mut Subject) {
    let found = filled(subject, &FOUND);
    let at = key(4, 90);
    let mut look = |columns: &[&str], check: &dyn Fn(&dyn ResultRow)| {
        let filter = Filter::Key(&at);
        let mut rows = 0;
        let find = Find { filter, order: Order::Any, limit: None, columns };
        let mut visit = |row: &dyn ResultRow| {
            rows += 1;
            check(row);
            Ok(())
        };
        subject.store.find(found, &find, &mut visit).unwrap();
        assert_eq!(rows, 1);
    };
    look(&["kind", "stamp"], &|row| {
        assert_eq!((row.text(0).unwrap(), row.int(1).unwrap()), (Some("odd"), Some(90)));
        // Reading a value of the wrong kind is an error, and so is a missing column.
        assert!(row.int(0).is_err() && row.float(0).is_err() && row.text(1).is_err());
        assert!(row.int(2).is_err());
    });
    look(&["number"], &|row| assert_eq!(row.float(0).unwrap(), Some(22.5)));
    look(&["stamp", "place"], &|row| {
        assert_eq!((row.int(0).unwrap(), row.int(1).unwrap()), (Some(90), Some(4)));
        assert_eq!(row.float(0).unwrap(), Some(90.0));
    });
    look(&["words", "more", "number", "place"], &|row| {
        assert_eq!((row.text(0).unwrap(), row.int(0).unwrap()), (None, None));
        assert_eq!((row.float(1).unwrap(), row.float(2).unwrap()), (None, Some(22.5)));
        assert_eq!(row.int(3).unwrap(), Some(4));
    });
}

fn changes_are_counted(subject: &mut Subject) {
    let changed = filled(subject, &CHANGED);
    let store = &mut subject.store;
    let at = key(2, 40);
    let set = [("number", Value::Float(-1.5)), ("words", Value::Text("new"))];
    assert_eq!(store.update(changed, &Filter::Key(&at), &set).unwrap(), 1);
    assert_eq!(store.update(changed, &Filter::Key(&key(2, 41)), &set).unwrap(), 0);
    let (from, to) = (key(3, 0), key(4, 0));
    let place = Filter::Keys { from: &from, to: &to };
    assert_eq!(store.update(changed, &place, &[("number", Value::Float(0.5))]).unwrap(), 10);
    let odd = Filter::Equal("kind", Value::Text("odd"));
    assert_eq!(store.update(changed, &odd, &[("kind", Value::Text("strange"))]).unwrap(), 25);
    assert_eq!(store.update(changed, &odd, &[("kind", Value::Text("strange"))]).unwrap(), 0);
    assert_eq!(subject.find(changed, Filter::Key(&at))[0].2, Some(-1.5));
    assert_eq!(subject.find(changed, Filter::Key(&at))[0].3.as_deref(), Some("new"));
    assert_eq!(subject.find(changed, Filter::Equal("number", Value::Float(0.5))).len(), 10);
    let strange = Filter::Equal("kind", Value::Text("strange"));
    assert_eq!(subject.find(changed, strange).len(), 25);
    // A field that is set to NULL reads as NULL.
    let set = [("words", Value::Null), ("number", Value::Float(3.25))];
    assert_eq!(subject.store.update(changed, &Filter::Key(&at), &set).unwrap(), 1);
    let expected = [(Some(2), Some(40), Some(3.25), None)];
    assert_eq!(subject.find(changed, Filter::Key(&at)), expected);

    let store = &mut subject.store;
    assert_eq!(store.delete(changed, &Filter::Key(&at)).unwrap(), 1);
    assert_eq!(store.delete(changed, &Filter::Key(&at)).unwrap(), 0);
    assert_eq!(store.delete(changed, &place).unwrap(), 10);
    assert_eq!(store.delete(changed, &strange).unwrap(), 20);
    assert_eq!(subject.count(changed), 19);
    // The key is free again, and the same fields may be absent now.
    subject.insert(changed, &at, &[]).unwrap();
    assert_eq!(subject.find(changed, Filter::Key(&at)), [(Some(2), Some(40), None, None)]);
    assert_eq!(subject.store.delete(changed, &Filter::All).unwrap(), 20);
    assert_eq!(subject.count(changed), 0);
}

/// Documents with the stamps of a range, one place for each thousand.
struct Made {
    next: i64,
    end: i64,
    key: [Value<'static>; 2],
    fields: [Field<'static>; 3],
}

fn made(stamps: std::ops::Range<i64>) -> Made {
    let fields = [("number", Value::Null), ("words", Value::Null), ("kind", Value::Null)];
    Made { next: stamps.start, end: stamps.end, key: key(0, 0), fields }
}

fn words(stamp: i64) -> Option<&'static str> {
    [None, Some(""), Some("wörter"), Some("more \"than\" a few bytes of text")][stamp as usize % 4]
}

fn number(stamp: i64) -> Option<f64> {
    (stamp % 7 != 0).then_some(stamp as f64 / 4.0)
}

impl Documents for Made {
    fn next(&mut self) -> Option<Document<'_>> {
        if self.next >= self.end {
            return None;
        }
        let stamp = self.next;
        self.next += 1;
        self.key = key(stamp / 1000, stamp);
        self.fields[0].1 = number(stamp).map_or(Value::Null, Value::Float);
        self.fields[1].1 = words(stamp).map_or(Value::Null, Value::Text);
        self.fields[2].1 = Value::Int(stamp % 10);
        Some(Document { key: &self.key, fields: &self.fields })
    }
}

fn bulk_loads_everything(subject: &mut Subject) {
    const MANY: i64 = 25_001;
    let loaded = subject.store.create(&LOADED).unwrap();
    assert_eq!(subject.store.bulk(loaded, &mut made(0..0)).unwrap(), 0);
    assert_eq!(subject.store.bulk(loaded, &mut made(0..3)).unwrap(), 3);
    assert_eq!(subject.store.bulk(loaded, &mut made(3..MANY)).unwrap(), MANY as u64 - 3);
    let found = subject.ordered(loaded, Filter::All, Order::Key, None);
    assert_eq!(found.len() as i64, MANY);
    for (stamp, found) in (0..).zip(found) {
        let words = words(stamp).map(str::to_owned);
        assert_eq!(found, (Some(stamp / 1000), Some(stamp), number(stamp), words));
    }
    let few = Filter::Equal("kind", Value::Int(3));
    assert_eq!(subject.find(loaded, few).len(), 2500);
    // An existing key is an error, which leaves what was stored.
    let error = subject.store.bulk(loaded, &mut made(5..6)).unwrap_err().to_string();
    assert!(error.starts_with(subject.engine.info().id), "{error}");
    assert_eq!(subject.count(loaded) as i64, MANY);
}

fn creating_anew_empties(subject: &mut Subject) {
    let emptied = filled(subject, &EMPTIED);
    assert_eq!(subject.count(emptied), 50);
    let emptied = subject.store.create(&EMPTIED).unwrap();
    assert_eq!(subject.count(emptied), 0);
    subject.insert(emptied, &key(2, 40), &[("kind", Value::Text("odd"))]).unwrap();
    assert_eq!(subject.find(emptied, Filter::Equal("kind", Value::Text("odd"))).len(), 1);
}

fn nested_values_are_read(subject: &mut Subject) {
    let nested = subject.store.create(&NESTED).unwrap();
    let list = [Value::Int(1), Value::Float(2.5), Value::Text("drei"), Value::Null];
    let deep = [("north", Value::Float(47.25)), ("name", Value::Text("\"Höhe\" \\"))];
    let within = [
        ("position", Value::Fields(&deep)),
        ("list", Value::List(&list)),
        ("count", Value::Int(4)),
    ];
    subject.insert(nested, &key(1, 1), &[("more", Value::Fields(&within))]).unwrap();
    subject.insert(nested, &key(1, 2), &[]).unwrap();
    let question = subject.question(
        &NESTED,
        r#"[{"$match": {"more.count": 4}}]"#,
        "SELECT * FROM TABLE WHERE stamp = 1",
    );
    let mut rows = 0;
    let columns = ["more.position.north", "more.position.name", "more.count", "more.none"];
    let mut visit = |row: &dyn ResultRow| {
        rows += 1;
        assert_eq!(row.float(0)?, Some(47.25));
        assert_eq!(row.text(1)?, Some("\"Höhe\" \\"));
        assert_eq!((row.int(2)?, row.int(3)?), (Some(4), None));
        Ok(())
    };
    subject.store.query(nested, &question, &columns, &mut visit).unwrap();
    assert_eq!(rows, 1);
}

fn questions_are_answered(subject: &mut Subject) {
    let found = filled(subject, &FOUND);
    let question = subject.question(
        &FOUND,
        r#"[{"$match": {"_id.place": {"$gte": 3}}},
            {"$group": {"_id": "$kind", "documents": {"$sum": 1}, "mean": {"$avg": "$number"}}},
            {"$sort": {"_id": 1}},
            {"$project": {"_id": 0, "kind": "$_id", "documents": 1, "mean": 1}}]"#,
        "SELECT kind, COUNT(*) AS documents, AVG(number) AS mean FROM TABLE \
         WHERE place >= 3 GROUP BY kind ORDER BY kind",
    );
    // The second time it returns the same.
    for _ in 0..2 {
        let mut rows = Vec::new();
        let mut visit = |row: &dyn ResultRow| {
            rows.push((row.float(0)?, row.text(1)?.map(str::to_owned), row.int(2)?));
            Ok(())
        };
        subject.store.query(found, &question, &["mean", "kind", "documents"], &mut visit).unwrap();
        let expected = [
            (Some(10.0), Some("even".to_owned()), Some(10)),
            (Some(12.5), Some("odd".to_owned()), Some(10)),
        ];
        assert_eq!(rows, expected);
    }
}

fn errors_name_the_engine(subject: &mut Subject) {
    let found = filled(subject, &FOUND);
    let id = subject.engine.info().id;
    for question in ["nonsense", "[{\"$nonsense\": 1}]"] {
        let error = subject.store.query(found, question, &["a"], &mut |_| Ok(())).unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with(id) && error.contains("nonsense"), "{error}");
    }
    let nowhere = Collection(usize::MAX);
    assert!(subject.insert(nowhere, &key(1, 1), &[]).unwrap_err().to_string().starts_with(id));
    assert_eq!(subject.count(found), 50);
}

fn visitors_may_stop(subject: &mut Subject) {
    let loaded = subject.store.create(&LOADED).unwrap();
    subject.store.bulk(loaded, &mut made(0..25_000)).unwrap();
    let find = Find { filter: Filter::All, order: Order::Any, limit: None, columns: &["words"] };
    for _ in 0..3 {
        let mut seen = 0;
        let mut visit = |row: &dyn ResultRow| {
            seen += 1;
            if seen == 10 { row.int(99).map(|_| ()) } else { Ok(()) }
        };
        assert!(subject.store.find(loaded, &find, &mut visit).is_err());
        assert_eq!(seen, 10);
    }
    assert_eq!(subject.count(loaded), 25_000);
}

fn opens_again(subject: &mut Subject) {
    let collection = subject.store.create(&AGAIN).unwrap();
    for round in 1..4 {
        let fields = [("number", Value::Float(1.5)), ("words", Value::Text("w"))];
        subject.insert(collection, &key(1, 2 * round), &fields).unwrap();
        subject.store.reconnect().unwrap().unwrap();
        subject.insert(collection, &key(1, 2 * round + 1), &fields).unwrap();
        let stamps: Vec<i64> = (2..2 * round + 2).collect();
        assert_eq!(subject.stamps(collection, Filter::All), stamps);
        let error = subject.store.crash_on_close().unwrap_err();
        assert!(error.is_unsupported() && error.to_string().contains("server starts"), "{error}");
        let question = subject.question(
            &AGAIN,
            r#"[{"$group": {"_id": null, "n": {"$sum": 1}}}]"#,
            "SELECT COUNT(*) AS n FROM TABLE",
        );
        let mut counted = None;
        let mut visit = |row: &dyn ResultRow| {
            counted = row.int(0)?;
            Ok(())
        };
        subject.store.query(collection, &question, &["n"], &mut visit).unwrap();
        assert_eq!(counted, Some(2 * round));
    }
}
