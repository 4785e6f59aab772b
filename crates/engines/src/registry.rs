//! Every engine of this build, one line each, and engines from added libraries.

use std::sync::{PoisonError, RwLock};

use embermark_model::choice::{self, UnknownName};

use crate::{Engine, Kind};

/// Every engine of this build, in the order of tables.
pub static ENGINES: &[&dyn Engine] = &[
    #[cfg(feature = "sqlite")]
    &crate::sqlite::ENGINE,
    #[cfg(feature = "duckdb")]
    &crate::duckdb::ENGINE,
    #[cfg(feature = "firebird")]
    &crate::firebird::ENGINE,
    #[cfg(feature = "berkeleydb")]
    &crate::berkeleydb::ENGINE,
    #[cfg(feature = "lmdb")]
    &crate::lmdb::ENGINE,
    #[cfg(feature = "mdbx")]
    &crate::mdbx::ENGINE,
    #[cfg(feature = "leveldb")]
    &crate::leveldb::ENGINE,
    #[cfg(feature = "rocksdb")]
    &crate::rocksdb::ENGINE,
    #[cfg(feature = "fjall")]
    &crate::fjall::ENGINE,
    #[cfg(feature = "redb")]
    &crate::redb::ENGINE,
    #[cfg(feature = "wiredtiger")]
    &crate::wiredtiger::ENGINE,
    #[cfg(feature = "parquet")]
    &crate::parquet::ENGINE,
    #[cfg(feature = "hybrid")]
    &crate::hybrid::HYBRID_LMDB,
    #[cfg(feature = "hybrid")]
    &crate::hybrid::HYBRID_BERKELEY_DB,
    #[cfg(feature = "zen")]
    &crate::zen::ENGINE,
    #[cfg(feature = "postgres")]
    crate::postgres::ENGINE,
    #[cfg(feature = "postgres")]
    &crate::postgres::timescaledb::TimescaleDb,
    #[cfg(feature = "mariadb")]
    crate::mariadb::ENGINE,
    #[cfg(feature = "mongodb")]
    crate::mongodb::ENGINE,
    #[cfg(feature = "valkey")]
    crate::valkey::ENGINE,
    #[cfg(feature = "influxdb")]
    crate::influxdb::ENGINE,
    #[cfg(feature = "harperdb")]
    crate::harperdb::ENGINE,
    &crate::memory::ENGINE,
    &crate::null::ENGINE,
];

/// [`ENGINES`], followed by appended engines.
static KNOWN: RwLock<&[&dyn Engine]> = RwLock::new(ENGINES);

/// Returns every engine of this process: those of this build, followed by those of added
/// [libraries](crate::engine_library).
pub fn all() -> &'static [&'static dyn Engine] {
    *KNOWN.read().unwrap_or_else(PoisonError::into_inner)
}

/// Adds an engine. Its id must be new.
#[cfg(feature = "engine-library")]
pub(crate) fn append(engine: &'static dyn Engine) {
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    // The shorter list can be in use for as long as the process lives.
    *known = [*known, &[engine]].concat().leak();
}

/// Returns the engine with this id.
///
/// # Errors
/// Fails when no engine has this id. The error names the nearest id and lists all.
pub fn find(id: &str) -> Result<&'static dyn Engine, UnknownName> {
    let found = all().iter().find(|engine| engine.info().id == id).copied();
    found.ok_or_else(|| choice::unknown("engine", id, all().iter().map(|e| e.info().id)))
}

/// Returns the number of lines of code in an engine's own module, without comments and tests. Code
/// that it shares with other engines is not counted. `None` if the engine has no module of its own.
pub fn adapter_lines(id: &str) -> Option<u32> {
    let counted = env!("ADAPTER_LINES").split(' ').filter_map(|counted| counted.split_once('='));
    let (_, lines) = counted.into_iter().find(|(module, _)| *module == id)?;
    lines.parse().ok()
}

/// Words of `--engines` that mean several engines.
pub const GROUPS: [&str; 3] = ["all", "embedded", "servers"];

