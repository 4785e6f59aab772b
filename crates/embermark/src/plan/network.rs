//! The imitated network link: `--network`.

use std::path::Path;

use embermark_model::NetworkLink;
use embermark_network::{built_in, parse};

use super::cards::is_file;
use crate::error::Failure;

/// Returns the link with this name or in this file. `none` is no link.
pub fn link(given: &str) -> Result<Option<NetworkLink>, Failure> {
    match given {
        "none" => Ok(None),
        file if is_file(file) => of_file(Path::new(file)).map(Some),
        name => built_in(name).map(Some).map_err(|error| {
            Failure::usage(format!(
                "--network: {error}; or a file of your own, FILE.toml (docs/network.md)"
            ))
        }),
    }
}

/// Reads a link from a file, whose name it gets.
fn of_file(path: &Path) -> Result<NetworkLink, Failure> {
    let refused = |why: String| Failure::usage(format!("--network {}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
    parse(&name.unwrap_or_default(), &text).map_err(|error| refused(error.to_string()))
}
