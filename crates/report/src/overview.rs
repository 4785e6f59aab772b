//! The overview at the end of a run, which fits one screen. It shows how engines compare in each
//! workload, their strengths and weaknesses, what was not ok, and where to find the rest.
//! `docs/statistics.md` explains its means.

pub(crate) mod device;
mod legend;
pub(crate) mod means;
mod naming;
mod rates;
mod shortfalls;
mod strengths;

#[cfg(test)]
mod tests;

use std::path::Path;

use embermark_model::result::ResultFile;
use embermark_model::{Durability, Status};

use crate::evidence::{self, TierStanding};
use crate::grid::{self, Grid, Text, Tone};
use crate::note::Note;
use crate::scaling::{self, Scaling};
use crate::summary::{Comparison, Measured, Protocol};
use crate::{Options, advise, format, notes, table, text};
use textwrap::core::display_width;

use means::{Line, Mean, Standing};

/// Largest number of workloads in a tier that have their own row.
const MOST_LINES: usize = 12;

/// Files that were made from a result.
#[derive(Clone, Copy, Debug, Default)]
pub struct Files<'a> {
    /// The HTML page, if there is one.
    pub page: Option<&'a Path>,
    /// All tables as text, if there is such a file.
    pub tables: Option<&'a Path>,
}

/// Returns the overview of `file`, `options.width` columns wide. It ends with a line break.
pub fn overview(file: &ResultFile, options: &Options<'_>, files: &Files<'_>) -> String {
    let (comparison, durability) = evidence::compare(file, options.order, options.durability);
    let scaling = scaling::analyze(file, &comparison, options.explanations);
    let lines = means::lines(file, &comparison.groups);
    let mut out: Vec<String> =
        notes::notice(file).map(|face| table::heading(&face, options)).into_iter().collect();
    if let Some(device) = device::for_all_languages(file, &comparison, &durability) {
        let heads = rests_on(&comparison, &durability, options.width)
            .into_iter()
            .chain(order_turns(&scaling, options.width))
            .chain([places(file, &comparison, options, files).join("\n")]);
        out.push(heads.collect::<Vec<_>>().join("\n"));
        out.extend(not_ok(file, &comparison, &lines, &scaling, options));
        out.extend(device::blocks(&device, options));
        out.extend(rates::block(file, &durability, options));
        return out.join("\n\n") + "\n";
    }
    out.extend(tier_tables(&comparison, &lines, options));
    out.extend(rates::block(file, &durability, options));
    out.extend(legend::lines(file, &lines, options));
    out.extend(rests_on(&comparison, &durability, options.width));
    out.extend(order_turns(&scaling, options.width));
    out.extend(not_ok(file, &comparison, &lines, &scaling, options));
    out.push(places(file, &comparison, options, files).join("\n"));
    out.join("\n\n") + "\n"
}

