//! A database of a server that is given by URL.

use super::NAME;
use super::session::Session;
use crate::http::HttpClient;
use crate::server::address::Address;
use crate::{EngineError, Result, server};

/// Connects and creates a database of our own, which is dropped at the end; nothing else of the
/// server is touched.
///
/// # Errors
/// When the URL is none, the server is not reached, or the user may create no database.
pub(super) fn connect(url: &str) -> Result<Session> {
    let Url { base, credentials } = Url::parse(url).ok_or_else(|| {
        let wanted = "give it as http://user:password@host:8086, or without the user";
        EngineError::failed(NAME, "read its URL", wanted)
    })?;
    let database = server::guest_name();
    let address = Address::Url(base.clone());
    let client = HttpClient::at(NAME, &address);
    let mut session = Session::new(client, database, &credentials, &address);
    session.ping().map_err(|error| {
        let advice = "is it running, and is it version 1.x?";
        EngineError::failed(
            NAME,
            format!("reach the server at {base}"),
            format!("{error}; {advice}"),
        )
    })?;
    session.create_database()?;
    session.drop_database_at_end();
    Ok(session)
}

struct Url {
    /// `http://host:port`.
    base: String,
    /// Nothing, or `&u=…&p=…`.
    credentials: String,
}

impl Url {
    fn parse(url: &str) -> Option<Self> {
        let rest = url.strip_prefix("http://")?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (user, place) = match rest.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, rest),
        };
        if place.is_empty() || place.contains(['/', '?', '#']) {
            return None;
        }
        let credentials = match user {
            None => String::new(),
            Some(user) => {
                let (name, password) = user.split_once(':')?;
                format!("&u={}&p={}", parameter(name), parameter(password))
            }
        };
        Some(Self { base: format!("http://{place}"), credentials })
    }
}

/// What is encoded for one part of a URL stays so in another, but for what only the latter gives
/// a meaning.
fn parameter(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '+' => "%2B".to_owned(),
            '&' => "%26".to_owned(),
            '=' => "%3D".to_owned(),
            '#' => "%23".to_owned(),
            c => c.to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart_and_a_wrong_one_is_refused() {
        let url = Url::parse("http://ann:a+b%40c@db.example:8086/").unwrap();
        assert_eq!(url.base, "http://db.example:8086");
        assert_eq!(url.credentials, "&u=ann&p=a%2Bb%40c");
        assert_eq!(Url::parse("http://127.0.0.1:8086").unwrap().credentials, "");
        for wrong in ["https://x:1", "x:1", "http://", "http://x/db", "http://ann@x:1"] {
            assert!(Url::parse(wrong).is_none(), "{wrong}");
        }
    }
}
