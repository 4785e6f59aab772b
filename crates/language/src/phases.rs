//! Reads the phases of a file, composed ones after all others.

use toml::de::DeValue;

use crate::about::describe_work;
use crate::arrive;
use crate::definition::{Change, Phase, Query, Removed, Work};
use crate::draft::Draft;
use crate::keep;
use crate::mix::{self, Member};
use crate::names::is_dashed;
use crate::node::{Entry, Fields, all};
use crate::phase::{self, Verb};
use crate::questions;
use crate::reading::count;
use crate::sequence;

/// A phase whose kind is known.
struct Begun<'a> {
    fields: Fields<'a>,
    verb: Option<Verb>,
    only: Option<Only>,
}

/// Reads all phases. One without a description gets a derived one.
pub fn read(entries: &[Entry<'_>], drafts: &[Draft<'_>], engines: &[&str]) -> Option<Vec<Phase>> {
    let begun: Vec<_> = entries.iter().map(begin).collect();
    let single = |begun: &Option<Begun<'_>>| {
        let Begun { fields, verb, .. } = begun.as_ref()?;
        verb.filter(|verb| !verb.is_composed())
            .and_then(|verb| phase::read(fields, verb, drafts, engines))
    };
    let mut works: Vec<_> = begun.iter().map(single).collect();
    let composed = composed(entries, &begun, &works, drafts);
    if begun.iter().flatten().any(|begun| begun.verb == Some(Verb::Keep)) {
        check_keep_is_only_phase(entries, &begun);
    }
    for (work, composed) in works.iter_mut().zip(composed) {
        *work = work.take().or(composed);
    }
    all(entries.iter().zip(begun).zip(works).map(|((entry, begun), work)| {
        let Begun { fields, verb, only } = begun?;
        let about = fields.maybe("about", |node| node.text());
        let per_row = fields.or("per", false, |node| {
            node.one_of("unit of operations", &[("row", true), ("question", false)])
        });
        if work.is_none() && verb.is_some_and(Verb::is_question) {
            let _ = fields.maybe("ops", |node| count(&node));
        }
        let work = work?;
        if let (Some(Only::Rate), Some(node)) = (only, fields.get("only"))
            && !matches!(work, Work::Arrive(_))
        {
            let help = "only = \"rate\" is for a phase with 'arrive'";
            return node.mistake("a phase of no rows that arrive", help);
        }
        let per_row = per_row?;
        if per_row && !counts_by_row(&work) {
            let help = "leave it out: it is for a 'find', and for a change by 'older', or by \
                        'where' without 'commit'";
            return fields.get("per")?.mistake("per = \"row\" has no effect here", help);
        }
        let asked = questions::asked(&fields, &work, drafts)?;
        if let (true, Some(ops)) = (per_row, fields.get("ops")) {
            let help = "leave it out: each row is an operation";
            return ops.mistake("'ops' beside per = \"row\"", help);
        }
        let about = about?.map_or_else(|| describe_work(&work, drafts), str::to_owned);
        let only = only?;
        let (alone, apart, search) =
            (only != Only::Part, only == Only::Variant, only == Only::Rate);
        let name = entry.name.to_owned();
        Some(Phase { name, about, work, alone, apart, search, per_row, asked })
    }))
}

/// Adds a mistake for each phase that runs on its own in a file with a `keep`.
fn check_keep_is_only_phase(entries: &[Entry<'_>], begun: &[Option<Begun<'_>>]) {
    let mut keeps = 0;
    for (entry, begun) in entries.iter().zip(begun) {
        let Some(Begun { verb, only, .. }) = begun else { continue };
        keeps += usize::from(*verb == Some(Verb::Keep));
        if (*verb == Some(Verb::Keep) && keeps == 1) || *only == Some(Only::Part) {
            continue;
        }
        let what = format!("'{}' beside a phase with 'keep'", entry.name);
        let help = "that phase runs for minutes and is the only one of its file: write only = \"keep\" \
                    where it is a part of it, or make two files";
        entry.at_name().add(what, "", help);
    }
}

