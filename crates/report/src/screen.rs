//! The screen at the end of a run. It shows how engines compare in each
//! workload, their strengths and weaknesses, what was not ok, and where to find the rest.
//! `docs/statistics.md` explains its means.

pub(crate) mod device;
mod legend;
pub(crate) mod means;
mod naming;
mod shortfalls;
mod strengths;

#[cfg(test)]
mod tests;

use std::path::Path;

use embermark_model::result::ResultFile;
use embermark_model::{Durability, Status};

use crate::cost::{self, Activity, Cost};
use crate::evidence::{self, TierStanding};
use crate::grid::{self, Grid, Text, Tone};
use crate::note::Note;
use crate::scaling::{self, Scaling};
use crate::summary::{Comparison, Measured, Protocol};
use crate::{Options, advise, conditions, format, notes, table, text};
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

/// What the screen shows: how engines compare in each workload of a result.
struct View<'a> {
    comparison: &'a Comparison<'a>,
    lines: Vec<Line<'a>>,
    options: &'a Options<'a>,
}

impl<'a> View<'a> {
    fn new(comparison: &'a Comparison<'a>, options: &'a Options<'a>) -> Self {
        Self { comparison, lines: means::lines(&comparison.groups), options }
    }

    /// Whether a tier has a table. That of a single engine would have nothing but dashes.
    fn has_table(&self, tier: Durability) -> bool {
        let mut own = self.lines.iter().filter(|line| line.group.durability == tier);
        own.any(|line| line.boxes.iter().any(|one| *one != Standing::Nothing))
    }
}

/// Returns the screen of `file`, `options.width` columns wide. It ends with a line break.
pub fn screen(file: &ResultFile, options: &Options<'_>, files: &Files<'_>) -> String {
    let (comparison, durability) = evidence::compare(file, options.order, options.durability);
    let scaling = scaling::analyze(&comparison, options.explanations);
    let view = View::new(&comparison, options);
    let rests_on = rests_on(&comparison, &durability, options.width);
    let turns = order_turns(&scaling, options.width);
    let not_ok = not_ok(&view, &scaling);
    let rates = highest_rates(&view);
    let places = places(&view, files);
    let notice = notes::unpublishable_notice(&file.unpublishable());
    let mut out: Vec<String> = notice.iter().map(|face| table::heading(face, options)).collect();
    if let Some(device) = device::for_all_languages(&comparison, &durability) {
        let heads = [rests_on, turns, Some(places)].into_iter().flatten();
        out.push(text::joined(heads, "\n"));
        out.extend(not_ok);
        out.extend(device::blocks(&device, options));
        out.extend(rates);
    } else {
        out.extend(tier_tables(&view));
        let further = [rates, legend::lines(&view), rests_on, turns, not_ok, Some(places)];
        out.extend(further.into_iter().flatten());
    }
    out.join("\n\n") + "\n"
}

/// Compares engines, tier by tier.
fn tier_tables(view: &View<'_>) -> Vec<String> {
    let mut out = Vec::new();
    for tier in text::unique(view.lines.iter().map(|line| line.group.durability)) {
        let lines = view.lines.iter().filter(|line| line.group.durability == tier);
        let lines: Vec<&Line<'_>> = lines.collect();
        let has_table = view.has_table(tier);
        out.push(head(tier, has_table, view.options));
        out.extend(has_table.then(|| boxes(&lines, view.options)).into_iter().flatten());
        out.extend(no_comparison(&lines));
        out.extend(strengths::block(view, &lines));
    }
    out
}

