//! Filling the disk until the engine cannot commit any more.

use super::{End, Live};
use crate::outcome::{Said, Stopped};
use crate::protocol::Command;
use crate::settings::TestError;

/// Commits per request. If this many succeed with no free block before and after, that is no error.
const MANY: u64 = 2_000;

/// The number of times a disk is filled again when an engine continues after an error.
const ROUNDS: u32 = 6;

impl Live<'_> {
    /// Fills the disk. Returns the commits acknowledged when the engine first could not continue,
    /// how it stopped, and the bytes that were free then.
    #[expect(clippy::type_complexity, reason = "it is taken apart at once")]
    pub(in crate::full) fn fill(
        &mut self,
    ) -> Result<(u64, (Said<Stopped>, Option<f64>), u64), TestError> {
        let mut first = None;
        let last = self.fill_up(&mut |this, end| {
            if first.is_none() {
                first = Some((this.acknowledged, this.stopped(end)?, this.space.free()?));
            }
            Ok(())
        })?;
        let last = self.stopped(&last)?;
        let (commits, mut stopped, free) = match first {
            Some(first) => first,
            None => (self.acknowledged, last.clone(), self.space.free()?),
        };
        // An error may come first, and the process may end at the next commit.
        if last.0.is > stopped.0.is && last.0.is != Stopped::NoError {
            stopped = last;
        }
        Ok((commits, stopped, free))
    }

    /// Commits until the engine cannot continue and no block is free. Calls `stopped` each time
    /// that it stops.
    pub(super) fn fill_up(
        &mut self,
        stopped: &mut dyn FnMut(&Self, &End) -> Result<(), TestError>,
    ) -> Result<End, TestError> {
        let mut rounds = 0;
        loop {
            let (before, was_full) = (self.acknowledged, self.space.is_full()?);
            let end = self.commits(MANY)?;
            if matches!(end, End::Done) {
                if was_full && self.space.is_full()? {
                    return Ok(end);
                }
                continue;
            }
            stopped(self, &end)?;
            let was_refused = matches!(end, End::Refused(..));
            if !was_refused || rounds == ROUNDS || (was_full && self.acknowledged == before) {
                return Ok(end);
            }
            rounds += 1;
            self.space.top_up()?;
        }
    }

    /// Does this number of commits, or fewer if one is refused.
    pub(super) fn commits(&mut self, count: u64) -> Result<End, TestError> {
        let command = Command::Fill { after: self.there, count, filling: self.filling };
        self.tell(&command)?;
        self.ended()
    }
}
