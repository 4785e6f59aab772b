//! A database of a server that is given by URL.

use std::hash::{BuildHasher, RandomState};

use mongodb::options::ClientOptions;

use super::bson::Writer;
use super::session::{self, Session};
use super::{NAME, message};
use crate::server::address::Address;
use crate::{EngineError, Result};

/// Connects, and makes a database of our own the only one that is used. MongoDB creates it with
/// its first collection; it is dropped with the session.
///
/// # Errors
/// When the URL is none, or the server is not reached.
pub(super) fn connect(url: &str) -> Result<Session> {
    let runtime = session::runtime()?;
    let options = session::of_url(&runtime, url).map_err(|e| {
        let why = message(&e);
        let wanted = "give it as mongodb://user:password@host:port/?authSource=admin";
        EngineError::failed(NAME, "read its URL", format!("{why}; {wanted}"))
    })?;
    let place = place(&options);
    let could_not = |e: mongodb::error::Error| {
        let advice = "is it running, and may this user read and write any database there?";
        EngineError::failed(NAME, format!("connect to {place}"), message(&e) + "; " + advice)
    };
    let name = format!("embermark_{:016x}", RandomState::new().hash_one(()));
    let address = Address::Url(url.to_owned());
    let session = Session::new(runtime, options, &name, address, true).map_err(could_not)?;
    let mut ping = Writer::new(32);
    ping.int32("ping", 1);
    session.run(ping).map_err(could_not)?;
    Ok(session)
}

/// Where the server is, without the user's password.
fn place(options: &ClientOptions) -> String {
    let hosts: Vec<String> = options.hosts.iter().map(ToString::to_string).collect();
    hosts.join(", ")
}
