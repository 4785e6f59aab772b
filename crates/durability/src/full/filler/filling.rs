//! Filling the disk until the engine cannot commit any more.

use super::{CommitsEnd, DiskFiller};
use crate::outcome::Stopped;
use crate::protocol::Command;
use crate::settings::Result;

/// Commits per request. If this many succeed with no free block before and after, that is no error.
const COMMITS_PER_REQUEST: u64 = 2_000;

/// The number of times a disk is filled again when an engine continues after an error.
const REFILLS: u32 = 6;

impl DiskFiller<'_> {
    /// Fills the disk. Returns the commits acknowledged when the engine first could not continue,
    /// how it stopped, and the bytes that were free then.
    pub(in crate::full) fn fill(&mut self) -> Result<(u64, CommitsEnd, u64)> {
        let mut first = None;
        let last = self.fill_up(&mut |this, end| {
            if first.is_none() {
                let end = this.with_server_end(end.clone())?;
                first = Some((this.acknowledged, end, this.disk.free()?));
            }
            Ok(())
        })?;
        let last = self.with_server_end(last)?;
        let (commits, mut stopped, free) = match first {
            Some(first) => first,
            None => (self.acknowledged, last.clone(), self.disk.free()?),
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
        stopped: &mut dyn FnMut(&Self, &CommitsEnd) -> Result<()>,
    ) -> Result<CommitsEnd> {
        let mut rounds = 0;
        loop {
            let (before, was_full) = (self.acknowledged, self.disk.is_full()?);
            let end = self.commits(COMMITS_PER_REQUEST)?;
            if end.0.is == Stopped::NoError {
                if was_full && self.disk.is_full()? {
                    return Ok(end);
                }
                continue;
            }
            stopped(self, &end)?;
            let was_refused = end.0.is == Stopped::Error;
            if !was_refused || rounds == REFILLS || (was_full && self.acknowledged == before) {
                return Ok(end);
            }
            rounds += 1;
            self.disk.top_up()?;
        }
    }

    /// Does this number of commits, or fewer if one is refused.
    pub(super) fn commits(&mut self, count: u64) -> Result<CommitsEnd> {
        let command = Command::Fill { after: self.last_found, count, filling: self.filling };
        self.send(&command)?;
        self.wait_for_commits()
    }
}
