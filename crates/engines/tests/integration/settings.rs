//! Every engine takes the settings of a configuration: they override its own, and it reports them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use embermark_engines::registry::{self, ENGINES};
use embermark_engines::sql::QueryKind;
use embermark_engines::{OWN_DURABILITY, OpenOptions, Result, Store, Tier};
use embermark_model::Durability;
use embermark_skips::{is_here, sampled};
use tempfile::TempDir;

/// For each engine that takes settings: one of them, a value that embermark does not set, the value
/// that is read back, and a value that is refused, by the engine itself in some cases.
const CASES: &[(&str, &str, &str, &str, &str)] = &[
    ("sqlite", "wal_autocheckpoint", "77", "77", "many"),
    ("duckdb", "checkpoint_threshold", "1MiB", "1.0 MiB", "many"),
    ("firebird", "page_size", "16384", "16384", "many"),
    ("berkeleydb", "set_lg_max", "4194304", "4194304", "1"),
    ("lmdb", "MDB_NOMEMINIT", "ON", "on", "many"),
    ("mdbx", "MDBX_LIFORECLAIM", "ON", "on", "many"),
    ("leveldb", "max_open_files", "100", "100 (as set)", "99999999999"),
    ("rocksdb", "max_background_jobs", "7", "7", "many"),
    ("fjall", "max_memtable_size", "9000000", "9000000 bytes (as set)", "-1"),
    ("redb", "cache_size", "1048576", "1048576 bytes (as set)", "-1"),
    ("wiredtiger", "session_max", "77", "77", "many"),
    ("parquet", "COMPRESSION", "zstd", "zstd (as set)", "many"),
    ("hybrid", "write_after", "77", "77 (as set)", "many"),
    ("hybrid-bdb", "write_after", "77", "77 (as set)", "many"),
    ("postgres", "work_mem", "5MB", "5MB", "many"),
    ("mariadb", "sort_buffer_size", "1M", "1048576", "many"),
    ("mongodb", "cursorTimeoutMillis", "60000", "60000", "many"),
    ("valkey", "hz", "77", "77", "many"),
    ("influxdb", "data.max-concurrent-compactions", "3", "3", "many"),
    ("harperdb", "interface", "rest", "rest (as set)", "many"),
];

/// Returns the settings that an engine which can run here reports when it is opened with these.
fn opened(id: &str, tier: Durability, given: &[(&str, &str)]) -> Result<Vec<(String, String)>> {
    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // A private server may run as another user.
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let mut options = OpenOptions::new(folder.path(), tier, 32 << 20);
    let pair = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
    options.settings = given.iter().map(pair).collect();
    let opened = registry::find(id).unwrap().open(&options)?;
    opened.store.close().map(|()| opened.settings)
}

fn found<'a>(settings: &'a [(String, String)], name: &str) -> Option<&'a str> {
    settings.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
}

fn here(id: &str) -> bool {
    registry::find(id).is_ok_and(is_here)
}

/// Returns the strongest tier that an engine offers.
fn strongest(id: &str) -> Durability {
    let engine = registry::find(id).unwrap();
    let offered = |tier: &Durability| matches!(engine.tier(*tier), Tier::Offered { .. });
    Durability::ALL.into_iter().rfind(offered).unwrap()
}

#[test]
fn every_engine_that_takes_settings_has_a_case() {
    for engine in ENGINES {
        let (id, settings) = (engine.info().id, engine.settings());
        let takes_some = !settings.known.is_empty() || settings.others.is_some();
        assert_eq!(CASES.iter().any(|(known, ..)| *known == id), takes_some, "{id}");
    }
}

