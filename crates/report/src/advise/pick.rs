//! What to take: the first of a ranking, how far the next is behind, and what would turn it. The screen, the
//! page and `embermark advise` all ask here.

use embermark_model::Durability;
use serde::Serialize;

use super::{Advice, AdviceTable, EngineAdvice, Left, Needs, Place, Weight, advise};
use crate::{format, text};

/// The kinds of work that count alike where nothing is weighed, with their names in a sentence.
pub(crate) const WORK: [(&str, &str); 4] =
    [("ingest", "commits"), ("point", "reads"), ("update", "changes"), ("analytics", "questions")];

/// What is used, with its names in a sentence.
const USED: [(&str, &str); 3] = [("memory", "memory"), ("wear", "bytes written"), ("disk", "disk")];

/// A ratio from which on another engine's lead at something is worth a word.
const LEAD: f64 = 1.5;

/// What to take for some work.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pick {
    /// The engine.
    pub engine: String,
    /// The next, if anyone else was ranked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Next>,
    /// What would turn the choice, the greatest lead first.
    pub turns: Vec<Turn>,
}

/// The engine behind the pick.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Next {
    /// Its id.
    pub engine: String,
    /// Its score over the pick's.
    pub ratio: f64,
    /// How sure that order is.
    pub order: Order,
}

/// How sure an order is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The intervals are apart.
    Certain,
    /// The intervals overlap.
    Open,
    /// Too few trials for intervals.
    NoInterval,
}

/// Another engine that would be picked if only one thing counted, or another tier.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Turn {
    /// What: `mostly questions`, `memory`, `durability power`.
    pub by: String,
    /// The criterion of that, where it is one.
    #[serde(skip)]
    pub criterion: Option<&'static str>,
    /// That tier, of another tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Durability>,
    /// That engine.
    pub engine: String,
    /// How many times the pick is behind it.
    pub ratio: f64,
}

/// The kinds of work that at least two engines were measured in.
pub(crate) fn all_work(table: &AdviceTable, tier: Durability) -> Vec<Weight> {
    let measured = |criterion: &str| {
        let own = table.engines.iter().filter(|entry| entry.tier == tier);
        own.filter(|entry| entry.ratios.contains_key(criterion)).count() > 1
    };
    let work = WORK.into_iter().filter(|(criterion, _)| measured(criterion));
    work.map(|(criterion, _)| alone(criterion)).collect()
}

/// A criterion that counts alone.
pub(crate) fn alone(criterion: &str) -> Weight {
    Weight { criterion: criterion.to_owned(), weight: 1.0 }
}

