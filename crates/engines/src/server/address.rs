//! How a server is reached, in words that another process can be given.

use std::fmt;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;

use crate::{EngineError, Result};

/// What a path begins with, in words.
const SOCKET: &str = "unix:";

/// Where a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// A Unix socket.
    Socket(PathBuf),
    /// A URL, in the engine's own form.
    Url(String),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(path) => write!(f, "{SOCKET}{}", path.display()),
            Self::Url(url) => f.write_str(url),
        }
    }
}

impl From<&str> for Address {
    fn from(words: &str) -> Self {
        match words.strip_prefix(SOCKET) {
            Some(path) => Self::Socket(path.into()),
            None => Self::Url(words.to_owned()),
        }
    }
}

/// The parts of what [`Lifecycle::join`](crate::Lifecycle::join) said, which spaces divide; the last
/// may have some in it.
pub(crate) fn parts<'a, const N: usize>(engine: &'static str, at: &'a str) -> Result<[&'a str; N]> {
    let parts: Vec<&str> = at.splitn(N, ' ').collect();
    parts.try_into().map_err(|_| {
        let why = "that is not what another process says of its own";
        EngineError::failed(engine, "join a database", why)
    })
}

/// A port of the loopback address that nobody uses: bound, and let go of. Another program may take
/// it before the server does, which then does not start and says so.
pub(crate) fn free_port(engine: &'static str) -> Result<u16> {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|bound| bound.local_addr());
    bound
        .map(|address| address.port())
        .map_err(|e| EngineError::failed(engine, "find a port of 127.0.0.1", e))
}

#[cfg(test)]
mod tests;
