//! Shows the progress of a run on standard error.

use std::io::Write;
use std::time::{Duration, Instant};

use embermark_model::foreign::{self, clipped};
use embermark_model::result::ResultFile;
use embermark_model::{CellId, Status};
use indicatif::{HumanDuration, ProgressDrawTarget};

mod bar;

use bar::Bar;

/// Receives the progress of a run. A method that is not implemented shows nothing. Never called
/// inside a clock, which runs in another process.
pub trait Progress {
    /// A message: rows being made, a warning about the machine.
    fn note(&mut self, _text: &str) {}

    /// The first of `trials` trials is about to begin.
    fn started(&mut self, _trials: u32) {}

    /// Trials are about to begin, as many as fit into a time from the beginning of the run.
    fn started_for(&mut self, _began: Instant, _lasts: Duration) {}

    /// The result so far, for a run with a time limit: after every cell was measured once, and then
    /// every few seconds.
    fn so_far(&mut self, _result: &ResultFile) {}

    /// A trial begins: number `number` of the run, from 1, and number `index` of its cell, from 0.
    fn trial(&mut self, _number: u32, _cell: &CellId, _index: u32) {}

    /// A phase begins run number `run` of `runs`, from 1.
    fn phase(&mut self, _name: &str, _run: u32, _runs: u32) {}

    /// The expected time of everything after the next trial.
    fn to_go(&mut self, _lasts: Duration) {}

    /// The trial ended after `wall` time.
    fn trial_ended(&mut self, _status: Status, _reason: Option<&str>, _wall: Duration) {}

    /// The run ended, complete or not.
    fn finished(&mut self) {}
}

/// Shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {}

/// Formats the result so far in lines.
pub type Provisional = Box<dyn Fn(&ResultFile) -> String>;

/// Returns a progress bar if standard error is a terminal, and plain lines otherwise. Honours
/// `NO_COLOR`. Shows the result so far as `provisional` formats it.
pub fn on_stderr(provisional: Option<Provisional>) -> Box<dyn Progress> {
    use std::io::IsTerminal;
    let terminal = std::io::stderr();
    match terminal.is_terminal() {
        true => Box::new(Bar::new(ProgressDrawTarget::stderr(), provisional)),
        false => Box::new(Lines::new(terminal, provisional)),
    }
}

/// Formats `5 min` or `100 s`.
pub(crate) fn format_duration(lasts: Duration) -> String {
    match lasts.as_secs() {
        seconds if seconds >= 60 && seconds % 60 == 0 => format!("{} min", seconds / 60),
        _ => format!("{} s", lasts.as_secs_f64()),
    }
}

/// Formats `1 trial` or `24 trials`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Number of ended trials before the remaining time is estimated: some trials take a hundred times
/// as long as others.
const FEWEST_ENDED: u32 = 3;

/// Largest number of characters of a reason. The result has all of it.
const LONGEST_REASON: usize = 1_000;

/// Writes a line per trial: `[ 3/24] sqlite sensors 10k process single: ok 2.1 s, about 50 seconds
/// to go`.
struct Lines<W> {
    to: W,
    provisional: Option<Provisional>,
    trials: u32,
    ended: u32,
    /// Expected time of everything after the current trial.
    to_go: Duration,
    current: String,
    /// For a run with a time limit: when it began, how long it lasts, and the minutes at the last
    /// line.
    within: Option<(Instant, Duration, u64)>,
    /// Whether a provisional screen was written. A log shows only the first one.
    shown: bool,
}

impl<W: Write> Lines<W> {
    /// Writes to `to` and ignores errors.
    const fn new(to: W, provisional: Option<Provisional>) -> Self {
        Self {
            to,
            provisional,
            trials: 0,
            ended: 0,
            to_go: Duration::ZERO,
            current: String::new(),
            within: None,
            shown: false,
        }
    }

    fn expected(&self) -> String {
        if self.ended >= self.trials || self.ended < FEWEST_ENDED {
            return String::new();
        }
        format!(", about {} to go", HumanDuration(self.to_go))
    }

    fn line(&mut self, text: &str) {
        // Progress that cannot be written is no reason to stop measuring.
        let _ = writeln!(self.to, "{}", foreign::message(text)).and_then(|()| self.to.flush());
    }
}

impl<W: Write> Progress for Lines<W> {
    fn note(&mut self, text: &str) {
        self.line(text);
    }

    fn started(&mut self, trials: u32) {
        (self.trials, self.ended, self.to_go) = (trials, 0, Duration::ZERO);
    }

    fn started_for(&mut self, began: Instant, lasts: Duration) {
        self.within = Some((began, lasts, 0));
    }

    fn so_far(&mut self, result: &ResultFile) {
        if !std::mem::replace(&mut self.shown, true)
            && let Some(format) = &self.provisional
        {
            let text = format(result);
            text.lines().for_each(|line| self.line(line));
        }
    }

