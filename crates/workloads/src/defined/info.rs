//! Describes a workload file as a workload: its phases, variants, and protocols.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::PathBuf;

use embermark_language::{Asked, Commit, Definition, Mix, Phase, Sequence, Usual, Variant, Work};
use embermark_model::choice;
use embermark_model::result::PhaseKind;
use embermark_model::table::RowsFrom;

use super::kind::{changes_at_once, changes_rows, is_point, is_question, loads, one_by_one};
use super::{Defined, Result, keep, mix};
use crate::{Info, PhaseInfo, Protocol, VariantInfo, Workload};

/// The variant that runs a file as written, if the file defines no variants.
const AS_WRITTEN: &str = "as-written";

/// Variants of such a file, with what each sets for commits.
const VARIANTS: [(&str, &str, Option<Commit>); 4] = [
    (AS_WRITTEN, "commits as defined in the file", None),
    ("commit-each", "one commit per operation", Some(Commit::Each)),
    ("single", "transactions of 10,000 operations", Some(Commit::Rows(10_000))),
    ("bulk", "inserts by the engine's fastest path", Some(Commit::Bulk)),
];

impl Defined {
    /// Creates the workload of a definition. Its files are relative to `folder`, and at most the
    /// share `lenient` of their rows may not fit. It lives as long as the process.
    pub fn leak(definition: Definition, folder: PathBuf, lenient: f64) -> &'static dyn Workload {
        let definition: &'static Definition = Box::leak(Box::new(definition));
        let alone = || definition.phases.iter().filter(|phase| phase.alone);
        let phases = alone().map(|phase| PhaseInfo { name: &phase.name, about: &phase.about });
        let phases: Vec<PhaseInfo> = phases.collect();
        let gets = alone().find(|phase| matches!(phase.work, Work::Get { .. }));
        let (variants, points) = (variants(definition), points(definition));
        let [overview, usual] = protocols(definition, &variants);
        let rows = &definition.tables[0].rows;
        let until_steady = definition.keep().is_some();
        let arrives = |phase: &Phase| matches!(phase.work, Work::Arrive(_));
        let info = Info {
            id: &definition.name,
            about: &definition.about,
            phases: Vec::leak(phases),
            variants: Vec::leak(variants),
            overview,
            usual,
            reads_files: matches!(rows, RowsFrom::Log(_)),
            whole: matches!(rows, RowsFrom::File(_)),
            lasts: false,
            until_steady,
            cold: !until_steady && reads(definition),
            searches: names(definition, |phase| arrives(phase) && phase.search),
            arrivals: names(definition, |phase| arrives(phase) && !phase.search),
            apart: names(definition, |phase| phase.apart),
            timed: names(definition, |phase| {
                let lasts = matches!(phase.work, Work::Mix(Mix { lasts: Some(_), .. }));
                lasts || arrives(phase) || matches!(phase.work, Work::Keep(_))
            }),
            windowed: names(definition, |phase| {
                let is_asked = is_question(&phase.work) && !phase.per_row;
                is_asked && phase.asked == Asked::ForTime || matches!(phase.work, Work::Keep(_))
            }),
            clients: clients(definition),
            gets: gets.map(|phase| &*phase.name),
            points: Vec::leak(points),
        };
        Box::leak(Box::new(Self { info, definition, folder, lenient }))
    }

    /// Returns the definition of a variant, and what the variant sets for all commits.
    pub(super) fn variant(&self, name: &str) -> Result<(&'static Definition, Option<Commit>)> {
        let own = &self.definition.variants;
        if let Some(variant) = own.iter().find(|variant| variant.name == name) {
            return Ok((&variant.definition, None));
        }
        let known = VARIANTS.iter().find(|(known, ..)| own.is_empty() && *known == name);
        let names = self.info.variants.iter().map(|variant| variant.name);
        let (.., commit) = known.ok_or_else(|| choice::unknown("variant", name, names))?;
        Ok((self.definition, *commit))
    }

    /// Returns the kind of each phase of a variant. A variant whose rows have another form than the
    /// file's counts towards no criterion.
    pub(super) fn kinds(&self, definition: &Definition, commit: Option<Commit>) -> Vec<PhaseKind> {
        let is_usual = definition.has_the_form_of(self.definition);
        let kind = |phase| {
            let kind = definition.kind(phase, commit);
            PhaseKind { counts: kind.counts.filter(|_| is_usual), ..kind }
        };
        definition.phases.iter().map(kind).collect()
    }
}

