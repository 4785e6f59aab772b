//! Ranks the engines that meet a user's needs.

use embermark_model::Durability;
use embermark_model::choice::{self, UnknownName};
use serde::Serialize;

use super::facts::UNKNOWN;
use super::weight_meaning::intended_weights;
use super::{AdviceTable, AdviceTables, EngineAdvice, LicenceClass, RestsOn, levels};
use crate::{format, text};

/// Requirements for an engine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Needs {
    /// What a commit must survive.
    pub tier: Durability,
    /// Whether it must have SQL.
    pub sql: bool,
    /// Whether it must run in the process of its user.
    pub embedded: bool,
    /// Most memory that it may use, in bytes.
    pub memory_bytes: Option<u64>,
    /// Most restrictive licence class that is accepted. Absent: any.
    pub licence: Option<LicenceClass>,
    /// Rows per second that it commits one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_per_second: Option<f64>,
}

impl Needs {
    /// Requires nothing but a tier.
    pub const fn only(tier: Durability) -> Self {
        let (sql, embedded) = (false, false);
        Self { tier, sql, embedded, memory_bytes: None, licence: None, rows_per_second: None }
    }
}

/// Weight of a criterion.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Weight {
    /// The criterion's id.
    pub criterion: String,
    /// Value above 0. Only the ratios between weights count.
    pub weight: f64,
}

/// Error for a weight of an unknown criterion.
pub type UnknownCriterion = UnknownName;

/// Engines that meet the needs, in their order, with the reasons.
#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    /// The needs.
    pub needs: Needs,
    /// The weights, with resources of the intended work. If there are none, no engine is ranked.
    pub weights: Vec<Weight>,
    /// The best first. Empty without weights, and if nothing near the requested rows was measured.
    pub ranked: Vec<Place>,
    /// Measurements that would answer, but are more than ten times away from the requested rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub too_far: Vec<String>,
    /// Engines that meet the needs, but lack a weighted figure.
    pub unmeasured: Vec<Left>,
    /// Engines that do not meet the needs.
    pub excluded: Vec<Left>,
    /// For each measured criterion, the best of the engines that meet the needs.
    pub best_at: Vec<BestAt>,
}

/// A ranked engine.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Place {
    /// Its id.
    pub engine: String,
    /// The weighted geometric mean of its ratios: how many times more than the best of each
    /// criterion it takes. 1 is the best possible.
    pub score: f64,
    /// The score with every ratio at its lower and at its upper end. Absent if a ratio has no
    /// interval.
    pub interval: Option<[f64; 2]>,
    /// Its ratios of the weighted criteria, in the order of the weights.
    pub ratios: Vec<(String, f64)>,
    /// Engines after it whose order is not certain: their intervals overlap, or they have none.
    pub not_certainly_before: Vec<String>,
}

/// An engine that is not ranked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Left {
    /// Its id.
    pub engine: String,
    /// The reasons, each in a few words.
    pub why: Vec<String>,
}

/// The best engine by a criterion.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct BestAt {
    /// The criterion's id.
    pub criterion: &'static str,
    /// The engine, and those with no significant difference to it. Over several workloads it is the
    /// best by the geometric mean.
    pub engines: Vec<String>,
    /// The best of each workload, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_workload: Vec<(String, String)>,
    /// Number of engines that were compared.
    pub compared: usize,
    /// Engines that were not compared, with the reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_comparable: Vec<Left>,
}

/// Applies needs and weights to each table whose relevant figures differ from those of the table
/// before.
///
/// # Errors
/// If the tables have no criterion with the name of a weight.
pub fn advise_each<'t>(
    tables: &'t AdviceTables,
    needs: Needs,
    weights: &[Weight],
) -> Result<Vec<(&'t AdviceTable, Advice)>, UnknownCriterion> {
    let intended = intended_weights(weights);
    let weighted: Vec<&str> = intended.iter().map(|weight| weight.criterion.as_str()).collect();
    let tables = levels::differing(&tables.tables, needs.tier, &weighted).into_iter();
    tables.map(|table| Ok((table, advise(table, needs, weights)?))).collect()
}

