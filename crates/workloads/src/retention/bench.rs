//! Retention on one database.

use embermark_contract::Result;
use embermark_meter::{Kind, Measured, Meter};
use embermark_model::answer::Answer;
use embermark_model::result::Execution;

use super::player::{Play, Played, Player};
use super::port::RetentionLog;
use super::rows::Row;
use super::{KEEP, PreparedCell, content};
use crate::{Bench, CheckError, NoopObserver, OpenedPhase, PhaseObserver};

pub(super) struct RetentionBench {
    phases: Vec<OpenedPhase>,
    cell: PreparedCell,
    log: Box<dyn RetentionLog>,
    played: Option<Played>,
}

impl RetentionBench {
    pub(super) fn new(cell: PreparedCell, log: Box<dyn RetentionLog>) -> Self {
        let phases = vec![OpenedPhase { name: KEEP, ops: 0, execution: Execution::Native }];
        Self { phases, cell, log, played: None }
    }

    fn play(&self) -> Play {
        let spec = &self.cell.spec;
        Play {
            rows: self.cell.rows,
            commit: self.cell.commit,
            longest: spec.window,
            rate: spec.target_rate,
            // An engine that does nothing answers nothing.
            checked: spec.engine != "null",
        }
    }
}

/// Tells what was played: how much of what, and how long it took at first, and in the last rounds.
fn tell(played: &Played, observer: &mut dyn PhaseObserver) {
    let counts = [
        ("rows", played.came),
        ("questions", played.asked),
        ("rounds", played.timeline.rounds.len() as u64),
        ("stalls", played.timeline.stalled),
    ];
    counts.into_iter().for_each(|(name, count)| observer.count(name, count));
    let recorder = &played.recorder;
    let named = |kind| match kind {
        Kind::Commit => ["commit", "commit-first", "commit-last"],
        Kind::Question => ["question", "question-first", "question-last"],
        Kind::Expiry => ["expiry", "expiry-first", "expiry-last"],
    };
    for kind in Kind::ALL {
        let all = [recorder.latency(kind), recorder.first(kind), recorder.last(kind)];
        for (name, latency) in named(kind).into_iter().zip(all) {
            latency.into_iter().for_each(|latency| observer.latency(name, latency));
        }
    }
    observer.timeline(played.timeline.clone());
}

impl Bench for RetentionBench {
    fn phases(&self) -> &[OpenedPhase] {
        &self.phases
    }

    fn lasts(&self, _: usize) -> bool {
        true
    }

    fn target_rate(&self, _: usize) -> Option<f64> {
        self.cell.spec.target_rate.map(|rate| rate as f64)
    }

    fn ready(&mut self, _: usize) -> Result<()> {
        self.played = None;
        self.log.create()
    }

    fn run(&mut self, phase: usize, meter: &mut Meter) -> Result<Answer> {
        self.observe(phase, meter, &mut NoopObserver)
    }

    fn observe(
        &mut self,
        _: usize,
        meter: &mut Meter,
        observer: &mut dyn PhaseObserver,
    ) -> Result<Answer> {
        let recorder = self.cell.recorder.take().unwrap_or_default();
        let played = Player::new(self.play(), self.log.as_mut(), observer, recorder).run()?;
        tell(&played, observer);
        let measured = Measured { elapsed_ns: played.elapsed_ns, ops: played.came, capped: false };
        self.played = Some(played);
        meter.lasted(measured);
        Ok(Answer::Count(measured.ops))
    }

    fn check(&mut self, _: usize, _: &Answer, _: Measured) -> std::result::Result<(), CheckError> {
        let Some(played) = self.played.take() else { return Ok(()) };
        let wrong = match played.wrong {
            Some(wrong) => Some(wrong),
            None => content::wrong(self.log.as_mut(), &self.cell.rows, played.came)?,
        };
        wrong.map_or(Ok(()), |wrong| Err(wrong.into()))
    }

    fn user_bytes(&self, _: usize, ops: u64) -> Option<u64> {
        Some(ops * Row::BYTES)
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        self.log.lifecycle().tier_settings()
    }

    fn maintain_as_left(&mut self) -> Result<()> {
        self.log.lifecycle().maintain()
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.log.lifecycle().maintain()?;
        self.log.close()
    }
}
