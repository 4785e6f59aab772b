//! Lists what was not ok, one line each: absent engines, unsupported work, failures, and what may
//! have disturbed the figures. The tables have all details.

use embermark_model::Status;

use super::means::{Line, Standing};
use super::{View, naming};
use crate::note::{self, Note, note};
use crate::notes::failures::{Failure, failures};
use crate::scaling::{self, Scaling};
use crate::summary::Comparison;
use crate::{notes, text};

/// Largest number of lines of one kind.
const MOST_LINES: usize = 6;
/// Largest number of places that a line names.
const MOST_PLACES: usize = 3;

/// Returns the lines, the worst first.
pub(super) fn notes(view: &View<'_>, scaling: &Scaling<'_>) -> Vec<Note> {
    let comparison = view.comparison;
    let file = comparison.file;
    let all = failures(file);
    let mut notes = limited(all.iter().filter(|one| one.status.is_failure()), |one| {
        let places = places(one, comparison);
        note(text::plain(one.engine), format!("{places}: {}: {}", one.status, one.text))
    });
    let late = view.lines.iter().flat_map(|line| behind(comparison, line));
    notes.extend(limited(late, |who| note("behind", who)));
    let warnings = notes::warnings(file);
    notes.extend(limited(warnings.iter(), |warning| note("warning", warning.says.clone())));
    let datasets = file.manifest.datasets.iter();
    let remarks = datasets.flat_map(|(workload, rows)| rows.unusual(workload));
    notes.extend(limited(remarks, |says| note("rows", text::plain(&says))));
    let surprises = scaling::unexplained(scaling);
    if !surprises.is_empty() {
        let says = format!("unexplained, see the tables: {}", surprises.join("; "));
        notes.push(note("surprise", says));
    }
    let names = |of: Vec<&Failure<'_>>| note::names(of.iter().map(|one| text::plain(one.engine)));
    let unavailable = all.iter().filter(|one| one.status == Status::Unavailable);
    let (left_out, unavailable): (Vec<_>, Vec<_>) = unavailable.partition(|one| one.is_left_out());
    let left_out = names(left_out);
    if !left_out.is_empty() {
        notes.push(note("left out", format!("by licence: {left_out}")));
    }
    // A storage that cannot be imitated is missing for every engine.
    let (without, unavailable): (Vec<_>, Vec<_>) = unavailable.into_iter().partition(|one| {
        one.places.iter().all(|place| notes::storage::lacking(place.id, one.status, &one.text))
    });
    let without = text::unique(without.into_iter().map(|one| one.text.clone()));
    notes.extend(limited(without.into_iter(), |says| note(Status::Unavailable.name(), says)));
    let absent = names(unavailable);
    if !absent.is_empty() {
        let says = format!("{absent}; 'embermark engines' and the tables show what is needed");
        notes.push(note(Status::Unavailable.name(), says));
    }
    for status in [Status::Skipped, Status::NotRun, Status::Disputed] {
        let ended = all.iter().filter(|one| one.status == status);
        notes.extend(limited(ended_alike(ended, comparison).into_iter(), |says| {
            note(status.name(), says)
        }));
    }
    let cannot = match unsupported(&all, view).as_slice() {
        [] => None,
        [(places, says)] => Some(format!("{places}: {}", says.join(", "))),
        _ => {
            let lacks = all.iter().filter(|one| one.status == Status::Unsupported);
            let engines = note::names(lacks.map(|one| text::plain(one.engine)));
            Some(format!("in part by {engines}; the tables show what"))
        }
    };
    notes.extend(cannot.map(|says| note(Status::Unsupported.name(), says)));
    if file.manifest.finished.is_none() {
        let says = "the run was interrupted; 'embermark run --resume' with its folder continues it";
        notes.push(note("not finished", says.to_owned()));
    }
    notes
}

/// Makes one line for each, and a last line that counts the rest.
fn limited<T>(all: impl Iterator<Item = T>, line: impl Fn(T) -> Note) -> Vec<Note> {
    let mut notes: Vec<Note> = all.map(line).collect();
    let more = notes.len().saturating_sub(MOST_LINES);
    if more > 1 {
        notes.truncate(MOST_LINES);
        notes.push(note("", format!("and {more} more, in the tables")));
    }
    notes
}

/// Lists where work ended for the same reason. A line names its engines unless they are all that
/// are here.
fn ended_alike<'a>(
    ended: impl Iterator<Item = &'a Failure<'a>>,
    comparison: &Comparison<'_>,
) -> Vec<String> {
    let alike = text::by_key(
        ended.map(|one| ((places(one, comparison), &*one.text), text::plain(one.engine))),
    );
    let here = comparison.file.cells.iter().filter(|cell| cell.status != Status::Unavailable);
    let here = text::unique(here.map(|cell| &cell.id.engine)).len();
    let line =
        |((places, reason), engines): ((String, &str), Vec<String>)| match engines.len() == here {
            true => format!("{places}: {reason}"),
            false => format!("{places}: {}: {reason}", note::names(engines)),
        };
    alike.into_iter().map(line).collect()
}

/// Lists the engines that did not keep up in a workload, and what they did not do.
fn behind(comparison: &Comparison<'_>, line: &Line<'_>) -> Vec<String> {
    let workload = naming::workload(comparison, line.group.workload, line.group.extent);
    let engines = line.group.engines.iter().zip(&line.boxes);
    let who = engines.filter_map(|(engine, standing)| {
        let Standing::Behind(shortfall) = standing else { return None };
        Some(format!("{workload}: {}: {}", text::plain(engine.id), shortfall.words(None)))
    });
    who.collect()
}

/// Lists what is unsupported, with the engines that lack it. Engines that lack the same work share
/// a line. If no engine can do the work, the reason replaces their names.
fn unsupported(all: &[Failure<'_>], view: &View<'_>) -> Vec<(String, Vec<String>)> {
    let untried = |failure: &Failure<'_>| {
        let of = |line: &&Line<'_>| failure.places.iter().any(|place| line.group.holds(place.id));
        let mut lines = view.lines.iter().filter(of).peekable();
        lines.peek().is_some() && lines.all(|line| line.steps.is_empty())
    };
    let lacks = all.iter().filter(|one| one.status == Status::Unsupported);
    let says = |one: &Failure<'_>| match untried(one) {
        true => one.text.clone(),
        false => text::plain(one.engine),
    };
    text::by_key(lacks.map(|one| (places(one, view.comparison), says(one))))
}

/// Names places: `events insert, htap insert_count and 3 more`. If it is not so in all tiers, it
/// names those in which it is: `events insert (power)`.
fn places(failure: &Failure<'_>, comparison: &Comparison<'_>) -> String {
    if failure.is_everywhere(comparison.file) {
        return "everything".to_owned();
    }
    let all = text::unique(comparison.groups.iter().map(|group| group.durability)).len();
    let named = |place| (naming::place(comparison, place), place.id.durability);
    let places = text::by_key(failure.places.iter().map(named)).into_iter();
    let places = places.map(|(name, mut tiers)| {
        tiers.sort_unstable();
        let in_part = || text::joined(tiers.iter().map(ToString::to_string), ", ");
        if tiers.len() == all { name } else { format!("{name} ({})", in_part()) }
    });
    text::first(&places.collect::<Vec<_>>(), MOST_PLACES)
}
