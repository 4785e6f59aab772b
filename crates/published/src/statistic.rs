//! What a source made of its repetitions.

use serde::Deserialize;

/// What a source made of its repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// Their mean.
    Mean,
    /// The one in the middle; of an even number the mean of the two there.
    Median,
}

impl Statistic {
    /// That of some figures; `None` of none.
    pub fn of(self, mut figures: Vec<f64>) -> Option<f64> {
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

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Median => "median",
        }
    }
}
