//! Advice for people, and as JSON.

use embermark_model::Conditions;
use serde::Serialize;

use super::levels::written;
use super::turns::{by_conditions, of_scores};
use super::{
    Advice, AdviceTable, AdviceTables, BestAt, Criterion, CriterionTurn, Left, LicenceClass, Place,
    RestsOn, Weight, remedy,
};
use crate::document::{self, Block};
use crate::notes::{self, note};
use crate::{Options, format, grid, text};

/// A ratio from which on it is said that an engine is worse at something, and up to which it is
/// said to be as good as the best.
const NEAR: f64 = 1.1;

/// Advice at each number of rows under each of the conditions, with the table that it is drawn from.
type All<'t> = [(&'t AdviceTable, Advice)];

/// The most turns of the order that are named.
const MOST_TURNS: usize = 8;

/// For a terminal of `width` columns; `rows` as they were asked for, if they were.
pub fn words(all: &All<'_>, tables: &AdviceTables, rows: Option<u64>, width: usize) -> String {
    let options = Options { width: width.max(40), ..Options::default() };
    document::terminal(&blocks(all, tables, rows), &options)
}

/// For a page on GitHub.
pub fn markdown(all: &All<'_>, tables: &AdviceTables, rows: Option<u64>) -> String {
    document::markdown(&blocks(all, tables, rows))
}

/// The advice at each number of rows, and what it was made of.
///
/// # Errors
/// When a value has no JSON form, which none here lacks.
pub fn json(all: &All<'_>, tables: &AdviceTables) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct At<'a> {
        rows: u64,
        #[serde(flatten)]
        conditions: Conditions,
        #[serde(skip_serializing_if = "Option::is_none")]
        client: Option<&'a str>,
        #[serde(flatten)]
        advice: &'a Advice,
    }
    #[derive(Serialize)]
    struct Whole<'a> {
        advice: Vec<At<'a>>,
        #[serde(flatten)]
        tables: &'a AdviceTables,
    }
    let advice = all
        .iter()
        .map(|(table, advice)| At {
            rows: table.rows,
            conditions: table.conditions,
            client: table.client.as_deref(),
            advice,
        })
        .collect();
    Ok(serde_json::to_string_pretty(&Whole { advice, tables })? + "\n")
}

/// Headings, and what stands below them.
fn blocks(all: &All<'_>, tables: &AdviceTables, rows: Option<u64>) -> Vec<Block> {
    let Some((_, first)) = all.first() else { return Vec::new() };
    let secret = all.iter().flat_map(|(table, _)| &table.engines);
    let secret = secret.filter(|entry| !entry.facts.publishable && !entry.ratios.is_empty());
    let secret = text::unique(secret.map(|entry| entry.engine.as_str()));
    let several = || "at each scale measured; --scale N is for as many as you will have".to_owned();
    let of_rows = match rows {
        Some(rows) => text::unique(all.iter().map(|one| asked(rows, one))),
        None => by_conditions(all).any(|own| own.len() > 1).then(several).into_iter().collect(),
    };
    let mut sections: Vec<(String, Vec<String>)> = vec![
        ("Rows".to_owned(), of_rows),
        ("Memory".to_owned(), limits(all)),
        ("Storage".to_owned(), storages(all)),
        ("Client".to_owned(), clients(all)),
        ("Weighed".to_owned(), meant(first)),
        ("Order turns".to_owned(), turns(all, tables)),
    ];
    let needs = needs(first);
    if first.weights.is_empty() {
        let says = "Nothing was weighed, so nobody is ranked: say what counts, such as \
                    --weight ingest=3,analytics=1";
        sections.push((needs + " · no order", vec![says.to_owned()]));
    } else {
        let head = format!("{needs} · {}", weights(first));
        let several_clients = !clients(all).is_empty();
        let list = |(table, advice): &(&AdviceTable, Advice)| {
            let ranked = advice.ranked.iter().enumerate();
            let ranked = ranked.map(|(at, place)| ranked_line(at + 1, place, advice, table));
            let mut list: Vec<String> = ranked.collect();
            if list.is_empty() {
                list = no_list(table, advice);
            }
            let from = match (several_clients, &table.client) {
                (false, None) => String::new(),
                _ => format!(" · {}", text::plain(table.language())),
            };
            (format!("{head}{from} · {}", at(table, advice)), list)
        };
        sections.extend(all.iter().map(list));
    }
    let further = [
        ("Measured", measured(tables, first)),
        ("Best at", best(all)),
        ("Not measured for it", left(all, |advice| &advice.unmeasured)),
        ("Left out", left(all, |advice| &advice.excluded)),
    ];
    sections.extend(further.map(|(title, lines)| (title.to_owned(), lines)));
    let sections = sections
        .into_iter()
        .map(|(title, lines)| (title, lines.into_iter().map(|says| note("", says)).collect()));
    let face = notes::face_of(&secret).map(Block::Head);
    face.into_iter().chain(notes::filled(sections).into_iter().map(Block::Section)).collect()
}

