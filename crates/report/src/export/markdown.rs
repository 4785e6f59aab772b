//! The terminal's tables and notes as GitHub shows them.

use embermark_model::result::ResultFile;

use crate::grid::{self, Grid, Text};
use crate::notes::{self, Note, Section};
use crate::text::{self, markdown as escaped};
use crate::{Options, cost, published, summary};

pub(super) fn render(file: &ResultFile, options: &Options<'_>) -> String {
    let options = Options { intervals: true, ..*options };
    let comparison = summary::compare(file, options.order);
    let mut blocks: Vec<String> =
        notes::face(file).map(|face| format!("**{}**", escaped(&face))).into_iter().collect();
    for group in &comparison.groups {
        for (index, grid) in grid::of(group, &options).iter().enumerate() {
            let level = if index == 0 { "##" } else { "###" };
            blocks.push(format!("{level} {}", escaped(&grid.title)));
            if index == 0 {
                blocks.push(escaped(&grid::subtitle(group, file).join(" · ")));
            }
            blocks.extend(table(grid));
        }
    }
    let costs = cost::grids(file, &options.weights, options.published);
    let published = published::beside(file, &comparison, options.published);
    for annotated in costs.into_iter().chain(published) {
        blocks.push(format!("### {}", escaped(&annotated.grid.title)));
        blocks.extend(table(&annotated.grid));
        blocks.extend((!annotated.notes.is_empty()).then(|| list(&annotated.notes)));
    }
    blocks.extend(notes::sections(file, &comparison, options.path).iter().map(section));
    blocks.join("\n\n") + "\n"
}

/// `None` of a table without columns or rows.
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

pub(crate) fn section(section: &Section) -> String {
    format!("### {}\n\n{}", section.title, list(&section.notes))
}

pub(crate) fn list(notes: &[Note]) -> String {
    let lines = notes.iter().map(|note| match note.about.as_str() {
        "" => format!("- {}", escaped(&note.says)),
        about => format!("- **{}** {}", escaped(about), escaped(&note.says)),
    });
    text::joined(lines, "\n")
}
