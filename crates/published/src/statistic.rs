//! Statistics by which sources summarise their repetitions.

use serde::Deserialize;

/// Statistic by which a source summarises its repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// The mean.
    Mean,
    /// The median. For an even number it is the mean of the two middle figures.
    Median,
}

impl Statistic {
    /// Computes it for some figures. `None` without figures.
    pub fn compute(self, mut figures: Vec<f64>) -> Option<f64> {
        if figures.is_empty() {
            return None;
        }
        let count = figures.len();
        Some(match self {
            Self::Mean => figures.iter().sum::<f64>() / count as f64,
            Self::Median => {
                figures.sort_by(f64::total_cmp);
                f64::midpoint(figures[(count - 1) / 2], figures[count / 2])
            }
        })
    }
}
