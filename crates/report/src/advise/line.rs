//! The ratios of a criterion.

use std::fmt;

use embermark_model::Status;

use crate::statistics::{clamp_to_best, is_measure, median, ratio_interval};
use crate::summary::Group;

/// One figure of a criterion, over the engines that compete for it.
pub(super) struct Line<'a> {
    /// Workload of the figure.
    pub workload: &'a str,
    /// Workload and scale: `sensors 10k`.
    pub place: String,
    /// Each engine, its ratio to the best, and the confidence interval of that ratio. Empty if
    /// fewer than two engines have the figure.
    pub ratios: Vec<(&'a str, f64, Option<[f64; 2]>)>,
    /// Engines without a ratio, with the work that lacks it, and why.
    pub lacking: Vec<(&'a str, String, Lack)>,
}

/// Why an engine has no ratio.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    /// It has the figure, and no other engine has.
    Alone,
    /// Its work ended without a figure.
    Ended(Status),
    /// Its cell did not do all of its work.
    Undone(String),
    /// There is no figure.
    NotMeasured,
}

impl Lack {
    /// Whether its work failed.
    pub const fn is_failure(&self) -> bool {
        matches!(self, Self::Ended(status) if status.is_failure())
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alone => f.write_str("no other engine to compare with"),
            Self::Ended(status) => write!(f, "{status}"),
            Self::Undone(what) => f.write_str(what),
            Self::NotMeasured => f.write_str("not measured"),
        }
    }
}

impl<'a> Line<'a> {
    /// Computes the ratios to the smallest median. `why` has the reason of each engine without a
    /// figure.
    pub fn new(
        group: &Group<'a>,
        values: Vec<(&'a str, Vec<f64>)>,
        why: Vec<(&'a str, String, Lack)>,
    ) -> Self {
        let medians: Vec<(&str, f64, &[f64])> = values
            .iter()
            .filter_map(|(engine, trials)| Some((*engine, median(trials)?, trials.as_slice())))
            .filter(|(_, median, _)| is_measure(*median))
            .collect();
        // A single engine has nothing to be compared with.
        let compared = if medians.len() < 2 { &[][..] } else { &medians[..] };
        let best = compared.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let ratios = best.into_iter().flat_map(|(best, least, of_best)| {
            compared.iter().map(move |(engine, median, trials)| {
                // The best is 1 by definition. Its uncertainty is in the intervals of the others.
                let interval = ratio_interval(trials, of_best).map(clamp_to_best);
                let interval = if engine == best { interval.map(|_| [1.0, 1.0]) } else { interval };
                (*engine, median / least, interval)
            })
        });
        let ratios: Vec<_> = ratios.collect();
        let has = |engine: &str| ratios.iter().any(|(other, ..)| *other == engine);
        let is_alone = |engine: &str| medians.iter().any(|(other, ..)| *other == engine);
        let lacking = why.into_iter().filter(|(engine, ..)| !has(engine));
        let lacking = lacking.map(|(engine, place, lack)| {
            (engine, place, if is_alone(engine) { Lack::Alone } else { lack })
        });
        let lacking = lacking.collect();
        Self { workload: group.workload, place: group.place(), ratios, lacking }
    }

    /// Adds engines that compete in the tier but are not in this group as not measured.
    pub fn add_missing(&mut self, competing: &[&'a str]) {
        for engine in competing {
            let has = self.ratios.iter().any(|(other, ..)| other == engine);
            if !has && !self.lacking.iter().any(|(other, ..)| other == engine) {
                self.lacking.push((engine, self.place.clone(), Lack::NotMeasured));
            }
        }
    }
}
