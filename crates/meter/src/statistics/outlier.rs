//! Trials that differ from the others of their cell. They are marked, never removed.

/// Distance of Tukey's inner fences from the quartiles, in interquartile ranges.
const FENCE: f64 = 1.5;
/// Smallest number of trials for fences. Of three or four trials, none can be beyond the fences.
const FEWEST_FOR_FENCES: usize = 5;
/// Two-sided critical values of Dixon's Q at 95 %, for 3 and 4 values.
const DIXON: [(usize, f64); 2] = [(3, 0.970), (4, 0.829)];
/// Outliers among values that agree within this share of their median are ignored.
const OF_INTEREST: f64 = 0.1;

/// Returns the indexes of outliers in `trials`.
///
/// For five or more these are values beyond Tukey's inner fences, 1.5 interquartile ranges outside
/// the quartiles (J. W. Tukey, "Exploratory Data Analysis", Addison-Wesley 1977). For three or four
/// it is the smallest or largest if two conditions hold. Dixon's Q, its distance to its neighbour
/// divided by the range of all, is above the critical value of 95 % (D. B. Rorabacher, Analytical
/// Chemistry 63(2), 1991, <https://doi.org/10.1021/ac00002a010>). And its distance to its neighbour
/// is at least a tenth of the median. For fewer there are none.
pub fn outliers(trials: &[f64]) -> Vec<usize> {
    let mut sorted = trials.to_vec();
    sorted.sort_by(f64::total_cmp);
    let apart: Box<dyn Fn(f64) -> bool> = match sorted.len() {
        0..=2 => return Vec::new(),
        n if n < FEWEST_FOR_FENCES => Box::new(dixon(&sorted)),
        _ => {
            let (lower, upper) = (quantile(&sorted, 0.25), quantile(&sorted, 0.75));
            let fence = FENCE * (upper - lower);
            Box::new(move |value| value < lower - fence || value > upper + fence)
        }
    };
    (0..trials.len()).filter(|place| apart(trials[*place])).collect()
}

/// Applies Dixon's test to both ends of three or four sorted values.
fn dixon(sorted: &[f64]) -> impl Fn(f64) -> bool + use<> {
    let last = sorted.len() - 1;
    let critical = DIXON.iter().find(|(n, _)| *n == sorted.len()).map_or(1.0, |(_, q)| *q);
    let range = sorted[last] - sorted[0];
    let least = OF_INTEREST * quantile(sorted, 0.5);
    let apart = move |gap: f64| range > 0.0 && gap / range > critical && gap >= least;
    let low = apart(sorted[1] - sorted[0]).then_some(sorted[0]);
    let high = apart(sorted[last] - sorted[last - 1]).then_some(sorted[last]);
    move |value| Some(value) == low || Some(value) == high
}

/// Returns the quantile by linear interpolation between neighbouring values: definition 7 of R. J.
/// Hyndman and Y. Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50(4),
/// 1996.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_five_or_more_what_is_beyond_tukeys_fences_stands_apart() {
        assert_eq!(outliers(&[10.0, 11.0, 30.0, 12.0, 10.5]), [2]);
        assert_eq!(outliers(&[10.0, 11.0, 12.0, 13.0, 14.0]), Vec::<usize>::new());
        assert_eq!(outliers(&[10.0, 10.1, 1.0, 10.2, 10.3, 40.0]), [2, 5]);
    }

    #[test]
    fn of_three_one_stands_apart_when_the_two_others_all_but_agree() {
        assert_eq!(outliers(&[10.0, 20.0, 10.1]), [1]);
        assert_eq!(outliers(&[10.0, 2.0, 10.1]), [1]);
        assert_eq!(outliers(&[10.0, 12.0, 10.5]), Vec::<usize>::new(), "Q is 0.75");
        assert_eq!(outliers(&[10.0, 10.5, 10.001]), Vec::<usize>::new(), "within a tenth");
        assert_eq!(outliers(&[10.0, 14.0, 10.1, 10.2]), [1]);
    }

    #[test]
    fn equal_trials_and_pairs_have_none() {
        for trials in [&[][..], &[1.0], &[1.0, 100.0], &[5.0; 3], &[5.0; 9]] {
            assert_eq!(outliers(trials), Vec::<usize>::new(), "{trials:?}");
        }
    }
}
