//! The settings that the server runs with.

use super::NAME;
use super::session::Session;
use embermark_model::Durability;

use crate::server::engine::ReadBack;
use crate::settings::lines;
use crate::{Candidate, EngineError, OpenOptions, Result, Setting, SettingValues, Settings};

/// Variables that decide durability and speed, in the order in which they are shown.
const NAMES: &str = "\
    innodb_flush_log_at_trx_commit innodb_flush_log_at_timeout innodb_doublewrite \
    innodb_flush_method innodb_log_file_buffering innodb_log_file_size innodb_io_capacity \
    innodb_max_dirty_pages_pct_lwm innodb_read_ahead_threshold log_bin sync_binlog \
    innodb_buffer_pool_size innodb_log_buffer_size innodb_page_size \
    aria_pagecache_buffer_size key_buffer_size \
    tmp_table_size max_heap_table_size sort_buffer_size join_buffer_size query_cache_type \
    performance_schema tx_isolation sql_mode collation_connection max_connections \
    skip_networking max_allowed_packet";

/// Every option of the server with a variable of its name
/// (<https://mariadb.com/kb/en/server-system-variables/>). The server refuses to start with an
/// unknown one. Those that are set here also have MariaDB's default.
pub(super) const SETTINGS: Settings = Settings {
    known: &[
        Setting::new("innodb_flush_log_at_trx_commit", SettingValues::Any).by_default("1"),
        Setting::new("innodb_flush_log_at_timeout", SettingValues::Any).by_default("1"),
        Setting::new("innodb_doublewrite", SettingValues::Any).by_default("ON"),
        Setting::new("innodb_flush_method", SettingValues::Any).by_default("O_DIRECT"),
        Setting::new("innodb_buffer_pool_size", SettingValues::Any).by_default("128M"),
        Setting::new("tmp_table_size", SettingValues::Any).by_default("16M"),
        Setting::new("max_heap_table_size", SettingValues::Any).by_default("16M"),
        Setting::new("aria_pagecache_buffer_size", SettingValues::Any).by_default("128M"),
        Setting::new("key_buffer_size", SettingValues::Any).by_default("128M"),
    ],
    others: Some("options of mariadbd that have a variable"),
    reserved: &[
        ("datadir", OURS),
        ("tmpdir", OURS),
        ("socket", OURS),
        ("pid_file", OURS),
        ("basedir", OURS),
        ("log_error", "embermark reads its log after a failure"),
        ("innodb_data_home_dir", OURS),
        ("innodb_log_group_home_dir", OURS),
        ("port", "embermark chooses a free port"),
        ("bind_address", "only embermark connects to it"),
        ("skip_networking", "only embermark connects to it"),
    ],
    candidates: CANDIDATES,
    written: |set| lines("[mysqld]", set, |name, value| format!("{name} = {value}")),
};

const INNODB: &str = "https://mariadb.com/kb/en/innodb-system-variables/";

const CANDIDATES: &[Candidate] = &[
    Candidate::new(&[("innodb_log_file_size", "268435456")], "a longer recovery", INNODB),
    Candidate::new(&[("innodb_log_buffer_size", "67108864")], "memory", INNODB),
    Candidate::new(&[("innodb_flush_method", "fsync")], "pages are cached twice", INNODB),
    Candidate::new(
        &[("innodb_flush_method", "O_DIRECT")],
        "none if the pool holds the rows",
        INNODB,
    ),
    Candidate::new(&[("innodb_flush_neighbors", "0")], "more writes on a disk that seeks", INNODB),
    Candidate::new(&[("innodb_adaptive_hash_index", "ON")], "memory, and locks on it", INNODB),
    // Since 11.0.
    Candidate::new(
        &[("innodb_log_file_write_through", "ON")],
        "each write of the log is synced",
        INNODB,
    ),
    // Since 11.0.6.
    Candidate::new(
        &[("innodb_doublewrite", "fast")],
        "a power cut may damage a page on file systems that do not sync direct writes",
        INNODB,
    )
    .keeping(Durability::Process),
    Candidate::new(
        &[("innodb_flush_log_at_trx_commit", "2")],
        "a power cut loses what was committed since the log was last synced",
        INNODB,
    )
    .keeping(Durability::Process),
    Candidate::new(
        &[("innodb_doublewrite", "OFF")],
        "a killed server or a power cut may damage a page",
        INNODB,
    )
    .keeping(Durability::None),
];
const OURS: &str = "embermark chooses its folder";

