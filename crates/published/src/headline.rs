//! A finding of a source as one ratio, and the pieces whose results are shown next to it.

use std::fmt;

use embermark_model::Durability;
use serde::Deserialize;

/// A ratio that a source printed, or that follows from two of its figures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Headline {
    /// The finding in one line, without figures.
    pub says: String,
    /// Name of its phase.
    pub phase: String,
    /// Number of rows. Absent: the source's own number.
    pub scale: Option<u64>,
    /// Number of rows of the denominator, if it differs.
    pub to_scale: Option<u64>,
    /// What is compared.
    #[serde(default)]
    pub measure: Measure,
    /// Engine of the numerator.
    pub of: String,
    /// Engine of the denominator. Absent if the ratio compares two pieces of one engine.
    pub to: Option<String>,
    /// Figures that the source printed. If the file has none here, they are those of
    /// [`Figures`](crate::Figures).
    pub printed: Option<Printed>,
    /// The printed figure below the line, if only the one above it is among those.
    pub printed_to: Option<Figure>,
    /// The source's statement in words if it printed no two figures, or that it did not measure
    /// this.
    pub said: Option<String>,
    /// Whether only the figure of the numerator's engine is shown here, because the other one may
    /// not be shown.
    #[serde(default)]
    pub alone: bool,
    /// Whether the printed figure below the line is given, such as the rate of the data. The
    /// figures measured here are divided by it too.
    #[serde(default)]
    pub to_given: bool,
    /// Results here with the source's settings.
    pub as_published: Option<FigureSource>,
    /// Results here with one tier for all.
    pub equal: Option<FigureSource>,
    /// Results here with one difference.
    pub counter: Option<FigureSource>,
    /// Results here with clients in the source's language.
    pub client: Option<FigureSource>,
    /// Results here with the limits of the source's device.
    pub emulated: Option<FigureSource>,
    /// Why the ratio is as it is. Absent if nothing was measured that shows it.
    pub explained: Option<String>,
    /// Measurements that show it.
    #[serde(default)]
    pub evidence: Vec<Evidence>,
}

/// A measurement that supports an explanation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// The run at equal durability.
    Equal,
    /// The counter-run.
    CounterRun,
    /// The two figures of the headline, which differ in nothing else.
    Pair,
    /// A profile or a count: a document and its heading.
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
    /// Returns where the figures next to it are found, in the order of its fields.
    pub fn beside(&self) -> [Option<&FigureSource>; 5] {
        [&self.as_published, &self.equal, &self.counter, &self.client, &self.emulated]
            .map(Option::as_ref)
    }

    /// Whether a figure next to it comes from this piece.
    pub fn rests_on(&self, piece: &str) -> bool {
        let mut beside = self.beside().into_iter().flatten();
        beside.any(|of| of.pieces.iter().chain(of.to_pieces.iter().flatten()).any(|n| n == piece))
    }

    /// Returns the printed figures as they are compared: divided by the numbers of rows if times
    /// per row are.
    pub fn compared(&self) -> Option<Printed> {
        let printed = self.printed?;
        let (Measure::TimePerRow, Some(of)) = (self.measure, self.scale) else {
            return Some(printed);
        };
        let to = self.to_scale.unwrap_or(of);
        let (of, to) = (printed.of.divided_by(of), printed.to.divided_by(to));
        Some(Printed { of, to, ..printed })
    }

    /// Returns its explanation with the evidence: `a commit a row (shown by the counter-run)`.
    pub fn explanation(&self) -> Option<String> {
        let evidence: Vec<String> = self.evidence.iter().map(ToString::to_string).collect();
        Some(format!("{} (shown by {})", self.explained.as_ref()?, evidence.join(" and ")))
    }
}

