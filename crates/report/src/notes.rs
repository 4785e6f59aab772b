//! What stands below the tables: what the marks mean, why a cell has no figures, what the figures
//! were measured with.

pub(crate) mod failures;
mod sharing;

use std::collections::BTreeMap;
use std::path::Path;

use embermark_model::plan::Dataset;
use embermark_model::result::{Machine, ResultFile, Trial};

use crate::drift::{self, Drift};
use crate::summary::{Comparison, Engine, Entry, Group, Measured, Row, Unit};
use crate::{format, grid, text};

/// Lines under one heading. No section is empty.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub title: &'static str,
    pub notes: Vec<Note>,
}

/// One line: what it is about, and what is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub about: String,
    pub says: String,
}

fn note(about: impl Into<String>, says: impl Into<String>) -> Note {
    Note { about: about.into(), says: says.into() }
}

/// What stands on the face of a report with figures that may not be published.
pub(crate) fn face(file: &ResultFile) -> Option<String> {
    face_of(&file.unpublishable())
}

/// The same of the engines named.
pub(crate) fn face_of(engines: &[&str]) -> Option<String> {
    let named = names(engines.iter().copied());
    let says = "NOT TO BE PUBLISHED: the licence forbids publishing figures of";
    (!engines.is_empty()).then(|| format!("{says} {named} (--publishable leaves them out)"))
}

/// Every note of a report, in sections.
pub(crate) fn sections(
    file: &ResultFile,
    comparison: &Comparison<'_>,
    path: Option<&Path>,
) -> Vec<Section> {
    [
        ("Not ok", failures::notes(file)),
        ("Warnings", warnings(file)),
        ("How to read it", reading(file, comparison)),
        ("Measured with", measured_with(file, path)),
    ]
    .into_iter()
    .filter(|(_, notes): &(_, Vec<Note>)| !notes.is_empty())
    .map(|(title, notes)| Section { title, notes })
    .collect()
}

/// What may have disturbed the figures.
pub(crate) fn warnings(file: &ResultFile) -> Vec<Note> {
    let drift = drift::of(file).filter(Drift::is_notable);
    let drift = drift.map(|drift| {
        let advice = "repeat the run on a machine that is cool, idle and on mains";
        format!("the machine drifted: {}: {advice}", drift.says())
    });
    let warnings = file.manifest.warnings.iter().cloned().chain(drift);
    warnings.map(|warning| note("", text::plain(&warning))).collect()
}

/// What the tables' marks and units mean: of each only when it occurs.
fn reading(file: &ResultFile, comparison: &Comparison<'_>) -> Vec<Note> {
    let measured: Vec<(&Group<'_>, &Row<'_>, &Engine<'_>, &Measured<'_>)> = measured(comparison);
    let mut notes = Vec::new();
    if measured.is_empty() {
        return notes;
    }
    let time = || note("time", "mean of the counted runs of a trial, median over the trials");
    notes.push(sharing::time(&file.plan).unwrap_or_else(time));
    if measured.iter().any(|(.., figure)| figure.ratio.is_some()) {
        let says = "time over that of the row's best, within one tier; * is the best";
        notes.push(note("1.00x", says));
        notes.push(intervals(&measured));
    }
    let by_schedule = file.plan.target_rate.is_some();
    if !by_schedule && measured.iter().any(|(_, row, ..)| row.unit == Unit::Operation) {
        let says = "time of one operation, as not every engine did the same number";
        notes.push(note(grid::PER_OPERATION, says));
    }
    notes.extend(sharing::schedule(&measured));
    notes.extend(stopped(file, &measured));
    let engines = |applies: &dyn Fn(&Measured<'_>) -> bool| {
        names(
            measured
                .iter()
                .filter(|(.., figure)| applies(figure))
                .map(|(_, _, engine, _)| engine.id),
        )
    };
    let by_client = engines(&|measured| measured.figure.client_side);
    if !by_client.is_empty() {
        let says = "done by client code over scans and point operations, for want of a query";
        notes.push(note(grid::CLIENT_SIDE, format!("{says}: {by_client}")));
    }
    let apart = engines(&|measured| !measured.figure.outliers.is_empty());
    if !apart.is_empty() {
        let says = "a trial stands apart from the others (Tukey's fences, or Dixon's Q of three or \
                    four trials); it counts all the same";
        notes.push(note(grid::OUTLIER, format!("{says}: {apart}")));
    }
    let tainted = engines(&|measured| measured.tainted);
    if !tainted.is_empty() {
        let says = "the phase ended well and its cell did not: shown, not ranked";
        notes.push(note(grid::TAINTED, format!("{says}: {tainted}")));
    }
    notes.extend(tiers(comparison));
    let usage = comparison.groups.iter().flat_map(|group| &group.usage);
    if usage.clone().any(|usage| usage.is_measured()) {
        let says = format!(
            "one counted run of every phase, summed, and the largest memory of any, without what \
             the worker held before it opened the engine{}; medians over the trials",
            baselines(file)
        );
        let says = match &file.manifest.not_counted {
            Some(why) => format!("{says}; {}", text::plain(why)),
            None => format!(
                "{says}; written and flushes are of one run on a block device of its own, \
                 maintenance included, on disk of rows loaded once"
            ),
        };
        let short = usage.clone().any(|usage| usage.is_measured() && usage.incomplete);
        let mark = if short { "; ^ less than the whole work was done" } else { "" };
        notes.push(note("resources", format!("{says}{mark}")));
    }
    let rows = comparison.groups.iter().flat_map(|group| &group.rows);
    if rows.flat_map(|row| &row.loadings).any(Option::is_some) {
        let says = "written/byte: what one load brought to a block device of its own for each byte \
                    of the rows' values; maintenance: the engine's checkpoint or compaction after the \
                    last run; total/byte: written/byte, maintenance included";
        notes.push(note("loads", says));
    }
    notes
}

