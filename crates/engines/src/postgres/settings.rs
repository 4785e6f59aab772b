//! The settings that the server runs with.

use super::features::Feature;
use super::session::Session;
use super::tier::TIERS;
use embermark_model::Durability;

use crate::server::engine::ReadBack;
use crate::settings::lines;
use crate::sql::{Nullable, SqlType, TableDef};
use crate::sql_driver::Driver;
use crate::{Candidate, OpenOptions, Result, Setting, SettingValues, Settings};

/// Parameters that decide durability and speed.
const NAMES: &str = "\
    fsync synchronous_commit full_page_writes wal_sync_method wal_level max_wal_senders \
    max_wal_size checkpoint_timeout checkpoint_completion_target shared_buffers work_mem \
    hash_mem_multiplier maintenance_work_mem effective_cache_size random_page_cost autovacuum \
    jit max_parallel_workers_per_gather \
    io_method io_workers effective_io_concurrency \
    max_connections listen_addresses data_checksums server_encoding lc_collate";

/// A table that only shows how tables of the tier are stored.
const PROBE: TableDef = TableDef {
    name: "embermark_probe",
    columns: &[("id", SqlType::Big, Nullable::No)],
    key: &["id"],
};

/// Every parameter of the server (<https://www.postgresql.org/docs/18/runtime-config.html>), which
/// refuses to start with an unknown one. Those that are set here have PostgreSQL's default beside
/// them.
pub(super) const SETTINGS: Settings = Settings {
    known: &[
        Setting::new("fsync", SettingValues::Any).by_default("on"),
        Setting::new("synchronous_commit", SettingValues::Any).by_default("on"),
        Setting::new("full_page_writes", SettingValues::Any).by_default("on"),
        Setting::new("shared_buffers", SettingValues::Any).by_default("128MB"),
        Setting::new("work_mem", SettingValues::Any).by_default("4MB"),
        Setting::new("wal_level", SettingValues::Any).by_default("replica"),
        Setting::new("max_wal_senders", SettingValues::Any).by_default("10"),
        Setting::new("max_wal_size", SettingValues::Any).by_default("1GB"),
        Setting::new("checkpoint_timeout", SettingValues::Any).by_default("5min"),
    ],
    others: Some("parameters of postgresql.conf"),
    reserved: &[
        ("data_directory", OURS),
        ("config_file", OURS),
        ("hba_file", OURS),
        ("ident_file", OURS),
        ("external_pid_file", OURS),
        ("unix_socket_directories", OURS),
        ("unix_socket_permissions", OURS),
        ("listen_addresses", "only embermark connects to it"),
        ("port", "embermark chooses a free port"),
        ("logging_collector", "embermark reads its log after a failure"),
        ("restart_after_crash", "embermark must see a crash"),
    ],
    candidates: CANDIDATES,
    written: |set| lines("# postgresql.conf", set, |name, value| format!("{name} = '{value}'")),
};

const WAL: &str = "https://www.postgresql.org/docs/18/runtime-config-wal.html";
const QUERIES: &str = "https://www.postgresql.org/docs/18/runtime-config-query.html";

const CANDIDATES: &[Candidate] = &[
    Candidate::new(&[("wal_compression", "on")], "processor time for fewer bytes of log", WAL),
    Candidate::new(
        &[("wal_init_zero", "off")],
        "the space of a log is not taken beforehand, so a full disk can stop the server",
        WAL,
    ),
    Candidate::new(&[("wal_recycle", "off")], "a new log file is created when it is needed", WAL),
    Candidate::new(&[("wal_sync_method", "open_datasync")], "each write of the log is synced", WAL),
    Candidate::new(&[("wal_buffers", "16MB")], "memory", WAL),
    Candidate::new(&[("jit", "off")], "long questions are not compiled", QUERIES),
    Candidate::new(
        &[("random_page_cost", "1.1")],
        "indexes are used where a scan would be faster on a disk that seeks",
        QUERIES,
    ),
    Candidate::new(&[("synchronous_commit", "off")], "a killed server loses the last commits", WAL)
        .keeping(Durability::None),
    Candidate::new(
        &[("full_page_writes", "off")],
        "a killed server or a power cut may damage a page",
        WAL,
    )
    .keeping(Durability::None),
];
const OURS: &str = "embermark chooses its folder";

