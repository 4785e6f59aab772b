//! Durability tests, as data of the page: for the engines of a run's results, or all tests of a run
//! of `embermark durability`.

use std::collections::BTreeMap;

use embermark_model::Durability;
use embermark_model::durability_result::{
    CommitIo, Example, Experiment, Loss, Outcome, Tested, Verdict,
};
use serde::Serialize;

use crate::evidence::{self, Record, TierStanding};
use crate::grid::Annotated;
use crate::note::{Note, note};
use crate::notes::storage::imitated;
use crate::text;

/// Longest message of an example that is shown, in characters. The result file has all of it.
const LONGEST_MESSAGE: usize = 500;

/// Tests of durability, and the evidence for each tier.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Durability"))]
pub struct DurabilityData {
    /// Ways in which a try can end, in display order.
    verdicts: Vec<VerdictData>,
    /// Evidence for each tier of each engine.
    standings: Vec<TierStanding>,
    /// Each experiment with each engine in each tier.
    tested: Vec<TestedData>,
    /// What engines did when their disk was full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    full_disk: Option<Annotated>,
    /// Where and when the tests ran, and what was not tested.
    notes: Vec<Note>,
}

/// A way in which a try can end.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "VerdictFacts"))]
struct VerdictData {
    /// Its id.
    id: Verdict,
    /// Its name.
    name: &'static str,
    /// Whether a tier that survives the experiment rules it out.
    is_violation: bool,
}

/// One experiment with one engine in one tier. Absent means not measured, never zero.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Tested"))]
struct TestedData {
    /// The engine's id, or the name of a configuration.
    engine: String,
    /// The engine's version.
    version: String,
    /// The requested tier.
    tier: Durability,
    /// The tier that its setting provides, if it differs from the requested one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    effective_durability: Option<Durability>,
    /// The experiment.
    experiment: Experiment,
    /// Number of the run if there are several. The first of the notes is about run 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<usize>,
    /// File system of the database whose power was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file_system: Option<String>,
    /// Whether the tier promises to survive it.
    promised: bool,
    /// The number of tries: states, kills or full disks.
    tried: u32,
    /// The number of tries that broke the promise.
    violations: u32,
    /// The number of tries by how they ended.
    verdicts: BTreeMap<Verdict, u32>,
    /// The findings as text.
    found: String,
    /// Acknowledged commits that were lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loss: Option<Loss>,
    /// Median time to open the database afterwards, in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open_ns: Option<u64>,
    /// Median time to open the database after a clean close, in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    clean_open_ns: Option<u64>,
    /// Average I/O of a commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    commit: Option<CommitIo>,
    /// An example of each verdict other than `holds`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    examples: Vec<ExampleData>,
}

/// A try that did not hold.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Example"))]
struct ExampleData {
    verdict: Verdict,
    of: String,
    acknowledged: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kept: Option<String>,
}

impl DurabilityData {
    /// Returns the tests of the engines of results. `None` if none of their tiers promises
    /// anything.
    pub(super) fn from_results(standings: Vec<TierStanding>, record: &Record) -> Option<Self> {
        let mut runs: Vec<&Outcome> = Vec::new();
        let (mut tested, mut filled) = (Vec::new(), Vec::new());
        let standings = text::unique(standings);
        let engines = standings.iter().map(|one| (&*one.engine, &*one.version));
        for (engine, version) in text::unique(engines) {
            for (run, one) in record.tested(engine, version) {
                let place = runs.iter().position(|known| std::ptr::eq(*known, run));
                let place = place.unwrap_or_else(|| {
                    runs.push(run);
                    runs.len() - 1
                });
                tested.push(TestedData { run: Some(place + 1), ..TestedData::new(run, one) });
                filled.push(one);
            }
        }
        let mut notes: Vec<Note> = runs.iter().map(|run| about(run, record.ships(run))).collect();
        if runs.len() > 1 {
            for (note, number) in notes.iter_mut().zip(1..) {
                note.about = format!("run {number}, {}", note.about);
            }
        } else {
            tested.iter_mut().for_each(|one| one.run = None);
        }
        let full_disk = evidence::full_disk(filled);
        (!standings.is_empty()).then(|| Self::with(standings, tested, full_disk, notes))
    }

    /// Returns everything of a run.
    pub(super) fn from_run(run: &Outcome) -> Self {
        let tested = run.tested.iter().map(|one| TestedData::new(run, one));
        let mut notes = vec![about(run, false)];
        let not_tried = text::by_key(run.not_tried.iter().map(|not| {
            let (engine, experiment) = (text::plain(&not.engine), not.experiment.name());
            let what = if not.failed { "failed" } else { "not tried" };
            ((what, &not.why), format!("{engine} {}, {experiment}", not.durability))
        }));
        notes.extend(not_tried.into_iter().map(|((what, why), all)| {
            note(what, format!("{}: {}", all.join("; "), text::plain(why)))
        }));
        let full_disk = evidence::full_disk(&run.tested);
        Self::with(evidence::run_standings(run), tested.collect(), full_disk, notes)
    }

    fn with(
        standings: Vec<TierStanding>,
        mut tested: Vec<TestedData>,
        full_disk: Option<Annotated>,
        notes: Vec<Note>,
    ) -> Self {
        // The strongest tier first. Engines keep their order in a tier.
        tested.sort_by_key(|one| std::cmp::Reverse(one.tier));
        let verdicts = Verdict::ALL.map(|(id, name)| {
            let is_violation = id.is_violation();
            VerdictData { id, name, is_violation }
        });
        Self { verdicts: verdicts.into(), standings, tested, full_disk, notes }
    }
}

/// Describes a run: its time, its machine and its settings.
fn about(run: &Outcome, is_shipped: bool) -> Note {
    let head = &run.head;
    let stretched = (head.over_s > 0).then(|| format!("commits over {} s", head.over_s));
    let parts = [text::plain(&head.kernel), text::plain(&head.file_system)].into_iter();
    let storage = head.storage.as_ref().map(|storage| imitated(storage.name.as_str()));
    let parts = parts.chain(stretched).chain(storage).chain([format!("seed {}", head.seed)]);
    let mut says = text::joined(parts, ", ");
    if is_shipped {
        says += "; embermark's own record, of another machine than the figures above";
    }
    note(text::plain(&head.begun), says)
}

impl TestedData {
    fn new(run: &Outcome, tested: &Tested) -> Self {
        let cut = tested.experiment == Experiment::PowerCut;
        Self {
            engine: text::plain(&tested.engine),
            version: text::clipped(&tested.version, 200),
            tier: tested.durability,
            effective_durability: tested.effective_durability,
            experiment: tested.experiment,
            run: None,
            file_system: cut.then(|| text::plain(&run.head.file_system)),
            promised: tested.is_promised(),
            tried: tested.tried,
            violations: tested.violations(),
            verdicts: tested.verdicts.clone(),
            found: evidence::findings_text(tested),
            loss: tested.loss,
            open_ns: tested.open_ns,
            clean_open_ns: tested.clean_open_ns,
            commit: tested.commit,
            examples: tested.examples.iter().map(ExampleData::new).collect(),
        }
    }
}

impl ExampleData {
    fn new(example: &Example) -> Self {
        let kept = example.kept.as_ref().map(|kept| text::plain(&kept.display().to_string()));
        Self {
            verdict: example.verdict,
            of: text::plain(&example.of),
            acknowledged: example.acknowledged,
            last: example.last,
            message: example.message.as_ref().map(|said| text::clipped(said, LONGEST_MESSAGE)),
            kept,
        }
    }
}
