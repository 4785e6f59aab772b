//! The first pass of a race: every cell once, one table of competing cells after the other. A table whose cells
//! are not all measured compares nobody, so none is begun that would not end in time.

use std::time::{Duration, Instant};

use embermark_model::CellId;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::HarnessError;
use crate::cells::PlannedCell;
use crate::journal::{self, EndedTrial};
use crate::session::Run;

/// Time from the beginning of a run until which what is known is shown, also when not every cell had a trial.
const FIRST_SCREEN: Duration = Duration::from_secs(55);

/// The cells by what competes: those beside each other that differ in their engine alone.
pub(super) fn competing(cells: &[PlannedCell]) -> impl Iterator<Item = &[PlannedCell]> {
    cells.chunk_by(|a, b| competes(&a.id, &b.id))
}

/// Whether two cells differ in their engine alone.
fn competes(one: &CellId, other: &CellId) -> bool {
    CellId { engine: String::new(), ..one.clone() }
        == CellId { engine: String::new(), ..other.clone() }
}

/// Places of the cells that compete, in the order of the first pass: before all others those of each workload's
/// first variant, which runs every phase. Within a table the order is drawn.
fn tables(cells: &[PlannedCell], seed: u64) -> Vec<Vec<usize>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut tables: Vec<Vec<usize>> = Vec::new();
    for own in competing(cells) {
        let from = tables.iter().map(Vec::len).sum::<usize>();
        tables.push((from..from + own.len()).collect());
    }
    tables.sort_by_key(|table| !is_main(&cells[table[0]].id, cells));
    tables.iter_mut().for_each(|table| table.shuffle(&mut random));
    tables
}

/// Whether a cell has the first variant of its workload.
pub(crate) fn is_main(id: &CellId, cells: &[PlannedCell]) -> bool {
    let first = cells.iter().find(|cell| cell.id.workload == id.workload);
    first.is_some_and(|first| first.id.variant == id.variant)
}

/// How long cells are expected to take: as long as other trials of their engines did, or as all did.
fn expected(table: &[usize], cells: &[PlannedCell], ended: &[EndedTrial]) -> Duration {
    let mean = |counts: &dyn Fn(&EndedTrial) -> bool| {
        let walls = ended.iter().filter(|ended| counts(ended)).map(|ended| ended.trial.wall_ns);
        let (count, sum) = walls.fold((0_u64, 0_u64), |(count, sum), ns| (count + 1, sum + ns));
        (count > 0).then(|| sum / count)
    };
    let of = |engine: &str| mean(&|ended| ended.cell.engine == engine).or_else(|| mean(&|_| true));
    let all = table.iter().filter_map(|at| of(&cells[*at].id.engine));
    Duration::from_nanos(all.sum())
}

/// What cells without a trial are of: `htap 1k power commit-each, …`, each once.
fn left_out(cells: &[PlannedCell], missed: &[usize]) -> String {
    let mut names: Vec<String> = Vec::new();
    for cell in missed.iter().map(|at| &cells[*at].id) {
        let name = format!("{} {} {} {}", cell.workload, cell.scale, cell.durability, cell.variant);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

impl Run<'_> {
    /// Runs every cell once that is expected to end in time; whether it was not interrupted.
    pub(super) fn first_pass(
        &mut self,
        cells: &[PlannedCell],
        ends: Instant,
    ) -> Result<bool, HarnessError> {
        let mut missed: Vec<usize> = Vec::new();
        let mut is_shown = false;
        for mut table in tables(cells, self.plan.seed) {
            table.retain(|at| self.journal.ended(&cells[*at].id, 0).is_none());
            let lasts = expected(&table, cells, &self.journal.trials);
            if !is_shown && self.began.elapsed() + lasts > FIRST_SCREEN {
                self.progress.so_far(&journal::assemble(&self.journal));
                is_shown = true;
            }
            if Instant::now() + lasts > ends {
                missed.extend(table);
                continue;
            }
            for cell in table {
                if Instant::now() >= ends {
                    missed.push(cell);
                } else if !self.once_more(cell, 0, cells)? {
                    return Ok(false);
                }
            }
        }
        if missed.is_empty() {
            self.progress.so_far(&journal::assemble(&self.journal));
            return Ok(true);
        }
        self.warn(format!(
            "the time (--for) was over before every cell had a trial: {} of {} had none, of {}; give \
             more time, or name fewer workloads or engines",
            missed.len(),
            cells.len(),
            left_out(cells, &missed)
        ))?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use embermark_model::result::Trial;
    use embermark_model::{Durability, Scale};

    use super::*;

    fn cell(workload: &str, variant: &str, engine: &str) -> PlannedCell {
        let id = CellId {
            workload: workload.into(),
            scale: Scale::Rows(10),
            durability: Durability::Process,
            variant: variant.into(),
            engine: engine.into(),
            memory_limit: None,
        };
        PlannedCell {
            id,
            phases: Vec::new(),
            effective_durability: None,
            reference: false,
            unpublishable: false,
            skip: None,
        }
    }

    #[test]
    fn tables_of_first_variants_come_first_and_each_stays_together() {
        let of = |workload| {
            ["each", "bulk"].map(|variant| ["a", "b"].map(|engine| cell(workload, variant, engine)))
        };
        let cells: Vec<PlannedCell> =
            ["one", "two"].map(of).into_iter().flatten().flatten().collect();
        for seed in 0..8 {
            let tables = tables(&cells, seed);
            let names: Vec<(&str, &str)> = tables
                .iter()
                .map(|table| &cells[table[0]].id)
                .map(|id| (id.workload.as_str(), id.variant.as_str()))
                .collect();
            assert_eq!(names, [("one", "each"), ("two", "each"), ("one", "bulk"), ("two", "bulk")]);
            for mut table in tables {
                table.sort_unstable();
                assert_eq!((table.len(), table[1]), (2, table[0] + 1));
            }
        }
    }

    #[test]
    fn a_table_takes_as_long_as_other_trials_of_its_engines_and_one_that_is_new_as_all() {
        let ended = |engine: &str, wall_ns| EndedTrial {
            cell: cell("one", "each", engine).id,
            trial: Trial { wall_ns, ..Trial::default() },
        };
        let cells = ["a", "b", "new"].map(|engine| cell("two", "each", engine));
        assert_eq!(expected(&[0, 1, 2], &cells, &[]), Duration::ZERO);
        let all = [ended("a", 10), ended("a", 30), ended("b", 80)];
        assert_eq!(expected(&[0, 1, 2], &cells, &all), Duration::from_nanos(20 + 80 + 40));
    }
}
