//! What the tries of an experiment showed, gathered as they end.

use std::collections::BTreeMap;

use crate::look::Looked;
use crate::oracle::{Promised, Verdict};
use crate::outcome::{Example, Loss, Tested};

/// What was lost in a try.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub(crate) struct Lost {
    /// Acknowledged commits.
    pub commits: u64,
    /// For how long the oldest had been acknowledged.
    pub ms: f64,
    /// Whether there was no other.
    pub everything: bool,
}

/// What tries showed, with something to keep of each example.
#[derive(Debug)]
pub(crate) struct Gathered<K> {
    pub tried: u32,
    pub second: u32,
    pub not_mounted: u32,
    pub torn_blocks: u32,
    verdicts: BTreeMap<Verdict, u32>,
    lost: Vec<Lost>,
    opened: Vec<u64>,
    clean: Vec<u64>,
    examples: BTreeMap<Verdict, (Example, K)>,
}

impl<K> Default for Gathered<K> {
    fn default() -> Self {
        let (verdicts, examples) = (BTreeMap::new(), BTreeMap::new());
        let (lost, opened, clean) = (Vec::new(), Vec::new(), Vec::new());
        let (tried, second, not_mounted, torn_blocks) = (0, 0, 0, 0);
        Self { tried, second, not_mounted, torn_blocks, verdicts, lost, opened, clean, examples }
    }
}

impl<K> Gathered<K> {
    /// One try: which, what had been promised, what was seen, and what was lost where that can be
    /// said. `keep` makes what is kept of an example, should it be one.
    pub(crate) fn add(
        &mut self,
        of: impl FnOnce() -> String,
        promised: &[Promised],
        looked: Looked,
        lost: Option<Lost>,
        keep: impl FnOnce() -> K,
    ) {
        self.tried += 1;
        let verdict = looked.verdict;
        *self.verdicts.entry(verdict).or_default() += 1;
        self.lost.extend(lost);
        self.opened.extend(looked.open_ns);
        let client = looked.client;
        let acknowledged = promised.get(client).map_or(0, |promised| promised.acknowledged);
        let known = self.examples.get(&verdict);
        let smaller = known.is_none_or(|(known, _)| acknowledged < known.acknowledged);
        if verdict != Verdict::Holds && smaller {
            let of = match promised.len() {
                ..=1 => of(),
                _ => format!("{}; client {}", of(), client + 1),
            };
            let last = looked.last.and_then(|last| last.get(client).copied());
            let message = looked.message;
            let example = Example { verdict, of, acknowledged, last, message, kept: None };
            self.examples.insert(verdict, (example, keep()));
        }
    }

    /// How long it took to open a database that was closed.
    pub(crate) fn opened_clean(&mut self, ns: Option<u64>) {
        self.clean.extend(ns);
    }

    /// The whole; `kept` is handed what was kept of each example, to say where it is.
    pub(crate) fn ended<E>(
        self,
        of: Tested,
        mut kept: impl FnMut(&Example, K) -> Result<Option<std::path::PathBuf>, E>,
    ) -> Result<Tested, E> {
        let examples = self.examples.into_values().map(|(example, keep)| {
            let kept = kept(&example, keep)?;
            Ok(Example { kept, ..example })
        });
        Ok(Tested {
            tried: self.tried,
            second: self.second,
            not_mounted: self.not_mounted,
            torn_blocks: self.torn_blocks,
            verdicts: self.verdicts,
            loss: loss(self.lost),
            open_ns: median(self.opened),
            clean_open_ns: median(self.clean),
            examples: examples.collect::<Result<_, _>>()?,
            ..of
        })
    }
}

/// The window of loss, where something was lost.
fn loss(lost: Vec<Lost>) -> Option<Loss> {
    let worst = lost.iter().copied().max_by(|a, b| a.commits.cmp(&b.commits))?;
    let median_commits = median(lost.iter().map(|lost| lost.commits).collect())?;
    let mut ms: Vec<f64> = lost.iter().map(|lost| lost.ms).collect();
    ms.sort_by(f64::total_cmp);
    let (median_ms, worst_ms) = (ms[ms.len() / 2], *ms.last()?);
    let (worst_commits, everything) = (worst.commits, worst.everything);
    let loss = Loss { median_commits, worst_commits, median_ms, worst_ms, everything };
    (worst_commits > 0).then_some(loss)
}

/// The upper of the two in the middle, where there are two.
fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests;
