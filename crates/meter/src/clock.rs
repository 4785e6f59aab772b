//! The monotonic clock.

/// A monotonic clock that reads the CPU's time stamp counter where it is invariant, and the
/// operating system's monotonic clock elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Clock(quanta::Clock);

impl Clock {
    /// The counter now, in its own ticks.
    #[inline]
    pub fn ticks(&self) -> u64 {
        self.0.raw()
    }

    /// Nanoseconds between two readings of [`Clock::ticks`]; 0 if the counter went backwards.
    #[inline]
    pub fn nanoseconds(&self, from: u64, to: u64) -> u64 {
        if to > from { self.0.delta_as_nanos(from, to) } else { 0 }
    }
}

#[cfg(test)]
mod tests;