/// The names of weighed criteria in a sentence: `commits, reads and questions`.
pub(crate) fn work_name(weights: &[Weight]) -> String {
    let name = |weight: &Weight| {
        let named = WORK.into_iter().chain(USED).find(|(id, _)| *id == weight.criterion);
        named.map_or_else(|| weight.criterion.clone(), |(_, name)| name.to_owned())
    };
    let names: Vec<String> = weights.iter().map(name).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Who is left under these needs, in which order. An engine that broke what the tier promises is left out.
pub(crate) fn advice(table: &AdviceTable, needs: Needs, weights: &[Weight]) -> Advice {
    let (broken, kept) = table.engines.iter().cloned().partition(|entry| entry.broken.is_some());
    let kept = AdviceTable { engines: kept, ..table.clone() };
    let known = |weight: &&Weight| kept.criteria.iter().any(|one| one.id == weight.criterion);
    let weights: Vec<Weight> = weights.iter().filter(known).cloned().collect();
    let mut advice = advise(&kept, needs, &weights).expect("every criterion is one of the table's");
    let broken: Vec<EngineAdvice> = broken;
    let broken = broken.into_iter().filter(|entry| entry.tier == needs.tier);
    let why = || vec![format!("broke what {} promises", needs.tier)];
    advice.excluded.extend(broken.map(|entry| Left { engine: entry.engine, why: why() }));
    advice
}

/// What to take by these weights; `None` where nobody is ranked.
pub(crate) fn of(table: &AdviceTable, needs: Needs, weights: &[Weight]) -> Option<Pick> {
    let ranked = ranked(table, needs, weights);
    let (first, others) = ranked.split_first()?;
    let next = others.first().map(|next| Next {
        engine: next.engine.clone(),
        ratio: next.score / first.score,
        order: match (
            first.not_certainly_before.contains(&next.engine),
            first.interval.zip(next.interval),
        ) {
            (false, _) => Order::Certain,
            (true, Some(_)) => Order::Open,
            (true, None) => Order::NoInterval,
        },
    });
    Some(Pick {
        engine: first.engine.clone(),
        next,
        turns: turns(table, needs, weights, &first.engine),
    })
}

fn ranked(table: &AdviceTable, needs: Needs, weights: &[Weight]) -> Vec<Place> {
    advice(table, needs, weights).ranked
}

/// One kind of work at which another is far ahead, one resource, and another tier with another pick.
fn turns(table: &AdviceTable, needs: Needs, weights: &[Weight], first: &str) -> Vec<Turn> {
    let of = |tier: Durability| {
        let own = |entry: &&EngineAdvice| entry.engine == first && entry.tier == tier;
        table.engines.iter().find(own)
    };
    // Who keeps more than the other tier asks is no news there.
    let lead = |criterion: &'static str, by: String, needs: Needs| {
        let ratio = of(needs.tier)?.ratios.get(criterion)?;
        let ranked = ranked(table, needs, &[alone(criterion)]);
        let best = ranked.first().filter(|best| best.engine != first)?;
        let ratio = ratio / best.score;
        let engine = best.engine.clone();
        (ratio >= LEAD).then_some(Turn {
            by,
            criterion: Some(criterion),
            tier: None,
            engine,
            ratio,
        })
    };
    let greatest = |of: &[(&'static str, &str)]| {
        let leads = of.iter().filter_map(|(id, name)| lead(id, format!("mostly {name}"), needs));
        leads.max_by(|a, b| a.ratio.total_cmp(&b.ratio))
    };
    let used = USED.iter().filter_map(|(id, name)| lead(id, (*name).to_owned(), needs));
    let used = used.max_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let other_tiers =
        Durability::ALL.into_iter().filter(|tier| *tier != needs.tier && *tier != Durability::None);
    let tiers = other_tiers.filter_map(|tier| {
        let there = Needs { tier, ..needs };
        let all = ranked(table, there, weights);
        let best = all.first().filter(|best| best.engine != first)?;
        let own = all.iter().find(|place| place.engine == first)?;
        let ratio = own.score / best.score;
        let turn = || Turn {
            by: format!("durability {tier}"),
            criterion: None,
            tier: Some(tier),
            engine: best.engine.clone(),
            ratio,
        };
        (!best.not_certainly_before.iter().any(|other| other == first)).then(turn)
    });
    greatest(&WORK).into_iter().chain(tiers).chain(used).collect()
}

impl Pick {
    /// `lmdb, 1.13x ahead of hybrid`.
    pub fn says(&self) -> String {
        let name = text::plain(&self.engine);
        let Some(next) = &self.next else { return format!("{name}, the only one that is ranked") };
        format!("{name}, {}", next.says())
    }

    /// Whether more trials could tell the first two apart.
    pub fn is_open(&self) -> bool {
        self.next.as_ref().is_some_and(|next| next.order != Order::Certain)
    }
}

impl Next {
    /// `1.13x ahead of hybrid`, `not certainly ahead of hybrid (1.01x)`.
    pub fn says(&self) -> String {
        let (ratio, next) = (format::ratio(self.ratio), text::plain(&self.engine));
        match self.order {
            Order::Certain => format!("{ratio} ahead of {next}"),
            Order::Open => format!("not certainly ahead of {next} ({ratio})"),
            Order::NoInterval => {
                format!("{ratio} ahead of {next} (too few trials)")
            }
        }
    }
}

impl Turn {
    /// `duckdb, 3.2x ahead`.
    pub fn leads(&self) -> String {
        format!("{}, {} ahead", text::plain(&self.engine), format::ratio(self.ratio))
    }
}
