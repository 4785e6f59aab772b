//! A private server that acts as a user's server, and what its owner asks it: the package of a
//! release has no client program.

use embermark_engines::sql::SqlStore;
use embermark_model::Durability;
use tempfile::TempDir;

use super::POSTGRES;
use crate::server::readings::one_int;
use crate::server::{given, sql};

/// Returns the URL of a private server.
pub fn url_of(dir: &TempDir) -> String {
    let socket = dir.path().join("server/run").to_str().unwrap().replace('/', "%2F");
    format!("postgres://postgres@{socket}/postgres")
}

/// Runs statements on a separate connection.
pub fn run(url: &str, statements: &str) {
    by(url, |store| store.batch(statements).unwrap());
}

/// Returns the number that a query returns, on a separate connection.
pub fn ask(url: &str, query: &str) -> Option<i64> {
    by(url, |store| one_int(store, query).unwrap())
}

fn by<T>(url: &str, work: impl FnOnce(&mut dyn SqlStore) -> T) -> T {
    let mut store = sql(POSTGRES.open(&given(url, Durability::None)).store);
    let done = work(&mut *store);
    store.close().unwrap();
    done
}
