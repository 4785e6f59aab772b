//! Programs that open and set engines as clients do that were measured: each once for all cells.

use std::collections::HashMap;

use serde::Serialize;

use super::{Program, SnippetOf};

/// The programs that cells refer to, by the order in which they were met.
#[derive(Default)]
pub(super) struct Snippets {
    all: Vec<Snippet>,
    /// Numbers of those that were asked for; `None` where there is no program.
    places: HashMap<SnippetOf, Option<usize>>,
}

/// A program.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Snippet {
    /// The client, as `--client` takes it.
    client: String,
    /// What prints it.
    command: String,
    /// Absent where the engine is not here, or is a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl Snippets {
    /// The number of a program; `None` where no client uses the engine.
    pub fn place(
        &mut self,
        of: SnippetOf,
        program: &dyn Fn(&SnippetOf) -> Program,
    ) -> Option<usize> {
        let all = &mut self.all;
        *self.places.entry(of).or_insert_with_key(|of| {
            let text = match program(of) {
                Program::None => return None,
                Program::NotHere => None,
                Program::Text(text) => Some(text),
            };
            let SnippetOf { engine, client, tier } = of;
            let command = format!("embermark snippet {engine} --client {client} -t {tier}");
            all.push(Snippet { client: client.clone(), command, text });
            Some(all.len() - 1)
        })
    }

    /// Each program by its number.
    pub fn all(&self) -> impl Iterator<Item = (usize, &Snippet)> {
        self.all.iter().enumerate()
    }
}
