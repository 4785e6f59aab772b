//! A schema on a given server.

use std::ffi::{CStr, CString};
use std::ptr;

use super::answer::text;
use super::connection::Connection;
use super::features::{Feature, Features};
use super::library::{Libpq, library_for};
use super::session::{Session, settings};
use super::{NAME, tidy};
use crate::{EngineError, OpenOptions, Result};

/// Connects, and creates a schema that is the only one in the search path. Nothing else on the
/// server is touched. Sets the tier's settings that a session can set.
///
/// # Errors
/// Fails when the URL is invalid, the server cannot be reached, or the user may not create schemas.
pub(super) fn connect(url: &str, options: &OpenOptions) -> Result<Session> {
    let (mut connection, schema) = (reach(url)?, &options.guest);
    let features = Features::of_server(&mut connection);
    remove(&mut connection, schema, features)?;
    run(&mut connection, &format!("CREATE SCHEMA {schema}"))?;
    let mut session = Session::new(connection, schema, url, options.durability);
    session.drops_schema = true;
    session.set(settings(schema, options.durability, features))?;
    let features = features.with_tables(&mut session.connection);
    Ok(session.with_features(features))
}

/// Removes the schema of a killed client.
pub(super) fn remove_left(url: &str, schema: &str) -> Result<()> {
    let mut connection = reach(url)?;
    let features = Features::of_server(&mut connection);
    remove(&mut connection, schema, features)
}

/// Ends the connections of a schema's client, which can still hold locks, and drops the schema.
fn remove(connection: &mut Connection, schema: &str, features: Features) -> Result<()> {
    let mut sql = format!("DROP SCHEMA IF EXISTS {schema} CASCADE");
    if features.has(Feature::Sessions) {
        sql = format!(
            "SET lock_timeout = '30s'; SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
             WHERE application_name = '{schema}'; {sql}; RESET lock_timeout"
        );
    }
    run(connection, &sql)
}

fn run(connection: &mut Connection, sql: &str) -> Result<()> {
    connection.run(sql).map(drop).map_err(|e| e.while_doing(format!("run `{sql}`")))
}

fn reach(url: &str) -> Result<Connection> {
    let library = library_for(url)?;
    let place = place(library, url).map_err(|why| {
        let wanted = "give it as postgres://user:password@host:port/database";
        EngineError::failed(NAME, "read its URL", format!("{why}; {wanted}"))
    })?;
    Connection::open(library, url)
        .map_err(|why| EngineError::failed(NAME, format!("connect to {place}"), why))
}

/// Returns what is wrong with a URL for libpq. Without libpq nothing is, and the engine is
/// unavailable.
pub(super) fn check_url(url: &str) -> std::result::Result<(), String> {
    library_for(url).map_or(Ok(()), |library| place(library, url).map(drop))
}

/// Returns the address of the server in a URL, without the user's password.
fn place(library: &Libpq, url: &str) -> std::result::Result<String, String> {
    if let Some((_, rest)) = url.split_once("://")
        && let Some(end) = rest.rfind('@')
        && rest[..end].contains(['@', '/', '?'])
    {
        return Err("in a user's name and password an @ is written %40, a / %2F and a ? %3F".into());
    }
    let url = CString::new(url).map_err(|e| e.to_string())?;
    let api = &library.api;
    let (mut host, mut port) = (String::new(), String::new());
    let mut error = ptr::null_mut();
    // SAFETY: the text is terminated and the out-pointer valid. The result is either a list of
    // options, which ends with one without a name and whose texts are terminated, or an error,
    // which is null or a terminated text. Each is freed once.
    unsafe {
        let options = (api.conninfoParse)(url.as_ptr(), &raw mut error);
        if options.is_null() {
            let why = if error.is_null() { String::new() } else { text(error) };
            (api.freemem)(error.cast());
            return Err(unquoted(&tidy(&why)));
        }
        let mut option = options;
        while !(*option).keyword.is_null() {
            let name = CStr::from_ptr((*option).keyword).to_bytes();
            if !(*option).value.is_null() {
                let value = text((*option).value);
                match name {
                    b"host" | b"hostaddr" if !value.is_empty() => host = value,
                    b"port" => port = value,
                    _ => {}
                }
            }
            option = option.add(1);
        }
        (api.conninfoFree)(options);
    }
    if !port.bytes().all(|byte| byte.is_ascii_digit() || byte == b',') {
        return Err("its port is not a number".to_owned());
    }
    let or = |given: String, usual: &str| if given.is_empty() { usual.to_owned() } else { given };
    Ok(format!("{}, port {}", or(host, "this machine"), or(port, "5432")))
}

/// Returns a message without its quotations of a URL, which can contain a password.
fn unquoted(message: &str) -> String {
    match (message.find('"'), message.rfind('"')) {
        (Some(first), Some(last)) => format!("{}…{}", &message[..first], &message[last + 1..]),
        _ => message.to_owned(),
    }
}