/// Lists what was not ok, one line each. Only unused rows have more lines, because all their
/// reasons are shown.
fn not_ok(view: &View<'_>, scaling: &Scaling<'_>) -> Option<String> {
    let shortfalls = shortfalls::notes(view, scaling);
    let whole: Vec<String> = not_used(view.comparison.file).collect();
    let shown = clipped(&shortfalls, view.options.width, &whole);
    let lines = table::notes_text(&shown, view.options);
    let heading = table::heading("Not ok", view.options);
    (!lines.is_empty()).then(|| format!("{heading}\n{}", lines.join("\n")))
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
    let datasets = file.manifest.datasets.iter();
    let remarks = datasets.flat_map(|(workload, rows)| rows.unusual(workload));
    let lost = not_used(file).chain(remarks.map(|says| text::plain(&says)));
    let lost = lost.flat_map(|says| table::wrapped(&says, options.width, "", "  "));
    let head = [format!("So far, by {trials} of {cells}")].into_iter().chain(lost);
    let head = text::joined(head, "\n");
    let blocks = match device::for_all_languages(&comparison, &durability) {
        Some(device) => device::blocks(&device, options),
        None => {
            let mut view = View::new(&comparison, options);
            let begun = file.cells.iter().filter(|cell| !cell.trials.is_empty());
            let begun = text::unique(begun.map(|cell| cell.id.durability));
            view.lines.retain(|line| begun.contains(&line.group.durability));
            tier_tables(&view).into_iter().chain(legend::lines(&view)).collect()
        }
    };
    text::joined([head].into_iter().chain(blocks), "\n\n")
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
    let text = text::joined(lines.flat_map(|line| table::wrapped(&line, width, "", "  ")), "\n");
    (!text.is_empty()).then_some(text)
}

/// Returns the heading of a tier: what its commits survive, and what its table has, if it has one.
fn head(tier: Durability, has_table: bool, options: &Options<'_>) -> String {
    let survives = match tier {
        Durability::None => "a commit may be lost with its process",
        Durability::Process => "a commit survives the death of its process",
        Durability::Power => "a commit survives a power cut",
    };
    let heading = table::heading(&format!("Durability {tier}: {survives}"), options);
    if !has_table {
        return heading;
    }
    let says = "Times the fastest engine's time, geometric mean over a workload's phases.";
    format!("{heading}\n{}", table::wrapped(says, options.width, "", "").join("\n"))
}

