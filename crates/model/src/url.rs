//! The URL of a server. Only the server's client gets the secrets in it.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize, Serializer};

pub use parts::Parts;
pub use secrets::Secrets;

mod form;
mod keywords;
mod parts;
mod secrets;
#[cfg(test)]
mod tests;

/// Replaces what is not shown: a user, a password and parameters, or a URL that cannot be read.
const HIDDEN: &str = "***";

/// Characters that RFC 3986 encodes in a password.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The URL of a server that already runs, or another form that its client accepts. Shown,
/// debugged and serialised as scheme, host, port and database only: no result, journal, log or page
/// contains the rest.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct ServerUrl(String);

impl ServerUrl {
    /// Returns the whole URL with its secrets, for the client of the server.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns the secrets of the URL, to be removed from messages of its client.
    pub fn secrets(&self) -> Secrets {
        Secrets::from_url(self)
    }

    /// Parses the URL in the form that an engine's client accepts.
    ///
    /// # Errors
    /// If the URL is invalid. The error gives what is wrong, without any part of the URL.
    pub fn parts(&self, engine: &str) -> Result<Parts, String> {
        form::parse(engine, &self.0)
    }

    /// Checks that an engine's client accepts the URL.
    ///
    /// # Errors
    /// If the URL is invalid. The error gives what is wrong and the right form, without any part of
    /// the URL.
    pub fn check(&self, engine: &str) -> Result<(), String> {
        form::check(engine, &self.0)
    }

    /// Whether a part is hidden, because the URL comes from a file that keeps only the server's
    /// address.
    pub fn is_incomplete(&self) -> bool {
        self.0.contains(HIDDEN)
    }

    /// Adds a password to a user that has none: percent-encoded as RFC 3986 requires, or quoted
    /// among libpq's keywords.
    #[must_use]
    pub fn with_password(&self, password: &str) -> Self {
        let Ok(parts) = parts::read(&self.0) else { return self.clone() };
        let is_keywords = parts.is_keywords;
        let Some(parts::User { ends, has_password: false }) = parts.user else {
            return self.clone();
        };
        let (before, after) = self.0.split_at(ends);
        Self(if is_keywords {
            let quoted = password.replace('\\', r"\\").replace('\'', r"\'");
            format!("{before} password='{quoted}'{after}")
        } else {
            format!("{before}:{}{after}", utf8_percent_encode(password, RESERVED))
        })
    }

    fn kept(&self) -> String {
        parts::read(&self.0).map_or_else(|_| HIDDEN.to_owned(), |parts| parts.kept())
    }
}

impl From<&str> for ServerUrl {
    /// Takes a URL as the user gave it.
    fn from(url: &str) -> Self {
        Self(url.to_owned())
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kept())
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.kept(), f)
    }
}

impl Serialize for ServerUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.kept())
    }
}
