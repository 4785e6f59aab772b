use std::fs;
use std::path::PathBuf;
use std::thread::sleep;

use jiff::Timestamp;

use super::*;
use crate::energy::counter::Readings;
use crate::energy::find;
use crate::system::System;
use crate::system::tests::tree;

/// A tree with a counter of a range of 1 J and a board's input.
struct Device(tempfile::TempDir);

const ZONE: &str = "sys/class/powercap/intel-rapl:0";
const INPUT: &str = "sys/class/hwmon/hwmon0/power1_input";

impl Device {
    fn new() -> Self {
        Self(tree(&[
            (&format!("{ZONE}/name"), "package-0"),
            (&format!("{ZONE}/energy_uj"), "0"),
            (&format!("{ZONE}/max_energy_range_uj"), "999999"),
            ("sys/class/hwmon/hwmon0/name", "ina226"),
            (INPUT, "2000000"),
        ]))
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    fn count(&self, microjoules: u64) {
        fs::write(self.path(&format!("{ZONE}/energy_uj")), (microjoules % 1_000_000).to_string())
            .unwrap();
    }

    fn sampler(&self) -> Sampler {
        Sampler::new(find(&System::at(self.0.path())))
    }
}

/// A run of at least that length. The parent reads as usual, every 20 ms or when the machine finds
/// the time.
fn run(sampler: &Sampler, lasts: Duration, mut meanwhile: impl FnMut(u32)) -> Run {
    let counters = sampler.counters();
    let readings = Readings::begin(&counters);
    let step = Duration::from_millis(20);
    for number in 1..=(lasts.as_millis() / step.as_millis()) as u32 {
        sampler.sample();
        sleep(step);
        meanwhile(number);
    }
    let mut run = Run::default();
    sampler.record_run(&mut run, readings.end().as_ref());
    run
}

fn ids(known: &EnergyMeasurement) -> Vec<&str> {
    known.sources.iter().map(|source| source.id.as_str()).collect()
}

#[test]
fn a_run_has_its_energy_by_every_source_and_the_first_is_that_of_the_figures() {
    let device = Device::new();
    let sampler = device.sampler();
    assert_eq!(ids(&sampler.known()), ["package", "ina226 power1"]);
    // 4 mJ every 20 ms.
    let run = run(&sampler, Duration::from_millis(1_500), |n| device.count(u64::from(n) * 4_000));
    let (energy, beside) = (run.energy.unwrap(), &run.energy_beside[0]);
    assert_eq!((energy.source.as_str(), beside.source.as_str()), ("package", "ina226 power1"));
    let seconds = run.period.as_ref().unwrap().lasted_ns as f64 / 1e9;
    assert!((0.1..0.4).contains(&energy.joules), "{energy:?}");
    assert!((beside.joules - 2.0 * seconds).abs() < 1e-6, "2 W: {beside:?} in {seconds}");
    // Nothing was measured of the idle machine.
    assert_eq!((energy.over_idle_joules, run.no_energy), (None, None));
    let day: Timestamp = run.period.unwrap().began.parse().unwrap();
    assert!(Timestamp::now().duration_since(day).as_secs().abs() < 60);
}

#[test]
fn a_counter_that_began_anew_more_than_once_counts_all_of_it() {
    let device = Device::new();
    let sampler = device.sampler();
    // 25 J in steps of 0.1 J, while the parent reads every second. The range is 1 J.
    let mut total = 0;
    let counters = sampler.counters();
    let readings = Readings::begin(&counters);
    sampler.sample_all();
    for _ in 0..50 {
        total += 500_000;
        device.count(total);
        sampler.sample_all();
        sleep(Duration::from_millis(5));
    }
    device.count(total + 300_000);
    let mut run = Run::default();
    sampler.record_run(&mut run, readings.end().as_ref());
    assert!((run.energy.unwrap().joules - 25.3).abs() < 1e-9);
}

#[test]
fn a_source_that_vanishes_and_a_run_too_short_are_absent_with_the_reason() {
    let device = Device::new();
    let sampler = device.sampler();
    // A busy machine may delay even this one, so its own duration decides that it is short.
    let short = loop {
        let short = run(&sampler, Duration::from_millis(40), |_| {});
        if short.period.as_ref().unwrap().lasted_ns < 100_000_000 {
            break short;
        }
    };
    assert_eq!((short.energy, short.energy_beside.len()), (None, 0));
    assert!(short.no_energy.unwrap().contains("cannot resolve less than 0.1 s"));
    let gone = run(&sampler, Duration::from_millis(2_500), |n| {
        if n == 10 {
            fs::remove_file(device.path(&format!("{ZONE}/energy_uj"))).unwrap();
            fs::remove_file(device.path(INPUT)).unwrap();
        }
    });
    assert_eq!((gone.energy, gone.energy_beside.len()), (None, 0), "half an answer is none");
    assert!(gone.no_energy.unwrap().ends_with("energy_uj could not be read"));
    let no_window = {
        let mut run = Run::default();
        sampler.record_run(&mut run, None);
        run
    };
    assert!(no_window.period.is_none() && no_window.no_energy.is_some());
}