/// Builds a table with workloads down and engines across, and a line for workloads without a row.
fn boxes(lines: &[&Line<'_>], options: &Options<'_>) -> Vec<String> {
    let shown = largest(lines);
    let engines = engines(lines);
    let row = |line: &&Line<'_>| {
        let text = |(id, _): &(&str, String)| {
            let place = line.group.engines.iter().position(|engine| engine.id == *id);
            place.map_or_else(Text::default, |place| {
                box_text(&line.boxes[place], line.group.engines[place].reference)
            })
        };
        (line.group.place(), engines.iter().map(text).collect())
    };
    let headings = engines.iter().map(|(_, heading)| heading);
    let grid = Grid::new("", headings, shown.iter().map(row).collect());
    let mut out = table::stacked(&grid, options);
    let is_hidden = |line: &&&Line<'_>| !shown.iter().any(|other| std::ptr::eq(*other, **line));
    let hidden: Vec<String> = lines.iter().filter(is_hidden).map(|of| of.group.place()).collect();
    if !hidden.is_empty() {
        let says = format!("In the tables: {}", hidden.join(", "));
        out.push(table::wrapped(&says, options.width, "", "  ").join("\n"));
    }
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
fn largest<'b, 'a>(lines: &[&'b Line<'a>]) -> Vec<&'b Line<'a>> {
    let larger = |line: &Line<'_>| {
        let same = lines.iter().filter(|other| other.group.workload == line.group.workload);
        same.filter(|other| other.group.extent.scale > line.group.extent.scale).count()
    };
    let mut places: Vec<usize> = (0..lines.len()).collect();
    places.sort_by_key(|at| larger(lines[*at]));
    places.truncate(MOST_LINES);
    places.sort_unstable();
    places.into_iter().map(|at| lines[at]).collect()
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
        Standing::Ended(status) => return Text::ended(*status),
        Standing::Weaker => return Text::toned("weaker", Tone::Dim),
        Standing::Broken => return Text::toned("broken", Tone::Bad),
        Standing::ByUrl => return Text::toned("by URL", Tone::Dim),
        Standing::Behind(shortfall) => {
            let tone = if reference { Tone::Dim } else { Tone::Warning };
            return Text::toned(shortfall.what.short() + grid::BEHIND, tone);
        }
        Standing::Nothing => return Text::dash(),
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

/// Returns whether a phase of any cell ran. In an empty result each was left out or is unsupported.
pub fn has_runs(file: &ResultFile) -> bool {
    let mut trials = file.cells.iter().flat_map(|cell| &cell.trials);
    trials.any(|trial| trial.phases.iter().any(|phase| !phase.runs.is_empty()))
}

/// Lists what was measured, where to find the rest, and what to do next. Paths and commands stay on
/// one line, so that they can be copied.
fn places(view: &View<'_>, files: &Files<'_>) -> String {
    let Comparison { file, kinds, .. } = view.comparison;
    let shown = |path: &Path| text::plain(&path.display().to_string());
    let result = view.options.path.map(|path| text::word(&path.display().to_string()));
    let command = |with: &str| result.as_ref().map(|path| with.replace("RESULT", path));
    let all_tables = command("embermark report RESULT --show tables");
    let advice = advise::example(kinds)
        .filter(|_| has_runs(file))
        .and_then(|weights| command(&format!("embermark advise RESULT --weight {weights}")));
    let lines = [
        ("measured", Some(measured(file))),
        ("storage", notes::storage::all_imitated(file)),
        ("network", notes::network::imitated(file)),
        ("page", files.page.map(shown)),
        ("tables", files.tables.map(shown)),
        ("tables", all_tables.filter(|_| files.tables.is_none())),
        ("advice", advice),
    ];
    let lines = lines.into_iter().filter_map(|(about, says)| Some((about, says?)));
    text::joined(lines.map(|(about, says)| format!("  {about:<8}  {says}")), "\n")
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
    let machine = [
        machine.cpu.as_deref().map(text::plain),
        machine.cpus.map(|cpus| format::counted(u64::from(cpus), "CPU")),
        machine.emulates.as_ref().map(|of| format!("emulating {}", text::plain(&of.device))),
    ];
    let parts = [protocol].into_iter().chain(conditions::of_heading(plan, true));
    let parts = parts.chain(rows).chain(machine.into_iter().flatten());
    text::joined(parts, ", ")
}

/// Shortens notes to one line each, except those that must be shown whole.
fn clipped(all: &[Note], width: usize, whole: &[String]) -> Vec<Note> {
    let about = all.iter().map(|note| display_width(&note.about)).max().unwrap_or(0);
    let room = width.saturating_sub(about + 4).max(20);
    let mut notes = all.to_vec();
    for note in notes.iter_mut().filter(|note| !whole.contains(&note.says)) {
        note.says = text::clipped(&note.says, room);
    }
    notes
}

/// Returns the block of highest rates, one line per phase that searched for one. `None` if no phase
/// did.
fn highest_rates(view: &View<'_>) -> Option<String> {
    let mut lines = Vec::new();
    for costs in cost::costs(view.comparison) {
        let searches = || costs.lines.iter().filter(|line| line.activity == Activity::Searches);
        for phase in text::unique(searches().map(|line| (line.phase, line.variant))) {
            let own = searches().filter(|line| (line.phase, line.variant) == phase);
            let own = own.filter(|line| line.status.has_figures() && !line.tainted);
            let rates = own.filter_map(|line| Some((line.median("sustained-rate")? as u64, line)));
            let mut rates: Vec<(u64, &Cost<'_>)> = rates.collect();
            rates.sort_by_key(|(rate, _)| std::cmp::Reverse(*rate));
            let rates = rates.into_iter().map(|(rate, line)| {
                let rate = if rate == 0 { "none".to_owned() } else { format::count(rate) };
                format!("{}{} {rate}", text::plain(line.engine.id), line.marks())
            });
            let rates = text::joined(rates, ", ");
            let (phase, variant) = phase;
            let extent = costs.extent.to_string();
            let head = [costs.workload, &extent, phase, variant].map(text::plain).join(" ");
            let line = format!("{head}, {}: {rates}", costs.durability);
            lines.extend(table::wrapped(&line, view.options.width, "", "  "));
        }
    }
    let head = table::heading("Highest rate without a loss, per second", view.options);
    (!lines.is_empty()).then(|| format!("{head}\n{}", lines.join("\n")))
}
