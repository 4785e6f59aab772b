use super::*;
use crate::rows::{drawn, grid};

#[test]
fn every_bare_loop_finds_the_rows_it_loaded_and_no_others() {
    let rows = grid(19).unwrap();
    let keys = drawn(&rows);
    let expected = taken(keys.iter().filter_map(|(_, place)| place.map(|place| &rows[place])));
    for engine in ["sqlite", "lmdb", "berkeleydb", "rocksdb"].into_iter().filter(|e| has(e)) {
        let folder = tempfile::tempdir().unwrap();
        let wanted = keys.iter().map(|(key, _)| *key);
        let mut bare = Bare::open(engine, folder.path(), 16 << 20, &rows, wanted).unwrap();
        assert!(bare.load().unwrap() > 0, "{engine}");
        assert!(bare.load().unwrap() > 0, "{engine}");
        bare.maintain().unwrap();
        assert_eq!(bare.read().unwrap().1, expected, "{engine}");
        bare.close().unwrap();
    }
}
