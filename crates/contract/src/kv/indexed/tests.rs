//! A store in a decorator answers as it does alone.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Duration;

use super::super::mirror::{Decode, Side};
use super::super::{Change, Operations, Range, Visit};
use super::*;
use crate::sql::SqlStore;

type Calls = Rc<RefCell<Vec<&'static str>>>;

/// Tables in memory that note which methods are called. No answer is a default.
#[derive(Default)]
struct Noting {
    tables: Vec<BTreeMap<Vec<u8>, Vec<u8>>>,
    calls: Calls,
}

impl Noting {
    fn note(&self, method: &'static str) {
        self.calls.borrow_mut().push(method);
    }

    fn refuse<T>(&self, method: &'static str) -> Result<T> {
        self.note(method);
        Err(EngineError::unsupported("noting", method))
    }
}

#[deny(clippy::missing_trait_methods, reason = "the test compares every method")]
impl Lifecycle for Noting {
    fn maintain(&mut self) -> Result<()> {
        self.refuse("maintain")
    }

    fn upkeep(&mut self) -> Result<()> {
        self.refuse("upkeep")
    }

    fn limits(&self) -> Limits {
        Limits { tables: Some(7), ..Limits::default() }
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        Ok(vec![("sync".to_owned(), "on".to_owned())])
    }

    fn join(&self) -> Join {
        Join::At("here".to_owned())
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        self.refuse("open_client")
    }

    fn connection(&mut self) -> Result<ConnectionParameters> {
        Ok(vec![("dir", "here".to_owned())])
    }

    fn reconnect(&mut self) -> Option<Result<()>> {
        Some(self.refuse("reconnect"))
    }

    fn connects_by_request(&self) -> bool {
        true
    }

    fn background(&mut self, into: &mut Vec<Background>) -> Result<()> {
        into.push(Background::count("flushes", 3));
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.refuse("close")
    }

    fn crash_on_close(&mut self) -> Result<()> {
        self.refuse("crash_on_close")
    }

    fn suspend_checkpoints(&mut self, _: u64) -> Result<()> {
        self.refuse("suspend_checkpoints")
    }

    fn log_bytes(&mut self) -> Result<u64> {
        Ok(12)
    }

    fn check(&mut self) -> Result<Checked> {
        Ok(Checked::new("noting"))
    }
}

impl Mirror for Noting {
    fn show(&mut self, _: Table, _: std::sync::Arc<dyn Decode>) -> Result<()> {
        self.refuse("show")
    }

    fn refresh(&mut self) -> Result<()> {
        self.refuse("refresh")
    }

    fn sql(&mut self) -> Result<(&mut dyn SqlStore, u64)> {
        self.refuse("sql")
    }

    fn side(&self, _: &str) -> Option<Side> {
        None
    }

    fn took(&mut self, _: &str, _: Side, _: Duration) {}

    fn failed(&mut self, _: &EngineError) -> Result<bool> {
        self.refuse("failed")
    }
}

#[deny(clippy::missing_trait_methods, reason = "the test compares every method")]
impl KvStore for Noting {
    fn table(&mut self, _: &TableDef<'_>) -> Result<Table> {
        self.tables.push(BTreeMap::new());
        Ok(Table(self.tables.len() - 1))
    }

    fn keeps_indexes(&self) -> bool {
        false
    }

    fn clear(&mut self, Table(table): Table) -> Result<()> {
        self.tables[table].clear();
        Ok(())
    }

    fn bulk(&mut self, Table(table): Table, pairs: &mut dyn Pairs) -> Result<u64> {
        while let Some((key, value)) = pairs.next() {
            self.tables[table].insert(key.to_vec(), value.to_vec());
        }
        Ok(self.tables[table].len() as u64)
    }

    fn bulk_sorted(&self) -> bool {
        false
    }

    fn transact(&mut self, _: Scope, work: &mut Work<'_>) -> Result<()> {
        work(self)
    }

    fn delete_range(&mut self, _: Table, _: &[u8], _: &[u8]) -> Result<()> {
        self.refuse("delete_range")
    }

    fn deletes_range(&self, _: Table) -> &'static str {
        "a range of that table at once"
    }

    fn mirror(&mut self) -> Option<&mut dyn Mirror> {
        Some(self)
    }
}

impl Operations for Noting {
    fn get(&mut self, Table(table): Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.note("get");
        Ok(self.tables[table].get(key).map(Vec::as_slice))
    }

    fn scan(&mut self, Table(table): Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let mut pairs = self.tables[table].range::<[u8], _>(range.bounds());
        let _ = pairs.try_for_each(|(key, value)| visit(key, value));
        Ok(())
    }

    fn put(&mut self, Table(table): Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.tables[table].insert(key.to_vec(), value.to_vec());
        Ok(())
    }

    fn modify(&mut self, Table(table): Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        Ok(self.tables[table].get_mut(key).map(|value| change(value)).is_some())
    }

    fn delete(&mut self, Table(table): Table, key: &[u8]) -> Result<bool> {
        self.note("delete");
        Ok(self.tables[table].remove(key).is_some())
    }

