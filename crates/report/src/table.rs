//! Formats tables for a terminal. Numbers are never cut or wrapped: engines that do not fit side by
//! side go into further tables. Only words continue in further lines of their row.

use std::ops::Range;

use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ContentArrangement, LineStyle, Table, TableStyle,
};
use textwrap::core::display_width;

use crate::Options;
use crate::grid::{Grid, Text, Tone};
use crate::note::Note;

/// Only a rule under the header.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─'));
/// Smallest number of spaces between two columns.
const GAP: usize = 2;
/// Number of spaces between two columns if there is room.
const WIDE_GAP: usize = 3;
/// Smallest width of words in a column.
const LEAST_WORDS: usize = 20;
/// Widest heading of a note that the others are aligned with.
const WIDEST_ABOUT: usize = 13;

pub(crate) fn heading(text: &str, options: &Options<'_>) -> String {
    let lines = wrapped(text, options.width, "", "").join("\n");
    if options.colour { format!("\x1b[1m{lines}\x1b[0m") } else { lines }
}

/// Wraps `text` to lines of `width` columns. It breaks only between words, so that numbers and
/// paths stay whole.
pub fn wrapped(text: &str, width: usize, first: &str, further: &str) -> Vec<String> {
    let options = textwrap::Options::new(width)
        .initial_indent(first)
        .subsequent_indent(further)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .break_words(false);
    textwrap::wrap(text, options).iter().map(|line| line.trim_end().to_owned()).collect()
}

/// Joins `parts` with dots, as many on each line as fit.
pub(crate) fn packed(parts: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if display_width(line) + display_width(part) + 3 <= width => {
                line.push_str(" · ");
                line.push_str(part);
            }
            _ => lines.push(part.clone()),
        }
    }
    lines.iter().flat_map(|line| wrapped(line, width, "", "  ")).collect()
}

pub(crate) fn notes_text(notes: &[Note], options: &Options<'_>) -> Vec<String> {
    let widths = notes.iter().map(|note| display_width(&note.about));
    let column = widths.filter(|width| *width <= WIDEST_ABOUT).max().unwrap_or(0);
    let mut lines = Vec::new();
    for note in notes {
        let about = match &*pad_right(&note.about, column) {
            "" => "  ".to_owned(),
            about => format!("  {about}  "),
        };
        let indent = " ".repeat(column + 4);
        // In a terminal that is too narrow for both columns, the text keeps a readable width.
        let width = options.width.max(indent.len() + 20);
        lines.extend(wrapped(&note.says, width, &about, &indent));
    }
    lines
}

/// Formats a grid as one table, or as several below each other if its columns do not fit. A grid
/// without rows has no lines.
pub(crate) fn stacked(grid: &Grid, options: &Options<'_>) -> Vec<String> {
    if grid.rows.is_empty() {
        return Vec::new();
    }
    let labels = grid.rows.iter().map(|(label, _)| display_width(label)).max().unwrap_or(0);
    let room = options.width.saturating_sub(labels);
    let words = room.saturating_sub(WIDE_GAP).max(LEAST_WORDS);
    let column = |at: usize| -> Vec<String> {
        aligned(grid, at).into_iter().map(|text| in_lines(text, words)).collect()
    };
    let columns: Vec<Vec<String>> = (0..grid.header.len()).map(column).collect();
    let widths = columns.iter().zip(&grid.header).map(|(texts, header)| {
        let lines = texts.iter().chain([header]).flat_map(|text| text.lines());
        lines.map(display_width).max().unwrap_or(0)
    });
    let widths: Vec<usize> = widths.collect();
    let (wide, narrow) = (chunks(&widths, WIDE_GAP, room), chunks(&widths, GAP, room));
    // Widens the gaps if that needs no further table.
    let (gap, ranges) = if wide.len() == narrow.len() { (WIDE_GAP, wide) } else { (GAP, narrow) };
    ranges.into_iter().map(|range| table(grid, &columns, range, gap, options.colour)).collect()
}

/// Formats a grid as one table. If its columns do not fit, those from `first` on go into separate
/// tables.
pub(crate) fn in_parts(grid: &Grid, first: usize, options: &Options<'_>) -> Vec<String> {
    let whole = stacked(grid, options);
    if whole.len() < 2 || first == 0 || first >= grid.header.len() {
        return whole;
    }
    let part = |range: Range<usize>| {
        let rows = grid.rows.iter().map(|(name, own)| (name.clone(), own[range.clone()].to_vec()));
        Grid::new("", &grid.header[range.clone()], rows.collect())
    };
    let parts = [part(0..first), part(first..grid.header.len())];
    parts.iter().flat_map(|part| stacked(part, options)).collect()
}

/// Returns ranges of columns whose widths fit `room`, filled as evenly as their number allows. A
/// column that is wider than the room has its own range.
fn chunks(widths: &[usize], gap: usize, room: usize) -> Vec<Range<usize>> {
    let fill = |most: usize| {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let mut used = 0;
        for (index, width) in widths.iter().map(|width| width + gap).enumerate() {
            match ranges.last_mut() {
                Some(range) if used + width <= room && range.len() < most => {
                    range.end += 1;
                    used += width;
                }
                _ => {
                    ranges.push(index..index + 1);
                    used = width;
                }
            }
        }
        ranges
    };
    let greedy = fill(usize::MAX);
    let even = fill(widths.len().div_ceil(greedy.len().max(1)));
    if even.len() == greedy.len() { even } else { greedy }
}

