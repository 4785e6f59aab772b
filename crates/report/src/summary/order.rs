//! Order of engines, phases and variants: engines as planned, phases as they ran, and a variant
//! after the phase that it varies.

use embermark_model::Status;
use embermark_model::result::Cell;

use crate::text;

/// Returns the names in `present`: those of the plan first and in its order, then the others as
/// they appear.
pub(super) fn planned<'a>(
    plan: &'a [String],
    present: impl Iterator<Item = &'a str>,
) -> Vec<&'a str> {
    let mut names = text::unique(present);
    let place = |name: &str| plan.iter().position(|planned| planned == name);
    names.sort_by_key(|name| place(name).unwrap_or(usize::MAX));
    names
}

/// Returns the rows of a group as (phase, variant). A variant whose cells reached no phase has one
/// row without a phase, so that its cells are shown.
pub(super) fn rows<'a>(
    cells: &[&'a Cell],
    variants: &[&'a str],
    order: &[&str],
) -> Vec<(Option<&'a str>, &'a str)> {
    let of_variants: Vec<(&str, Vec<&str>)> =
        variants.iter().map(|variant| (*variant, phases(cells, variant))).collect();
    let mut all = Vec::new();
    for (_, phases) in &of_variants {
        weave(&mut all, phases.iter().copied());
    }
    all.sort_by_key(|phase| order.iter().position(|name| name == phase).unwrap_or(usize::MAX));
    let mut rows = Vec::new();
    for phase in all {
        let with = of_variants.iter().filter(|(_, phases)| phases.contains(&phase));
        rows.extend(with.map(|(variant, _)| (Some(phase), *variant)));
    }
    let without = of_variants.iter().filter(|(_, phases)| phases.is_empty());
    rows.extend(without.map(|(variant, _)| (None, *variant)));
    rows
}

/// Returns the phases of one variant in the order in which they ran in the first completed trial.
/// Phases of other trials are inserted at their positions.
fn phases<'a>(cells: &[&'a Cell], variant: &str) -> Vec<&'a str> {
    let of_variant = cells.iter().filter(|cell| cell.id.variant == variant);
    let mut trials: Vec<_> = of_variant.flat_map(|cell| &cell.trials).collect();
    trials.sort_by_key(|trial| match trial.status {
        Status::Ok => 0,
        Status::Capped => 1,
        _ => 2,
    });
    let mut known = Vec::new();
    for trial in trials {
        weave(&mut known, trial.phases.iter().map(|part| part.phase.as_str()));
    }
    known
}

/// Inserts the missing `names` into `known`, each after its predecessor.
fn weave<'a>(known: &mut Vec<&'a str>, names: impl Iterator<Item = &'a str>) {
    let mut next = 0;
    for name in names {
        // Trials of one cell nearly always have the same phases.
        let at_once = known.get(next).filter(|other| **other == name).map(|_| next);
        let place = at_once.or_else(|| known.iter().position(|other| *other == name));
        next = match place {
            Some(place) => place + 1,
            None => {
                known.insert(next, name);
                next + 1
            }
        };
    }
}
