//! Advice in three lines: the pick, the margin to the next, and what would change the pick.

use embermark_model::Conditions;

use super::render::at;
use super::render::ranking::no_list;
use super::{
    Advice, AdviceTable, AdviceTables, Needs, Pick, UnknownCriterion, Weight, advise_each, pick,
};
use crate::document::{self, Block};
use crate::note::{Note, Section, note};
use crate::{Options, format, notes, text};

/// Formats the advice for a terminal of `width` columns, for each language that engines are used
/// from. Without weights all work counts alike, as on the screen.
///
/// # Errors
/// If the tables have no criterion with the name of a weight.
pub fn brief(
    tables: &AdviceTables,
    needs: Needs,
    weights: &[Weight],
    width: usize,
) -> Result<String, UnknownCriterion> {
    let mut sections = Vec::new();
    let mut secret: Vec<&str> = Vec::new();
    let languages = text::unique(tables.tables.iter().map(AdviceTable::language));
    for language in &languages {
        let own = tables.tables.iter().filter(|table| table.language() == *language);
        let weights = match (weights, own.max_by_key(|table| size(table))) {
            ([], Some(table)) => usual(table, needs),
            _ => weights.to_vec(),
        };
        let mut all = advise_each(tables, needs, &weights)?;
        all.retain(|(table, _)| table.language() == *language);
        let largest = all.iter().max_by_key(|(table, _)| size(table));
        let Some((table, advice)) = largest else { continue };
        let notes = match pick::pick(table, needs, &weights) {
            Some(pick) => lines(&pick, table, advice, &others(&all, table, &weights)),
            None => no_pick(table, advice),
        };
        let own = table.engines.iter();
        let own = own.filter(|entry| !entry.facts.publishable && !entry.ratios.is_empty());
        secret.extend(own.map(|entry| entry.engine.as_str()));
        let from = match (languages.len(), &table.client) {
            (1, None) => String::new(),
            _ => format!(" · {}", text::plain(language)),
        };
        sections
            .push(Section { title: format!("Advice · durability {}{from}", needs.tier), notes });
    }
    let blocks = notes::unpublishable_notice(&text::unique(secret)).map(Block::Head).into_iter();
    let blocks: Vec<Block> = blocks.chain(sections.into_iter().map(Block::Section)).collect();
    if blocks.is_empty() {
        return Ok(String::new());
    }
    Ok(document::terminal(&blocks, &Options { width: width.max(40), ..Options::default() }))
}

/// Returns equal weights for all work, or otherwise the first criterion that is measured.
fn usual(table: &AdviceTable, needs: Needs) -> Vec<Weight> {
    let work = pick::all_work(table, needs.tier);
    if !work.is_empty() {
        return work;
    }
    let mut criteria = table.criteria.iter();
    let first = criteria.find(|criterion| table.compares(needs.tier, criterion.id));
    first.map(|criterion| pick::single_weight(criterion.id)).into_iter().collect()
}

/// Returns the key by which the largest table has the most rows. One without a memory limit and on
/// this machine's own disk is preferred.
fn size(table: &AdviceTable) -> (bool, u64) {
    (table.conditions == Conditions::default(), table.rows)
}

/// Lists the picks at other scales and under other conditions where they differ from the pick.
fn others(
    all: &[(&AdviceTable, Advice)],
    table: &AdviceTable,
    weights: &[Weight],
) -> Vec<(String, String)> {
    let others = all.iter().filter(|(other, _)| !std::ptr::eq(*other, table));
    let pick = |(other, advice): &(&AdviceTable, Advice)| {
        Some((other.at.clone(), pick::pick(other, advice.needs, weights)?.engine))
    };
    others.filter_map(pick).collect()
}

fn lines(
    pick: &Pick,
    table: &AdviceTable,
    advice: &Advice,
    others: &[(String, String)],
) -> Vec<Note> {
    let work = pick::work_name(table, advice.needs.tier, &advice.weights);
    let same = |pair: &[Weight]| pair[0].weight.total_cmp(&pair[1].weight).is_eq();
    let is_alike = advice.weights.len() > 1 && advice.weights.windows(2).all(same);
    let alike = if is_alike { " alike" } else { "" };
    let take =
        format!("{}: best at {work}{alike}, {}", text::plain(&pick.engine), at(table, advice));
    let alone = || "no other engine is ranked".to_owned();
    let mut margin = pick.next.as_ref().map_or_else(alone, |next| next.describe());
    if pick.is_open() {
        margin += &format!("; more trials settle it: embermark run with {}", table.longer);
    }
    let turns = pick.turns.iter().map(|turn| format!("{}: {}", turn.by, turn.leads()));
    let elsewhere = others.iter().filter(|(_, engine)| *engine != pick.engine);
    let elsewhere = elsewhere.map(|(at, engine)| format!("{at}: {}", text::plain(engine)));
    let turned = text::joined(turns.chain(elsewhere), "; ");
    let turned = if turned.is_empty() { "nothing that was measured".to_owned() } else { turned };
    let pace = advice.needs.rows_per_second.and_then(|rate| keeps_up(table, advice, pick, rate));
    let pace = pace.map(|says| note("keeps up", says));
    let notes = [note("take", take), note("margin", margin), note("turned by", turned)];
    notes.into_iter().chain(pace).collect()
}

/// Describes the pace: `1,000 rows/s take 4 % of one processor; it commits 8,300 at sensors 10k,
/// one after the other; …`.
fn keeps_up(table: &AdviceTable, advice: &Advice, pick: &Pick, rate: f64) -> Option<String> {
    let pace = table.entry(&pick.engine, advice.needs.tier)?.pace.as_ref()?;
    let rows = format::count(rate.round() as u64);
    let share = match pace.cpu_share(rate) {
        Some(share) => format!("{rows} rows/s take {} of one processor", format::percent(share)),
        None => format!("{rows} rows/s take CPU time that was not measured"),
    };
    let most = format::count(pace.rows_per_second.floor() as u64);
    Some(format!(
        "{share}; it commits {most} at {}, one after the other; at a fixed rate: embermark run machine \
         --rate {}",
        pace.at,
        rate.ceil()
    ))
}

/// Explains why no engine is picked, with the command that would change that.
fn no_pick(table: &AdviceTable, advice: &Advice) -> Vec<Note> {
    let mut says = no_list(table, advice).into_iter();
    let why = advice.unmeasured.iter().chain(&advice.excluded);
    let why = why.map(|left| format!("{}: {}", text::plain(&left.engine), left.why.join(", ")));
    let take = says.next().map(|says| note("take", says));
    let rest = says.map(|says| note("next", says));
    let why: Vec<String> = why.collect();
    let why = (!why.is_empty()).then(|| note("left out", why.join("; ")));
    take.into_iter().chain(rest).chain(why).collect()
}