#[test]
fn each_takes_a_setting_and_gives_it_back() {
    for &(id, name, value, back, _) in sampled(CASES.iter().filter(|(id, ..)| here(id)), 8) {
        let tier = strongest(id);
        let settings = opened(id, tier, &[(name, value)]).unwrap();
        let given = found(&settings, name);
        println!("{id}: {name}={value} comes back as {given:?}");
        assert_eq!(given, Some(back), "{id} {name}: {settings:?}");
        assert_eq!(found(&settings, OWN_DURABILITY), None, "{id}");
        let ours = opened(id, tier, &[]).unwrap();
        assert_ne!(found(&ours, name), given, "{id} {name} is set anyway");
    }
}

#[test]
fn each_refuses_a_value_that_it_does_not_take() {
    for &(id, name, _, _, wrong) in sampled(CASES.iter().filter(|(id, ..)| here(id)), 8) {
        let engine = registry::find(id).unwrap();
        let refused = match engine.settings().check([(name, wrong)]) {
            Err(why) => why,
            Ok(()) => match opened(id, strongest(id), &[(name, wrong)]) {
                Err(error) => error.to_string(),
                Ok(settings) => panic!("{id} took {name}={wrong}: {settings:?}"),
            },
        };
        println!("{id}: {refused}");
    }
}

/// Settings that a library or an older version here lacks, and what it reports then.
const NOT_HERE: [(&str, &str); 5] = [
    ("wal_compression", "compression"),
    ("compression", "compress"),
    ("fsync_mode", "fsync_mode"),
    ("innodb_doublewrite", "did not accept"),
    ("innodb_log_file_write_through", "innodb_log_file_write_through"),
];

#[test]
fn each_takes_every_candidate_of_tuning_and_gives_it_back() {
    let all = ENGINES.iter().filter(|engine| here(engine.info().id)).flat_map(|engine| {
        engine.settings().candidates.iter().map(move |candidate| (*engine, candidate))
    });
    for (engine, candidate) in sampled(all, 12) {
        let (id, set) = (engine.info().id, candidate.set);
        let tier = candidate.keeps.min(Durability::Process);
        let settings = match opened(id, tier, set) {
            Ok(settings) => settings,
            Err(error) => {
                let says = error.to_string();
                let known = |(name, why): &(&str, &str)| {
                    set.iter().any(|(set, _)| set == name) && says.contains(why)
                };
                assert!(NOT_HERE.iter().any(known), "{id} {set:?}: {says}");
                continue;
            }
        };
        for (name, value) in set {
            assert!(found(&settings, name).is_some(), "{id} {name}={value}: {settings:?}");
        }
        // Tuning takes none that is reported as weaker than the tier that it keeps.
        assert_eq!(found(&settings, OWN_DURABILITY), None, "{id} {set:?} ({tier})");
    }
}

/// With `MDB_NOSYNC` nothing is synced, so a candidate that syncs less than `power` but more than
/// that must turn it off.
#[test]
fn a_candidate_that_syncs_some_of_a_commit_is_not_the_tier_that_syncs_nothing() {
    for id in ["lmdb", "mdbx"].into_iter().filter(|id| here(id)) {
        let settings = registry::find(id).unwrap().settings();
        let is_weaker = |set: &[(&str, &str)]| set.iter().any(|(name, _)| name.ends_with("ASYNC"));
        let some = settings.candidates.iter().filter(|one| is_weaker(one.set));
        let nothing = if id == "lmdb" { "MDB_NOSYNC" } else { "MDBX_UTTERLY_NOSYNC" };
        for candidate in some {
            let given = opened(id, Durability::Process, candidate.set).unwrap();
            assert_eq!(found(&given, nothing), Some("off"), "{id} {:?}", candidate.set);
        }
    }
}

