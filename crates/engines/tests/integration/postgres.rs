//! PostgreSQL beyond what every server and every SQL engine must do.
mod client;
mod external;
mod load;
mod owner;
mod timescaledb;
mod values;

use embermark_engines::sql::{Access, Param};
use embermark_model::Durability;

use crate::server::ServerEngine;
use crate::server::readings::{counts_checkpoints, one_int};

const POSTGRES: ServerEngine = ServerEngine("postgres");

#[test]
fn a_checkpoint_that_is_asked_for_is_counted() {
    let Some((_dir, mut store)) = POSTGRES.readings(Durability::Process) else { return };
    counts_checkpoints(&mut *store, "CHECKPOINT");
    store.close().unwrap();
}

#[test]
fn an_error_ends_its_transaction_and_the_store_goes_on() {
    let Some((_dir, mut store)) = POSTGRES.readings(Durability::Process) else { return };
    let insert = store.prepare("INSERT INTO readings VALUES ($1, $2, $3, $4)").unwrap();
    let row = [Param::Int(1), Param::Int(2), Param::Null, Param::Text("x")];
    store.begin(Access::Write).unwrap();
    assert_eq!(store.run(insert, &row).unwrap(), 1);
    let error = store.run(insert, &row).unwrap_err().to_string();
    assert!(error.starts_with("postgres could not run `INSERT INTO readings"), "{error}");
    assert!(error.contains("23505") && error.contains("already exists"), "{error}");
    assert_eq!(one_int(&mut *store, "SELECT count(*) FROM readings").unwrap(), Some(0));
    store.begin(Access::Read).unwrap();
    assert!(store.run(insert, &row).unwrap_err().to_string().contains("read-only"));
    store.begin(Access::Write).unwrap();
    store.run(insert, &row).unwrap();
    store.commit().unwrap();
    assert_eq!(one_int(&mut *store, "SELECT count(*) FROM readings").unwrap(), Some(1));
    store.close().unwrap();
}
