//! Published comparisons and the measurements here, headline by headline. The measurements are
//! results of the pieces that repeat them ([`embermark_published`]).

mod amounts;
mod figures;
mod headlines;
mod lookup;
mod pieces;
mod render;
mod verdicts;

use embermark_model::result::ResultFile;
use embermark_published::{Role, Source, all};

use crate::cost::{self, score::Weights};
use crate::document::{self, Block};
use crate::note::{self, Section, note};
use crate::notes;
use crate::text::{self, markdown as escaped};
use lookup::Results;

/// Formats the headlines that `results` measured for a terminal of `width` columns, and those
/// without an answer.
pub fn text(results: &[ResultFile], width: usize) -> String {
    let results = Results::new(results);
    let parts = all().iter().filter(|source| results.has(source)).flat_map(|source| {
        let title = format!("{}: {}", source.id, source.title);
        let headlines = headlines::rows(source, &results);
        let open = render::unanswered(&headlines, width);
        [title].into_iter().chain(render::terminal(&headlines, width)).chain(open)
    });
    text::joined(parts, "\n\n") + "\n"
}

/// Formats all sources, repeated or not, as Markdown for GitHub.
pub fn markdown(results: &[ResultFile]) -> String {
    let found = Results::new(results);
    let machines = document::markdown(&[Block::Section(machines(results))]);
    let sources = all().iter().map(|source| {
        let Source { id, title, hardware, protocol, .. } = source;
        let head = format!(
            "## {id}: {}\n\nHardware there: {}. Protocol there: {}.",
            escaped(title),
            escaped(hardware),
            escaped(protocol)
        );
        let rows = headlines::rows(source, &found);
        let headlines = render::markdown(&rows);
        let known = Section { title: "What to know".into(), notes: remarks(source) };
        let tables = [verdicts::table(source, &rows)].into_iter();
        let tables = tables.chain(figures::table(source, &found));
        let tables = tables.chain([pieces::table(source, &found)]);
        let tables = tables.map(|grid| Block::table(grid, Vec::new()));
        let rest = [Block::Section(known)].into_iter().chain(resources(source, &found));
        let rest: Vec<Block> = rest.chain(tables).collect();
        format!("{head}\n\n{headlines}\n\n{}", document::markdown(&rest))
    });
    text::joined([format!("{HEAD}\n{machines}")].into_iter().chain(sources), "\n")
}

/// Text at the top.
const HEAD: &str = "\
# Reproduction of the published comparisons

Made by `embermark report --reproduction` from result files of `embermark reproduce`; not written by hand.

A headline compares two engines, such as *DuckDB to PostgreSQL*. Its ratio is what the first engine takes divided by what the second takes. \
For rates it is the inverse, so that a ratio above 1 always means that the first engine is slower or needs more. \
Below the ratio are the two figures: the first engine's above the line of the fraction, the second's below it. \
*As published* are the source's scales, settings, variants and statistic. *At equal durability* every engine keeps the same tier. \
A *counter-run* changes one thing compared with the source, and names it. *From its language* has clients in the source's language. \
*Emulated* is the run as published with no more memory and CPU time than the source's device has, on the CPU of this machine, and on its \
disk or an imitated card, as named: it does not measure that device. \
A letter at a figure refers to a difference from the source, listed below the table. If other programs took more than 15 % of the CPUs \
meanwhile, the figure has their share. \
Where the source's scale was not run, the largest scale that was run is named. \
*Its runs* are the shortest and the longest of those that were counted.
";

/// Returns the cost of keeping up with a machine, in the tables of a source that has such tables.
fn resources(source: &Source, results: &Results<'_>) -> Vec<Block> {
    let pieces = source.pieces.iter().filter(|piece| piece.role == Role::AsPublished);
    let files = pieces.flat_map(|piece| results.of_piece(source, &piece.name));
    let tables = files.flat_map(|file| cost::source_tables(file, &Weights::default()));
    tables.map(|table| Block::Table(table, Vec::new())).collect()
}

/// Lists what its runs do differently here, what is not available here, and where the source
/// contradicts itself.
fn remarks(source: &Source) -> Vec<note::Note> {
    let ours = source.ours.iter().map(|(letter, text)| note(letter, text.clone()));
    let missing = source.missing.iter().map(|text| note("not available", text.clone()));
    let contradictions =
        source.contradictions.iter().map(|text| note("contradicts itself", text.clone()));
    ours.chain(missing).chain(contradictions).collect()
}

/// Describes the machines that the results were measured on.
fn machines(results: &[ResultFile]) -> Section {
    let machine = |file: &ResultFile| {
        let mut machine = file.manifest.machine.clone();
        (machine.emulates, machine.load) = (None, None);
        notes::machine(&machine)
    };
    let machines = text::unique(results.iter().map(machine)).into_iter();
    let engines = text::unique(results.iter().flat_map(|file| {
        file.cells.iter().filter_map(move |cell| pieces::engine_version(file, cell))
    }));
    let mut days: Vec<&str> =
        results.iter().map(|file| file.manifest.started.get(..10).unwrap_or_default()).collect();
    days.sort_unstable();
    let when = match (days.first(), days.last()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (Some(day), _) => (*day).to_owned(),
        _ => "nothing was run".to_owned(),
    };
    let mut notes: Vec<note::Note> = machines.map(|machine| note("hardware", machine)).collect();
    notes.push(note("when", when));
    notes.extend((!engines.is_empty()).then(|| note("engines", engines.join(", "))));
    Section { title: "Measured on".into(), notes }
}

#[cfg(test)]
mod tests;
