//! Energy in every form of a report, and in advice.

use std::path::Path;

use crate::metered::{self, metered, watts};
use embermark_model::Durability;
use embermark_model::result::ResultFile;
use embermark_report::{Format, Options, advise, load, render, summary};

fn fixture() -> ResultFile {
    metered(load(Path::new("tests/fixtures/schema-1.json")).unwrap())
}

fn text(file: &ResultFile, format: Format) -> String {
    render(file, format, &Options { width: 200, ..Options::default() }).unwrap()
}

#[test]
fn the_energy_of_a_phase_and_of_an_operation_is_its_power_over_idle_times_its_time() {
    let file = fixture();
    let comparison = summary::compare(&file, &[]);
    let mut seen = 0;
    for group in &comparison.groups {
        for row in &group.rows {
            for (engine, (entry, beside)) in
                group.engines.iter().zip(row.entries.iter().zip(&row.run_figures))
            {
                let (Some(measured), Some(beside)) = (entry.measured(), beside) else { continue };
                let variant = row.variant.unwrap_or(group.variant);
                let cell = group.cell(variant, engine.id).unwrap();
                let place = file.cells.iter().position(|other| other.id == cell.id).unwrap();
                let Some(joules) = beside.get("energy_over_idle_joules") else { continue };
                // Only if every run did all of its operations.
                let Some(ns) = measured.figure.elapsed_ns else { continue };
                assert!(
                    (joules - watts(place) * ns / 1e9).abs() < joules * 0.05,
                    "{joules} in {ns} ns"
                );
                let per_operation = beside.get("energy_over_idle_per_op_joules").unwrap();
                let all = per_operation * measured.figure.ops as f64;
                assert!((all - joules).abs() < joules * 1e-6, "{all} and {joules}");
                seen += 1;
                let power = beside.get("power_watts").unwrap();
                assert!((power - watts(place) - metered::IDLE).abs() < 1e-6);
            }
        }
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn tables_say_what_it_was_measured_by_and_every_run_stands_in_csv() {
    let file = fixture();
    let tables = text(&file, Format::Table);
    for says in [
        "energy of a run, over the idle draw and in all",
        "energy/op",
        "mean power",
        "Energy and wear",
        "external meter (meter.csv)",
        "10 to 20 % before the run and after it",
        "steps of a tenth",
    ] {
        assert!(tables.contains(says), "no {says} in {tables}");
    }
    let csv = text(&file, Format::Csv);
    let names: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    for name in ["began", "energy_source", "energy_joules", "energy_over_idle_joules"] {
        assert!(names.contains(&name), "{name}");
    }
    assert!(csv.contains(",meter,"));
    let older = text(&load(Path::new("tests/fixtures/schema-1.json")).unwrap(), Format::Table);
    assert!(!older.contains("energy"), "a file by a version that did not look says nothing of it");
}

#[test]
fn advice_ranks_by_joules_and_says_what_measured_them() {
    let file = fixture();
    let tables = advise::tables(&[&file], None, &[]).tables;
    let energy: Vec<_> = tables
        .iter()
        .flat_map(|table| &table.engines)
        .filter_map(|entry| Some((entry.engine.as_str(), *entry.ratios.get("energy")?)))
        .collect();
    assert!(
        energy.len() > 1 && energy.iter().any(|(_, ratio)| (*ratio - 1.0).abs() < 1e-9),
        "{energy:?}"
    );
    let resting = tables[0].resting(Durability::Process, &["energy"]);
    assert!(resting[0].protocol.contains("energy by external meter (meter.csv)"), "{resting:?}");
    // Joules of another source are not added.
    let mut other = fixture();
    other.manifest.run_id = "another".to_owned();
    other.manifest.energy.as_mut().unwrap().sources[0].id = "package".to_owned();
    let cheap = other.cells.iter_mut().flat_map(|cell| &mut cell.trials);
    for run in cheap.flat_map(|trial| &mut trial.phases).flat_map(|phase| &mut phase.runs) {
        run.energy.as_mut().unwrap().source = "package".to_owned();
        run.energy.as_mut().unwrap().over_idle_joules = Some(1e-9);
    }
    let pooled = advise::tables(&[&file, &other], None, &[]).tables;
    let of = |tables: &[advise::AdviceTable]| -> Vec<(String, u64)> {
        let all = tables.iter().flat_map(|table| &table.engines);
        let ratio = |entry: &advise::EngineAdvice| {
            Some((entry.engine.clone(), (entry.ratios.get("energy")? * 1e6) as u64))
        };
        all.filter_map(ratio).collect()
    };
    assert_eq!(of(&pooled), of(&tables));
}
