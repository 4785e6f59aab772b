//! The URL of a server.

use std::fmt;
use std::path::PathBuf;

use embermark_model::ServerUrl;

use super::NAME;
use crate::server::address::Address;

const PORT: u16 = 6379;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Socket(PathBuf),
    Host { name: String, port: u16 },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(path) => write!(f, "{}", path.display()),
            Self::Host { name, port } => write!(f, "{name}:{port}"),
        }
    }
}

/// Address of a server, with the credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Uri {
    pub place: Place,
    pub user: Option<String>,
    pub password: Option<String>,
    pub database: u32,
}

impl Uri {
    /// Parses the address of a socket, or `valkey://user:password@host:port/database`, in which
    /// only the host is required. `redis://` is the same.
    ///
    /// # Errors
    /// Returns what is wrong with it, without quoting it.
    pub fn new(address: &Address) -> Result<Self, String> {
        let url = match address {
            Address::Socket(path) => {
                let place = Place::Socket(path.clone());
                return Ok(Self { place, user: None, password: None, database: 0 });
            }
            Address::Url(url) => url,
        };
        let parts = ServerUrl::from(url.as_str()).parts(NAME)?;
        let database = parts.database().map_or(Ok(0), |number| number.parse::<u32>());
        let database = database.map_err(|_| "the path after its host is not a database number")?;
        let place =
            Place::Host { name: parts.host().to_owned(), port: parts.port().unwrap_or(PORT) };
        Ok(Self { place, user: parts.user(), password: parts.password(), database })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> Result<Uri, String> {
        Uri::new(&Address::Url(url.to_owned()))
    }

    #[test]
    fn a_url_names_a_host_and_perhaps_a_port_a_user_a_password_and_a_database() {
        let host = |name: &str, port| Place::Host { name: name.to_owned(), port };
        let plain = of("valkey://h").unwrap();
        assert_eq!(plain, Uri { place: host("h", 6379), user: None, password: None, database: 0 });
        assert_eq!(of("redis://h:7/").unwrap(), Uri { place: host("h", 7), ..plain.clone() });
        let full = of("valkey://me:a%40b@h.example:7/3").unwrap();
        assert_eq!((full.place, full.database), (host("h.example", 7), 3));
        assert_eq!((full.user.as_deref(), full.password.as_deref()), (Some("me"), Some("a@b")));
        let alone = of("valkey://:secret@[::1]:7").unwrap();
        assert_eq!((alone.place, alone.user), (host("::1", 7), None));
        assert_eq!(of("valkey://[::1]").unwrap().place, host("::1", 6379));
    }

    #[test]
    fn what_is_wrong_with_a_url_is_said_without_a_part_of_it() {
        for url in [
            "h:1",
            "http://h",
            "valkey://",
            "valkey://me:hunter2",
            "valkey://me:hunter2@",
            "valkey://me@h",
            "valkey://me:%zz@h",
            "valkey://h:x",
            "valkey://h:70000",
            "valkey://h/hunter2",
        ] {
            let why = of(url).unwrap_err();
            assert!(!why.contains("hunter2"), "{url}: {why}");
        }
    }
}
