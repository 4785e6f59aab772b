//! The ratios that a criterion is made of.

use crate::statistics::{is_measure, median, ratio_interval, to_the_best};
use crate::summary::Group;

/// One figure that a criterion is made of, over the engines that compete for it.
pub(super) struct Line<'a> {
    /// Of which workload.
    pub workload: &'a str,
    /// That with its scale: `sensors 10k`.
    pub place: String,
    /// Engine, its figure over the best one's, and the interval of that ratio.
    pub ratios: Vec<(&'a str, f64, Option<[f64; 2]>)>,
    /// Engines that lack it, and why.
    pub lacking: Vec<(&'a str, String)>,
}

impl<'a> Line<'a> {
    /// The ratios to the smallest median; `None` where fewer than two have one. `why` says of each
    /// engine why it has none, if it has none.
    pub fn of(
        group: &Group<'a>,
        values: Vec<(&'a str, Vec<f64>)>,
        why: Vec<(&'a str, String)>,
    ) -> Option<Self> {
        let medians: Vec<(&str, f64, &[f64])> = values
            .iter()
            .filter_map(|(engine, trials)| Some((*engine, median(trials)?, trials.as_slice())))
            .filter(|(_, median, _)| is_measure(*median))
            .collect();
        // Who is alone is compared with nobody.
        if medians.len() < 2 {
            return None;
        }
        let (best, least, of_best) = *medians.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let ratios = medians.iter().map(|(engine, median, trials)| {
            // The best is 1 by definition; what is uncertain about it is in the others' intervals.
            let interval = ratio_interval(trials, of_best).map(to_the_best);
            let interval = if *engine == best { interval.map(|_| [1.0, 1.0]) } else { interval };
            (*engine, median / least, interval)
        });
        let ratios: Vec<_> = ratios.collect();
        let has = |engine: &str| ratios.iter().any(|(other, ..)| *other == engine);
        let lacking = why.into_iter().filter(|(engine, _)| !has(engine)).collect();
        Some(Self { workload: group.workload, place: group.place(), ratios, lacking })
    }

    /// Says of the engines that compete in the tier and are not in this group that they were not measured.
    pub fn miss(&mut self, competing: &[&'a str]) {
        for engine in competing {
            let has = self.ratios.iter().any(|(other, ..)| other == engine);
            if !has && !self.lacking.iter().any(|(other, _)| other == engine) {
                self.lacking.push((engine, format!("{}: not measured", self.place)));
            }
        }
    }
}
