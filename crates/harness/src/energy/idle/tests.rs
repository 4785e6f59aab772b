use std::fs;
use std::thread;
use std::time::Instant;

use super::*;
use crate::energy::find;
use crate::machine::System;
use crate::machine::tests::tree;

#[test]
fn the_idle_draw_is_what_was_read_in_that_time_and_the_largest_input_comes_first() {
    let hwmon = "sys/class/hwmon/hwmon0";
    let zone = "sys/class/powercap/intel-rapl:0";
    let tree = tree(&[
        (&format!("{hwmon}/name"), "ina3221"),
        (&format!("{hwmon}/power1_input"), "1500000"),
        (&format!("{hwmon}/power2_input"), "4500000"),
        (&format!("{zone}/name"), "package-0"),
        (&format!("{zone}/energy_uj"), "0"),
        (&format!("{zone}/max_energy_range_uj"), "999999999"),
    ]);
    let sampler = Sampler::of(find(&System::at(tree.path())));
    let counter = tree.path().join(format!("{zone}/energy_uj"));
    let began = Instant::now();
    let draws = thread::spawn(move || {
        // 10 W.
        while began.elapsed() < Duration::from_millis(2_500) {
            let file = counter.with_extension("new");
            fs::write(&file, (began.elapsed().as_micros() * 10).to_string()).unwrap();
            fs::rename(&file, &counter).unwrap();
            thread::sleep(Duration::from_millis(1));
        }
    });
    assert!(sampler.measure_idle(Duration::from_secs(2), &Interrupt::default()));
    draws.join().unwrap();
    let known = sampler.known();
    let lasted = known.idle.as_ref().unwrap().lasted_ns as f64 / 1e9;
    assert!((2.0..3.0).contains(&lasted), "{lasted}");
    let ids: Vec<&str> = known.sources.iter().map(|source| source.id.as_str()).collect();
    assert_eq!(ids, ["package", "ina3221 power2", "ina3221 power1"]);
    let [package, large, small] = &known.sources[..] else { panic!("{known:?}") };
    assert!((8.0..12.0).contains(&package.idle_watts.unwrap()), "{package:?}");
    assert_eq!((large.idle_watts, large.idle_spread_watts), (Some(4.5), Some(0.0)));
    assert_eq!(small.idle_watts, Some(1.5));
    assert!(known.sources.iter().all(|source| source.reading_ns.is_some_and(|ns| ns > 0)));
    // What a run takes over it.
    let energy = embermark_model::result::Energy::of(large, 10.0, 2.0);
    assert_eq!((energy.over_idle_joules, energy.idle_error_joules), (Some(1.0), Some(0.0)));
}

#[test]
fn who_wants_to_stop_does_not_wait_for_it() {
    let sampler = Sampler::of(find(&System::at(tree(&[]).path())));
    let interrupt = Interrupt::default();
    interrupt.set();
    let began = Instant::now();
    assert!(!sampler.measure_idle(Duration::from_secs(60), &interrupt));
    assert!(began.elapsed() < Duration::from_secs(5) && sampler.known().idle.is_none());
}
