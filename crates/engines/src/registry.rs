//! Every engine this build knows: one line each.

use embermark_model::choice::{self, UnknownName};

use crate::{Engine, Kind};

/// Every engine of this build, in the order in which tables show them.
pub static ENGINES: &[&dyn Engine] = &[
    #[cfg(feature = "sqlite")]
    &crate::sqlite::Sqlite,
    #[cfg(feature = "duckdb")]
    &crate::duckdb::DuckDb,
    #[cfg(feature = "berkeleydb")]
    &crate::berkeleydb::BerkeleyDb,
    #[cfg(feature = "lmdb")]
    &crate::lmdb::Lmdb,
    #[cfg(feature = "leveldb")]
    &crate::leveldb::LevelDb,
    #[cfg(feature = "rocksdb")]
    &crate::rocksdb::RocksDb,
    #[cfg(feature = "redb")]
    &crate::redb::Redb,
    #[cfg(feature = "wiredtiger")]
    &crate::wiredtiger::WiredTiger,
    #[cfg(feature = "zen")]
    &crate::zen::Zen,
    #[cfg(feature = "postgres")]
    &crate::postgres::Postgres,
    #[cfg(feature = "mariadb")]
    &crate::mariadb::MariaDb,
    #[cfg(feature = "mongodb")]
    &crate::mongodb::MongoDb,
    #[cfg(feature = "influxdb")]
    &crate::influxdb::InfluxDb,
    #[cfg(feature = "harperdb")]
    &crate::harperdb::HarperDb,
    &crate::memory::Memory,
    &crate::null::Null,
];

/// The engine of that id.
///
/// # Errors
/// When there is none; the error names the nearest and all valid ids.
pub fn find(id: &str) -> Result<&'static dyn Engine, UnknownName> {
    ENGINES
        .iter()
        .find(|engine| engine.info().id == id)
        .copied()
        .ok_or_else(|| choice::unknown("engine", id, ENGINES.iter().map(|e| e.info().id)))
}

/// The engines a word of `--engines` stands for: an id, `embedded` (with the reference `memory`),
/// `servers`, or `all`.
///
/// # Errors
/// When it is no such word; the error names the nearest and all valid ones.
pub fn select(word: &str) -> Result<Vec<&'static dyn Engine>, UnknownName> {
    let chosen = |wanted: &[Kind]| {
        let of_kind = |e: &&&dyn Engine| wanted.contains(&e.info().kind) && e.info().id != "null";
        ENGINES.iter().filter(of_kind).copied().collect()
    };
    Ok(match word {
        "all" => chosen(&[Kind::Embedded, Kind::Server, Kind::Reference]),
        "embedded" => chosen(&[Kind::Embedded, Kind::Reference]),
        "servers" => chosen(&[Kind::Server]),
        id => vec![find(id).map_err(|mut unknown| {
            unknown.valid.extend(["all", "embedded", "servers"].map(String::from));
            unknown
        })?],
    })
}

/// Lines of code of each adapter, counted by the build script: of `src/ID.rs` and of what is below
/// `src/ID`, without blank lines, lines of comments alone and modules for tests; the shim in C of an
/// engine that has one among them.
static ADAPTER_LINES: &[(&str, u32)] = include!(concat!(env!("OUT_DIR"), "/adapter_lines.rs"));

/// Lines of code of an engine's own adapter: not those that engines share. `None` where this build
/// has no such engine.
pub fn adapter_lines(id: &str) -> Option<u32> {
    let known = ENGINES.iter().any(|engine| engine.info().id == id);
    ADAPTER_LINES.iter().find(|(name, _)| known && *name == id).map(|(_, lines)| *lines)
}

#[cfg(test)]
#[path = "../build/lines.rs"]
mod lines;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Info;

    #[test]
    fn every_adapter_has_a_plausible_number_of_lines_and_what_is_no_engine_none() {
        for engine in ENGINES {
            let Info { id, kind, .. } = engine.info();
            let lines = adapter_lines(id).unwrap();
            assert!(lines > if kind == Kind::Reference { 50 } else { 100 }, "{id}: {lines}");
            assert!(lines < 5_000, "{id}: {lines}");
        }
        assert_eq!((adapter_lines("kv"), adapter_lines("memori")), (None, None));
    }

    #[test]
    fn lines_are_counted_without_blanks_comments_and_modules_for_tests() {
        let text = "//! A module.\n\nuse a::b; // counts\n\n/// Says why.\nfn f() {\n    // why\n    \
                    g()\n}\n\n#[cfg(test)]\nfn h() {}\n\n#[cfg(test)]\nmod tests {\n    fn t() {\n        \
                    u();\n    }\n}\n\n#[cfg(test)]\n#[path = \"x.rs\"]\nmod more;\nfn last() {}\n";
        assert_eq!(lines::rust(text), (7, vec!["more"]));
        let text =
            "/* one\n   two\n*/ int a; /* three */\n\n// four\n/* five */ int b;\nint c; // six\n";
        assert_eq!(lines::c(text), 3);
    }

    #[test]
    fn ids_are_unique_and_found() {
        for (i, engine) in ENGINES.iter().enumerate() {
            let id = engine.info().id;
            assert!(ENGINES[..i].iter().all(|other| other.info().id != id), "{id} twice");
            assert_eq!(find(id).map(|found| found.info().id), Ok(id));
        }
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
