//! A comparison as people and programs read it.

use std::fmt::Write as _;

use ::csv::Writer;

use super::{Change, Changes, Turn, Verdict};
use crate::grid::{Grid, Text, Tone};
use crate::notes::{self, Note};
use crate::{Options, ReportError, export, format, table as terminal, text};

/// For a terminal.
pub fn table(changes: &Changes, options: &Options<'_>) -> String {
    let mut blocks: Vec<String> =
        face(changes).map(|face| terminal::heading(&face, options)).into_iter().collect();
    blocks.push(terminal::heading(&summary(changes), options));
    for grid in grids(changes) {
        blocks.push(terminal::heading(&grid.title, options));
        blocks.extend(terminal::stacked(&grid, options));
    }
    for (title, notes) in sections(changes) {
        let lines = terminal::notes_text(&notes, options).join("\n");
        blocks.push(format!("{}\n{lines}", terminal::heading(title, options)));
    }
    blocks.join("\n\n") + "\n"
}

/// For a page on GitHub.
pub fn markdown(changes: &Changes) -> String {
    let heads = face(changes).into_iter().chain([summary(changes)]);
    let mut blocks: Vec<String> =
        heads.map(|head| format!("**{}**", text::markdown(&head))).collect();
    for grid in grids(changes) {
        blocks.push(format!("## {}", text::markdown(&grid.title)));
        blocks.push(export::markdown_table(&grid));
    }
    for (title, notes) in sections(changes) {
        blocks.push(format!("### {title}\n\n{}", export::markdown_list(&notes)));
    }
    blocks.join("\n\n") + "\n"
}

/// All of it.
///
/// # Errors
/// When a value has no JSON form, which none here lacks.
pub fn json(changes: &Changes) -> Result<String, ReportError> {
    Ok(serde_json::to_string_pretty(changes)? + "\n")
}