/// Whether the operations of a phase may be counted as the rows that it finds or changes all at
/// once.
const fn counts_by_row(work: &Work) -> bool {
    matches!(
        work,
        Work::Ask { query: Query::Find { .. }, .. }
            | Work::UpdateWhere { by: Change::Together, .. }
            | Work::Delete {
                removed: Removed::Older { .. } | Removed::Where { by: Change::Together, .. },
                ..
            }
    )
}

/// Where a phase runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Only {
    /// On its own, and in any phase that names it.
    Anywhere,
    /// Only as a part of others.
    Part,
    /// Only in variants that change it.
    Variant,
    /// Only in a search for the highest rate.
    Rate,
}

/// Values of `only`.
const ONLY: [(&str, Only); 6] = [
    ("mix", Only::Part),
    ("sequence", Only::Part),
    ("keep", Only::Part),
    ("arrive", Only::Part),
    ("variant", Only::Variant),
    ("rate", Only::Rate),
];

fn begin<'a>(entry: &Entry<'a>) -> Option<Begun<'a>> {
    if !is_dashed(entry.name) {
        let what = format!("'{}' cannot be the name of a phase", entry.name);
        entry.at_name().add(what, "letters, digits, dashes and underscores", "");
    }
    let fields = entry.node.open()?.named(entry.at.clone());
    let verb = Verb::of(&fields);
    let only = fields.or("only", Only::Anywhere, |node| node.one_of("place", &ONLY));
    Some(Begun { fields, verb, only })
}

/// Reads composed phases, and adds a mistake for every part that is in none.
fn composed<'a>(
    entries: &[Entry<'a>],
    begun: &[Option<Begun<'a>>],
    works: &[Option<Work>],
    drafts: &[Draft<'_>],
) -> Vec<Option<Work>> {
    let members = entries.iter().zip(begun).zip(works).map(|((entry, begun), work)| Member {
        name: entry.name,
        verb: begun.as_ref().and_then(|begun| begun.verb),
        work: work.as_ref(),
    });
    let members: Vec<_> = members.collect();
    let composed: Vec<_> = begun
        .iter()
        .map(|begun| {
            let Begun { fields, verb, .. } = begun.as_ref()?;
            match verb {
                Some(Verb::Mix) => mix::read(fields, &members).map(Work::Mix),
                Some(Verb::Sequence) => sequence::read(fields, &members).map(Work::Sequence),
                Some(Verb::Keep) => keep::read(fields, &members, drafts).map(Work::Keep),
                Some(Verb::Arrive) => arrive::read(fields, &members, drafts).map(Work::Arrive),
                _ => None,
            }
        })
        .collect();
    let named = |name: &str| begun.iter().flatten().any(|begun| names(&begun.fields, name));
    for (entry, begun) in entries.iter().zip(begun) {
        let Some(Begun { fields, only: Some(Only::Part), .. }) = begun else { continue };
        if let (Some(only), false) = (fields.get("only"), named(entry.name)) {
            only.add(
                format!("'{}' never runs", entry.name),
                "no mix, sequence, keep or arrive has it as a part",
                "name it in one, or leave 'only' out",
            );
        }
    }
    composed
}

/// Whether a composed phase names another one.
fn names(fields: &Fields<'_>, name: &str) -> bool {
    let has = |key: &str| match fields.get(key).map(|node| node.value) {
        Some(DeValue::Table(parts)) => parts.get(name).is_some(),
        Some(DeValue::Array(parts)) => {
            parts.iter().any(|part| part.get_ref().as_str() == Some(name))
        }
        value => value.and_then(DeValue::as_str) == Some(name),
    };
    let given = |key: &str| fields.get(key).is_some();
    has("mix")
        || has("sequence")
        || given("keep") && (has("insert") || has("ask"))
        || given("arrive") && has("insert")
}
