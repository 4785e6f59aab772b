//! Energy and wear of whole runs, on a simulated tree of a device.

use std::fs;
use std::path::Path;
use std::time::Duration;

use embermark_harness::energy::EnergyOptions;
use embermark_harness::energy::meter::{MeterOptions, Record, apply};
use embermark_harness::progress::Silent;
use embermark_harness::{JOURNAL, RunOptions, resume};
use embermark_model::Scale;
use embermark_model::plan::Plan;
use embermark_model::result::{Period, ResultFile, Run};

use crate::cells::plan;
use crate::trials::{Out, run, until};

crate::tests!(
    a_board_that_measures_its_power_has_joules_for_each_run_that_is_long_enough,
    a_device_without_sources_says_why_and_waits_for_nothing,
    a_meter_that_ran_beside_a_run_is_found_by_the_load_pattern,
    a_run_that_is_gone_on_with_keeps_its_idle_draw,
);

/// Reads that take 2 s in each of two runs.
fn slow() -> Plan {
    let phases = Some(["load", "read"].map(str::to_owned).to_vec());
    Plan { scales: vec![Scale::Rows(400)], phases, runs: 2, warmup_runs: 0, ..plan(&["slow"]) }
}

/// A device with a power of 2.5 W.
fn board(root: &Path) {
    let hwmon = root.join("sys/class/hwmon/hwmon0");
    fs::create_dir_all(&hwmon).unwrap();
    fs::write(hwmon.join("name"), "ina226\n").unwrap();
    fs::write(hwmon.join("power1_input"), "2500000\n").unwrap();
}

fn options(out: &Out, root: &Path) -> RunOptions {
    let energy = EnergyOptions {
        root: root.to_owned(),
        idle: Duration::from_secs(1),
        slot: Duration::from_millis(50),
        ..EnergyOptions::default()
    };
    RunOptions { energy, ..out.options() }
}

fn runs<'a>(result: &'a ResultFile, phase: &str) -> Vec<&'a Run> {
    let trials = result.cells.iter().flat_map(|cell| &cell.trials);
    let phases = trials.flat_map(|trial| &trial.phases).filter(|of| of.phase == phase);
    phases.flat_map(|of| &of.runs).collect()
}

/// The result, if each run of `read` has its energy: on a busy machine the power may be read too
/// seldom.
fn sampled(result: ResultFile) -> Result<ResultFile, String> {
    let lacking = runs(&result, "read").into_iter().find_map(|run| run.no_energy.clone());
    lacking.map_or(Ok(result), Err)
}

fn a_board_that_measures_its_power_has_joules_for_each_run_that_is_long_enough() {
    let root = tempfile::tempdir().unwrap();
    board(root.path());
    let result = until(|| {
        let out = Out::new();
        sampled(run(&slow(), &options(&out, root.path())).unwrap())
    });
    let known = result.manifest.energy.as_ref().unwrap();
    assert_eq!(known.sources[0].id, "ina226 power1");
    assert_eq!(known.sources[0].idle_watts, Some(2.5));
    assert!(known.idle.is_some() && known.markers.is_empty());
    for read in runs(&result, "read") {
        let (energy, lasted) = (read.energy.as_ref().unwrap(), read.period.as_ref().unwrap());
        let seconds = lasted.lasted_ns as f64 / 1e9;
        assert!(seconds >= 2.0 && (energy.joules - 2.5 * seconds).abs() < 1e-6, "{energy:?}");
        // As much as it took when idle: the figure is simulated.
        assert!(energy.over_idle_joules.unwrap().abs() < 1e-6);
    }
    for load in runs(&result, "load") {
        let why = load.no_energy.as_deref().unwrap();
        assert!(load.energy.is_none() && why.contains("10 times are needed"), "{why}");
        assert!(load.period.is_some());
    }
}

fn a_device_without_sources_says_why_and_waits_for_nothing() {
    let root = tempfile::tempdir().unwrap();
    let out = Out::new();
    let mut options = options(&out, root.path());
    options.energy.idle = Duration::from_secs(3_600);
    let result = run(&plan(&["good"]), &options).unwrap();
    let known = result.manifest.energy.as_ref().unwrap();
    assert!(known.sources.is_empty() && known.idle.is_none());
    assert!(known.not_measured[0].contains("no zone"), "{known:?}");
    let read = runs(&result, "read")[0];
    assert!(read.energy.is_none() && read.no_energy.is_none(), "once is enough");
    let wear = result.manifest.wear.as_ref().unwrap();
    assert!(wear.counters.is_empty() && wear.not_counted.len() == 2, "{wear:?}");
}

