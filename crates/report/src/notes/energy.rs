//! How energy was measured, and what the disk reports about its wear.

use std::collections::BTreeMap;

use embermark_model::result::{ResultFile, Run, WearCounter, WearUnit};

use crate::note::{Note, note};
use crate::{format, text};

/// Largest number of reasons that are shown.
const MOST: usize = 3;

/// Explains how energy and wear were measured, or why they were not.
pub(super) fn notes(file: &ResultFile) -> Vec<Note> {
    energy(file).into_iter().chain(wear(file)).collect()
}

/// Returns the source of the energy figures: `CPU packages by powercap (package-0)`. `None` if
/// nothing measures energy.
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
            "not measured: {why}; you can add the record of an external meter (embermark energy)"
        );
        return vec![note("energy", says)];
    };
    let seconds = known.idle.as_ref().map(|idle| format::duration(idle.lasted_ns as f64));
    let idle = match (source.idle_watts, source.idle_spread_watts, seconds) {
        (Some(watts), Some(spread), Some(seconds)) => format!(
            "less the idle draw of {} (standard deviation {}) of the {seconds} before the first trial",
            format::watts(watts),
            format::watts(spread)
        ),
        (Some(watts), ..) => format!("less an idle draw of {}", format::watts(watts)),
        (None, ..) => "the idle power is unknown, so no energy above it is shown".to_owned(),
    };
    let duration = |ns: u64| format::duration(ns as f64);
    let took = source.reading_ns.map(|ns| format!(", {} a reading", duration(ns)));
    let every = |ns| format!("read every {}{}", duration(ns), took.as_deref().unwrap_or_default());
    let others = known.sources.iter().skip(1).map(|other| other.id.as_str());
    let others = others.collect::<Vec<&str>>().join(", ");
    let says = [
        Some(format!("by {}", source.about)),
        Some(idle),
        source.sampled_every_ns.map(every),
        source.aligned.as_ref().map(|aligned| format!("its clock: {aligned}")),
        (!others.is_empty()).then(|| format!("also in the result file: {others}")),
    ];
    let says = text::joined(says.into_iter().flatten().map(|says| text::plain(&says)), "; ");
    [note("energy", says)].into_iter().chain(absent(file)).collect()
}