/// A program needs these in addition to those of its configuration (`set_by_embermark`).
#[test]
fn what_embermark_sets_comes_back_by_the_names_that_a_program_takes() {
    let cases = [
        ("leveldb", &["write_buffer_size", "block_cache", "filter_policy_bits"][..]),
        ("rocksdb", &["write_buffer_size", "block_cache", "cache_index_and_filter_blocks"]),
        (
            "berkeleydb",
            &["set_cachesize", "set_lg_bsize", "DB_LOG_AUTO_REMOVE", "DB_TXN_WRITE_NOSYNC"],
        ),
    ];
    for (id, names) in cases.into_iter().filter(|(id, _)| here(id)) {
        let engine = registry::find(id).unwrap().settings();
        let settings = opened(id, Durability::Process, &[]).unwrap();
        let pairs = settings.iter().map(|(name, value)| (&**name, &**value));
        let ours: Vec<(&str, &str)> = engine.set_by_embermark(pairs).collect();
        for name in names {
            assert!(ours.iter().any(|(known, _)| known == name), "{id} {name}: {ours:?}");
        }
        // They are accepted as they are, and change nothing.
        let again = opened(id, Durability::Process, &ours).unwrap();
        for (name, value) in &ours {
            assert_eq!(
                found(&again, name).map(|back| back.contains(value)),
                Some(true),
                "{id} {name}"
            );
        }
    }
}

#[test]
fn a_tier_that_its_settings_undo_is_said_to_be_its_authors() {
    let cases = [
        ("sqlite", "synchronous", "OFF", "synchronous=0 where power has 2 or 3"),
        ("firebird", "forced_writes", "OFF", "forced_writes=0 where power has 1"),
        ("lmdb", "MDB_NOSYNC", "ON", "MDB_NOSYNC=on where power has off"),
        ("lmdb", "MDB_MAPASYNC", "ON", "MDB_MAPASYNC=on where power has off"),
        ("mdbx", "MDBX_NOMETASYNC", "ON", "MDBX_NOMETASYNC=on where power has off"),
        ("berkeleydb", "DB_TXN_NOSYNC", "ON", "DB_TXN_NOSYNC=on where power has off"),
        ("berkeleydb", "DB_INIT_TXN", "OFF", "DB_INIT_TXN=off where power has on"),
        ("rocksdb", "manual_wal_flush", "true", "manual_wal_flush=true where power has false"),
        ("wiredtiger", "checkpoint_sync", "false", "checkpoint_sync=false where power has true"),
        (
            "wiredtiger",
            "transaction_sync",
            "(enabled=true,method=none)",
            "transaction_sync.method=none where power has fsync or dsync",
        ),
        ("postgres", "fsync", "off", "fsync=off where power has on"),
        (
            "mariadb",
            "innodb_flush_log_at_trx_commit",
            "0",
            "innodb_flush_log_at_trx_commit=0 where power has 1 or 3",
        ),
        ("valkey", "appendfsync", "everysec", "appendfsync=everysec where power has always"),
    ];
    for (id, name, value, says) in sampled(cases.into_iter().filter(|(id, ..)| here(id)), 6) {
        let settings = opened(id, Durability::Power, &[(name, value)]).unwrap();
        assert_eq!(found(&settings, OWN_DURABILITY), Some(says), "{id}");
    }
}

#[test]
fn a_dearer_setting_is_of_the_tier_and_every_weaker_one_is_named() {
    let cases = [
        ("sqlite", Durability::Process, &[("journal_mode", "DELETE"), ("synchronous", "FULL")][..]),
        ("sqlite", Durability::Power, &[("journal_mode", "PERSIST"), ("synchronous", "EXTRA")]),
        ("lmdb", Durability::Process, &[("MDB_NOSYNC", "OFF"), ("MDB_WRITEMAP", "OFF")]),
        (
            "mdbx",
            Durability::Process,
            &[("MDBX_UTTERLY_NOSYNC", "OFF"), ("MDBX_SAFE_NOSYNC", "ON")],
        ),
        ("firebird", Durability::Process, &[("forced_writes", "ON")]),
        ("berkeleydb", Durability::Process, &[("DB_TXN_WRITE_NOSYNC", "OFF")]),
        ("valkey", Durability::Process, &[("appendfsync", "always")]),
        (
            "wiredtiger",
            Durability::Process,
            &[("transaction_sync", "(method=fsync,enabled=true)"), ("checkpoint_sync", "true")],
        ),
        ("wiredtiger", Durability::Power, &[("transaction_sync", "(enabled=true,method=dsync)")]),
        (
            "wiredtiger",
            Durability::Power,
            &[("log", "(enabled=true,file_max=16MB,prealloc=false)")],
        ),
    ];
    for (id, tier, given) in cases.into_iter().filter(|(id, ..)| here(id)) {
        assert_eq!(found(&opened(id, tier, given).unwrap(), OWN_DURABILITY), None, "{id} {tier}");
    }
    if here("sqlite") {
        // After a commit in the mode DELETE the folder is not synced.
        let given = [("journal_mode", "DELETE"), ("synchronous", "NORMAL")];
        let settings = opened("sqlite", Durability::Power, &given).unwrap();
        let own = "journal_mode=delete where power has wal or truncate or persist; synchronous=1 \
                   where power has 2 or 3";
        assert_eq!(found(&settings, OWN_DURABILITY), Some(own));
    }
}