fn table(
    grid: &Grid,
    columns: &[Vec<String>],
    range: Range<usize>,
    gap: usize,
    colour: bool,
) -> String {
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Disabled).force_no_tty();
    if colour {
        table.enforce_styling().style_text_only();
    }
    let bold = |cell: Cell| cell.add_attribute(Attribute::Bold);
    let header = grid.header[range.clone()].iter().map(|name| bold(Cell::new(name)));
    table.set_header([Cell::new("")].into_iter().chain(header));
    for (index, (label, texts)) in grid.rows.iter().enumerate() {
        let cells = range.clone().map(|at| tinted(Cell::new(&columns[at][index]), texts[at].tone));
        table.add_row([Cell::new(label)].into_iter().chain(cells));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding(if index == 0 { (0, 0) } else { (gap as u16, 0) });
        if index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

fn tinted(cell: Cell, tone: Tone) -> Cell {
    match tone {
        Tone::Plain => cell,
        Tone::Best => cell.fg(Color::Green).add_attribute(Attribute::Bold),
        Tone::Dim => cell.add_attribute(Attribute::Dim),
        Tone::Warning => cell.fg(Color::Yellow),
        Tone::Bad => cell.fg(Color::Red),
    }
}

/// Breaks words that are wider than `width` into lines.
fn in_lines(text: String, width: usize) -> String {
    match is_number(&text) || display_width(&text) <= width {
        true => text,
        false => wrapped(&text, width, "", "").join("\n"),
    }
}

/// Whether a text begins with a number.
fn is_number(text: &str) -> bool {
    text.strip_prefix('-').unwrap_or(text).starts_with(|c: char| c.is_ascii_digit())
}

/// Aligns the parts of the texts in a column: value right, marks, ratio right, best. Words are left
/// as they are.
fn aligned(grid: &Grid, column: usize) -> Vec<String> {
    let texts: Vec<&Text> = grid.rows.iter().filter_map(|(_, texts)| texts.get(column)).collect();
    let widest = |part: fn(&Text) -> &str| {
        texts.iter().map(|text| display_width(part(text))).max().unwrap_or(0)
    };
    let (marks, best) = (widest(|text| &text.marks), widest(|text| text.best));
    let second = widest(|text| &text.second);
    let line = |text: &&Text| {
        if !is_number(&text.value) {
            return text.value.clone();
        }
        let value = format!("{}{}", text.value, pad_right(&text.marks, marks));
        let second = match second {
            0 => String::new(),
            width => format!(" {}", pad_left(&text.second, width)),
        };
        value + &second + &pad_right(text.best, best)
    };
    texts.iter().map(line).collect()
}

pub(crate) fn pad_right(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(display_width(text))))
}

fn pad_left(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(display_width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_keeps_its_subject_where_every_subject_is_wide() {
        let shown = |abouts: &[&str]| {
            let notes: Vec<Note> =
                abouts.iter().map(|about| crate::note::note(*about, "says")).collect();
            notes_text(&notes, &Options { width: 80, ..Options::default() })
        };
        assert_eq!(shown(&["sensors 10k single"]), ["  sensors 10k single  says"]);
        assert_eq!(shown(&["sensors 10k single", ""]), ["  sensors 10k single  says", "  says"]);
        assert_eq!(
            shown(&["sensors 10k single", "rows"]),
            ["  sensors 10k single  says", "  rows  says"]
        );
        assert_eq!(shown(&["", ""]), ["  says", "  says"]);
    }

    #[test]
    fn words_continue_in_further_lines_and_numbers_do_not() {
        let row = |text: &str| ("load lmdb".to_owned(), vec![Text::new(text)]);
        let calls = "pwrite64 41 %, fdatasync 30 %, pread64 12 %, futex 9 %, madvise 6 %";
        let grid = Grid::new("", ["of the engine's calls"], vec![row(calls), row("1.00x")]);
        let shown = stacked(&grid, &Options { width: 50, ..Options::default() });
        assert_eq!(shown.len(), 1);
        assert!(shown[0].lines().all(|line| display_width(line) <= 50), "{}", shown[0]);
        let words = shown[0].split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(calls) && words.contains("load lmdb"), "{words}");
        assert!(stacked(&Grid { rows: Vec::new(), ..grid }, &Options::default()).is_empty());
    }

    #[test]
    fn a_table_that_does_not_fit_is_cut_where_its_second_part_begins() {
        let header = ["power", "process", "reads", "memory"].map(str::to_owned).to_vec();
        let texts = header.iter().map(|_| Text::new("1.00x")).collect();
        let grid = Grid { title: String::new(), header, rows: vec![("lmdb".to_owned(), texts)] };
        let at = |width| in_parts(&grid, 3, &Options { width, ..Options::default() });
        assert_eq!(at(80).len(), 1);
        let cut = at(32);
        assert_eq!(cut.len(), 2, "{cut:?}");
        assert!(cut[0].contains("reads") && cut[1].contains("memory"), "{cut:?}");
        assert_eq!(cut[0].matches("1.00x").count(), 3, "{cut:?}");
        assert_eq!(at(20).len(), 3, "the first part is cut too: {:?}", at(20));
    }
}
