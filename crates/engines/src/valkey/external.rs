//! A given server.

use super::NAME;
use super::resp::Failure;
use super::session::Session;
use super::uri::Uri;
use crate::server::address::Address;
use crate::{EngineError, OpenOptions, Result};

/// Connects. All keys begin with a guest's name, and are removed with the session. Nothing else on
/// the server is touched.
pub(super) fn connect(url: &str, options: &OpenOptions) -> Result<Session> {
    let mut session = reach(url, &options.guest)?;
    session.remove().map_err(super::session::failed("remove what a killed client left"))?;
    session.is_given = true;
    Ok(session)
}

pub(super) fn reach(url: &str, name: &str) -> Result<Session> {
    let address = Address::Url(url.to_owned());
    let uri = Uri::new(&address).map_err(|why| {
        let wanted = "give it as valkey://user:password@host:6379/0, of which the host will do";
        EngineError::failed(NAME, "read its URL", format!("{why}; {wanted}"))
    })?;
    let doing = format!("connect to {}", uri.place);
    Session::new(uri, format!("{name}:"), address).map_err(|failure: Failure| {
        let advice = "is it running, and is its password in the URL?";
        EngineError::failed(NAME, doing, format!("{failure}; {advice}"))
    })
}
