//! Advice as text and as JSON.

use embermark_model::Conditions;
use serde::Serialize;

use super::turns::{by_conditions, score_turns};
use super::{
    Advice, AdviceTable, AdviceTables, BestAt, Criterion, CriterionTurn, LicenceClass, RestsOn,
};
use crate::document::{self, Block};
use crate::note::{self, note};
use crate::{Options, ReportError, format, notes, text};
use conditions::{asked, clients, limits, meant, measured, scales, storages};
use ranking::{left, names, no_list, place_line};

mod conditions;
pub(super) mod ranking;

/// Advice at each number of rows under each set of conditions, with its table.
type All<'t> = [(&'t AdviceTable, Advice)];

/// Largest number of changes of the order that are listed.
const MOST_TURNS: usize = 8;

/// Formats advice for a terminal of `width` columns. `rows` is the requested number of rows, if
/// any.
pub fn words(all: &All<'_>, tables: &AdviceTables, rows: Option<u64>, width: usize) -> String {
    let options = Options { width: width.max(40), ..Options::default() };
    document::terminal(&blocks(all, tables, rows), &options)
}

/// Formats advice as Markdown.
pub fn markdown(all: &All<'_>, tables: &AdviceTables, rows: Option<u64>) -> String {
    document::markdown(&blocks(all, tables, rows))
}

/// Formats the advice at each number of rows, and its tables, as JSON.
///
/// # Errors
/// If a value has no JSON form, which does not happen here.
pub fn json(all: &All<'_>, tables: &AdviceTables) -> Result<String, ReportError> {
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
    let advice = all.iter().map(|(table, advice)| {
        let AdviceTable { rows, conditions, client, .. } = table;
        At { rows: *rows, conditions: *conditions, client: client.as_deref(), advice }
    });
    document::json(&Whole { advice: advice.collect(), tables })
}

/// Returns the headings and the text below them.
fn blocks(all: &All<'_>, tables: &AdviceTables, rows: Option<u64>) -> Vec<Block> {
    let Some((_, first)) = all.first() else { return Vec::new() };
    let secret = all.iter().flat_map(|(table, _)| &table.engines);
    let secret = secret.filter(|entry| !entry.facts.publishable && !entry.ratios.is_empty());
    let secret = text::unique(secret.map(|entry| entry.engine.as_str()));
    let several = || "at each measured scale; --scale N advises for your number of rows".to_owned();
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
        let says = "Nothing was weighed, so no engine is ranked: weigh criteria, for example \
                    --weight ingest=3,analytics=1";
        sections.push((needs + " · no order", vec![says.to_owned()]));
    } else {
        let head = format!("{needs} · {}", weights(first));
        let several_clients = !clients(all).is_empty();
        let list = |(table, advice): &(&AdviceTable, Advice)| {
            let ranked = advice.ranked.iter().enumerate();
            let ranked = ranked.map(|(at, place)| place_line(at + 1, place, advice, table));
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
        ("Not compared by it", left(all, |advice| &advice.unmeasured)),
        ("Left out", left(all, |advice| &advice.excluded)),
    ];
    sections.extend(further.map(|(title, lines)| (title.to_owned(), lines)));
    let sections = sections
        .into_iter()
        .map(|(title, lines)| (title, lines.into_iter().map(|says| note("", says)).collect()));
    let face = notes::unpublishable_notice(&secret).map(Block::Head);
    face.into_iter().chain(note::non_empty(sections).into_iter().map(Block::Section)).collect()
}

/// Returns the criteria with a weight.
fn weighted(advice: &Advice) -> Vec<&str> {
    advice.weights.iter().map(|weight| weight.criterion.as_str()).collect()
}

/// Returns the scales behind the weighted criteria: `at sensors 10k, contacts 1k`.
pub(super) fn at(table: &AdviceTable, advice: &Advice) -> String {
    let all = table.resting(advice.needs.tier, &weighted(advice)).into_iter().map(RestsOn::place);
    let places = text::joined(all, ", ");
    if places.is_empty() { "at no scale".to_owned() } else { format!("at {places}") }
}

/// Lists where the order of suitable engines changes with the scale, by weighted score and in
/// phases of weighted criteria.
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
    let phases = tables.turns.iter().filter(counts);
    let phases = phases.map(|turn| format!("{}: {}", turn.criterion, turn.says));
    let mut lines: Vec<String> = by_conditions(all).flat_map(score_turns).chain(phases).collect();
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

/// Lists the best engines by criterion, with the scales, and the engines that were not compared.
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

/// Formats the best engine of each workload: `best at sensors 10k: lmdb, at contacts 1k: redb`.
fn each(by_workload: &[(String, String)]) -> String {
    let each = by_workload.iter().map(|(at, who)| format!("at {at}: {}", text::plain(who)));
    format!("best {}", text::joined(each, ", "))
}

/// Lists the engines that are not comparable: `, of 12: 2 not comparable, because a: failed; b: not
/// measured`. Empty if all are comparable.
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

/// Formats the needs: `Short list · durability power · SQL, embedded`.
fn needs(advice: &Advice) -> String {
    let needs = &advice.needs;
    let parts = [
        needs.sql.then(|| "SQL".to_owned()),
        needs.embedded.then(|| "embedded".to_owned()),
        needs.memory_bytes.map(|most| format!("at most {}", format::bytes(most as f64))),
        needs.rows_per_second.map(|rate| format!("at least {}", format::rate(rate))),
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
