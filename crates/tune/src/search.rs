//! The search from the current settings to better ones.

use std::time::Duration;

use embermark_model::tuning_result::{Gain, Kept, Outcome, SearchResult, Set, Tried, words};

use crate::columns::{Candidate, ColumnResult, Columns, LEAST_GAIN, gain_of};

/// Measures and tests settings.
pub trait Bench {
    /// Why it cannot continue.
    type Error;

    /// Runs this number of trials of the current settings with each of these sets added, all in
    /// turns. The first result is that of `columns[0]`. `about` says what it is for.
    ///
    /// # Errors
    /// If nothing can be measured.
    fn trials(&mut self, about: &str, columns: &[Set], times: u32) -> Result<Columns, Self::Error>;

    /// Runs trials of the current settings and of the winner at the end, which also measure their
    /// use of memory and disk.
    ///
    /// # Errors
    /// If nothing can be measured.
    fn final_trials(&mut self, winner: &Set, times: u32) -> Result<Columns, Self::Error>;

    /// Tests whether the current settings with these added keep the tier.
    ///
    /// # Errors
    /// If it cannot be tested.
    fn keeps_tier(&mut self, set: &Set) -> Result<Kept, Self::Error>;

    /// Returns the duration of the longest [test of the tier](Self::keeps_tier) so far. Zero before
    /// the first.
    fn proof_time(&self) -> Duration;

    /// Returns the remaining time.
    fn time_left(&self) -> Duration;

    /// Returns the average duration of a column's trial so far. At least one trial of the current
    /// settings preceded the search.
    fn trial_time(&self) -> Duration;
}

/// The time is too short for a first look at each candidate.
#[derive(Clone, Copy, Debug)]
pub struct TooShort {
    /// The shortest sufficient time.
    pub least: Duration,
}

/// Number of trials in the rounds of the first look: two for all, then as many again for half of
/// the candidates, and more.
const ROUNDS: [u32; 3] = [2, 2, 4];

/// Number of candidates that is not halved any more.
const LEAST_CANDIDATES: usize = 3;

/// Number of trials of a candidate that is added to what was taken.
const TRIALS_ON_TOP: u32 = 4;

/// Smallest and largest number of trials of the winner and the current settings at the end.
const FINAL_TRIALS: [u32; 2] = [6, 20];

/// Returns one set added to another.
fn merged(set: &Set, more: &Set) -> Set {
    let more = more.iter().map(|(name, value)| (name.clone(), value.clone()));
    set.clone().into_iter().chain(more).collect()
}

/// Searches for better settings than the current ones. The inner error is that the time is too
/// short and nothing was searched.
///
/// # Errors
/// If nothing can be measured.
pub fn search<B: Bench>(
    bench: &mut B,
    candidates: Vec<Set>,
) -> Result<Result<SearchResult, TooShort>, B::Error> {
    let whole = bench.time_left();
    let mut search = Search {
        candidates: candidates.into_iter().map(Candidate::new).collect(),
        whole,
        left_out: Vec::new(),
    };
    let columns = search.candidates.len() as u32 + 1;
    // A first look takes at most half of the time, and the end a quarter.
    let look = bench.trial_time() * columns * ROUNDS[0];
    let end = bench.trial_time() * 2 * FINAL_TRIALS[0];
    let least = (look * 2).max(end * 4);
    if least > whole {
        return Ok(Err(TooShort { least }));
    }
    search.first_look(bench)?;
    let (winner, kept) = search.take_gains(bench)?;
    if winner.is_empty() {
        return Ok(Ok(search.found(winner, None, kept)));
    }
    Ok(Ok(match confirm(bench, &winner)? {
        Ok(gain) => search.found(winner, Some(gain), kept),
        Err(why) => {
            search.drop_taken(&why);
            search.found(Set::new(), None, None)
        }
    }))
}

struct Search {
    candidates: Vec<Candidate>,
    whole: Duration,
    left_out: Vec<String>,
}

impl Search {
    /// Returns the indexes of the open candidates, largest gain first.
    fn open(&self) -> Vec<usize> {
        let mut open: Vec<usize> =
            (0..self.candidates.len()).filter(|at| self.candidates[*at].is_open()).collect();
        open.sort_by(|a, b| self.candidates[*b].mean().total_cmp(&self.candidates[*a].mean()));
        open
    }

    /// Whether this duration leaves this share of the time.
    fn fits<B: Bench>(&self, bench: &B, takes: Duration, leaves: f64) -> bool {
        bench.time_left() >= takes + self.whole.mul_f64(leaves)
    }

    /// Measures every candidate, and the better half again.
    fn first_look<B: Bench>(&mut self, bench: &mut B) -> Result<(), B::Error> {
        let mut open = self.open();
        for (round, times) in ROUNDS.into_iter().enumerate() {
            let trials = (open.len() as u32 + 1) * times;
            let takes = bench.trial_time() * trials;
            if open.is_empty() || (round > 0 && !self.fits(bench, takes, 0.5)) {
                break;
            }
            let plural = if open.len() == 1 { "" } else { "s" };
            let about = format!("{} candidate{plural}", open.len());
            self.measure(bench, &about, &Set::new(), &open, times)?;
            open = self.open();
            // Drops candidates that can hardly gain, and of the others the lower half.
            open.retain(|at| {
                let (mean, error) = self.candidates[*at].mean_and_error();
                2.0f64.mul_add(error, mean) > LEAST_GAIN
            });
            open.truncate(LEAST_CANDIDATES.max(open.len().div_ceil(2)));
            if open.len() <= LEAST_CANDIDATES && round > 0 {
                break;
            }
        }
        for candidate in &mut self.candidates {
            let gain = (!candidate.gains.is_empty()).then(|| candidate.mean().exp());
            candidate.first = (candidate.gains.len() as u32, gain);
        }
        // Dropped candidates are not tried in addition to others.
        for at in self.open() {
            if !open.contains(&at) {
                self.candidates[at].gains.clear();
            }
        }
        Ok(())
    }