/// Applies needs and weights to a table.
///
/// # Errors
/// If the table has no criterion with the name of a weight.
pub fn advise(
    table: &AdviceTable,
    needs: Needs,
    weights: &[Weight],
) -> Result<Advice, UnknownCriterion> {
    for Weight { criterion, .. } in weights {
        if !table.criteria.iter().any(|known| known.id == criterion) {
            let valid = table.criteria.iter().map(|criterion| criterion.id);
            return Err(choice::unknown("criterion", criterion, valid));
        }
    }
    let weights = &*intended_weights(weights);
    let weighted: Vec<&str> = weights.iter().map(|weight| weight.criterion.as_str()).collect();
    let too_far = table.too_far(needs.tier, &weighted);
    let mut advice = Advice {
        needs,
        weights: weights.to_vec(),
        too_far: too_far.into_iter().map(RestsOn::place).collect(),
        ranked: Vec::new(),
        unmeasured: Vec::new(),
        excluded: Vec::new(),
        best_at: Vec::new(),
    };
    let mut suitable: Vec<&EngineAdvice> = Vec::new();
    for entry in table.engines.iter().filter(|entry| entry.tier == needs.tier) {
        let why = lacks(entry, &needs);
        match why.is_empty() {
            true => suitable.push(entry),
            false => advice.excluded.push(Left { engine: entry.engine.clone(), why }),
        }
    }
    advice.excluded.extend(not_measured_in_tier(table, needs.tier));
    let criteria = table.criteria.iter();
    advice.best_at = criteria.filter_map(|one| best_at(one.id, &suitable)).collect();
    for entry in suitable {
        let why = unmeasured(entry, weights);
        if !why.is_empty() {
            advice.unmeasured.push(Left { engine: entry.engine.clone(), why });
        } else if let Some(place) =
            score_engine(entry, weights).filter(|_| advice.too_far.is_empty())
        {
            advice.ranked.push(place);
        }
    }
    advice.ranked.sort_by(|a, b| a.score.total_cmp(&b.score));
    for place in 0..advice.ranked.len() {
        let (before, behind) = advice.ranked.split_at_mut(place + 1);
        let ahead = &mut before[place];
        let open = behind.iter().filter(|other| !certainly_before(ahead, other));
        ahead.not_certainly_before = open.map(|other| other.engine.clone()).collect();
    }
    Ok(advice)
}

/// Lists the needs that an engine does not meet.
fn lacks(entry: &EngineAdvice, needs: &Needs) -> Vec<String> {
    let facts = &entry.facts;
    let no_sql = || match facts.data_model.as_str() {
        UNKNOWN => "the result does not show whether it has SQL".to_owned(),
        data_model => format!("no SQL ({data_model})"),
    };
    let is_elsewhere = facts.kind != "embedded" && facts.kind != "reference";
    let broke = |broken: &String| {
        let how = broken.strip_prefix("broken: ").unwrap_or(broken);
        format!("broke what {} promises: {how}", entry.tier)
    };
    let too_large = |most: u64| match facts.peak_bytes {
        Some(peak) => (peak > most as f64).then(|| format!("uses {}", format::bytes(peak))),
        None => Some("its memory was not measured".to_owned()),
    };
    let too_slow = |rate: f64| match &entry.pace {
        Some(pace) => (pace.rows_per_second < rate).then(|| {
            let most = format::count(pace.rows_per_second.floor() as u64);
            format!("commits {most} rows/s at {}", pace.at)
        }),
        None => Some("its commits of single rows were not measured".to_owned()),
    };
    let weaker = entry.effective_durability.filter(|tier| *tier < needs.tier);
    let own = facts.own_durability.as_ref();
    let too_restrictive = needs.licence.is_some_and(|furthest| facts.licence_class > furthest);
    let why = [
        (facts.kind == "reference").then(|| "a reference, no candidate".to_owned()),
        facts.by_url.then(|| "given by URL: its settings and its machine are its own".to_owned()),
        own.map(|own| format!("durability as its author claims: it has {own}")),
        weaker.map(|effective| format!("effective durability only {effective}")),
        entry.broken.as_ref().map(broke),
        entry.wrong.as_ref().map(|wrong| format!("answered wrongly: {wrong}")),
        (needs.sql && !facts.sql).then(no_sql),
        (needs.embedded && is_elsewhere).then(|| format!("not embedded ({})", facts.kind)),
        needs.memory_bytes.and_then(too_large),
        needs.rows_per_second.and_then(too_slow),
        too_restrictive.then(|| format!("licence {}", facts.licence)),
    ];
    why.into_iter().flatten().collect()
}

/// Returns engines whose setting for another tier has the requested effective durability, and which
/// were not measured in the requested tier. Ratios are only valid within a tier, so they cannot be
/// used here.
fn not_measured_in_tier(table: &AdviceTable, tier: Durability) -> Vec<Left> {
    let mut left: Vec<Left> = Vec::new();
    for entry in table.engines.iter().filter(|entry| entry.tier != tier) {
        if entry.effective_durability.unwrap_or(entry.tier) >= tier
            && entry.facts.kind != "reference"
            && !entry.facts.by_url
            && entry.facts.own_durability.is_none()
            && table.entry(&entry.engine, tier).is_none()
            && !left.iter().any(|known| known.engine == entry.engine)
        {
            let why = vec![format!("effective durability {tier}, but not measured in that tier")];
            left.push(Left { engine: entry.engine.clone(), why });
        }
    }
    left
}

