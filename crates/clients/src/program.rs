//! Chooses the program and the package for a client.

use std::path::PathBuf;

use embermark_contract::{EngineError, Result};
use embermark_libraries::deps;
use embermark_libraries::search_path::on_search_path;
use embermark_model::Client;
use serde::{Deserialize, Serialize};

use crate::bindings::{self, Binding};

/// A program to start.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Command {
    /// Path of the program.
    pub program: PathBuf,
    /// Arguments.
    pub arguments: Vec<String>,
}

/// An installed client for an engine.
#[derive(Clone, Debug)]
pub struct Program {
    /// The chosen client.
    pub client: Client,
    /// Id of the engine.
    pub engine: String,
    /// The program to start.
    pub command: Command,
    /// The code for the package. `None` for a program that is not part of embermark.
    pub(crate) binding: Option<&'static Binding>,
    /// Where packages were installed, if they were.
    pub(crate) packages: Option<PathBuf>,
}

/// The programs of this crate, which run in a language's interpreter.
const PYTHON: &str = include_str!("../python/driver.py");
const NODE: &str = include_str!("../node/driver.mjs");

impl Program {
    /// Finds the program for a client and an engine.
    ///
    /// # Errors
    /// Unsupported if no package for the engine is known. Unavailable if there is no interpreter.
    pub fn find(client: &Client, engine: &str) -> Result<Self> {
        let (client, engine) = (client.clone(), engine.to_owned());
        if let Some(path) = client.program() {
            let command = Command { program: path.to_owned(), arguments: Vec::new() };
            return Ok(Self { client, engine, command, binding: None, packages: None });
        }
        let binding = Some(bindings::find(client.language(), client.package(), &engine)?);
        let folder = deps::folder(&format!("{}-clients", client.language()));
        let packages = folder.is_dir().then_some(folder);
        let (names, arguments) = match client.language() {
            "python" => (["bin/python3", "python3"], ["-B", "-c", PYTHON].as_slice()),
            _ => (
                ["bin/node", "node"],
                ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", NODE]
                    .as_slice(),
            ),
        };
        let own =
            packages.as_ref().map(|folder| folder.join(names[0])).filter(|path| path.is_file());
        let program = own.or_else(|| on_search_path(names[1])).ok_or_else(|| {
            let why = format!("no {} on the search path", names[1]);
            EngineError::unavailable("the client", why, remedy(&client))
        })?;
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        Ok(Self { client, engine, command: Command { program, arguments }, binding, packages })
    }

    /// Returns the task with which a companion process [becomes](crate::become_program) the
    /// program.
    pub fn task(&self) -> String {
        serde_json::to_string(&self.command).unwrap_or_default()
    }

    /// Adds the remedy to the error of a program that lacks its package.
    pub(crate) fn lacking(&self, error: EngineError) -> EngineError {
        if self.client.program().is_some() || error.is_unsupported() {
            return error;
        }
        EngineError::unavailable("the client", error.to_string(), remedy(&self.client))
    }
}

/// Returns the command that installs a language's packages.
fn remedy(client: &Client) -> String {
    format!("make {}-clients", client.language())
}
