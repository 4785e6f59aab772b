//! The ratios of a criterion.

use crate::statistics::{clamp_to_best, is_measure, median, ratio_interval};
use crate::summary::Group;

/// One figure of a criterion, over the engines that compete for it.
pub(super) struct Line<'a> {
    /// Workload of the figure.
    pub workload: &'a str,
    /// Workload and scale: `sensors 10k`.
    pub place: String,
    /// Each engine, its ratio to the best, and the confidence interval of that ratio.
    pub ratios: Vec<(&'a str, f64, Option<[f64; 2]>)>,
    /// Engines without the figure, and why.
    pub lacking: Vec<(&'a str, String)>,
}

impl<'a> Line<'a> {
    /// Computes the ratios to the smallest median. `None` if fewer than two engines have one. `why`
    /// has the reason of each engine without a figure.
    pub fn new(
        group: &Group<'a>,
        values: Vec<(&'a str, Vec<f64>)>,
        why: Vec<(&'a str, String)>,
    ) -> Option<Self> {
        let medians: Vec<(&str, f64, &[f64])> = values
            .iter()
            .filter_map(|(engine, trials)| Some((*engine, median(trials)?, trials.as_slice())))
            .filter(|(_, median, _)| is_measure(*median))
            .collect();
        // A single engine has nothing to be compared with.
        if medians.len() < 2 {
            return None;
        }
        let (best, least, of_best) = *medians.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let ratios = medians.iter().map(|(engine, median, trials)| {
            // The best is 1 by definition. Its uncertainty is in the intervals of the others.
            let interval = ratio_interval(trials, of_best).map(clamp_to_best);
            let interval = if *engine == best { interval.map(|_| [1.0, 1.0]) } else { interval };
            (*engine, median / least, interval)
        });
        let ratios: Vec<_> = ratios.collect();
        let has = |engine: &str| ratios.iter().any(|(other, ..)| *other == engine);
        let lacking = why.into_iter().filter(|(engine, _)| !has(engine)).collect();
        Some(Self { workload: group.workload, place: group.place(), ratios, lacking })
    }

    /// Adds engines that compete in the tier but are not in this group as not measured.
    pub fn add_missing(&mut self, competing: &[&'a str]) {
        for engine in competing {
            let has = self.ratios.iter().any(|(other, ..)| other == engine);
            if !has && !self.lacking.iter().any(|(other, _)| other == engine) {
                self.lacking.push((engine, format!("{}: not measured", self.place)));
            }
        }
    }
}
