//! The first pass of a race: runs every cell once, table by table of competing cells. A table with
//! unmeasured cells compares nothing, so a table that would not end in time is not begun.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

use embermark_model::result::Trial;
use embermark_model::{CellId, MemoryLimit, StorageName};
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::Result;
use crate::cells::PlannedCell;
use crate::journal::EndedTrial;
use crate::result_file::assemble;
use crate::session::Run;

/// Time from the beginning of a run by which the results so far are shown, even if some cells have
/// no trial: before a table that would not end by then.
const FIRST_SCREEN: Duration = Duration::from_secs(55);

/// The same limit for a trial, if its table takes longer than expected.
const LATEST_SCREEN: Duration = Duration::from_secs(58);

/// Groups the cells that compete: neighbours that differ only in their engine.
pub(super) fn competing(cells: &[PlannedCell]) -> impl Iterator<Item = &[PlannedCell]> {
    cells.chunk_by(|a, b| competes(&a.id, &b.id))
}

/// Whether two cells differ only in their engine.
pub(crate) fn competes(one: &CellId, other: &CellId) -> bool {
    CellId { engine: String::new(), ..one.clone() }
        == CellId { engine: String::new(), ..other.clone() }
}

/// Returns the indexes of competing cells, in the order of the first pass. The tables of each
/// workload's first variant, which runs every phase, come first. Tables with more rows than the
/// workload's fewest come later, and those with a memory limit or an imitated storage last. The
/// order within a table is random.
fn tables(cells: &[PlannedCell], seed: u64) -> Vec<Vec<usize>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut tables: Vec<Vec<usize>> = Vec::new();
    for own in competing(cells) {
        let from = tables.iter().map(Vec::len).sum::<usize>();
        tables.push((from..from + own.len()).collect());
    }
    tables.sort_by_key(|table| rank(&cells[table[0]].id, cells));
    tables.iter_mut().for_each(|table| table.shuffle(&mut random));
    tables
}

/// Returns the key by which cells are ordered for measuring and counting.
pub(crate) fn rank(
    id: &CellId,
    cells: &[PlannedCell],
) -> (Option<MemoryLimit>, Option<StorageName>, bool, bool) {
    let own = || cells.iter().filter(|own| own.id.workload == id.workload).map(|own| &own.id);
    let more_rows = own().any(|other| other.scale < id.scale);
    let first_variant = own().next().is_some_and(|first| first.variant == id.variant);
    (id.memory_limit, id.storage, more_rows, !first_variant)
}

/// Whether a cell follows others of its workload: it has more rows, a memory limit, or an imitated
/// storage while others use this machine's own.
pub(super) fn follows(id: &CellId, cells: &[PlannedCell]) -> bool {
    let mut own = cells.iter().filter(|own| own.id.workload == id.workload).map(|own| &own.id);
    own.any(|other| {
        other.scale < id.scale
            || other.memory_limit < id.memory_limit
            || (other.storage.is_none() && id.storage.is_some())
    })
}

/// Number of phases that take as long as the rest of a trial: starting its process, its rows and
/// its end.
const OVERHEAD_PHASES: u64 = 3;

/// Returns the expected time of one trial of each cell, from the earlier trials of the same cell.
/// For a cell without trials it is estimated from the time per phase of its engine's trials, or of
/// all trials.
pub(crate) fn expected(cells: &[&PlannedCell], ended: &[EndedTrial]) -> Duration {
    let mut of_cells = Pace(HashMap::new());
    let mut of_engines = Pace(HashMap::new());
    for EndedTrial { cell, trial } in ended {
        of_cells.add(cell, trial);
        of_engines.add(cell.engine.as_str(), trial);
    }
    let of = |cell: &PlannedCell| {
        let pace = of_cells.get(&cell.id).or_else(|| of_engines.get(cell.id.engine.as_str()));
        pace.or(of_engines.mean()).unwrap_or(0) * (OVERHEAD_PHASES + cell.phases.len() as u64)
    };
    Duration::from_nanos(cells.iter().copied().map(of).sum())
}

/// Number of phases by key, with [`OVERHEAD_PHASES`] more per trial, and their total time in ns.
struct Pace<K>(HashMap<K, (u64, u64)>);

impl<K: Eq + Hash> Pace<K> {
    fn add(&mut self, key: K, trial: &Trial) {
        let (phases, ns) = self.0.entry(key).or_default();
        *phases += OVERHEAD_PHASES + trial.phases.len() as u64;
        *ns += trial.wall_ns;
    }

    /// Returns the time of a phase in ns.
    fn get(&self, key: K) -> Option<u64> {
        self.0.get(&key).map(|(phases, ns)| ns / phases)
    }

    fn mean(&self) -> Option<u64> {
        let all = self.0.values();
        let (phases, ns) =
            all.fold((0, 0), |sum: (u64, u64), (phases, ns)| (sum.0 + phases, sum.1 + ns));
        ns.checked_div(phases)
    }
}

