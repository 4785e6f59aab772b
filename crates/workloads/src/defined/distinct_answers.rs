//! The distinct answers to a repeated question, which are compared after a run.

use std::collections::HashSet;

use embermark_language::Work;

use super::port::OperationResults;

/// The distinct answers to a repeated question.
#[derive(Debug, Default)]
pub(super) struct DistinctAnswers {
    digests: HashSet<u64>,
    /// Each with the number of its request.
    answers: Vec<(usize, OperationResults)>,
}

/// Largest number of answers to keep. A sum computed in another order each time differs each time.
const MOST_KEPT: usize = 256;

/// Most values of a short answer.
const SHORT: usize = 64;

impl DistinctAnswers {
    /// Keeps an answer, unless an earlier request had the same. Of answers to SQL questions only
    /// the last is compared.
    #[inline]
    pub(super) fn see(&mut self, work: &Work, request: usize, found: &OperationResults) {
        let is_sql = matches!(work, Work::Sql(_));
        if !is_sql && self.answers.len() < MOST_KEPT && self.digests.insert(found.digest()) {
            self.answers.push((request, found.clone()));
        }
    }

    /// Keeps an answer as [`see`](Self::see) does if it is short: to hash a long one would cost the
    /// repetition more than nanoseconds.
    #[inline]
    pub(super) fn see_short(&mut self, work: &Work, request: usize, found: &OperationResults) {
        if found.result.len() <= SHORT {
            self.see(work, request, found);
        }
    }

    /// Forgets all answers.
    pub(super) fn clear(&mut self) {
        self.digests.clear();
        self.answers.clear();
    }

    /// Returns the answers, each with the number of its request.
    pub(super) fn answers(&self) -> &[(usize, OperationResults)] {
        &self.answers
    }
}
