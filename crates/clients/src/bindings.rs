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
    /// The engine that it supports.
    engine: &'static str,
    /// The code.
    pub source: &'static str,
    /// A whole program that opens, sets and commits in the same way, with `{{NAME}}` for each
    /// parameter of the connection.
    pub snippet: Option<&'static str>,
}

macro_rules! binding {
    ($language:literal, $package:literal, $file:literal, $engine:literal) => {
        Binding {
            snippet: Some(include_str!(concat!("../", $language, "/snippets/", $file))),
            ..binding!(bare $language, $package, $file, $engine)
        }
    };
    (bare $language:literal, $package:literal, $file:literal, $engine:literal) => {
        Binding {
            language: $language,
            package: $package,
            engine: $engine,
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
    let all = || BINDINGS.iter().filter(|of| of.language == language && of.engine == engine);
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
        let (package, language) = (binding.package, binding.language);
        let others = BINDINGS.iter().filter(|of| of.language == language && of.engine == engine);
        let others = others.filter(|of| of.snippet.is_some());
        let others: Vec<String> = others.map(|of| format!("{language}:{}", of.package)).collect();
        let instead = if others.is_empty() {
            String::new()
        } else {
            format!("; there is {}", others.join(", "))
        };
        EngineError::impossible(format!("there is no snippet for the package {package}{instead}"))
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use embermark_skips::skipped;

    use super::*;

    /// Scans two of ten pairs by each package's file, over a cursor that counts its moves instead
    /// of the package. The arguments are names and sources.
    const SCANS: &str = r#"
import sys
from unittest.mock import MagicMock

KEYS = [bytes([n]) for n in range(10)]


class Cursor:
    def __init__(self):
        self.at, self.moves = -1, 0

    def move(self, at):
        self.at, self.moves = at, self.moves + 1
        return self.pair()

    def pair(self):
        return (KEYS[self.at], b"") if 0 <= self.at < len(KEYS) else None

    first = seek_to_first = lambda self: self.move(0)
    last = seek_to_last = lambda self: self.move(len(KEYS) - 1)
    next = lambda self: self.move(self.at + 1)
    prev = lambda self: self.move(self.at - 1)
    valid = lambda self: self.pair() is not None
    key = lambda self: self.pair()[0]
    value = lambda self: self.pair()[1]
    __enter__ = lambda self: self
    __exit__ = lambda self, *error: None
    __iter__ = lambda self: self.pairs(self.next if self.at == 0 else self.prev)
    iternext = lambda self: self.pairs(self.next)
    iterprev = lambda self: self.pairs(self.prev)

    def pairs(self, move):
        while self.valid():
            yield self.pair()
            move()

    def iterator(self, start, stop, reverse):
        self.last() if reverse else self.first()
        return self


def scanned(name, source, *params):
    sys.modules[name] = MagicMock()
    binding = {}
    exec(source, binding)
    cursor, database = Cursor(), object.__new__(binding["Database"])
    if name == "lmdb":
        return binding["scan"](MagicMock(cursor=lambda table: cursor), None, params), cursor.moves
    if name == "berkeleydb":
        return binding["scan"](cursor, *params), cursor.moves
    database.table = lambda table: cursor
    database.family = lambda table: MagicMock(iter=lambda options: cursor)
    return database.scan("t")(params), cursor.moves


for name, source in zip(sys.argv[1::2], sys.argv[2::2]):
    for way, keys in (1, KEYS[:2]), (-1, KEYS[:-3:-1]):
        found, moves = scanned(name, source, None, None, way, 2)
        assert [key for key, _ in found] == keys, (name, found)
        assert moves == 2, (name, way, moves)
        everything, _ = scanned(name, source, None, None, way, None)
        assert len(everything) == len(KEYS), (name, everything)
"#;

    #[test]
    fn a_scan_in_python_reads_no_more_pairs_than_it_returns() {
        let mut command = Command::new("python3");
        command.args(["-B", "-c", SCANS]);
        let mut count = 0;
        for package in ["lmdb", "plyvel", "rocksdict", "berkeleydb"] {
            let of = |of: &&Binding| of.language == "python" && of.package == package;
            command.args(BINDINGS.iter().filter(of).flat_map(|of| [of.package, of.source]));
            count += BINDINGS.iter().filter(of).count();
        }
        assert_eq!(count, 4);
        match command.output() {
            Ok(ended) => {
                let said = String::from_utf8_lossy(&ended.stderr);
                assert!(ended.status.success(), "{said}");
            }
            Err(error) => skipped("python3", error),
        }
    }
}