#[test]
fn berkeley_db_without_transactions_is_the_tier_none_and_says_so_in_others() {
    if !here("berkeleydb") {
        return;
    }
    let off = [("DB_INIT_TXN", "OFF")];
    let own = |tier| opened("berkeleydb", tier, &off).unwrap();
    let none = own(Durability::None);
    assert_eq!(none, opened("berkeleydb", Durability::None, &[]).unwrap());
    assert_eq!(found(&none, OWN_DURABILITY), None);
    let process = own(Durability::Process);
    let says = "DB_INIT_TXN=off where process has on";
    assert_eq!(found(&process, OWN_DURABILITY), Some(says));
    assert_eq!(found(&process, "DB_INIT_LOG"), Some("off"));
    let on = opened("berkeleydb", Durability::None, &[("DB_INIT_TXN", "ON")]).unwrap();
    assert_eq!((found(&on, "DB_INIT_LOG"), found(&on, OWN_DURABILITY)), (Some("on"), None));

    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut options = OpenOptions::new(folder.path(), Durability::Process, 32 << 20);
    options.settings.push(("DB_INIT_TXN".to_owned(), "OFF".to_owned()));
    let mut store = registry::find("berkeleydb").unwrap().open(&options).unwrap().store;
    let refused = store.lifecycle().crash_on_close().unwrap_err();
    assert!(refused.is_unsupported() && refused.to_string().contains("without transactions"));
    let refused = store.lifecycle().open_client().err().unwrap();
    assert!(refused.is_unsupported() && refused.to_string().contains("one client"), "{refused}");
    store.close().unwrap();
}