/// Explains why runs have no energy, with their number.
fn absent(file: &ResultFile) -> Option<Note> {
    let runs = super::phases(file).flat_map(|(_, phase)| &phase.runs);
    let runs: Vec<&Run> = runs.filter(|run| !run.discarded).collect();
    let mut reasons: BTreeMap<String, (u64, &str)> = BTreeMap::new();
    for why in runs.iter().filter_map(|run| run.no_energy.as_deref()) {
        // Reasons that differ only in their numbers are one.
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

/// Shows the wear counters before and after.
fn wear(file: &ResultFile) -> Vec<Note> {
    let Some(wear) = &file.manifest.wear else { return Vec::new() };
    let disk = wear.disk.as_deref().map(|disk| format!("{disk}: ")).unwrap_or_default();
    let counters = wear.counters.iter().map(counter);
    let says = text::joined(counters.chain(wear.not_counted.iter().cloned()), "; ");
    if says.is_empty() {
        return Vec::new();
    }
    let is_coarse = |of: &WearCounter| of.unit == WearUnit::Percent && of.resolution >= 10.0;
    let steps = match wear.counters.iter().any(is_coarse) {
        true => "; steps of a tenth of its life show nothing of a short run",
        false => "",
    };
    vec![note("wear", text::plain(&format!("{disk}{says}{steps}")))]
}

/// Describes a counter: `life used 20 % before the run and after it (smartctl percentage_used)`.
fn counter(of: &WearCounter) -> String {
    let show = |value: f64| match of.unit {
        // The value is the upper end of its step.
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
    format!("{} {says} ({})", of.name, of.source)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use embermark_model::result::{EnergyMeasurement, EnergySource, Period, Wear};

    use super::*;
    use crate::load;

    fn file() -> ResultFile {
        load(Path::new("tests/fixtures/schema-1.json")).unwrap()
    }

    fn said(file: &ResultFile) -> Vec<(String, String)> {
        notes(file).into_iter().map(|note| (note.about, note.says)).collect()
    }

    #[test]
    fn an_older_file_says_nothing_and_one_without_sources_why() {
        let mut file = file();
        assert_eq!(said(&file), []);
        let not_measured =
            vec!["no zone in /sys/class/powercap".to_owned(), "no vcgencmd".to_owned()];
        file.manifest.energy =
            Some(EnergyMeasurement { not_measured, ..EnergyMeasurement::default() });
        let [(about, says)] = &said(&file)[..] else { panic!("one note") };
        assert_eq!(about, "energy");
        assert!(
            says.starts_with("not measured: no zone in /sys/class/powercap; no vcgencmd"),
            "{says}"
        );
    }

    #[test]
    fn the_source_its_idle_draw_and_what_it_did_not_measure_are_told() {
        let mut file = file();
        let source = EnergySource {
            id: "pmic".to_owned(),
            about: "rails; its 5 V rails are not in it".to_owned(),
            idle_watts: Some(2.5),
            idle_spread_watts: Some(0.05),
            sampled_every_ns: Some(1_000_000_000),
            reading_ns: Some(6_000_000),
            ..EnergySource::default()
        };
        let idle = Some(Period { began: String::new(), lasted_ns: 10_000_000_000 });
        let sources =
            vec![source, EnergySource { id: "dram".to_owned(), ..EnergySource::default() }];
        file.manifest.energy =
            Some(EnergyMeasurement { sources, idle, ..EnergyMeasurement::default() });
        let runs = file.cells[0].trials.iter_mut().flat_map(|trial| &mut trial.phases[0].runs);
        let mut some = 0;
        for run in runs.filter(|run| !run.discarded) {
            run.no_energy = Some(format!("it was read {some} times"));
            some += 1;
        }
        let notes = said(&file);
        let wanted = "by rails; its 5 V rails are not in it; less the idle draw of 2.50 W (standard deviation \
                  50.0 mW) of the 10.0 s before the first trial; read every 1.00 s, 6.00 ms a reading; \
                  also in the result file: dram";
        assert_eq!(notes[0], ("energy".to_owned(), wanted.to_owned()));
        assert_eq!(notes[1].0, "no energy");
        assert!(
            notes[1].1.starts_with(&format!("of {some} of "))
                && notes[1].1.contains("such as: it was read")
        );
        assert_eq!(super::source(&file).as_deref(), Some("rails"));
    }

    #[test]
    fn counters_of_wear_are_told_before_and_after() {
        let mut file = file();
        let counter = |name: &str, unit, resolution, before, after| WearCounter {
            name: name.to_owned(),
            source: "s".to_owned(),
            unit,
            resolution,
            before,
            after,
        };
        file.manifest.wear = Some(Wear {
            disk: Some("/dev/mmcblk0".to_owned()),
            counters: vec![
                counter("life used", WearUnit::Percent, 10.0, 20.0, Some(20.0)),
                counter("spare", WearUnit::Step, 1.0, 1.0, Some(2.0)),
                counter("bytes written", WearUnit::Bytes, 1024.0, 5e9, Some(7e9)),
                counter("worn", WearUnit::Percent, 1.0, 3.0, None),
            ],
            not_counted: vec!["no smartctl".to_owned()],
        });
        let wanted = "/dev/mmcblk0: life used 10 to 20 % before the run and after it (s); spare step 1 of 3 before \
                  the run, step 2 of 3 after it (s); bytes written 2.00 GB in the run, 7.00 GB in all (s); worn \
                  3 % before the run (s); no smartctl; steps of a tenth of its life show nothing of a short run";
        assert_eq!(said(&file), [("wear".to_owned(), wanted.to_owned())]);
    }
}
