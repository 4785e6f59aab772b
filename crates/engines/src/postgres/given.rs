//! A schema of a server that is given by URL.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use embermark_model::Durability;
use postgres::config::Host;
use postgres::{Config, NoTls};

use super::store::Session;
use super::tier::{self, on_off};
use super::{NAME, failed, message};
use crate::{EngineError, Result};

const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// Connects and makes a schema of our own the only one that is seen; nothing else of the server
/// is touched. The tier's settings that a session may set are set.
///
/// # Errors
/// When the URL is none, the server is not reached, or the user may create no schema.
pub(super) fn connect(url: &str, durability: Durability) -> Result<Session> {
    let mut config: Config = url.parse().map_err(|e| {
        let why = message(&e);
        let wanted = "give it as postgres://user:password@host:port/database";
        EngineError::failed(NAME, "read its URL", format!("{why}; {wanted}"))
    })?;
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_WITHIN);
    }
    config.application_name("embermark");
    let mut client = config.connect(NoTls).map_err(|e| {
        let advice = "is it running, and does its pg_hba.conf let this user in without TLS?";
        EngineError::failed(
            NAME,
            format!("connect to {}", place(&config)),
            message(&e) + "; " + advice,
        )
    })?;
    let schema = format!("embermark_{:016x}", RandomState::new().hash_one(()));
    let sql = format!("CREATE SCHEMA {schema}");
    client.batch_execute(&sql).map_err(|e| failed(format!("run `{sql}`"), &e))?;
    // From here on, dropping the session drops the schema.
    let mut session = Session::with_schema(client, config, schema.clone(), url.to_owned());
    session.set(settings(&schema, durability))?;
    Ok(session)
}

/// What a session in a schema of ours begins with.
pub(super) fn settings(schema: &str, durability: Durability) -> String {
    let commit = on_off(tier::setting(durability).synchronous_commit);
    format!("SET search_path = {schema}; SET synchronous_commit = {commit}; SET timezone = 'UTC'")
}

/// Where the server is, without the user's password.
fn place(config: &Config) -> String {
    let host = config.get_hosts().first().map_or_else(
        || "?".to_owned(),
        |host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        },
    );
    let port = config.get_ports().first().copied().unwrap_or(5432);
    format!("{host}, port {port}")
}
