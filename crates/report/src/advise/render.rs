//! Advice for people, and as JSON.

use serde::Serialize;

use super::{Advice, AdviceTable, Left, LicenceClass, Place};
use crate::document::{self, Block};
use crate::notes::{self, note};
use crate::{Options, format, text};

/// A ratio from which on it is said that an engine is worse at something, and up to which it is
/// said to be as good as the best.
const NEAR: f64 = 1.1;

/// For a terminal of `width` columns.
pub fn table(advice: &Advice, table: &AdviceTable, width: usize) -> String {
    let options = Options { width: width.max(40), ..Options::default() };
    document::terminal(&blocks(advice, table), &options)
}

/// For a page on GitHub.
pub fn markdown(advice: &Advice, table: &AdviceTable) -> String {
    document::markdown(&blocks(advice, table))
}

/// The advice, and the table it was made of.
///
/// # Errors
/// When a value has no JSON form, which none here lacks.
pub fn json(advice: &Advice, table: &AdviceTable) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct Both<'a> {
        advice: &'a Advice,
        table: &'a AdviceTable,
    }
    Ok(serde_json::to_string_pretty(&Both { advice, table })? + "\n")
}

/// Headings, and what stands below them.
fn blocks(advice: &Advice, table: &AdviceTable) -> Vec<Block> {
    let secret = table.engines.iter().filter(|e| !e.facts.publishable && !e.ratios.is_empty());
    let secret: Vec<&str> = secret.map(|entry| entry.engine.as_str()).collect();
    let ranked: Vec<String> = (advice.ranked.iter().enumerate())
        .map(|(at, place)| ranked(at + 1, place, advice, table))
        .collect();
    let needs = needs(advice);
    let (heading, list) = if advice.weights.is_empty() {
        let says = "Nothing was weighed, so nobody is ranked: say what counts, such as \
                    --weight ingest=3,analytics=1";
        (needs + " · no order", vec![says.to_owned()])
    } else if ranked.is_empty() {
        (needs, vec!["No engine is left that was measured for it.".to_owned()])
    } else {
        (format!("{needs} · {}", weights(advice)), ranked)
    };
    let best = advice.best_at.iter().map(|best| {
        let criterion = table.criteria.iter().find(|criterion| criterion.id == best.criterion);
        let about = criterion.map_or("", |criterion| criterion.about);
        let (first, others) = (text::plain(&best.engines[0]), &best.engines[1..]);
        let others = match others {
            [] => String::new(),
            _ => format!(" (no difference shown to {})", names(others)),
        };
        format!("{}: {first}{others}. {about}", best.criterion)
    });
    let tier = advice.needs.tier;
    let rests_on = table.rests_on.iter().filter(|of| of.tier == tier).map(|of| of.says.clone());
    let sections = [
        (heading.as_str(), list),
        ("Measured", rests_on.collect()),
        ("Best at", best.collect()),
        ("Not measured for it", left(&advice.unmeasured)),
        ("Left out", left(&advice.excluded)),
    ];
    let sections = sections.map(|(title, all): (_, Vec<String>)| {
        (title, all.into_iter().map(|says| note("", says)).collect())
    });
    let face = notes::face_of(&secret).map(Block::Head);
    face.into_iter().chain(notes::filled(sections).into_iter().map(Block::Section)).collect()
}

/// `Short list · tier power · with SQL, embedded`.
fn needs(advice: &Advice) -> String {
    let needs = &advice.needs;
    let parts = [
        needs.sql.then(|| "SQL".to_owned()),
        needs.embedded.then(|| "embedded".to_owned()),
        needs.memory_bytes.map(|most| format!("at most {}", format::bytes(most as f64))),
        needs.licence.and_then(|class| match class {
            LicenceClass::Permissive => Some("a permissive licence".to_owned()),
            LicenceClass::Copyleft => Some("a permissive or copyleft licence".to_owned()),
            LicenceClass::Other => None,
        }),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let must = if parts.is_empty() { String::new() } else { format!(" · {}", parts.join(", ")) };
    format!("Short list · durability {}{must}", needs.tier)
}

fn weights(advice: &Advice) -> String {
    let all = advice.weights.iter().map(|weight| format!("{} {}", weight.criterion, weight.weight));
    format!("weights {}", text::joined(all, ", "))
}

/// `1. sqlite 1.35x (1.20-1.52x): as good as the best at ingest; gives away analytics 4.20x.`
fn ranked(at: usize, place: &Place, advice: &Advice, table: &AdviceTable) -> String {
    let interval =
        place.interval.map(|ends| format!(" ({})", format::between(ends, format::ratio)));
    let interval = interval.unwrap_or_else(|| " (no interval: fewer than 3 trials)".into());
    let head =
        format!("{at}. {} {}{interval}", text::plain(&place.engine), format::ratio(place.score));
    let shown = |ratios: &[(String, f64)]| {
        let each = ratios.iter().map(|(name, ratio)| format!("{name} {}", format::ratio(*ratio)));
        text::joined(each, ", ")
    };
    let (good, bad): (Vec<_>, Vec<_>) =
        place.ratios.iter().cloned().partition(|(_, ratio)| *ratio < NEAR);
    let mut says = Vec::new();
    if !good.is_empty() {
        says.push(format!("at or near the best in {}", shown(&good)));
    }
    if !bad.is_empty() {
        says.push(format!("pays in {}", shown(&bad)));
    }
    let entry = table
        .engines
        .iter()
        .find(|entry| entry.engine == place.engine && entry.tier == advice.needs.tier);
    if let Some(entry) = entry {
        let unweighted = |id: &str| !place.ratios.iter().any(|(name, _)| name == id);
        let others = entry.ratios.iter().filter(|(id, _)| unweighted(id));
        if let Some((worst, ratio)) = others.max_by(|a, b| a.1.total_cmp(b.1))
            && *ratio >= NEAR
        {
            says.push(format!("worst of what was not weighed: {worst} {}", format::ratio(*ratio)));
        }
        if let Some(effective) = entry.effective_durability {
            says.push(format!("effective: {effective}"));
        }
        if !entry.facts.publishable {
            says.push("its licence forbids publishing these figures".into());
        }
        says.push(format!(
            "{}, {}, {}",
            entry.facts.kind, entry.facts.data_model, entry.facts.licence
        ));
    }
    if !place.not_certainly_before.is_empty() {
        says.push(format!(
            "its order before {} is not certain",
            names(&place.not_certainly_before)
        ));
    }
    text::plain(&format!("{head}: {}", says.join("; ")))
}

fn left(all: &[Left]) -> Vec<String> {
    let one = |left: &Left| text::plain(&format!("{}: {}", left.engine, left.why.join("; ")));
    all.iter().map(one).collect()
}

fn names(all: &[String]) -> String {
    all.iter().map(|name| text::plain(name)).collect::<Vec<String>>().join(", ")
}
