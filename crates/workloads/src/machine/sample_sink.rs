//! Stores a machine's samples in a log, and checks that all of them were stored.

use embermark_contract::Result;
use embermark_data::machine::{Sample, Signal, Stamp};
use embermark_model::fingerprint::Fingerprint;

use super::cycles::with;
use super::encoding;
use super::machine_log::{Channels, MachineLog, Span, in_unit};
use crate::arrivals::{Shape, Sink, Stamper, WriteOutcome};

/// A queue of 16 KiB whose messages contain the channels of a sample.
pub(super) const QUEUE: Shape = Shape { payload: encoding::VALUES, bytes: 16 * 1024 };

/// Returns the sample of a payload, with a stamp.
pub(super) fn stamped(stamper: &mut Stamper, payload: &[u8]) -> Sample {
    // Every payload of the queue has the length of the values.
    Sample { at: stamper.stamp(), values: encoding::values(payload).unwrap_or_default() }
}

/// Stores samples in a log.
pub(super) struct SampleSink<'a> {
    pub log: &'a mut dyn MachineLog,
    stamper: Stamper,
    /// Unit of the times that the store keeps, in ns.
    unit_ns: i64,
    /// Fingerprint of everything stored, in order.
    fingerprint: Fingerprint,
}

impl<'a> SampleSink<'a> {
    pub(super) fn new(log: &'a mut dyn MachineLog) -> Self {
        let (stamper, unit_ns) = (Stamper::new(), log.unit_ns());
        Self { log, stamper, unit_ns, fingerprint: Fingerprint::default() }
    }

    /// Returns what was stored, after the writer has ended.
    pub(super) const fn stored(&self, written: WriteOutcome) -> StoredSamples {
        StoredSamples { written, fingerprint: self.fingerprint }
    }
}

impl Sink for SampleSink<'_> {
    type Row = Sample;

    const ROWS: &'static str = "samples";

    fn arrived(&mut self, _: u64, payload: &[u8]) -> Sample {
        stamped(&mut self.stamper, payload)
    }

    fn commit(&mut self, samples: &[Sample]) -> Result<()> {
        self.log.write(samples)
    }

    fn committed(&mut self, samples: &[Sample]) {
        for sample in samples {
            let at = in_unit(sample.at, self.unit_ns);
            self.fingerprint = with(self.fingerprint, &Sample { at, ..*sample });
        }
    }

    fn flush(&mut self) -> Result<()> {
        self.log.flush()
    }

    fn checkpoints(&mut self) -> Result<Option<u64>> {
        self.log.checkpoints()
    }
}

/// Record of what a writer stored, for the check.
pub(super) struct StoredSamples {
    pub written: WriteOutcome,
    fingerprint: Fingerprint,
}

impl StoredSamples {
    /// Checks that everything stored is what the sensor made and the writer stamped. Visits the
    /// store in the order of time, and returns all times.
    pub(super) fn check(
        &self,
        log: &mut dyn MachineLog,
        signal: &Signal,
        tell: &mut dyn FnMut(Stamp),
    ) -> Result<Option<String>> {
        let tally = &self.written.tally;
        let mut runs = tally.runs.iter().flat_map(|(first, run)| *first..*first + *run);
        let (mut seen, mut fingerprint, mut wrong) = (0_u64, Fingerprint::default(), None);
        log.visit(Span::All, Channels::All, &mut |sample| {
            seen += 1;
            fingerprint = with(fingerprint, &sample);
            tell(sample.at);
            let expected = runs.next().map(|number| (number, signal.values(number)));
            if wrong.is_none() && expected.map(|(_, values)| values) != Some(sample.values) {
                wrong = Some(format!(
                    "sample {seen} of the store is {sample:?}, expected number and values {expected:?}"
                ));
            }
        })?;
        Ok(match wrong {
            Some(wrong) => Some(wrong),
            None if seen != tally.stored => {
                Some(format!("{seen} samples in the store, expected {}", tally.stored))
            }
            None if fingerprint != self.fingerprint => Some(
                "the times of the samples in the store differ from those that the writer set"
                    .to_owned(),
            ),
            None => None,
        })
    }
}

#[cfg(test)]
mod tests;
