//! What a source found, in one ratio, and the pieces whose results stand beside it.

use std::fmt;

use embermark_model::Durability;
use serde::Deserialize;

/// A ratio that a source printed, or that follows from two figures of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Headline {
    /// What it says, in a line, without figures.
    pub says: String,
    /// Of which phase.
    pub phase: String,
    /// At how many rows; absent: the source's own number.
    pub scale: Option<u64>,
    /// At how many rows below the line, where these are others.
    pub to_scale: Option<u64>,
    /// What is compared.
    #[serde(default)]
    pub measure: Measure,
    /// The engine whose figure stands above the line.
    pub of: String,
    /// The engine whose figure stands below it: absent where the ratio is one engine's own, of two pieces.
    pub to: Option<String>,
    /// What the source printed.
    pub printed: Option<Printed>,
    /// What it said in words, where it printed no two figures; or that it did not measure this.
    pub said: Option<String>,
    /// Whether the figure of the engine above the line stands alone here, as the other one may not be shown.
    #[serde(default)]
    pub alone: bool,
    /// Here with the source's settings.
    pub as_published: Option<Beside>,
    /// Here with one tier for all.
    pub equal: Option<Beside>,
    /// Here with one thing otherwise.
    pub counter: Option<Beside>,
    /// Here with clients in the source's language.
    pub client: Option<Beside>,
    /// Here with the limits of the source's device.
    pub emulated: Option<Beside>,
    /// Why the ratio is as it is; absent where nothing was measured that shows it.
    pub explained: Option<String>,
    /// What shows it.
    #[serde(default)]
    pub evidence: Vec<Evidence>,
}

/// A measurement that an explanation rests on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// The run at equal durability.
    Equal,
    /// The counter-run.
    CounterRun,
    /// The two figures of the headline, which differ in nothing else.
    Pair,
    /// A profile or a count: where it is written, a document and its heading.
    #[serde(untagged)]
    Written(String),
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equal => "the run at equal durability",
            Self::CounterRun => "the counter-run",
            Self::Pair => "these two figures",
            Self::Written(place) => place,
        })
    }
}

impl Headline {
    /// Whether a figure beside it comes from this piece.
    pub fn rests_on(&self, piece: &str) -> bool {
        let beside = [&self.as_published, &self.equal, &self.counter, &self.client, &self.emulated];
        let pieces = beside
            .into_iter()
            .flatten()
            .flat_map(|beside| beside.pieces.iter().chain(beside.to_pieces.iter().flatten()));
        pieces.into_iter().any(|name| name == piece)
    }

    /// Its explanation with the evidence: `a commit a row (shown by the counter-run)`.
    pub fn explanation(&self) -> Option<String> {
        let evidence: Vec<String> = self.evidence.iter().map(ToString::to_string).collect();
        Some(format!("{} (shown by {})", self.explained.as_ref()?, evidence.join(" and ")))
    }
}

/// What is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Time, of the whole phase or of an operation.
    #[default]
    Time,
    /// CPU time of the server, as a share of one CPU.
    ServerCpu,
    /// CPU time of the client, as a share of one CPU.
    ClientCpu,
    /// Bits a second between client and server.
    Network,
    /// Bytes by which the database grew from empty, warm-up included.
    Disk,
    /// Bytes of the database after the rows are in and maintenance is done.
    Size,
}

/// What a source printed of a headline: both figures.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Printed {
    /// Of the engine above the line.
    pub of: Figure,
    /// Of the engine below it.
    pub to: Figure,
    /// Their unit.
    pub unit: Unit,
}

/// A figure that a source printed.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Figure {
    /// A number.
    Number(f64),
    /// The least and the greatest, where the source has a range.
    Range([f64; 2]),
}

impl Figure {
    /// The least and the greatest; of a number both are that.
    pub const fn ends(self) -> [f64; 2] {
        match self {
            Self::Number(number) => [number, number],
            Self::Range(ends) => ends,
        }
    }
}

/// The unit of a printed figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Unit {
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Operations a second.
    #[serde(rename = "/s")]
    PerSecond,
    /// Percent of one CPU.
    #[serde(rename = "%")]
    Percent,
    /// Thousand bits a second.
    #[serde(rename = "kbit/s")]
    Kilobits,
    /// Million bytes.
    #[serde(rename = "MB")]
    Megabytes,
}

impl Printed {
    /// How many times as much the engine above the line takes as the one below it: of rates the
    /// inverse, as they are of times. Of ranges the least and the greatest.
    pub fn ratio(self) -> Figure {
        let (above, below) = match self.unit {
            Unit::PerSecond => (self.to.ends(), self.of.ends()),
            _ => (self.of.ends(), self.to.ends()),
        };
        let (least, greatest) = (above[0] / below[1], above[1] / below[0]);
        match (self.of, self.to) {
            (Figure::Number(_), Figure::Number(_)) => Figure::Number(least),
            _ => Figure::Range([least, greatest]),
        }
    }
}

/// Where the figures of a ratio are found among results.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Beside {
    /// The pieces: in them the cells of the two engines.
    pub pieces: Vec<String>,
    /// The engine above the line, where it is another than the headline's.
    pub engine: Option<String>,
    /// The pieces of the engine below the line, where they are others.
    pub to_pieces: Option<Vec<String>>,
    /// The variant of the engine above the line; absent: the first of its cells that has the phase.
    pub variant: Option<String>,
    /// That of the engine below it, where it is another one.
    pub to_variant: Option<String>,
    /// The column above the line, where the piece has several of the engine: a configuration's name.
    pub column: Option<String>,
    /// That below the line; absent: any.
    pub to_column: Option<String>,
    /// The tier; absent: that of the piece.
    pub tier: Option<Durability>,
    /// The phase, where it is another one.
    pub phase: Option<String>,
    /// That below the line, where it is another one.
    pub to_phase: Option<String>,
    /// What is otherwise, in a few words.
    pub what: Option<String>,
}
