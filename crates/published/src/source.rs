//! The sources.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::{Headline, Piece, Statistic, Verdict};

/// A published comparison.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Source {
    /// Its name on the command line.
    pub id: String,
    /// Its title, author and year.
    pub title: String,
    /// The workload that repeats it.
    pub workload: String,
    /// What it ran on.
    pub hardware: String,
    /// How often it ran a step and what it made of that, in words.
    pub protocol: String,
    /// What it made of its repetitions.
    pub statistic: Statistic,
    /// What cannot be had here, and why.
    #[serde(default)]
    pub missing: Vec<String>,
    /// Where it contradicts itself, and what was made of that.
    #[serde(default)]
    pub contradictions: Vec<String>,
    /// What is ours and not the source's, by a letter that stands at each figure that rests on it.
    #[serde(default)]
    pub ours: BTreeMap<String, String>,
    /// What repeats it, in the order in which it is run.
    #[serde(rename = "piece")]
    pub pieces: Vec<Piece>,
    /// What it found.
    #[serde(rename = "headline")]
    pub headlines: Vec<Headline>,
    /// What it concluded.
    #[serde(rename = "verdict")]
    pub verdicts: Vec<Verdict>,
}

impl Source {
    /// The piece of that name.
    pub fn piece(&self, name: &str) -> Option<&Piece> {
        self.pieces.iter().find(|piece| piece.name == name)
    }

    /// Whether a headline rests on a piece at this scale: at the headline's own, or where the piece has not that one, at
    /// its largest.
    pub fn decides(&self, piece: &Piece, rows: u64) -> bool {
        let largest = piece.scales.iter().max();
        self.headlines.iter().filter(|headline| headline.rests_on(&piece.name)).any(|headline| {
            let own = [headline.scale, headline.to_scale].into_iter().flatten();
            let own: Vec<u64> = own.filter(|own| piece.scales.contains(own)).collect();
            if own.is_empty() { largest == Some(&rows) } else { own.contains(&rows) }
        })
    }
}

/// Every source.
///
/// # Panics
/// When a file of the repository is no source, which a test rules out.
pub fn all() -> &'static [Source] {
    static ALL: LazyLock<Vec<Source>> = LazyLock::new(|| {
        [
            include_str!("../sources/ulb.toml"),
            include_str!("../sources/mcknight.toml"),
            include_str!("../sources/highfreq.toml"),
            include_str!("../sources/marending.toml"),
            include_str!("../sources/harperdb.toml"),
        ]
        .map(|text| toml::from_str(text).expect("a file of the repository is well-formed"))
        .into()
    });
    &ALL
}

/// The source of that name.
pub fn find(id: &str) -> Option<&'static Source> {
    all().iter().find(|source| source.id == id)
}
