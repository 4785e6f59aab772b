//! Receives the events of a worker, and builds the record of its trial from them.

use std::io::{BufRead, BufReader, Read};
use std::process::ChildStdout;
use std::sync::mpsc::{Receiver, channel};

use embermark_model::Status;
use embermark_model::foreign::{clipped, shortened};
use embermark_model::result::{PhaseResult, Trial};

use super::memory::Samples;
use crate::explaining::traced_cost;
use crate::flash::OnDisk;
use crate::progress::Progress;
use crate::protocol::{Event, Job, TracedProcess};

/// Largest number of characters of a version, a setting and a reason, which an engine chooses
/// freely.
const LONGEST_VERSION: usize = 500;
const LONGEST_SETTING: usize = 2_000;
const LONGEST_REASON: usize = 10_000;
const MOST_SETTINGS: usize = 1_000;

/// Shortens what the engine reports in a trial.
fn limited(mut trial: Trial) -> Trial {
    trial.version = trial.version.map(|version| shortened(version, LONGEST_VERSION));
    let settings = std::mem::take(&mut trial.settings).into_iter().take(MOST_SETTINGS);
    let short = |text| shortened(text, LONGEST_SETTING);
    trial.settings = settings.map(|(name, value)| (short(name), short(value))).collect();
    trial
}

/// The record of a trial so far.
#[derive(Default)]
pub(super) struct Record {
    trial: Trial,
    open_phase: Option<PhaseResult>,
    run: u32,
    ready: bool,
    server: Option<u32>,
    memory: Samples,
    /// For the run that is about to end.
    traced: Option<Vec<TracedProcess>>,
    /// When each run of a phase, and the maintenance after it, used the trial's own disk.
    pub on_disk: Vec<OnDisk>,
    /// Whether the worker has finished.
    pub finished: bool,
    /// Why the worker cannot continue, if it cannot.
    pub failure: Option<(Status, String)>,
}

impl Record {
    /// Records an event, and notifies `progress` when a run begins.
    pub fn apply(&mut self, event: Event, job: &Job, progress: &mut dyn Progress) {
        match event {
            Event::Ready { trial, server } => {
                (self.trial, self.server, self.ready) = (limited(*trial), server, true);
            }
            Event::PhaseBegan(phase) => self.open_phase = Some(*phase),
            Event::Running { run } => {
                self.run = run + 1;
                if let Some(phase) = &self.open_phase {
                    progress.phase(&phase.phase, run + 1, job.plan.runs);
                }
            }
            Event::Traced { processes } => self.traced = Some(processes),
            Event::Run { mut run, between, on_disk, maintenance_on_disk, .. } => {
                if let Some(processes) = self.traced.take() {
                    run.explained = Some(traced_cost(&processes, self.server, run.ops));
                }
                run.engine.mean_bytes =
                    between.and_then(|(began, ended)| self.memory.mean(began, ended));
                if let Some(phase) = &mut self.open_phase {
                    phase.runs.push(*run);
                    self.on_disk.extend(on_disk.map(|run| OnDisk {
                        phase: phase.phase.clone(),
                        run,
                        maintenance: maintenance_on_disk,
                    }));
                }
            }
            Event::PhaseEnded(mut ended) => {
                ended.reason = ended.reason.map(|reason| shortened(reason, LONGEST_REASON));
                let runs = self.open_phase.take().map(|phase| phase.runs).unwrap_or_default();
                self.trial.phases.push(PhaseResult { runs, ..*ended });
            }
            Event::TierChanged { reason } => {
                for phase in self.trial.phases.iter_mut().filter(|p| p.status.has_figures()) {
                    (phase.status, phase.reason) = (Status::Wrong, Some(reason.clone()));
                }
            }
            Event::Network(of) => self.trial.network = Some(of),
            Event::Finished => self.finished = true,
            Event::Failed { status, reason } => {
                self.failure = Some((status, shortened(reason, LONGEST_REASON)));
            }
        }
    }

    /// Samples the memory of the engine's processes if a sample is due: of the worker, or of its
    /// private server. A server given by URL (`foreign`) is not sampled.
    pub fn sample_memory(&mut self, worker: u32, foreign: bool) {
        if self.ready && self.open_phase.is_some() {
            match self.server {
                Some(server) => self.memory.sample(server, true),
                None if foreign => {}
                None => self.memory.sample(worker, false),
            }
        }
    }

    /// Describes the current position in the trial, for a message.
    pub fn position(&self) -> String {
        match (&self.open_phase, self.trial.phases.last()) {
            (Some(phase), _) => format!("run {} of phase {}", self.run, phase.phase),
            (None, Some(phase)) => format!("the end of phase {}", phase.phase),
            (None, None) if self.ready => "opening the engine".to_owned(),
            (None, None) => "the start of the worker".to_owned(),
        }
    }

