use std::path::Path;

use embermark_model::result::{EnergyMeasurement, EnergySource, Period};

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
    let not_measured = vec!["no zone in /sys/class/powercap".to_owned(), "no vcgencmd".to_owned()];
    file.manifest.energy = Some(EnergyMeasurement { not_measured, ..EnergyMeasurement::default() });
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
    let sources = vec![source, EnergySource { id: "dram".to_owned(), ..EnergySource::default() }];
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
                  50.0 mW) of the 10.0 s before the first trial; read every 1.00 s, 6.00 ms a reading; in \
                  the result file beside it: dram";
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
