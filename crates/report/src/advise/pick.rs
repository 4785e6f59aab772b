//! Picks an engine: the first of a ranking, its margin to the next, and what would change the pick.
//! The screen, the page and `embermark advise` all use it.

use embermark_model::Durability;
use serde::Serialize;

use super::{Advice, AdviceTable, Needs, Place, Weight, advise};
use crate::{format, text};

/// Kinds of work that count alike without weights, with their names in a sentence.
pub(crate) const WORK: [(&str, &str); 4] =
    [("ingest", "commits"), ("point", "reads"), ("update", "changes"), ("analytics", "questions")];

/// Resources, with their names in a sentence.
const USED: [(&str, &str); 3] = [("memory", "memory"), ("wear", "bytes written"), ("disk", "disk")];

/// The name of `wear` where a card was modelled.
const MODELLED: &str = "flash bytes (model)";

/// Smallest lead of another engine that is mentioned, as a ratio.
const LEAD: f64 = 1.5;

/// The engine to take for some work.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pick {
    /// The engine.
    pub engine: String,
    /// The next engine, if another was ranked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Next>,
    /// What would change the pick, the largest lead first.
    pub turns: Vec<Turn>,
}

/// The engine behind the pick.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Next {
    /// Its id.
    pub engine: String,
    /// Its score relative to the pick's.
    pub ratio: f64,
    /// How certain the order is.
    pub order: Order,
}

/// How certain an order is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The intervals do not overlap.
    Certain,
    /// The intervals overlap.
    Open,
    /// There are too few trials for intervals.
    NoInterval,
}

/// Another engine that would be picked if only one thing counted, or in another tier.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Turn {
    /// What counts: `mostly questions`, `memory`, `durability power`.
    pub by: String,
    /// Its criterion, if it is one.
    #[serde(skip)]
    pub criterion: Option<&'static str>,
    /// The tier, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Durability>,
    /// The engine that would be picked.
    pub engine: String,
    /// Ratio by which the pick is behind it.
    pub ratio: f64,
}

/// Returns equal weights for the kinds of work that at least two engines were measured in.
pub(crate) fn all_work(table: &AdviceTable, tier: Durability) -> Vec<Weight> {
    let work = WORK.into_iter().filter(|(criterion, _)| table.compares(tier, criterion));
    work.map(|(criterion, _)| single_weight(criterion)).collect()
}

/// Makes the weight of a criterion that counts by itself.
pub(crate) fn single_weight(criterion: &str) -> Weight {
    Weight { criterion: criterion.to_owned(), weight: 1.0 }
}

/// Returns the resources, with their names in a sentence.
fn used(table: &AdviceTable, tier: Durability) -> [(&'static str, &'static str); 3] {
    let is_modelled = table.wear_by_model(tier).is_some();
    USED.map(|(id, name)| (id, if id == "wear" && is_modelled { MODELLED } else { name }))
}

/// Names weighed criteria in a sentence: `commits, reads and questions`.
pub(crate) fn work_name(table: &AdviceTable, tier: Durability, weights: &[Weight]) -> String {
    let used = used(table, tier);
    let name = |weight: &Weight| {
        let named = WORK.into_iter().chain(used).find(|(id, _)| *id == weight.criterion);
        named.map_or_else(|| weight.criterion.clone(), |(_, name)| name.to_owned())
    };
    let names: Vec<String> = weights.iter().map(name).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Ranks the engines that meet these needs. The weights must be of known criteria.
pub(crate) fn advice(table: &AdviceTable, needs: Needs, weights: &[Weight]) -> Advice {
    advise(table, needs, weights).expect("every table has every criterion")
}

/// Returns the pick by these weights. `None` if no engine is ranked.
pub(crate) fn pick(table: &AdviceTable, needs: Needs, weights: &[Weight]) -> Option<Pick> {
    let ranked = ranked(table, needs, weights);
    let (first, others) = ranked.split_first()?;
    let next = others.first().map(|next| Next {
        engine: next.engine.clone(),
        ratio: next.score / first.score,
        order: match first.interval.zip(next.interval) {
            _ if !first.not_certainly_before.contains(&next.engine) => Order::Certain,
            Some(_) => Order::Open,
            None => Order::NoInterval,
        },
    });
    let turns = turns(table, needs, weights, &first.engine);
    Some(Pick { engine: first.engine.clone(), next, turns })
}

fn ranked(table: &AdviceTable, needs: Needs, weights: &[Weight]) -> Vec<Place> {
    advice(table, needs, weights).ranked
}

/// Lists what would change the pick: a kind of work or a resource in which another engine is far
/// ahead, and tiers with another pick.
fn turns(table: &AdviceTable, needs: Needs, weights: &[Weight], first: &str) -> Vec<Turn> {
    let own = table.entry(first, needs.tier);
    // An engine that keeps more than the other tier requires is not news there.
    let lead = |criterion: &'static str, by: String| {
        let ratio = own?.ratios.get(criterion)?;
        let ranked = ranked(table, needs, &[single_weight(criterion)]);
        let best = ranked.first().filter(|best| best.engine != first)?;
        let (engine, ratio) = (best.engine.clone(), ratio / best.score);
        let turn = Turn { by, criterion: Some(criterion), tier: None, engine, ratio };
        Some(turn).filter(|turn| turn.ratio >= LEAD)
    };
    let greatest = |of: &[(&'static str, &str)], how: &str| {
        let leads = of.iter().filter_map(|(id, name)| lead(id, format!("{how}{name}")));
        leads.max_by(|a, b| a.ratio.total_cmp(&b.ratio))
    };
    let other_tiers =
        Durability::ALL.into_iter().filter(|tier| *tier != needs.tier && *tier != Durability::None);
    let tiers = other_tiers.filter_map(|tier| {
        let there = Needs { tier, ..needs };
        let all = ranked(table, there, weights);
        let best = all.first().filter(|best| best.engine != first)?;
        let own = all.iter().find(|place| place.engine == first)?;
        let ratio = own.score / best.score;
        let (by, engine) = (format!("durability {tier}"), best.engine.clone());
        let turn = Turn { by, criterion: None, tier: Some(tier), engine, ratio };
        (!best.not_certainly_before.iter().any(|other| other == first)).then_some(turn)
    });
    let used = used(table, needs.tier);
    greatest(&WORK, "mostly ").into_iter().chain(tiers).chain(greatest(&used, "")).collect()
}

impl Pick {
    /// Describes the pick: `lmdb, 1.13x ahead of hybrid`.
    pub fn describe(&self) -> String {
        let name = text::plain(&self.engine);
        let Some(next) = &self.next else { return format!("{name}, the only one that is ranked") };
        format!("{name}, {}", next.describe())
    }

    /// Whether more trials could separate the first two.
    pub fn is_open(&self) -> bool {
        self.next.as_ref().is_some_and(|next| next.order != Order::Certain)
    }
}

impl Next {
    /// Describes the margin: `1.13x ahead of hybrid`, `not certainly ahead of hybrid (1.01x)`.
    pub fn describe(&self) -> String {
        let (ratio, next) = (format::ratio(self.ratio), text::plain(&self.engine));
        match self.order {
            Order::Certain => format!("{ratio} ahead of {next}"),
            Order::Open => format!("not certainly ahead of {next} ({ratio})"),
            Order::NoInterval => format!("{ratio} ahead of {next} (too few trials)"),
        }
    }
}

impl Turn {
    /// Describes the lead: `duckdb, 3.2x ahead`.
    pub fn leads(&self) -> String {
        format!("{}, {} ahead", text::plain(&self.engine), format::ratio(self.ratio))
    }
}