/// Returns the engines that a word of `--engines` means: an id, `embedded` (including the reference
/// `memory`), `servers`, or `all`. An engine that only runs on a given server must be named.
///
/// # Errors
/// Fails for an unknown word. The error names the nearest word and lists all.
pub fn select(word: &str) -> Result<Vec<&'static dyn Engine>, UnknownName> {
    let chosen = |wanted: &[Kind]| {
        let is_chosen = |e: &dyn Engine| !e.is_given() && e.info().id != "null";
        let of_kind = |e: &&&dyn Engine| wanted.contains(&e.info().kind) && is_chosen(**e);
        all().iter().filter(of_kind).copied().collect()
    };
    Ok(match word {
        "all" => chosen(&[Kind::Embedded, Kind::Server, Kind::Reference]),
        "embedded" => chosen(&[Kind::Embedded, Kind::Reference]),
        "servers" => chosen(&[Kind::Server]),
        id => vec![find(id).map_err(|mut unknown| {
            unknown.valid.extend(GROUPS.map(String::from));
            unknown
        })?],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_found() {
        for (i, engine) in ENGINES.iter().enumerate() {
            let id = engine.info().id;
            assert!(ENGINES[..i].iter().all(|other| other.info().id != id), "{id} twice");
            assert_eq!(find(id).map(|found| found.info().id), Ok(id));
        }
    }

    #[test]
    fn every_candidate_is_of_settings_that_its_engine_takes_and_says_what_it_trades_and_where_it_is_from()
     {
        for engine in ENGINES {
            let (id, settings) = (engine.info().id, engine.settings());
            for candidate in settings.candidates {
                let set = candidate.set.iter().copied();
                assert_eq!(settings.check(set), Ok(()), "{id}");
                assert!(candidate.manual.starts_with("http"), "{id}: {:?}", candidate.set);
                assert!(!candidate.trades.is_empty(), "{id}: {:?}", candidate.set);
            }
        }
    }

    #[test]
    #[cfg(all(feature = "sqlite", feature = "lmdb", feature = "rocksdb", feature = "berkeleydb"))]
    fn settings_are_written_as_a_program_takes_them() {
        let lines = |id: &str, set: &[(&'static str, &'static str)]| {
            let of = find(id).unwrap().settings();
            of.in_a_program(set.iter().copied())[1..].to_vec()
        };
        assert_eq!(
            lines(
                "sqlite",
                &[("journal_mode", "WAL"), ("page_size", "8192"), ("synchronous", "2")]
            ),
            ["PRAGMA page_size = 8192;", "PRAGMA synchronous = 2;", "PRAGMA journal_mode = WAL;"]
        );
        assert_eq!(
            lines("lmdb", &[("MDB_NORDAHEAD", "on"), ("MDB_WRITEMAP", "OFF")]),
            ["flags &= ~MDB_WRITEMAP;", "flags |= MDB_NORDAHEAD;"]
        );
        assert_eq!(
            lines("rocksdb", &[("recycle_log_file_num", "4"), ("block_size", "4096")]),
            ["recycle_log_file_num=4;block_based_table_factory={block_size=4096;}"]
        );
        assert_eq!(
            lines("berkeleydb", &[("set_lg_max", "1048576"), ("DB_TXN_NOSYNC", "ON")]),
            ["set_flags DB_TXN_NOSYNC on", "set_lg_max 1048576"]
        );
        assert_eq!(
            lines("berkeleydb", &[("DB_LOG_ZERO", "1"), ("DB_LOG_AUTO_REMOVE", "OFF")]),
            ["log_set_config DB_LOG_AUTO_REMOVE off", "log_set_config DB_LOG_ZERO on"]
        );
    }

    #[test]
    fn groups_hold_their_kind_and_an_unknown_word_is_answered_with_the_valid_ones() {
        let ids = |word| select(word).unwrap().iter().map(|e| e.info().id).collect::<Vec<_>>();
        assert!(ids("embedded").contains(&"memory") && !ids("all").contains(&"null"));
        assert_eq!(ids("null"), ["null"]);
        let error = select("memori").err().unwrap().to_string();
        assert!(error.contains("did you mean 'memory'?") && error.contains("servers"), "{error}");
    }
}