/// What is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Time of the whole phase or of an operation.
    #[default]
    Time,
    /// Time of the whole phase, divided by the number of rows.
    TimePerRow,
    /// Largest resident memory of the engine's processes during the phase in bytes. For an embedded
    /// engine it is what its process gained since before the engine was opened.
    Memory,
    /// Rows that were accepted and not yet committed at most, which a crash would lose.
    Loss,
    /// CPU time of the server, as a share of one CPU.
    ServerCpu,
    /// CPU time of the client, as a share of one CPU.
    ClientCpu,
    /// Largest resident memory of the server in a window in bytes.
    ServerMemory,
    /// Bytes per second that the server's process read and wrote.
    ServerIo,
    /// Bits per second between client and server.
    Network,
    /// Growth of the database in bytes from empty, including the warm-up.
    Disk,
    /// Size of the database in bytes after loading and maintenance.
    Size,
}

/// The two figures that a source printed for a headline.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Printed {
    /// Figure of the numerator's engine.
    pub of: Figure,
    /// Figure of the denominator's engine.
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
    /// Least and greatest, if the source has a range.
    Range([f64; 2]),
}

impl Figure {
    /// Divides it by a number of rows.
    fn divided_by(self, rows: u64) -> Self {
        match self {
            Self::Number(number) => Self::Number(number / rows as f64),
            Self::Range(ends) => Self::Range(ends.map(|end| end / rows as f64)),
        }
    }

    /// Returns the least and the greatest, which are equal for a number.
    pub const fn ends(self) -> [f64; 2] {
        match self {
            Self::Number(number) => [number, number],
            Self::Range(ends) => ends,
        }
    }
}

/// The unit of a printed figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Unit {
    /// Seconds.
    #[default]
    #[serde(rename = "s")]
    Seconds,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Operations per second.
    #[serde(rename = "/s")]
    PerSecond,
    /// Percent of one CPU.
    #[serde(rename = "%")]
    Percent,
    /// Thousand bits per second.
    #[serde(rename = "kbit/s")]
    Kilobits,
    /// 1,024 bytes.
    #[serde(rename = "kB")]
    Kilobytes,
    /// 1,024 bytes per second.
    #[serde(rename = "kB/s")]
    KilobytesPerSecond,
    /// Million bytes.
    #[serde(rename = "MB")]
    Megabytes,
    /// 1,048,576 bytes.
    #[serde(rename = "MiB")]
    Mebibytes,
}

impl Unit {
    /// Converts a figure to the unit of amounts that are measured: ns (for a rate, of one
    /// operation), a share of one CPU, bytes or bits, per second or not.
    pub fn amount(self, figure: f64) -> f64 {
        match self {
            Self::Seconds => figure * 1e9,
            Self::Milliseconds => figure * 1e6,
            Self::PerSecond => 1e9 / figure,
            Self::Percent => figure / 100.0,
            Self::Kilobits => figure * 1e3,
            Self::Kilobytes | Self::KilobytesPerSecond => figure * 1024.0,
            Self::Megabytes => figure * 1e6,
            Self::Mebibytes => figure * f64::from(1 << 20),
        }
    }
}

impl Printed {
    /// Returns how many times as much the numerator's engine takes. For rates it is the inverse,
    /// which compares times. For ranges it is the least and the greatest.
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

/// Where the figures of a ratio are found in results.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FigureSource {
    /// Pieces with the cells of the two engines.
    pub pieces: Vec<String>,
    /// Engine of the numerator, if it differs from the headline's.
    pub engine: Option<String>,
    /// Pieces of the denominator's engine, if they differ.
    pub to_pieces: Option<Vec<String>>,
    /// Variant of the numerator. Absent: the first of its cells that has the phase.
    pub variant: Option<String>,
    /// Variant of the denominator, if it differs.
    pub to_variant: Option<String>,
    /// Column of the numerator, if the piece has several of the engine: a configuration's name.
    pub column: Option<String>,
    /// Column of the denominator. Absent: that of the numerator, or any if the engines or their
    /// pieces differ.
    pub to_column: Option<String>,
    /// Tier. Absent: that of the piece.
    pub tier: Option<Durability>,
    /// Phase, if it differs.
    pub phase: Option<String>,
    /// Phase of the denominator, if it differs.
    pub to_phase: Option<String>,
    /// The difference, in a few words.
    pub what: Option<String>,
}
