//! Programs that open and set engines as measured clients do. Cells share them.

use std::collections::HashMap;

use serde::Serialize;

use super::{Program, SnippetKey};

/// The programs of all cells, in the order of their first use.
#[derive(Default)]
pub(super) struct Snippets {
    all: Vec<Snippet>,
    /// Index of each requested program. `None` if there is no program.
    places: HashMap<SnippetKey, Option<usize>>,
}

/// A program.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Snippet {
    /// The client, as `--client` takes it.
    client: String,
    /// The command that prints it.
    command: String,
    /// Its text. Absent if the engine is not on this machine, or is a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl Snippets {
    /// Returns the index of a program. `None` if no client uses the engine.
    pub fn place(
        &mut self,
        of: SnippetKey,
        program: &dyn Fn(&SnippetKey) -> Program,
    ) -> Option<usize> {
        let all = &mut self.all;
        *self.places.entry(of).or_insert_with_key(|of| {
            let text = match program(of) {
                Program::None => return None,
                Program::NotHere => None,
                Program::Text(text) => Some(text),
            };
            let SnippetKey { engine, client, tier } = of;
            let command = format!("embermark snippet {engine} --client {client} -t {tier}");
            all.push(Snippet { client: client.clone(), command, text });
            Some(all.len() - 1)
        })
    }

    /// Returns each program with its index.
    pub fn all(&self) -> impl Iterator<Item = (usize, &Snippet)> {
        self.all.iter().enumerate()
    }
}
