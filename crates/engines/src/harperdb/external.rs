//! A database of a server that is given by URL.

use super::NAME;
use super::session::{Session, basic};
use crate::http::HttpClient;
use crate::server::address::Address;
use crate::server::url::HttpUrl;
use crate::{EngineError, OpenOptions, Result};

/// Connects to the operations API and makes a database of our own; nothing else of the server is
/// touched.
pub(super) fn connect(url: &str, options: &OpenOptions) -> Result<Session> {
    let mut session = reach(url, &options.guest)?;
    session.remove()?;
    session.create_database()?;
    Ok(session)
}

/// Connects.
pub(super) fn reach(url: &str, name: &str) -> Result<Session> {
    let wrong = |why: &str| {
        let wanted = "give it as http://user:password@host:9925";
        EngineError::failed(NAME, "read its URL", format!("{why}; {wanted}"))
    };
    let HttpUrl { base, user } = HttpUrl::parse(url).map_err(wrong)?;
    let (user, password) = user.ok_or_else(|| wrong("it names no user"))?;
    let decoded = |text| decoded(text).ok_or_else(|| wrong("an escape in it is wrong"));
    let (user, password) = (decoded(user)?, decoded(password)?);
    let address = Address::Url(base);
    let http = HttpClient::at(NAME, &address);
    let credentials = basic(&user, &password);
    let mut session = Session::new(http, &credentials, name.to_owned(), &address);
    session.ping().map_err(|error| {
        EngineError::failed(NAME, format!("reach the server at {address}"), error)
    })?;
    Ok(session)
}

/// What `%40` and its like stand for.
fn decoded(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (number, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(number, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests;
