//! Valkey with several clients, each of whose commands sees one moment; and more data than memory.
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::thread;

use embermark_engines::kv::{Direction, KvStore, Operations, Pairs, Range, Table, TableDef};
use embermark_engines::{ClientOpener, OpenOptions, Scope, Store, registry};
use embermark_model::Durability;
use embermark_skips::is_here;

type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

fn kv(store: Store) -> Box<dyn KvStore> {
    match store {
        Store::Kv(store) => store,
        _ => panic!("no key-value store"),
    }
}

/// Starts a private server for this many clients; returns none if the test is skipped.
fn start(dir: &Path, clients: u32) -> Option<Box<dyn KvStore>> {
    let engine = registry::find("valkey").unwrap();
    let options = OpenOptions { clients, ..OpenOptions::new(dir, Durability::Process, 64 << 20) };
    is_here(engine).then(|| kv(engine.open(&options).unwrap().store))
}

fn table(store: &mut dyn KvStore) -> Table {
    store.table(&TableDef::named("t")).unwrap()
}

struct Listed<'a>(std::collections::btree_map::Iter<'a, Vec<u8>, Vec<u8>>);

impl Pairs for Listed<'_> {
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        self.0.next().map(|(key, value)| (&**key, &**value))
    }
}

fn numbered(rows: u64) -> Rows {
    (0..rows).map(|n| (n.to_be_bytes().to_vec(), (n * 7).to_be_bytes().to_vec())).collect()
}

/// Returns the first `most` pairs of a range.
fn scan(
    operations: &mut dyn Operations,
    table: Table,
    range: Range<'_>,
    most: usize,
) -> Vec<Vec<u8>> {
    let mut seen = Vec::new();
    let mut visit = |key: &[u8], value: &[u8]| {
        seen.push([key, value].concat());
        if seen.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    operations.scan(table, range, &mut visit).unwrap();
    seen
}

#[test]
fn scans_are_the_same_alone_and_beside_others() {
    let rows = numbered(5_000);
    for clients in [1, 2] {
        let dir = tempfile::tempdir().unwrap();
        let Some(mut store) = start(dir.path(), clients) else { return };
        let t = table(&mut *store);
        assert_eq!(store.bulk(t, &mut Listed(rows.iter())).unwrap(), 5_000);
        let some = |n: u64| Some(n.to_be_bytes());
        for (from, to) in
            [(None, None), (some(7), None), (None, some(4_900)), (some(5), some(4_000))]
        {
            for direction in [Direction::Forward, Direction::Backward] {
                let (from, to) = (from.as_ref().map(|f| &f[..]), to.as_ref().map(|t| &t[..]));
                let range = Range { from, to, direction };
                let all: Vec<_> = rows.range::<[u8], _>(range.bounds()).collect();
                let mut all: Vec<_> = all.into_iter().map(|(k, v)| [&**k, v].concat()).collect();
                if direction == Direction::Backward {
                    all.reverse();
                }
                for most in [1, 15, 16, 17, 64, 65, 128, 1024, 1089, 2500, usize::MAX] {
                    for scope in [Scope::PerOperation, Scope::Snapshot, Scope::Batch] {
                        let found = store.within(scope, |o| Ok(scan(o, t, range, most))).unwrap();
                        let expected = &all[..most.min(all.len())];
                        assert!(
                            found == expected,
                            "{clients} clients, {range:?}, {most}, {scope:?}"
                        );
                        // The connection continues with the next answer.
                        let key = 3_u64.to_be_bytes();
                        let get = |o: &mut dyn Operations| Ok(o.get(t, &key)?.map(<[u8]>::to_vec));
                        assert_eq!(store.within(scope, get).unwrap().as_ref(), rows.get(&key[..]));
                    }
                }
            }
        }
        store.close().unwrap();
    }
}

#[test]
fn a_snapshot_of_several_commands_is_one_moment_or_says_that_it_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut store) = start(dir.path(), 2) else { return };
    let t = table(&mut *store);
    store.bulk(t, &mut Listed(numbered(5_000).iter())).unwrap();
    let mut other = kv(store.open_client().unwrap().open().unwrap());
    assert_eq!(table(&mut *other), t);
    let mut write = || other.within(Scope::PerOperation, |o| o.put(t, b"new", b"value")).unwrap();
    let key = 1_u64.to_be_bytes();

    // One command, whatever others do.
    let one = store.within(Scope::Snapshot, |o| {
        let found = o.get(t, &key)?.is_some();
        write();
        Ok(found)
    });
    assert!(one.unwrap());
    // Two commands, and nothing happens between them.
    let two = store.within(Scope::Snapshot, |o| Ok((o.get(t, &key)?.is_some(), o.count(t)?)));
    assert_eq!(two.unwrap(), (true, Some(5_001)));
    // Two commands with a change between them; then one scan of several commands.
    let mut refused = Vec::new();
    refused.push(store.within(Scope::Snapshot, |o| {
        o.get(t, &key)?;
        write();
        o.count(t).map(drop)
    }));
    for scope in [Scope::Snapshot, Scope::PerOperation, Scope::Batch] {
        refused.push(store.within(scope, |o| {
            let mut seen = 0;
            o.scan(t, Range::default(), &mut |_, _| {
                seen += 1;
                if seen == 10 {
                    write();
                }
                ControlFlow::Continue(())
            })
        }));
    }
    for refused in refused {
        let error = refused.unwrap_err();
        assert!(error.is_unsupported() && error.to_string().contains("snapshot"), "{error}");
    }
    // A range with two ends is one command.
    let to = 500_u64.to_be_bytes();
    let bounded = store.within(Scope::PerOperation, |o| {
        let mut seen = 0;
        o.scan(t, Range::between(&key, Some(&to)), &mut |_, _| {
            seen += 1;
            if seen == 10 {
                write();
            }
            ControlFlow::Continue(())
        })?;
        Ok(seen)
    });
    assert_eq!(bounded.unwrap(), 499);
    other.close().unwrap();
    store.close().unwrap();
}

