//! The monotonic clock.

/// A monotonic clock that reads the CPU's time stamp counter where it is invariant, and the
/// operating system's monotonic clock elsewhere.
#[derive(Clone, Debug)]
pub struct Clock {
    inner: quanta::Clock,
}

impl Default for Clock {
    fn default() -> Self {
        Self { inner: quanta::Clock::new() }
    }
}

impl Clock {
    /// The counter now, in its own ticks.
    #[inline]
    pub fn ticks(&self) -> u64 {
        self.inner.raw()
    }

    /// Nanoseconds between two readings of [`Clock::ticks`]; 0 if the counter went backwards.
    #[inline]
    pub fn nanoseconds(&self, from: u64, to: u64) -> u64 {
        if to > from { self.inner.delta_as_nanos(from, to) } else { 0 }
    }
}

#[cfg(test)]
mod tests;
