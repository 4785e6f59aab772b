//! Measures the power that the idle machine draws.

use std::time::Duration;

use embermark_meter::statistics::mean;
use embermark_model::result::EnergySource;

use super::sampler::{SampledSource, Sampler, seconds};
use super::source::{Kind, Power};
use super::spread;
use crate::Interrupt;

/// Number of parts of the idle time that are compared with each other.
const PARTS: u32 = 10;

/// Sleep between two readings.
const NAP: Duration = Duration::from_millis(20);

/// Smallest number of power samples for an idle draw.
const MIN_SAMPLES: usize = 3;

impl Sampler {
    /// Reads the sources for `length` without doing anything else, and records the power that the
    /// idle machine draws. Then moves the largest power of hwmon to the front, because it is
    /// probably the board's and includes the others. Returns false if it was interrupted.
    pub fn measure_idle(&self, length: Duration, interrupt: &Interrupt) -> bool {
        let Some(began) = self.sample_all() else { return true };
        let mut ends = vec![began];
        for part in 1..=PARTS {
            let until = began + (length * part / PARTS).as_secs_f64();
            while seconds().is_some_and(|now| now < until) {
                if interrupt.is_set() {
                    return false;
                }
                let left = seconds().map_or(0.0, |now| (until - now).max(0.0));
                std::thread::sleep(NAP.min(Duration::from_secs_f64(left)));
                self.sample();
            }
            ends.extend(self.sample_counters());
        }
        let ended = ends.last().copied().unwrap_or(began);
        let mut known = self.known.borrow_mut();
        known.idle = Some(self.period(began, ended));
        let watched = self.watched.borrow();
        let of = |source: &EnergySource| watched.iter().find(|of| of.source.id == source.id);
        for source in &mut known.sources {
            if let Some(watched) = of(source) {
                watched.describe_idle(source, &ends);
            }
        }
        let is_hwmon = |source: &EnergySource| {
            let kind = of(source).map(|of| &of.source.kind);
            matches!(kind, Some(Kind::Power(Power::Input(_) | Power::Product(..))))
        };
        largest_first(&mut known.sources, is_hwmon);
        true
    }
}

/// Sorts the selected sources by idle power, largest first. The other sources keep their positions.
fn largest_first(sources: &mut [EnergySource], which: impl Fn(&EnergySource) -> bool) {
    let places: Vec<usize> = (0..sources.len()).filter(|place| which(&sources[*place])).collect();
    let mut sorted: Vec<EnergySource> =
        places.iter().map(|place| sources[*place].clone()).collect();
    let watts = |source: &EnergySource| source.idle_watts.unwrap_or(0.0);
    sorted.sort_by(|a, b| watts(b).total_cmp(&watts(a)));
    for (place, source) in places.into_iter().zip(sorted) {
        sources[place] = source;
    }
}

impl SampledSource {
    /// Writes the idle power and its spread into `source`. `ends` has the start of the period and
    /// the ends of its parts.
    fn describe_idle(&self, source: &mut EnergySource, ends: &[f64]) {
        let (Some(began), Some(ended)) = (ends.first(), ends.last()) else { return };
        let watts: Vec<f64> = match &self.source.kind {
            Kind::Power(_) => self.curve.within(*began, *ended).collect(),
            Kind::Counter(_) => {
                let part = |two: &[f64]| {
                    let joules = self.totals.iter().map(|of| of.approximate_joules(two[0], two[1]));
                    Some(joules.sum::<Option<f64>>()? / (two[1] - two[0]))
                };
                ends.windows(2).filter_map(part).collect()
            }
        };
        if watts.len() >= MIN_SAMPLES {
            (source.idle_watts, source.idle_spread_watts) = (mean(&watts), spread(&watts));
        }
        source.reading_ns = self.mean_reading_ns();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Instant;

    use super::*;
    use crate::energy::find;
    use crate::system::System;
    use crate::system::tests::tree;

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
        let sampler = Sampler::new(find(&System::at(tree.path())));
        let counter = tree.path().join(format!("{zone}/energy_uj"));
        let began = Instant::now();
        let measured = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&measured);
        let draws = thread::spawn(move || {
            // 10 W.
            while !over.load(Ordering::Relaxed) {
                let file = counter.with_extension("new");
                fs::write(&file, (began.elapsed().as_micros() * 10).to_string()).unwrap();
                fs::rename(&file, &counter).unwrap();
                thread::sleep(Duration::from_millis(1));
            }
        });
        assert!(sampler.measure_idle(Duration::from_secs(2), &Interrupt::default()));
        measured.store(true, Ordering::Relaxed);
        draws.join().unwrap();
        let known = sampler.known();
        let lasted = known.idle.as_ref().unwrap().lasted_ns as f64 / 1e9;
        assert!(lasted >= 2.0, "{lasted}");
        let ids: Vec<&str> = known.sources.iter().map(|source| source.id.as_str()).collect();
        assert_eq!(ids, ["package", "ina3221 power2", "ina3221 power1"]);
        let [package, large, small] = &known.sources[..] else { panic!("{known:?}") };
        // A reading is outdated by as long as the writer was prevented from writing.
        assert!((5.0..20.0).contains(&package.idle_watts.unwrap()), "{package:?}");
        assert_eq!((large.idle_watts, large.idle_spread_watts), (Some(4.5), Some(0.0)));
        assert_eq!(small.idle_watts, Some(1.5));
        assert!(known.sources.iter().all(|source| source.reading_ns.is_some_and(|ns| ns > 0)));
        // What a run takes above it.
        let energy = embermark_model::result::Energy::new(large, 10.0, 2.0);
        assert_eq!((energy.over_idle_joules, energy.idle_error_joules), (Some(1.0), Some(0.0)));
    }

    #[test]
    fn who_wants_to_stop_does_not_wait_for_it() {
        let sampler = Sampler::new(find(&System::at(tree(&[]).path())));
        let interrupt = Interrupt::default();
        interrupt.set();
        let began = Instant::now();
        assert!(!sampler.measure_idle(Duration::from_secs(60), &interrupt));
        assert!(began.elapsed() < Duration::from_secs(50) && sampler.known().idle.is_none());
    }
}
