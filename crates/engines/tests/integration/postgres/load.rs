//! The bulk path.

use embermark_engines::sql::{Access, Param, Rows, SqlStore};
use tempfile::TempDir;

use crate::server::readings::{Made, TABLE, made, one_int};

/// Some rows, followed by others.
struct Twice(Made, Made);

impl Rows for Twice {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        if self.0.next < self.0.end { self.0.next() } else { self.1.next() }
    }
}

pub fn bulk_loads_write_next_to_no_log(store: &mut dyn SqlStore, _: &TempDir) {
    // Enough for the table and its index to be above wal_skip_threshold, 2 MB each.
    const ROWS: i64 = 99_999;
    store.batch("TRUNCATE readings").unwrap();
    let log = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint";
    let before = one_int(store, log).unwrap().unwrap();
    assert_eq!(store.bulk_insert(&TABLE, &mut made(0..ROWS)).unwrap(), ROWS as u64);
    let written = one_int(store, log).unwrap().unwrap() - before;
    let size = one_int(store, "SELECT pg_table_size('readings')").unwrap().unwrap();
    assert!(size > 4_000_000 && written < size / 10, "{written} bytes of log for {size}");
    let whole = "SELECT (count(*) + sum(ts) + count(value) * 1000 + sum(value * 4))::bigint \
                 FROM readings WHERE note = 'grün' AND sensor = ts / 1000";
    let values = (0..ROWS).filter(|n| n % 3 != 0);
    let expected = ROWS + (0..ROWS).sum::<i64>() + values.map(|n| n + 1000).sum::<i64>();
    assert_eq!(one_int(store, whole).unwrap(), Some(expected));

    let by_key = "SELECT ts FROM readings WHERE sensor = 7 AND ts = 7007";
    assert_eq!(one_int(store, by_key).unwrap(), Some(7007));
    // A load into a table that is not empty loses nothing, and an existing key undoes the load.
    assert_eq!(store.bulk_insert(&TABLE, &mut made(ROWS..ROWS + 10)).unwrap(), 10);
    let error = store.bulk_insert(&TABLE, &mut made(ROWS + 5..ROWS + 20)).unwrap_err().to_string();
    assert!(error.contains("COPY readings") && error.contains("readings_pkey"), "{error}");
    let error = store.bulk_insert(&TABLE, &mut made(i64::MAX - 5..i64::MAX)).unwrap_err();
    assert!(error.to_string().contains("does not fit column sensor"), "{error}");
    let count = "SELECT count(*) FROM readings";
    assert_eq!(one_int(store, count).unwrap(), Some(ROWS + 10));
    let mut twice = Twice(made(0..ROWS), made(0..10));
    store.batch("TRUNCATE readings").unwrap();
    let error = store.bulk_insert(&TABLE, &mut twice).unwrap_err().to_string();
    assert!(error.contains("readings_pkey") && error.contains("23505"), "{error}");
    assert_eq!(one_int(store, count).unwrap(), Some(0));
    // The key, which was dropped for the load, exists again.
    let keys =
        "SELECT count(*) FROM pg_index WHERE indrelid = 'readings'::regclass AND indisprimary";
    assert_eq!(one_int(store, keys).unwrap(), Some(1));
    store.maintain().unwrap();
}

pub fn loads_may_be_given_up(store: &mut dyn SqlStore, _: &TempDir) {
    store.batch("TRUNCATE readings").unwrap();
    let count = "SELECT count(*) FROM readings";
    for rows in [10, 200_000] {
        // The last rows do not fit; the server has not nearly received them all by then.
        let mut ends_badly = Twice(made(0..rows), made(i64::MAX - 5..i64::MAX));
        let error = store.bulk_insert(&TABLE, &mut ends_badly).unwrap_err().to_string();
        assert!(error.contains("does not fit column sensor"), "{error}");
        assert_eq!(one_int(store, count).unwrap(), Some(0));
        store.begin(Access::Write).unwrap();
        assert_eq!(store.bulk_insert(&TABLE, &mut made(0..rows)).unwrap(), rows as u64);
        let mut ends_badly = Twice(made(rows..2 * rows), made(i64::MAX - 5..i64::MAX));
        store.bulk_insert(&TABLE, &mut ends_badly).unwrap_err();
        assert_eq!(one_int(store, count).unwrap(), Some(0), "its transaction has ended");
    }
    assert_eq!(store.bulk_insert(&TABLE, &mut made(0..7)).unwrap(), 7);
    assert_eq!(one_int(store, count).unwrap(), Some(7));
}