    /// Returns the whole trial. Its status is that of its worst phase or of what ended it.
    pub fn close(self, failure: Option<(Status, String)>) -> Trial {
        let mut trial = self.trial;
        if let Some((status, reason)) = failure {
            (trial.status, trial.reason) = (status, Some(reason));
            let reason = trial.reason.clone();
            let open = self.open_phase.map(|phase| PhaseResult { status, reason, ..phase });
            trial.phases.extend(open);
        }
        trial.update_status();
        trial
    }
}

/// Longest line of an event: far longer than any histogram.
const LONGEST_LINE: u64 = 16 << 20;

/// Reads events in a separate thread. An invalid line is returned as its beginning.
pub(super) fn listen_to(stdout: ChildStdout) -> Receiver<Result<Event, String>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut stdout = BufReader::new(stdout);
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut stdout).take(LONGEST_LINE).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            // An incomplete last line is what a dying worker left of an event.
            if line.last() != Some(&b'\n') && (line.len() as u64) < LONGEST_LINE {
                return;
            }
            let event = serde_json::from_slice(&line).map_err(|_| beginning(&line));
            let garbled = event.is_err();
            if sender.send(event).is_err() || garbled {
                return;
            }
        }
    });
    receiver
}

/// Returns the beginning of an invalid line, and whether it is too long.
fn beginning(line: &[u8]) -> String {
    const SHOWN: usize = 80;
    let shown = clipped(&String::from_utf8_lossy(&line[..line.len().min(4 * SHOWN)]), SHOWN);
    match line.len() as u64 {
        LONGEST_LINE => format!("{shown} (a line of more than {} MiB)", LONGEST_LINE >> 20),
        _ => shown,
    }
}

#[cfg(test)]
mod tests {
    use embermark_model::result::Execution;

    use super::*;

    /// A trial whose phases ended like this.
    fn trial(phases: &[(&str, Status)]) -> Record {
        let mut record = Record::default();
        for (name, status) in phases {
            record.trial.phases.push(PhaseResult {
                phase: (*name).to_owned(),
                execution: Execution::Native,
                status: *status,
                reason: (*status != Status::Ok).then(|| format!("{name} was {status}")),
                ops: 1,
                runs: Vec::new(),
                latency: None,
                ..PhaseResult::default()
            });
        }
        record
    }

    fn ending(record: Record, failure: Option<(Status, String)>) -> (Status, Option<String>) {
        let trial = record.close(failure);
        (trial.status, trial.reason)
    }

    #[test]
    fn a_trial_is_as_bad_as_its_worst_phase_and_says_which_one() {
        use Status::{Capped, Disputed, Ok, Unsupported, Wrong};
        assert_eq!(ending(trial(&[("load", Ok), ("read", Ok)]), None), (Ok, None));
        let phases = [("load", Capped), ("read", Wrong), ("update", Wrong)];
        let expected = (Wrong, Some("read: read was wrong".to_owned()));
        assert_eq!(ending(trial(&phases), None), expected);
        // One unsupported phase does not hide the figures of the others.
        assert_eq!(ending(trial(&[("load", Ok), ("topk", Unsupported)]), None), (Ok, None));
        assert_eq!(ending(trial(&[("topk", Unsupported)]), None).0, Unsupported);
        let disputed = [("report", Disputed), ("load", Ok), ("topk", Unsupported)];
        assert_eq!(ending(trial(&disputed), None), (Ok, None));
    }

    #[test]
    fn what_an_engine_says_of_itself_is_cut_where_it_is_too_long() {
        let long = "é".repeat(5_000_000);
        let mut trial = Trial { version: Some(long.clone()), ..Trial::default() };
        trial.settings.insert("name".into(), long.clone());
        let trial = limited(trial);
        assert_eq!(trial.version.unwrap().chars().count(), LONGEST_VERSION);
        assert_eq!(trial.settings["name"].chars().count(), LONGEST_SETTING);
    }

    #[test]
    fn a_failure_counts_unless_a_wrong_answer_came_before_it() {
        let died = || Some((Status::Failed, "died".to_owned()));
        assert_eq!(
            ending(trial(&[("load", Status::Ok)]), died()),
            (Status::Failed, Some("died".to_owned()))
        );
        assert_eq!(ending(trial(&[("load", Status::Wrong)]), died()).0, Status::Wrong);
    }

    #[test]
    fn nonsense_is_quoted_by_its_beginning_alone() {
        assert_eq!(beginning(b"Segmentation fault\n"), "Segmentation fault");
        assert_eq!(beginning("é".repeat(500).as_bytes()), format!("{}…", "é".repeat(79)));
        assert_eq!(beginning(b"\xff\xfe\n"), "\u{fffd}\u{fffd}");
        assert!(beginning(&vec![b'v'; 16 << 20]).ends_with("v… (a line of more than 16 MiB)"));
    }
}
