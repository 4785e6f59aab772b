//! Columns of trials side by side: their results, and what a candidate gains.

use std::collections::BTreeMap;

use embermark_meter::statistics::{geometric_mean, median, ratio_interval};
use embermark_model::tuning_result::{Gain, Outcome, Set};

/// Results of a column's trials: of the current settings, or of a candidate.
#[derive(Clone, Debug)]
pub enum ColumnResult {
    /// Times of an operation in ns, by trial and phase.
    Times(Vec<BTreeMap<String, f64>>),
    /// The column is out, for this reason.
    Out(String),
}

/// Columns in the order in which they were requested.
pub type Columns = Vec<ColumnResult>;

/// Least gain of a step, as a logarithm: 2 %.
pub(crate) const LEAST_GAIN: f64 = 0.02;

/// Variance of the difference of two trials before any is known, with 5 % each, and the number of
/// trials that it counts as.
const PRIOR: (f64, f64) = (2.0 * 0.05 * 0.05, 2.0);

/// A candidate in the search.
pub(crate) struct Candidate {
    pub set: Set,
    /// Logarithms of the ratios of the current settings' times to its own, by trial.
    pub gains: Vec<f64>,
    pub outcome: Outcome,
    /// Trials and gain of the first look next to the current settings, kept for the table.
    pub first: (u32, Option<f64>),
}

impl Candidate {
    pub fn new(set: Set) -> Self {
        Self { set, gains: Vec::new(), outcome: Outcome::NotFaster, first: (0, None) }
    }

    /// Whether it can still be taken.
    pub fn is_open(&self) -> bool {
        self.outcome == Outcome::NotFaster
    }

    /// Returns the mean gain and its standard error, as logarithms.
    pub fn mean_and_error(&self) -> (f64, f64) {
        let n = self.gains.len() as f64;
        let mean = self.gains.iter().sum::<f64>() / n;
        let squares: f64 = self.gains.iter().map(|gain| (gain - mean).powi(2)).sum();
        let (variance, trials) = PRIOR;
        let variance = trials.mul_add(variance, squares) / (trials + n - 1.0);
        (mean, (variance / n).sqrt())
    }

    /// Returns the mean gain, the least of all before any trial.
    pub fn mean(&self) -> f64 {
        if self.gains.is_empty() { f64::NEG_INFINITY } else { self.mean_and_error().0 }
    }

    /// Whether the gain is worth a step: the least, and more than its own standard error.
    pub fn is_gain(&self) -> bool {
        let (mean, error) = self.mean_and_error();
        mean > LEAST_GAIN.max(error)
    }

    /// Adds trials next to those of `base`.
    pub fn take(&mut self, base: &[BTreeMap<String, f64>], ended: ColumnResult) {
        let own = match ended {
            ColumnResult::Times(own) => own,
            ColumnResult::Out(why) => {
                self.outcome = Outcome::Out { why };
                return;
            }
        };
        for (base, own) in base.iter().zip(&own) {
            match ratio(base, own) {
                Ok(gain) => self.gains.push(gain),
                Err(phase) => {
                    let why = format!("it did not complete '{phase}'");
                    self.outcome = Outcome::Out { why };
                    return;
                }
            }
        }
    }
}

/// Returns the logarithm of the speedup of one trial over another: the mean over the phases.
///
/// # Errors
/// The name of the first phase that `own` lacks.
fn ratio<'a>(base: &'a BTreeMap<String, f64>, own: &BTreeMap<String, f64>) -> Result<f64, &'a str> {
    let mut sum = 0.0;
    for (phase, base) in base {
        let own = own.get(phase).ok_or(phase.as_str())?;
        sum += (base / own).ln();
    }
    Ok(if base.is_empty() { 0.0 } else { sum / base.len() as f64 })
}

/// Returns how much faster the second of two columns is than the first.
///
/// # Errors
/// The reason why there are no figures.
pub(crate) fn gain_of(columns: &[ColumnResult]) -> Result<Gain, String> {
    let (base, own) = match columns {
        [ColumnResult::Times(base), ColumnResult::Times(own)] => (base, own),
        [ColumnResult::Out(why), ..] | [_, ColumnResult::Out(why)] => return Err(why.clone()),
        _ => return Err("nothing was measured".to_owned()),
    };
    let phases: Vec<&String> = base.first().into_iter().flat_map(BTreeMap::keys).collect();
    // The geometric mean of the phases' times, by trial. Means over different phases cannot be
    // compared.
    let mean = |trial: &BTreeMap<String, f64>| {
        let times: Option<Vec<f64>> =
            phases.iter().map(|phase| trial.get(phase.as_str()).copied()).collect();
        geometric_mean(times?)
    };
    let means = |trials: &[BTreeMap<String, f64>]| -> Option<Vec<f64>> {
        trials.iter().map(mean).collect()
    };
    let ratio = |above: &[f64], below: &[f64]| Some(median(above)? / median(below)?);
    let measured = means(base).zip(means(own));
    let measured = measured.and_then(|(today, new)| Some((ratio(&today, &new)?, today, new)));
    let Some((whole, today, new)) = measured else {
        return Err("a trial did not complete every phase".to_owned());
    };
    let phase = |phase: &&String| {
        let times = |trials: &[BTreeMap<String, f64>]| -> Vec<f64> {
            trials.iter().filter_map(|trial| trial.get(phase.as_str()).copied()).collect()
        };
        Some(((*phase).clone(), ratio(&times(base), &times(own))?))
    };
    Ok(Gain {
        ratio: whole,
        interval: ratio_interval(&today, &new),
        trials: today.len().min(new.len()) as u32,
        phases: phases.iter().filter_map(phase).collect(),
    })
}