/// Unix seconds.
fn seconds(period: &Period) -> f64 {
    period.began.parse::<jiff::Timestamp>().unwrap().as_nanosecond() as f64 / 1e9
}

fn a_meter_that_ran_beside_a_run_is_found_by_the_load_pattern() {
    let root = tempfile::tempdir().unwrap();
    let out = Out::new();
    let mut options = options(&out, root.path());
    options.energy.metered = true;
    let mut result = run(&slow(), &options).unwrap();
    let known = result.manifest.energy.clone().unwrap();
    assert_eq!((known.sources.len(), known.markers.len()), (0, 2));
    // A meter that samples the CPU time of this machine would need a second machine. This writes
    // what one would record, by the times of the pattern, with a clock that is 90 s slow.
    let first = seconds(&known.markers[0]);
    let slot = known.markers[0].lasted_ns as f64 / 1e9 / 15.0;
    let on = [1, 2, 3, 4, 5, 8, 9, 11, 13];
    let began = known.markers.iter().map(seconds).collect::<Vec<_>>();
    let reads: Vec<(f64, f64)> = runs(&result, "read")
        .iter()
        .map(|run| run.period.as_ref().unwrap())
        .map(|of| (seconds(of), seconds(of) + of.lasted_ns as f64 / 1e9))
        .collect();
    let watts = |at: f64| {
        let in_pattern = began.iter().any(|began| {
            let part = (at - began) / slot;
            part >= 0.0 && on.contains(&(part as usize))
        });
        let in_read = reads.iter().any(|(from, to)| (*from..*to).contains(&at));
        2.0 + if in_pattern { 3.0 } else { 0.0 } + if in_read { 1.0 } else { 0.0 }
    };
    let last = began[1] + 15.0 * slot + 5.0;
    let mut csv = "time,volts,amperes\n".to_owned();
    let mut at = first - 5.0;
    while at < last {
        csv += &format!("{:.5},5,{:.4}\n", at - 90.0, watts(at) / 5.0);
        at += slot / 8.0;
    }
    let file = out.path("").join("meter.csv");
    fs::write(&file, csv).unwrap();
    let record = Record::read(&file).unwrap();
    let metered = apply(&mut result, &record, &file, MeterOptions::default()).unwrap();
    let aligned = metered.source.aligned.as_deref().unwrap();
    assert!(aligned.contains("+90.0") || aligned.contains("+89.9"), "{aligned}");
    assert!((metered.source.idle_watts.unwrap() - 2.0).abs() < 0.05, "{:?}", metered.source);
    for read in runs(&result, "read") {
        let seconds = read.period.as_ref().unwrap().lasted_ns as f64 / 1e9;
        let energy = read.energy.as_ref().unwrap();
        assert!((energy.joules - 3.0 * seconds).abs() < 0.2, "{energy:?} in {seconds}");
        assert!((energy.over_idle_joules.unwrap() - seconds).abs() < 0.3, "{energy:?}");
    }
}

fn a_run_that_is_gone_on_with_keeps_its_idle_draw() {
    let root = tempfile::tempdir().unwrap();
    board(root.path());
    let out = Out::new();
    run(&slow(), &options(&out, root.path())).unwrap();
    let whole = fs::read_to_string(out.path(JOURNAL)).unwrap();
    let first_trial = whole.find("{\"cell\"").unwrap();
    assert!(
        whole[..first_trial].contains("{\"energy\"") && whole[..first_trial].contains("{\"wear\"")
    );
    // The board now draws more.
    fs::write(root.path().join("sys/class/hwmon/hwmon0/power1_input"), "4500000\n").unwrap();
    let result = until(|| {
        let left = Out::new();
        fs::create_dir_all(left.path("")).unwrap();
        fs::write(left.path(JOURNAL), &whole[..first_trial]).unwrap();
        let mut options = options(&left, root.path());
        options.energy.idle = Duration::from_secs(3_600);
        sampled(resume(None, &options, &mut Silent).unwrap())
    });
    let known = result.manifest.energy.as_ref().unwrap();
    assert_eq!(known.sources[0].idle_watts, Some(2.5));
    let read = runs(&result, "read")[0];
    let over = read.energy.as_ref().unwrap().over_idle_joules.unwrap();
    let seconds = read.period.as_ref().unwrap().lasted_ns as f64 / 1e9;
    assert!((over - 2.0 * seconds).abs() < 1e-3, "{over} in {seconds}");
}
