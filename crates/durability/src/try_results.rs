//! Results of an experiment's tries, collected as they end.

use std::collections::BTreeMap;

use crate::inspection::Inspection;
use crate::oracle::{Promised, Verdict};
use crate::outcome::{Example, Loss, Tested};

/// What was lost in a try.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub(crate) struct TryLoss {
    /// Number of acknowledged commits.
    pub commits: u64,
    /// Time since the oldest was acknowledged in ms.
    pub ms: f64,
    /// Whether no acknowledged commit was left.
    pub everything: bool,
}

/// Size of an example, smallest first: whether a block was torn, which a device need not do, and
/// the number of acknowledged commits.
type ExampleSize = (bool, u64);

/// Results of tries, with something to keep of each example.
#[derive(Debug)]
pub(crate) struct TryResults<K> {
    /// The result without what follows from the tries together.
    pub tested: Tested,
    lost: Vec<TryLoss>,
    opened: Vec<u64>,
    clean: Vec<u64>,
    /// One per verdict, with the size that determines which of several is kept.
    examples: BTreeMap<Verdict, (ExampleSize, Example, K)>,
    latest: Option<Verdict>,
}

impl<K> TryResults<K> {
    /// Makes the results before the first try, with what is known about the outcome.
    pub(crate) fn new(tested: Tested) -> Self {
        let (lost, opened, clean) = (Vec::new(), Vec::new(), Vec::new());
        Self { tested, lost, opened, clean, examples: BTreeMap::new(), latest: None }
    }

    /// Adds a try: its name, whether a block was torn, what had been promised, what was seen, and
    /// what was lost if that can be determined. `keep` makes what is kept of the try if it becomes
    /// an example.
    pub(crate) fn add(
        &mut self,
        of: impl FnOnce() -> String,
        torn: bool,
        promised: &[Promised],
        inspection: Inspection,
        lost: Option<TryLoss>,
        keep: impl FnOnce() -> K,
    ) {
        self.tested.tried += 1;
        let verdict = inspection.verdict;
        *self.tested.verdicts.entry(verdict).or_default() += 1;
        self.latest = Some(verdict);
        self.lost.extend(lost);
        // Without a table, opening it makes one.
        let is_made = promised.iter().any(|promised| promised.acknowledged > 0);
        self.opened.extend(inspection.open_ns.filter(|_| is_made));
        let client = inspection.client;
        let acknowledged = promised.get(client).map_or(0, |promised| promised.acknowledged);
        let (small, known) = ((torn, acknowledged), self.examples.get(&verdict));
        let smaller = known.is_none_or(|(known, ..)| small < *known);
        if verdict != Verdict::Holds && smaller {
            let of = match promised.len() {
                ..=1 => of(),
                _ => format!("{}; client {}", of(), client + 1),
            };
            let last = inspection.last.and_then(|last| last.get(client).copied());
            let message = inspection.message;
            let example = Example { verdict, of, acknowledged, last, message, kept: None };
            self.examples.insert(verdict, (small, example, keep()));
        }
    }

    /// Removes the verdict on the latest try, so that another one can replace it.
    pub(crate) fn remove_latest(&mut self) {
        let Some(latest) = self.latest.take() else { return };
        self.tested.tried -= 1;
        if let Some(count) = self.tested.verdicts.get_mut(&latest) {
            *count -= 1;
        }
        self.tested.verdicts.retain(|_, count| *count > 0);
    }

    /// Whether a try has ended in a violation.
    pub(crate) fn has_violation(&self) -> bool {
        self.tested.verdicts.keys().any(|verdict| verdict.is_violation())
    }

    /// Adds the time to open a database that was closed.
    pub(crate) fn add_clean_open(&mut self, ns: Option<u64>) {
        self.clean.extend(ns);
    }

    /// Returns the whole result. `kept` receives what was kept of each example and returns where it
    /// is.
    pub(crate) fn into_tested<E>(
        self,
        mut kept: impl FnMut(&Example, K) -> Result<Option<std::path::PathBuf>, E>,
    ) -> Result<Tested, E> {
        let examples = self.examples.into_values().map(|(_, example, keep)| {
            let kept = kept(&example, keep)?;
            Ok(Example { kept, ..example })
        });
        Ok(Tested {
            loss: loss(self.lost),
            open_ns: median(self.opened),
            clean_open_ns: median(self.clean),
            examples: examples.collect::<Result<_, _>>()?,
            ..self.tested
        })
    }
}

