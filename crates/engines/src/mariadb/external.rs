//! A database on a given server.

use super::NAME;
use super::library::LIBRARY;
use super::session::Session;
use super::target::Target;
use crate::server::address::Address;
use crate::{EngineError, OpenOptions, Result};

/// Connects, and creates a database that is dropped at the end. Nothing else on the server is
/// touched.
///
/// # Errors
/// Fails when the URL is invalid, the server cannot be reached, or the user may not create
/// databases.
pub(super) fn connect(url: &str, options: &OpenOptions) -> Result<Session> {
    let session = reach(url)?;
    session.remove(&options.guest)?;
    session.create(&options.guest, true)
}

/// Connects without selecting a database.
pub(super) fn reach(url: &str) -> Result<Session> {
    let library = LIBRARY.get()?;
    let target = Target::of_url(url).map_err(|why| {
        let wanted = "give it as mysql://user:password@host:port/database";
        EngineError::failed(NAME, "read its URL", format!("{why}; {wanted}"))
    })?;
    let place = target.place.clone();
    let session = Session::connect(library, target, Address::Url(url.to_owned()));
    session.map_err(|failure| {
        let advice = "is it running, and does it let this user in without TLS?";
        EngineError::failed(NAME, format!("connect to {place}"), format!("{failure}; {advice}"))
    })
}
