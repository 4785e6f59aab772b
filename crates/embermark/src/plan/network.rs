//! The imitated network link: `--network`.

use embermark_model::NetworkLink;
use embermark_network::{built_in, parse};

use super::models::model;
use crate::error::Failure;

/// Returns the link with this name or in this file. Returns `None` for `none`.
pub fn link(given: &str) -> Result<Option<NetworkLink>, Failure> {
    match given {
        "none" => Ok(None),
        given => model(("--network", "docs/network.md"), given, built_in, parse).map(Some),
    }
}
