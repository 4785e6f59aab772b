//! The sources.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::{Figures, Headline, Piece};

/// A published comparison.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Source {
    /// Name on the command line.
    pub id: String,
    /// Title, author and year.
    pub title: String,
    /// The workload that repeats it.
    pub workload: String,
    /// Hardware that it ran on.
    pub hardware: String,
    /// How often it ran a step, and how it used the repetitions, in words.
    pub protocol: String,
    /// Statistic of its repetitions.
    pub statistic: Statistic,
    /// What is not available here, and why.
    #[serde(default)]
    pub missing: Vec<String>,
    /// Where it contradicts itself, and how that was resolved.
    #[serde(default)]
    pub contradictions: Vec<String>,
    /// Choices of embermark that are not the source's, by a letter that is shown at each figure
    /// that depends on them.
    #[serde(default)]
    pub ours: BTreeMap<String, String>,
    /// What it printed.
    pub figures: Figures,
    /// Pieces that repeat it, in the order in which they run.
    #[serde(rename = "piece")]
    pub pieces: Vec<Piece>,
    /// Its findings.
    #[serde(rename = "headline")]
    pub headlines: Vec<Headline>,
    /// Its conclusions.
    #[serde(rename = "verdict")]
    pub verdicts: Vec<Verdict>,
}

/// Statistic by which a source summarises its repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// The mean.
    Mean,
    /// The median. For an even number it is the mean of the two middle figures.
    Median,
}

/// A source's conclusion in embermark's words, and the headlines that decide whether it is true
/// here too.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Verdict {
    /// The conclusion in one line.
    pub says: String,
    /// Headlines of the source, by their text. The conclusion is true here if the ratio of each, as
    /// published, is on the same side of 1 as in the source, or above 1 if the source states it in
    /// words. Empty if nothing here decides it.
    #[serde(default)]
    pub by: Vec<String>,
    /// Why it differs here, or cannot be repeated. If it is the same here, what restricts that: it
    /// then begins with `but`.
    pub because: Option<String>,
}

impl Source {
    /// Returns the title beside its figures.
    pub fn title_of_figures(&self) -> &str {
        self.figures.title.as_ref().unwrap_or(&self.title)
    }

    /// Returns the hardware beside its figures.
    pub fn hardware_of_figures(&self) -> &str {
        self.figures.hardware.as_ref().unwrap_or(&self.hardware)
    }

    /// Finds a piece by name.
    pub fn piece(&self, name: &str) -> Option<&Piece> {
        self.pieces.iter().find(|piece| piece.name == name)
    }

    /// Whether a headline uses a piece at this scale: the headline's own or, if the piece does not
    /// have that one, its largest.
    pub fn decides(&self, piece: &Piece, rows: u64) -> bool {
        let largest = piece.scales.iter().max();
        self.headlines.iter().filter(|headline| headline.rests_on(&piece.name)).any(|headline| {
            let own = [headline.scale, headline.to_scale].into_iter().flatten();
            let own: Vec<u64> = own.filter(|own| piece.scales.contains(own)).collect();
            if own.is_empty() { largest == Some(&rows) } else { own.contains(&rows) }
        })
    }
}

/// Returns every source.
///
/// # Panics
/// If a file of the repository is not a valid source, which a test excludes.
pub fn all() -> &'static [Source] {
    static ALL: LazyLock<Vec<Source>> = LazyLock::new(|| {
        [
            include_str!("../sources/ulb.toml"),
            include_str!("../sources/mcknight.toml"),
            include_str!("../sources/highfreq.toml"),
            include_str!("../sources/marending.toml"),
            include_str!("../sources/harperdb.toml"),
        ]
        .map(read)
        .into()
    });
    &ALL
}

fn read(text: &str) -> Source {
    let mut source: Source = toml::from_str(text).expect("a file of the repository is well-formed");
    for headline in &mut source.headlines {
        headline.printed = headline.printed.or_else(|| source.figures.printed(headline));
    }
    source
}

/// Finds a source by name.
pub fn find(id: &str) -> Option<&'static Source> {
    all().iter().find(|source| source.id == id)
}
