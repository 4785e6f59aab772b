//! The ranked list of engines, and the engines that are not in it.

use embermark_model::Scale;

use super::{All, weighted};
use crate::advise::{Advice, AdviceTable, Left, Place, remedy};
use crate::{format, text};

/// Ratio below which an engine counts as good as the best.
const NEAR: f64 = 1.1;

/// Explains why no engine is ranked, and what would change that.
pub(in crate::advise) fn no_list(table: &AdviceTable, advice: &Advice) -> Vec<String> {
    let tier = advice.needs.tier;
    let remedy = format!("to measure it: {}", remedy::command(table, tier, &weighted(advice)));
    if let Some(rows) = table.asked.filter(|_| !advice.too_far.is_empty()) {
        let (asked, far) = (Scale::Rows(rows), advice.too_far.join(", "));
        let says = format!("no order for {asked} rows: {far}: more than ten times away");
        return vec![says, remedy::beyond_file(table, rows).unwrap_or(remedy)];
    }
    if !table.engines.iter().any(|entry| entry.tier == tier) {
        return vec![format!("Nothing was measured in tier {tier}."), remedy];
    }
    let unmeasured = !advice.unmeasured.is_empty();
    let says = "No engine is left that can be compared by it.".to_owned();
    [says].into_iter().chain(unmeasured.then_some(remedy)).collect()
}

/// Formats an engine of the ranking: `1. sqlite 1.35x (1.20-1.52x): at or near the best in ingest
/// 1.02x; pays in analytics 4.20x`.
pub(super) fn place_line(at: usize, place: &Place, advice: &Advice, table: &AdviceTable) -> String {
    let interval =
        place.interval.map(|ends| format!(" ({})", format::between(ends, format::ratio)));
    let interval = interval.unwrap_or_else(|| " (no interval: fewer than 3 trials)".into());
    let entry = table.entry(&place.engine, advice.needs.tier);
    let name = text::plain(&place.engine);
    let head = format!("{at}. {name} {}{interval}", format::ratio(place.score));
    let shown = |ratios: &[(String, f64)]| {
        let each = ratios.iter().map(|(name, ratio)| format!("{name} {}", format::ratio(*ratio)));
        text::joined(each, ", ")
    };
    let (good, bad): (Vec<_>, Vec<_>) =
        place.ratios.iter().cloned().partition(|(_, ratio)| *ratio < NEAR);
    let of_entry = entry.map(|entry| {
        let unweighted = |id: &str| !place.ratios.iter().any(|(name, _)| name == id);
        let others = entry.ratios.iter().filter(|(id, _)| unweighted(id));
        let worst = others.max_by(|a, b| a.1.total_cmp(b.1)).filter(|(_, ratio)| **ratio >= NEAR);
        let facts = &entry.facts;
        let own = facts.configuration.as_ref();
        [
            worst.map(|(worst, ratio)| {
                format!("worst of the unweighted criteria: {worst} {}", format::ratio(*ratio))
            }),
            entry.effective_durability.map(|effective| format!("effective: {effective}")),
            own.map(|own| format!("{own}, durability as its author claims")),
            (!facts.publishable).then(|| "its licence forbids publishing these figures".into()),
            Some(format!("{}, {}, {}", facts.kind, facts.data_model, facts.licence)),
        ]
    });
    let says = [
        (!good.is_empty()).then(|| format!("at or near the best in {}", shown(&good))),
        (!bad.is_empty()).then(|| format!("pays in {}", shown(&bad))),
    ];
    let says = says.into_iter().chain(of_entry.into_iter().flatten()).flatten();
    let after = &place.not_certainly_before;
    let open = || format!("its order before {} is not certain", names(after));
    let says = says.chain((!after.is_empty()).then(open));
    text::plain(&format!("{head}: {}", text::joined(says, "; ")))
}

/// Lists engines that are not ranked, with the reasons, and the scales if not at every one.
pub(super) fn left(all: &All<'_>, of: impl Fn(&Advice) -> &Vec<Left>) -> Vec<String> {
    let one = |left: &Left| text::plain(&format!("{}: {}", left.engine, left.why.join("; ")));
    let lines = all.iter().flat_map(|(table, advice)| {
        let key = |left: &Left| (one(left), table.client.clone());
        of(advice).iter().map(|left| (key(left), table.at.clone())).collect::<Vec<_>>()
    });
    let lists = |client: &Option<String>| all.iter().filter(|(of, _)| of.client == *client).count();
    let line = |((says, client), at): ((String, Option<String>), Vec<String>)| {
        let everywhere = at.len() == lists(&client);
        if everywhere { says } else { format!("{says} (at about {})", at.join(", ")) }
    };
    text::by_key(lines).into_iter().map(line).collect()
}

pub(super) fn names(all: &[String]) -> String {
    all.iter().map(|name| text::plain(name)).collect::<Vec<String>>().join(", ")
}
