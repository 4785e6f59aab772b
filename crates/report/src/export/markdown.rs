//! Tables and notes as Markdown for GitHub.

use crate::grid::{Grid, Text};
use crate::note::Note;

use crate::text::{self, markdown as escaped};

/// Formats a table. `None` if it has no columns or rows.
pub(crate) fn table(grid: &Grid) -> Option<String> {
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let header = [String::new()].into_iter().chain(grid.header.iter().map(|name| escaped(name)));
    let rule = ["---"].into_iter().chain(grid.header.iter().map(|_| "---:")).map(str::to_owned);
    let rows = grid.rows.iter().map(|(label, texts)| {
        line([escaped(label)].into_iter().chain(texts.iter().map(cell)).collect())
    });
    let head = [line(header.collect()), line(rule.collect())];
    let lines: Vec<String> = head.into_iter().chain(rows).collect();
    (!grid.header.is_empty() && !grid.rows.is_empty()).then(|| lines.join("\n"))
}

fn cell(text: &Text) -> String {
    let shown = escaped(&text.line());
    if text.best.is_empty() { shown } else { format!("**{shown}**") }
}

pub(crate) fn list(notes: &[Note]) -> String {
    let lines = notes.iter().map(|note| match note.about.as_str() {
        "" => format!("- {}", escaped(&note.says)),
        about => format!("- **{}** {}", escaped(about), escaped(&note.says)),
    });
    text::joined(lines, "\n")
}
