//! A load pattern that is found again in the record of an external meter, whose clock is then known.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use embermark_model::result::Period;

use super::sampler::{Sampler, seconds};
use crate::Interrupt;

/// Whether every CPU works in a part of the pattern: a Barker code of length 13, which is unlike itself
/// at every other place, between two parts of rest.
pub(crate) const PATTERN: [bool; 15] = {
    const ON: bool = true;
    const OFF: bool = false;
    [OFF, ON, ON, ON, ON, ON, OFF, OFF, ON, ON, OFF, ON, OFF, ON, OFF]
};

impl Sampler {
    /// Makes the load pattern by which an external meter's clock is known; whether it came to its end.
    pub fn mark(&self, slot: Duration, interrupt: &Interrupt) -> bool {
        let made = make(self, slot, interrupt);
        let is_made = made.is_some();
        self.known.borrow_mut().markers.extend(made);
        is_made
    }
}

/// Makes the pattern, each part of it that long; when that was. `None` where it was interrupted.
fn make(sampler: &Sampler, slot: Duration, interrupt: &Interrupt) -> Option<Period> {
    let began = seconds()?;
    let start = Instant::now();
    for (part, works) in (1..).zip(PATTERN) {
        let until = start + slot * part;
        if works {
            work(until, interrupt);
        } else {
            rest(until, interrupt);
        }
        if interrupt.is_set() {
            return None;
        }
    }
    Some(sampler.period(began, seconds()?))
}

fn rest(until: Instant, interrupt: &Interrupt) {
    while Instant::now() < until && !interrupt.is_set() {
        let left = until.saturating_duration_since(Instant::now());
        std::thread::sleep(left.min(Duration::from_millis(50)));
    }
}

/// Keeps every CPU at work.
fn work(until: Instant, interrupt: &Interrupt) {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..cpus {
            scope.spawn(|| {
                let mut number = 1_u64;
                while !stop.load(Ordering::Relaxed) {
                    for _ in 0..4_096 {
                        number = black_box(number.wrapping_mul(6_364_136_223_846_793_005)) ^ 1;
                    }
                }
            });
        }
        rest(until, interrupt);
        stop.store(true, Ordering::Relaxed);
    });
}