/// Why nobody is ranked, and what would change that.
pub(super) fn no_list(table: &AdviceTable, advice: &Advice) -> Vec<String> {
    let tier = advice.needs.tier;
    let remedy = format!("to measure it: {}", remedy::command(table, tier, &weighted(advice)));
    if let Some(rows) = table.asked.filter(|_| !advice.too_far.is_empty()) {
        let far = advice.too_far.join(", ");
        let rows = written(rows);
        let says = format!("no order for {rows} rows: {far}: more than ten times away");
        return vec![says, remedy];
    }
    if !table.engines.iter().any(|entry| entry.tier == tier) {
        return vec![format!("Nothing was measured in tier {tier}."), remedy];
    }
    let unmeasured = !advice.unmeasured.is_empty();
    let says = "No engine is left that was measured for it.".to_owned();
    [says].into_iter().chain(unmeasured.then_some(remedy)).collect()
}

/// What the weights stand for where that is not their name alone.
fn meant(advice: &Advice) -> Vec<String> {
    let of = |weight: &Weight| weight.criterion.strip_prefix("ingest-").map(str::to_owned);
    let of_ingest: Vec<String> = advice.weights.iter().filter_map(of).collect();
    let says = || format!("{}: of one commit a row, as `ingest` is", of_ingest.join(", "));
    (!of_ingest.is_empty()).then(says).into_iter().collect()
}

/// `a list of its own within each limit: no limit, 256 MiB; …`, where there are several.
fn limits(all: &All<'_>) -> Vec<String> {
    let limits = text::unique(all.iter().map(|(table, _)| table.conditions.memory_limit));
    let names =
        limits.into_iter().map(|limit| limit.map_or("no limit".into(), |of| of.to_string()));
    let names: Vec<String> = names.collect();
    let says = |names: &[String]| {
        let names = names.join(", ");
        format!("a list of its own within each limit: {names}; --memory-limit SIZE or none chooses")
    };
    (names.len() > 1).then(|| says(&names)).into_iter().collect()
}

/// `a list of its own on each storage: this machine's disk, sd-a1; …`, where there are several.
fn storages(all: &All<'_>) -> Vec<String> {
    let storages = text::unique(all.iter().map(|(table, _)| table.conditions.storage));
    let names = storages
        .into_iter()
        .map(|storage| storage.map_or("this machine's disk".into(), |of| of.to_string()));
    let names: Vec<String> = names.collect();
    let says = |names: &[String]| {
        let names = names.join(", ");
        format!("a list of its own on each storage: {names}; --storage NAME or none chooses")
    };
    (names.len() > 1).then(|| says(&names)).into_iter().collect()
}

/// `a list of its own for each client: native, python; …`, where there are several.
fn clients(all: &All<'_>) -> Vec<String> {
    let names = text::unique(all.iter().map(|(table, _)| text::plain(table.language())));
    let says = |names: &[String]| {
        let names = names.join(", ");
        format!("a list of its own for each client: {names}; --client NAME chooses")
    };
    (names.len() > 1).then(|| says(&names)).into_iter().collect()
}

/// The criteria that count.
fn weighted(advice: &Advice) -> Vec<&str> {
    advice.weights.iter().map(|weight| weight.criterion.as_str()).collect()
}

/// `at sensors 10k, contacts 1k`: the scales of what counts.
pub(super) fn at(table: &AdviceTable, advice: &Advice) -> String {
    let places =
        table.resting(advice.needs.tier, &weighted(advice)).into_iter().map(RestsOn::place);
    let places = text::joined(places, ", ");
    if places.is_empty() { "at no scale".to_owned() } else { format!("at {places}") }
}

