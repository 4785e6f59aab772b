//! Asks questions between the rows, and checks their answers.

use std::sync::atomic::Ordering;

use embermark_contract::{Result, Scope};
use embermark_meter::Kind;
use embermark_model::answer::Difference;
use embermark_model::table::Value;

use super::parameters::KeepParameters;
use super::{Answered, KeepRunner};
use crate::defined::oracle::{check_newest, print_of};

impl KeepRunner<'_> {
    /// Asks the next question. Everything written must be readable when the answer begins.
    pub(super) fn question(&mut self) -> Result<()> {
        let before = self.clock.ticks();
        let Self { database, found, parameters: KeepParameters { keep, .. }, .. } = self;
        let kinds = keep.ask.len() as u64;
        let (phase, i) = (keep.ask[(self.asked % kinds) as usize], (self.asked / kinds) as usize);
        database.rebuild_question(phase, i);
        found.empty();
        let from = self.clock.ticks();
        database.flush()?;
        database.within(phase, Scope::PerOperation, &mut |one| one.perform(phase, i, found))?;
        let to = self.clock.ticks();
        let ns = self.clock.nanoseconds(from, to);
        self.recorder.record(Kind::Question, self.clock.nanoseconds(self.began, from), ns, ns);
        self.asked += 1;
        if self.parameters.checked {
            let found = self.found.clone();
            self.answers.push(Answered { phase, i, came: self.came, found });
        }
        let after = self.clock.ticks();
        let ours = self.clock.nanoseconds(before, from) + self.clock.nanoseconds(to, after);
        self.pause(ours);
        Ok(())
    }

    /// Checks many answers at once. Computing the right ones evicts from the processor's caches
    /// what the engine reads next.
    pub(super) fn check_answers(&mut self) {
        let from = self.clock.ticks();
        let (cell, database) = (self.parameters.cell, &*self.database);
        for Answered { phase, i, came, found } in self.answers.drain(..) {
            self.calendar.rows.there.store(came, Ordering::Relaxed);
            let print = |row: &[Value<'_>]| print_of(cell, database, phase, row);
            let there = self.calendar.there(came);
            if let Err(Difference(wrong)) = check_newest(cell, (phase, i), there, &found, &print) {
                let name = &cell.definition.phases[phase].name;
                self.wrong = Some(Difference(format!("{name}, after {came} rows: {wrong}")));
                break;
            }
        }
        self.rows().there.store(self.came, Ordering::Relaxed);
        self.pause(self.clock.nanoseconds(from, self.clock.ticks()));
    }
}
