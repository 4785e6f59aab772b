//! A load pattern that can be found in the record of an external meter, which gives the offset of
//! the meter's clock.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use embermark_model::result::Period;

use super::sampler::{Sampler, seconds};
use crate::Interrupt;

/// Whether every CPU works in a part of the pattern: a Barker code of length 13, which does not
/// resemble itself at any other offset, between two parts of rest.
pub(crate) const PATTERN: [bool; 15] = {
    const ON: bool = true;
    const OFF: bool = false;
    [OFF, ON, ON, ON, ON, ON, OFF, OFF, ON, ON, OFF, ON, OFF, ON, OFF]
};

impl Sampler {
    /// Runs the load pattern that reveals the offset of an external meter's clock. Returns false if
    /// it was interrupted.
    pub fn mark(&self, slot: Duration, interrupt: &Interrupt) -> bool {
        let made = make(self, slot, interrupt);
        let is_made = made.is_some();
        self.known.borrow_mut().markers.extend(made);
        is_made
    }
}

/// Runs the pattern with parts of this length and returns its period. `None` if it was interrupted.
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

/// Keeps every CPU busy.
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
