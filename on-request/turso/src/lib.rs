//! Turso in a shared library: an engine of embermark, with the interface of `embermark_engine.h`.
//!
//! ```sh
//! make turso
//! embermark verify turso --engine-library .deps/turso/libembermark_turso.so
//! ```
//!
//! Turso's own Rust interface has futures, for programs with a runtime. Each of them steps a
//! statement of the core, which that crate exports (`turso::core`). This library steps the core's
//! statements itself, like these futures, and returns rows without copying them.

mod client;
mod database;
mod dialect;
mod statement;
mod tiers;
mod transaction;
mod upkeep;

use std::mem::size_of;
use std::ptr;

use embermark_abi as abi;

/// Version of the crate `turso`, as pinned in `Cargo.toml`.
const VERSION: &std::ffi::CStr = c"0.8.3";

static SQL: abi::Sql = abi::Sql {
    size: size_of::<abi::Sql>() as u32,
    // Its tables are stored by row number, which is the key if that is a single integer.
    wants: abi::BULK_SORTED,
    dialect: &raw const dialect::DIALECT,
    begin: Some(transaction::begin),
    commit: Some(transaction::commit),
    undo: Some(transaction::undo),
    script: Some(statement::script),
    prepare: Some(statement::prepare),
    finish: Some(statement::finish),
    execute: Some(statement::execute),
    query: Some(statement::query),
    fetch: Some(statement::fetch),
    end_query: Some(statement::end_query),
    bulk: Some(statement::bulk),
};

static ENGINE: abi::Engine = abi::Engine {
    size: size_of::<abi::Engine>() as u32,
    abi: abi::ABI,
    id: c"turso".as_ptr(),
    name: c"Turso".as_ptr(),
    version: VERSION.as_ptr(),
    licence: c"MIT".as_ptr(),
    family: abi::SQL,
    flags: abi::AUTOCOMMIT | abi::READS_BATCH,
    tiers: &raw const tiers::TIERS[0],
    settings: ptr::null(),
    key_value: ptr::null(),
    open: Some(database::open),
    close: Some(database::close),
    error: Some(client::error),
    open_client: Some(database::open_client),
    settings_of: Some(database::settings_of),
    maintain: Some(upkeep::maintain),
    log_bytes: Some(upkeep::log_bytes),
    crash_on_close: Some(upkeep::crash_on_close),
    suspend_checkpoints: Some(upkeep::suspend_checkpoints),
    check: Some(upkeep::check),
    check_name: c"PRAGMA integrity_check".as_ptr(),
    exclusive: c"the file is locked by the process that has it open (lock_file in io/unix.rs of turso_core 0.8.3)"
        .as_ptr(),
    sql: &raw const SQL,
};

/// Returns the engine, or null for another version of the interface.
#[unsafe(no_mangle)]
pub extern "C" fn embermark_engine(version: u32) -> *const abi::Engine {
    if version == abi::ABI { &raw const ENGINE } else { ptr::null() }
}

#[cfg(test)]
mod tests;