/// Checks that the server accepted a configuration's values. For a value that it cannot parse it
/// warns and uses another.
///
/// # Errors
/// Fails when the server has another value.
fn check(options: &OpenOptions, found: &[(String, String)]) -> Result<()> {
    for (name, value) in &options.settings {
        let back = found.iter().find(|(known, _)| known == name).map(|(_, back)| back);
        if let Some(back) = back.filter(|back| !is(value, back)) {
            let why = format!("it did not accept {name}={value}: it has {back}");
            return Err(EngineError::failed(NAME, "set what its configuration has", why));
        }
    }
    Ok(())
}

/// Returns whether a given value is the one that was read back: a number, which can have a suffix,
/// a switch, a word, or some words of a list.
fn is(given: &str, back: &str) -> bool {
    match number(given) {
        Some(given) => number(back) == Some(given),
        None => back.to_lowercase().contains(&given.to_lowercase()),
    }
}

/// <https://mariadb.com/kb/en/mariadbd-options/>, "Option Prefixes" and suffixes.
fn number(value: &str) -> Option<f64> {
    let value = value.to_ascii_lowercase();
    match value.as_str() {
        "on" | "true" => return Some(1.0),
        "off" | "false" => return Some(0.0),
        _ => {}
    }
    let power = value.chars().last().and_then(|suffix| "kmgt".find(suffix));
    let digits = power.map_or(&*value, |_| &value[..value.len() - 1]);
    let number: f64 = digits.parse().ok()?;
    Some(power.map_or(number, |power| number * 1024_f64.powi(power as i32 + 1)))
}

/// Returns the version, and the settings by name as this session sees them, without those that this
/// version lacks. The client library with its version comes last.
///
/// # Errors
/// Fails also when the server did not accept a configuration's values.
pub(super) fn read_back(session: &mut Session, options: &OpenOptions) -> Result<ReadBack> {
    let doing = "read its settings back";
    let own = options.settings.iter().map(|(name, _)| &**name);
    let names = NAMES.split(' ').chain(own).collect::<Vec<_>>().join("', '");
    let sql = format!("SHOW VARIABLES WHERE Variable_name IN ('version', '{names}')");
    let rows = session.rows(doing, &sql)?;
    let mut found: Vec<(String, String)> = rows.into_iter().map(<[String; 2]>::into).collect();
    let place = |name: &str| NAMES.split(' ').position(|known| known == name);
    let version = found.iter().position(|(name, _)| name == "version");
    let version = version.map(|at| found.swap_remove(at).1).unwrap_or_default();
    if !version.contains("MariaDB") {
        let why = format!("the server is not MariaDB: its version is '{version}'");
        return Err(EngineError::failed(NAME, doing, why));
    }
    found.sort_by_key(|(name, _)| place(name).unwrap_or(usize::MAX));
    let library = &session.connection.library.version;
    found.push(("client library".to_owned(), format!("MariaDB Connector/C {library}")));
    check(options, &found)?;
    let pool = found.iter().find(|(name, _)| name == "innodb_buffer_pool_size");
    let cache = pool.and_then(|(_, bytes)| bytes.parse().ok());
    Ok(ReadBack { version, settings: found, cache })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_comes_back_in_another_form_is_the_same_and_an_adjusted_one_is_not() {
        for (given, back) in [
            ("1M", "1048576"),
            ("2k", "2048"),
            ("on", "1"),
            ("OFF", "OFF"),
            ("0", "0.000000"),
            ("o_direct", "O_DIRECT"),
            ("index_merge=off", "index_merge=off,sort_union=on"),
        ] {
            assert!(is(given, back), "{given} {back}");
        }
        for (given, back) in [("many", "1024"), ("10", "1024"), ("1", "OFF"), ("1G", "1048576")] {
            assert!(!is(given, back), "{given} {back}");
        }
    }
}
