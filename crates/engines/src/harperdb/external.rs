//! A database on a server that is given by URL.

use super::NAME;
use super::rest;
use super::session::Session;
use crate::http::HttpClient;
use crate::{EngineError, OpenOptions, Result};

/// Connects to the operations API and makes a database for this run; nothing else on the server is
/// touched.
pub(super) fn connect(url: &str, options: &OpenOptions) -> Result<Session> {
    if rest::is_chosen(options) {
        let what = "the REST interface of a server given by its URL: its tables are not exported";
        return Err(EngineError::unsupported(NAME, what));
    }
    let mut session = reach(url, &options.guest)?;
    session.remove()?;
    session.create_database()?;
    Ok(session)
}

/// Makes a client of the server that a URL names.
///
/// # Errors
/// What is wrong with the URL.
pub(super) fn client(url: &str, name: &str) -> std::result::Result<HttpClient, &'static str> {
    let client = HttpClient::from_url(NAME, url, name)?;
    client.authorization.is_some().then_some(client).ok_or("it names no user")
}

/// Connects to the server that a URL names.
pub(super) fn reach(url: &str, name: &str) -> Result<Session> {
    let client = client(url, name).map_err(|why| {
        let wanted = "give it as http://user:password@host:9925";
        EngineError::failed(NAME, "read its URL", format!("{why}; {wanted}"))
    })?;
    let doing = format!("reach the server at {}", client.address);
    Session::connect(client).map_err(|error| EngineError::failed(NAME, doing, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_cannot_work_is_refused_with_the_form_of_one_that_can() {
        for url in ["9925", "https://a:b@localhost:9925", "http://localhost:9925", "http://a@b:1"] {
            let error = reach(url, "embermark_x").err().unwrap().to_string();
            assert!(error.contains("http://user:password@host:9925"), "{url}: {error}");
        }
    }
}