/// Compares engines, tier by tier.
fn tier_tables(
    comparison: &Comparison<'_>,
    lines: &[Line<'_>],
    options: &Options<'_>,
) -> Vec<String> {
    let mut out = Vec::new();
    for tier in text::unique(lines.iter().map(|line| line.group.durability)) {
        let lines: Vec<&Line<'_>> =
            lines.iter().filter(|line| line.group.durability == tier).collect();
        out.push(head(tier, options));
        out.extend(boxes(&lines, options));
        out.extend(strengths::block(comparison, &lines, options));
    }
    out
}

/// Lists what was not ok, one line each. Only unused rows have more lines, because all their
/// reasons are shown.
fn not_ok(
    file: &ResultFile,
    comparison: &Comparison<'_>,
    lines: &[Line<'_>],
    scaling: &Scaling<'_>,
    options: &Options<'_>,
) -> Option<String> {
    let shortfalls = shortfalls::notes(file, comparison, lines, scaling);
    if shortfalls.is_empty() {
        return None;
    }
    let whole: Vec<String> = not_used(file).collect();
    let lines = table::notes_text(&clipped(&shortfalls, options.width, &whole), options);
    Some(format!("{}\n{}", table::heading("Not ok", options), lines.join("\n")))
}

/// Lists unused rows by workload and reason.
fn not_used(file: &ResultFile) -> impl Iterator<Item = String> {
    let datasets = file.manifest.datasets.iter();
    datasets.filter_map(|(workload, rows)| Some(text::plain(&rows.not_used(workload)?)))
}

/// Returns the provisional recommendation of a run that is still going on. If there are no commits
/// of single rows to compare, it shows how engines compare.
pub fn provisional(file: &ResultFile, options: &Options<'_>) -> String {
    let (comparison, durability) = evidence::compare(file, options.order, options.durability);
    let own = file.cells.iter();
    let own = own.filter(|cell| !cell.trials.is_empty() || cell.status == Status::NotRun);
    let counts: Vec<usize> = own.map(|cell| cell.trials.len()).collect();
    let measured = || counts.iter().filter(|count| **count > 0);
    let (least, most) = (measured().min().unwrap_or(&0), measured().max().unwrap_or(&0));
    let trials = match least == most {
        true => format::counted(*least as u64, "trial"),
        false => format!("{least} to {most} trials"),
    };
    let cells = match measured().count() {
        all if all == counts.len() => "each cell".to_owned(),
        some => format!("{some} of {} cells", counts.len()),
    };
    let head = format!("So far, by {trials} of {cells}");
    let datasets = file.manifest.datasets.iter();
    let remarks = datasets.flat_map(|(workload, rows)| rows.unusual(workload));
    let lost = not_used(file).chain(remarks.map(|says| text::plain(&says)));
    let lost = lost.flat_map(|says| table::wrapped(&says, options.width, "", "  "));
    let head = [head].into_iter().chain(lost).collect::<Vec<_>>().join("\n");
    let blocks = match device::for_all_languages(file, &comparison, &durability) {
        Some(device) => device::blocks(&device, options),
        None => {
            let mut lines = means::lines(file, &comparison.groups);
            let is_begun = |tier: Durability| {
                file.cells.iter().any(|cell| cell.id.durability == tier && !cell.trials.is_empty())
            };
            lines.retain(|line| is_begun(line.group.durability));
            let mut blocks = tier_tables(&comparison, &lines, options);
            blocks.extend(legend::lines(file, &lines, options));
            blocks
        }
    };
    [head].into_iter().chain(blocks).collect::<Vec<_>>().join("\n\n")
}

/// Returns the most important change of the order between two scales, and the number of others.
fn order_turns(scaling: &Scaling<'_>, width: usize) -> Option<String> {
    let turns = scaling::order_turns(scaling);
    let (first, others) = turns.split_first()?;
    let more = match others.len() {
        0 => String::new(),
        more => format!("; {more} more in the tables"),
    };
    Some(table::wrapped(&format!("order turns: {first}{more}"), width, "", "  ").join("\n"))
}

/// Lists the basis of each tier, engine by engine.
fn rests_on(comparison: &Comparison<'_>, all: &[TierStanding], width: usize) -> Option<String> {
    let tiers = text::unique(comparison.groups.iter().map(|group| group.durability));
    let lines = tiers.into_iter().filter_map(|tier| evidence::summary_line(tier, all));
    let lines: Vec<String> =
        lines.flat_map(|line| table::wrapped(&line, width, "", "  ")).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Returns the heading of a tier: what its commits survive.
fn head(tier: Durability, options: &Options<'_>) -> String {
    let survives = match tier {
        Durability::None => "a commit may be lost with its process",
        Durability::Process => "a commit survives the death of its process",
        Durability::Power => "a commit survives a power cut",
    };
    let heading = table::heading(&format!("Durability {tier}: {survives}"), options);
    let says = "Times the fastest engine's time, geometric mean over a workload's phases.";
    format!("{heading}\n{}", table::wrapped(says, options.width, "", "").join("\n"))
}

/// Builds a table with workloads down and engines across, and a line for workloads without a row.
fn boxes(lines: &[&Line<'_>], options: &Options<'_>) -> Vec<String> {
    let shown = largest(lines);
    let engines = engines(lines);
    let row = |line: &&&Line<'_>| {
        let text = |(id, _): &(&str, String)| {
            let place = line.group.engines.iter().position(|engine| engine.id == *id);
            place.map_or_else(Text::default, |place| {
                box_text(&line.boxes[place], line.group.engines[place].reference)
            })
        };
        (line.group.place(), engines.iter().map(text).collect())
    };
    let grid = Grid {
        title: String::new(),
        header: engines.iter().map(|(_, heading)| heading.clone()).collect(),
        rows: shown.iter().map(row).collect(),
    };
    let hidden: Vec<String> = lines
        .iter()
        .filter(|line| !shown.iter().any(|other| std::ptr::eq(**other, **line)))
        .map(|line| line.group.place())
        .collect();
    let mut out = match grid.header.is_empty() {
        true => Vec::new(),
        false => table::stacked(&grid, options),
    };
    if !hidden.is_empty() {
        let says = format!("In the tables: {}", hidden.join(", "));
        out.push(table::wrapped(&says, options.width, "", "  ").join("\n"));
    }
    out.extend(no_comparison(lines));
    out
}

/// Returns the note for a tier in which no two engines compete.
fn no_comparison(lines: &[&Line<'_>]) -> Option<String> {
    let competing = lines.iter().flat_map(|Line { group, steps, boxes }| {
        let has_time = |place: usize| {
            let mut measured = steps.iter().filter_map(|step| step.row.entries[place].measured());
            measured.any(Measured::competes)
        };
        let engines = group.engines.iter().zip(boxes).enumerate();
        let engines = engines.filter(move |(place, (engine, standing))| {
            let stands = matches!(standing, Standing::Mean(_) | Standing::Nothing);
            engine.ranked(group.durability) && stands && has_time(*place)
        });
        engines.map(|(_, (engine, _))| engine.id)
    });
    match text::unique(competing).as_slice() {
        [] => Some("No engine has figures that can be compared.".to_owned()),
        [one] => Some(format!(
            "{} has no engine to compare with: its times are in the tables.",
            text::plain(one)
        )),
        _ => None,
    }
}

/// Returns at most the number of lines that there is room for, in their order. The largest scale of
/// every workload comes first.
fn largest<'b, 'a>(lines: &'b [&'b Line<'a>]) -> Vec<&'b &'b Line<'a>> {
    let larger = |line: &Line<'_>| {
        let same = lines.iter().filter(|other| other.group.workload == line.group.workload);
        same.filter(|other| other.group.scale > line.group.scale).count()
    };
    let mut ranks: Vec<(usize, usize)> =
        lines.iter().enumerate().map(|(at, line)| (larger(line), at)).collect();
    ranks.sort_unstable();
    ranks.truncate(MOST_LINES);
    let mut places: Vec<usize> = ranks.into_iter().map(|(_, at)| at).collect();
    places.sort_unstable();
    places.into_iter().map(|at| &lines[at]).collect()
}

/// Returns the engines that have a column, and its heading. An engine that supports none of the
/// workloads has no column.
fn engines<'a>(lines: &[&Line<'a>]) -> Vec<(&'a str, String)> {
    let mut engines: Vec<(&str, String)> = Vec::new();
    for Line { group, .. } in lines {
        for engine in grid::columns(group).into_iter().map(|at| &group.engines[at]) {
            if !engines.iter().any(|(id, _)| *id == engine.id) {
                engines.push((engine.id, grid::engine_heading(group, engine)));
            }
        }
    }
    engines
}

fn box_text(standing: &Standing<'_>, reference: bool) -> Text {
    let mean = match standing {
        Standing::Mean(mean) => mean,
        Standing::Ended(status) if status.is_failure() => {
            return Text::toned(status.name(), Tone::Bad);
        }
        Standing::Ended(status) => return Text::toned(status.name(), Tone::Dim),
        Standing::Weaker => return Text::toned("weaker", Tone::Dim),
        Standing::Broken => return Text::toned("broken", Tone::Bad),
        Standing::ByUrl => return Text::toned("by URL", Tone::Dim),
        Standing::Behind(shortfall) => {
            let tone = if reference { Tone::Dim } else { Tone::Warning };
            return Text::toned(shortfall.what.short() + grid::BEHIND, tone);
        }
        Standing::Nothing => return Text::new(format::NOT_MEASURED),
    };
    let Mean { ratio, answered, of, best, not_significant, lost, .. } = *mean;
    let lacks = answered < of;
    Text {
        value: format::ratio(ratio),
        marks: grid::lead(best, not_significant).to_owned() + if lost { grid::LOST } else { "" },
        second: if lacks { format::part(answered as u64, of as u64) } else { String::new() },
        tone: match (reference || lacks, best || not_significant) {
            (true, _) => Tone::Dim,
            (_, true) => Tone::Best,
            _ => Tone::Plain,
        },
        ..Text::default()
    }
}

/// Lists what was measured, where to find the rest, and what to do next. Paths and commands stay on
/// one line, so that they can be copied.
fn places(
    file: &ResultFile,
    comparison: &Comparison<'_>,
    options: &Options<'_>,
    files: &Files<'_>,
) -> Vec<String> {
    let shown = |path: &Path| text::plain(&path.display().to_string());
    let result = options.path.map(shown);
    let command = |with: &str| result.as_ref().map(|path| with.replace("RESULT", path));
    let weights = advise::example(&comparison.kinds);
    let lines = [
        ("measured", Some(measured(file))),
        ("storage", notes::storage::all_imitated(file)),
        ("network", notes::network::imitated(file)),
        ("page", files.page.map(shown)),
        ("tables", files.tables.map(shown)),
        (
            "tables",
            command("embermark report RESULT --show tables").filter(|_| files.tables.is_none()),
        ),
        ("advice", command(&format!("embermark advise RESULT --weight {weights}"))),
    ];
    let lines = lines.into_iter().filter_map(|(about, says)| Some((about, says?)));
    lines.map(|(about, says)| format!("  {about:<8}  {says}")).collect()
}

/// Describes the measurement: `3 trials of 6 runs, synthetic rows, AMD EPYC, 2 CPUs, …`.
fn measured(file: &ResultFile) -> String {
    let (plan, manifest) = (&file.plan, &file.manifest);
    let rows = text::unique(manifest.datasets.values().map(|dataset| match dataset.file {
        Some(_) => text::plain(&dataset.name),
        None => "synthetic rows".to_owned(),
    }));
    let machine = &manifest.machine;
    let protocol = Protocol::from_cells(file.cells.iter());
    let protocol = protocol.map_or_else(|| "no trials".to_owned(), |of| of.trials_of_runs());
    let clients = (plan.clients > 1).then(|| format::counted(plan.clients.into(), "client"));
    let rate = plan.target_rate.map(grid::target_rate);
    let machine = [
        machine.cpu.as_deref().map(text::plain),
        machine.cpus.map(|cpus| format::counted(u64::from(cpus), "CPU")),
        machine.emulates.as_ref().map(|of| format!("emulating {}", text::plain(&of.device))),
    ];
    let parts = [protocol].into_iter().chain(clients).chain(rate);
    let parts = parts.chain(rows).chain(machine.into_iter().flatten());
    text::joined(parts, ", ")
}

/// Shortens notes to one line each, except those that must be shown whole.
fn clipped(all: &[Note], width: usize, whole: &[String]) -> Vec<Note> {
    let about = all.iter().map(|note| display_width(&note.about)).max().unwrap_or(0);
    let room = width.saturating_sub(about + 4).max(20);
    let says = |note: &Note| match whole.contains(&note.says) {
        true => note.says.clone(),
        false => text::clipped(&note.says, room),
    };
    all.iter().map(|note| Note { about: note.about.clone(), says: says(note) }).collect()
}
