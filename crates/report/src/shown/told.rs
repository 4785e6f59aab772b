//! The same in words, and where a report has them.

use embermark_model::durability_result::{Exhaustive, Experiment, Outcome, Tested, Verdict};
use embermark_model::result::ResultFile;
use embermark_model::{Configuration, Durability};
use serde::Serialize;

use super::{Record, Shown, Standing, Tries, Why};
use crate::advise::AdviceTables;
use crate::note::{Note, note};

use crate::summary::Comparison;
use crate::text;

/// Without repetition. There are few of them.
pub(crate) fn distinct(all: impl IntoIterator<Item = Told>) -> Vec<Told> {
    all.into_iter().fold(Vec::new(), |mut known, told| {
        if !known.contains(&told) {
            known.push(told);
        }
        known
    })
}

/// What a tier of an engine of a result rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "TierStanding"))]
pub(crate) struct Told {
    /// The engine's id, or the name of a configuration.
    pub engine: String,
    /// The engine's version.
    pub version: String,
    /// The tier.
    pub tier: Durability,
    /// In words: [`Standing::words`].
    pub says: String,
    #[serde(flatten)]
    pub standing: Standing,
}

/// What was found in an experiment, in words, with what beside the tries of the engine was found.
pub fn found(tested: &Tested) -> String {
    let mut words = findings(tested, &format!(" in {}", tested.experiment.tries(tested.tried)));
    if tested.not_mounted > 0 {
        words.push(format!("{} more were not mounted", tested.not_mounted));
    }
    if let Some(Exhaustive { works, states, .. }) = tested.exhaustive {
        words.push(format!("exhaustive: {states} states of {works} short works"));
    }
    words.join(", ")
}

/// How the tries of an experiment ended, in words. What breaks no promise stands in brackets; `tries`
/// follows where nothing was found.
pub fn findings(tested: &Tested, tries: &str) -> Vec<String> {
    let finding = |(verdict, count): (&Verdict, &u32)| {
        let finding = format!("{count} {}", verdict.name());
        let broken = tested.is_promised() && verdict.is_violation();
        if broken { finding } else { format!("({finding})") }
    };
    let bad = tested.verdicts.iter().filter(|(verdict, _)| **verdict != Verdict::Holds);
    let mut words: Vec<String> = bad.map(finding).collect();
    if tested.violations() == 0 && tested.is_promised() {
        words.insert(0, format!("no violation{tries}"));
    } else if words.is_empty() {
        words.push(format!("nothing lost{tries}"));
    }
    words.extend(torn(tested.torn_blocks));
    words
}

fn torn(blocks: u32) -> Option<String> {
    (blocks > 0).then(|| format!("{blocks} of them by a torn block"))
}

impl Standing {
    /// In a word: `shown`, `broken`, `manual`.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Shown(shown) if shown.is_broken() => "broken",
            Self::Shown(_) => "shown",
            Self::ByManual(_) => "manual",
        }
    }

    /// `shown: no violation in 100 kills and 375 states (ext4, 2026-11-22)`, `broken: 6 of 375 states:
    /// …`, `by its manual: never tried`. The version is the one at hand, and stands elsewhere.
    pub fn words(&self) -> String {
        match self {
            Self::Shown(shown) => shown.words(),
            Self::ByManual(why) => format!("by its manual: {}", why.words()),
        }
    }
}

impl Shown {
    fn words(&self) -> String {
        let all = [(Experiment::Kill, &self.kills), (Experiment::PowerCut, &self.states)];
        let made = all.into_iter().filter(|(_, tries)| tries.tried > 0);
        let (broken, held): (Vec<_>, Vec<_>) = made.partition(|(_, tries)| tries.violations > 0);
        let broken = broken.into_iter().map(|(experiment, tries)| tries.broken(experiment));
        let held = held.into_iter().map(|(experiment, tries)| experiment.tries(tries.tried));
        let (broken, held) = (text::joined(broken, "; "), text::joined(held, " and "));
        let held = if held.is_empty() { held } else { format!("no violation in {held}") };
        let said = match (broken.is_empty(), held.is_empty()) {
            (true, _) => format!("shown: {held}"),
            (false, true) => format!("broken: {broken}"),
            (false, false) => format!("broken: {broken}; {held}"),
        };
        let of = self.file_systems.iter().chain([&self.date]).cloned();
        format!("{said} ({})", text::joined(of, ", "))
    }
}

impl Tries {
    /// `6 of 375 states: 3 a hole, 3 corrupt rows, 6 of them by a torn block`.
    fn broken(&self, experiment: Experiment) -> String {
        let how =
            self.verdicts.iter().map(|(verdict, count)| format!("{count} {}", verdict.name()));
        let how = text::joined(how.chain(torn(self.torn_blocks)), ", ");
        format!("{} of {}: {how}", self.violations, experiment.tries(self.tried))
    }
}

impl Why {
    fn words(&self) -> String {
        let tries = |experiment: Experiment, count: u32| experiment.tries(count);
        match self {
            Self::NeverTried => "never tried".to_owned(),
            Self::OtherVersions(versions) => {
                let versions = versions.iter().map(|version| text::clipped(version, 60));
                format!("tried with another version, {}", text::joined(versions, " and "))
            }
            Self::NoPowerCut(kills) => {
                let kills = tries(Experiment::Kill, *kills);
                format!("no violation in {kills}, and its power was not cut")
            }
            Self::NoKill(states) => {
                let states = tries(Experiment::PowerCut, *states);
                format!("no violation in {states} after a power cut, and it was not killed")
            }
        }
    }
}