    fn remove(&mut self, Table(table): Table, key: &[u8]) -> Result<()> {
        self.note("remove");
        self.tables[table].remove(key);
        Ok(())
    }
}

const INDEXES: &[IndexDef<'_>] = &[IndexDef { name: "first", at: 0, length: 1 }];
const INDEXED: TableDef<'_> = TableDef { name: "indexed", key_length: None, indexes: INDEXES };

/// Returns a store with an indexed table and a plain one, and the calls to the store in it.
fn store() -> (Box<dyn KvStore>, [Table; 2], Calls) {
    let noting = Noting::default();
    let calls = Rc::clone(&noting.calls);
    let mut store = Indexed::new(Box::new(noting));
    let tables =
        [INDEXED, TableDef::named("plain")].map(|definition| store.table(&definition).unwrap());
    (store, tables, calls)
}

/// Returns the number of pairs of a table.
fn pairs(store: &mut dyn KvStore, table: Table) -> usize {
    let mut pairs = 0;
    let count = |operations: &mut dyn Operations| {
        operations.scan(table, Range::default(), &mut |_, _| {
            pairs += 1;
            ControlFlow::Continue(())
        })
    };
    store.within(Scope::Snapshot, count).unwrap();
    pairs
}

/// Every method of the two traits, except those that concern indexes.
#[test]
fn what_does_not_concern_indexes_is_answered_by_the_store_itself() {
    let (mut store, [_, plain], calls) = store();
    assert_eq!(store.limits().tables, Some(7));
    assert_eq!(store.tier_settings().unwrap(), [("sync".to_owned(), "on".to_owned())]);
    assert_eq!(store.join(), Join::At("here".to_owned()));
    assert!(store.connects_by_request());
    assert_eq!(store.log_bytes().unwrap(), 12);
    assert_eq!(store.check().unwrap().by, "noting");
    assert!(!store.bulk_sorted());
    assert_eq!(store.deletes_range(plain), "a range of that table at once");
    assert!(store.mirror().is_some());
    let mut figures = Vec::new();
    store.background(&mut figures).unwrap();
    assert_eq!(figures, [Background::count("flushes", 3)]);
    // The store refuses each of these, so an answer would not be its own.
    assert!(store.maintain().is_err());
    assert!(store.upkeep().is_err());
    assert!(store.open_client().is_err());
    assert!(store.reconnect().unwrap().is_err());
    assert!(store.crash_on_close().is_err());
    assert!(store.suspend_checkpoints(1).is_err());
    assert!(store.delete_range(plain, b"a", b"b").is_err());
    assert!(store.close().is_err());
    let refused = [
        "maintain",
        "upkeep",
        "open_client",
        "reconnect",
        "crash_on_close",
        "suspend_checkpoints",
        "delete_range",
        "close",
    ];
    assert_eq!(*calls.borrow(), refused);
}

#[test]
fn a_program_in_another_language_is_refused_for_its_indexes_and_for_nothing_else() {
    let mut plain = Indexed::new(Box::new(Noting::default()));
    plain.table(&TableDef::named("plain")).unwrap();
    assert_eq!(plain.connection().unwrap(), [("dir", "here".to_owned())]);
    let (mut indexed, ..) = store();
    let refused = indexed.connection().unwrap_err();
    assert!(refused.is_unsupported() && refused.to_string().contains("indexes"), "{refused}");
}

#[test]
fn a_range_of_an_indexed_table_goes_with_its_index_entries() {
    let (mut store, [indexed, plain], calls) = store();
    for key in 0..2_500_u64 {
        let put = |each: &mut dyn Operations| each.put(indexed, &key.to_be_bytes(), b"value");
        store.within(Scope::PerOperation, put).unwrap();
    }
    let entries = Table(1);
    assert!(![indexed, plain].contains(&entries));
    assert_eq!(pairs(&mut *store, entries), 2_500);
    calls.borrow_mut().clear();
    let [from, to] = [100_u64, 2_400].map(u64::to_be_bytes);
    store.delete_range(indexed, &from, &to).unwrap();
    assert_eq!(pairs(&mut *store, indexed), 200);
    assert_eq!(pairs(&mut *store, entries), 200);
    assert_ne!(store.deletes_range(indexed), store.deletes_range(plain));
    let calls = calls.borrow();
    let number = |method: &str| calls.iter().filter(|call| **call == method).count();
    assert_eq!(number("delete_range"), 0, "it would leave the entries");
    // A value is read for its entry. Neither a row nor an entry is looked for again.
    assert_eq!((number("get"), number("remove"), number("delete")), (2_300, 4_600, 0));
}

#[test]
fn a_key_that_was_found_is_removed_without_being_looked_for() {
    let (mut store, [_, plain], calls) = store();
    for scope in [Scope::PerOperation, Scope::Batch] {
        let put = |each: &mut dyn Operations| each.put(plain, b"key", b"value");
        store.within(scope, put).unwrap();
        store.within(scope, |each| each.remove(plain, b"key")).unwrap();
        assert_eq!(pairs(&mut *store, plain), 0, "{scope:?}");
    }
    assert_eq!(*calls.borrow(), ["remove"; 2]);
}
