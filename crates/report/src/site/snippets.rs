//! Programs that open and set engines as clients do that were measured: each once for all cells.

use std::collections::HashMap;

use serde::Serialize;

use super::{Program, SnippetOf};

/// The programs that cells refer to, by the order in which they were met.
#[derive(Default)]
pub(super) struct Snippets {
    all: Vec<SnippetOf>,
    places: HashMap<SnippetOf, usize>,
}

/// A program.
#[derive(Serialize)]
pub(super) struct Snippet<'a> {
    client: &'a str,
    /// What prints it.
    command: String,
    /// Absent where the engine is not here, or is a server.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl Snippets {
    /// The number of a program.
    pub fn place(&mut self, of: SnippetOf) -> usize {
        let all = &mut self.all;
        *self.places.entry(of).or_insert_with_key(|of| {
            all.push(of.clone());
            all.len() - 1
        })
    }

    /// Each program; nothing where there is none for an engine.
    pub fn texts(&self, program: &dyn Fn(&SnippetOf) -> Program) -> Vec<Option<Snippet<'_>>> {
        self.all.iter().map(|of| snippet(of, program(of))).collect()
    }
}

fn snippet(of: &SnippetOf, program: Program) -> Option<Snippet<'_>> {
    let text = match program {
        Program::None => return None,
        Program::NotHere => None,
        Program::Text(text) => Some(text),
    };
    let SnippetOf { engine, client, tier } = of;
    let command = format!("embermark snippet {engine} --client {client} -t {tier}");
    Some(Snippet { client, command, text })
}
