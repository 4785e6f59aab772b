//! Headlines for a terminal and as Markdown for GitHub.

use super::headlines::{COLUMNS, Ratio, Row};
use crate::format::NOT_MEASURED;
use crate::table::{pad_right, wrapped};
use crate::text::{joined, markdown as escaped};

/// Columns before the figures in a terminal: a margin, the longest name and a gap.
const INDENT: usize = 24;
/// Columns of a ratio and a gap.
const RATIO: usize = 9;

/// Formats the headlines with measurements, each as a paragraph.
pub(super) fn terminal(rows: &[Row], width: usize) -> Vec<String> {
    rows.iter().filter(|row| row.is_measured()).map(|row| paragraph(row, width)).collect()
}

/// Lists the headlines without an answer under the source's settings, with the reasons. `None` if
/// all have one.
pub(super) fn unanswered(rows: &[Row], width: usize) -> Option<String> {
    let open = rows.iter().filter_map(|row| {
        let here = row.boxes[1].as_ref().filter(|here| !here.is_measured)?;
        Some((&row.label, &here.of))
    });
    let open: Vec<String> = open.map(|(label, why)| format!("  {label}: {why}")).collect();
    let head =
        format!("no answer yet for {} of {} headlines, as published:", open.len(), rows.len());
    let lines = open.iter().flat_map(|line| wrapped(line, width.max(60), "", "    "));
    (!open.is_empty()).then(|| joined([head].into_iter().chain(lines), "\n"))
}

fn paragraph(row: &Row, width: usize) -> String {
    let line = |(name, ratio): (&str, &Option<Ratio>)| {
        let ratio = ratio.as_ref()?;
        let Ratio { of, what, ours, .. } = ratio;
        let ratio = ratio.ratio_text().unwrap_or_else(|| NOT_MEASURED.to_owned());
        let what = what.as_ref().map(|what| format!(", {what}")).unwrap_or_default();
        let first = format!("  {}{}", pad_right(name, INDENT - 2), pad_right(&ratio, RATIO));
        let further = " ".repeat(INDENT + RATIO);
        let ours = if ours.is_empty() { String::new() } else { format!(" [{}]", ours.join(" ")) };
        Some(joined(wrapped(&format!("{of}{ours}{what}"), width.max(60), &first, &further), "\n"))
    };
    let lines = COLUMNS.into_iter().zip(&row.boxes).filter_map(line);
    let explained = row.explained.as_deref().map(|explained| {
        let (first, further) = (pad_right("explained by", INDENT - 2), " ".repeat(INDENT));
        joined(wrapped(explained, width.max(60), &format!("  {first}"), &further), "\n")
    });
    joined([row.label.clone()].into_iter().chain(lines).chain(explained), "\n")
}

/// Formats all headlines as a table.
pub(super) fn markdown(rows: &[Row]) -> String {
    let is_there = |place: &usize| rows.iter().any(|row| row.boxes[*place].is_some());
    let columns: Vec<usize> = (0..COLUMNS.len()).filter(is_there).collect();
    let names = columns.iter().map(|place| COLUMNS[*place]);
    let header = ["headline"].into_iter().chain(names).chain(["what explains it"]);
    let header: Vec<&str> = header.collect();
    let rule = header.iter().map(|_| "---".to_owned());
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let row = |row: &Row| {
        let boxes =
            columns.iter().map(|place| row.boxes[*place].as_ref().map_or_else(String::new, cell));
        let label = [escaped(&row.label)].into_iter();
        let explained = row.explained.as_deref().map_or_else(String::new, escaped);
        line(label.chain(boxes).chain([explained]).collect())
    };
    let head = [line(header.iter().map(|&name| name.to_owned()).collect()), line(rule.collect())];
    joined(head.into_iter().chain(rows.iter().map(row)), "\n")
}

/// Formats a ratio above its figures.
fn cell(ratio: &Ratio) -> String {
    let Ratio { of, is_measured, what, ours, .. } = ratio;
    let ratio = match ratio.ratio_text() {
        Some(ratio) => format!("**{ratio}**<br>"),
        None if *is_measured => String::new(),
        None => format!("{NOT_MEASURED}<br>"),
    };
    let what = what.as_ref().map(|what| format!("<br>{}", escaped(what))).unwrap_or_default();
    let ours = match &ours[..] {
        [] => String::new(),
        ours => format!(" <sup>{}</sup>", ours.join(" ")),
    };
    format!("{ratio}{}{ours}{what}", escaped(of))
}
