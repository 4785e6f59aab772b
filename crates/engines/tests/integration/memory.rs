//! What key-value engines do with the memory they are given: the minimum, the usual amount and
//! much.

use embermark_engines::kv::{KvStore, Pairs, TableDef};
use embermark_engines::registry::ENGINES;
use embermark_engines::{DataModel, Engine, Kind, OpenOptions, Opened, Scope, Store};
use embermark_model::Durability;
use embermark_skips::is_here;

const MEMORY: [u64; 3] = [1 << 20, 64 << 20, 1 << 30];
const KEYS: TableDef<'_> = TableDef { key_length: Some(8), ..TableDef::named("t") };
/// More rows than fit in the minimum of memory.
const ROWS: u64 = 50_000;
/// Embedded key-value engines that are not tried here.
const NOT_TRIED: [&str; 5] = ["berkeleydb", "wiredtiger", "hybrid", "hybrid-bdb", "zen"];

struct Numbered(u64, [u8; 8], [u8; 40]);

impl Pairs for Numbered {
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        let Self(next, key, value) = self;
        *key = next.to_be_bytes();
        value[..8].copy_from_slice(key);
        *next += 1;
        (*next <= ROWS).then_some((key, value))
    }
}

fn value(store: &mut dyn KvStore, row: u64) -> Option<Vec<u8>> {
    let table = store.table(&KEYS).unwrap();
    let get = |each: &mut dyn embermark_engines::kv::Operations| {
        Ok(each.get(table, &row.to_be_bytes())?.map(<[u8]>::to_vec))
    };
    store.within(Scope::Snapshot, get).unwrap()
}

fn on_each(check: impl Fn(&dyn Engine, u64, Opened)) {
    for &engine in ENGINES {
        let info = engine.info();
        let is_of_kind = info.kind == Kind::Embedded && info.family == DataModel::KeyValue;
        if !is_of_kind || NOT_TRIED.contains(&info.id) || !is_here(engine) {
            continue;
        }
        for memory in MEMORY {
            let dir = tempfile::tempdir().unwrap();
            let options = OpenOptions::new(dir.path(), Durability::Process, memory);
            check(engine, memory, engine.open(&options).unwrap());
        }
    }
}

/// All rows exist with any memory, in files and in the log.
#[test]
fn more_rows_than_memory_are_there() {
    on_each(|engine, memory, opened| {
        let name = format!("{} with {memory} bytes", engine.info().id);
        let Store::Kv(mut store) = opened.store else { panic!("{name}: no key-value store") };
        let table = store.table(&KEYS).unwrap();
        let loaded = store.bulk(table, &mut Numbered(0, [0; 8], [0; 40])).unwrap();
        assert_eq!(loaded, ROWS, "{name}");
        store.maintain().unwrap();
        let changed = ROWS / 2;
        let put = |batch: &mut dyn embermark_engines::kv::Operations| {
            batch.put(table, &changed.to_be_bytes(), b"another")
        };
        store.within(Scope::Batch, put).unwrap();
        for row in (0..ROWS).step_by(997).chain([ROWS - 1]) {
            let found = value(&mut *store, row).unwrap_or_else(|| panic!("{name}: no row {row}"));
            assert_eq!(found[..8], row.to_be_bytes(), "{name}");
        }
        assert_eq!(value(&mut *store, changed).unwrap(), b"another", "{name}");
        assert_eq!(value(&mut *store, ROWS), None, "{name}");
        store.close().unwrap();
    });
}

/// An engine reports the settings that were set.
#[test]
fn settings_that_follow_from_memory_are_read_back() {
    on_each(|engine, memory, opened| {
        let id = engine.info().id;
        let told = |name: &str| {
            let found = opened.settings.iter().find(|(known, _)| known == name);
            found.unwrap_or_else(|| panic!("{id} tells no {name}")).1.clone()
        };
        match id {
            "rocksdb" => {
                let (bits, file) = match memory >> 20 {
                    1 => ("0", "2097152"),
                    64 => ("2", "6710886"),
                    _ => ("3", "67108864"),
                };
                assert_eq!(told("block cache"), format!("{} bytes", memory / 4 * 3));
                assert_eq!(told("num_shard_bits"), bits);
                assert_eq!(told("target_file_size_base"), file);
                assert_eq!(told("max_bytes_for_level_base"), memory.to_string());
                assert_eq!(told("write_buffer_size"), (memory / 4).to_string());
                assert_eq!(told("db_write_buffer_size"), (memory / 4).to_string());
            }
            "leveldb" => {
                assert_eq!(told("block_cache"), format!("{} bytes (as set)", memory / 4 * 3));
                assert_eq!(told("write_buffer_size"), format!("{} bytes (as set)", memory / 8));
            }
            "fjall" => {
                assert_eq!(told("cache_size"), format!("{} bytes (as set)", memory / 4 * 3));
                assert_eq!(told("max_memtable_size"), format!("{} bytes (as set)", memory / 8));
            }
            "redb" => assert_eq!(told("cache_size"), format!("{memory} bytes (as set)")),
            "lmdb" | "mdbx" => {
                assert_eq!(told("cache"), "none of its own: the system's page cache");
            }
            _ => panic!("{id}: say here what it reports of its memory: {:?}", opened.settings),
        }
    });
}
