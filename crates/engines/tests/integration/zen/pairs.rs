//! Pairs, ranges and indexes.

use std::ops::ControlFlow;

use embermark_engines::Scope;
use embermark_engines::kv::{Direction, KvStore, Range};

use super::common::{
    Model, PLACES, TIERS, WAYS, bulk, by_index, calls, numbered, on_each, open, short, table,
    unfreed,
};
use crate::scopes::{Alone, Bytes, Reads, all, get, scan};

#[test]
fn what_is_put_is_found_overwritten_modified_and_deleted() {
    on_each(|store, name| {
        let t = table(store, "t", &[]);
        assert_eq!(get(store, t, b"aa"), None, "{name}");
        assert!(!store.delete(t, b"aa").unwrap(), "{name}");
        assert!(!store.modify(t, b"aa", &mut |_| panic!("called")).unwrap(), "{name}");
        assert_eq!(all(store, t), [], "{name}");
        store.put(t, b"aa", b"1").unwrap();
        store.put(t, b"\xff\x00", b"").unwrap();
        assert_eq!(get(store, t, b"aa"), Some(b"1".to_vec()), "{name}");
        assert_eq!(get(store, t, b"\xff\x00"), Some(Vec::new()), "{name}");
        assert_eq!(get(store, t, b"a"), None, "{name}: no key has that length");
        store.put(t, b"aa", b"longer than before").unwrap();
        assert!(store.modify(t, b"aa", &mut |value| value[0] = b'L').unwrap(), "{name}");
        assert_eq!(get(store, t, b"aa"), Some(b"Longer than before".to_vec()), "{name}");
        assert!(store.delete(t, b"aa").unwrap(), "{name}");
        assert!(!store.delete(t, b"aa").unwrap(), "{name}: deleted twice");
        assert_eq!(all(store, t), [(b"\xff\x00".to_vec(), Vec::new())], "{name}");
    });
}

#[test]
fn a_range_is_scanned_both_ways_in_bulk_where_records_have_one_length() {
    on_each(|store, name| {
        // Keys with gaps, signs and ends of the range of a byte.
        let key = |n: u16| n.wrapping_mul(331).to_be_bytes().to_vec();
        for (table_name, value) in
            [("one", short as fn(u16) -> Bytes), ("many", |n| vec![7; n as usize % 9])]
        {
            let model: Model = (0..900).map(|n| (key(n), value(n))).collect();
            let t = table(store, table_name, &[]);
            assert_eq!(bulk(store, t, &model).unwrap(), 900, "{name}");
            let before = calls("FileBulkRetrieveNext") + calls("FileBulkRetrievePrevious");
            let bounds = [
                &b""[..],
                b"\0",
                b"\0\0",
                b"\x10\x01",
                b"\x80",
                b"\x80\0\0",
                b"\x80\0\xff",
                b"\xff\xff",
                b"\xff\xff\xff",
            ];
            let bounds = || bounds.iter().map(|&b| Some(b)).chain([None]);
            for (from, to) in bounds().flat_map(|from| bounds().map(move |to| (from, to))) {
                for (way, most) in
                    WAYS.into_iter().flat_map(|way| [1, 8, 9, 10, 40, 2000].map(|m| (way, m)))
                {
                    let within = model.iter().filter(|(k, _)| {
                        from.is_none_or(|from| k.as_slice() >= from)
                            && to.is_none_or(|to| k.as_slice() < to)
                    });
                    let pairs = within.map(|(k, v)| (k.clone(), v.clone()));
                    let expected: Vec<_> = match way {
                        Direction::Forward => pairs.take(most).collect(),
                        Direction::Backward => pairs.rev().take(most).collect(),
                    };
                    let found = scan(store, t, Range { from, to, direction: way }, most);
                    assert!(
                        found == expected,
                        "{name}, {table_name}: {from:?}..{to:?} {way:?} {most}"
                    );
                }
            }
            let bulks = calls("FileBulkRetrieveNext") + calls("FileBulkRetrievePrevious") - before;
            assert_eq!(bulks > 0, table_name == "one", "{name}: {bulks}");
        }
    });
}