const ADDED: u64 = 300;

/// Runs a client that adds to a counter, and has its own key, which it makes and removes.
fn adds(opener: ClientOpener, number: u8) {
    let mut store = kv(opener.open().unwrap());
    let t = table(&mut *store);
    for _ in 0..ADDED {
        let add = |value: &mut [u8]| {
            let count = u64::from_be_bytes((&*value).try_into().unwrap()) + 1;
            value.copy_from_slice(&count.to_be_bytes());
        };
        store
            .within(Scope::PerOperation, |o| {
                assert!(o.modify(t, b"counter", &mut |value| add(value))?);
                o.put(t, &[number], b"mine")?;
                assert!(o.delete(t, &[number])?);
                assert!(!o.delete(t, &[number])?);
                Ok(())
            })
            .unwrap();
    }
    store.close().unwrap();
}

#[test]
fn what_several_clients_add_to_one_value_is_all_there() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut store) = start(dir.path(), 3) else { return };
    let t = table(&mut *store);
    store.within(Scope::PerOperation, |o| o.put(t, b"counter", &[0; 8])).unwrap();
    thread::scope(|scope| {
        for number in 0..3 {
            let opener = store.open_client().unwrap();
            scope.spawn(move || adds(opener, number));
        }
    });
    let sum = store.within(Scope::Snapshot, |o| {
        let found =
            o.get(t, b"counter")?.map(|value| u64::from_be_bytes(value.try_into().unwrap()));
        Ok((found, o.count(t)?))
    });
    assert_eq!(sum.unwrap(), (Some(3 * ADDED), Some(1)));
    store.close().unwrap();
}

#[test]
fn more_data_than_memory_is_unsupported_and_the_rows_before_stay() {
    let dir = tempfile::tempdir().unwrap();
    let engine = registry::find("valkey").unwrap();
    if !is_here(engine) {
        return;
    }
    let limit = Some(16 << 20);
    let options =
        OpenOptions { limit, ..OpenOptions::new(dir.path(), Durability::Process, 8 << 20) };
    let opened = engine.open(&options).unwrap();
    assert!(opened.settings.contains(&("maxmemory".to_owned(), (8 << 20).to_string())));
    let mut store = kv(opened.store);
    let t = table(&mut *store);
    store.within(Scope::PerOperation, |o| o.put(t, b"first", b"row")).unwrap();
    let many = numbered(200_000);
    let error = store.bulk(t, &mut Listed(many.iter())).unwrap_err();
    assert!(error.is_unsupported() && error.to_string().contains("--memory-limit"), "{error}");
    for scope in [Scope::PerOperation, Scope::Batch] {
        let mut put = |n: u8| store.within(scope, |o| o.put(t, &[n], &[7; 100_000]));
        let refused = (0..100).find_map(|n| put(n).err()).unwrap();
        assert!(refused.is_unsupported(), "{refused}");
    }
    let kept = store.within(Scope::Snapshot, |o| Ok(o.get(t, b"first")?.map(<[u8]>::to_vec)));
    assert_eq!(kept.unwrap(), Some(b"row".to_vec()));
    store.close().unwrap();
}

#[test]
fn its_log_has_every_change_and_maintenance_writes_it_anew() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut store) = start(dir.path(), 1) else { return };
    let t = table(&mut *store);
    for n in 0..2_000_u64 {
        store.within(Scope::PerOperation, |o| o.put(t, b"key", &n.to_be_bytes())).unwrap();
    }
    let before = store.log_bytes().unwrap();
    assert!(before > 2_000 * 30, "{before}");
    store.maintain().unwrap();
    let after = store.log_bytes().unwrap();
    assert!(after < 100, "{after}");
    let checked = store.check().unwrap();
    assert_eq!(checked.findings, Vec::<String>::new());
    store.close().unwrap();
    let mut store = start(dir.path(), 1).unwrap();
    let t = table(&mut *store);
    let found = store.within(Scope::Snapshot, |o| Ok(o.get(t, b"key")?.map(<[u8]>::to_vec)));
    assert_eq!(found.unwrap(), Some(1_999_u64.to_be_bytes().to_vec()));
    store.close().unwrap();
}
