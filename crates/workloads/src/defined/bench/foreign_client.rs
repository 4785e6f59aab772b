//! A client program in another language, which works on the same database, and the phases that it
//! runs.

use std::rc::Rc;
use std::time::Duration;

use embermark_clients::{Answers, Done, Operations, Process, Program, Run, Tape};
use embermark_contract::{ConnectionParameters, EngineError, Result};
use embermark_language::Work;
use embermark_meter::{Measured, Meter};
use embermark_model::result::Execution;

use super::super::kind::changes_rows;
use super::FileBench;
use crate::{Companions, PhaseObserver};

/// Role of its process.
pub const ROLE: &str = "client";

/// A client program that works on the same database.
pub struct ForeignClient {
    pub program: Program,
    pub companions: Rc<dyn Companions>,
    pub tape: Tape,
    /// Connection parameters of the program.
    pub connection: ConnectionParameters,
    /// Settings that keep the durability tier, as this process read them.
    pub tier: Vec<(String, String)>,
    /// Its process. Started with the first phase.
    pub process: Option<Process>,
}

impl ForeignClient {
    /// Compares the settings that the program read back with those that keep the tier here.
    pub(super) fn check_tier_settings(&self, settings: &[(String, String)]) -> Result<()> {
        for (name, own) in &self.tier {
            let theirs = settings.iter().find(|(known, _)| known == name).map(|(_, value)| value);
            if let Some(theirs) = theirs.filter(|theirs| !theirs.eq_ignore_ascii_case(own)) {
                let what = format!("{name} is {theirs} there, and {own} here");
                return Err(EngineError::failed("the client", "keep the durability tier", what));
            }
        }
        Ok(())
    }

    /// Returns the process, and starts it if it is not running.
    pub(super) fn process(&mut self) -> Result<&mut Process> {
        if self.process.is_none() {
            let child = self.companions.start(ROLE, &self.program.task(), None);
            let child = child.map_err(|error| EngineError::failed("the client", "start", error))?;
            self.process = Some(Process::load(child, &self.program)?);
        }
        self.process
            .as_mut()
            .ok_or_else(|| EngineError::failed("the client", "start", "it is not there"))
    }
}

/// Shortest time of a run that reads, in ns. Shorter runs are repeated.
const SHORTEST_NS: u64 = 1_000_000;

impl FileBench {
    /// Returns why a program in another language cannot do a phase, if one does the phases.
    pub(super) fn refused_by_foreign_client(&self, phase: usize) -> Option<EngineError> {
        self.client.as_ref()?;
        let cell = &self.prepared.cell;
        let parts = cell.parts_of(phase);
        let client_side = || {
            let by = |part: &usize| self.database.execution(*part);
            parts.iter().any(|part| {
                matches!(by(part), Ok(Execution::ClientSide))
                    && !matches!(cell.work(*part), Work::Range(_))
            })
        };
        let why = match cell.work(phase) {
            Work::Mix(_) | Work::Keep(_) => "several things at the same time",
            Work::Arrive(_) => "rows that a sensor makes",
            Work::Open { .. } => "reopening a database",
            _ if self.prepared.spec.clients > 1 => "several clients",
            _ if self.prepared.spec.target_rate.is_some() => "operations at a target rate",
            _ if parts.iter().any(|part| self.prepared.buffer(*part).is_some()) => {
                "rows that another thread commits"
            }
            Work::Insert { requests: Some(_), .. } => "rows that arrive over HTTP",
            _ if self.prepared.csv[phase].is_some() => "loading a CSV file",
            _ if client_side() => {
                "questions that client code answers from rows that it reads one by one"
            }
            _ => return None,
        };
        Some(EngineError::impossible(format!("clients in another language do not support {why}")))
    }

    /// Returns how the program runs a phase, for no longer than `cap`.
    fn run_of(&self, phase: usize, cap: Option<Duration>) -> Run {
        let work = self.prepared.cell.work(phase);
        let reads = self.prepared.cell.insert_of(phase).is_none() && !changes_rows(work);
        Run {
            warm_up: reads && !self.prepared.spec.cold,
            repeat_ns: match self.phases[phase].ops {
                0 => Some(self.prepared.spec.window.as_nanos() as u64),
                // A very short run is repeated, and its time is the mean.
                _ => reads.then_some(SHORTEST_NS),
            },
            // The questions of a sequence follow after all its rows are inserted.
            most_ns: (cap.filter(|_| !matches!(work, Work::Sequence(_))))
                .map(|most| most.as_nanos() as u64),
        }
    }