/// Explains why an engine lacks a weighted figure, or every figure without weights. Empty if it
/// lacks none.
fn unmeasured(entry: &EngineAdvice, weights: &[Weight]) -> Vec<String> {
    let word = |id: &str| entry.words.get(id).map_or("not measured", String::as_str);
    let missing = weights.iter().map(|weight| weight.criterion.as_str());
    let missing = missing.filter(|id| !entry.ratios.contains_key(*id));
    let missing: Vec<&str> = missing.collect();
    let mut heads: Vec<String> = text::by_key(missing.iter().map(|id| (word(id), *id)))
        .into_iter()
        .map(|(word, of)| format!("{word} for {}", of.join(", ")))
        .collect();
    if weights.is_empty() && entry.ratios.is_empty() {
        heads = text::unique(entry.words.values().cloned());
        if heads.is_empty() {
            heads.push("not measured for any criterion".to_owned());
        }
    }
    if heads.is_empty() {
        return heads;
    }
    let reasons = missing.iter().filter_map(|id| entry.lacks.get(*id)).flatten();
    // Work that a cell did not do is named once.
    let reasons = reasons.filter(|_| entry.shortfalls.is_empty());
    text::unique(heads.into_iter().chain(entry.shortfalls.iter().chain(reasons).cloned()))
}

/// Scores an engine: `exp(sum(w ln r) / sum(w))`. `None` without weights.
fn score_engine(entry: &EngineAdvice, weights: &[Weight]) -> Option<Place> {
    let mean = |of: &dyn Fn(&str) -> Option<f64>| {
        let total: f64 = weights.iter().map(|weight| weight.weight).sum();
        let logs: Option<Vec<f64>> =
            weights.iter().map(|w| of(&w.criterion).map(|ratio| w.weight * ratio.ln())).collect();
        Some((logs?.iter().sum::<f64>() / total).exp()).filter(|score| score.is_finite())
    };
    let ratio = |criterion: &str| entry.ratios.get(criterion).copied();
    let end = |end: usize| {
        move |criterion: &str| entry.intervals.get(criterion).map(|interval| interval[end])
    };
    Some(Place {
        engine: entry.engine.clone(),
        score: mean(&ratio)?,
        interval: mean(&end(0)).zip(mean(&end(1))).map(|(low, high)| [low, high]),
        ratios: weights
            .iter()
            .filter_map(|weight| Some((weight.criterion.clone(), ratio(&weight.criterion)?)))
            .collect(),
        not_certainly_before: Vec::new(),
    })
}

fn certainly_before(one: &Place, other: &Place) -> bool {
    one.interval.zip(other.interval).is_some_and(|(one, other)| one[1] < other[0])
}

/// Returns the best by a criterion. `None` if fewer than two engines were compared.
fn best_at(criterion: &'static str, suitable: &[&EngineAdvice]) -> Option<BestAt> {
    let of = |entry: &EngineAdvice| entry.ratios.get(criterion).copied();
    let compared: Vec<(&EngineAdvice, f64)> =
        suitable.iter().filter_map(|entry| Some((*entry, of(entry)?))).collect();
    if compared.len() < 2 {
        return None;
    }
    let (best, _) = compared.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let interval = |entry: &EngineAdvice| entry.intervals.get(criterion).copied();
    let reach = interval(best).map(|interval| interval[1]);
    let equal = |entry: &&&EngineAdvice| {
        let low = interval(entry).map(|interval| interval[0]);
        entry.engine != best.engine && low.zip(reach).is_some_and(|(low, reach)| low <= reach)
    };
    let others = suitable.iter().filter(equal).map(|entry| entry.engine.clone());
    let missing = suitable.iter().filter(|entry| of(entry).is_none());
    let why = |entry: &EngineAdvice| {
        let lacks = entry.lacks.get(criterion).cloned().unwrap_or_default();
        let why = text::unique(entry.shortfalls.iter().cloned().chain(lacks));
        if why.is_empty() { vec!["not measured".to_owned()] } else { why }
    };
    let left = |entry: &&EngineAdvice| Left { engine: entry.engine.clone(), why: why(entry) };
    Some(BestAt {
        criterion,
        engines: [best.engine.clone()].into_iter().chain(others).collect(),
        by_workload: best_by_workload(criterion, &compared),
        compared: compared.len(),
        not_comparable: missing.map(left).collect(),
    })
}

/// Returns the best of each workload by its name and scale, `sensors 10k`. Empty if there is only
/// one.
fn best_by_workload(criterion: &str, compared: &[(&EngineAdvice, f64)]) -> Vec<(String, String)> {
    let of = |entry: &EngineAdvice| entry.by_workload.get(criterion).cloned().unwrap_or_default();
    let places = text::unique(compared.iter().flat_map(|(entry, _)| of(entry).into_keys()));
    let best = |place: String| {
        let ratios = compared.iter().filter_map(|(one, _)| Some((one, *of(one).get(&place)?)));
        let (best, _) = ratios.min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((place, best.engine.clone()))
    };
    if places.len() < 2 { Vec::new() } else { places.into_iter().filter_map(best).collect() }
}