/// One line for each phase that either file has figures of, and for each cell that only one has.
///
/// # Errors
/// When the CSV writer fails, which it does not on memory.
pub fn csv(changes: &Changes) -> Result<String, ReportError> {
    let mut writer = Writer::from_writer(Vec::new());
    writer.write_record([
        "workload",
        "scale",
        "durability",
        "variant",
        "engine",
        "phase",
        "change",
        "old_ns",
        "new_ns",
        "ratio",
        "ratio_low",
        "ratio_high",
        "regression",
        "reason",
        "publishable",
    ])?;
    let id = |id: &embermark_model::CellId| {
        let (scale, durability) = (id.scale.to_string(), id.durability.to_string());
        [
            text::plain(&id.workload),
            scale,
            durability,
            text::plain(&id.variant),
            text::plain(&id.engine),
        ]
    };
    let mut line = |cell: &embermark_model::CellId, rest: [String; 9]| {
        let publishable = !changes.unpublishable.contains(&cell.engine);
        writer.write_record(id(cell).into_iter().chain(rest).chain([publishable.to_string()]))
    };
    let empty = String::new;
    for change in &changes.phases {
        let end =
            |end: usize| change.interval.map(|ends| ends[end].to_string()).unwrap_or_default();
        let rest = [
            text::plain(&change.phase),
            change.verdict.name().replace(' ', "-"),
            change.old_ns.to_string(),
            change.new_ns.to_string(),
            change.ratio.to_string(),
            end(0),
            end(1),
            change.regression.to_string(),
            empty(),
        ];
        line(&change.cell, rest)?;
    }
    for turn in &changes.turned {
        let phase = turn.phase.as_deref().map(text::plain).unwrap_or_default();
        let reason = turn.reason.as_deref().map(text::plain).unwrap_or_default();
        let [a, b, c, d, e] = [empty(), empty(), empty(), empty(), empty()];
        line(
            &turn.cell,
            [phase, turned(turn), a, b, c, d, e, turn.regression.to_string(), reason],
        )?;
    }
    for (which, cells) in [("only-old", &changes.only_old), ("only-new", &changes.only_new)] {
        for cell in cells {
            let [a, b, c, d, e, f] = [empty(), empty(), empty(), empty(), empty(), empty()];
            line(cell, [empty(), which.to_owned(), a, b, c, d, e, false.to_string(), f])?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| ::csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn face(changes: &Changes) -> Option<String> {
    notes::face_of(&changes.unpublishable.iter().map(String::as_str).collect::<Vec<_>>())
}

/// `2 slower (1 by more than 5 %), 1 faster, 10 without a difference shown`.
fn summary(changes: &Changes) -> String {
    let count = |verdict| changes.phases.iter().filter(|change| change.verdict == verdict).count();
    let beyond = changes.phases.iter().filter(|change| change.regression).count();
    let mut out = format!("New against old: {} slower", count(Verdict::Slower));
    if beyond > 0 {
        // Writing to a String does not fail.
        let _ = write!(out, " ({beyond} of them regressions)");
    }
    let _ = write!(out, ", {} faster", count(Verdict::Faster));
    let _ = write!(out, ", {} with no difference shown", count(Verdict::NoDifference));
    let few = count(Verdict::TooFewTrials);
    if few > 0 {
        let _ = write!(out, ", {few} with too few trials to tell");
    }
    let worse = changes.turned.iter().filter(|turn| turn.regression).count();
    if worse > 0 {
        let _ = write!(out, ", {worse} no longer right");
    }
    out
}

/// One table for each workload, scale, tier and variant.
fn grids(changes: &Changes) -> Vec<Grid> {
    let mut grids: Vec<Grid> = Vec::new();
    let header = ["old", "new", "new/old", "95 % interval", ""].map(str::to_owned);
    for change in &changes.phases {
        let id = &change.cell;
        let (workload, variant) = (text::plain(&id.workload), text::plain(&id.variant));
        let title = format!("{workload} {} · durability {} · {variant}", id.scale, id.durability);
        let row =
            (format!("{} {}", text::plain(&id.engine), text::plain(&change.phase)), texts(change));
        match grids.iter_mut().find(|grid| grid.title == title) {
            Some(grid) => grid.rows.push(row),
            None => grids.push(Grid {
                title,
                corner: String::new(),
                header: header.to_vec(),
                rows: vec![row],
            }),
        }
    }
    grids
}

fn texts(change: &Change) -> Vec<Text> {
    let tone = match (change.verdict, change.regression) {
        (_, true) => Tone::Bad,
        (Verdict::Slower, _) => Tone::Warning,
        (Verdict::Faster, _) => Tone::Best,
        _ => Tone::Plain,
    };
    let verdict = change.verdict.name().to_owned() + if change.regression { " !" } else { "" };
    let interval = format::or_dash(change.interval, |ends| format::between(ends, format::ratio));
    [
        format::duration(change.old_ns),
        format::duration(change.new_ns),
        format::ratio(change.ratio),
        interval,
        verdict,
    ]
    .map(|value| Text { value, tone, ..Text::default() })
    .to_vec()
}

/// `ok, then wrong`.
fn turned(turn: &Turn) -> String {
    format!("{}, then {}", turn.was, turn.is)
}

fn sections(changes: &Changes) -> Vec<(&'static str, Vec<Note>)> {
    let plain = |texts: &[String]| -> Vec<Note> {
        texts.iter().map(|says| Note { about: String::new(), says: text::plain(says) }).collect()
    };
    let turns = changes.turned.iter().map(|turn| {
        let phase = turn.phase.as_deref().map(|phase| format!("{}: ", text::plain(phase)));
        let reason =
            turn.reason.as_deref().map(|reason| format!(": {}", text::clipped(reason, 400)));
        let mark = if turn.regression { " !" } else { "" };
        Note {
            about: text::plain(&turn.cell.to_string()),
            says: format!(
                "{}{}{mark}{}",
                phase.unwrap_or_default(),
                turned(turn),
                reason.unwrap_or_default()
            ),
        }
    });
    let cells = |cells: &[embermark_model::CellId]| -> Vec<String> {
        cells.iter().map(ToString::to_string).collect()
    };
    let percent = format::percent(changes.threshold);
    let says = format!(
        "new/old is the ratio of the times per operation, medians over the trials; faster and slower \
         where its 95 % bootstrap interval leaves out 1; ! is a regression: slower by more than \
         {percent}, or no longer right"
    );
    let sections = [
        ("NOT COMPARABLE, looked at all the same", plain(&changes.differences.incomparable)),
        ("Turned", turns.collect()),
        ("In the old file only", plain(&cells(&changes.only_old))),
        ("In the new file only", plain(&cells(&changes.only_new))),
        ("Not alike", plain(&changes.differences.remarks)),
        ("How to read it", plain(&[says])),
    ];
    sections.into_iter().filter(|(_, notes)| !notes.is_empty()).collect()
}
