//! Writes the text of a workload file for examined tables.

use embermark_data::table::Inferred;

mod column_summary;
mod log;
mod names;
mod phases;
mod shape;
mod table;

pub use log::statements;

use crate::file::dashed;
use names::Names;
use phases::Phases;
use shape::Shape;

/// Beginning of the file.
const HEAD: &str = "\
# Proposed by `embermark init` from what it found: correct what is wrong, leave out what you do
# not need. The whole language: docs/workload-files.md.
";

/// What is proposed in addition to the tables.
#[derive(Debug, Default)]
pub struct ProposalOptions<'a> {
    /// Whether to propose a phase in which everything happens at once.
    pub live: bool,
    /// Statements of a program, in the order of its log. Their phases replace others.
    pub statements: Option<&'a [String]>,
}

/// Returns a workload file for these tables that runs as it is, with comments that explain it.
/// `name` is its name, in which blanks and similar characters become dashes. Also returns the
/// statements that gave no phase.
pub fn propose(
    name: &str,
    tables: &[Inferred],
    wishes: &ProposalOptions<'_>,
) -> (String, Vec<String>) {
    let mut names = Names::default();
    let shapes: Vec<_> = tables.iter().map(|table| Shape::of(table, &mut names)).collect();
    let mut text = format!("{HEAD}\nname = {}\n", quoted(&dashed(name)));
    for shape in &shapes {
        table::write(&mut text, shape);
    }
    let several = shapes.len() > 1;
    let Some(statements) = wishes.statements else {
        for shape in &shapes {
            Phases::of(&mut text, shape, several, wishes.live).all();
        }
        return (text, Vec::new());
    };
    for shape in &shapes {
        Phases::of(&mut text, shape, several, false).load();
    }
    let left_out = log::write(&mut text, &shapes, statements, several);
    (text, left_out)
}

/// Quotes a text for TOML.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// Formats a list of columns.
fn list<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<_> = names.into_iter().map(quoted).collect();
    format!("[{}]", names.join(", "))
}

#[cfg(test)]
mod tests;
