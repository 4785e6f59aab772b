use embermark_model::result::{Cell, EnergyMeasurement, Manifest, PhaseResult, Trial};
use embermark_model::{CellId, Durability, Scale, Status};
use jiff::SignedDuration;

use super::*;
use crate::energy::marker::PATTERN;

const DAY: f64 = 1_767_225_600.0;

fn period(began: f64, seconds: f64) -> Period {
    let day = Timestamp::from_second(DAY as i64).unwrap();
    let began = day.checked_add(SignedDuration::from_millis((began * 1e3) as i64)).unwrap();
    Period { began: began.to_string(), lasted_ns: (seconds * 1e9) as u64 }
}

/// A result with runs at these times, its pattern of 30 s at 100 s and its idle time after that.
fn result(runs: &[(f64, f64)]) -> ResultFile {
    let run = |(began, seconds): &(f64, f64)| Run {
        ops: 1_000,
        period: Some(period(*began, *seconds)),
        energy: Some(Energy { source: "package".to_owned(), joules: 9.0, ..Energy::default() }),
        ..Run::default()
    };
    let phase = PhaseResult {
        phase: "load".to_owned(),
        runs: runs.iter().map(run).collect(),
        ..PhaseResult::default()
    };
    let id = CellId {
        workload: "sensors".to_owned(),
        scale: Scale::Rows(1_000),
        durability: Durability::Process,
        variant: "single".to_owned(),
        engine: "sqlite".to_owned(),
        memory_limit: None,
        storage: None,
    };
    let cell = Cell {
        id,
        status: Status::Ok,
        reason: None,
        effective_durability: None,
        own_durability: None,
        reference: false,
        unpublishable: false,
        trials: vec![Trial { phases: vec![phase], ..Trial::default() }],
        lost_trials: Vec::new(),
        counting: None,
        explaining: None,
    };
    let energy = EnergyMeasurement {
        sources: vec![EnergySource { id: "package".to_owned(), ..EnergySource::default() }],
        idle: Some(period(130.0, 10.0)),
        markers: vec![period(100.0, 30.0)],
        ..EnergyMeasurement::default()
    };
    ResultFile {
        schema: SCHEMA,
        manifest: Manifest { energy: Some(energy), ..Manifest::default() },
        plan: serde_json::from_str(include_str!("plan.json")).unwrap(),
        cells: vec![cell],
    }
}

/// The meter: 3 W idle, 7 W in the pattern, 5 W from 150 s on. Its clock is ahead by `off`.
fn record(off: f64, gap: Option<(f64, f64)>) -> Record {
    let watts = |at: f64| match at - 100.0 {
        at if (0.0..30.0).contains(&at) && PATTERN[(at / 2.0) as usize] => 7.0,
        at if at >= 50.0 => 5.0,
        _ => 3.0,
    };
    let times = (0..3_000).map(|n| 80.0 + f64::from(n) / 10.0);
    let lines = times.filter(|at| gap.is_none_or(|(from, to)| *at < from || *at > to));
    let curve = lines.map(|at| (DAY + at + off, watts(at))).collect();
    Record { curve, is_relative: false }
}

fn apply_to(
    result: &mut ResultFile,
    record: &Record,
    options: MeterOptions,
) -> Result<Metered, String> {
    apply(result, record, Path::new("logs/meter.csv"), options).map_err(|error| error.to_string())
}

#[test]
fn a_meter_whose_clock_is_off_gives_each_run_its_energy_over_idle() {
    let mut result = result(&[(160.0, 20.0), (200.0, 5.0), (210.0, 0.4)]);
    let record = record(-3_723.25, None);
    let metered = apply_to(&mut result, &record, MeterOptions::default()).unwrap();
    let few = "too few lines of the meter in the run: 10 are needed".to_owned();
    assert_eq!((metered.known, metered.unknown), (2, vec![(few, 1)]));
    let runs: Vec<Run> = runs(&result).cloned().collect();
    let energy = runs[0].energy.as_ref().unwrap();
    assert!((energy.joules - 100.0).abs() < 0.5, "5 W for 20 s: {energy:?}");
    assert!((energy.over_idle_joules.unwrap() - 40.0).abs() < 1.0, "3 W idle: {energy:?}");
    assert_eq!(runs[0].energy_beside[0].joules, 9.0, "what the processor counted stays");
    assert!(runs[2].energy.is_none() && runs[2].no_energy.is_some());
    let sources = &result.manifest.energy.as_ref().unwrap().sources;
    assert_eq!([&*sources[0].id, &*sources[1].id], ["meter", "package"]);
    assert!((sources[0].idle_watts.unwrap() - 3.0).abs() < 0.1, "{:?}", sources[0]);
    let aligned = sources[0].aligned.as_ref().unwrap();
    assert!(aligned.contains("+3723.") && aligned.contains("load pattern"), "{aligned}");
    // Applied again it gives the same, and is not there twice.
    apply_to(&mut result, &record, MeterOptions::default()).unwrap();
    assert_eq!(result.manifest.energy.as_ref().unwrap().sources.len(), 2);
    assert_eq!(self::runs(&result).next().unwrap().energy_beside.len(), 1);
}

#[test]
fn a_gap_within_a_run_makes_its_energy_absent_and_no_other_s() {
    let mut result = result(&[(160.0, 20.0), (200.0, 20.0)]);
    let record = record(0.0, Some((170.0, 175.0)));
    apply_to(&mut result, &record, MeterOptions::default()).unwrap();
    let runs: Vec<&Run> = runs(&result).collect();
    assert_eq!(runs[0].energy, None);
    assert!(runs[0].no_energy.as_ref().unwrap().starts_with("it was not read for 5."));
    assert!(runs[1].energy.is_some());
}

#[test]
fn an_offset_and_an_idle_draw_that_are_given_win() {
    let mut result = result(&[(160.0, 20.0)]);
    let options = MeterOptions { offset: Some(-12.5), idle_watts: Some(4.0) };
    apply_to(&mut result, &record(12.5, None), options).unwrap();
    let energy = runs(&result).next().unwrap().energy.clone().unwrap();
    assert!(
        (energy.joules - 100.0).abs() < 1e-6
            && (energy.over_idle_joules.unwrap() - 20.0).abs() < 1e-6
    );
}

#[test]
fn what_cannot_be_put_beside_each_other_is_refused() {
    let mut other = result(&[(160.0, 20.0)]);
    let refused = apply_to(
        &mut other,
        &record(0.0, None),
        MeterOptions { offset: Some(9e4), idle_watts: None },
    );
    assert!(refused.unwrap_err().contains("is it the record of another run"));
    let mut without = result(&[(160.0, 20.0)]);
    without.manifest.energy.as_mut().unwrap().markers.clear();
    let relative = Record { is_relative: true, ..record(-DAY, None) };
    let why = apply_to(&mut without, &relative, MeterOptions::default()).unwrap_err();
    assert!(why.contains("--metered") && why.contains("--offset"), "{why}");
    // A clock that is right needs no pattern.
    let metered = apply_to(&mut without, &record(0.0, None), MeterOptions::default()).unwrap();
    assert!(
        metered.known == 1
            && metered.source.aligned.unwrap().contains("assumed to be the machine's")
    );
    let mut old = result(&[]);
    let why = apply_to(&mut old, &record(0.0, None), MeterOptions::default()).unwrap_err();
    assert!(why.contains("no times of its runs"), "{why}");
}
