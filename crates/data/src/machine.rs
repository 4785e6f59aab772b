//! A working machine tool, as its controller samples it: five channels of twelve bits. Channel 0 is
//! the angle of the main drive, a sawtooth. The others are sines. All of them are noisy.
//!
//! A sample depends only on the seed and on its number, so that millions of samples in a database
//! can be checked without a second copy.

mod cycle;

use std::f64::consts::TAU;

pub use cycle::{EIGHTH, HALF, cycle};

use crate::draw::finalized;

/// Number of channels of a sample.
pub const CHANNELS: usize = 5;

/// Largest value of a channel: twelve bits.
pub const AMPLITUDE: u16 = 4_095;

/// Turns of the main drive per second, and thus working cycles per second.
pub const TURNS_PER_SECOND: u64 = 3;

/// Largest amount that noise adds to a value or subtracts from it.
pub const NOISE: u16 = 16;

/// Frequencies of channels 1 to 4 in Hz.
const SINES: [f64; CHANNELS - 1] = [1.0, 7.0, 0.5, 11.0];

const NANOSECONDS: u64 = 1_000_000_000;

/// Values of one sample.
pub type Values = [u16; CHANNELS];

/// A point in time: the two columns in which a writer stores it. Ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    /// Seconds since 1970-01-01 UTC.
    pub s: i64,
    /// Nanoseconds of that second.
    pub ns: i32,
}

impl Stamp {
    /// Converts nanoseconds since 1970-01-01 UTC.
    pub const fn from_nanoseconds(ns: i64) -> Self {
        let second = NANOSECONDS as i64;
        Self { s: ns.div_euclid(second), ns: ns.rem_euclid(second) as i32 }
    }

    /// Returns a time after this one and before any later time of a sample. It is a bound for
    /// queries and may be invalid as a stored time.
    #[must_use]
    pub const fn next(self) -> Self {
        Self { s: self.s, ns: self.ns + 1 }
    }

    /// Returns nanoseconds since 1970-01-01 UTC.
    pub const fn nanoseconds(self) -> i64 {
        self.s * NANOSECONDS as i64 + self.ns as i64
    }
}

/// One reading of the controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Time of the reading.
    pub at: Stamp,
    /// Values of the channels.
    pub values: Values,
}

impl Sample {
    /// Bytes of its values: seconds of 64 bits, nanoseconds of 32, and 16 per channel.
    pub const VALUE_BYTES: u64 = 8 + 4 + 2 * CHANNELS as u64;
}

/// The channels of one machine.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    seed: u64,
    /// Samples per second.
    rate: u64,
}

impl Signal {
    /// Makes the signal of a seed, sampled at `rate` samples per second, which must not be 0.
    pub const fn new(seed: u64, rate: u64) -> Self {
        Self { seed, rate }
    }

    /// Returns the values of sample `number`, counted from 0.
    pub fn values(&self, number: u64) -> Values {
        let noise = mix(self.seed ^ mix(number));
        let seconds = number as f64 / self.rate as f64;
        let turn = (number % self.rate * TURNS_PER_SECOND % self.rate) as f64 / self.rate as f64;
        let mut values = [0; CHANNELS];
        values[0] = noisy(turn * f64::from(AMPLITUDE), noise);
        for (channel, hertz) in SINES.iter().enumerate() {
            let phase = hertz * seconds + channel as f64 / 8.0;
            let level = f64::from(AMPLITUDE) * (0.5 + 0.45 * (TAU * phase.fract()).sin());
            values[channel + 1] = noisy(level, noise >> (12 * (channel + 1)));
        }
        values
    }
}

/// Adds the noise of twelve random bits to a level, kept within twelve bits.
fn noisy(level: f64, bits: u64) -> u16 {
    let spread = u64::from(NOISE) * 2 + 1;
    let noise = (((bits & 0xfff) * spread) >> 12) as f64 - f64::from(NOISE);
    (level + noise).clamp(0.0, f64::from(AMPLITUDE)) as u16
}

/// Returns a number's random bits, by SplitMix64.
const fn mix(number: u64) -> u64 {
    finalized(number.wrapping_add(0x9e37_79b9_7f4a_7c15))
}

/// Earlier samples of a machine, at even intervals.
#[derive(Clone, Copy, Debug)]
pub struct History {
    signal: Signal,
    rate: u64,
    /// Number of samples.
    pub len: u64,
}

impl History {
    /// Beginning of every history: 2018-02-12 19:56:49 UTC, the second that the source shows.
    pub const BEGIN: Stamp = Stamp { s: 1_518_465_409, ns: 0 };

    /// Makes the history of `len` samples of a seed's machine at `rate` samples per second, which
    /// must not be 0.
    pub const fn new(seed: u64, rate: u64, len: u64) -> Self {
        Self { signal: Signal::new(seed, rate), rate, len }
    }

