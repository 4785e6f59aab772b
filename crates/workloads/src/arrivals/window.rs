//! The measurement window of a phase, and the checkpoints of the engine in it.

use embermark_contract::Result;

use crate::PhaseObserver;

/// Reports the ends of a window.
pub(crate) struct Window<'a> {
    pub observer: &'a mut dyn PhaseObserver,
    /// Checkpoints that the engine had begun before the window, if it counts them.
    before: Option<u64>,
}

impl<'a> Window<'a> {
    pub(crate) fn new(observer: &'a mut dyn PhaseObserver) -> Self {
        Self { observer, before: None }
    }

    /// Opens the window. `checkpoints` is what the engine has begun so far.
    pub(crate) fn open(&mut self, checkpoints: Option<u64>) {
        self.before = checkpoints;
        self.observer.open();
    }

    /// Closes the window, reads the engine's checkpoints again, and reports those in it.
    pub(crate) fn close(
        &mut self,
        checkpoints: impl FnOnce() -> Result<Option<u64>>,
    ) -> Result<()> {
        self.observer.close();
        let Some(before) = self.before.take() else { return Ok(()) };
        let begun = checkpoints()?.unwrap_or(before).saturating_sub(before);
        match begun {
            0 => {}
            1 => self.observer.remark("a checkpoint of the engine began in the window"),
            _ => {
                let what = format!("{begun} checkpoints of the engine began in the window");
                self.observer.remark(&what);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps the remarks that it gets.
    #[derive(Default)]
    struct Remarks(Vec<String>);

    impl PhaseObserver for Remarks {
        fn remark(&mut self, remark: &str) {
            self.0.push(remark.to_owned());
        }
    }

    #[test]
    fn checkpoints_that_begin_in_the_window_are_reported() {
        let cases = [
            (Some(3), Some(3), None),
            (Some(3), Some(4), Some("a checkpoint")),
            (Some(3), Some(5), Some("2 checkpoints")),
            (None, Some(5), None),
            (Some(3), None, None),
        ];
        for (before, after, says) in cases {
            let mut told = Remarks::default();
            let mut window = Window::new(&mut told);
            window.open(before);
            window.close(|| Ok(after)).unwrap();
            let first = told.0.first().map(|said| said.split(" of the engine").next().unwrap());
            assert_eq!(first, says);
        }
    }
}
