//! What measured energy, and what the disk says of its wear.

use std::collections::BTreeMap;

use embermark_model::result::{ResultFile, Run, Wear, WearCounter, WearUnit};

use super::{Note, note};
use crate::{format, text};

/// The most reasons that are told.
const MOST: usize = 3;

/// How energy and wear were measured, or why not.
pub(super) fn notes(file: &ResultFile) -> Vec<Note> {
    energy(file).into_iter().chain(wear(file)).collect()
}

/// `CPU packages by powercap (package-0)`: what the figures of energy are by; `None` where nothing measures.
pub(crate) fn source(file: &ResultFile) -> Option<String> {
    let source = file.manifest.energy.as_ref()?.sources.first()?;
    let about = source.about.split(';').next().unwrap_or_default();
    Some(text::plain(about))
}

fn energy(file: &ResultFile) -> Vec<Note> {
    let Some(known) = &file.manifest.energy else { return Vec::new() };
    let Some(source) = known.sources.first() else {
        let why = text::plain(&known.not_measured.join("; "));
        let says = format!(
            "not measured: {why}; the record of an external meter can be put beside a run (embermark energy)"
        );
        return vec![note("energy", says)];
    };
    let mut says = vec![format!("by {}", text::plain(&source.about))];
    let seconds = known.idle.as_ref().map(|idle| format::duration(idle.lasted_ns as f64));
    says.push(match (source.idle_watts, source.idle_spread_watts, seconds) {
        (Some(watts), Some(spread), Some(seconds)) => format!(
            "less the idle draw of {} (standard deviation {}) of the {seconds} before the first trial",
            format::watts(watts),
            format::watts(spread)
        ),
        (Some(watts), ..) => format!("less an idle draw of {}", format::watts(watts)),
        (None, ..) => "the idle draw is not known, so nothing over it is told".to_owned(),
    });
    if let Some(every) = source.sampled_every_ns {
        let took =
            source.reading_ns.map(|ns| format!(", {} a reading", format::duration(ns as f64)));
        let every = format::duration(every as f64);
        says.push(format!("read every {every}{}", took.unwrap_or_default()));
    }
    says.extend(
        source.aligned.as_ref().map(|aligned| format!("its clock: {}", text::plain(aligned))),
    );
    let others =
        text::joined(known.sources.iter().skip(1).map(|other| text::plain(&other.id)), ", ");
    if !others.is_empty() {
        says.push(format!("in the result file beside it: {others}"));
    }
    let mut notes = vec![note("energy", says.join("; "))];
    notes.extend(absent(file));
    notes
}

/// Why runs have no energy, with their number.
fn absent(file: &ResultFile) -> Option<Note> {
    let runs: Vec<&Run> = file
        .cells
        .iter()
        .flat_map(|cell| &cell.trials)
        .flat_map(|trial| &trial.phases)
        .flat_map(|phase| &phase.runs)
        .filter(|run| !run.discarded)
        .collect();
    let mut reasons: BTreeMap<String, (u64, &str)> = BTreeMap::new();
    for why in runs.iter().filter_map(|run| run.no_energy.as_deref()) {
        // The same but for its numbers.
        let kind = why.chars().filter(|c| !c.is_ascii_digit()).collect();
        reasons.entry(kind).or_insert((0, why)).0 += 1;
    }
    let without: u64 = reasons.values().map(|(count, _)| count).sum();
    let mut reasons: Vec<(u64, &str)> = reasons.into_values().collect();
    reasons.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let says = reasons.iter().take(MOST).map(|(count, why)| match reasons.len() {
        1 => format!("such as: {}", text::plain(why)),
        _ => format!("{} such as: {}", format::count(*count), text::plain(why)),
    });
    let says = text::joined(says, "; ");
    (without > 0).then(|| {
        let all = format::counted(runs.len() as u64, "counted run");
        note("no energy", format!("of {} of {all}, {says}", format::count(without)))
    })
}

/// The counters of wear, before and after.
fn wear(file: &ResultFile) -> Vec<Note> {
    let Some(wear) = &file.manifest.wear else { return Vec::new() };
    let disk =
        wear.disk.as_deref().map_or_else(String::new, |disk| format!("{}: ", text::plain(disk)));
    let counters = wear.counters.iter().map(counter);
    let absent = wear.not_counted.iter().map(|why| text::plain(why));
    let says = text::joined(counters.chain(absent), "; ");
    if says.is_empty() {
        return Vec::new();
    }
    let steps = if is_coarse(wear) {
        "; steps of a tenth of its life show nothing of a short run"
    } else {
        ""
    };
    vec![note("wear", format!("{disk}{says}{steps}"))]
}

fn is_coarse(wear: &Wear) -> bool {
    wear.counters.iter().any(|of| of.unit == WearUnit::Percent && of.resolution >= 10.0)
}

/// `life used 20 %, as before (smartctl percentage_used)`.
fn counter(of: &WearCounter) -> String {
    let show = |value: f64| match of.unit {
        // The upper end of its step.
        WearUnit::Percent if of.resolution > 1.0 && value > 100.0 => "more than 100 %".to_owned(),
        WearUnit::Percent if of.resolution > 1.0 => {
            format!("{} to {} %", value - of.resolution, value)
        }
        WearUnit::Percent => format!("{value} %"),
        WearUnit::Bytes => format::bytes(value),
        WearUnit::Step => format!("step {value} of 3"),
    };
    let says = match of.after {
        None => format!("{} before the run", show(of.before)),
        Some(after) if after == of.before => format!("{} before the run and after it", show(after)),
        Some(after) if of.unit == WearUnit::Bytes => {
            format!("{} in the run, {} in all", show(after - of.before), show(after))
        }
        Some(after) => format!("{} before the run, {} after it", show(of.before), show(after)),
    };
    format!("{} {says} ({})", text::plain(&of.name), text::plain(&of.source))
}

#[cfg(test)]
mod tests;