/// Setting of the features that a given server lacks.
const LACKS: &str = "lacks";

/// Returns the version, and the settings by name including those of a configuration. Parameters
/// that this version lacks are left out. The version of libpq comes last.
pub(super) fn read_back(session: &mut Session, options: &OpenOptions) -> Result<ReadBack> {
    let own = options.settings.iter().map(|(name, _)| &**name);
    let own = own.filter(|name| NAMES.split(' ').all(|known| known != *name));
    let names: Vec<&str> = NAMES.split(' ').chain(own).collect();
    let list: Vec<_> =
        names.iter().map(|name| format!("current_setting('{name}', true)")).collect();
    let sql = format!("SELECT {}, current_setting('server_version')", list.join(", "));
    let (mut settings, version): (Vec<_>, _) = match session.connection.run(&sql) {
        Ok(found) => {
            let mut values = found.texts().into_iter().flatten();
            let named = names.iter().zip(&mut values);
            let named = named.filter_map(|(name, value)| Some(((*name).to_owned(), value?)));
            (named.collect(), values.next().flatten().unwrap_or_default())
        }
        // A server with settings of its own, or none.
        Err(_) if options.url.is_some() => {
            let shown = names.iter().filter_map(|name| {
                let value = session.connection.run(&format!("SHOW {name}")).ok()?.first()?;
                Some(((*name).to_owned(), value))
            });
            (shown.collect(), String::new())
        }
        Err(error) => return Err(error.while_doing(format!("run `{sql}`"))),
    };
    if let Some(kept) = persistence(session)? {
        settings.push(("relpersistence".to_owned(), kept));
    }
    if let Ok(found) = session.connection.run("SELECT pg_jit_available()::text") {
        // Whether `jit` has anything to turn on.
        settings.extend(found.first().map(|there| ("pg_jit_available".to_owned(), there)));
    }
    settings.push(("libpq".to_owned(), session.connection.library.version.clone()));
    if let Some(lacks) = session.features.lacking() {
        settings.push((LACKS.to_owned(), lacks));
    }
    let version = if options.url.is_some() { product(session, version)? } else { version };
    let cache = "SELECT pg_size_bytes(current_setting('shared_buffers'))";
    let cache = session.ask_if_known(cache)?.and_then(|found| found.first()?.parse().ok());
    Ok(ReadBack { version, settings, cache })
}

/// Returns the settings that keep the session's tier, as far as the server reports them.
pub(super) fn of_tier(session: &mut Session) -> Result<Vec<(String, String)>> {
    let mut settings = Vec::new();
    for (name, _) in TIERS.for_tier(session.durability).read_back {
        // A given server can lack the parameter, and was asked when it was opened.
        let asked = session.connection.run(&format!("SELECT current_setting('{name}', true)"));
        let value = asked.ok().and_then(|found| found.first());
        settings.extend(value.map(|value| ((*name).to_owned(), value)));
    }
    Ok(settings)
}

/// Returns the version of a given server: PostgreSQL's number, or what it calls itself.
fn product(session: &mut Session, number: String) -> Result<String> {
    let said = session.ask("SELECT version()")?.first().unwrap_or_default();
    let of_its_own = said.strip_prefix("PostgreSQL ").and_then(|rest| rest.strip_prefix(&number));
    // "PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc …"
    let is_postgres = of_its_own.is_some_and(|rest| rest.starts_with(" on "));
    Ok(if is_postgres && !number.is_empty() { number } else { said })
}

/// Returns how a table is stored, by creating one. `None` where the server does not report it.
fn persistence(session: &mut Session) -> Result<Option<String>> {
    if !session.features.has(Feature::Unlogged) {
        return Ok(None);
    }
    session.ask(&format!("BEGIN; {}", session.dialect().create_table(&PROBE)))?;
    let sql = "SELECT relpersistence FROM pg_class WHERE oid = 'embermark_probe'::regclass";
    let kept = session.ask_if_known(sql);
    session.exec(c"ROLLBACK")?;
    Ok(kept?.and_then(|kept| kept.first()).map(|kept| match &*kept {
        "p" => "permanent".to_owned(),
        "u" => "unlogged".to_owned(),
        _ => kept,
    }))
}