/// Returns the names of the phases for which a function holds.
fn names(definition: &'static Definition, is: impl Fn(&Phase) -> bool) -> &'static [&'static str] {
    let phases = definition.phases.iter().filter(|phase| is(phase));
    Vec::leak(phases.map(|phase| &*phase.name).collect())
}

/// Returns what runs in an overview of all workloads, and what runs by default.
fn protocols(definition: &'static Definition, variants: &[VariantInfo]) -> [Protocol; 2] {
    let all = match &definition.tables[0].rows {
        RowsFrom::Made(rows) | RowsFrom::Log(rows) | RowsFrom::Telemetry(rows) => vec![*rows],
        RowsFrom::File(_) => Vec::new(),
    };
    let protocol = |usual: &'static Usual| {
        let chosen = usual.variants.iter().map(|place| variants[*place].name);
        let mut chosen: Vec<&str> = chosen.collect();
        if chosen.is_empty() {
            chosen.push(variants[0].name);
        }
        let scales = if usual.scales.is_empty() { &all } else { &usual.scales };
        Protocol {
            memory_limit: usual.memory_limit,
            ..Protocol::of(Vec::leak(scales.clone()), Vec::leak(chosen))
        }
    };
    let (overview, usual) = (protocol(&definition.overview), protocol(&definition.usual));
    let lasts = |protocol, window| Protocol { window, trials: Some(1), ..protocol };
    match definition.keep() {
        Some(keep) => [lasts(overview, keep::SHORT), lasts(usual, keep.at_most)],
        None => [overview, usual],
    }
}

/// Returns the variants of a file: its own, or those that every file can have.
fn variants(definition: &'static Definition) -> Vec<VariantInfo> {
    if definition.variants.is_empty() {
        return VARIANTS
            .map(|(name, about, commit)| {
                let changes = changed_by(definition, commit);
                VariantInfo { name, about, changes }
            })
            .to_vec();
    }
    // A variant that names no phases runs, unchanged, those that other variants change.
    let all: HashSet<usize> =
        definition.variants.iter().flat_map(|variant| variant.changes.iter().copied()).collect();
    let of = |variant: &'static Variant| {
        let places = 0..definition.phases.len();
        let changes = places.filter(|place| match variant.changes.is_empty() {
            true => all.contains(place) && !definition.phases[*place].apart,
            false => variant.changes.contains(place),
        });
        let changes = changes.map(|place| &definition.phases[place]).filter(|phase| phase.alone);
        let changes = changes.map(|phase| &*phase.name).collect();
        VariantInfo { name: &variant.name, about: &variant.about, changes: Vec::leak(changes) }
    };
    definition.variants.iter().map(of).collect()
}

/// Returns the phases of each variant that clients can share: single rows, each with a commit.
pub(super) fn points(
    definition: &'static Definition,
) -> Vec<(&'static str, &'static [&'static str])> {
    let plain = definition.variants.is_empty();
    let own = definition.variants.iter().map(|own| (own.name.as_str(), &own.definition));
    let all: Vec<_> = if plain { vec![(AS_WRITTEN, definition)] } else { own.collect() };
    let of = |(variant, of): (&'static str, &'static Definition)| {
        let alone = of.phases.iter().filter(|phase| phase.alone && is_point(&phase.work));
        // Transactions of many operations have one client.
        let is_each = |commit| plain || commit == Commit::Each;
        let each = alone.filter(|phase| phase.work.commit().is_none_or(is_each));
        let names: Vec<&str> = each.map(|phase| &*phase.name).collect();
        (!names.is_empty()).then(|| (variant, &*Vec::leak(names)))
    };
    let mut points: Vec<_> = all.into_iter().filter_map(of).collect();
    // The first is the usual one, in which clients can share most.
    points.sort_by_key(|(_, phases)| Reverse(phases.len()));
    points
}

/// Returns the phases that another commit changes.
fn changed_by(definition: &'static Definition, commit: Option<Commit>) -> &'static [&'static str] {
    let is_changed = |work: &Work| match (work, commit) {
        (Work::Insert { .. } | Work::Sequence(Sequence { insert: Some(_), .. }), _) => true,
        (Work::Keep(_) | Work::Arrive(_), by) => by == Some(Commit::Each),
        (work, Some(_)) if changes_at_once(work) || one_by_one(work).is_some() => false,
        (work, by) => changes_rows(work) && by != Some(Commit::Bulk),
    };
    names(definition, |phase| phase.alone && is_changed(&phase.work))
}

/// Returns whether a phase reads what existed before it. Phases that only run in variants that name
/// them do not count.
fn reads(definition: &Definition) -> bool {
    let mut usual = definition.phases.iter().filter(|phase| phase.alone && !phase.apart);
    usual.any(|phase| !loads(&phase.work))
}

/// Returns the number of clients that the mixes of a file have at the same time, plus the one that
/// watches.
pub(super) fn clients(definition: &Definition) -> u32 {
    let clients = definition.phases.iter().map(|phase| match &phase.work {
        Work::Mix(Mix { parts, clients, .. }) if mix::by_rates(parts) => {
            (*clients).max(parts.len() as u32) + 1
        }
        Work::Mix(Mix { clients, .. }) if *clients > 1 => clients + 1,
        _ => 1,
    });
    clients.max().unwrap_or(1)
}
