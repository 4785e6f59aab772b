//! Parquet files in folders, queried by DataFusion: an engine of embermark in a shared library,
//! with the interface of `embermark_engine.h`.
//!
//! ```sh
//! make datafusion
//! embermark verify datafusion --engine-library .deps/datafusion/libembermark_datafusion.so
//! ```
//!
//! Each table is a folder, and each commit a file in it, as in embermark's own engine `parquet`,
//! which queries through DuckDB. Rows can only be added.

mod client;
mod columns;
mod database;
mod dialect;
mod failure;
mod folder;
mod load;
mod rows;
mod settings;
mod statement;
mod table;
mod transaction;
mod write;

use std::mem::size_of;
use std::ptr;

use embermark_abi as abi;

/// Version of the crate `datafusion`, as pinned in `Cargo.toml`.
const VERSION: &std::ffi::CStr = c"55.2.0";

static SQL: abi::Sql = abi::Sql {
    size: size_of::<abi::Sql>() as u32,
    wants: 0,
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
    bulk: Some(load::bulk),
};

static ENGINE: abi::Engine = abi::Engine {
    size: size_of::<abi::Engine>() as u32,
    abi: abi::ABI,
    id: c"datafusion".as_ptr(),
    name: c"Parquet files by DataFusion".as_ptr(),
    version: VERSION.as_ptr(),
    licence: c"Apache-2.0".as_ptr(),
    family: abi::SQL,
    flags: abi::AUTOCOMMIT | abi::READS_BATCH | abi::APPENDS_ONLY,
    tiers: &raw const settings::TIERS[0],
    settings: &raw const settings::SETTINGS[0],
    key_value: ptr::null(),
    open: Some(client::open),
    close: Some(client::close),
    error: Some(client::error),
    open_client: None,
    settings_of: Some(client::settings_of),
    maintain: Some(client::maintain),
    log_bytes: None,
    crash_on_close: None,
    suspend_checkpoints: None,
    check: None,
    check_name: ptr::null(),
    exclusive:
        c"one process names the files of a folder, and this library does not see another's files"
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
