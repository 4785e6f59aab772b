//! Explains the marks and units in the tables.

use embermark_model::result::{ResultFile, Trial};

use super::{PlacedFigure, position, sharing};
use crate::note::{Note, names, note};
use crate::scaling::Scaling;
use crate::summary::{self, Comparison, Engine, Group, Measured, Resource, Usage};
use crate::{format, grid, text};

/// Explains the tables' marks and units that occur.
pub(super) fn notes(comparison: &Comparison<'_>, scaling: &Scaling<'_>) -> Vec<Note> {
    let file = comparison.file;
    let groups = comparison.groups.iter();
    let of_group = |group| {
        let group: &Group<'_> = group;
        group.measured().map(move |(row, engine, measured)| (group, row, engine, measured))
    };
    let measured: Vec<PlacedFigure<'_>> = groups.flat_map(of_group).collect();
    if measured.is_empty() {
        return Vec::new();
    }
    let time = || note("time", "mean of the counted runs of a trial, median over the trials");
    let mut notes = vec![sharing::time(file).unwrap_or_else(time)];
    if measured.iter().any(|(.., figure)| figure.ratio.is_some()) {
        let says = "time divided by the time of the row's best, within one tier; * is the best";
        notes.extend([note("1.00x", says), intervals(&measured)]);
    }
    let by_schedule = file.plan.target_rate.is_some();
    if !by_schedule && measured.iter().any(|(_, row, ..)| row.per_operation) {
        let says = "time of one operation, as not every engine did the same number";
        notes.push(note(grid::PER_OPERATION, says));
    }
    notes.extend(sharing::schedule(&measured));
    notes.extend(sharing::machines(file, &measured));
    notes.extend(stopped(file, &measured));
    type Applies = fn(&Measured<'_>) -> bool;
    let marks: [(&str, Applies, &str); 5] = [
        (
            grid::CLIENT_SIDE,
            |measured| measured.figure.client_side,
            "done by client code over scans and point operations, because the engine has no query for it",
        ),
        (
            grid::COMMITS_EACH,
            |measured| measured.commits_each,
            "one commit per row, because the engine has no transactions, while others commit many rows together",
        ),
        (
            grid::OUTLIER,
            |measured| !measured.figure.outliers.is_empty(),
            "a trial is an outlier (Tukey's fences, or Dixon's Q of three or four trials); it counts nevertheless",
        ),
        (
            grid::TAINTED,
            |measured| measured.tainted,
            "the phase ended well and its cell did not: shown, not ranked",
        ),
        (
            grid::LOST,
            |measured| measured.lost > 0,
            "a trial failed or timed out: the figure is of the others",
        ),
    ];
    for (mark, applies, says) in marks {
        let who = measured.iter().filter(|(.., figure)| applies(figure));
        let who = names(who.map(|(_, _, engine, _)| engine.name()));
        notes.extend((!who.is_empty()).then(|| note(mark, format!("{says}: {who}"))));
    }
    if !scaling.surprises.is_empty() {
        let says = "a surprise: more than ten times the time per row over a decade of rows, or more than twenty times the time of the next engine of its family; listed above, with the reason if it is known";
        notes.push(note(grid::SURPRISE, says));
    }
    notes.extend(tiers(file, comparison));
    notes.extend(broken(comparison));
    notes.extend(resources(file, comparison));
    let mut rows = comparison.groups.iter().flat_map(|group| &group.rows);
    if rows.clone().flat_map(|row| &row.loadings).any(Option::is_some) {
        let says = "written/byte: what one load brought to a block device of its own for each byte \
                    of the rows' values; maintenance: the engine's checkpoint or compaction after the \
                    last run; total/byte: written/byte, maintenance included";
        notes.push(note("loads", says));
    }
    if rows.any(|row| row.explained.iter().any(Option::is_some)) {
        let says = "the cost of an operation: counted in separate runs after the timed ones, with every system call traced; it includes the background work of the engine's threads; a missing column is 0 for all engines, or was not counted (--show explain shows the tables)";
        notes.push(note("explained", says));
    }
    notes.extend(summary::not_explained(file).into_iter().map(|why| note("not explained", why)));
    notes
}

/// Explains the resources. `None` if none were measured.
fn resources(file: &ResultFile, comparison: &Comparison<'_>) -> Option<Note> {
    let usage = || comparison.groups.iter().flat_map(|group| &group.usage);
    let any = |of: fn(&Usage) -> bool| usage().any(of);
    any(Usage::is_measured).then(|| {
        let counted = match &file.manifest.not_counted {
            Some(why) => text::plain(why),
            None if any(|usage| usage.get(Resource::WRITTEN).is_some()) => {
                "written and flushes are of one run on a block device of its own, maintenance \
                 included, on disk of rows loaded once"
                    .to_owned()
            }
            None => "bytes that reach the disk were not counted".to_owned(),
        };
        let floor = match any(|usage| usage.get(Resource::PEAK_ABOVE_FLOOR).is_some()) {
            true => "; above floor: peak memory without what the engine that does nothing holds for the same phases",
            false => "",
        };
        let short = any(|usage| usage.is_measured() && usage.incomplete);
        let mark = if short { "; ^ of less work: do not compare sums" } else { "" };
        let used = |of: &Resource| usage().any(|usage| usage.get(*of).is_some());
        let combined = summary::combinations(Resource::SHOWN.iter().copied().filter(used));
        let says = format!(
            "{combined}; memory is without what the worker held before it opened the engine{}; \
             medians over the trials; {counted}{floor}{mark}",
            baselines(file)
        );
        note("resources", says)
    })
}

/// Explains which differences are significant, or that there are too few trials to know.
fn intervals(measured: &[PlacedFigure<'_>]) -> Note {
    let none = measured.iter().all(|(.., measured)| measured.figure.interval_ns.is_none());
    if none {
        let says = "not measured: they need 3 trials or more, so it is unknown which of the ratios \
                    near 1 are differences";
        return note("intervals", says);
    }
    let says = "not significantly slower than the row's best: the ratio's 95 % bootstrap interval over the trials includes 1, and no engine wins alone (--show intervals shows the intervals)";
    note(grid::NOT_SIGNIFICANT, says)
}

/// Formats the memory of workers with an embedded engine before they opened it: ` (3.10 MB to 5.20
/// MB)`.
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

/// Explains `^`, and how far each stopped run got.
fn stopped(file: &ResultFile, measured: &[PlacedFigure<'_>]) -> Option<Note> {
    let place = |seen: &PlacedFigure<'_>| {
        let stop = seen.3.figure.stop?;
        let [done, of] = [stop.done, stop.of].map(format::count);
        Some(format!("{}: {done} of {of}", position(seen)))
    };
    let places: Vec<String> = measured.iter().filter_map(place).collect();
    let limit = file.plan.max_run_time_ms.map(|ms| format::duration(ms as f64 * 1e6));
    let limit = limit.map(|limit| format!(" of {limit}")).unwrap_or_default();
    (!places.is_empty()).then(|| {
        let places = places.join("; ");
        let bound = match file.plan.lasts_ms {
            Some(_) => ", or at 20 times the best's time",
            None => "",
        };
        let says =
            format!("stopped at the longest run time{limit}{bound}; operations done: {places}");
        note(grid::STOPPED, says)
    })
}

/// Lists engines whose effective durability differs from the requested one, engines with settings
/// of the user's, and reference engines.
fn tiers(file: &ResultFile, comparison: &Comparison<'_>) -> Vec<Note> {
    let say = |(group, engine): (&Group<'_>, &Engine<'_>)| {
        let asked = group.durability;
        let effective = |only: &str, effective| {
            format!("effective durability {only}{effective} where {asked} was asked")
        };
        let key = if engine.reference {
            (grid::REFERENCE, "shown for orientation, never ranked".to_owned())
        } else if engine.by_url {
            (grid::BY_URL, "a server with its own settings and machine, never ranked".to_owned())
        } else if let Some(configuration) =
            file.plan.configurations.get(engine.id).filter(|own| own.has_settings())
        {
            let (mark, own) = match engine.own_durability {
                Some(own) => (grid::OWN_DURABILITY, format!(", so not ranked: it has {own}")),
                None => (grid::OWN_SETTINGS, String::new()),
            };
            let says = format!("{configuration}: durability as its author claims{own}");
            (mark, text::plain(&says))
        } else if let Some(tier) = engine.stronger(asked) {
            (grid::STRONGER, effective("", tier))
        } else {
            (grid::WEAKER, effective("only ", engine.weaker(asked)?) + ", so not ranked")
        };
        Some((key, text::plain(engine.id)))
    };
    let groups = comparison.groups.iter();
    let engines = groups.flat_map(|group| group.engines.iter().map(move |one| (group, one)));
    let mut said = text::by_key(engines.filter_map(say));
    said.sort_by_key(|((mark, _), _)| *mark);
    let line = |((mark, says), engines): ((&str, String), Vec<String>)| {
        note(mark, format!("{says}: {}", engines.join(", ")))
    };
    said.into_iter().map(line).collect()
}

/// Lists engines that broke what a tier promises.
fn broken(comparison: &Comparison<'_>) -> Option<Note> {
    let engines = comparison.groups.iter().flat_map(|group| &group.engines);
    let who = names(engines.filter(|engine| engine.broken).map(Engine::name));
    let says = "broke what the tier promises, as 'Durability' above has it: its times are of less, so not ranked";
    (!who.is_empty()).then(|| note(grid::BROKEN, format!("{says}: {who}")))
}