    /// Runs a phase in the program. The database is closed here meanwhile if it must be.
    pub(super) fn run_foreign_client(
        &mut self,
        phase: usize,
        meter: &mut Meter,
        observer: &mut dyn PhaseObserver,
    ) -> Result<()> {
        let Some(tape) = self.client.as_ref().map(|client| client.tape.clone()) else {
            return Ok(());
        };
        let (operations, recorded) = self.record(phase, &tape)?;
        let run = self.run_of(phase, meter.cap());
        let Self { database, client: Some(client), outcome, .. } = self else { return Ok(()) };
        let mut went = Err(EngineError::failed("the store", "be closed for a while", "it was not"));
        let mut work = |client: &mut ForeignClient| {
            let names: Vec<String> = client.tier.iter().map(|(name, _)| name.clone()).collect();
            let connection = client.connection.clone();
            let settings = client.process()?.open(&connection, &names)?;
            client.check_tier_settings(&settings)?;
            let expected = client.tape.expected();
            let process = client.process()?;
            process.prepare(&operations, expected, run)?;
            observer.process(ROLE, process.pid());
            observer.open();
            let done = process.go(run);
            observer.close();
            let done = done?;
            outcome.timed_by = Some(process.version.clone());
            outcome.client_floor_ns = Some(process.floor_ns);
            let answers = process.answers()?;
            process.close()?;
            Ok((done, answers))
        };
        // The database is reopened even after an error.
        database.reopen_after(&mut || {
            went = work(client);
            if went.is_err() {
                // It may still have the database open.
                client.process = None;
            }
            Ok(())
        })?;
        let (done, answers) = went?;
        let latencies = answers.latencies.clone();
        for part in self.prepared.cell.parts_of(phase) {
            let lead = self.prepared.cell.insert_of(phase).unwrap_or(phase);
            self.database.ready(part, lead)?;
        }
        let Done { mut elapsed_ns, operations: mut ops, capped } = done;
        if !capped && !operations.is_empty() {
            let times = run.repetitions(done, operations.len())?;
            // One call can count as several operations.
            ops = recorded;
            match self.phases[phase].ops {
                0 => ops *= times,
                _ => elapsed_ns /= times,
            }
        }
        self.play(phase, &tape, answers, capped)?;
        meter.set_timed(Measured { elapsed_ns, ops, capped }, &latencies);
        Ok(())
    }

    /// Records the calls of a phase and the number of operations that they count as, without
    /// changing anything.
    fn record(&mut self, phase: usize, tape: &Tape) -> Result<(Operations, u64)> {
        tape.record();
        let each = tape.clone();
        let mut meter = Meter::tracing(move || each.end_operation());
        let made = self.perform_once(phase, &mut meter);
        let recorded = tape.finish_recording();
        self.forget_found();
        made.map(|()| (recorded, meter.measured().ops))
    }

    /// Makes the calls of a phase again with the program's answers. Calls after it was `capped`
    /// have no answer.
    fn play(&mut self, phase: usize, tape: &Tape, answers: Answers, capped: bool) -> Result<()> {
        tape.play(answers);
        let made = self.perform_once(phase, &mut Meter::new(None));
        match (tape.finish_playing(), made) {
            (true, Ok(())) => Ok(()),
            // There is no answer to the call after the program's last.
            (true, Err(_)) if capped => Ok(()),
            (_, Err(error)) => Err(error),
            (false, Ok(())) => {
                let what = "it answered calls that the workload does not make";
                Err(EngineError::failed("the client", "be compared", what))
            }
        }
    }

    /// Does a phase once. A question that is asked for a time is asked once.
    fn perform_once(&mut self, phase: usize, meter: &mut Meter) -> Result<()> {
        let window = std::mem::replace(&mut self.prepared.spec.window, Duration::ZERO);
        meter.start();
        let made = self.perform(phase, meter);
        meter.stop();
        self.prepared.spec.window = window;
        made
    }
}
