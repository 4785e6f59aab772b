//! A progress bar on a terminal: what is running, how much is done, and how long it may still take.

use std::time::{Duration, Instant};

use embermark_model::result::ResultFile;
use embermark_model::{CellId, Status, foreign};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Progress, Provisional, ending, heading};

/// A progress bar on standard error. It is drawn only at events, so that drawing takes no time from
/// the engines.
pub(super) struct Bar {
    bar: ProgressBar,
    provisional: Option<Provisional>,
    trials: u32,
    current: String,
    /// When a run with a time limit began.
    within: Option<Instant>,
}

impl Bar {
    pub fn new(target: ProgressDrawTarget, provisional: Option<Provisional>) -> Self {
        let bar = ProgressBar::with_draw_target(None, target);
        Self { bar, provisional, trials: 0, current: String::new(), within: None }
    }

    /// Shows lines, which replace the earlier ones. The bar is drawn over itself, including the
    /// lines before it.
    fn screen(&self, text: &str) {
        self.bar.set_prefix(format!("{}\n\n", foreign::screen(text, true)));
    }

    /// Sets a constant and valid template. Without a style the bar has the crate's own. The crate
    /// omits colours if NO_COLOR is set.
    fn set_template(&self, template: &str) {
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
    }
}

impl Progress for Bar {
    fn note(&mut self, text: &str) {
        self.bar.println(foreign::message(text));
    }

    fn started(&mut self, trials: u32) {
        self.trials = trials;
        self.set_template("{bar:24.cyan/blue} {pos}/{len}  {elapsed} so far{prefix}\n{wide_msg}");
        self.bar.set_length(u64::from(trials));
        self.bar.reset();
    }

    fn started_for(&mut self, began: Instant, lasts: Duration) {
        self.started(lasts.as_secs().max(1) as u32);
        (self.trials, self.within) = (0, Some(began));
        self.set_template("{prefix}{bar:24.cyan/blue} {pos} s of {len} s\n{wide_msg}");
    }

    fn so_far(&mut self, result: &ResultFile) {
        self.provisional.iter().for_each(|format| self.screen(&format(result)));
    }

    fn trial(&mut self, number: u32, cell: &CellId, index: u32) {
        self.current = foreign::plain(&heading(number, self.trials, cell, index));
        self.bar.set_message(self.current.clone());
    }

    fn phase(&mut self, name: &str, run: u32, runs: u32) {
        self.bar.set_message(format!("{}  {} {run}/{runs}", self.current, foreign::plain(name)));
    }

    fn to_go(&mut self, lasts: Duration) {
        if self.within.is_none() && !lasts.is_zero() {
            self.bar.set_prefix(format!(", about {} to go", HumanDuration(lasts)));
        }
    }

    fn trial_ended(&mut self, status: Status, reason: Option<&str>, wall: Duration) {
        if status.is_failure() {
            // Successes are in the table at the end, but failures should be seen at once.
            self.bar.println(format!("{}: {}", self.current, ending(status, reason, wall)));
        }
        match self.within {
            Some(began) => self.bar.set_position(began.elapsed().as_secs()),
            None => self.bar.inc(1),
        }
    }

    fn finished(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use indicatif::{InMemoryTerm, TermLike};

    use super::*;
    use crate::progress::tests::cell;

    #[test]
    fn what_is_known_until_now_is_drawn_in_place_of_what_was_known_before() {
        let screen = InMemoryTerm::new(12, 90);
        let term: Box<dyn TermLike> = Box::new(screen.clone());
        let mut bar = Bar::new(ProgressDrawTarget::term_like_with_hz(term, 255), None);
        let step = || std::thread::sleep(Duration::from_millis(20));
        bar.started_for(Instant::now(), Duration::from_secs(300));
        for says in ["So far\n  lmdb, by too few trials", "So far\n  lmdb, 1.2x ahead"] {
            step();
            bar.screen(says);
        }
        step();
        bar.phase("read", 1, 2);
        let seen = screen.contents();
        assert!(seen.starts_with("So far\n  lmdb, 1.2x ahead\n"), "{seen}");
        assert!(seen.contains("0 s of 300 s") && !seen.contains("too few"), "{seen}");
        bar.finished();
        assert_eq!(screen.contents(), "");
    }

    #[test]
    fn the_screen_shows_what_runs_how_much_is_done_and_what_failed() {
        let screen = InMemoryTerm::new(12, 90);
        let term: Box<dyn TermLike> = Box::new(screen.clone());
        let mut bar = Bar::new(ProgressDrawTarget::term_like_with_hz(term, 255), None);
        let cell = cell();
        let step = || std::thread::sleep(Duration::from_millis(20)); // the most often that it draws
        bar.note("busy machine");
        bar.started(2);
        bar.trial(1, &cell, 0);
        bar.trial_ended(Status::Failed, Some("it died"), Duration::from_secs(1));
        step();
        bar.trial(2, &cell, 1);
        bar.to_go(Duration::from_secs(7));
        step();
        bar.phase("read", 2, 6);
        let seen = screen.contents();
        assert!(
            seen.starts_with(
                "busy machine\n[1/2] sqlite sensors 10k process single: failed 1.0 s (it died)"
            ),
            "{seen}"
        );
        assert!(seen.contains(" 1/2 ") && seen.contains("about 7 seconds to go"), "{seen}");
        assert!(seen.ends_with("[2/2] sqlite sensors 10k process single #2  read 2/6"), "{seen}");
        bar.finished();
        assert!(screen.contents().ends_with("(it died)"), "{}", screen.contents());
    }
}
