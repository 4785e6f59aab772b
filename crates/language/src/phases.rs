//! Reads the phases of a file, composed ones after all others.

use embermark_model::table::Table;

use crate::about;
use crate::arrive;
use crate::definition::{Asked, Change, Phase, Removed, Work};
use crate::draft::Draft;
use crate::keep;
use crate::mix::{self, Member};
use crate::node::{Entry, Fields, all};
use crate::phase::{self, Verb};
use crate::questions;
use crate::reading::count;
use crate::sequence;

/// A phase that was read.
pub struct Read<'a> {
    name: &'a str,
    about: Option<&'a str>,
    work: Work,
    only: Only,
    per_row: bool,
    asked: Asked,
}

impl Read<'_> {
    /// Returns the phase, with a derived description if the file has none.
    pub fn into_phase(self, tables: &[Table]) -> Phase {
        let about =
            self.about.map_or_else(|| about::describe_work(&self.work, tables), str::to_owned);
        let Self { name, work, only, per_row, asked, .. } = self;
        let (alone, apart) = (only != Only::Part, only == Only::Variant);
        let search = only == Only::Rate;
        Phase { name: name.to_owned(), about, work, alone, apart, search, per_row, asked }
    }
}

/// A phase whose kind is known.
struct Begun<'a> {
    fields: Fields<'a>,
    verb: Option<Verb>,
    only: Option<Only>,
}

/// Reads all phases.
pub fn read<'a>(
    entries: &[Entry<'a>],
    drafts: &[Draft<'_>],
    engines: &[&str],
) -> Option<Vec<Read<'a>>> {
    let begun: Vec<_> = entries.iter().map(begin).collect();
    let single = |begun: &Option<Begun<'a>>| {
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
            return node.mistake("a phase of no rows that arrive", "", help);
        }
        let per_row = per_row?;
        if per_row && !counts_by_row(&work) {
            let why = "the rows that a 'find', or a change by 'where' or 'older', concerns";
            return fields.get("per")?.mistake("each operation is a row", "", why);
        }
        let asked = questions::asked(&fields, &work, drafts)?;
        if let (true, Some(ops)) = (per_row, fields.get("ops")) {
            return ops.mistake("'ops' beside per = \"row\"", "", "the rows are the operations");
        }
        Some(Read { name: entry.name, about: about?, work, only: only?, per_row, asked })
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
        entry.node.log.add(entry.at.clone(), what, "", help);
    }
}

/// Whether the operations of a phase may be counted as the rows that it finds or changes all at
/// once.
const fn counts_by_row(work: &Work) -> bool {
    matches!(
        work,
        Work::Find { .. }
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
    if !entry.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_') {
        entry.node.log.add(
            entry.at.clone(),
            format!("'{}' cannot be the name of a phase", entry.name),
            "letters, digits, dashes and underscores",
            "",
        );
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
    let verb = |begun: &Option<Begun<'_>>| begun.as_ref().and_then(|begun| begun.verb);
    let members: Vec<_> = entries
        .iter()
        .zip(begun.iter().zip(works))
        .map(|(entry, (begun, work))| Member {
            name: entry.name,
            verb: verb(begun),
            work: work.as_ref(),
        })
        .collect();
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
    let names = |begun: &Begun<'_>, name: &str| {
        let mix = begun.fields.get("mix").is_some_and(|mix| mix.value.get(name).is_some());
        let sequence = begun.fields.get("sequence");
        mix || sequence.is_some_and(|sequence| sequence::names(&sequence, name))
            || keep::names(&begun.fields, name)
            || arrive::names(&begun.fields, name)
    };
    let named = |name: &str| begun.iter().flatten().any(|begun| names(begun, name));
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
