//! A database of a server that is given by URL.

use super::NAME;
use super::session::Session;
use crate::http::HttpClient;
use crate::server::address::Address;
use crate::server::url::HttpUrl;
use crate::{EngineError, OpenOptions, Result};

/// Connects and creates a database of our own, which is dropped at the end; nothing else of the
/// server is touched.
pub(super) fn connect(url: &str, options: &OpenOptions) -> Result<Session> {
    let mut session = reach(url, &options.guest)?;
    session.end()?;
    session.create_database()?;
    session.drop_database_at_end();
    Ok(session)
}

/// Connects; the database `name` is dropped at the end.
pub(super) fn reach(url: &str, name: &str) -> Result<Session> {
    let HttpUrl { base, user } = HttpUrl::parse(url).map_err(|why| {
        let wanted = "give it as http://user:password@host:8086, or without the user";
        EngineError::failed(NAME, "read its URL", format!("{why}; {wanted}"))
    })?;
    let credentials = user.map_or_else(String::new, credentials);
    let address = Address::Url(base.clone());
    let client = HttpClient::at(NAME, &address);
    let mut session = Session::new(client, name.to_owned(), &credentials, &address);
    session.ping().map_err(|error| {
        let advice = "is it running, and is it version 1.x?";
        EngineError::failed(
            NAME,
            format!("reach the server at {base}"),
            format!("{error}; {advice}"),
        )
    })?;
    session.drop_database_at_end();
    Ok(session)
}

/// The parameters of a query that say who asks.
fn credentials((name, password): (&str, &str)) -> String {
    format!("&u={}&p={}", parameter(name), parameter(password))
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
    fn credentials_stay_encoded_and_what_a_query_gives_a_meaning_is() {
        assert_eq!(credentials(("ann", "a+b%40c")), "&u=ann&p=a%2Bb%40c");
    }
}
