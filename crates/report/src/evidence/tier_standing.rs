//! Evidence for durability as text, and its places in reports.

use embermark_model::durability_result::{Exhaustive, Experiment, Outcome, Tested, Verdict};
use embermark_model::result::ResultFile;
use embermark_model::{Configuration, Durability};
use serde::Serialize;

use super::{Record, Shown, Standing, Tries, Why};
use crate::advise::AdviceTables;
use crate::format;
use crate::note::{Note, note};
use crate::summary::{self, Comparison, Group};
use crate::text;

/// Evidence for a tier of an engine of a result.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct TierStanding {
    /// The engine's id, or the name of a configuration.
    pub engine: String,
    /// The engine's version.
    pub version: String,
    /// The tier.
    pub tier: Durability,
    /// The evidence as text: [`Standing::words`].
    pub says: String,
    #[serde(flatten)]
    pub standing: Standing,
}

/// Formats the findings of an experiment, including those beyond the tries of the engine.
pub fn findings_text(tested: &Tested) -> String {
    let mut words = findings(tested, &format!(" in {}", tested.experiment.tries(tested.tried)));
    if tested.not_mounted > 0 {
        let were = if tested.not_mounted == 1 { "was" } else { "were" };
        words.push(format!("{} more {were} not mounted", tested.not_mounted));
    }
    if let Some(Exhaustive { works, states, .. }) = tested.exhaustive {
        let [states, works] = [(states, "state"), (works, "short work")]
            .map(|(count, noun)| format::counted(u64::from(count), noun));
        words.push(format!("exhaustive: {states} of {works}"));
    }
    words.join(", ")
}

/// Formats how often a verdict was found: `3 × does not open`.
fn times(count: u32, verdict: Verdict) -> String {
    format!("{count} × {}", verdict.name())
}

/// Lists how the tries of an experiment ended. Findings that break no promise are in brackets. If
/// nothing was found, `tries` follows.
pub fn findings(tested: &Tested, tries: &str) -> Vec<String> {
    let finding = |(verdict, count): (&Verdict, &u32)| {
        let finding = times(*count, *verdict);
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
    /// Returns one word: `shown`, `broken` or `manual`.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Shown(_) if self.is_broken() => "broken",
            Self::Shown(_) => "shown",
            Self::ByManual(_) => "manual",
        }
    }

    /// Formats the evidence: `shown: no violation in 100 kills and 375 states (ext4, 2026-11-22)`,
    /// `broken: 6 of 375 states: …`, `by its manual: never tried`. The engine's version is not part
    /// of it.
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
    /// Formats violations: `6 of 375 states: 3 × a hole, 3 × corrupt rows, 6 of them by a torn
    /// block`.
    fn broken(&self, experiment: Experiment) -> String {
        let how = self.verdicts.iter().map(|(how, count)| times(*count, *how));
        let how = text::joined(how.chain(torn(self.torn_blocks)), ", ");
        format!("{} of {}: {how}", self.violations, experiment.tries(self.tried))
    }
}

impl Why {
    fn words(&self) -> String {
        match self {
            Self::NeverTried => "never tried".to_owned(),
            Self::OtherVersions(versions) => {
                let versions = versions.iter().map(|version| text::clipped(version, 60));
                format!("tried with another version, {}", text::joined(versions, " and "))
            }
            Self::NoPowerCut(kills) => {
                let kills = Experiment::Kill.tries(*kills);
                format!("no violation in {kills}, and its power was not cut")
            }
            Self::NoKill(states) => {
                let states = Experiment::PowerCut.tries(*states);
                format!("no violation in {states} after a power cut, and it was not killed")
            }
        }
    }
}

/// Returns the evidence for every engine in every tier of a result, in the order of the cells.
/// References are left out because they promise nothing. Servers given by their URL are left out
/// because their settings were not tested.
pub(crate) fn tier_standings(file: &ResultFile, record: &Record) -> Vec<TierStanding> {
    let mut all: Vec<TierStanding> = Vec::new();
    for cell in file.cells.iter().filter(|cell| !cell.reference) {
        let (engine, tier) = (&cell.id.engine, cell.id.durability);
        let known = all.iter().any(|one| one.engine == *engine && one.tier == tier);
        let version = cell.trials.iter().find_map(|trial| trial.version.as_deref());
        let by_url = file.plan.urls.contains_key(engine);
        let Some(version) = version.filter(|_| !known && !by_url) else { continue };
        let effective = cell.effective_durability.unwrap_or(tier);
        let own = file.plan.configurations.get(engine);
        let subject = own.map_or_else(|| engine.clone(), Configuration::subject);
        let Some(standing) = record.standing(&subject, version, tier, effective) else { continue };
        // A manual does not cover a configuration. Without tests there is only its author's claim.
        let is_by_manual = matches!(standing, Standing::ByManual(_));
        if !(is_by_manual && own.is_some_and(Configuration::has_settings)) {
            all.push(TierStanding::new(engine, version, tier, standing));
        }
    }
    all
}

/// Returns the evidence for every engine in a run of `embermark durability`, from only that run.
pub(crate) fn run_standings(run: &Outcome) -> Vec<TierStanding> {
    let record = Record::from_run(run.clone());
    let of = |one: &Tested| {
        let (version, tier) = (&one.version, one.durability);
        let standing = record.standing(&one.subject(), version, tier, one.effective())?;
        Some(TierStanding::new(&one.engine, version, tier, standing))
    };
    text::unique(run.tested.iter().filter_map(of))
}