/// Names the tables of cells without a trial: `htap 1k within 64 MiB power commit-each, …`.
fn left_out(cells: &[PlannedCell], missed: &[usize]) -> String {
    let mut names: Vec<String> = Vec::new();
    for cell in missed.iter().map(|at| &cells[*at].id) {
        let CellId { workload, durability, variant, .. } = cell;
        let name = format!("{workload} {} {durability} {variant}", cell.extent());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

impl Run<'_> {
    /// Runs every cell once that is expected to end in time. Followers may take only half of the
    /// time.
    pub(super) fn first_pass(&mut self, cells: &[PlannedCell], ends: Instant) -> Result<()> {
        let whole = Duration::from_millis(self.plan.lasts_ms.unwrap_or_default());
        let half = ends.checked_sub(whole / 2).unwrap_or(ends);
        let mut missed: Vec<usize> = Vec::new();
        let mut is_shown = false;
        for mut table in tables(cells, self.plan.seed) {
            table.retain(|at| self.journal.find_trial(&cells[*at].id, 0).is_none());
            if table.is_empty() {
                continue;
            }
            let ends = if follows(&cells[table[0]].id, cells) { half } else { ends };
            let own: Vec<&PlannedCell> = table.iter().map(|at| &cells[*at]).collect();
            let lasts = expected(&own, &self.journal.trials);
            let is_known = !self.journal.trials.is_empty();
            if !is_shown && is_known && self.began.elapsed() + lasts > FIRST_SCREEN {
                self.progress.so_far(&assemble(&self.journal));
                is_shown = true;
            }
            if Instant::now() + lasts > ends {
                missed.extend(table);
                continue;
            }
            // A partly measured table compares little, and is shown only if nothing else is known.
            let mut is_part_shown = false;
            let known = (is_known && !is_shown).then(|| assemble(&self.journal));
            for cell in table {
                let lasts = expected(&[&cells[cell]], &self.journal.trials);
                let is_late = self.began.elapsed() + lasts > LATEST_SCREEN;
                if is_late && !is_shown && !self.journal.trials.is_empty() {
                    is_part_shown = known.is_none();
                    let part = || assemble(&self.journal);
                    self.progress.so_far(&known.clone().unwrap_or_else(part));
                    is_shown = true;
                }
                if Instant::now() >= ends {
                    missed.push(cell);
                } else {
                    self.repeat_cell(cell, 0, cells)?;
                }
            }
            if is_part_shown {
                self.progress.so_far(&assemble(&self.journal));
            }
        }
        if missed.is_empty() {
            self.progress.so_far(&assemble(&self.journal));
            return Ok(());
        }
        self.warn(format!(
            "the time (--for) was over before every cell had a trial: {} of {} had none, of {}; give \
             more time, or name fewer workloads or engines",
            missed.len(),
            cells.len(),
            left_out(cells, &missed)
        ))
    }
}

#[cfg(test)]
mod tests {
    use embermark_model::result::PhaseResult;
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
            storage: None,
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
    fn more_rows_come_after_every_variant_and_limits_of_memory_last() {
        let mut cells = Vec::new();
        for limit in [None, Some(MemoryLimit(64 << 20))] {
            for scale in [10, 100].map(Scale::Rows) {
                for variant in ["each", "bulk"] {
                    let PlannedCell { id, .. } = cell("one", variant, "a");
                    let id = CellId { scale, memory_limit: limit, ..id };
                    cells.push(PlannedCell { id, ..cell("one", variant, "a") });
                }
            }
        }
        let planned = cells.clone();
        cells.rotate_left(4);
        let order = tables(&cells, 1).into_iter().map(|table| cells[table[0]].clone());
        assert_eq!(order.collect::<Vec<_>>(), planned);
        let following: Vec<bool> = planned.iter().map(|cell| follows(&cell.id, &cells)).collect();
        assert_eq!(following, [false, false, true, true, true, true, true, true]);
    }

    #[test]
    fn tables_that_were_left_out_are_named_with_their_memory_limit_and_storage() {
        let limits = [None, Some(MemoryLimit(64 << 20))];
        let storages = [None, Some(StorageName::new("sd-a1").unwrap())];
        let cells: Vec<PlannedCell> = (limits.into_iter())
            .flat_map(|limit| storages.map(|storage| (limit, storage)))
            .flat_map(|(memory_limit, storage)| {
                ["a", "b"].map(|engine| {
                    let PlannedCell { id, .. } = cell("one", "each", engine);
                    let id = CellId { memory_limit, storage, ..id };
                    PlannedCell { id, ..cell("one", "each", engine) }
                })
            })
            .collect();
        assert_eq!(
            left_out(&cells, &[2, 3, 5, 7]),
            "one 10 on sd-a1 process each, one 10 within 64 MiB process each, \
             one 10 within 64 MiB on sd-a1 process each"
        );
    }

    #[test]
    fn a_table_takes_as_long_as_other_trials_of_its_engines_and_one_that_is_new_as_all() {
        let ended = |engine: &str, wall_ns, phases: usize| EndedTrial {
            cell: cell("one", "each", engine).id,
            trial: Trial {
                wall_ns,
                phases: vec![PhaseResult::default(); phases],
                ..Trial::default()
            },
        };
        let [a, b, new] = ["a", "b", "new"].map(|engine| PlannedCell {
            phases: vec!["read".to_owned()],
            ..cell("two", "each", engine)
        });
        assert_eq!(expected(&[&a, &b, &new], &[]), Duration::ZERO);
        // The overhead of a trial counts as three phases, so these trials have ten, four and ten
        // parts.
        let all = [ended("a", 1_000, 7), ended("a", 600, 1), ended("b", 3_000, 7)];
        let ns = |cells: &[&PlannedCell]| expected(cells, &all).as_nanos();
        assert_eq!((ns(&[&a]), ns(&[&b])), (4 * (1_600 / 14), 4 * 300));
        assert_eq!(ns(&[&new]), 4 * (4_600 / 24));
        assert_eq!(ns(&[&a, &b, &new]), ns(&[&a]) + ns(&[&b]) + ns(&[&new]));
        let known = PlannedCell { id: cell("one", "each", "b").id, ..a };
        let own = [ended("b", 3_000, 7), EndedTrial { cell: new.id, ..ended("b", 8, 1) }];
        assert_eq!(expected(&[&known], &own).as_nanos(), 4 * 300, "by its own trials alone");
    }
}
