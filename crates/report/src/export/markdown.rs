//! The terminal's tables and notes as GitHub shows them.

use embermark_model::result::ResultFile;

use crate::grid::{self, Grid, Text};
use crate::notes::{self, Note, Section};
use crate::text::markdown as escaped;
use crate::{Options, cost, published, summary};

pub(super) fn render(file: &ResultFile, options: &Options<'_>) -> String {
    let comparison = summary::compare(file, options.order);
    let mut blocks: Vec<String> =
        notes::face(file).map(|face| format!("**{}**", escaped(&face))).into_iter().collect();
    for group in &comparison.groups {
        let grid = grid::comparison(group);
        blocks.push(format!("## {}", escaped(&grid.title)));
        blocks.push(escaped(&grid::subtitle(group, &file.plan).join(" · ")));
        if !grid.header.is_empty() {
            blocks.push(table(&grid));
        }
        let latency = grid::latency(group).filter(|_| options.latency);
        let shared = [grid::sharing::throughput(group), grid::sharing::response(group)];
        let others = [grid::intervals(group), latency, grid::resources(group), grid::loads(group)];
        for grid in shared.iter().chain(&others).flatten() {
            blocks.push(format!("### {}", escaped(&grid.title)));
            blocks.push(table(grid));
        }
    }
    for table_of in cost::grids(file, &options.weights, options.published) {
        blocks.push(format!("### {}", escaped(&table_of.grid.title)));
        blocks.push(table(&table_of.grid));
        blocks.extend((!table_of.notes.is_empty()).then(|| list(&table_of.notes)));
    }
    for beside in published::beside(file, &comparison, options.published) {
        blocks.push(format!("### {}", escaped(&beside.grid.title)));
        blocks.push(table(&beside.grid));
        blocks.push(list(&beside.notes));
    }
    blocks.extend(notes::sections(file, &comparison, options.path).iter().map(section));
    blocks.join("\n\n") + "\n"
}

pub(crate) fn table(grid: &Grid) -> String {
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let header = [&grid.corner].into_iter().chain(&grid.header).map(|name| escaped(name));
    let rule = ["---"].into_iter().chain(grid.header.iter().map(|_| "---:")).map(str::to_owned);
    let rows = grid.rows.iter().map(|(label, texts)| {
        line([escaped(label)].into_iter().chain(texts.iter().map(cell)).collect())
    });
    let head = [line(header.collect()), line(rule.collect())];
    head.into_iter().chain(rows).collect::<Vec<String>>().join("\n")
}

fn cell(text: &Text) -> String {
    let Text { value, marks, second, best, .. } = text;
    let shown = format!("{value}{marks} {second}{best}");
    let shown = escaped(shown.trim_end());
    if best.is_empty() { shown } else { format!("**{shown}**") }
}

fn section(section: &Section) -> String {
    format!("### {}\n\n{}", section.title, list(&section.notes))
}

pub(crate) fn list(notes: &[Note]) -> String {
    let lines = notes.iter().map(|note| match note.about.as_str() {
        "" => format!("- {}", escaped(&note.says)),
        about => format!("- **{}** {}", escaped(about), escaped(&note.says)),
    });
    lines.collect::<Vec<String>>().join("\n")
}
