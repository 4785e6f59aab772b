//! Reports, comparisons and advice as blocks, which are formatted for a terminal or as Markdown.

use embermark_model::result::ResultFile;
use serde::Serialize;

use crate::grid::{self, Annotated, Grid, Text};
use crate::note::{Note, Section};
use crate::text::{joined, markdown as escaped};
use crate::{
    Options, ReportError, ageing, cost, evidence, flash, notes, published, scaling, table,
};

/// A part of a document between blank lines. Some blocks have several such parts.
pub(crate) enum Block {
    /// A warning that comes first.
    Head(String),
    /// A table with its notes, and the lines below it.
    Table(Annotated, Vec<String>),
    /// Notes under a heading.
    Section(Section),
}

impl Block {
    /// Makes a table without notes.
    pub(crate) const fn table(grid: Grid, under: Vec<String>) -> Self {
        Self::Table(Annotated { grid, notes: Vec::new() }, under)
    }

    fn terminal(&self, options: &Options<'_>) -> Vec<String> {
        match self {
            Self::Head(says) => vec![table::heading(says, options)],
            Self::Table(Annotated { grid, notes }, under) => {
                let under = table::packed(under, options.width).into_iter();
                let title = [table::heading(&grid.title, options)].into_iter().chain(under);
                let notes = table::notes_text(notes, options);
                let notes = (!notes.is_empty()).then(|| notes.join("\n"));
                let tables = table::stacked(grid, options);
                [joined(title, "\n")].into_iter().chain(tables).chain(notes).collect()
            }
            Self::Section(Section { title, notes }) => {
                let lines = [table::heading(title, options)].into_iter();
                vec![joined(lines.chain(table::notes_text(notes, options)), "\n")]
            }
        }
    }

    fn markdown(&self) -> Vec<String> {
        match self {
            Self::Head(says) => vec![format!("**{}**", escaped(says))],
            Self::Table(Annotated { grid, notes }, under) => {
                let level = if under.is_empty() { "###" } else { "##" };
                let under = (!under.is_empty()).then(|| escaped(&under.join(" · ")));
                let notes = (!notes.is_empty()).then(|| markdown_list(notes));
                let title = [format!("{level} {}", escaped(&grid.title))].into_iter().chain(under);
                title.chain(markdown_table(grid)).chain(notes).collect()
            }
            Self::Section(Section { title, notes }) => {
                vec![format!("### {}\n\n{}", escaped(title), markdown_list(notes))]
            }
        }
    }
}

/// Formats blocks for a terminal.
pub(crate) fn terminal(blocks: &[Block], options: &Options<'_>) -> String {
    joined(blocks.iter().flat_map(|block| block.terminal(options)), "\n\n") + "\n"
}

/// Formats blocks as Markdown for GitHub.
pub(crate) fn markdown(blocks: &[Block]) -> String {
    joined(blocks.iter().flat_map(Block::markdown), "\n\n") + "\n"
}

/// Formats what a report is made of as JSON, for programs.
///
/// # Errors
/// If a value has no JSON form, which does not happen with the types of this crate.
pub fn json(value: &impl Serialize) -> Result<String, ReportError> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// Returns the whole report of a result.
pub(crate) fn report(file: &ResultFile, options: &Options<'_>) -> Vec<Block> {
    let (comparison, durability) = evidence::compare(file, options.order, options.durability);
    let scaling = scaling::analyze(&comparison, options.explanations);
    let notice = notes::unpublishable_notice(&file.unpublishable());
    let mut blocks: Vec<Block> = notice.map(Block::Head).into_iter().collect();
    for group in &comparison.groups {
        let mut under = grid::subtitle(group);
        let grids = grid::group_tables(group, options, &scaling).into_iter();
        blocks.extend(grids.map(|grid| Block::table(grid, std::mem::take(&mut under))));
    }
    let tables = [
        scaling::grids(&scaling),
        ageing::grids(file, options.rows_per_day),
        flash::grids(&comparison, options.rows_per_day),
        cost::grids(&comparison, &options.weights, options.published),
        published::comparisons(&comparison, options.published),
    ];
    blocks.extend(tables.into_iter().flatten().map(|one| Block::Table(one, Vec::new())));
    let sections = notes::sections(&comparison, &scaling, &durability, options.path);
    blocks.extend(sections.into_iter().map(Block::Section));
    blocks
}

/// Formats a table as Markdown. `None` if it has no columns or rows.
fn markdown_table(grid: &Grid) -> Option<String> {
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let header = [String::new()].into_iter().chain(grid.header.iter().map(|name| escaped(name)));
    let rule = ["---"].into_iter().chain(grid.header.iter().map(|_| "---:")).map(str::to_owned);
    let rows = grid.rows.iter().map(|(label, texts)| {
        line([escaped(label)].into_iter().chain(texts.iter().map(markdown_cell)).collect())
    });
    let head = [line(header.collect()), line(rule.collect())];
    let lines: Vec<String> = head.into_iter().chain(rows).collect();
    (!grid.header.is_empty() && !grid.rows.is_empty()).then(|| lines.join("\n"))
}

fn markdown_cell(text: &Text) -> String {
    let shown = escaped(&text.line());
    if text.best.is_empty() { shown } else { format!("**{shown}**") }
}

fn markdown_list(notes: &[Note]) -> String {
    let lines = notes.iter().map(|note| match note.about.as_str() {
        "" => format!("- {}", escaped(&note.says)),
        about => format!("- **{}** {}", escaped(about), escaped(&note.says)),
    });
    joined(lines, "\n")
}
