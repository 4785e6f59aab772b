//! How far a device's clock is ahead of this machine's.

use embermark_model::result::ClockOffset;
use serde::Deserialize;

/// One reading of a device's clock: times in ns since 1970.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(from = "[i64; 3]")]
pub struct Probe {
    /// When it was requested, by this machine's clock.
    pub sent_ns: i64,
    /// The device's clock.
    pub device_ns: i64,
    /// When the answer arrived, by this machine's clock.
    pub received_ns: i64,
}

impl From<[i64; 3]> for Probe {
    fn from([sent_ns, device_ns, received_ns]: [i64; 3]) -> Self {
        Self { sent_ns, device_ns, received_ns }
    }
}

/// Returns the offset of a device's clock, from the probe with the shortest round trip. The device
/// read its clock at some time between the request and the answer. The offset is thus within half
/// of that round trip of the value for the middle (D. Mills, RFC 5905, section 8: `theta` and half
/// of `delta`, with one time at the device instead of two). `None` if there were no probes, or this
/// machine's clock went backwards in between.
pub fn offset(probes: &[Probe]) -> Option<ClockOffset> {
    let whole = probes.iter().filter(|probe| probe.received_ns >= probe.sent_ns);
    let best = whole.min_by_key(|probe| probe.received_ns - probe.sent_ns)?;
    let round_trip = best.received_ns - best.sent_ns;
    Some(ClockOffset {
        offset_ns: best.device_ns - (best.sent_ns + round_trip / 2),
        error_ns: (round_trip as u64).div_ceil(2),
        probes: u32::try_from(probes.len()).unwrap_or(u32::MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A probe of a device whose clock is ahead by `offset`, with these delays there and back.
    fn probe(at: i64, offset: i64, there: i64, back: i64) -> Probe {
        let arrived = at + there;
        Probe { sent_ns: at, device_ns: arrived + offset, received_ns: arrived + back }
    }

    /// Delays like those of a network: a shortest one, and sometimes much more. From a fixed seed.
    fn delays() -> impl Iterator<Item = i64> {
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        std::iter::repeat_with(move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let spread = (state >> 40) as i64 % 400_000;
            200_000 + spread * if state.is_multiple_of(7) { 40 } else { 1 }
        })
    }

    #[test]
    fn the_offset_lies_within_its_error_whatever_the_delays() {
        for ahead in [0, 1, -3_500_000_000, 86_400_000_000_000, -123_456_789] {
            let mut delays = delays();
            let mut next = || delays.next().unwrap();
            let probes: Vec<Probe> =
                (0..20).map(|n| probe(1_000_000_000 * n, ahead, next(), next())).collect();
            let found = offset(&probes).unwrap();
            assert!(found.offset_ns.abs_diff(ahead) <= found.error_ns, "{ahead}: {found:?}");
            assert_eq!(found.probes, 20);
            let shortest =
                probes.iter().map(|probe| probe.received_ns - probe.sent_ns).min().unwrap();
            assert_eq!(found.error_ns, (shortest as u64).div_ceil(2));
            assert!(found.error_ns < 800_000, "the shortest round trip counts: {found:?}");
        }
    }

    #[test]
    fn a_way_that_is_longer_in_one_direction_is_within_the_error_too() {
        let found = offset(&[probe(50, 7_000_000, 900_000, 0)]).unwrap();
        assert_eq!((found.offset_ns, found.error_ns), (7_450_000, 450_000));
        let found = offset(&[probe(50, 7_000_000, 0, 900_000)]).unwrap();
        assert_eq!((found.offset_ns, found.error_ns), (6_550_000, 450_000));
    }

    #[test]
    fn without_an_answer_or_with_a_clock_that_went_backwards_nothing_is_known() {
        assert_eq!(offset(&[]), None);
        assert_eq!(offset(&[Probe { sent_ns: 10, device_ns: 5, received_ns: 9 }]), None);
        let one: Probe = serde_json::from_str("[1, 20, 3]").unwrap();
        assert_eq!(offset(&[one]), Some(ClockOffset { offset_ns: 18, error_ns: 1, probes: 1 }));
    }
}
