//! What to take for each kind of work, what would change that, and how to settle open cases.

use embermark_model::Durability;
use embermark_model::result::ResultFile;

use crate::advise::pick::Turn;
use crate::advise::presets::PRESETS;
use crate::advise::{AdviceTable, Needs, Weight, pick};
use crate::note::{Note, note};
use crate::{format, text};

/// Returns what to take, one line per kind of work, what would change that, and how to settle open
/// cases.
pub(super) fn take(
    file: &ResultFile,
    table: &AdviceTable,
    tiers: &[Durability],
    main: Durability,
) -> Vec<Note> {
    let mut is_open = false;
    let mut says: Vec<Note> = Vec::new();
    let mut pick = |about: String, tier: Durability, weights: &[Weight]| {
        let pick = pick::pick(table, Needs::only(tier), weights)?;
        is_open |= pick.is_open();
        says.push(note(about, pick.describe()));
        Some(pick)
    };
    for tier in tiers {
        pick(format!("commits ({tier})"), *tier, &[pick::single_weight("ingest")]);
    }
    let work = pick::all_work(table, main);
    let all = if work.len() > 1 { pick(format!("all work ({main})"), main, &work) } else { None };
    if let Some(pick) = all {
        let first = text::plain(&pick.engine);
        // The other tiers have lines of their own.
        let turns = pick.turns.iter().filter(|turn| turn.tier.is_none());
        let ratio = |of: &str| table.entry(&pick.engine, main)?.ratios.get(of).copied();
        let floor = file.manifest.floor.as_ref();
        let has_floor = floor.is_some_and(|floor| !floor.peak_bytes.is_empty());
        let says_of = |turn: &Turn| {
            let alone = turn.criterion.and_then(|of| {
                let weights = [pick::single_weight(of)];
                Some((pick::pick(table, Needs::only(main), &weights)?, ratio(of)?))
            });
            let mut says = match alone {
                Some((best, own)) => {
                    format!("{}; {first} has {}", best.describe(), format::ratio(own))
                }
                None => format!("{} of {first}", turn.leads()),
            };
            // The column has the memory of the whole process.
            if has_floor && turn.criterion == Some("memory") {
                says += ", without embermark's own";
            }
            says
        };
        says.extend(turns.map(|turn| note(turn.by.as_str(), says_of(turn))));
    }
    // What to take in each situation, one line each.
    for preset in &PRESETS[1..] {
        let Some(answer) = preset.recommendation(table, main) else { continue };
        is_open |= answer.pick.is_open();
        let about = match answer.tier == main {
            true => preset.name.to_owned(),
            false => format!("{} ({})", preset.name, answer.tier),
        };
        let mut taken = answer.pick.describe();
        if !answer.lacking.is_empty() {
            taken += &format!("; {} not measured", answer.lacking.join(", "));
        }
        says.push(note(about, taken));
    }
    if !file.plan.left_out.is_empty() {
        says.push(note("left out", text::plain(&file.plan.left_out.join("; "))));
    }
    if is_open {
        let says_how = format!("settle 'not certainly', 'too few' with {}", table.longer);
        says.push(note("uncertain", says_how));
    }
    says
}
