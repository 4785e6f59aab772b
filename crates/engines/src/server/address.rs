//! Addresses of servers, as text for another process.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use super::Home;
use crate::{EngineError, Link, Result};

/// Prefix of a path.
const SOCKET: &str = "unix:";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    Socket(PathBuf),
    /// A URL in the engine's form.
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

impl Address {
    /// Returns the parameter for a program in another language: the path of its `socket`, or its
    /// `url`.
    pub fn parameter(&self) -> (&'static str, String) {
        match self {
            Self::Socket(path) => ("socket", path.display().to_string()),
            Self::Url(url) => ("url", url.clone()),
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

/// Splits the result of [`Lifecycle::join`](crate::Lifecycle::join) at spaces. The last part can
/// have spaces in it.
pub(crate) fn parts<'a, const N: usize>(engine: &'static str, at: &'a str) -> Result<[&'a str; N]> {
    let parts: Vec<&str> = at.splitn(N, ' ').collect();
    parts.try_into().map_err(|_| {
        let why = "that is not what another process says of its own";
        EngineError::failed(engine, "join a database", why)
    })
}

/// Where a private server listens.
pub(crate) struct ListenAddresses {
    /// Address for this process.
    pub local: Address,
    /// Address for any other process.
    pub for_others: Address,
    /// Its port on the loopback address, if it has one.
    pub port: Option<u16>,
}

impl ListenAddresses {
    /// Returns a socket with this path in a server's folder, or a port with the URL that `url`
    /// makes of it.
    pub fn at(
        link: Link,
        home: &Home,
        socket: impl AsRef<Path>,
        url: impl FnOnce(u16) -> String,
    ) -> Result<Self> {
        let [local, for_others] = [home.path(), home.path_for_others()]
            .map(|home| Address::Socket(home.join(socket.as_ref())));
        if link == Link::Socket {
            return Ok(Self { local, for_others, port: None });
        }
        let port = free_port(home.engine)?;
        let url = Address::Url(url(port));
        Ok(Self { local: url.clone(), for_others: url, port: Some(port) })
    }
}

const LOWEST: u16 = 10_000;

/// Number of ports to try before the system is asked for one.
const TRIES: usize = 100;

/// Returns an unused port of the loopback address. It was bound and released, so another program
/// can take it before the server does, and the server then fails to start and reports it. So the
/// port is below those that the system assigns to connections and to programs that ask for any port
/// (`ip_local_port_range`, ip(7)).
pub(crate) fn free_port(engine: &'static str) -> Result<u16> {
    let given = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let given = given.split_whitespace().next().and_then(|first| first.parse().ok());
    let own = LOWEST..given.unwrap_or(LOWEST);
    let draw = RandomState::new().build_hasher().finish() as usize;
    let from = draw.checked_rem(own.len()).unwrap_or_default();
    let drawn = own.clone().skip(from).chain(own.take(from)).take(TRIES);
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    if let Some(port) = drawn.into_iter().find(is_free) {
        return Ok(port);
    }
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|bound| bound.local_addr());
    bound
        .map(|address| address.port())
        .map_err(|e| EngineError::failed(engine, "find a port of 127.0.0.1", e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_the_same_after_it_was_told() {
        for words in ["unix:/proc/1/fd/3/a b", "http://127.0.0.1:8086"] {
            assert_eq!(Address::from(words).to_string(), words);
        }
        assert_eq!(Address::from("unix:/a"), Address::Socket("/a".into()));
    }

    #[test]
    fn parts_are_told_apart_and_missing_ones_are_an_error() {
        assert_eq!(parts("x", "one two three").unwrap(), ["one", "two three"]);
        assert!(parts::<2>("x", "one").is_err());
    }

    #[test]
    fn a_free_port_can_be_bound() {
        TcpListener::bind(("127.0.0.1", free_port("x").unwrap())).unwrap();
    }
}
