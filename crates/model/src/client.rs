//! Programs in other languages that do the timed work of a cell instead of embermark.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A client. It is a language that embermark has a program for (`python`, `node`), perhaps with one
/// of the packages for the engine (`node:better-sqlite3`), or the path of a program that speaks the
/// protocol of docs/client-protocol.md.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
#[serde(try_from = "String", into = "String")]
pub struct Client(String);

/// Text that names no client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a client: write python or node, perhaps with a package as in node:better-sqlite3, or the path of a \
     program, as in ./my-client"
)]
pub struct InvalidClient(pub String);

impl Client {
    /// Name of embermark itself, if no client does the work.
    pub const NATIVE: &str = "native";

    /// Languages that embermark has a program for.
    pub const LANGUAGES: [&str; 2] = ["python", "node"];

    /// Returns the path of a program that is not part of embermark.
    pub fn program(&self) -> Option<&Path> {
        self.0.contains('/').then(|| Path::new(&self.0))
    }

    /// Returns the language of embermark's own program, `python`. For another program it is the
    /// stem of its file name.
    pub fn language(&self) -> &str {
        match self.program() {
            Some(path) => path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("program"),
            None => self.0.split(':').next().unwrap_or_default(),
        }
    }

    /// Returns the chosen package, `better-sqlite3`. `None` for the usual one of the engine.
    pub fn package(&self) -> Option<&str> {
        let (_, package) = self.0.split_once(':').filter(|_| self.program().is_none())?;
        Some(package)
    }

    /// Returns what is appended to an engine's name to name the column: `python`,
    /// `node-better-sqlite3`.
    pub fn suffix(&self) -> String {
        let plain = |sign: char| if sign.is_ascii_alphanumeric() { sign } else { '-' };
        let package = self.package().map(|package| format!("-{package}")).unwrap_or_default();
        format!("{}{package}", self.language()).chars().map(plain).collect()
    }
}

impl FromStr for Client {
    type Err = InvalidClient;

    fn from_str(text: &str) -> Result<Self, InvalidClient> {
        let (language, package) = text.split_once(':').map_or((text, None), |(l, p)| (l, Some(p)));
        let plain = |package: &str| {
            let sign = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.');
            !package.is_empty() && package.chars().all(sign)
        };
        let is_built_in = Self::LANGUAGES.contains(&language) && package.is_none_or(plain);
        let is_path = Path::new(text).file_stem().is_some() && text.contains('/');
        if is_built_in || is_path {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidClient(text.to_owned()))
        }
    }
}

impl TryFrom<String> for Client {
    type Error = InvalidClient;

    fn try_from(text: String) -> Result<Self, InvalidClient> {
        text.parse()
    }
}

impl From<Client> for String {
    fn from(client: Client) -> Self {
        client.0
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Client;

    #[test]
    fn a_client_is_a_language_with_or_without_a_package_or_the_path_of_a_program() {
        let parts = |text: &str| {
            let client: Client = text.parse().unwrap();
            let path = client.program().map(|path| path.display().to_string());
            (
                client.language().to_owned(),
                client.package().map(str::to_owned),
                path,
                client.suffix(),
            )
        };
        let (none, text) = (None::<String>, |text: &str| Some(text.to_owned()));
        assert_eq!(parts("python"), ("python".into(), none.clone(), none.clone(), "python".into()));
        let package =
            ("node".into(), text("better-sqlite3"), none.clone(), "node-better-sqlite3".into());
        assert_eq!(parts("node:better-sqlite3"), package);
        let path = ("my_client".into(), none, text("/opt/my_client.sh"), "my-client".into());
        assert_eq!(parts("/opt/my_client.sh"), path);
        for wrong in ["", "ruby", "python:", "node:a b", "native", "/"] {
            assert!(wrong.parse::<Client>().is_err(), "{wrong}");
        }
    }
}
