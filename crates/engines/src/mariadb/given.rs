//! A database of a server that is given by URL.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use mysql::{Conn, Opts, OptsBuilder, UrlError};

use super::NAME;
use super::session::{self, Session};
use crate::server::address::Address;
use crate::{EngineError, Result};

const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// Connects, and creates a database of our own that is dropped at the end; nothing else of the
/// server is touched.
///
/// # Errors
/// When the URL is none, the server is not reached, or the user may create no database.
pub(super) fn connect(url: &str) -> Result<Session> {
    let opts = Opts::from_url(url).map_err(|e| {
        let wanted = "give it as mysql://user:password@host:port/database";
        EngineError::failed(NAME, "read its URL", format!("{e}; {wanted}"))
    })?;
    let place = place(&opts);
    let options = of(opts);
    let conn = Conn::new(options.clone()).map_err(|e| {
        let advice = "is it running, and does it let this user in without TLS?";
        EngineError::failed(NAME, format!("connect to {place}"), format!("{e}; {advice}"))
    })?;
    let database = format!("embermark_{:016x}", RandomState::new().hash_one(()));
    Session::create(conn, &options, &database, Address::Url(url.to_owned()), true)
}

/// The options of a connection to a URL.
///
/// # Errors
/// When it is none.
pub(super) fn options(url: &str) -> std::result::Result<OptsBuilder, UrlError> {
    Opts::from_url(url).map(of)
}

fn of(opts: Opts) -> OptsBuilder {
    session::options(OptsBuilder::from_opts(opts).tcp_connect_timeout(Some(CONNECT_WITHIN)))
}

/// Where the server is, without the user's password.
fn place(opts: &Opts) -> String {
    match opts.get_socket() {
        Some(socket) => socket.to_owned(),
        None => format!("{}, port {}", opts.get_ip_or_hostname(), opts.get_tcp_port()),
    }
}
