//! The packages that clients use: one file each, in the language's own folder.

use embermark_contract::{EngineError, Result};
use embermark_model::Client;

/// The code for a package.
#[derive(Debug)]
pub(crate) struct Binding {
    /// The language.
    language: &'static str,
    /// Name of the package in `--client LANGUAGE:PACKAGE`.
    pub package: &'static str,
    /// Engines that it supports.
    engines: &'static [&'static str],
    /// The code.
    pub source: &'static str,
    /// A whole program that opens, sets and commits in the same way, with `{{NAME}}` for each
    /// parameter of the connection.
    pub snippet: Option<&'static str>,
}

macro_rules! binding {
    ($language:literal, $package:literal, $file:literal, $($engine:literal),+) => {
        Binding {
            language: $language,
            package: $package,
            engines: &[$($engine),+],
            source: include_str!(concat!("../", $language, "/", $file)),
            snippet: Some(include_str!(concat!("../", $language, "/snippets/", $file))),
        }
    };
    (bare $language:literal, $package:literal, $file:literal, $($engine:literal),+) => {
        Binding {
            language: $language,
            package: $package,
            engines: &[$($engine),+],
            source: include_str!(concat!("../", $language, "/", $file)),
            snippet: None,
        }
    };
}

/// All packages. Of several for an engine the first is the default.
static BINDINGS: &[Binding] = &[
    binding!("python", "sqlite3", "sqlite3.py", "sqlite"),
    binding!("python", "duckdb", "duckdb.py", "duckdb"),
    binding!("python", "lmdb", "lmdb.py", "lmdb"),
    binding!("python", "rocksdict", "rocksdict.py", "rocksdb"),
    binding!("python", "plyvel", "plyvel.py", "leveldb"),
    binding!("python", "berkeleydb", "berkeleydb.py", "berkeleydb"),
    binding!("python", "psycopg", "psycopg.py", "postgres"),
    binding!("python", "pymysql", "pymysql.py", "mariadb"),
    binding!("python", "valkey", "valkey.py", "valkey"),
    binding!("python", "pymongo", "pymongo.py", "mongodb"),
    binding!("node", "better-sqlite3", "better-sqlite3.mjs", "sqlite"),
    binding!("node", "node-sqlite", "node-sqlite.mjs", "sqlite"),
    binding!(bare "node", "sqlite3", "sqlite3.mjs", "sqlite"),
    binding!("node", "duckdb", "duckdb.mjs", "duckdb"),
    binding!("node", "lmdb", "lmdb.mjs", "lmdb"),
    binding!("node", "classic-level", "classic-level.mjs", "leveldb"),
    binding!("node", "pg", "pg.mjs", "postgres"),
    binding!("node", "mariadb", "mariadb.mjs", "mariadb"),
    binding!("node", "mongodb", "mongodb.mjs", "mongodb"),
    binding!(bare "node", "http", "harperdb.mjs", "harperdb"),
];

/// Returns the code for an engine, with the chosen package or the default one.
///
/// # Errors
/// Unsupported if no file matches. The message lists the packages for the engine.
pub(crate) fn find(
    language: &str,
    package: Option<&str>,
    engine: &str,
) -> Result<&'static Binding> {
    let all =
        || BINDINGS.iter().filter(|of| of.language == language && of.engines.contains(&engine));
    let chosen = |of: &&Binding| package.is_none_or(|package| package == of.package);
    all().find(chosen).ok_or_else(|| {
        let names: Vec<&str> = all().map(|of| of.package).collect();
        EngineError::impossible(match (package, &names[..]) {
            (Some(package), [_, ..]) => format!(
                "no client uses {package} for {engine} in {language}; there is {}",
                names.join(", ")
            ),
            _ => format!("embermark has no {language} client for {engine}"),
        })
    })
}

/// Returns a program in the language of a client that opens, sets and commits like the client, with
/// `{{NAME}}` for each parameter of the connection.
///
/// # Errors
/// Unsupported if the package has no snippet.
pub fn snippet(client: &Client, engine: &str) -> Result<&'static str> {
    if client.program().is_some() {
        return Err(EngineError::impossible("a program of your own has no snippet here"));
    }
    let binding = find(client.language(), client.package(), engine)?;
    binding.snippet.ok_or_else(|| {
        let package = binding.package;
        EngineError::impossible(format!("there is no snippet for the package {package}"))
    })
}
