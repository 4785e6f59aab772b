//! Adapters of database engines, one module each. Each implements [`Engine`] of
//! `embermark-contract`.
//!
//! The code of an engine is a module and a line in [`registry`]. `docs/adding-an-engine.md` has the
//! rest: manifests, lists of tests, documents.

#[allow(unused_imports, reason = "a build may have no engine that something is fetched for")]
use embermark_libraries::{self as library, deps};

#[cfg(feature = "engine-library")]
pub mod engine_library;
#[allow(dead_code, reason = "each engine needs a part of it")]
mod log_files;
#[allow(dead_code, reason = "each engine needs a part of it")]
mod owned;
#[allow(dead_code, reason = "each engine needs a part of it")]
mod per_table;
#[cfg(any(feature = "leveldb", feature = "engine-library"))]
mod prefixed;
#[cfg(feature = "server")]
mod program;
pub mod registry;

#[cfg(feature = "berkeleydb")]
mod berkeleydb;
#[cfg(feature = "duckdb")]
mod duckdb;
#[cfg(feature = "firebird")]
mod firebird;
#[cfg(feature = "fjall")]
mod fjall;
#[cfg(feature = "harperdb")]
mod harperdb;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "hybrid")]
mod hybrid;
#[cfg(feature = "influxdb")]
mod influxdb;
#[cfg(feature = "leveldb")]
mod leveldb;
#[cfg(feature = "lmdb")]
mod lmdb;
#[cfg(any(feature = "leveldb", feature = "rocksdb"))]
mod lsm;
#[cfg(any(feature = "lmdb", feature = "mdbx"))]
mod mapped;
#[cfg(feature = "mariadb")]
mod mariadb;
#[cfg(feature = "mdbx")]
mod mdbx;
mod memory;
#[cfg(feature = "mongodb")]
mod mongodb;
mod null;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redb")]
mod redb;
mod reference;
#[cfg(feature = "rocksdb")]
mod rocksdb;
#[cfg(feature = "server")]
mod server;
#[cfg(any(
    feature = "sqlite",
    feature = "duckdb",
    feature = "firebird",
    feature = "postgres",
    feature = "mariadb",
    feature = "engine-library"
))]
mod sql_driver;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "valkey")]
mod valkey;
#[cfg(feature = "wiredtiger")]
mod wiredtiger;
#[cfg(feature = "zen")]
mod zen;

pub use embermark_contract::{
    Availability, Background, Candidate, Checked, ClientOpener, ConnectionParameters, DataModel,
    EFFECTIVE_DURABILITY, Embedded, Engine, EngineError, Info, Join, Kind, Lifecycle, Limits, Link,
    OWN_DURABILITY, OpenOptions, Opened, Origin, PATIENCE, Reopener, Result, Scope, Setting,
    SettingValues, Settings, Store, TextOrder, Tier, TierSetting, TierTable, WeakerSettings,
    as_set, document, kv, no_client, retry_if, row, series, settings, sql,
};
