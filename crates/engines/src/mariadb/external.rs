//! A database of a server that is given by URL.

use super::NAME;
use super::library::LIBRARY;
use super::session::Session;
use super::target::Target;
use crate::server::address::Address;
use crate::{EngineError, Result, server};

/// Connects, and creates a database of our own that is dropped at the end; nothing else of the
/// server is touched.
pub(super) fn connect(url: &str) -> Result<Session> {
    let library = LIBRARY.get()?;
    let target = Target::of_url(url).map_err(|why| {
        let wanted = "give it as mysql://user:password@host:port/database";
        EngineError::failed(NAME, "read its URL", format!("{why}; {wanted}"))
    })?;
    let place = target.place.clone();
    let session = Session::connect(library, target, Address::Url(url.to_owned()));
    let session = session.map_err(|failure| {
        let advice = "is it running, and does it let this user in without TLS?";
        EngineError::failed(NAME, format!("connect to {place}"), format!("{failure}; {advice}"))
    })?;
    session.create(&server::guest_name(), true)
}