#[test]
fn a_bulk_load_keeps_every_pair_and_the_table_takes_changes_after_it() {
    on_each(|store, name| {
        let t = table(store, "t", PLACES);
        let model = numbered(30_000, short);
        let (creates, begins) = (calls("FileBulkCreate"), calls("ClientTransactionBegin"));
        assert_eq!(bulk(store, t, &model).unwrap(), 30_000, "{name}");
        assert!(calls("FileBulkCreate") - creates > 5, "{name}: in several payloads");
        let one = u64::from(name != "none");
        assert_eq!(calls("ClientTransactionBegin") - begins, one, "{name}: as one commit");
        assert!(all(store, t) == Vec::from_iter(model.clone()), "{name}");
        store.put(t, b"\0\0", b"other").unwrap();
        assert_eq!(get(store, t, b"\0\0"), Some(b"other".to_vec()), "{name}");
        assert_eq!(all(store, t).len(), 30_000, "{name}: of two lengths now");
        assert_eq!(bulk(store, t, &Model::new()).unwrap(), 0, "{name}");
        store.maintain().unwrap();
    });
}

#[test]
fn records_up_to_the_largest_are_kept() {
    on_each(|store, name| {
        let t = table(store, "t", &[]);
        let sizes = [0, 1, 49_000, 61_438, 3, 48 * 1024 - 2, 61_438];
        let model: Model = (0u16..)
            .zip(sizes)
            .map(|(n, size)| (n.to_be_bytes().to_vec(), vec![n as u8; size]))
            .collect();
        assert_eq!(bulk(store, t, &model).unwrap(), 7, "{name}");
        assert!(all(store, t) == Vec::from_iter(model), "{name}");
        let error = store.put(t, b"xx", &[0; 61_439]).unwrap_err();
        assert!(error.is_unsupported() && error.to_string().contains("61438"), "{error}");
    });
}

#[test]
fn indexes_follow_every_change() {
    on_each(|store, name| {
        assert!(store.keeps_indexes(), "{name}");
        let t = table(store, "t", PLACES);
        let mut model = numbered(500, short);
        bulk(store, t, &model).unwrap();
        let agree = |store: &mut dyn KvStore, model: &Model| {
            for first in 0..8 {
                let with = |prefix: &[u8]| -> Model {
                    let pairs = model.iter().filter(|(_, value)| value.starts_with(prefix));
                    pairs.map(|(k, v)| (k.clone(), v.clone())).collect()
                };
                assert_eq!(by_index(store, t, 0, &[first]), with(&[first]), "{name}");
                for second in 0..4 {
                    let pair = [first, second];
                    assert_eq!(by_index(store, t, 1, &pair), with(&pair), "{name}");
                }
            }
        };
        agree(store, &model);
        for n in (0..500u16).step_by(3) {
            let key = n.to_be_bytes();
            match n % 4 {
                0 => {
                    assert!(store.modify(t, &key, &mut |v| v[0] = 7 - v[0]).unwrap());
                    model.get_mut(&key[..]).map(|v| v[0] = 7 - v[0]).unwrap();
                }
                1 => {
                    assert!(store.delete(t, &key).unwrap());
                    model.remove(&key[..]).unwrap();
                }
                2 => {
                    store.put(t, &key, &[7, 3, 9]).unwrap();
                    model.insert(key.to_vec(), vec![7, 3, 9]);
                }
                _ => {
                    let key = [0xf0, n as u8];
                    store.put(t, &key, &[2, 2]).unwrap();
                    model.insert(key.to_vec(), vec![2, 2]);
                }
            }
        }
        agree(store, &model);
        let mut first = None;
        let mut visit = |key: &[u8], _: &[u8]| {
            assert!(first.replace(key.to_vec()).is_none(), "{name}: visited after a break");
            ControlFlow::Break(())
        };
        store.visit_index(t, 0, Range::between(&[2], Some(&[3])), &mut visit).unwrap();
        assert!(first.is_some(), "{name}");
        store.clear(t).unwrap();
        assert!(by_index(store, t, 0, &[2]).is_empty(), "{name}");
        store.put(t, b"zz", &[2, 2]).unwrap();
        assert_eq!(by_index(store, t, 1, &[2, 2]).len(), 1, "{name}: the indexes are made anew");
    });
}