    fn trial(&mut self, number: u32, cell: &CellId, index: u32) {
        self.current = heading(number, self.trials, cell, index);
    }

    fn to_go(&mut self, lasts: Duration) {
        self.to_go = lasts;
    }

    fn trial_ended(&mut self, status: Status, reason: Option<&str>, wall: Duration) {
        self.ended += 1;
        if let Some((began, lasts, said)) = self.within {
            let minutes = began.elapsed().as_secs() / 60;
            if status.is_failure() {
                let line = format!("{}: {}", self.current, ending(status, reason, wall));
                self.line(&line);
            } else if minutes > said {
                let (ended, limit) = (counted(self.ended.into(), "trial"), format_duration(lasts));
                let left = match lasts.checked_sub(began.elapsed()) {
                    Some(left) => format!("{} s to go", left.as_secs()),
                    None => format!("{} s too long", (began.elapsed() - lasts).as_secs()),
                };
                self.line(&format!("{minutes} min of {limit}: {ended}, {left}"));
            }
            self.within = Some((began, lasts, said.max(minutes)));
            return;
        }
        let line = format!("{}: {}{}", self.current, ending(status, reason, wall), self.expected());
        self.line(&line);
    }
}

/// Formats `[ 3/24] sqlite sensors 10k process single`, with the number of the trial unless it is
/// the first.
fn heading(number: u32, trials: u32, cell: &CellId, index: u32) -> String {
    let width = trials.to_string().len();
    let again = if index == 0 { String::new() } else { format!(" #{}", index + 1) };
    if trials == 0 {
        return format!("[{number}] {cell}{again}");
    }
    format!("[{number:>width$}/{trials}] {cell}{again}")
}

/// Formats `ok 2.1 s`, or with the reason `failed 0.3 s (the worker …)`.
fn ending(status: Status, reason: Option<&str>, wall: Duration) -> String {
    let reason = reason.map(|reason| format!(" ({})", clipped(reason, LONGEST_REASON)));
    let reason = reason.unwrap_or_default();
    format!("{status} {:.1} s{reason}", wall.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use embermark_model::{Durability, Scale};

    use super::*;

    pub(super) fn cell() -> CellId {
        CellId {
            workload: "sensors".into(),
            scale: Scale::Rows(10_000),
            durability: Durability::Process,
            variant: "single".into(),
            engine: "sqlite".into(),
            memory_limit: None,
            storage: None,
        }
    }

    #[test]
    fn each_trial_is_one_line_with_its_ending() {
        let cell = cell();
        let mut lines = Lines::new(Vec::new(), None);
        lines.started(24);
        lines.trial(3, &cell, 0);
        lines.phase("load", 1, 6);
        lines.trial_ended(Status::Ok, None, Duration::from_millis(2_140));
        lines.trial(14, &cell, 1);
        lines.trial_ended(Status::Wrong, Some("read: no"), Duration::from_millis(10));
        lines.finished();
        assert_eq!(
            String::from_utf8(lines.to).unwrap(),
            "[ 3/24] sqlite sensors 10k process single: ok 2.1 s\n\
         [14/24] sqlite sensors 10k process single #2: wrong 0.0 s (read: no)\n"
        );
    }

    #[test]
    fn a_run_that_is_longer_than_its_time_says_by_how_much() {
        let began = Instant::now().checked_sub(Duration::from_secs(125)).unwrap();
        let says = |lasts| {
            let mut lines = Lines::new(Vec::new(), None);
            lines.started_for(began, Duration::from_secs(lasts));
            lines.trial(1, &cell(), 0);
            lines.trial_ended(Status::Capped, None, Duration::from_secs(120));
            String::from_utf8(lines.to).unwrap()
        };
        let [over, within] = [says(3), says(300)];
        assert!(over.starts_with("2 min of 3 s: 1 trial, 12") && over.ends_with(" s too long\n"));
        assert!(within.starts_with("2 min of 5 min: 1 trial, 17"), "{within}");
        assert!(within.ends_with(" s to go\n"), "{within}");
    }

    #[test]
    fn from_the_third_trial_on_a_line_says_how_long_the_others_will_take() {
        let mut lines = Lines::new(Vec::new(), None);
        lines.started(5);
        for number in 1..=5 {
            lines.trial(number, &cell(), 0);
            lines.to_go(Duration::from_secs(u64::from(5 - number) * 20));
            lines.trial_ended(Status::Ok, None, Duration::from_secs(u64::from(number) * 10));
        }
        let shown = String::from_utf8(lines.to).unwrap();
        let says: Vec<&str> =
            shown.lines().filter_map(|line| line.split_once(": ok ")).map(|l| l.1).collect();
        assert_eq!(
            says,
            [
                "10.0 s",
                "20.0 s",
                "30.0 s, about 40 seconds to go",
                "40.0 s, about 20 seconds to go",
                "50.0 s"
            ]
        );
    }
}