/// What the ratios are worth: which differences are shown, or that too few trials tell of none.
fn intervals(measured: &[(&Group<'_>, &Row<'_>, &Engine<'_>, &Measured<'_>)]) -> Note {
    let none = measured.iter().all(|(.., measured)| measured.figure.interval_ns.is_none());
    if none {
        let says = "not measured: they take 3 trials or more, so nothing says which of the ratios \
                    near 1 are differences";
        return note("intervals", says);
    }
    let says = "no difference to the row's best is shown: the ratio's 95 % bootstrap interval over \
                the trials includes 1, and nobody wins alone (--intervals shows them)";
    note(grid::NOT_SIGNIFICANT, says)
}

/// ` (3.10 MB to 5.20 MB)`: what workers held that had an engine inside them.
fn baselines(file: &ResultFile) -> String {
    let inside = |trial: &&Trial| {
        let mut runs = trial.phases.iter().flat_map(|phase| &phase.runs);
        runs.all(|run| run.client.is_none())
    };
    let trials = file.cells.iter().flat_map(|cell| &cell.trials).filter(inside);
    let held = || trials.clone().filter_map(|trial| trial.baseline_bytes);
    let show = |bytes: u64| format::bytes(bytes as f64);
    match (held().min().map(show), held().max().map(show)) {
        (Some(least), Some(most)) if least == most => format!(" ({least})"),
        (Some(least), Some(most)) => format!(" ({least} to {most})"),
        _ => String::new(),
    }
}

/// Everything measured, with where.
fn measured<'a>(
    comparison: &'a Comparison<'a>,
) -> Vec<(&'a Group<'a>, &'a Row<'a>, &'a Engine<'a>, &'a Measured<'a>)> {
    let rows =
        comparison.groups.iter().flat_map(|group| group.rows.iter().map(move |row| (group, row)));
    rows.flat_map(|(group, row)| {
        group.engines.iter().zip(&row.entries).filter_map(move |(engine, entry)| match entry {
            Entry::Measured(measured) => Some((group, row, engine, measured)),
            _ => None,
        })
    })
    .collect()
}

/// What `^` means, and how far each got that was stopped.
fn stopped(
    file: &ResultFile,
    measured: &[(&Group<'_>, &Row<'_>, &Engine<'_>, &Measured<'_>)],
) -> Option<Note> {
    let mut places: Vec<String> = Vec::new();
    for (group, row, engine, measured) in measured {
        if let Some(stop) = measured.figure.stop {
            let engine = text::plain(engine.id);
            let phase = text::plain(row.phase.unwrap_or_default());
            let (done, of) = (format::count(stop.done), format::count(stop.of));
            let place = format!("{} {}", text::plain(group.workload), group.scale);
            let variant = text::plain(row.variant.unwrap_or(group.variant));
            places.push(format!(
                "{engine} {phase} ({variant}), {place} {}: {done} of {of}",
                group.durability
            ));
        }
    }
    let limit =
        file.plan.max_run_time_ms.map(|ms| format!(" of {}", format::duration(ms as f64 * 1e6)));
    let limit = limit.unwrap_or_default();
    (!places.is_empty()).then(|| {
        let places = places.join("; ");
        let says = format!("stopped at the longest run time{limit}; operations done: {places}");
        note(grid::STOPPED, says)
    })
}

