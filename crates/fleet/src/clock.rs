//! By how much a device's clock is ahead of this machine's.

use embermark_model::result::ClockOffset;
use serde::Deserialize;

/// One time that a device was asked for its clock: times in ns since 1970.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(from = "[i64; 3]")]
pub struct Probe {
    /// When it was asked, by this machine's clock.
    pub sent_ns: i64,
    /// What it told of its own.
    pub told_ns: i64,
    /// When the answer was here, by this machine's clock.
    pub received_ns: i64,
}

impl From<[i64; 3]> for Probe {
    fn from([sent_ns, told_ns, received_ns]: [i64; 3]) -> Self {
        Self { sent_ns, told_ns, received_ns }
    }
}

/// The offset of a device's clock, of the probe with the shortest round trip: the device looked at its clock
/// somewhere between the sending and the answer, so the offset lies within half of that round trip of what it
/// would be in the middle (D. Mills, RFC 5905, section 8: `theta` and half of `delta`, with one time at the
/// device in place of two). `None` where nothing was asked, or this machine's clock went backwards meanwhile.
pub fn offset(probes: &[Probe]) -> Option<ClockOffset> {
    let whole = probes.iter().filter(|probe| probe.received_ns >= probe.sent_ns);
    let best = whole.min_by_key(|probe| probe.received_ns - probe.sent_ns)?;
    let round_trip = best.received_ns - best.sent_ns;
    Some(ClockOffset {
        offset_ns: best.told_ns - (best.sent_ns + round_trip / 2),
        error_ns: (round_trip as u64).div_ceil(2),
        probes: u32::try_from(probes.len()).unwrap_or(u32::MAX),
    })
}

#[cfg(test)]
mod tests;