/// Returns the window of loss, if something was lost.
fn loss(lost: Vec<TryLoss>) -> Option<Loss> {
    let worst = lost.iter().copied().max_by(|a, b| a.commits.cmp(&b.commits))?;
    let median_commits = median(lost.iter().map(|lost| lost.commits).collect())?;
    let mut ms: Vec<f64> = lost.iter().map(|lost| lost.ms).collect();
    ms.sort_by(f64::total_cmp);
    let (median_ms, worst_ms) = (ms[ms.len() / 2], *ms.last()?);
    let (worst_commits, everything) = (worst.commits, worst.everything);
    let loss = Loss { median_commits, worst_commits, median_ms, worst_ms, everything };
    (worst_commits > 0).then_some(loss)
}

/// Returns the median: the upper one of the two in the middle for an even number.
fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use embermark_model::Durability;

    use super::*;
    use crate::outcome::Experiment;

    fn inspection(verdict: Verdict) -> Inspection {
        Inspection { verdict, client: 0, last: None, open_ns: Some(5), message: None }
    }

    fn tested() -> Tested {
        Tested {
            engine: "one".to_owned(),
            configuration: None,
            version: String::new(),
            durability: Durability::Power,
            effective_durability: None,
            experiment: Experiment::PowerCut,
            tried: 0,
            second: 0,
            not_mounted: 0,
            torn_blocks: 0,
            exhaustive: None,
            verdicts: BTreeMap::new(),
            loss: None,
            open_ns: None,
            clean_open_ns: None,
            commit: None,
            full_disk: None,
            took_ms: 0,
            examples: Vec::new(),
        }
    }

    #[test]
    fn the_window_of_loss_is_over_all_tries_and_one_without_a_loss_has_none() {
        let lost = |commits, ms| TryLoss { commits, ms, everything: commits == 9 };
        let all = [0, 0, 2, 3, 9].map(|n| lost(n, n as f64 * 10.0)).to_vec();
        let window = loss(all).unwrap();
        assert_eq!((window.median_commits, window.worst_commits), (2, 9));
        assert_eq!((window.median_ms, window.worst_ms, window.everything), (20.0, 90.0, true));
        assert_eq!(loss(vec![lost(0, 0.0); 3]), None);
        assert_eq!(loss(Vec::new()), None);
    }

    #[test]
    fn of_each_verdict_the_example_with_the_fewest_commits_is_kept_and_one_without_a_torn_block_first()
     {
        let mut results = TryResults::new(tested());
        for (torn, acknowledged, verdict) in [
            (true, 1, Verdict::NotOpened),
            (false, 7, Verdict::NotOpened),
            (false, 4, Verdict::NotOpened),
            (false, 5, Verdict::NotOpened),
            (true, 0, Verdict::NotOpened),
            (false, 9, Verdict::Holds),
            (false, 0, Verdict::HalfMade),
        ] {
            let of = || format!("cut {acknowledged}");
            let promised = [Promised::after(acknowledged)];
            results.add(of, torn, &promised, inspection(verdict), None, || acknowledged);
        }
        let mut kept = Vec::new();
        let tested = results.into_tested(|example, keep| {
            kept.push((example.verdict, keep));
            Ok::<_, ()>(None)
        });
        let tested = tested.unwrap();
        kept.sort();
        assert_eq!(kept, [(Verdict::NotOpened, 4), (Verdict::HalfMade, 0)]);
        assert_eq!((tested.tried, tested.violations(), tested.open_ns), (7, 5, Some(5)));
        // What is not promised is reported but not a violation.
        let weaker = Tested { durability: Durability::Process, ..tested };
        assert_eq!((weaker.violations(), weaker.broken()), (0, 5));
    }

    #[test]
    fn the_time_to_make_a_database_is_no_time_to_open_one() {
        let mut results = TryResults::new(tested());
        for (acknowledged, ns) in [(0, 900), (0, 800), (1, 5)] {
            let opened = Inspection { open_ns: Some(ns), ..inspection(Verdict::Holds) };
            let promised = [Promised::after(acknowledged)];
            results.add(String::new, false, &promised, opened, None, || ());
        }
        let tested = results.into_tested(|_, ()| Ok::<_, ()>(None)).unwrap();
        assert_eq!(tested.open_ns, Some(5));
    }

    #[test]
    fn a_verdict_that_is_taken_back_is_not_counted() {
        let mut results = TryResults::new(tested());
        for verdict in [Verdict::Holds, Verdict::LostCommits, Verdict::Holds] {
            results.add(String::new, false, &[], inspection(verdict), None, || ());
        }
        results.remove_latest();
        results.add(String::new, false, &[], inspection(Verdict::CheckFailed), None, || ());
        results.remove_latest();
        results.remove_latest(); // the one before stays
        let tested = results.into_tested(|_, ()| Ok::<_, ()>(None)).unwrap();
        assert_eq!(tested.tried, 2);
        let verdicts = [(Verdict::Holds, 1), (Verdict::LostCommits, 1)];
        assert_eq!(tested.verdicts, BTreeMap::from(verdicts));
    }
}
