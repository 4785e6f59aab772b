//! A database on a given server.

use super::NAME;
use super::failure::Failure;
use super::library::LIBRARY;
use super::session::Session;
use super::uri::Uri;
use crate::server::address::Address;
use crate::{EngineError, OpenOptions, Result};

/// Connects, and uses only one database, which MongoDB creates with its first collection, and which
/// is dropped with the session.
pub(super) fn connect(url: &str, options: &OpenOptions) -> Result<Session> {
    let mut session = reach(url, &options.guest)?;
    session.remove()?;
    Ok(session)
}

pub(super) fn reach(url: &str, name: &str) -> Result<Session> {
    let (library, address) = (LIBRARY.get()?, Address::Url(url.to_owned()));
    let uri = Uri::new(library, &address).map_err(|why| {
        let wanted = "give it as mongodb://user:password@host:port/?authSource=admin";
        EngineError::failed(NAME, "read its URL", format!("{why}; {wanted}"))
    })?;
    let place = uri.place();
    let could_not = |e: Failure| {
        let advice = "is it running, and may this user read and write any database there?";
        EngineError::failed(NAME, format!("connect to {place}"), format!("{e}; {advice}"))
    };
    Session::new(library, uri, name, address, true).map_err(could_not)
}
