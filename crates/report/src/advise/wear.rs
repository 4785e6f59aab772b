//! Source of the figures of the criterion `wear`.

use embermark_model::Durability;

use super::AdviceTable;
use crate::flash;
use crate::summary::{Group, Resource, Work};
use crate::text;

/// Begins each source.
const WEAR_BY: &str = "wear by ";

/// Ends a source that is a model.
const MODEL: &str = ", a model";

impl AdviceTable {
    /// Returns the sources of `wear` in a tier, `bytes programmed into sd-32gb, a model`. `None` if
    /// none of them is a model.
    pub(crate) fn wear_by_model(&self, tier: Durability) -> Option<String> {
        let resting = self.resting(tier, &["wear"]).into_iter();
        let sources = text::unique(resting.filter_map(|of| of.wear.as_deref()));
        let is_modelled = sources.iter().any(|source| source.ends_with(MODEL));
        let sources = sources.iter().map(|source| source.replace(WEAR_BY, ""));
        is_modelled.then(|| text::joined(sources, "; "))
    }
}

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
        Some(card) => {
            format!("{WEAR_BY}bytes programmed into {}{MODEL}", text::plain(&card.name))
        }
        None => format!("{WEAR_BY}bytes that reached the disk"),
    })
}
