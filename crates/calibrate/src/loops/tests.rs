use embermark_engines::{Join, Opened, registry};

use super::*;
use crate::pair::{options, socket_url};
use crate::rows::{drawn, grid};

/// Loads the rows twice, then reads them.
fn finds_its_rows(engine: &str, place: &Path) {
    let rows = grid(19).unwrap();
    let keys = drawn(&rows);
    let expected = taken(keys.iter().filter_map(|(_, place)| place.map(|place| &rows[place])));
    let wanted = keys.iter().map(|(key, _)| *key);
    let mut bare = Bare::open(engine, place, 16 << 20, &rows, wanted).unwrap();
    assert!(bare.load().unwrap() > 0, "{engine}");
    assert!(bare.load().unwrap() > 0, "{engine}");
    bare.maintain().unwrap();
    assert_eq!(bare.read().unwrap().1, expected, "{engine}");
    bare.close().unwrap();
}

#[test]
fn every_bare_loop_finds_the_rows_it_loaded_and_no_others() {
    // Where the adapter of RocksDB is here, it has opened its library.
    let is_here =
        |engine: &&str| has(engine) && embermark_skips::is_here(registry::find(engine).unwrap());
    for engine in ["sqlite", "lmdb", "berkeleydb", "rocksdb"].into_iter().filter(is_here) {
        finds_its_rows(engine, tempfile::tempdir().unwrap().path());
    }
}

#[test]
fn the_bare_loop_of_mongodb_finds_its_rows_on_the_server_of_the_adapter() {
    let mongodb = registry::find("mongodb").unwrap();
    if !embermark_skips::is_here(mongodb) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let Opened { mut store, .. } = mongodb.open(&options(dir.path().to_owned())).unwrap();
    let Join::At(at) = store.lifecycle().join() else { panic!("nobody may join") };
    finds_its_rows("mongodb", &socket_url(&at).unwrap());
    store.close().unwrap();
}