/// Returns what the tests found for an engine that broke the promise of a tier.
pub(crate) fn broken<'a>(
    all: &'a [TierStanding],
    engine: &str,
    tier: Durability,
) -> Option<&'a str> {
    let mut own = all.iter().filter(|one| one.engine == engine && one.tier == tier);
    own.find(|one| one.standing.is_broken()).map(|one| one.says.as_str())
}

/// Returns the evidence for a tier of an engine as text.
pub(crate) fn of_tier(all: &[TierStanding], engine: &str, tier: Durability) -> Option<String> {
    let own = all.iter().find(|one| one.engine == engine && one.tier == tier);
    own.map(|one| one.says.clone())
}

/// Compares the engines of a result, with those that broke a promise marked. Returns what is known
/// about the tiers too.
pub(crate) fn compare<'a>(
    file: &'a ResultFile,
    order: &[&str],
    record: &Record,
) -> (Comparison<'a>, Vec<TierStanding>) {
    let mut comparison = summary::compare(file, order);
    let standings = tier_standings(file, record);
    for Group { engines, rows, durability, .. } in &mut comparison.groups {
        for engine in engines.iter_mut() {
            engine.broken = broken(&standings, engine.id, *durability).is_some();
        }
        // They do not compete, so the ratios of the others are to the best of the rest.
        if engines.iter().any(|engine| engine.broken) {
            rows.iter_mut().for_each(|row| summary::rank(row, engines.as_slice(), *durability));
        }
    }
    (comparison, standings)
}

/// Marks the engines of advice that broke the promise of their tier, and leaves them out of its
/// ratios.
pub fn mark_advice(tables: &mut AdviceTables, files: &[&ResultFile], record: &Record) {
    let all = files.iter().flat_map(|file| tier_standings(file, record)).collect::<Vec<_>>();
    for table in &mut tables.tables {
        table.leave_out_unfit(|entry| broken(&all, &entry.engine, entry.tier).map(str::to_owned));
    }
}

/// Returns a note for each tier and each text.
pub(crate) fn notes(all: &[TierStanding]) -> Vec<Note> {
    let name = |one: &TierStanding| match &one.standing {
        Standing::Shown(shown) => format!("{} {}", one.name(), text::clipped(&shown.version, 60)),
        Standing::ByManual(_) => one.name(),
    };
    let mut said = text::by_key(all.iter().map(|one| ((one.tier, &*one.says), name(one))));
    said.sort_by_key(|((tier, _), _)| *tier);
    let line = |((tier, says), engines): ((Durability, &str), Vec<String>)| {
        note(tier.name(), format!("{}: {says}", engines.join(", ")))
    };
    said.into_iter().map(line).collect()
}

/// Largest number of engines that are named. If there are more, a line has their number.
const MOST_NAMED: usize = 4;

/// Formats a tier in one line: `durability process: shown for sqlite, lmdb (20 kills at least); by
/// its manual for postgres`. If there are many engines: `shown for the 9 others`.
pub(crate) fn summary_line(tier: Durability, all: &[TierStanding]) -> Option<String> {
    let words = [("broken", "BROKEN by"), ("shown", "shown for"), ("manual", "by its manual for")];
    let of_tier = || all.iter().filter(|one| one.tier == tier);
    let parts = words.into_iter().filter_map(|(word, says)| {
        let own = || of_tier().filter(|one| one.standing.word() == word);
        let count = own().count();
        let engines = match word == "shown" && count > MOST_NAMED {
            true if count == of_tier().count() => format!("all {count}"),
            true => format!("the {count} others"),
            false => text::joined(own().map(TierStanding::name), ", "),
        };
        let least = if word == "shown" { least(own()) } else { String::new() };
        (!engines.is_empty()).then(|| format!("{says} {engines}{least}"))
    });
    // `the 9 others` follows everything that is named.
    let mut parts: Vec<String> = parts.collect();
    parts.sort_by_key(|part| part.contains(" others"));
    (!parts.is_empty()).then(|| format!("durability {tier}: {}", parts.join("; ")))
}

/// Formats the smallest number of tries: ` (20 kills and 75 states at least)`.
fn least<'a>(all: impl Iterator<Item = &'a TierStanding>) -> String {
    let tries = all.filter_map(|one| match &one.standing {
        Standing::Shown(shown) => Some((shown.kills.tried, shown.states.tried)),
        Standing::ByManual(_) => None,
    });
    let fewest = tries.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)));
    let Some((kills, states)) = fewest else { return String::new() };
    let states = (states > 0).then(|| Experiment::PowerCut.tries(states));
    let tries = [Experiment::Kill.tries(kills)].into_iter().chain(states);
    format!(" ({} at least)", text::joined(tries, " and "))
}

impl TierStanding {
    fn new(engine: &str, version: &str, tier: Durability, standing: Standing) -> Self {
        let (engine, version) = (engine.to_owned(), version.to_owned());
        Self { engine, version, tier, says: standing.words(), standing }
    }

    fn name(&self) -> String {
        text::plain(&self.engine)
    }
}
