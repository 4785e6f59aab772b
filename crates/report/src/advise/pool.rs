//! Pools several results into one.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashSet;

use embermark_model::result::{Cell, Manifest, ResultFile};

use crate::text;

/// Pools the cells of all files under the manifest of the first. `None` without files. A cell in
/// several files has the trials of all of them. A file that is given twice counts once.
pub(super) fn pooled<'a>(files: &[&'a ResultFile]) -> Option<Cow<'a, ResultFile>> {
    let (first, others) = files.split_first()?;
    let mut pool = Cow::Borrowed(*first);
    let mut runs = vec![first.manifest.run_id.as_str()];
    for file in others {
        if runs.contains(&file.manifest.run_id.as_str()) {
            continue;
        }
        runs.push(&file.manifest.run_id);
        let pool = pool.to_mut();
        if source(&pool.manifest).is_none() {
            pool.manifest.energy.clone_from(&file.manifest.energy);
        }
        let same = source(&file.manifest) == source(&pool.manifest);
        for cell in file.cells.iter().cloned() {
            // Joules of a processor and of a board cannot be compared.
            add(&mut pool.cells, if same { cell } else { without_energy(cell) });
        }
        for (id, facts) in &file.manifest.engines {
            pool.manifest.engines.entry(id.clone()).or_insert_with(|| facts.clone());
        }
        let with =
            |names: &[String], others: &[String]| text::unique(names.iter().chain(others).cloned());
        pool.plan.engines = with(&pool.plan.engines, &file.plan.engines);
        pool.plan.variants = with(&pool.plan.variants, &file.plan.variants);
        for (name, own) in &file.plan.configurations {
            pool.plan.configurations.entry(name.clone()).or_insert_with(|| own.clone());
        }
        // If one of the files uses the engine by its URL, not all trials ran on a private server.
        pool.plan.urls.extend(file.plan.urls.clone());
    }
    if let Cow::Owned(pool) = &mut pool {
        sort_variants(pool);
    }
    Some(pool)
}

/// Sorts the variants of the plan, those with most phases first. The first is the main variant, which
/// must not depend on the order of the files.
fn sort_variants(pool: &mut ResultFile) {
    let phases = |variant: &str| {
        let phases = pool.cells.iter().filter(|cell| cell.id.variant == variant).flat_map(|cell| {
            let phases = cell.trials.iter().flat_map(|trial| &trial.phases);
            phases.map(|part| (cell.id.workload.as_str(), part.phase.as_str()))
        });
        phases.collect::<HashSet<_>>().len()
    };
    pool.plan.variants.sort_by_cached_key(|variant| Reverse(phases(variant)));
}

/// Returns the source of a file's energies.
fn source(manifest: &Manifest) -> Option<(&str, &str)> {
    let source = manifest.energy.as_ref()?.sources.first()?;
    Some((&source.id, &source.about))
}

fn without_energy(mut cell: Cell) -> Cell {
    let trials = cell.trials.iter_mut();
    let runs = trials.flat_map(|trial| &mut trial.phases).flat_map(|phase| &mut phase.runs);
    runs.for_each(|run| run.energy = None);
    cell
}

fn add(cells: &mut Vec<Cell>, cell: Cell) {
    match cells.iter_mut().find(|known| known.id == cell.id) {
        // A cell without trials in one run may have some in another.
        Some(known) if known.trials.is_empty() => *known = cell,
        Some(known) if !cell.trials.is_empty() => {
            known.status = known.status.worst(cell.status);
            known.trials.extend(cell.trials);
            known.lost_trials.extend(cell.lost_trials);
            known.move_lost_trials();
        }
        Some(_) => {}
        None => cells.push(cell),
    }
}