/// What the rows asked for are answered with, and how far that is.
fn asked(rows: u64, (table, advice): &(&AdviceTable, Advice)) -> String {
    let resting = || table.resting(advice.needs.tier, &weighted(advice));
    let fewer = |of: &&RestsOn| of.decades(rows).is_some_and(|far| far > 0.0 && far <= 1.0);
    let beyond = text::joined(resting().into_iter().filter(fewer).map(RestsOn::place), ", ");
    let rows = written(rows);
    let mut says = match advice.too_far.is_empty() {
        true => {
            format!("{rows} rows asked for; answered {}, the nearest measured", at(table, advice))
        }
        false => format!(
            "{rows} rows asked for; more than ten times away, so no answer for {rows}: {}: measure \
             with --scale {rows}",
            advice.too_far.join(", ")
        ),
    };
    if !beyond.is_empty() {
        says += &format!("; fewer rows than asked for: {beyond}");
    }
    says
}

/// Where the order turns by the weights, and in phases of what counts, among engines that have what
/// they must.
fn turns(all: &All<'_>, tables: &AdviceTables) -> Vec<String> {
    let Some((_, first)) = all.first() else { return Vec::new() };
    let weighed = |id: &str| {
        first.weights.is_empty() || first.weights.iter().any(|weight| weight.criterion == id)
    };
    let out = |engine: &str| first.excluded.iter().any(|left| left.engine == engine);
    let counts = |turn: &&CriterionTurn| {
        turn.tier == first.needs.tier
            && weighed(turn.criterion)
            && !out(&turn.before)
            && !out(&turn.after)
    };
    let of_phases = tables.turns.iter().filter(counts);
    let of_phases = of_phases.map(|turn| format!("{}: {}", turn.criterion, turn.says));
    let mut lines: Vec<String> = by_conditions(all).flat_map(of_scores).chain(of_phases).collect();
    let more = lines.len().saturating_sub(MOST_TURNS);
    if by_conditions(all).any(|own| own.len() > 1) && lines.is_empty() {
        lines.push("not shown to turn between these scales".to_owned());
    }
    if more > 1 {
        lines.truncate(MOST_TURNS);
        lines.push(format!("and {more} more, in --format json"));
    }
    lines
}

/// `sensors 1k, 100k: 6 runs (1 warm-up) x 3 trials`, with what wear is made of where it counts.
fn measured(tables: &AdviceTables, advice: &Advice) -> Vec<String> {
    let resting = tables.tables.iter().flat_map(|table| table.resting(advice.needs.tier, &[]));
    let counts = weighted(advice).contains(&"wear") || advice.weights.is_empty();
    let wear = |of: &RestsOn| {
        let wear = of.wear.as_ref().filter(|_| counts && of.criteria.contains(&"wear"));
        wear.map(|wear| format!(", {wear}")).unwrap_or_default()
    };
    let by = text::by_key(
        resting.map(|of| ((&*of.workload, of.protocol.clone() + &wear(of)), of.scale.clone())),
    );
    let line = |((workload, protocol), scales): ((&str, String), Vec<String>)| {
        format!("{workload} {}: {protocol}", scales.join(", "))
    };
    by.into_iter().map(line).collect()
}

/// `sensors 1k, 10k and htap 1`.
fn scales<'t>(all: impl Iterator<Item = &'t RestsOn>) -> String {
    let of = text::by_key(all.map(|of| (&of.workload, of.scale.clone())));
    let of = of.into_iter().map(|(workload, scales)| format!("{workload} {}", scales.join(", ")));
    text::joined(of, " and ")
}

