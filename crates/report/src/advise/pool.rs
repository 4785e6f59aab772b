//! Several results as one.

use std::borrow::Cow;

use embermark_model::result::{Cell, ResultFile};

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
        file.cells.iter().for_each(|cell| add(&mut pool.cells, cell));
        for (id, facts) in &file.manifest.engines {
            pool.manifest.engines.entry(id.clone()).or_insert_with(|| facts.clone());
        }
        extend(&mut pool.plan.engines, &file.plan.engines);
        extend(&mut pool.plan.variants, &file.plan.variants);
    }
    Some(pool)
}

fn add(cells: &mut Vec<Cell>, cell: &Cell) {
    match cells.iter_mut().find(|known| known.id == cell.id) {
        // What was not there in one run may have been in another.
        Some(known) if known.trials.is_empty() => *known = cell.clone(),
        Some(known) if !cell.trials.is_empty() => {
            known.status = known.status.worst(cell.status);
            known.trials.extend(cell.trials.iter().cloned());
        }
        Some(_) => {}
        None => cells.push(cell.clone()),
    }
}

fn extend(names: &mut Vec<String>, others: &[String]) {
    for other in others {
        if !names.contains(other) {
            names.push(other.clone());
        }
    }
}