    /// Returns the time of sample `number`.
    pub const fn at(&self, number: u64) -> Stamp {
        let (s, part) = (number / self.rate, number % self.rate);
        Stamp { s: Self::BEGIN.s + s as i64, ns: (part * NANOSECONDS / self.rate) as i32 }
    }

    /// Returns sample `number`.
    pub fn sample(&self, number: u64) -> Sample {
        Sample { at: self.at(number), values: self.signal.values(number) }
    }

    /// Returns the number of the first sample later than `at`, or [`len`](Self::len) if no sample is
    /// later.
    pub fn after(&self, at: Stamp) -> u64 {
        let Some(second) = at.s.checked_sub(Self::BEGIN.s).and_then(|s| u64::try_from(s).ok())
        else {
            return 0;
        };
        // Sample n of a second is at ⌊n · 10⁹ / rate⌋ ns, which is later than `ns` from this one
        // on.
        let part = ((at.ns as u64 + 1) * self.rate).div_ceil(NANOSECONDS);
        second.saturating_mul(self.rate).saturating_add(part).min(self.len)
    }

    /// Returns the samples of each second, in order.
    pub fn seconds(&self) -> impl Iterator<Item = Vec<Sample>> + use<> {
        let (history, mut next) = (*self, 0);
        std::iter::from_fn(move || {
            let first = (next < history.len).then(|| history.at(next))?;
            let end = history.after(Stamp { s: first.s, ns: 999_999_999 });
            let second = (next..end).map(|number| history.sample(number)).collect();
            next = end;
            Some(second)
        })
    }

    /// Returns all samples, in order.
    pub fn samples(&self) -> impl Iterator<Item = Sample> + use<> {
        let history = *self;
        (0..history.len).map(move |number| history.sample(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_angle_rises_from_nothing_to_the_amplitude_three_times_a_second() {
        let signal = Signal::new(42, 1_000);
        let angle: Vec<u16> = (0..10_000).map(|n| signal.values(n)[0]).collect();
        let drops = angle.windows(2).filter(|pair| pair[0] > pair[1] + HALF).count();
        assert_eq!(drops, 29, "one between each two of thirty turns");
        assert!(angle.iter().all(|value| *value <= AMPLITUDE));
        assert!(angle.iter().any(|value| *value < 5) && angle.iter().any(|value| *value > 4_090));
        assert!((900..1_130).contains(&angle[83]), "a quarter of a turn: {}", angle[83]);
    }

    #[test]
    fn every_channel_is_noisy_and_moves_within_twelve_bits() {
        let signal = Signal::new(7, 1_000);
        for channel in 1..CHANNELS {
            let values: Vec<u16> = (0..4_000).map(|n| signal.values(n)[channel]).collect();
            let (least, most) = (values.iter().min().unwrap(), values.iter().max().unwrap());
            assert!(
                *least < 300 && *most > 3_700 && *most <= AMPLITUDE,
                "{channel}: {least} {most}"
            );
        }
        assert_ne!(signal.values(5), Signal::new(8, 1_000).values(5));
        assert_eq!(signal.values(5), Signal::new(7, 1_000).values(5));
    }

    #[test]
    fn a_history_is_found_by_its_times() {
        for rate in [1, 3, 7, 1_000, 44_100, 199_999] {
            let history = History::new(1, rate, 3 * rate);
            let mut last = None;
            for number in 0..history.len.min(5_000) {
                let at = history.at(number);
                assert!(last < Some(at), "rate {rate}: {at:?} comes after {last:?}");
                last = Some(at);
                assert_eq!(history.after(at), number + 1, "rate {rate}");
                let before = Stamp::from_nanoseconds(at.nanoseconds() - 1);
                assert_eq!(history.after(before), number, "rate {rate}");
            }
            assert_eq!(history.after(Stamp { s: i64::MAX, ns: 0 }), history.len);
            assert_eq!(history.after(Stamp { s: 0, ns: 0 }), 0);
        }
    }

    #[test]
    fn seconds_are_the_samples_in_their_order_cut_where_the_clock_turns() {
        for (rate, len) in [(1, 3), (7, 20), (1_000, 2_500), (1_000, 0)] {
            let history = History::new(1, rate, len);
            let seconds: Vec<Vec<Sample>> = history.seconds().collect();
            assert!(seconds.iter().all(|one| one.iter().all(|s| s.at.s == one[0].at.s)));
            assert_eq!(seconds.len() as u64, len.div_ceil(rate));
            assert!(seconds.concat().into_iter().eq(history.samples()), "rate {rate}");
        }
    }

    #[test]
    fn a_stamp_is_its_nanoseconds() {
        for ns in [0, -1, 999_999_999, 1_000_000_000, 1_518_465_409_000_000_123] {
            assert_eq!(Stamp::from_nanoseconds(ns).nanoseconds(), ns);
        }
    }

    #[test]
    fn a_sample_weighs_its_stamp_and_five_channels() {
        assert_eq!(Sample::VALUE_BYTES, 22);
    }
}
