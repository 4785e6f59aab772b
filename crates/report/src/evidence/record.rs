//! Runs of `embermark durability` that reports use: the reader's own, and those of the record that
//! is part of embermark.

use std::path::PathBuf;

use embermark_model::Durability;
use embermark_model::durability_result::{Outcome, Tested};

use super::{Standing, Why};
use crate::{ReportError, text};

/// The record that is part of embermark: result files without examples and without the list of what
/// was not tried. `embermark durability-record` writes it.
const SHIPPED: &str = include_str!("../../durability/record.json");

/// Runs of `embermark durability`.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Runs of the reader.
    pub(super) own: Vec<Outcome>,
    /// Runs that are part of embermark.
    pub(super) shipped: Vec<Outcome>,
}

/// Origin of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Run by the reader.
    Own,
    /// Part of embermark.
    Shipped,
}

/// A record without runs.
static EMPTY: Record = Record { own: Vec::new(), shipped: Vec::new() };

impl Default for &Record {
    /// Returns a record without runs.
    fn default() -> Self {
        &EMPTY
    }
}

impl Record {
    /// Combines a reader's own runs with the record that is part of embermark. If the own runs
    /// tested a tier of a version, only they count for it.
    ///
    /// # Panics
    /// If the file in the repository is not such a record, which a test rules out.
    pub fn with(own: Vec<Outcome>) -> Self {
        let shipped = serde_json::from_str(SHIPPED);
        Self { own, shipped: shipped.expect("the file of the repository is well-formed") }
    }

    /// Makes a record of one run.
    pub fn from_run(run: Outcome) -> Self {
        Self { own: vec![run], shipped: Vec::new() }
    }

    /// Returns the text of a record of these runs that can be part of embermark. Engines that
    /// `may_be_published` rejects are left out.
    ///
    /// # Errors
    /// If a value has no JSON form, which does not happen here.
    pub fn text(
        runs: Vec<Outcome>,
        may_be_published: impl Fn(&str) -> bool,
    ) -> Result<String, ReportError> {
        let line = |run: Outcome| {
            let tested: Vec<String> = run.tested.iter().map(|one| one.engine.clone()).collect();
            let mut run = run.only(|id| may_be_published(id) && tested.iter().any(|one| one == id));
            run.not_tried.clear();
            run.tested.iter_mut().for_each(|one| one.examples.clear());
            run.head.engine_libraries.retain(|id, _| may_be_published(id));
            for library in run.head.engine_libraries.values_mut() {
                library.path = library.path.file_name().map(PathBuf::from).unwrap_or_default();
            }
            serde_json::to_string(&run)
        };
        // One run per line, so that two records can be compared by eye.
        let lines = runs.into_iter().map(line).collect::<Result<Vec<_>, _>>()?;
        Ok(format!("[\n{}\n]\n", lines.join(",\n")))
    }

    /// Returns the ids of the engines that were tested.
    pub fn engines(&self) -> Vec<&str> {
        let runs = self.own.iter().chain(&self.shipped);
        text::unique(runs.flat_map(|run| &run.tested).map(|one| one.engine.as_str()))
    }

    /// Returns the evidence for a tier of an engine ([`Tested::subject`]) whose setting keeps
    /// `effective`. `None` if the tier promises nothing, or if the setting keeps less than the
    /// tier.
    pub fn standing(
        &self,
        engine: &str,
        version: &str,
        tier: Durability,
        effective: Durability,
    ) -> Option<Standing> {
        if tier == Durability::None || effective < tier {
            return None;
        }
        let mut others = Vec::new();
        let mut in_part = None;
        for runs in [&self.own, &self.shipped] {
            let tried = tests_of_tier(&tests_of_version(runs, engine, version), tier, effective);
            match Standing::from_tests(tier, version, &tried) {
                shown @ Standing::Shown(_) => return Some(shown),
                Standing::ByManual(Why::NeverTried) => {}
                by_manual => in_part = in_part.or(Some(by_manual)),
            }
            let tested = runs.iter().flat_map(|run| &run.tested);
            others.extend(
                tested.filter(|one| one.subject() == engine && !is_same(&one.version, version)),
            );
        }
        let why = match others.is_empty() {
            true => Why::NeverTried,
            false => Why::OtherVersions(text::unique(others.iter().map(|one| one.version.clone()))),
        };
        in_part.or(Some(Standing::ByManual(why)))
    }

    /// Returns the tests of an engine's version with their runs. The reader's own runs are used if
    /// they tested it.
    pub(crate) fn tested(&self, engine: &str, version: &str) -> (Vec<(&Outcome, &Tested)>, Origin) {
        let own = tests_of_version(&self.own, engine, version);
        match own.is_empty() {
            true => (tests_of_version(&self.shipped, engine, version), Origin::Shipped),
            false => (own, Origin::Own),
        }
    }
}

/// Returns the tests of an engine's version with their runs.
fn tests_of_version<'a>(
    runs: &'a [Outcome],
    engine: &str,
    version: &str,
) -> Vec<(&'a Outcome, &'a Tested)> {
    let all = runs.iter().flat_map(|run| run.tested.iter().map(move |one| (run, one)));
    all.filter(|(_, one)| one.subject() == engine && is_same(&one.version, version)).collect()
}

/// Whether two texts name one version. A running server also reports its package, which its program
/// does not: `15.18 (Debian 15.18-0+deb12u1)`, `10.11.19-MariaDB-0+deb12u1`.
fn is_same(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    long.strip_prefix(short).is_some_and(|rest| {
        let mut rest = rest.chars();
        match rest.next() {
            None => true,
            Some(' ') => !short.is_empty(),
            Some('-') => !short.is_empty() && rest.next().is_some_and(char::is_uppercase),
            Some(_) => false,
        }
    })
}

/// Returns the tests of the requested tier, or of a setting that keeps the same.
fn tests_of_tier<'a>(
    all: &[(&'a Outcome, &'a Tested)],
    tier: Durability,
    effective: Durability,
) -> Vec<(&'a Outcome, &'a Tested)> {
    let of = |is: &dyn Fn(&Tested) -> bool| {
        all.iter().copied().filter(|(_, tested)| is(tested)).collect::<Vec<_>>()
    };
    let asked = of(&|tested| tested.durability == tier && tested.effective() == effective);
    match asked.is_empty() {
        true => of(&|tested| tested.effective() == effective),
        false => asked,
    }
}
