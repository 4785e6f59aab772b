//! The URL of a server, whose secrets are for its client alone.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize, Serializer};

/// What stands in place of a secret.
const HIDDEN: &str = "***";

/// What the name of a parameter with a secret holds.
const SECRETS: [&str; 4] = ["pass", "pwd", "token", "secret"];

/// What RFC 3986 has encoded in a password.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The URL of a server that already runs, or whatever else its client takes for one. Shown, debugged
/// and serialised without the passwords and tokens in it: they stand in no result, journal, log or page.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct ServerUrl(String);

impl ServerUrl {
    /// A URL as the user gave it.
    pub const fn new(url: String) -> Self {
        Self(url)
    }

    /// With its secrets, for the client of the server.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether a secret of it is gone: it was read from where secrets are not written.
    pub fn lacks_secrets(&self) -> bool {
        self.0.contains(HIDDEN)
    }

    /// The same with a password: in place of a hidden one, or behind a user that has none. It is
    /// percent-encoded as RFC 3986 asks of that part.
    #[must_use]
    pub fn with_password(&self, password: &str) -> Self {
        let encoded = utf8_percent_encode(password, RESERVED).to_string();
        if self.lacks_secrets() {
            return Self(self.0.replace(HIDDEN, &encoded));
        }
        let Some((start, end)) = credentials(&self.0) else { return self.clone() };
        let (before, user, after) = (&self.0[..start], &self.0[start..end], &self.0[end..]);
        match user.contains(':') {
            true => self.clone(),
            false => Self(format!("{before}{user}:{encoded}{after}")),
        }
    }

    fn redacted(&self) -> String {
        let mut text = self.0.clone();
        if let Some((start, end)) = credentials(&text)
            && let Some(colon) = text[start..end].find(':')
        {
            text.replace_range(start + colon + 1..end, HIDDEN);
        }
        // Parameters, of a query or of the words that libpq takes.
        let is_end = |at: char| at == '?' || at == '&' || at == ';' || at.is_whitespace();
        let parts = text.split_inclusive(is_end).map(|part| {
            let bare = part.trim_end_matches(is_end);
            match bare.split_once('=') {
                Some((name, value)) if !value.is_empty() && is_secret(name) => {
                    format!("{name}={HIDDEN}{}", &part[bare.len()..])
                }
                _ => part.to_owned(),
            }
        });
        parts.collect()
    }
}

impl From<&str> for ServerUrl {
    fn from(url: &str) -> Self {
        Self(url.to_owned())
    }
}

/// The environment's variable for the password of an engine's server: `EMBERMARK_PASSWORD_POSTGRES`.
pub fn password_variable(engine: &str) -> String {
    format!("EMBERMARK_PASSWORD_{}", engine.to_uppercase())
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.redacted())
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.redacted(), f)
    }
}

impl Serialize for ServerUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.redacted())
    }
}

/// Where user and password stand in a URL: behind `//`, up to the last `@` before its path, or, where
/// a password that was not encoded has hidden that, up to the last one of all.
fn credentials(url: &str) -> Option<(usize, usize)> {
    let start = url.find("://")? + 3;
    let path = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    let end = url[start..path].rfind('@').or_else(|| url[start..].rfind('@'))?;
    Some((start, start + end))
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRETS.iter().any(|secret| name.contains(secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(url: &str) -> String {
        let url = ServerUrl::new(url.to_owned());
        let json = serde_json::to_string(&url).unwrap();
        assert_eq!(json, format!("{url:?}"), "one way of hiding");
        assert_eq!(json, format!("\"{url}\""));
        url.to_string()
    }

    #[test]
    fn a_password_is_shown_nowhere_and_the_rest_stays() {
        for (url, expected) in [
            (
                "postgres://ann:s3cret@db:5432/x?sslmode=require",
                "postgres://ann:***@db:5432/x?sslmode=require",
            ),
            ("mysql://ann@db/x", "mysql://ann@db/x"),
            ("http://127.0.0.1:8086?token=abc&org=x", "http://127.0.0.1:8086?token=***&org=x"),
            (
                "mongodb://a:b@h1,h2/?authSource=admin&tlsCertificateKeyFilePassword=z",
                "mongodb://a:***@h1,h2/?authSource=admin&tlsCertificateKeyFilePassword=***",
            ),
            (
                "host=/run/pg user=ann password=s3cret dbname=x",
                "host=/run/pg user=ann password=*** dbname=x",
            ),
            ("postgres://ann:a/b?c@db/x", "postgres://ann:***@db/x"),
            ("postgres://db/x", "postgres://db/x"),
            ("127.0.0.1:8086", "127.0.0.1:8086"),
            ("", ""),
        ] {
            assert_eq!(shown(url), expected);
        }
    }

    #[test]
    fn a_hidden_password_is_put_back_and_a_missing_one_put_in() {
        let with =
            |url: &str| ServerUrl::new(url.to_owned()).with_password("p@ss/w").reveal().to_owned();
        assert_eq!(with("postgres://ann:***@db/x"), "postgres://ann:p%40ss%2Fw@db/x");
        assert_eq!(with("postgres://ann@db/x"), "postgres://ann:p%40ss%2Fw@db/x");
        assert_eq!(with("http://h?token=***"), "http://h?token=p%40ss%2Fw");
        assert_eq!(
            with("postgres://ann:own@db/x"),
            "postgres://ann:own@db/x",
            "what is given stands"
        );
        assert_eq!(with("postgres://db/x"), "postgres://db/x");
        let read: ServerUrl = serde_json::from_str("\"postgres://ann:***@db/x\"").unwrap();
        assert!(read.lacks_secrets());
    }
}
