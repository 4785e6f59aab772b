//! The window of a phase as its observer sees it, and whether the engine wrote a checkpoint in it.

use embermark_contract::Result;

use super::port::MachineLog;
use crate::PhaseObserver;

/// What happens at the ends of a window.
pub(super) struct Window<'a> {
    pub observer: &'a mut dyn PhaseObserver,
    checkpoints: Option<Checkpoints>,
}

impl<'a> Window<'a> {
    pub(super) fn new(observer: &'a mut dyn PhaseObserver) -> Self {
        Self { observer, checkpoints: None }
    }

    pub(super) fn open(&mut self, log: &mut dyn MachineLog) -> Result<()> {
        self.checkpoints = Some(Checkpoints::before(log)?);
        self.observer.open();
        Ok(())
    }

    pub(super) fn close(&mut self, log: &mut dyn MachineLog) -> Result<()> {
        self.observer.close();
        self.checkpoints.take().map_or(Ok(()), |checkpoints| checkpoints.tell(log, self.observer))
    }
}

/// How many checkpoints the engine had begun when a window was opened, where it counts them.
pub(super) struct Checkpoints(Option<u64>);

impl Checkpoints {
    /// Asks for the number. Before the window.
    pub(super) fn before(log: &mut dyn MachineLog) -> Result<Self> {
        log.checkpoints().map(Self)
    }

    /// Asks again and says what fell into the window. After it.
    pub(super) fn tell(
        self,
        log: &mut dyn MachineLog,
        observer: &mut dyn PhaseObserver,
    ) -> Result<()> {
        let Self(Some(before)) = self else { return Ok(()) };
        let begun = log.checkpoints()?.unwrap_or(before).saturating_sub(before);
        match begun {
            0 => {}
            1 => observer.remark("a checkpoint of the engine began in the window"),
            _ => observer.remark(&format!("{begun} checkpoints of the engine began in the window")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
