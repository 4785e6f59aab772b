//! Source of the figures of the criterion `wear`.

use crate::flash;
use crate::summary::{Group, Resource, Work};
use crate::text;

/// Whether the first card of the plan was modelled for every engine in a group whose bytes were
/// counted. Ratios of modelled and of counted bytes cannot be compared.
pub(super) fn is_modelled(group: &Group<'_>) -> bool {
    let mut cells = group.engines.iter().filter_map(|of| group.cell(group.variant, of.id));
    let counted = |cell: &_| !Resource::WRITTEN.per_trial(cell, Work::All).is_empty();
    let mut known = cells.by_ref().filter(|cell| counted(*cell)).peekable();
    known.peek().is_some() && known.all(|cell| flash::is_modelled(group.file, cell))
}

/// Describes the source: `wear by bytes programmed into sd-32gb, a model`. `None` if no engine's
/// bytes were counted.
pub(super) fn source(group: &Group<'_>) -> Option<String> {
    let mut usage = group.usage.iter();
    usage.find(|usage| usage.get(Resource::WRITTEN).is_some())?;
    Some(match group.file.plan.cards.first().filter(|_| is_modelled(group)) {
        Some(card) => format!("wear by bytes programmed into {}, a model", text::plain(&card.name)),
        None => "wear by bytes that reached the disk".to_owned(),
    })
}
