//! Where a server is, and who connects.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use embermark_model::ServerUrl;
use percent_encoding::percent_decode_str;

use super::NAME;
use crate::server::address::Address;

/// How to connect. Not `Debug`, because of the password.
#[derive(Clone)]
pub(super) struct Target {
    pub place: Place,
    pub user: Option<String>,
    pub password: Option<String>,
    /// Database that is selected from the start.
    pub database: Option<String>,
    /// Time-out, in whole seconds.
    pub connect_within: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Socket(PathBuf),
    Tcp { host: String, port: u16 },
}

const PORT: u16 = 3306;

const CONNECT_WITHIN: Duration = Duration::from_secs(10);

impl Target {
    /// Returns how to connect to an address: to a socket as `root` without a password.
    ///
    /// # Errors
    /// Returns what is wrong with a URL.
    pub fn of(address: &Address) -> Result<Self, String> {
        match address {
            Address::Url(url) => Self::of_url(url),
            Address::Socket(path) => Ok(Self {
                place: Place::Socket(path.clone()),
                user: Some("root".to_owned()),
                password: None,
                database: None,
                connect_within: CONNECT_WITHIN,
            }),
        }
    }

    /// Parses a URL such as `mysql://user:password@host:port/database?socket=path`, in which only
    /// the host is required. The other parameter is `tcp_connect_timeout_ms`.
    ///
    /// # Errors
    /// Returns what is wrong, without quoting the URL, because a password can be in the wrong
    /// position.
    pub fn of_url(url: &str) -> Result<Self, String> {
        let parts = ServerUrl::from(url).parts(NAME)?;
        let host = parts.host().to_owned();
        // The library gives some other characters in a host's name a special meaning. Only an IPv6
        // address has colons.
        let of_a_host = |c: char| c.is_ascii_alphanumeric() || "-._:".contains(c);
        if host.is_empty() || !host.chars().all(of_a_host) {
            return Err("it names no host".to_owned());
        }
        let mut target = Self {
            place: Place::Tcp { host, port: parts.port().unwrap_or(PORT) },
            user: parts.user(),
            password: parts.password(),
            database: parts.database(),
            connect_within: CONNECT_WITHIN,
        };
        for parameter in parts.query().split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = percent_decode_str(value).decode_utf8();
            let value = value.map_err(|_| "what it gives as %XX is not UTF-8")?;
            target.set(name, value.into_owned())?;
        }
        Ok(target)
    }

    fn set(&mut self, name: &str, value: String) -> Result<(), String> {
        match name {
            "socket" => self.place = Place::Socket(value.into()),
            "tcp_connect_timeout_ms" => {
                let within: u32 =
                    value.parse().map_err(|_| "its tcp_connect_timeout_ms is not a number")?;
                self.connect_within = Duration::from_secs(within.div_ceil(1000).max(1).into());
            }
            _ => return Err("its parameters can be socket and tcp_connect_timeout_ms".to_owned()),
        }
        Ok(())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(path) => write!(f, "{}", path.display()),
            Self::Tcp { host, port } => write!(f, "{host}, port {port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(host: &str, port: u16) -> Place {
        Place::Tcp { host: host.to_owned(), port }
    }

    fn target(url: &str) -> Target {
        Target::of_url(url).unwrap()
    }

    fn error(url: &str) -> String {
        Target::of_url(url).err().unwrap()
    }

    #[test]
    fn every_part_of_a_url_is_read() {
        let all = target("mysql://me:secret@db.example:3307/shop");
        assert_eq!(all.place, tcp("db.example", 3307));
        let texts = [all.user, all.password, all.database].map(Option::unwrap);
        assert_eq!(texts, ["me", "secret", "shop"]);
        assert_eq!(all.connect_within, Duration::from_secs(10));
        let least = target("mysql://127.0.0.1");
        assert_eq!(least.place, tcp("127.0.0.1", 3306));
        assert_eq!([least.user, least.password, least.database], [const { None }; 3]);
        assert_eq!(target("mysql://root@localhost:1/").place, tcp("localhost", 1));
        assert_eq!(target("mysql://a@[fe80::1]:9/").place, tcp("fe80::1", 9));
        assert_eq!(target("mysql://[::1]").place, tcp("::1", 3306));
    }

    #[test]
    fn what_is_given_as_percent_and_digits_is_decoded() {
        let hard = target("mysql://m%40e:p%3A%2f%40%25%C3%9F%3Ax@host/a%20b");
        let texts = [hard.user, hard.password, hard.database].map(Option::unwrap);
        assert_eq!(texts, ["m@e", "p:/@%ß:x", "a b"]);
        assert!(error("mysql://host/?socket=%ff").contains("not UTF-8"));
    }

    #[test]
    fn parameters_say_the_socket_and_how_long_connecting_may_take() {
        let url = "mysql://root@localhost/mysql?socket=/run/a%20b/s&tcp_connect_timeout_ms=1500#x";
        let target = target(url);
        assert_eq!(target.place, Place::Socket("/run/a b/s".into()));
        assert_eq!(target.connect_within, Duration::from_secs(2));
        assert!(error("mysql://host/?tcp_connect_timeout_ms=soon").contains("not a number"));
        assert!(error("mysql://host/?compress=true").contains("socket and tcp_connect_timeout_ms"));
    }

    #[test]
    fn what_is_no_url_is_refused_and_nothing_of_it_repeated() {
        for url in [
            "hunter2",
            "postgres://me:hunter2@host/",
            "mysql://me:hunter2@/db",
            "mysql://me:hunter2@host:x/",
            "mysql://me:hunter2@host:65536/",
            "mysql://me:hunter2@[::1]3306/",
            "mysql://me:hunter2@host=a;b/",
            "mysql://me:hun/ter2@host/",
            "mysql://me:12#hunter2@host/",
            "mysql://me@host/?password=hunter2",
        ] {
            let error = error(url);
            assert!(!error.contains("ter2") && !error.contains("me:"), "{error}");
        }
    }
}
