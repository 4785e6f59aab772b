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
mod tests {
    use std::time::{Duration, Instant};

    use embermark_contract::Store;
    use embermark_engines::{OpenOptions, registry};
    use embermark_model::Durability;
    use embermark_model::result::Latency;

    use super::super::port::{Form, Layout};
    use super::super::sql::SqlLog;
    use super::*;

    /// Keeps what it is told.
    #[derive(Default)]
    struct Told(Vec<String>);

    impl PhaseObserver for Told {
        fn process(&mut self, _: &'static str, _: u32) {}

        fn begin(&mut self, _: Duration) {}

        fn end(&mut self) {}

        fn open(&mut self) {}

        fn close(&mut self) {}

        fn count(&mut self, _: &'static str, _: u64) {}

        fn latency(&mut self, _: &'static str, _: Latency) {}

        fn remark(&mut self, remark: &str) {
            self.0.push(remark.to_owned());
        }
    }

    #[test]
    fn a_checkpoint_that_postgresql_was_made_to_write_in_the_window_is_told_and_one_before_it_is_not()
     {
        let Ok(engine) = registry::find("postgres") else { return };
        if !embermark_skips::is_here(engine) {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let options = OpenOptions::new(dir.path(), Durability::Process, 32 << 20);
        let opened = engine.open(&options).unwrap();
        let Store::Sql(mut store) = opened.store else { panic!("no store of SQL") };
        // The server reports a checkpoint a moment after it has ended.
        let checkpoint = |log: &mut dyn MachineLog| {
            let before = log.checkpoints().unwrap();
            log.lifecycle().maintain().unwrap();
            let deadline = Instant::now() + Duration::from_secs(30);
            while log.checkpoints().unwrap() == before {
                assert!(Instant::now() < deadline, "the checkpoint was never counted");
            }
        };
        store.batch("CREATE TABLE t (a INTEGER)").unwrap();
        let mut log = SqlLog::new(store, Layout::Samples, Form::Own);
        checkpoint(&mut log);
        for (count, words) in [(0, None), (1, Some("a checkpoint")), (2, Some("2 checkpoints"))] {
            let mut observer = Told::default();
            let window = Checkpoints::before(&mut log).unwrap();
            (0..count).for_each(|_| checkpoint(&mut log));
            window.tell(&mut log, &mut observer).unwrap();
            let told =
                observer.0.first().map(|remark| remark.split(" of the engine").next().unwrap());
            assert_eq!(told, words, "{:?}", observer.0);
        }
        Box::new(log).close().unwrap();
    }
}
