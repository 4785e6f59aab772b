//! HarperDB's client for Node.js: HTTP requests to its operations API.

use super::NAME;
use crate::http::HttpClient;
use crate::program::{self, Missing};
use crate::server::address::{self, Address};
use crate::{NodeClient, Result};

/// The client of the database that another one speaks to.
pub(super) fn client(http: &HttpClient) -> Result<NodeClient> {
    let [_, _, elsewhere] = address::parts(NAME, &http.at)?;
    let server = match Address::from(elsewhere) {
        Address::Socket(path) => ("socket", path.display().to_string()),
        Address::Url(url) => ("url", url),
    };
    let user = http.authorization.clone().unwrap_or_default();
    Ok(NodeClient {
        program: program::node().map_err(Missing::no_client)?,
        module: include_str!("client.mjs"),
        connection: vec![server, ("authorization", user), ("database", http.database.clone())],
    })
}
