//! Reports, comparisons and advice as blocks, which are formatted for a terminal or as Markdown.

use embermark_model::result::ResultFile;

use crate::export::markdown;
use crate::grid::{self, Annotated, Grid};
use crate::note::Section;
use crate::text::{joined, markdown as escaped};
use crate::{Options, ageing, cost, evidence, flash, notes, published, scaling, table};

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
                let notes = (!notes.is_empty()).then(|| markdown::list(notes));
                let title = [format!("{level} {}", escaped(&grid.title))].into_iter().chain(under);
                title.chain(markdown::table(grid)).chain(notes).collect()
            }
            Self::Section(Section { title, notes }) => {
                vec![format!("### {}\n\n{}", escaped(title), markdown::list(notes))]
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

/// Returns the whole report of a result.
pub(crate) fn report(file: &ResultFile, options: &Options<'_>) -> Vec<Block> {
    let (comparison, durability) = evidence::compare(file, options.order, options.durability);
    let scaling = scaling::analyze(file, &comparison, options.explanations);
    let mut blocks: Vec<Block> = notes::notice(file).map(Block::Head).into_iter().collect();
    for group in &comparison.groups {
        let mut under = grid::subtitle(group, file);
        let grids = grid::group_tables(group, options, &scaling).into_iter();
        blocks.extend(grids.map(|grid| Block::table(grid, std::mem::take(&mut under))));
    }
    let costs = cost::grids(file, &durability, &options.weights, options.published).into_iter();
    let ageing = ageing::grids(file, options.rows_per_day).into_iter();
    let published = published::comparisons(file, &comparison, options.published);
    let cards = flash::grids(file, &comparison, options.rows_per_day);
    let of_scale = scaling::grids(&scaling).into_iter();
    blocks.extend(
        of_scale
            .chain(ageing)
            .chain(cards)
            .chain(costs)
            .chain(published)
            .map(|one| Block::Table(one, Vec::new())),
    );
    let sections = notes::sections(file, &comparison, &scaling, &durability, options.path);
    blocks.extend(sections.into_iter().map(Block::Section));
    blocks
}