/// Of every engine in every tier of a result what that rests on, in the order of the cells. A
/// reference promises nothing, and a server given by its URL has settings that nobody tried.
pub(crate) fn of(file: &ResultFile, record: &Record) -> Vec<Told> {
    let mut all: Vec<Told> = Vec::new();
    for cell in file.cells.iter().filter(|cell| !cell.reference) {
        let (engine, tier) = (&cell.id.engine, cell.id.durability);
        let known = all.iter().any(|told| told.engine == *engine && told.tier == tier);
        let version = cell.trials.iter().find_map(|trial| trial.version.as_deref());
        let Some(version) = version.filter(|_| !known && !file.plan.urls.contains_key(engine))
        else {
            continue;
        };
        let effective = cell.effective_durability.unwrap_or(tier);
        let own = file.plan.configurations.get(engine);
        let subject = own.map_or_else(|| engine.clone(), Configuration::subject);
        let told = Told::of(record, engine, &subject, version, tier, effective);
        // No manual speaks of a configuration: what was not tried is its author's word.
        let by_author = |told: &Told| {
            own.is_some_and(Configuration::has_settings)
                && matches!(told.standing, Standing::ByManual(_))
        };
        all.extend(told.filter(|told| !by_author(told)));
    }
    all
}

/// The same of every engine that a run of `embermark durability` tried, from that run alone.
pub(crate) fn of_run(run: &Outcome) -> Vec<Told> {
    let record = Record::of(run.clone());
    let of = |one: &Tested| {
        let (name, subject) = (&one.engine, one.subject());
        Told::of(&record, name, &subject, &one.version, one.durability, one.effective())
    };
    distinct(run.tested.iter().filter_map(of))
}

/// Marks the engines that broke what their tier promises.
pub(crate) fn mark(comparison: &mut Comparison<'_>, all: &[Told]) {
    for group in &mut comparison.groups {
        for engine in &mut group.engines {
            let is = |told: &Told| told.engine == engine.id && told.tier == group.durability;
            engine.broken = all.iter().any(|told| is(told) && told.standing.is_broken());
        }
    }
}

/// Says of the engines of advice on these results which broke what their tier promises.
pub fn mark_advice(tables: &mut AdviceTables, files: &[&ResultFile], record: &Record) {
    let mut all = files.iter().flat_map(|file| of(file, record)).collect::<Vec<_>>();
    all.retain(|told| told.standing.is_broken());
    for entry in tables.tables.iter_mut().flat_map(|table| &mut table.engines) {
        let is = |told: &&Told| told.engine == entry.engine && told.tier == entry.tier;
        entry.broken = all.iter().find(is).map(|told| told.says.clone());
    }
}

/// A line for each tier and each thing that is said of it.
pub(crate) fn notes(all: &[Told]) -> Vec<Note> {
    let name = |told: &Told| match &told.standing {
        Standing::Shown(shown) => format!("{} {}", told.name(), text::clipped(&shown.version, 60)),
        Standing::ByManual(_) => told.name(),
    };
    let mut said = text::by_key(all.iter().map(|told| ((told.tier, &*told.says), name(told))));
    said.sort_by_key(|((tier, _), _)| *tier);
    let line = |((tier, says), engines): ((Durability, &str), Vec<String>)| {
        note(tier.name(), format!("{}: {says}", engines.join(", ")))
    };
    said.into_iter().map(line).collect()
}

/// More engines than this are counted, where a line has no room for their names.
const MOST_NAMED: usize = 4;

/// `durability process: shown for sqlite, lmdb (20 kills at least); by its manual for postgres`. Of many that it is shown
/// for: `shown for the 9 others`.
pub(crate) fn in_short(tier: Durability, all: &[Told]) -> Option<String> {
    let words = [("broken", "BROKEN by"), ("shown", "shown for"), ("manual", "by its manual for")];
    let of_tier = || all.iter().filter(|told| told.tier == tier);
    let parts = words.into_iter().filter_map(|(word, says)| {
        let own = || of_tier().filter(|told| told.standing.word() == word);
        let count = own().count();
        let engines = match word == "shown" && count > MOST_NAMED {
            true if count == of_tier().count() => format!("all {count}"),
            true => format!("the {count} others"),
            false => text::joined(own().map(Told::name), ", "),
        };
        let least = if word == "shown" { least(own()) } else { String::new() };
        (!engines.is_empty()).then(|| format!("{says} {engines}{least}"))
    });
    // What is counted as the others comes after all that are named.
    let mut parts: Vec<String> = parts.collect();
    parts.sort_by_key(|part| part.contains(" others"));
    (!parts.is_empty()).then(|| format!("durability {tier}: {}", parts.join("; ")))
}

/// ` (20 kills and 75 states at least)`: the fewest tries that something was shown by.
fn least<'a>(all: impl Iterator<Item = &'a Told>) -> String {
    let tries = all.filter_map(|told| match &told.standing {
        Standing::Shown(shown) => Some((shown.kills.tried, shown.states.tried)),
        Standing::ByManual(_) => None,
    });
    let fewest = tries.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)));
    let Some((kills, states)) = fewest else { return String::new() };
    let states = (states > 0).then(|| Experiment::PowerCut.tries(states));
    let tries = [Experiment::Kill.tries(kills)].into_iter().chain(states);
    format!(" ({} at least)", text::joined(tries, " and "))
}

impl Told {
    fn of(
        record: &Record,
        engine: &str,
        subject: &str,
        version: &str,
        tier: Durability,
        effective: Durability,
    ) -> Option<Self> {
        let standing = record.standing(subject, version, tier, effective)?;
        let (engine, version) = (engine.to_owned(), version.to_owned());
        Some(Self { engine, version, tier, says: standing.words(), standing })
    }

    fn name(&self) -> String {
        text::plain(&self.engine)
    }
}