#[test]
fn clearing_empties_one_table_and_leaves_the_others() {
    on_each(|store, name| {
        let (one, two) = (table(store, "one", &[]), table(store, "two", &[]));
        assert_eq!(table(store, "one", &[]), one, "{name}");
        bulk(store, one, &numbered(100, short)).unwrap();
        store.put(two, b"aa", b"stays").unwrap();
        store.clear(one).unwrap();
        assert_eq!(all(store, one), [], "{name}");
        assert_eq!(all(store, two).len(), 1, "{name}");
        bulk(store, one, &numbered(50, short)).unwrap();
        assert_eq!(all(store, one).len(), 50, "{name}");
    });
}

#[test]
fn a_closed_database_has_its_content_when_it_is_opened_again() {
    for tier in TIERS {
        let dir = tempfile::tempdir().unwrap();
        let model = numbered(200, short);
        let mut store = open(tier, dir.path());
        let t = table(store.as_mut(), "t", PLACES);
        bulk(store.as_mut(), t, &model).unwrap();
        store.close().unwrap();
        let mut store = open(tier, dir.path());
        let t = table(store.as_mut(), "t", PLACES);
        assert!(all(store.as_mut(), t) == Vec::from_iter(model.clone()), "{tier}");
        assert_eq!(by_index(store.as_mut(), t, 0, &[3]).len(), 29, "{tier}");
        store.put(t, b"\xff\xff", b"longer").unwrap();
        assert_eq!(all(store.as_mut(), t).len(), 201, "{tier}");
        store.close().unwrap();
        assert_eq!(unfreed(), 0);
    }
}

#[test]
fn any_sequence_of_operations_agrees_with_a_sorted_map() {
    on_each(|store, name| {
        let t = table(store, "t", PLACES);
        let (mut model, mut dice, mut step) = (Model::new(), 20_240_229_u64, 0);
        for scope in [Scope::PerOperation, Scope::Batch].into_iter().cycle() {
            let some = store.within(scope, |operations| {
                while step < 4_000 {
                    step += 1;
                    // Knuth's linear congruential generator.
                    dice = dice
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    let key = ((dice >> 33) as u16 % 300).to_be_bytes();
                    let value = vec![step as u8 % 5; 2 + (dice >> 20) as usize % 4];
                    match (dice >> 50) % 100 {
                        0..40 => {
                            operations.put(t, &key, &value)?;
                            model.insert(key.to_vec(), value);
                        }
                        40..55 => {
                            let there = model.remove(&key[..]).is_some();
                            assert_eq!(operations.delete(t, &key)?, there, "{name}, step {step}");
                        }
                        55..70 => {
                            let there = operations.modify(t, &key, &mut |v| v[1] ^= 3)?;
                            let known = model.get_mut(&key[..]).map(|v| v[1] ^= 3).is_some();
                            assert_eq!(there, known, "{name}, step {step}");
                        }
                        70..75 => return Ok(true),
                        75..80 => {
                            let found = by_index(operations, t, 0, &[key[1] % 5]);
                            let expected = model.iter().filter(|(_, v)| v[0] == key[1] % 5).count();
                            assert_eq!(found.len(), expected, "{name}, step {step}");
                        }
                        _ => assert_eq!(get(operations, t, &key).as_ref(), model.get(&key[..])),
                    }
                }
                Ok(false)
            });
            if !some.unwrap() {
                break;
            }
        }
        assert!(all(store, t) == Vec::from_iter(model), "{name}");
    });
}
