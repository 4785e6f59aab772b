//! Between which numbers of rows advice turns, under the same conditions.

use embermark_model::result::Counts;
use embermark_model::{Conditions, Durability, Scale};
use serde::Serialize;

use super::criteria::CRITERIA;
use super::{Advice, AdviceTable};
use crate::kinds::Kinds;
use crate::scaling::{Overtaking, Scaling, between};
use crate::text;

/// One engine overtakes another in phases that a criterion is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CriterionTurn {
    /// The criterion's id.
    pub criterion: &'static str,
    /// The tier.
    pub tier: Durability,
    /// Within how much memory, and on which storage.
    #[serde(flatten)]
    pub conditions: Conditions,
    /// The language that both are used from; absent: embermark itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The faster one at fewer rows.
    pub before: String,
    /// The faster one at more rows.
    pub after: String,
    /// All of it: `duckdb overtakes lmdb between 100k and 1M rows (avg_sensor)`.
    pub says: String,
}

/// Every turn of phases that criteria are made of, criterion by criterion.
pub(super) fn criterion_turns(scaling: &Scaling<'_>, kinds: &Kinds<'_>) -> Vec<CriterionTurn> {
    let of_one = |(id, counts): (&'static str, Counts)| {
        let turn = |of: Overtaking<'_>| CriterionTurn {
            criterion: id,
            tier: of.within.tier,
            conditions: of.within.conditions,
            client: None,
            before: text::plain(of.before),
            after: text::plain(of.after),
            says: of.says,
        };
        let turns = scaling
            .turns_of(|one| kinds.count((one.within.workload, one.variant, one.phase), counts));
        turns.into_iter().map(turn).collect::<Vec<CriterionTurn>>()
    };
    let timed = CRITERIA.iter().filter_map(|made| Some((made.criterion.id, made.times()?)));
    timed.flat_map(of_one).collect()
}

/// All advice by its conditions and its language.
pub(super) fn by_conditions<'s, 't>(
    all: &'s [(&'t AdviceTable, Advice)],
) -> impl Iterator<Item = &'s [(&'t AdviceTable, Advice)]> + use<'s, 't> {
    all.chunk_by(|(one, _), (other, _)| {
        (one.conditions, &one.client) == (other.conditions, &other.client)
    })
}

/// Pairs of engines whose order in the whole is certain at two numbers of rows, and another at
/// each; of advice under the same conditions.
pub(super) fn score_turns(all: &[(&AdviceTable, Advice)]) -> Vec<String> {
    let engines = all.iter().flat_map(|(_, advice)| &advice.ranked);
    let engines = text::unique(engines.map(|place| place.engine.as_str()));
    let mut said = Vec::new();
    for one in &engines {
        for other in engines.iter().filter(|other| *other != one) {
            let before = |place: &usize| certainly_before(&all[*place].1, one, other);
            let behind = |place: &usize| certainly_before(&all[*place].1, other, one);
            // The first place where it is behind, and the last before that where it was not.
            let last = (0..all.len()).filter(before).find_map(|from| {
                let to = (from + 1..all.len()).find(behind)?;
                Some(((from..to).rev().find(before)?, to))
            });
            if let Some((from, to)) = last {
                let [one, other] = [one, other].map(|engine| text::plain(engine));
                let [from, to] = [from, to].map(|place| Scale::Rows(all[place].0.rows));
                let span = between(from, to, all[0].0.conditions);
                said.push(format!("by these weights {other} overtakes {one} {span}"));
            }
        }
    }
    said
}

/// Whether one engine's place is certain to be before another's.
fn certainly_before(advice: &Advice, one: &str, other: &str) -> bool {
    let place = |engine: &str| advice.ranked.iter().position(|place| place.engine == engine);
    let Some((first, second)) = place(one).zip(place(other)) else { return false };
    let open = &advice.ranked[first].not_certainly_before;
    first < second && !open.iter().any(|engine| engine == other)
}
