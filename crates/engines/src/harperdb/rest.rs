//! HarperDB's REST interface, which a configuration may choose for inserting single rows. Each
//! exported table is a resource on a port of its own
//! (<https://docs.harperdb.io/docs/developers/rest>). What this interface lacks, requests of many
//! rows and SQL, stays with the operations API.
//!
//! The operations API makes the tables, so a component in the instance's folder exports them
//! afterwards, as the `@export` of a schema file does when it makes one.

use std::fs;
use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

use super::NAME;
use crate::http::{self, HttpClient};
use crate::{EngineError, OpenOptions, Result, Setting, SettingValues, Settings};

/// The setting that chooses the interface.
const INTERFACE: &str = "interface";

/// Settings that a configuration can change.
pub(super) const SETTINGS: Settings = Settings {
    known: &[Setting::new(INTERFACE, SettingValues::Word(&["operations", "rest"]))],
    ..Settings::NONE
};

/// Returns whether rows are inserted by the REST interface.
pub(super) fn is_chosen(options: &OpenOptions) -> bool {
    let is_rest = |interface: &str| interface == "1" || interface.eq_ignore_ascii_case("rest");
    options.setting(INTERFACE).is_some_and(is_rest)
}

/// The path of the component, relative to the instance's folder, and its files.
const COMPONENT: &str = "root/components/embermark";
const FILES: [(&str, &str); 3] = [
    ("config.yaml", "rest: true\njsResource:\n  files: 'resources.js'\n"),
    ("package.json", "{\"name\": \"embermark\", \"type\": \"module\"}\n"),
    ("resources.js", include_str!("resources.js")),
];

/// The path of its Unix socket, relative to the instance's folder.
pub(super) const SOCKET: &str = "root/rest-server";

/// The setting for its port, or for the path of its socket.
pub(super) const PORT: &str = "HTTP_PORT";

/// Installs the component in an instance's folder, or removes it.
pub(super) fn install_component(data: &Path, is_wanted: bool) -> Result<()> {
    let folder = data.join(COMPONENT);
    let failed = |doing| {
        let folder = folder.clone();
        move |error| EngineError::file(NAME, doing, folder, error)
    };
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed("remove"))?;
    }
    if !is_wanted {
        return Ok(());
    }
    fs::create_dir_all(&folder).map_err(failed("create"))?;
    let write = |(name, text): &(&str, &str)| fs::write(folder.join(name), text);
    FILES.iter().try_for_each(write).map_err(failed("write to"))
}

pub(super) struct Rest {
    pub http: HttpClient,
    /// The path of the record to put; its memory is reused.
    path: String,
}

impl Rest {
    pub fn new(http: HttpClient) -> Self {
        Self { http, path: String::new() }
    }

    /// Makes a table of the database a resource.
    pub fn export(&self, table: &str) -> Result<()> {
        // Names consist of letters, digits and underscores, so nothing needs escaping.
        let database = &self.http.database;
        let body = format!("{{\"database\":\"{database}\",\"table\":\"{table}\"}}");
        http::discard(NAME, self.http.post("/Exports/", JSON, body.as_bytes())?)
    }

    /// Puts a record, given as JSON, under its key, a JSON string or number. An existing record is
    /// replaced.
    pub fn put(&mut self, table: &str, key: &[u8], record: &[u8]) -> Result<()> {
        let Self { http, path } = self;
        path.clear();
        path.push('/');
        path.push_str(table);
        path.push('/');
        let key: serde_json::Value = serde_json::from_slice(key)
            .map_err(|error| EngineError::failed(NAME, "read a key", error))?;
        match key.as_str() {
            Some(text) => path.extend(encode(text)),
            None => path.extend(encode(&key.to_string())),
        }
        http::discard(NAME, http.put(path, JSON, record)?)
    }
}

const JSON: &str = "application/json";

/// What a part of a path may not have (RFC 3986, section 2).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn encode(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, ENCODED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_part_of_a_path() {
        assert_eq!(encode("6f1c-ab.c_d~").to_string(), "6f1c-ab.c_d~");
        assert_eq!(encode("a/b c?d#ä%").to_string(), "a%2Fb%20c%3Fd%23%C3%A4%25");
    }

    #[test]
    fn the_component_exists_only_if_it_is_wanted() {
        let data = tempfile::tempdir().unwrap();
        install_component(data.path(), true).unwrap();
        let file = data.path().join(COMPONENT).join("resources.js");
        assert!(file.is_file());
        install_component(data.path(), false).unwrap();
        assert!(!file.exists() && data.path().join("root/components").is_dir());
    }
}