#[test]
fn each_can_have_its_own_defaults_in_every_tier() {
    let mut with = Vec::new();
    let engines = ENGINES.iter().filter(|engine| engine.settings().defaults().next().is_some());
    for engine in sampled(engines.filter(|engine| is_here(**engine)), 2) {
        let (id, settings) = (engine.info().id, engine.settings());
        let defaults: Vec<_> = settings.defaults().collect();
        with.push(id);
        assert_eq!(settings.check(defaults.iter().copied()), Ok(()), "{id}");
        for tier in Durability::ALL {
            if let Tier::Offered { .. } = engine.tier(tier) {
                let opened = opened(id, tier, &defaults);
                assert!(opened.is_ok(), "{id} {tier}: {:?}", opened.err());
            }
        }
    }
    println!("with defaults: {}", with.join(", "));
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest_or_in_the_engines_words() {
    if here("sqlite") {
        let settings = registry::find("sqlite").unwrap().settings();
        let error = settings.check([("jornal_mode", "WAL")]).unwrap_err();
        assert!(error.contains("did you mean 'journal_mode'?"), "{error}");
        // ROLLBACK would be undefined.
        let error = settings.check([("journal_mode", "OFF")]).unwrap_err();
        assert!(error.contains("unknown value 'OFF'"), "{error}");
    }
    let cases = [
        ("duckdb", "treads", "threads"),
        ("postgres", "work_men", "unrecognized configuration parameter"),
        ("mariadb", "sort_bufer_size", "unknown variable"),
        ("valkey", "maxmemory-polici", "maxmemory-polici"),
        ("rocksdb", "max_background_job", "max_background_job"),
    ];
    for (id, name, says) in sampled(cases.into_iter().filter(|(id, ..)| here(id)), 2) {
        let engine = registry::find(id).unwrap();
        assert_eq!(engine.settings().check([(name, "1")]), Ok(()), "{id} is asked itself");
        let error = opened(id, Durability::Power, &[(name, "1")]).unwrap_err().to_string();
        assert!(error.contains(says), "{id}: {error}");
    }
}

#[test]
fn what_is_left_to_an_engine_is_read_back_as_its_own() {
    let cases = [
        ("duckdb", &[("preserve_insertion_order", "true"), ("default_block_size", "262144")][..]),
        (
            "rocksdb",
            &[
                ("write_buffer_size", "67108864"),
                ("max_bytes_for_level_base", "268435456"),
                ("target_file_size_base", "67108864"),
                ("bytes_per_sync", "0"),
                ("block_size", "4096"),
                ("filter_policy", "nullptr"),
            ],
        ),
        (
            "wiredtiger",
            &[
                ("cache_size", "100MB"),
                ("checkpoint_sync", "true"),
                ("leaf_page_max", "32768 (as set)"),
            ],
        ),
        (
            "mongodb",
            &[("writeConcern", "default (as set)"), ("journal before acknowledgement", "false")],
        ),
    ];
    for (id, left) in sampled(cases.into_iter().filter(|(id, _)| here(id)), 2) {
        let settings = registry::find(id).unwrap().settings();
        let defaults: Vec<_> = settings.defaults().collect();
        let theirs = opened(id, Durability::Process, &defaults).unwrap();
        let ours = opened(id, Durability::Process, &[]).unwrap();
        for (name, value) in left {
            assert_eq!(found(&theirs, name), Some(*value), "{id} {name}: {theirs:?}");
            assert_ne!(found(&ours, name), Some(*value), "{id} {name} is set anyway");
        }
    }
    if here("duckdb") {
        // Four fifths of the machine's memory, in words.
        let left = [("memory_limit", "default")];
        let [theirs, ours] = [&left[..], &[]].map(|given| {
            let settings = opened("duckdb", Durability::Process, given).unwrap();
            found(&settings, "memory_limit").unwrap().to_owned()
        });
        assert!(theirs != ours && theirs.contains("GiB"), "{theirs}, ours {ours}");
    }
}

#[test]
fn threads_of_a_configuration_stay_whatever_kind_of_statement_follows() {
    for id in ["duckdb", "parquet"].into_iter().filter(|id| here(id)) {
        let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let mut options = OpenOptions::new(folder.path(), Durability::Process, 32 << 20);
        options.settings.push(("threads".to_owned(), "3".to_owned()));
        let mut opened = registry::find(id).unwrap().open(&options).unwrap();
        let Store::Sql(sql) = &mut opened.store else { panic!("{id}: no SQL") };
        let query = "SELECT value FROM duckdb_settings() WHERE name = 'threads'";
        let threads = sql.prepare(query).unwrap();
        for kind in [QueryKind::Point, QueryKind::Analytic, QueryKind::Point] {
            sql.expect(kind).unwrap();
            let mut found = None;
            let mut see = |row: &dyn embermark_engines::sql::ResultRow| {
                found = row.text(0)?.map(str::to_owned);
                Ok(())
            };
            sql.query(threads, &[], &mut see).unwrap();
            assert_eq!(found.as_deref(), Some("3"), "{id} {kind:?}");
        }
        if id == "duckdb" {
            // A program in another language leaves them, too.
            let connection = sql.connection().unwrap();
            let is_left = |kind| connection.contains(&(kind, String::new()));
            assert!(is_left("point") && is_left("analytic"), "{connection:?}");
        }
        opened.store.close().unwrap();
    }
}

/// Counting takes a mutex of the process at each allocation. Nothing else uses SQLite in this
/// process.
#[test]
fn sqlite_does_not_count_its_memory() {
    if here("sqlite") {
        let settings = opened("sqlite", Durability::Process, &[]).unwrap();
        assert_eq!(found(&settings, "SQLITE_CONFIG_MEMSTATUS"), Some("0"));
    }
}

#[test]
fn defaults_that_keep_less_than_a_tier_say_so() {
    let cases = [
        ("wiredtiger", Durability::Process, "transaction_sync.enabled=false"),
        ("wiredtiger", Durability::Power, "transaction_sync.enabled=false"),
        ("mongodb", Durability::Process, "journal before acknowledgement=false"),
        ("mongodb", Durability::Power, "writeConcern=default"),
    ];
    for (id, tier, says) in sampled(cases.into_iter().filter(|(id, ..)| here(id)), 2) {
        let settings = registry::find(id).unwrap().settings();
        let defaults: Vec<_> = settings.defaults().collect();
        let own = opened(id, tier, &defaults).unwrap();
        let own_durability = found(&own, OWN_DURABILITY);
        assert!(own_durability.is_some_and(|own| own.contains(says)), "{id} {tier}: {own:?}");
        let none = opened(id, Durability::None, &defaults).unwrap();
        assert_eq!(found(&none, OWN_DURABILITY), None, "{id}: nothing is promised");
    }
}

/// For each engine, what weakens its tier while it is open.
const WEAKENING: [(&str, Durability, &str); 4] = [
    ("sqlite", Durability::Power, "PRAGMA synchronous = OFF"),
    ("postgres", Durability::Power, "SET synchronous_commit = off"),
    ("mariadb", Durability::Process, "SET GLOBAL innodb_flush_log_at_trx_commit = 0"),
    ("duckdb", Durability::Power, "SET fsync_mode = 'none'"),
];

#[test]
fn what_servers_without_sql_keep_a_tier_by_can_be_asked_again() {
    let ids = ["mongodb", "influxdb", "harperdb", "valkey"].into_iter().filter(|id| here(id));
    let tiers = [Durability::Process, Durability::Power];
    for (id, tier) in sampled(ids.flat_map(|id| tiers.map(|tier| (id, tier))), 3) {
        let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let options = OpenOptions::new(folder.path(), tier, 256 << 20);
        let mut opened = registry::find(id).unwrap().open(&options).unwrap();
        let again = opened.store.lifecycle().tier_settings().unwrap();
        assert!(!again.is_empty(), "{id} {tier}");
        for pair in &again {
            assert!(opened.settings.contains(pair), "{id}: {pair:?} in {:?}", opened.settings);
        }
        opened.store.close().unwrap();
    }
}

#[test]
fn a_tier_that_is_weakened_while_it_is_open_shows_in_the_settings_that_are_asked_again() {
    for (id, tier, weaken) in sampled(WEAKENING.into_iter().filter(|(id, ..)| here(id)), 2) {
        let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let options = OpenOptions::new(folder.path(), tier, 32 << 20);
        let opened = registry::find(id).unwrap().open(&options).unwrap();
        let mut store = opened.store;
        let before = store.lifecycle().tier_settings().unwrap();
        for pair in &before {
            assert!(opened.settings.contains(pair), "{id}: {pair:?} in {:?}", opened.settings);
        }
        let Store::Sql(sql) = &mut store else { panic!("{id}: no SQL") };
        // DuckDB has the setting since version 2.
        match sql.batch(weaken) {
            Err(error) if id == "duckdb" => println!("{error}"),
            done => {
                done.unwrap();
                assert_ne!(store.lifecycle().tier_settings().unwrap(), before, "{id}");
            }
        }
        store.close().unwrap();
    }
}
