//! SQLite's client for Node.js: the package `sqlite3`, with the SQLite that it brings.

use std::path::PathBuf;

use super::{Client, FILE, pragmas};
use crate::program::{Missing, Search, Variable, node};
use crate::{NodeClient, OpenOptions, Result, deps};

const VARIABLE: Variable =
    Variable { name: "EMBERMARK_NODE_SQLITE3", of: "the folder of the package", below: &[""] };

/// The client of a database that is opened with these options and is closed meanwhile: with the same
/// pragmas.
pub(super) fn client(options: &OpenOptions) -> Result<NodeClient> {
    let system = format!("/usr/lib/{}-linux-gnu/nodejs/sqlite3", std::env::consts::ARCH);
    let search = Search {
        variable: VARIABLE,
        folders: vec![
            deps::folder("node-sqlite3").join("node_modules/sqlite3"),
            PathBuf::from(system),
        ],
        install: deps::got_by("make node-clients", "apt-get install nodejs node-sqlite3")
            .to_owned(),
    };
    let [package, _] =
        search.find(["package.json", "lib/sqlite3.js"]).map_err(Missing::no_client)?;
    let pragmas: Vec<String> = pragmas(options, Client::First)
        .map(|(name, value)| format!("PRAGMA {name} = {value}"))
        .collect();
    let connection = vec![
        ("package", package.with_file_name("").display().to_string()),
        ("file", options.dir.join(FILE).display().to_string()),
        ("pragmas", pragmas.join("; ")),
    ];
    Ok(NodeClient {
        program: node().map_err(Missing::no_client)?,
        module: include_str!("client.mjs"),
        connection,
    })
}
