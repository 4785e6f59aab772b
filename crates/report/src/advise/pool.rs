//! Several results as one.

use std::borrow::Cow;

use embermark_model::result::{Cell, Manifest, ResultFile};

use crate::text;

/// The cells of all files under the first one's manifest; `None` of none. A cell that stands in
/// several files has the trials of all. A file given twice counts once.
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
        for cell in &file.cells {
            match same {
                true => add(&mut pool.cells, cell),
                // Joules of a processor and of a board do not compare.
                false => add(&mut pool.cells, &without_energy(cell)),
            }
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
        // Where one of the files has it by its URL, no private one has all of its trials.
        pool.plan.urls.extend(file.plan.urls.clone());
    }
    Some(pool)
}

/// What the energies of a file are by.
fn source(manifest: &Manifest) -> Option<(&str, &str)> {
    let source = manifest.energy.as_ref()?.sources.first()?;
    Some((&source.id, &source.about))
}

fn without_energy(cell: &Cell) -> Cell {
    let mut cell = cell.clone();
    let trials = cell.trials.iter_mut();
    let runs = trials.flat_map(|trial| &mut trial.phases).flat_map(|phase| &mut phase.runs);
    runs.for_each(|run| run.energy = None);
    cell
}

fn add(cells: &mut Vec<Cell>, cell: &Cell) {
    match cells.iter_mut().find(|known| known.id == cell.id) {
        // What was not there in one run may have been in another.
        Some(known) if known.trials.is_empty() => *known = cell.clone(),
        Some(known) if !cell.trials.is_empty() => {
            known.status = known.status.worst(cell.status);
            known.trials.extend(cell.trials.iter().cloned());
            known.lost_trials.extend(cell.lost_trials.iter().cloned());
            known.set_lost_aside();
        }
        Some(_) => {}
        None => cells.push(cell.clone()),
    }
}
