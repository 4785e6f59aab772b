//! A database on a given server.

use super::NAME;
use super::session::Session;
use crate::http::HttpClient;
use crate::{EngineError, OpenOptions, Result};

/// Connects and creates a database, which is dropped at the end. Nothing else on the server is
/// touched.
pub(super) fn connect(url: &str, options: &OpenOptions) -> Result<Session> {
    let mut session = reach(url, &options.guest)?;
    session.set_durability(options.durability);
    session.end()?;
    session.create_database()?;
    session.drop_database = true;
    Ok(session)
}

/// Connects. The database `name` is dropped at the end.
pub(super) fn reach(url: &str, name: &str) -> Result<Session> {
    let client = HttpClient::from_url(NAME, url, name).map_err(|why| {
        let wanted = "give it as http://user:password@host:8086, or without the user; of version 2 as \
                      http://ORGANISATION:TOKEN@host:8086, of version 3 as http://token:TOKEN@host:8181";
        EngineError::failed(NAME, "read its URL", format!("{why}; {wanted}"))
    })?;
    let doing = format!("reach the server at {}", client.address);
    let mut session = Session::connect_to_any(client).map_err(|error| {
        let advice = "is it running, and is it version 1, 2 or 3?";
        EngineError::failed(NAME, doing, format!("{error}; {advice}"))
    })?;
    session.drop_database = true;
    Ok(session)
}
