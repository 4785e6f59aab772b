//! Tests of every engine by what its kind promises.

#![allow(clippy::unwrap_used, reason = "a test has nobody to hand an error to")]

mod deps;
mod document;
#[cfg(feature = "harperdb")]
mod harperdb;
mod indexes;
#[cfg(feature = "influxdb")]
mod influxdb;
mod integrity;
mod join;
mod kv;
mod kv_killed;
#[cfg(feature = "mariadb")]
mod mariadb;
#[cfg(feature = "mariadb")]
mod mariadb_client;
mod memory;
#[cfg(feature = "mongodb")]
mod mongodb;
mod outside;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "postgres")]
mod postgres;
mod ranges;
mod reopen;
mod scopes;
mod server;
#[cfg(feature = "server")]
mod servers;
mod settings;
mod sql;
mod stores;
#[cfg(all(feature = "postgres", feature = "mariadb"))]
mod together;
#[cfg(feature = "valkey")]
mod valkey;
#[cfg(feature = "zen")]
mod zen;
