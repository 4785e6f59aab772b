//! How many different values there are, in memory that does not grow with them.

use std::collections::HashSet;

use embermark_model::table::Value;

use crate::zipf::fnv1a;

/// Up to so many are counted.
const EXACT: usize = 1_000;
/// Bits of a hash that choose a register.
const BITS: u32 = 14;
const REGISTERS: usize = 1 << BITS;

/// Counts different values by their hashes: exactly as long as they are few, beyond that by
/// HyperLogLog (P. Flajolet, É. Fusy, O. Gandouet, F. Meunier, 2007) with the estimator of O. Ertl
/// (New cardinality estimation algorithms for HyperLogLog sketches, 2017, algorithm 6), which has no
/// bias to be corrected. Its standard error is 1.04 / sqrt(16384), 0.8 %. With hashes of 64 bits no
/// register is ever full, so that the term for these is left out.
#[derive(Debug)]
pub(super) struct Distinct {
    few: HashSet<u64>,
    /// The longest run of zeros that a hash of each register began with, and one.
    registers: Vec<u8>,
}

impl Default for Distinct {
    fn default() -> Self {
        Self { few: HashSet::new(), registers: vec![0; REGISTERS] }
    }
}

impl Distinct {
    #[inline]
    pub(super) fn take(&mut self, value: &Value<'_>) {
        let hash = match value {
            Value::Null => return,
            Value::Int(value) => mixed(*value as u64),
            Value::Float(value) => mixed((value + 0.0).to_bits()),
            Value::Text(text) => mixed(fnv1a(text.as_bytes())),
            Value::Bytes(bytes) => mixed(fnv1a(bytes)),
        };
        if self.is_exact() {
            self.few.insert(hash);
        }
        let register = &mut self.registers[(hash >> (64 - BITS)) as usize];
        // A bit behind the others bounds the run.
        let zeros = (hash << BITS | 1 << (BITS - 1)).leading_zeros() as u8;
        *register = (*register).max(zeros + 1);
    }

    /// Whether they were few enough to be counted.
    pub(super) fn is_exact(&self) -> bool {
        self.few.len() <= EXACT
    }

    pub(super) fn count(&self) -> u64 {
        if self.is_exact() {
            return self.few.len() as u64;
        }
        let m = REGISTERS as f64;
        let used = self.registers.iter().filter(|&&run| run > 0);
        let sum: f64 = used.map(|&run| 1.0 / (1_u64 << run) as f64).sum();
        let empty = self.registers.iter().filter(|&&run| run == 0).count() as f64;
        let estimate = m * m / (2.0 * std::f64::consts::LN_2) / (m * sigma(empty / m) + sum);
        estimate.round() as u64
    }
}

/// x + x^2 + 2 x^4 + 4 x^8 + …, of an x below 1: what empty registers add.
fn sigma(mut x: f64) -> f64 {
    let (mut sum, mut factor) = (x, 1.0);
    loop {
        x *= x;
        let more = sum + factor * x;
        if more == sum {
            return sum;
        }
        (sum, factor) = (more, 2.0 * factor);
    }
}

/// Bits that depend on all of `bits`: the finalizer of SplitMix64 (G. Steele, D. Lea, C. Flood, Fast
/// Splittable Pseudorandom Number Generators, 2014).
fn mixed(bits: u64) -> u64 {
    let bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(values: impl Iterator<Item = i64>) -> (u64, bool) {
        let mut distinct = Distinct::default();
        values.for_each(|value| distinct.take(&Value::Int(value)));
        (distinct.count(), distinct.is_exact())
    }

    #[test]
    fn few_are_counted_and_many_are_estimated_to_three_standard_errors() {
        assert_eq!(count([].into_iter()), (0, true));
        assert_eq!(count((0..5_000).map(|n| n % 1_000)), (1_000, true));
        for n in [1_001, 5_000, 20_000, 41_000, 100_000, 3_000_000] {
            let (estimate, exact) = count((0..n).chain(0..n / 2));
            let error = (estimate as f64 - n as f64).abs() / n as f64;
            assert!(!exact && error < 0.024, "{n}: {estimate}");
        }
    }

    #[test]
    fn zero_is_one_value_whatever_its_sign() {
        let mut distinct = Distinct::default();
        for value in [0.0, -0.0, 1.0] {
            distinct.take(&Value::Float(value));
        }
        distinct.take(&Value::Null);
        assert_eq!(distinct.count(), 2);
    }
}