/// Which engines have another effective durability than was asked for, and which are references.
fn tiers(comparison: &Comparison<'_>) -> Vec<Note> {
    let mut said: Vec<(&str, String, Vec<&str>)> = Vec::new();
    for group in &comparison.groups {
        let asked = group.durability;
        for engine in &group.engines {
            let mut say =
                |mark, says: String| match said.iter_mut().find(|(_, other, _)| *other == says) {
                    Some((.., engines)) => engines.push(engine.id),
                    None => said.push((mark, says, vec![engine.id])),
                };
            if engine.reference {
                say(grid::REFERENCE, "shown for orientation, never ranked".into());
            } else if let Some(effective) = engine.stronger(asked) {
                let says = format!("effective durability {effective} where {asked} was asked");
                say(grid::STRONGER, says);
            } else if let Some(effective) = engine.weaker(asked) {
                let says = format!(
                    "effective durability only {effective} where {asked} was asked, so not ranked"
                );
                say(grid::WEAKER, says);
            }
        }
    }
    said.sort_by_key(|(mark, ..)| *mark);
    said.into_iter()
        .map(|(mark, says, engines)| note(mark, format!("{says}: {}", names(engines.into_iter()))))
        .collect()
}

/// Names without repetition, in the order they come.
fn names<'a>(all: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<String> = Vec::new();
    for name in all.map(text::plain) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

fn measured_with(file: &ResultFile, path: Option<&Path>) -> Vec<Note> {
    let manifest = &file.manifest;
    let mut notes = Vec::new();
    if let Some(floor) = manifest.floor {
        notes.push(note(
            "harness floor",
            format!("{} per point read", format::duration(floor.read_ns)),
        ));
    }
    if let Some(drift) = drift::of(file) {
        notes.push(note("drift", drift.says()));
    }
    for (workload, dataset) in &manifest.datasets {
        notes.extend(data(workload, dataset));
    }
    let versions = versions(file);
    if !versions.is_empty() {
        notes.push(note("engines", versions));
    }
    let machine = machine(&manifest.machine);
    if !machine.is_empty() {
        notes.push(note("machine", machine));
    }
    let commit = manifest.tool.commit.as_deref();
    let commit = commit.map_or_else(String::new, |commit| format!(" ({})", text::plain(commit)));
    let (version, profile) =
        (text::plain(&manifest.tool.version), text::plain(&manifest.tool.profile));
    let started = text::plain(&manifest.started);
    let unfinished = if manifest.finished.is_none() { ", not finished" } else { "" };
    notes.push(note("embermark", format!("{version}{commit}, {profile}, {started}{unfinished}")));
    if let Some(path) = path {
        notes.push(note("result file", text::plain(&path.display().to_string())));
    }
    notes
}

/// What was dropped from a data set and what is unusual about the rest, if anything.
fn data(workload: &str, dataset: &Dataset) -> Option<Note> {
    let list = |counts: &BTreeMap<String, u64>| {
        let items =
            counts.iter().map(|(what, n)| format!("{} {}", format::count(*n), text::plain(what)));
        items.collect::<Vec<String>>().join(", ")
    };
    let (dropped, remarks) = (list(&dataset.dropped), list(&dataset.remarks));
    let parts = [("not used: ", dropped), ("remarks: ", remarks)];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(head, list)| format!("{head}{list}"))
        .collect();
    let about = format!("{} rows", text::plain(workload));
    (!parts.is_empty()).then(|| note(about, parts.join("; ")))
}

fn versions(file: &ResultFile) -> String {
    let mut versions: Vec<(&str, Vec<&str>)> = Vec::new();
    for cell in &file.cells {
        for version in cell.trials.iter().filter_map(|trial| trial.version.as_deref()) {
            match versions.iter_mut().find(|(engine, _)| *engine == cell.id.engine) {
                Some((_, known)) if known.contains(&version) => {}
                Some((_, known)) => known.push(version),
                None => versions.push((&cell.id.engine, vec![version])),
            }
        }
    }
    let show = |(engine, versions): &(&str, Vec<&str>)| {
        let versions: Vec<String> =
            versions.iter().map(|version| text::clipped(version, 60)).collect();
        format!("{} {}", text::plain(engine), versions.join(" and "))
    };
    versions.iter().map(show).collect::<Vec<String>>().join("; ")
}

/// The machine in a line; empty when nothing of it could be read.
pub(crate) fn machine(machine: &Machine) -> String {
    let of = |value: &Option<String>| value.as_deref().map(text::plain);
    [
        of(&machine.cpu),
        machine.cpus.map(|cpus| format::counted(u64::from(cpus), "CPU")),
        machine.memory_bytes.map(|bytes| format!("{} memory", format::bytes(bytes as f64))),
        of(&machine.os),
        of(&machine.kernel),
        of(&machine.file_system).map(|system| format!("{system} file system")),
        of(&machine.device),
        machine.emulates.as_ref().map(|emulated| {
            format!("limited to emulate {}, not that device", text::plain(&emulated.device))
        }),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<String>>()
    .join(", ")
}