    /// Measures candidates added to `below`, and `below` itself.
    fn measure<B: Bench>(
        &mut self,
        bench: &mut B,
        about: &str,
        below: &Set,
        candidates: &[usize],
        times: u32,
    ) -> Result<(), B::Error> {
        let own = candidates.iter().map(|at| merged(below, &self.candidates[*at].set));
        let columns: Vec<Set> = std::iter::once(below.clone()).chain(own).collect();
        let mut ended = bench.trials(about, &columns, times)?.into_iter();
        let base = match ended.next() {
            Some(ColumnResult::Times(base)) => base,
            Some(ColumnResult::Out(why)) => {
                let why = format!("what was taken did not complete the work: {why}");
                for at in candidates {
                    self.candidates[*at].outcome = Outcome::Out { why: why.clone() };
                }
                return Ok(());
            }
            None => return Ok(()),
        };
        for (at, ended) in candidates.iter().zip(ended) {
            self.candidates[*at].take(&base, ended);
        }
        Ok(())
    }

    /// Takes the best candidate that keeps the tier, and then what improves on it.
    fn take_gains<B: Bench>(&mut self, bench: &mut B) -> Result<(Set, Option<Kept>), B::Error> {
        let (mut winner, mut kept) = (Set::new(), None);
        loop {
            let Some((at, keeps)) = self.best(bench, &winner)? else { break };
            winner = merged(&winner, &self.candidates[at].set);
            kept = Some(keeps);
            self.candidates[at].outcome = Outcome::Taken;
            for candidate in self.candidates.iter_mut().filter(|candidate| candidate.is_open()) {
                if candidate.set.keys().any(|name| winner.contains_key(name)) {
                    candidate.outcome = Outcome::Instead;
                }
            }
            let mut open = self.open();
            open.retain(|at| self.candidates[*at].mean() > 0.0);
            for at in 0..self.candidates.len() {
                self.candidates[at].gains.clear();
            }
            if open.is_empty() {
                break;
            }
            // What gains there must be tested, too.
            let trials = (open.len() as u32 + 1) * TRIALS_ON_TOP;
            let takes = bench.trial_time() * trials + bench.proof_time();
            if !self.fits(bench, takes, 0.25) {
                let names: Vec<String> =
                    open.iter().map(|at| words(&self.candidates[*at].set)).collect();
                self.left_out.push(format!("on top of what was taken: {}", names.join("; ")));
                break;
            }
            self.measure(bench, "on top of what was taken", &winner, &open, TRIALS_ON_TOP)?;
            for at in open {
                if self.candidates[at].is_open() && !self.candidates[at].is_gain() {
                    self.candidates[at].outcome = Outcome::NotOnTop;
                }
            }
        }
        Ok((winner, kept))
    }

    /// Returns the candidate that gains most in addition to `below` and keeps the tier.
    fn best<B: Bench>(
        &mut self,
        bench: &mut B,
        below: &Set,
    ) -> Result<Option<(usize, Kept)>, B::Error> {
        let mut open = self.open();
        open.retain(|at| self.candidates[*at].is_gain());
        for at in open {
            let takes = bench.proof_time();
            if takes > Duration::ZERO && !self.fits(bench, takes, 0.25) {
                let set = words(&self.candidates[at].set);
                self.left_out.push(format!("the test whether {set} keeps the tier"));
                break;
            }
            match bench.keeps_tier(&merged(below, &self.candidates[at].set))? {
                Kept::Broken { lost } => self.candidates[at].outcome = Outcome::Broken { lost },
                kept => return Ok(Some((at, kept))),
            }
        }
        Ok(None)
    }

    /// Records that what was taken has no figures at the end.
    fn drop_taken(&mut self, why: &str) {
        let taken = self.candidates.iter_mut().filter(|one| one.outcome == Outcome::Taken);
        for candidate in taken {
            candidate.outcome = Outcome::Out { why: format!("when it was measured again: {why}") };
        }
    }

    fn found(self, winner: Set, gain: Option<Gain>, kept: Option<Kept>) -> SearchResult {
        let mut tried: Vec<Tried> = (self.candidates.into_iter())
            .map(|Candidate { set, outcome, first: (trials, gain), .. }| Tried {
                set,
                trials,
                gain,
                outcome,
            })
            .collect();
        let rank = |one: &Tried| one.gain.unwrap_or(0.0);
        tried.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
        SearchResult { winner, gain, kept, tried, left_out: self.left_out }
    }
}

/// Measures the winner again next to the current settings. The inner error says why there are no
/// figures.
fn confirm<B: Bench>(bench: &mut B, winner: &Set) -> Result<Result<Gain, String>, B::Error> {
    let [least, most] = FINAL_TRIALS;
    let pairs =
        bench.time_left().as_secs_f64() / (2.0 * bench.trial_time().as_secs_f64()).max(1e-3);
    let times = (pairs as u32).clamp(least, most);
    Ok(gain_of(&bench.final_trials(winner, times)?))
}

#[cfg(test)]
mod tests;