/// Who is best at what, at which scales, and who was not compared.
fn best(all: &All<'_>) -> Vec<String> {
    let Some((table, first)) = all.first() else { return Vec::new() };
    let of = |criterion: &Criterion| {
        let found = all.iter().filter_map(|(table, advice)| {
            let best = advice.best_at.iter().find(|best| best.criterion == criterion.id)?;
            Some((best.clone(), table.resting(first.needs.tier, &[criterion.id])))
        });
        let who = |(best, places): (BestAt, Vec<Vec<&RestsOn>>)| {
            let (first, others) = (text::plain(&best.engines[0]), &best.engines[1..]);
            let others = match others {
                [] => String::new(),
                _ => format!(" (no difference shown to {})", names(others)),
            };
            let at = scales(places.into_iter().flatten());
            let at = match best.by_workload.is_empty() {
                true => format!("at {at}"),
                false => format!("pooled over {at} ({})", each(&best.by_workload)),
            };
            format!("{first}{others} {at}{}", not_comparable(&best))
        };
        let who = text::joined(text::by_key(found).into_iter().map(who), "; ");
        (!who.is_empty()).then(|| format!("{}: {who}. {}", criterion.id, criterion.about))
    };
    table.criteria.iter().filter_map(of).collect()
}

/// `best at sensors 10k: lmdb, at contacts 1k: redb`.
fn each(by_workload: &[(String, String)]) -> String {
    let each = by_workload.iter().map(|(at, who)| format!("at {at}: {}", text::plain(who)));
    format!("best {}", text::joined(each, ", "))
}

/// ` - of 12: 2 not comparable, because a: failed; b: not measured`, where some are not.
fn not_comparable(best: &BestAt) -> String {
    let missing = &best.not_comparable;
    if missing.is_empty() {
        return String::new();
    }
    let reasons = missing.iter().map(|left| (left.why.join(", "), text::plain(&left.engine)));
    let reasons = text::by_key(reasons).into_iter();
    let reasons = reasons.map(|(why, engines)| format!("{}: {why}", engines.join(", ")));
    let (all, count) = (best.compared + missing.len(), missing.len());
    format!(", of {all}: {count} not comparable, because {}", text::joined(reasons, "; "))
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
fn ranked_line(at: usize, place: &Place, advice: &Advice, table: &AdviceTable) -> String {
    let interval =
        place.interval.map(|ends| format!(" ({})", format::between(ends, format::ratio)));
    let interval = interval.unwrap_or_else(|| " (no interval: fewer than 3 trials)".into());
    let entry = table
        .engines
        .iter()
        .find(|entry| entry.engine == place.engine && entry.tier == advice.needs.tier);
    let broken = entry.and_then(|entry| entry.broken.clone());
    let mark = if broken.is_some() { grid::BROKEN } else { "" };
    let name = text::plain(&place.engine) + mark;
    let head = format!("{at}. {name} {}{interval}", format::ratio(place.score));
    let shown = |ratios: &[(String, f64)]| {
        let each = ratios.iter().map(|(name, ratio)| format!("{name} {}", format::ratio(*ratio)));
        text::joined(each, ", ")
    };
    let (good, bad): (Vec<_>, Vec<_>) =
        place.ratios.iter().cloned().partition(|(_, ratio)| *ratio < NEAR);
    let mut says: Vec<String> = broken.into_iter().collect();
    if !good.is_empty() {
        says.push(format!("at or near the best in {}", shown(&good)));
    }
    if !bad.is_empty() {
        says.push(format!("pays in {}", shown(&bad)));
    }
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
        if let Some(configuration) = &entry.facts.configuration {
            says.push(format!("{configuration}, durability as its author says"));
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

/// Engines that are not ranked, and why; at which scales, where that is not so at every one.
fn left(all: &All<'_>, of: impl Fn(&Advice) -> &Vec<Left>) -> Vec<String> {
    let one = |left: &Left| text::plain(&format!("{}: {}", left.engine, left.why.join("; ")));
    let lines = all.iter().flat_map(|(table, advice)| {
        let key = |left: &Left| (one(left), table.client.clone());
        of(advice).iter().map(|left| (key(left), table.at.clone())).collect::<Vec<_>>()
    });
    let lists = |client: &Option<String>| all.iter().filter(|(of, _)| of.client == *client).count();
    let line = |((says, client), at): ((String, Option<String>), Vec<String>)| match at.len()
        == lists(&client)
    {
        true => says,
        false => format!("{says} (at about {})", at.join(", ")),
    };
    text::by_key(lines).into_iter().map(line).collect()
}

fn names(all: &[String]) -> String {
    all.iter().map(|name| text::plain(name)).collect::<Vec<String>>().join(", ")
}
