//! PostgreSQL beyond what every server and every SQL engine must do.
mod client;
mod external;
mod load;
mod owner;
mod timescaledb;
mod values;

use std::fs;

use embermark_engines::sql::{Access, Param, SqlStore};
use embermark_model::Durability;
use tempfile::TempDir;

use crate::server::ServerEngine;
use crate::server::owner::Owner;
use crate::server::readings::{counts_checkpoints, one_int};

const POSTGRES: ServerEngine = ServerEngine("postgres");

#[test]
fn values_results_lost_connections_and_loads_that_are_given_up() {
    POSTGRES.each_on_one(
        Durability::None,
        &[
            (
                "a connection that was ended is told and can be made again",
                client::ended_connections_are_told,
            ),
            (
                "a connection that is lost with rows under way is an error and is made anew",
                client::lost_connections_are_made_anew,
            ),
            (
                "a statement answers alike whether its rows are few or many",
                client::statements_answer_alike,
            ),
            (
                "a visitor that stops leaves a connection that answers, in its transaction too",
                client::visitors_may_stop,
            ),
            (
                "numbers of any width and JSON are read, and others are refused by name",
                values::numbers_and_json_are_read,
            ),
            ("integers come back as they went, at their extremes too", values::integers_come_back),
            (
                "doubles come back bit by bit, and so do those that are no numbers",
                values::doubles_come_back,
            ),
            (
                "texts come back, empty or long, and other types are read by the server",
                values::texts_come_back,
            ),
            (
                "parameters that do not fit are an error that ends the transaction and no more",
                values::misfits_end_their_transaction,
            ),
            (
                "an answer that overflows is unsupported and no failure",
                values::overflows_are_unsupported,
            ),
            (
                "a load that is given up midway stores nothing, and the store goes on",
                load::loads_may_be_given_up,
            ),
        ],
    );
}

#[test]
fn errors_checkpoints_bulk_loads_conflicts_and_users_with_few_rights() {
    POSTGRES.each_on_one(
        Durability::Process,
        &[
            ("an error ends its transaction, and the store goes on", errors_end_their_transaction),
            ("a checkpoint that is asked for is counted", |store, _| {
                counts_checkpoints(store, "CHECKPOINT");
            }),
            (
                "a bulk load is one commit that writes next to no log",
                load::bulk_loads_write_next_to_no_log,
            ),
            (
                "a conflict with another client is tried again outside of a transaction",
                external::conflicts_are_tried_again,
            ),
            (
                "a user with a password and few rights is let in by it alone",
                external::passwords_let_in,
            ),
            // The last one, because it takes rights from everybody.
            ("what a server lacks is found out and done without", external::lacks_are_found_out),
        ],
    );
}

fn errors_end_their_transaction(store: &mut dyn SqlStore, _: &TempDir) {
    let insert = store.prepare("INSERT INTO readings VALUES ($1, $2, $3, $4)").unwrap();
    let row = [Param::Int(1), Param::Int(2), Param::Null, Param::Text("x")];
    store.begin(Access::Write).unwrap();
    assert_eq!(store.run(insert, &row).unwrap(), 1);
    let error = store.run(insert, &row).unwrap_err().to_string();
    assert!(error.starts_with("postgres could not run `INSERT INTO readings"), "{error}");
    assert!(error.contains("23505") && error.contains("already exists"), "{error}");
    assert_eq!(one_int(store, "SELECT count(*) FROM readings").unwrap(), Some(0));
    store.begin(Access::Read).unwrap();
    assert!(store.run(insert, &row).unwrap_err().to_string().contains("read-only"));
    store.begin(Access::Write).unwrap();
    store.run(insert, &row).unwrap();
    store.commit().unwrap();
    assert_eq!(one_int(store, "SELECT count(*) FROM readings").unwrap(), Some(1));
}

#[test]
fn a_new_cluster_is_a_copy_of_a_template_that_is_made_once() {
    if !POSTGRES.is_here() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("cache");
    let identifiers = ["first", "second"].map(|name| {
        let database = dir.path().join(name);
        Owner::start(POSTGRES, &database, None, &[("XDG_CACHE_HOME", &cache)]).kill();
        let server = database.join("server");
        assert!(!server.join("first").exists(), "where the template was made is removed");
        // It begins with the number that initdb gives to each new cluster
        // (src/include/catalog/pg_control.h).
        fs::read(server.join("data/global/pg_control")).unwrap()[..8].to_owned()
    });
    assert_eq!(identifiers[0], identifiers[1]);
    let templates = fs::read_dir(cache.join("embermark/templates")).unwrap();
    let templates: Vec<_> = templates.map(|entry| entry.unwrap().path()).collect();
    let [template] = &templates[..] else { panic!("{templates:?}") };
    assert_eq!(fs::read(template.join("global/pg_control")).unwrap()[..8], identifiers[0]);
    assert!(!template.join("postmaster.pid").exists());
}
